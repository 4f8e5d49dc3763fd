"""Power, detectable differences and sample sizes of planned studies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.mixed_model import Components

# --- Power scenarios -----------------------------------------------------------------------------


METHODS = ("cluster_t", "mixed")


@dataclass(frozen=True, slots=True)
class PowerScenario:
    """Variance components, design and test of a planned comparison of two systems.

    ``items`` is the total number of items; each panel hears its share of them. ``alpha`` is divided
    by the number of ``tests``, the strictest level of Holm's correction. On a scale with steps
    votes are rounded: ``step`` adds step² / 12 to the residual variance, which is accurate unless
    votes pile up at an end of the scale.

    ``method`` is ``cluster_t``, the paired t test over listeners, which refers to these items;
    item_system then only makes panels differ, since panels hear different items. Or it is
    ``mixed``, which refers to other items as well; item_system then counts in full, and variances
    are those of all systems.
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
        """Check the method."""
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r} — use one of {', '.join(METHODS)}")

    @property
    def residual(self) -> float:
        """Residual variance of a vote, including rounding."""
        return self.components.residual**2 + (self.step or 0.0) ** 2 / 12

    @property
    def items_heard(self) -> float:
        """Number of items per listener."""
        return self.items / self.panels

    @property
    def listener_variance(self) -> float:
        """Variance of a listener's difference between two systems, on the items heard."""
        return 2 * self.components.listener_system**2 + 2 * self.residual / self.items_heard

    @property
    def panel_variance(self) -> float:
        """Variance of a panel's difference between two systems, as panels hear different items."""
        return 2 * self.components.item_system**2 / self.items_heard

    def expected_squares(self) -> tuple[Floats, Floats]:
        """Return expected mean squares and degrees of freedom: both interactions, residual."""
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
        """Return the critical value of t."""
        from scipy.special import stdtrit

        return np.asarray(stdtrit(freedom, 1 - self.alpha / self.tests / 2))


# --- Power and sample size -----------------------------------------------------------------------
# Votes are simulated from variance components, either of a pilot study or assumed, and tested as in
# the planned study. Detectable differences and sample sizes use the closed form, a noncentral t.


POWER_INTERVAL_LEVEL = 0.95  # confidence level of a simulated power
# largest panel that is considered before no number of listeners is enough
MAX_PANEL_LISTENERS = 2**20


def simulate_power(
    plan: PowerScenario, difference: float, *, runs: int = 2000, seed: int = 0
) -> Estimate:
    """Estimate the power to detect a difference by simulation, with a Wilson interval."""
    from scipy.special import ndtri

    if math.isnan(closed_power(plan, difference)):
        return Estimate(math.nan, math.nan, math.nan, POWER_INTERVAL_LEVEL, 0, runs, "simulation")
    rng = Generator(np.random.PCG64(seed))
    detections = int(SIMULATED_TESTS[plan.method](plan, difference, runs, rng).sum())
    z = float(ndtri((1 + POWER_INTERVAL_LEVEL) / 2))
    middle = (detections + z**2 / 2) / (runs + z**2)
    half_width = z / (runs + z**2) * math.sqrt(detections * (runs - detections) / runs + z**2 / 4)
    low, high = max(0.0, middle - half_width), min(1.0, middle + half_width)
    return Estimate(detections / runs, low, high, POWER_INTERVAL_LEVEL, runs, 0, "simulation")


def _simulate_cluster_t(plan: PowerScenario, difference: float, runs: int, rng: Generator) -> Bools:
    """Return whether the t test over listeners is significant in each run."""
    panels = math.sqrt(plan.panel_variance) * rng.standard_normal((runs, plan.panels))
    panels -= panels.mean(axis=1, keepdims=True)  # the difference over all items is fixed
    listener_differences = math.sqrt(plan.listener_variance) * rng.standard_normal(
        (runs, plan.listeners)
    )
    listener_differences += difference + panels[:, np.arange(plan.listeners) % plan.panels]
    error = listener_differences.std(axis=1, ddof=1) / math.sqrt(plan.listeners)
    critical = plan.critical_t(np.array(plan.listeners - 1.0))
    return np.asarray(np.abs(listener_differences.mean(axis=1)) > critical * error)


def _simulate_mixed(plan: PowerScenario, difference: float, runs: int, rng: Generator) -> Bools:
    """Return whether the mixed model finds a significant difference in each run.

    The mean squares of a complete table are sufficient statistics; they are drawn within panels.
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
    """Return both interactions minus the residual, with Satterthwaite's degrees of freedom, by run.

    An interaction below the residual has variance 0 and is pooled with it, the smaller one first.
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


def closed_power(plan: PowerScenario, difference: float) -> float:
    """Return the power by the noncentral t; exact for one panel and ``cluster_t``.

    For other designs it is approximate. NaN if the design cannot be tested: one listener, no item,
    or a panel of one for ``mixed``.
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
    """Return the probability that a noncentral t is beyond the critical value, on either side.

    t is a normal variable over the root of a chi-squared one; the mean over quantiles of the latter
    is computed by the trapezoidal rule, which is stable in both tails.
    """
    from scipy.special import gammainccinv, gammaincinv, ndtr

    z = np.linspace(-8, 8, 801)
    weights = np.exp(-(z**2) / 2)
    half = freedom / 2
    chi = np.where(z < 0, gammaincinv(half, ndtr(z)), gammainccinv(half, ndtr(-z))) / half
    bound = critical * np.sqrt(chi)
    return float(weights @ (ndtr(shift - bound) + ndtr(-shift - bound)) / weights.sum())


def _difference_error(plan: PowerScenario) -> tuple[float, float, float]:
    """Return the standard error of a difference, its degrees of freedom, and its
    overestimation factor.
    """
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
    """Return the smallest difference that is detected with the target power."""
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
    """Return the smallest number of listeners, equal in all panels, that reaches the target power.

    The number of listeners in the scenario is ignored. None if no number is enough: too few items
    for
    ``mixed``.
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


SIMULATED_TESTS: dict[str, Callable[[PowerScenario, float, int, Generator], Bools]] = {
    "cluster_t": _simulate_cluster_t,
    "mixed": _simulate_mixed,
}
