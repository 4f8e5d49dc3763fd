"""A coefficient with more raters or items than there are, from that with half of them and with all.

Noise in the means makes a correlation smaller: with k raters (or items) r² = ρ² k / (k + c), so
1/r² is a line in 1/k. It is drawn through half of them and all of them, and read off further on.
Other coefficients are brought to the scale of r first, as if all were normal: r = sin(π τ / 2) for
Kendall's, 2 sin(π ρ / 6) for Spearman's. At most, where all is noise, r grows with √k. Those that
count ties as right or wrong do not follow this, since with more raters there are fewer ties: they
are a line in 1/k themselves, which is careful.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.concord.coefficients import COEFFICIENTS
from earwitness.stats.exact import Floats

STRAIGHT = ("acc_23", "tau_23")  # that ties of people change, not noise alone


def further(less: Floats, own: Floats, name: str, counts: tuple[int, int, int]) -> Floats:
    """The value with more, from that with fewer and with all; ``counts`` are these three numbers.

    >>> r = [np.array([np.sqrt(0.9 * k / (k + 2))]) for k in (2, 4, 8)]
    >>> bool(np.isclose(further(r[0], r[1], "pearson", (2, 4, 8)), r[2])[0])
    True
    """
    few, all_, more = counts
    steps = (1 / all_ - 1 / more) / (1 / few - 1 / all_)
    if name in STRAIGHT:
        one = COEFFICIENTS[name]
        return np.clip(own + steps * (own - less), one.low, one.high)
    first, second = _to_r(less, name), _to_r(own, name)
    alike = first * second > 0
    squares, lost = (np.where(alike, one, 1.0) ** -2.0 for one in (second, first))
    least = np.maximum(1.0, squares * all_ / more)
    reached = np.maximum(least, squares - steps * (lost - squares)) ** -0.5
    return np.where(alike, _from_r(np.sign(second) * reached, name), own)


def _middle(name: str) -> float:
    one = COEFFICIENTS[name]
    return (one.low + one.high) / 2


def _to_r(values: Floats, name: str) -> Floats:
    one = COEFFICIENTS[name]
    scaled = (values - _middle(name)) * 2 / (one.high - one.low)
    if name == "pearson":
        return scaled
    return 2 * np.sin(np.pi * scaled / 6) if name == "spearman" else np.sin(np.pi * scaled / 2)


def _from_r(r: Floats, name: str) -> Floats:
    one = COEFFICIENTS[name]
    by_rank = 6 * np.arcsin(r / 2) if name == "spearman" else 2 * np.arcsin(r)
    scaled = r if name == "pearson" else by_rank / np.pi
    return np.asarray(_middle(name) + scaled * (one.high - one.low) / 2)
