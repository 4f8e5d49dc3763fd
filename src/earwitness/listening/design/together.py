"""Clips of one group heard together, such as those of a dataset, in whatever order they had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from earwitness.data import Trial


def together(
    sessions: Sequence[Sequence[Trial]], group: Mapping[str, str], turn: int
) -> list[list[Trial]]:
    """The same trials in sessions as long, group by group; listeners take turns to start.

    >>> trials = [Trial(item, ("x",), ()) for item in "abcd"]
    >>> groups = {"a": "park", "b": "street", "c": "park", "d": "street"}
    >>> [[one.item for one in own] for own in together([trials[:2], trials[2:]], groups, 1)]
    [['b', 'd'], ['a', 'c']]
    """
    every = [trial for own in sessions for trial in own]
    names = sorted({group[trial.item] for trial in every})
    start = turn % len(names)
    order = {name: place for place, name in enumerate(names[start:] + names[:start])}
    sorted_ = sorted(every, key=lambda trial: order[group[trial.item]])
    ends = accumulate(map(len, sessions), initial=0)
    return [sorted_[a:b] for a, b in pairwise(ends)]
