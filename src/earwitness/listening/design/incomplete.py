"""Which systems a listener hears, where one cannot hear all of them.

Listeners take turns through cyclic blocks: a first set of systems, then the same moved on by one,
and so on round, so that after one round every system was heard equally often. The first set is
chosen such that the steps between its systems are as many different ones as can be: then every two
systems are heard by one listener about equally often. Every further round uses the set that evens
out what the rounds before left uneven.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

MANY = 3000  # sets that are looked at
Set = tuple[int, ...]


def heard_by(turn: int, systems: Sequence[str], heard: int) -> tuple[str, ...]:
    """The systems of the listener whose turn it is, from 0; in the order in which they are named.

    >>> [heard_by(turn, "ABCDEFG", 3) for turn in range(3)]
    [('A', 'B', 'D'), ('B', 'C', 'E'), ('C', 'D', 'F')]
    """
    number = len(systems)
    if heard >= number:
        return tuple(systems)
    first = _bases(number, heard, turn // number + 1)[-1]
    return tuple(systems[place] for place in sorted((one + turn) % number for one in first))


@cache
def _bases(number: int, heard: int, rounds: int) -> tuple[Set, ...]:
    """The first set of every round."""
    before = _bases(number, heard, rounds - 1) if rounds > 1 else ()
    steps = sum((_steps(one, number) for one in before), np.zeros(number, np.int64))
    best = min(_sets(number, heard), key=lambda one: _unevenness(steps + _steps(one, number)))
    return (*before, best)


def _sets(number: int, heard: int) -> list[Set]:
    """Sets that hold the first system: all of them, or many that are drawn once and for all."""
    if comb(number - 1, heard - 1) <= MANY:
        return [(0, *one) for one in combinations(range(1, number), heard - 1)]
    rng = np.random.default_rng([number, heard])
    drawn = (rng.choice(np.arange(1, number), heard - 1, replace=False) for _ in range(MANY))
    return [(0, *sorted(one.tolist())) for one in drawn]


def _steps(one: Set, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How often each step leads from one system of a set to another: index is the step."""
    counts = np.zeros(number, np.int64)
    for a in one:
        for b in one:
            counts[(b - a) % number] += a != b
    return counts


def _unevenness(steps: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    others = steps[1:]
    return int(others @ others)  # the total is fixed, so the most even one has the least squares
