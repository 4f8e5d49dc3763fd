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


def systems_heard(turn: int, systems: Sequence[str], heard: int, panel: int = 0) -> tuple[str, ...]:
    """The systems of a panel's listener whose turn it is, from 0, in the order they are named in.

    >>> [systems_heard(turn, "ABCD", 2) for turn in range(4)]
    [('A', 'B'), ('C', 'D'), ('B', 'C'), ('A', 'D')]
    >>> [systems_heard(0, "ABCD", 2, panel) for panel in range(2)]
    [('A', 'B'), ('C', 'D')]
    """
    number = len(systems)
    if heard >= number:
        return tuple(systems)
    moved = _panel_shifts(number, heard)[panel % number]
    places = ((system + moved) % number for system in _system_set(turn, number, heard))
    return tuple(systems[place] for place in sorted(places))


def first_scale_order(turn: int, number: int, heard: int) -> int:
    """Which of two orders the listener starts with whose turn it is: 0 or 1.

    Of every two listeners each takes another one. Where they hear different systems, that is
    settled such that every system is heard first in either order about equally often.

    >>> [first_scale_order(turn, 4, 2) for turn in range(4)]
    [0, 1, 0, 1]
    """
    if heard >= number:
        return turn % 2
    window, place = divmod(turn, _window_width(number))
    return _first_orders(number, heard, window + 1)[-1][place]


def _system_set(turn: int, number: int, heard: int) -> SystemSet:
    rounds, place = divmod(turn, number)
    if _is_better_than_cyclic(number, heard):
        return _greedy_sets(number, heard, rounds + 1)[-1][place]
    return _cyclic_set(rounds, place, number, heard)


def _cyclic_set(rounds: int, place: int, number: int, heard: int) -> SystemSet:
    base = _base_sets(number, heard, rounds + 1)[-1]
    shift = _round_shifts(number, heard, rounds + 1)[-1][place]
    return tuple((system + shift) % number for system in base)


@cache
def _is_better_than_cyclic(number: int, heard: int) -> bool:
    """Whether any sets do better than those of a circle, for the listeners of two rounds."""
    if number % heard or comb(number, heard) > MAX_SETS_TRIED:
        return False
    circle = [_cyclic_set(turn, place, number, heard) for turn in (0, 1) for place in range(number)]
    return _raggedness(
        number,
        [system_set for round_sets in _greedy_sets(number, heard, 2) for system_set in round_sets],
    ) < _raggedness(number, circle)


def _raggedness(number: int, sets: list[SystemSet]) -> int:
    """How far systems, which count more, and pairs of them are apart, listener by listener."""
    together, penalty = _zero_counts(number), 0
    for system_set in sets:
        together = together + _pair_counts(system_set, 0, number)
        pairs = together[np.triu_indices(number, 1)]
        penalty += SYSTEM_UNEVENNESS_WEIGHT * max(0, int(np.ptp(np.diag(together))) - 1)
        penalty += max(0, int(np.ptp(pairs)) - 1)
    return penalty


@cache
def _greedy_sets(number: int, heard: int, rounds: int) -> tuple[tuple[SystemSet, ...], ...]:
    """The sets of every round: each leaves systems, then pairs of them, most even."""
    before = _greedy_sets(number, heard, rounds - 1) if rounds > 1 else ()
    system_sets = list(combinations(range(number), heard))
    holds = np.array(
        [[place in system_set for place in range(number)] for system_set in system_sets], np.int64
    )
    together = sum(
        (_pair_counts(system_set, 0, number) for round_sets in before for system_set in round_sets),
        _zero_counts(number),
    )
    round_sets = list[SystemSet]()
    while len(round_sets) < number:
        added_cost = (together + 1) ** 4 - together**4  # so that no pair is far ahead
        pairs = np.einsum("ci,ij,cj->c", holds, added_cost, holds)
        best = int(np.lexsort((pairs, holds @ np.diag(together)))[0])
        together = together + _pair_counts(system_sets[best], 0, number)
        round_sets.append(system_sets[best])
    return (*before, tuple(round_sets))


@cache
def _panel_shifts(number: int, heard: int) -> SystemSet:
    """How far every panel moves its sets on."""
    return _even_shifts(_system_set(0, number, heard), _zero_counts(number))


def _zero_counts(number: int) -> Ints:
    return np.zeros((number, number), np.int64)


def _window_width(number: int) -> int:
    """Listeners that are looked at together: whole rounds, two by two, unless they are many."""
    return min(number if number % 2 == 0 else 2 * number, MAX_WINDOW_LISTENERS)


@cache
def _first_orders(number: int, heard: int, windows: int) -> tuple[SystemSet, ...]:
    """The orders that the listeners of every window start with.

    Of all choices the one that leaves no system with one order much oftener than with the other,
    after whole rounds first, then all along.
    """
    before = _first_orders(number, heard, windows - 1) if windows > 1 else ()
    width = _window_width(number)
    turns = np.arange(width * windows)
    hears = np.zeros((len(turns), number), np.int64)
    for turn in turns:
        hears[turn, list(_system_set(int(turn), number, heard))] = 1
    earlier = (
        1 - 2 * np.array([order for window_orders in before for order in window_orders], np.int64)
    ) @ hears[:-width]
    choices = np.array(list(product((0, 1), repeat=width // 2)))
    orders = np.stack([choices, 1 - choices], axis=-1).reshape(len(choices), width)
    leaning = earlier + np.cumsum((1 - 2 * orders)[:, :, None] * hears[-width:], axis=1)
    ends = (turns[-width:] + 1) % number == 0
    after = np.abs(leaning[:, ends]).max(axis=(1, 2)) if ends.any() else np.zeros(len(orders))
    best = int(np.lexsort(((leaning**4).sum(axis=(1, 2)), after))[0])
    return (*before, tuple(orders[best].tolist()))


@cache
def _base_sets(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """The first set of every round."""
    before = _base_sets(number, heard, rounds - 1) if rounds > 1 else ()
    steps = sum((_step_counts(base, number) for base in before), np.zeros(number, np.int64))
    best = min(
        _candidate_sets(number, heard),
        key=lambda base: _unevenness(steps + _step_counts(base, number)),
    )
    return (*before, best)


@cache
def _round_shifts(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """The order in which every round moves its set on."""
    before = _round_shifts(number, heard, rounds - 1) if rounds > 1 else ()
    together = _zero_counts(number)  # the diagonal counts systems
    for base, shifts in zip(_base_sets(number, heard, rounds), before, strict=False):
        for shift in shifts:
            together += _pair_counts(base, shift, number)
    return (*before, _even_shifts(_base_sets(number, heard, rounds)[-1], together))


def _even_shifts(base: SystemSet, together: Ints) -> SystemSet:
    """Shifts of a set, each leaving most even what was heard together before."""
    number, order = len(together), list[int]()
    while len(order) < number:
        free = [shift for shift in range(number) if shift not in order]
        best = min(
            free, key=lambda shift: _squared_counts(together + _pair_counts(base, shift, number))
        )
        together = together + _pair_counts(base, best, number)
        order.append(best)
    return tuple(order)


def _pair_counts(base: SystemSet, shift: int, number: int) -> Ints:
    holds = np.zeros(number, np.int64)
    holds[[(place + shift) % number for place in base]] = 1
    return np.outer(holds, holds)


def _squared_counts(together: Ints) -> tuple[int, int]:
    systems = np.diag(together)
    return int(systems @ systems), int((together**2).sum())


def _candidate_sets(number: int, heard: int) -> list[SystemSet]:
    """Sets that hold the first system: all of them, or many that are drawn once and for all."""
    if comb(number - 1, heard - 1) <= MAX_SETS_TRIED:
        return [(0, *others) for others in combinations(range(1, number), heard - 1)]
    rng = np.random.default_rng([number, heard])
    drawn = (
        rng.choice(np.arange(1, number), heard - 1, replace=False) for _ in range(MAX_SETS_TRIED)
    )
    return [(0, *sorted(others.tolist())) for others in drawn]


def _step_counts(base: SystemSet, number: int) -> Ints:
    """How often each step leads from one system of a set to another: index is the step."""
    counts = np.zeros(number, np.int64)
    for a in base:
        for b in base:
            counts[(b - a) % number] += a != b
    return counts


def _unevenness(steps: Ints) -> int:
    others = steps[1:]
    return int(others @ others)  # the total is fixed, so the most even one has the least squares
