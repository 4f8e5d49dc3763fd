"""Sensitivity d′: how far apart two sounds are for a listener, in standard deviations of hearing.

From the share of right answers, for a listener who leans to neither answer (Macmillan and Creelman
2005, chapter 9). In ABX, one who *differences* says that X is the closer of the two:

    share right = Φ(d′/√2) Φ(d′/√6) + Φ(−d′/√2) Φ(−d′/√6)

One who makes *independent observations* compares X with a fixed point between the two, and the two
with each other:

    share right = Φ(d′/√2) Φ(d′/2) + Φ(−d′/√2) Φ(−d′/2)

Of two sounds, the right one is chosen (2AFC) with Φ(d′/√2).

A share of one half or less says that nothing was heard: d′ is 0. All right says that d′ has no
upper end: it is infinite, and so is the upper end of its interval. Ends of intervals are those of
the share (Clopper–Pearson), transformed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from earwitness.data import Estimate
from earwitness.stats.binomial import share

DIFFERENCING, INDEPENDENT, FORCED = "differencing", "independent", "2afc"
MOST = 80.0  # a d′ beyond which every share is 1 in double precision


def share_right(sensitivity: float, model: str = DIFFERENCING) -> float:
    """The share of right answers that follows from d′."""
    return MODELS[model](sensitivity)


def sensitivity(right: float, model: str = DIFFERENCING) -> float:
    """d′ from a share of right answers, from 0 to 1.

    >>> round(sensitivity(0.75), 3), round(sensitivity(0.75, "independent"), 3)
    (2.02, 1.79)
    """
    from scipy.optimize import brentq

    if math.isnan(right):
        return math.nan
    if right <= 0.5:
        return 0.0
    if right >= 1:
        return math.inf
    return float(brentq(lambda d: MODELS[model](d) - right, 0, MOST, xtol=1e-12))


def sensitivity_of_counts(
    right: int, trials: int, level: float = 0.95, model: str = DIFFERENCING
) -> Estimate:
    """d′ from a count of right answers, with its interval."""
    known = share(right, trials, level)
    value, low, high = (sensitivity(x, model) for x in (known.value, known.low, known.high))
    return Estimate(value, low, high, level, trials, 0, f"{known.method}|{model}")


def _two_steps(second: float) -> Callable[[float], float]:
    """Both comparisons right, or both wrong."""

    def right(d: float) -> float:
        both = _below(d / math.sqrt(2)) * _below(d / second)
        return both + _below(-d / math.sqrt(2)) * _below(-d / second)

    return right


def _below(z: float) -> float:
    """Φ."""
    return math.erfc(-z / math.sqrt(2)) / 2


MODELS: dict[str, Callable[[float], float]] = {
    DIFFERENCING: _two_steps(math.sqrt(6)),
    INDEPENDENT: _two_steps(2.0),
    FORCED: lambda d: _below(d / math.sqrt(2)),
}
