"""What a planned study can find: power, the least difference, and how many listeners it takes.

Votes are drawn from variance components, those of a pilot or assumed ones, and tested as a study
would test them; a closed form, the noncentral t, answers where the question is turned round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.plans import Plan

LEVEL = 0.95  # of the interval that says how sure a simulated power is
MOST = 2**20  # listeners in a panel that are looked at before none are said to be enough


def power(plan: Plan, difference: float, *, runs: int = 2000, seed: int = 0) -> Estimate:
    """How often a difference is found, by simulation; the interval is that of the simulation."""
    if math.isnan(closed_power(plan, difference)):
        return Estimate(math.nan, math.nan, math.nan, LEVEL, 0, runs, "simulation")
    rng = np.random.Generator(np.random.PCG64(seed))
    found = int(SIMULATED[plan.method](plan, difference, runs, rng).sum())
    low, high = _wilson(found, runs)
    return Estimate(found / runs, low, high, LEVEL, runs, 0, "simulation")


def _cluster_t(plan: Plan, difference: float, runs: int, rng: np.random.Generator) -> Bools:
    """Whether the t test over listeners finds the difference in each run."""
    panels = math.sqrt(plan.between) * rng.standard_normal((runs, plan.panels))
    panels -= panels.mean(axis=1, keepdims=True)  # the difference on all of these items is given
    each = math.sqrt(plan.own) * rng.standard_normal((runs, plan.listeners))
    each += difference + panels[:, np.arange(plan.listeners) % plan.panels]
    error = each.std(axis=1, ddof=1) / math.sqrt(plan.listeners)
    least = plan.critical(np.array(plan.listeners - 1.0))
    return np.asarray(np.abs(each.mean(axis=1)) > least * error)


def _mixed(plan: Plan, difference: float, runs: int, rng: np.random.Generator) -> Bools:
    """Whether the mixed model finds the difference in each run.

    The mean squares of a full table say all; they are drawn here, within panels.
    """
    expected, freedom = plan.squares()
    variance, df = _pooled(expected * rng.chisquare(freedom, (runs, 3)) / freedom, freedom)
    scale = 2 * plan.panels / (plan.listeners * plan.items)
    right = scale * (expected[0] + expected[1] - expected[2])
    value = difference + math.sqrt(right) * rng.standard_normal(runs)
    return np.abs(value) > plan.critical(df) * np.sqrt(scale * variance)


def _pooled(squares: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Both interactions less the rest, and its degrees of freedom by Satterthwaite, in each run.

    An interaction with less than the rest has variance 0 and is pooled with the rest, the smaller
    one first.
    """
    order = np.argsort(squares[:, :2], axis=1)
    inner, own = np.take_along_axis(squares[:, :2], order, axis=1), freedom[order]
    rest, free, kept = squares[:, 2], np.full(len(squares), freedom[2]), inner > 0
    for k in range(2):
        kept[:, k] = inner[:, k] >= rest
        pooled = (inner[:, k] * own[:, k] + rest * free) / (own[:, k] + free)
        rest = np.where(kept[:, k], rest, pooled)
        free = np.where(kept[:, k], free, own[:, k] + free)
    inner, share = np.where(kept, inner, 0), 1 - kept.sum(axis=1)
    variance = inner.sum(axis=1) + share * rest
    return variance, variance**2 / ((inner**2 / own).sum(axis=1) + (share * rest) ** 2 / free)


def _wilson(found: int, runs: int) -> tuple[float, float]:
    """Both ends of Wilson's interval of a share."""
    from scipy.special import ndtri

    z = float(ndtri((1 + LEVEL) / 2))
    middle = (found + z**2 / 2) / (runs + z**2)
    reach = z / (runs + z**2) * math.sqrt(found * (runs - found) / runs + z**2 / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def closed_power(plan: Plan, difference: float) -> float:
    """The power by the noncentral t: exact for one panel and ``cluster_t``, else close.

    NaN where a plan cannot be tested: one listener, no item, or a panel of one for ``mixed``.
    """
    if plan.listeners < 2 or plan.items < 1:
        return math.nan
    error, freedom, wider = _reach(plan)
    if not freedom > 0:
        return math.nan
    if error == 0:
        return float(difference != 0)
    critical = wider * float(plan.critical(np.array(freedom)))
    return _beyond(abs(difference) / error, freedom, critical)


def _beyond(away: float, freedom: float, critical: float) -> float:
    """How often a noncentral t is beyond the critical value, on either side.

    t is a normal number over the root of a chi square; the mean over chi squares, each at the
    quantile of a normal number, is taken by the trapezoidal rule. It stays defined in both tails.
    """
    from scipy.special import gammainccinv, gammaincinv, ndtr

    z = np.linspace(-8, 8, 801)
    weights = np.exp(-(z**2) / 2)
    half = freedom / 2
    chi = np.where(z < 0, gammaincinv(half, ndtr(z)), gammainccinv(half, ndtr(-z))) / half
    bound = critical * np.sqrt(chi)
    return float(weights @ (ndtr(away - bound) + ndtr(-away - bound)) / weights.sum())


def _reach(plan: Plan) -> tuple[float, float, float]:
    """The error of a difference, its degrees of freedom, and how much too wide it is estimated."""
    many = plan.listeners
    if plan.method == "cluster_t":
        panels = plan.between * many * (plan.panels - 1) / (plan.panels * (many - 1))
        wider = math.sqrt(1 + panels / plan.own) if plan.own > 0 else 1.0
        return math.sqrt(plan.own / many), many - 1, wider
    squares, freedom = plan.squares()
    if not freedom.min() > 0:
        return math.nan, math.nan, math.nan
    variance = squares[0] + squares[1] - squares[2]
    error = math.sqrt(2 * plan.panels * variance / (many * plan.items))
    spread = float((squares**2 / freedom).sum())
    return error, variance**2 / spread if spread > 0 else float(freedom.min()), 1.0


def detectable(plan: Plan, *, power: float = 0.8) -> float:
    """The least difference that is found with the power asked for."""
    from scipy.optimize import brentq

    chance = closed_power(plan, 0.0)
    if math.isnan(chance):
        return math.nan
    least = _reach(plan)[0]
    if least == 0 or chance >= power:
        return 0.0
    most = least
    while closed_power(plan, most) < power:
        most *= 2
    return float(brentq(lambda x: closed_power(plan, x) - power, 0.0, most, xtol=1e-9 * least))


def listeners_needed(plan: Plan, difference: float, *, power: float = 0.8) -> int | None:
    """The fewest listeners, as many in each panel, that find the difference with the power.

    Those of the plan do not matter. None where no number is enough: too few items for ``mixed``.
    """

    def enough(each: int) -> bool:
        asked = replace(plan, listeners=each * plan.panels)
        return closed_power(asked, difference) >= power

    most = 1
    while not enough(most):
        most *= 2
        if most > MOST:
            return None
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most * plan.panels


SIMULATED: dict[str, Callable[[Plan, float, int, np.random.Generator], Bools]] = {
    "cluster_t": _cluster_t,
    "mixed": _mixed,
}
