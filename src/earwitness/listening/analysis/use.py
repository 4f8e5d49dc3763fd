"""How listeners use a scale: one value over and over, the same on all scales."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from earwitness.data import Rating, Who


@dataclass(frozen=True, slots=True)
class Use:
    """One listener on one scale: the share of the value given most, and the longest row of it.

    ``run`` counts equal votes that follow each other within a session, in order of trials; it is 0
    where the order is not known.
    """

    usual: float
    run: int


def use(ratings: Iterable[Rating], scale: str) -> dict[Who, Use]:
    """How each listener uses a scale."""
    own = defaultdict[Who, list[Rating]](list)
    for one in ratings:
        if one.scale == scale:
            own[one.listener].append(one)
    return {
        listener: Use(usual([one.value for one in votes]), longest_run(votes))
        for listener, votes in own.items()
    }


def usual(values: Sequence[float]) -> float:
    """The share of the value given most often.

    >>> usual([4, 4, 3, 4])
    0.75
    """
    return max(Counter(values).values()) / len(values) if values else math.nan


def longest_run(ratings: Iterable[Rating]) -> int:
    """The longest row of equal votes in a session, in order of trials and of places in them."""
    known = [one for one in ratings if one.trial > 0]
    in_order = sorted(known, key=lambda one: (one.session, one.trial, one.place))
    rows = groupby(in_order, key=lambda one: (one.session, one.value))
    return max((sum(1 for _ in row) for _, row in rows), default=0)


def alike(ratings: Iterable[Rating]) -> dict[Who, float]:
    """By listener, the share of trials with the same number on all scales, where there are several.

    For P.835; a trial is one stimulus in one session.
    """
    trials = defaultdict[tuple[object, ...], list[Rating]](list)
    for one in ratings:
        trials[one.listener, one.session, one.trial, one.key].append(one)
    equal = defaultdict[Who, list[bool]](list)
    for votes in trials.values():
        if len({one.scale for one in votes}) > 1:
            equal[votes[0].listener].append(len({one.value for one in votes}) == 1)
    return {listener: sum(own) / len(own) for listener, own in equal.items()}
