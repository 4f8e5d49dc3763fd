"""Corrections for several tests. An undefined p stays undefined and does not count as a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down: the chance of any false finding stays below the threshold.

    >>> holm([0.01, 0.04, 0.03])  # 3 · 0.01, then 2 · 0.03, then no less than that
    [0.03, 0.06, 0.06]
    """
    order = _defined(p)
    adjusted, least = [float("nan")] * len(p), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = least
    return adjusted


def bh(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg: the expected share of false findings stays below the threshold.

    >>> bh([0.01, 0.05, 0.03])  # the largest as it is, then 3/2 · 0.03, then 3/1 · 0.01
    [0.03, 0.05, 0.045]
    """
    order = _defined(p)
    adjusted, most = [float("nan")] * len(p), 1.0
    for rank, i in reversed(list(enumerate(order, start=1))):
        most = min(most, len(order) / rank * p[i])
        adjusted[i] = most
    return adjusted


def none(p: Sequence[float]) -> list[float]:
    """Every p as it is."""
    return list(p)


def _defined(p: Sequence[float]) -> list[int]:
    """Places of those that are numbers, the smallest first."""
    return sorted((i for i, one in enumerate(p) if not np.isnan(one)), key=lambda i: p[i])


Correction = Callable[[Sequence[float]], list[float]]
CORRECTIONS: dict[str, Correction] = {"holm": holm, "bh": bh, "none": none}
