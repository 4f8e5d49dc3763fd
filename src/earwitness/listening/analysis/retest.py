"""Listeners who rated the same stimulus twice: how far do they agree with themselves?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from earwitness.data import Doubled, Retest
from earwitness.stats.exact import Floats
from earwitness.stats.over_listeners import over_listeners


def retests(doubled: Sequence[Doubled], *, level: float) -> tuple[Retest, ...]:
    """By scale, from the first two votes of everything that was rated more than once."""
    scales = dict.fromkeys(one.scale for one in doubled)
    return tuple(_retest([one for one in doubled if one.scale == name], level) for name in scales)


def _retest(doubled: Sequence[Doubled], level: float) -> Retest:
    first, second = np.array([one.values[:2] for one in doubled], np.float64).T
    change = second - first
    return Retest(
        scale=doubled[0].scale,
        pairs=len(doubled),
        change=over_listeners(_by_listener(doubled, change), level)[0],
        error=math.sqrt(float((change**2).mean()) / 2),
        same=float((change == 0).mean()),
        correlation=_correlation(first, second),
    )


def _by_listener(doubled: Sequence[Doubled], change: Floats) -> Floats:
    """The mean change of every listener."""
    own: dict[object, list[float]] = {}
    for one, value in zip(doubled, change.tolist(), strict=True):
        own.setdefault(one.listener, []).append(value)
    return np.array([np.mean(values) for values in own.values()])


def _correlation(first: Floats, second: Floats) -> float:
    a, b = first - first.mean(), second - second.mean()
    size = math.sqrt(float((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else math.nan
