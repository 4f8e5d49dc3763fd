"""Power, detectable differences and sample sizes of planned studies; simulated votes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes

# --- Power scenarios -----------------------------------------------------------------------------


METHODS = ("cluster_t", "mixed")


@dataclass(frozen=True, slots=True)
class PowerScenario:
    """What votes differ by, who hears what, and how two systems are compared.

    ``items`` are all items; a panel hears its share of them. ``alpha`` is divided by the number of
    ``tests``, the least that Holm's correction leaves to any of them. A scale with steps rounds
    votes: ``step`` adds step² / 12 to the residual variance, which is right while votes do not
    crowd at an end of the scale.

    ``method`` is ``cluster_t``, the paired t test over listeners, which speaks about these items:
    what a system does better on some items only makes panels differ, since each hears other ones.
    Or it is ``mixed``, which speaks about other items too: there item_system counts in full, and
    variances are those of all systems.
    """

    components: Components
    listeners: int
    items: int
    systems: int = 2
    panels: int = 1
    alpha: float = 0.05
    tests: int = 1
    step: float | None = None
    method: str = "cluster_t"

    def __post_init__(self) -> None:
        """Refuse a method that is not known."""
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}: one of {', '.join(METHODS)}")

    @property
    def residual(self) -> float:
        """The variance of a vote that nothing explains, rounding included."""
        return self.components.residual**2 + (self.step or 0.0) ** 2 / 12

    @property
    def items_heard(self) -> float:
        """Items that a listener hears."""
        return self.items / self.panels

    @property
    def listener_variance(self) -> float:
        """The variance of a listener's difference of two systems, on the items heard."""
        return 2 * self.components.listener_system**2 + 2 * self.residual / self.items_heard

    @property
    def panel_variance(self) -> float:
        """The variance of a panel's difference of two systems, since panels hear other items."""
        return 2 * self.components.item_system**2 / self.items_heard

    def expected_squares(self) -> tuple[Floats, Floats]:
        """Of listener_system, item_system and the rest: expected mean squares, and freedom."""
        parts, panel = self.components, self.listeners / self.panels
        listener = self.residual + self.items_heard * parts.listener_system**2
        item = self.residual + panel * parts.item_system**2
        freedom = [
            (self.listeners - self.panels) * (self.systems - 1),
            (self.items - self.panels) * (self.systems - 1),
            self.systems * self.panels * (panel - 1) * (self.items_heard - 1),
        ]
        return np.array([listener, item, self.residual]), np.array(freedom, np.float64)

    def critical_t(self, freedom: Floats) -> Floats:
        """What t must exceed."""
        from scipy.special import stdtrit

        return np.asarray(stdtrit(freedom, 1 - self.alpha / self.tests / 2))


# --- Power and sample size -----------------------------------------------------------------------
# Votes are drawn from variance components, those of a pilot or assumed ones, and tested as a study
# would test them; a closed form, the noncentral t, answers where the question is turned round.


POWER_INTERVAL_LEVEL = 0.95  # of the interval that says how sure a simulated power is
# listeners in a panel that are looked at before none are said to be enough
MAX_PANEL_LISTENERS = 2**20


def simulate_power(
    plan: PowerScenario, difference: float, *, runs: int = 2000, seed: int = 0
) -> Estimate:
    """How often a difference is found, by simulation; the interval is that of the simulation."""
    if math.isnan(closed_power(plan, difference)):
        return Estimate(math.nan, math.nan, math.nan, POWER_INTERVAL_LEVEL, 0, runs, "simulation")
    rng = np.random.Generator(np.random.PCG64(seed))
    detections = int(SIMULATED_TESTS[plan.method](plan, difference, runs, rng).sum())
    low, high = _wilson_interval(detections, runs)
    return Estimate(detections / runs, low, high, POWER_INTERVAL_LEVEL, runs, 0, "simulation")


def _simulate_cluster_t(
    plan: PowerScenario, difference: float, runs: int, rng: np.random.Generator
) -> Bools:
    """Whether the t test over listeners finds the difference in each run."""
    panels = math.sqrt(plan.panel_variance) * rng.standard_normal((runs, plan.panels))
    panels -= panels.mean(axis=1, keepdims=True)  # the difference on all of these items is given
    listener_differences = math.sqrt(plan.listener_variance) * rng.standard_normal(
        (runs, plan.listeners)
    )
    listener_differences += difference + panels[:, np.arange(plan.listeners) % plan.panels]
    error = listener_differences.std(axis=1, ddof=1) / math.sqrt(plan.listeners)
    critical = plan.critical_t(np.array(plan.listeners - 1.0))
    return np.asarray(np.abs(listener_differences.mean(axis=1)) > critical * error)


def _simulate_mixed(
    plan: PowerScenario, difference: float, runs: int, rng: np.random.Generator
) -> Bools:
    """Whether the mixed model finds the difference in each run.

    The mean squares of a full table say all; they are drawn here, within panels.
    """
    expected, freedom = plan.expected_squares()
    variance, df = _pool_interactions(
        expected * rng.chisquare(freedom, (runs, 3)) / freedom, freedom
    )
    scale = 2 * plan.panels / (plan.listeners * plan.items)
    right = scale * (expected[0] + expected[1] - expected[2])
    value = difference + math.sqrt(right) * rng.standard_normal(runs)
    return np.abs(value) > plan.critical_t(df) * np.sqrt(scale * variance)


def _pool_interactions(squares: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Both interactions less the rest, and its degrees of freedom by Satterthwaite, in each run.

    An interaction with less than the rest has variance 0 and is pooled with the rest, the smaller
    one first.
    """
    order = np.argsort(squares[:, :2], axis=1)
    inner, inner_freedom = np.take_along_axis(squares[:, :2], order, axis=1), freedom[order]
    residual, residual_freedom, is_kept = (
        squares[:, 2],
        np.full(len(squares), freedom[2]),
        inner > 0,
    )
    for k in range(2):
        is_kept[:, k] = inner[:, k] >= residual
        pooled = (inner[:, k] * inner_freedom[:, k] + residual * residual_freedom) / (
            inner_freedom[:, k] + residual_freedom
        )
        residual = np.where(is_kept[:, k], residual, pooled)
        residual_freedom = np.where(
            is_kept[:, k], residual_freedom, inner_freedom[:, k] + residual_freedom
        )
    inner, share = np.where(is_kept, inner, 0), 1 - is_kept.sum(axis=1)
    variance = inner.sum(axis=1) + share * residual
    return variance, variance**2 / (
        (inner**2 / inner_freedom).sum(axis=1) + (share * residual) ** 2 / residual_freedom
    )


def _wilson_interval(detections: int, runs: int) -> tuple[float, float]:
    """Both ends of Wilson's interval of a share."""
    from scipy.special import ndtri

    z = float(ndtri((1 + POWER_INTERVAL_LEVEL) / 2))
    middle = (detections + z**2 / 2) / (runs + z**2)
    half_width = z / (runs + z**2) * math.sqrt(detections * (runs - detections) / runs + z**2 / 4)
    return max(0.0, middle - half_width), min(1.0, middle + half_width)


def closed_power(plan: PowerScenario, difference: float) -> float:
    """The power by the noncentral t: exact for one panel and ``cluster_t``, else close.

    NaN where a plan cannot be tested: one listener, no item, or a panel of one for ``mixed``.
    """
    if plan.listeners < 2 or plan.items < 1:
        return math.nan
    error, freedom, widening = _difference_error(plan)
    if not freedom > 0:
        return math.nan
    if error == 0:
        return float(difference != 0)
    critical = widening * float(plan.critical_t(np.array(freedom)))
    return _noncentral_t_tails(abs(difference) / error, freedom, critical)


def _noncentral_t_tails(shift: float, freedom: float, critical: float) -> float:
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
    return float(weights @ (ndtr(shift - bound) + ndtr(-shift - bound)) / weights.sum())


def _difference_error(plan: PowerScenario) -> tuple[float, float, float]:
    """The error of a difference, its degrees of freedom, and how much too wide it is estimated."""
    listeners = plan.listeners
    if plan.method == "cluster_t":
        panels = (
            plan.panel_variance * listeners * (plan.panels - 1) / (plan.panels * (listeners - 1))
        )
        widening = (
            math.sqrt(1 + panels / plan.listener_variance) if plan.listener_variance > 0 else 1.0
        )
        return math.sqrt(plan.listener_variance / listeners), listeners - 1, widening
    squares, freedom = plan.expected_squares()
    if not freedom.min() > 0:
        return math.nan, math.nan, math.nan
    variance = squares[0] + squares[1] - squares[2]
    error = math.sqrt(2 * plan.panels * variance / (listeners * plan.items))
    spread = float((squares**2 / freedom).sum())
    return error, variance**2 / spread if spread > 0 else float(freedom.min()), 1.0


def detectable_difference(plan: PowerScenario, *, power: float = 0.8) -> float:
    """The least difference that is found with the power asked for."""
    from scipy.optimize import brentq

    chance = closed_power(plan, 0.0)
    if math.isnan(chance):
        return math.nan
    error = _difference_error(plan)[0]
    if error == 0 or chance >= power:
        return 0.0
    upper = error
    while closed_power(plan, upper) < power:
        upper *= 2
    return float(brentq(lambda x: closed_power(plan, x) - power, 0.0, upper, xtol=1e-9 * error))


def listeners_needed(plan: PowerScenario, difference: float, *, power: float = 0.8) -> int | None:
    """The fewest listeners, as many in each panel, that find the difference with the power.

    Those of the plan do not matter. None where no number is enough: too few items for ``mixed``.
    """

    def is_enough(panel_listeners: int) -> bool:
        scenario = replace(plan, listeners=panel_listeners * plan.panels)
        return closed_power(scenario, difference) >= power

    upper = 1
    while not is_enough(upper):
        upper *= 2
        if upper > MAX_PANEL_LISTENERS:
            return None
    lower = upper // 2
    while upper - lower > 1:
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if is_enough(middle) else (middle, upper)
    return upper * plan.panels


SIMULATED_TESTS: dict[str, Callable[[PowerScenario, float, int, np.random.Generator], Bools]] = {
    "cluster_t": _simulate_cluster_t,
    "mixed": _simulate_mixed,
}


# --- Simulated votes -----------------------------------------------------------------------------
# A vote is the quality of its system, plus effects of the item, of the item in this system, of the
# listener and of the listener in this system, plus what is left; all effects are normal and
# independent. On a scale of points the sum is rounded to the nearest point and kept within the
# ends. What is expected of such votes is computed, not simulated, so that intervals can be held to
# it.


class Points(NamedTuple):
    """The points of a scale."""

    low: float = 1.0
    high: float = 5.0
    step: float = 1.0

    def nearest(self, values: Floats) -> Floats:
        """Values as a listener can give them."""
        steps = np.floor((values - self.low) / self.step + 0.5)
        return np.clip(self.low + self.step * steps, self.low, self.high)

    @property
    def borders(self) -> Floats:
        """Borders between a point and the next."""
        steps = round((self.high - self.low) / self.step)
        return np.asarray(self.low + self.step * (np.arange(steps) + 0.5), np.float64)


def crossed_design(systems: int, items: int, listeners: int, panels: int = 1) -> Votes:
    """A design: every listener hears all items of their panel by all systems; all votes are 0.

    Items and listeners are dealt out to panels in turn.

    >>> crossed_design(2, 4, 2, panels=2).items.tolist()
    [0, 0, 2, 2, 1, 1, 3, 3]
    """
    listener, item, system = (
        axis.ravel() for axis in np.indices((listeners, items, systems), np.int64)
    )
    design = Votes(np.zeros(len(system)), system, item, listener, size=(systems, items, listeners))
    return design.select(item % panels == listener % panels)


def stimulus_qualities(
    qualities: ArrayLike, items: int, components: Components, rng: np.random.Generator
) -> Floats:
    """Qualities of stimuli, systems by items: those of systems with the effects of drawn items."""
    system_effects = np.asarray(qualities, np.float64)[:, None]
    item_effects = components.item * rng.standard_normal(items)
    interactions = components.item_system * rng.standard_normal((len(system_effects), items))
    return np.asarray(system_effects + item_effects + interactions)


def draw_votes(
    design: Votes,
    stimuli: Floats,
    components: Components,
    rng: np.random.Generator,
    *,
    runs: int = 1,
    points: Points | None = None,
) -> Floats:
    """Votes of new listeners on stimuli of these qualities: a row a run, a column a vote."""
    systems, _, listeners = design.size
    bias = components.listener * rng.standard_normal((runs, listeners))
    taste = rng.standard_normal((runs, listeners, systems))
    values = components.residual * rng.standard_normal((runs, len(design.values)))
    values += stimuli[design.systems, design.items]
    values += bias[:, design.listeners]
    values += components.listener_system * taste[:, design.listeners, design.systems]
    return values if points is None else points.nearest(values)


def simulate_votes(
    design: Votes,
    qualities: ArrayLike,
    components: Components,
    *,
    seed: int,
    points: Points | None = None,
) -> Votes:
    """The design with votes: items and listeners are both drawn anew."""
    rng = np.random.Generator(np.random.PCG64(seed))
    stimuli = stimulus_qualities(qualities, design.size[1], components, rng)
    return replace(design, values=draw_votes(design, stimuli, components, rng, points=points)[0])


def expected_vote(qualities: ArrayLike, variance: float, points: Points | None = None) -> Floats:
    """The mean of normal votes about these qualities, exact also where they are rounded and cut.

    Over listeners, give qualities of stimuli and the variance ``components.within_stimuli``; over
    items too, give qualities of systems, and add ``components.between_items``.

    >>> expected_vote([3.0, 1.0, 9.0], 1.0, Points()).round(3).tolist()
    [3.0, 1.382, 5.0]
    """
    from scipy.special import ndtr

    centres = np.asarray(qualities, np.float64)
    if points is None:
        return centres
    if variance == 0:
        return points.nearest(centres)
    above = ndtr((centres[..., None] - points.borders) / math.sqrt(variance))
    return np.asarray(points.low + points.step * above.sum(axis=-1))
