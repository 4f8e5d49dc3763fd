"""Incomplete designs: the systems that each listener hears when nobody hears all.

Listeners of a panel take turns through cyclic blocks: a first set of systems, and the same moved on
round the circle, so that after one round every system was heard equally often. The first set is
chosen such that the steps between its systems are as many different ones as can be: then every two
systems are heard by one listener about equally often. Every further round uses the set that evens
out what the rounds before left uneven. Within a round, the next shift is the one that leaves
systems, then pairs of them, most even.

Where listeners can share systems out among them without a rest, any sets are looked at, not only
those of a circle; of the two ways the one is used that keeps the first listeners more even. Every
panel starts elsewhere in the circle, so that panels together hear all systems evenly too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np

from earwitness.stats.arrays import Ints

MAX_SETS_TRIED = 3000  # sets that are looked at
SYSTEM_UNEVENNESS_WEIGHT = 3  # how much more it counts that systems are uneven than that pairs are
MAX_WINDOW_LISTENERS = 20  # listeners whose orders are chosen together
SystemSet = tuple[int, ...]


def heard_by(turn: int, systems: Sequence[str], heard: int, panel: int = 0) -> tuple[str, ...]:
    """The systems of a panel's listener whose turn it is, from 0, in the order they are named in.

    >>> [heard_by(turn, "ABCD", 2) for turn in range(4)]
    [('A', 'B'), ('C', 'D'), ('B', 'C'), ('A', 'D')]
    >>> [heard_by(0, "ABCD", 2, panel) for panel in range(2)]
    [('A', 'B'), ('C', 'D')]
    """
    number = len(systems)
    if heard >= number:
        return tuple(systems)
    moved = _moves(number, heard)[panel % number]
    own = ((one + moved) % number for one in _set(turn, number, heard))
    return tuple(systems[place] for place in sorted(own))


def first_order(turn: int, number: int, heard: int) -> int:
    """Which of two orders the listener starts with whose turn it is: 0 or 1.

    Of every two listeners each takes another one. Where they hear different systems, that is
    settled such that every system is heard first in either order about equally often.

    >>> [first_order(turn, 4, 2) for turn in range(4)]
    [0, 1, 0, 1]
    """
    if heard >= number:
        return turn % 2
    window, place = divmod(turn, _width(number))
    return _firsts(number, heard, window + 1)[-1][place]


def _set(turn: int, number: int, heard: int) -> SystemSet:
    rounds, place = divmod(turn, number)
    if _free(number, heard):
        return _taken(number, heard, rounds + 1)[-1][place]
    return _cyclic(rounds, place, number, heard)


def _cyclic(rounds: int, place: int, number: int, heard: int) -> SystemSet:
    base = _bases(number, heard, rounds + 1)[-1]
    shift = _shifts(number, heard, rounds + 1)[-1][place]
    return tuple((one + shift) % number for one in base)


@cache
def _free(number: int, heard: int) -> bool:
    """Whether any sets do better than those of a circle, for the listeners of two rounds."""
    if number % heard or comb(number, heard) > MAX_SETS_TRIED:
        return False
    circle = [_cyclic(turn, place, number, heard) for turn in (0, 1) for place in range(number)]
    return _ragged(number, [one for own in _taken(number, heard, 2) for one in own]) < _ragged(
        number, circle
    )


def _ragged(number: int, sets: list[SystemSet]) -> int:
    """How far systems, which count more, and pairs of them are apart, listener by listener."""
    together, found = _none(number), 0
    for one in sets:
        together = together + _pairs(one, 0, number)
        pairs = together[np.triu_indices(number, 1)]
        found += SYSTEM_UNEVENNESS_WEIGHT * max(0, int(np.ptp(np.diag(together))) - 1)
        found += max(0, int(np.ptp(pairs)) - 1)
    return found


@cache
def _taken(number: int, heard: int, rounds: int) -> tuple[tuple[SystemSet, ...], ...]:
    """The sets of every round: each leaves systems, then pairs of them, most even."""
    before = _taken(number, heard, rounds - 1) if rounds > 1 else ()
    every = list(combinations(range(number), heard))
    holds = np.array([[place in one for place in range(number)] for one in every], np.int64)
    together = sum((_pairs(one, 0, number) for own in before for one in own), _none(number))
    own = list[SystemSet]()
    while len(own) < number:
        more = (together + 1) ** 4 - together**4  # so that no pair is far ahead
        pairs = np.einsum("ci,ij,cj->c", holds, more, holds)
        best = int(np.lexsort((pairs, holds @ np.diag(together)))[0])
        together = together + _pairs(every[best], 0, number)
        own.append(every[best])
    return (*before, tuple(own))


@cache
def _moves(number: int, heard: int) -> SystemSet:
    """How far every panel moves its sets on."""
    return _even_shifts(_set(0, number, heard), _none(number))


def _none(number: int) -> Ints:
    return np.zeros((number, number), np.int64)


def _width(number: int) -> int:
    """Listeners that are looked at together: whole rounds, two by two, unless they are many."""
    return min(number if number % 2 == 0 else 2 * number, MAX_WINDOW_LISTENERS)


@cache
def _firsts(number: int, heard: int, windows: int) -> tuple[SystemSet, ...]:
    """The orders that the listeners of every window start with.

    Of all choices the one that leaves no system with one order much oftener than with the other,
    after whole rounds first, then all along.
    """
    before = _firsts(number, heard, windows - 1) if windows > 1 else ()
    width = _width(number)
    turns = np.arange(width * windows)
    hears = np.zeros((len(turns), number), np.int64)
    for turn in turns:
        hears[turn, list(_set(int(turn), number, heard))] = 1
    earlier = (1 - 2 * np.array([one for own in before for one in own], np.int64)) @ hears[:-width]
    choices = np.array(list(product((0, 1), repeat=width // 2)))
    orders = np.stack([choices, 1 - choices], axis=-1).reshape(len(choices), width)
    leaning = earlier + np.cumsum((1 - 2 * orders)[:, :, None] * hears[-width:], axis=1)
    ends = (turns[-width:] + 1) % number == 0
    after = np.abs(leaning[:, ends]).max(axis=(1, 2)) if ends.any() else np.zeros(len(orders))
    best = int(np.lexsort(((leaning**4).sum(axis=(1, 2)), after))[0])
    return (*before, tuple(orders[best].tolist()))


@cache
def _bases(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """The first set of every round."""
    before = _bases(number, heard, rounds - 1) if rounds > 1 else ()
    steps = sum((_steps(one, number) for one in before), np.zeros(number, np.int64))
    best = min(_sets(number, heard), key=lambda one: _unevenness(steps + _steps(one, number)))
    return (*before, best)


@cache
def _shifts(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """The order in which every round moves its set on."""
    before = _shifts(number, heard, rounds - 1) if rounds > 1 else ()
    together = _none(number)  # the diagonal counts systems
    for base, shifts in zip(_bases(number, heard, rounds), before, strict=False):
        for shift in shifts:
            together += _pairs(base, shift, number)
    return (*before, _even_shifts(_bases(number, heard, rounds)[-1], together))


def _even_shifts(base: SystemSet, together: Ints) -> SystemSet:
    """Shifts of a set, each leaving most even what was heard together before."""
    number, order = len(together), list[int]()
    while len(order) < number:
        free = [shift for shift in range(number) if shift not in order]
        best = min(free, key=lambda shift: _spread(together + _pairs(base, shift, number)))
        together = together + _pairs(base, best, number)
        order.append(best)
    return tuple(order)


def _pairs(base: SystemSet, shift: int, number: int) -> Ints:
    one = np.zeros(number, np.int64)
    one[[(place + shift) % number for place in base]] = 1
    return np.outer(one, one)


def _spread(together: Ints) -> tuple[int, int]:
    systems = np.diag(together)
    return int(systems @ systems), int((together**2).sum())


def _sets(number: int, heard: int) -> list[SystemSet]:
    """Sets that hold the first system: all of them, or many that are drawn once and for all."""
    if comb(number - 1, heard - 1) <= MAX_SETS_TRIED:
        return [(0, *one) for one in combinations(range(1, number), heard - 1)]
    rng = np.random.default_rng([number, heard])
    drawn = (
        rng.choice(np.arange(1, number), heard - 1, replace=False) for _ in range(MAX_SETS_TRIED)
    )
    return [(0, *sorted(one.tolist())) for one in drawn]


def _steps(one: SystemSet, number: int) -> Ints:
    """How often each step leads from one system of a set to another: index is the step."""
    counts = np.zeros(number, np.int64)
    for a in one:
        for b in one:
            counts[(b - a) % number] += a != b
    return counts


def _unevenness(steps: Ints) -> int:
    others = steps[1:]
    return int(others @ others)  # the total is fixed, so the most even one has the least squares
