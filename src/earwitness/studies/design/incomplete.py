"""Incomplete designs: the systems each listener hears when no listener hears all.

Listeners of a panel take turns through cyclic blocks: a base set of systems and its cyclic shifts,
so that each system is heard equally often after one round. The base set is chosen so that the
steps between its systems differ as much as possible; then each pair of systems is heard by the
same listener about equally often. Each further round uses the set that best evens out the previous
rounds. Within a round, the next shift is the one that leaves systems, then pairs, most even.

Where a small number of listeners can share the systems evenly, arbitrary sets are tried too, not
only cyclic ones; the method that keeps the first listeners more even is used. Each panel starts at
another shift, so that all panels together hear all systems evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain, combinations, permutations, product
from math import comb

import numpy as np

from earwitness.stats.arrays import Ints

MAX_SETS_TRIED = 3000
SYSTEM_UNEVENNESS_WEIGHT = 3  # weight of uneven systems, relative to uneven pairs
MAX_WINDOW_LISTENERS = 20  # listeners whose scale orders are chosen together
SystemSet = tuple[int, ...]


def systems_heard(turn: int, systems: Sequence[str], heard: int, panel: int = 0) -> tuple[str, ...]:
    """Return the systems of a panel's listener number ``turn`` (from 0), in their given order.

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
    """Return which of two scale orders (0 or 1) a panel's listener number ``turn`` starts with.

    Two consecutive listeners start with different orders. Where they hear different systems, orders
    are chosen so that each system is heard first in either order about equally often.

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
    """Return whether arbitrary sets are more even than cyclic ones for two rounds of listeners."""
    if number % heard or comb(number, heard) > MAX_SETS_TRIED:
        return False
    circle = [_cyclic_set(turn, place, number, heard) for turn in (0, 1) for place in range(number)]
    greedy = [*chain.from_iterable(_greedy_sets(number, heard, 2))]
    return _raggedness(number, greedy) < _raggedness(number, circle)


def _raggedness(number: int, sets: list[SystemSet]) -> int:
    """Return how uneven systems (weighted more) and pairs are, summed over listeners."""
    together, penalty = _zero_counts(number), 0
    for system_set in sets:
        together = together + _pair_counts(system_set, 0, number)
        pairs = together[np.triu_indices(number, 1)]
        penalty += SYSTEM_UNEVENNESS_WEIGHT * max(0, int(np.ptp(np.diag(together))) - 1)
        penalty += max(0, int(np.ptp(pairs)) - 1)
    return penalty


@cache
def _greedy_sets(number: int, heard: int, rounds: int) -> tuple[tuple[SystemSet, ...], ...]:
    """Return the sets of each round; each set leaves systems, then pairs, most even."""
    before = _greedy_sets(number, heard, rounds - 1) if rounds > 1 else ()
    system_sets = list(combinations(range(number), heard))
    holds = set_table(system_sets, number)
    together = sum(
        (_pair_counts(system_set, 0, number) for system_set in chain.from_iterable(before)),
        _zero_counts(number),
    )
    round_sets = list[SystemSet]()
    while len(round_sets) < number:
        added_cost = (together + 1) ** 4 - together**4  # penalizes pairs that are far ahead
        pairs = np.einsum("ci,ij,cj->c", holds, added_cost, holds)
        best = int(np.lexsort((pairs, holds @ np.diag(together)))[0])
        together = together + _pair_counts(system_sets[best], 0, number)
        round_sets.append(system_sets[best])
    return (*before, tuple(round_sets))


def set_table(system_sets: Sequence[SystemSet], number: int) -> Ints:
    """Return which of so many systems each set has (0 or 1), one row per set."""
    rows = [[place in system_set for place in range(number)] for system_set in system_sets]
    return np.array(rows, np.int64)


@cache
def _panel_shifts(number: int, heard: int) -> SystemSet:
    """Return the shift of each panel."""
    return _even_shifts(_system_set(0, number, heard), _zero_counts(number))


def _zero_counts(number: int) -> Ints:
    return np.zeros((number, number), np.int64)


def _window_width(number: int) -> int:
    """Return the number of listeners considered together: whole rounds, in pairs, up to a limit."""
    return min(number if number % 2 == 0 else 2 * number, MAX_WINDOW_LISTENERS)


@cache
def _first_orders(number: int, heard: int, windows: int) -> tuple[SystemSet, ...]:
    """Return the scale orders that the listeners of each window start with.

    Chosen so that no system has one order much more often than the other, first after whole rounds,
    then after each listener.
    """
    before = _first_orders(number, heard, windows - 1) if windows > 1 else ()
    width = _window_width(number)
    turns = np.arange(width * windows)
    hears = np.zeros((len(turns), number), np.int64)
    for turn in turns:
        hears[turn, list(_system_set(int(turn), number, heard))] = 1
    earlier = (1 - 2 * np.array([*chain.from_iterable(before)], np.int64)) @ hears[:-width]
    choices = np.array(list(product((0, 1), repeat=width // 2)))
    orders = np.stack([choices, 1 - choices], axis=-1).reshape(len(choices), width)
    leaning = earlier + np.cumsum((1 - 2 * orders)[:, :, None] * hears[-width:], axis=1)
    ends = (turns[-width:] + 1) % number == 0
    after = np.abs(leaning[:, ends]).max(axis=(1, 2)) if ends.any() else np.zeros(len(orders))
    best = int(np.lexsort(((leaning**4).sum(axis=(1, 2)), after))[0])
    return (*before, tuple(orders[best].tolist()))


@cache
def _base_sets(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """Return the base set of each round."""
    before = _base_sets(number, heard, rounds - 1) if rounds > 1 else ()
    steps = sum((_step_counts(base, number) for base in before), np.zeros(number, np.int64))
    best = min(
        _candidate_sets(number, heard),
        key=lambda base: _unevenness(steps + _step_counts(base, number)),
    )
    return (*before, best)


@cache
def _round_shifts(number: int, heard: int, rounds: int) -> tuple[SystemSet, ...]:
    """Return the order of shifts in each round."""
    before = _round_shifts(number, heard, rounds - 1) if rounds > 1 else ()
    together = _zero_counts(number)  # the diagonal counts systems
    for base, shifts in zip(_base_sets(number, heard, rounds), before, strict=False):
        for shift in shifts:
            together += _pair_counts(base, shift, number)
    return (*before, _even_shifts(_base_sets(number, heard, rounds)[-1], together))


def _even_shifts(base: SystemSet, together: Ints) -> SystemSet:
    """Return the shifts of a set, each leaving pair counts most even."""
    number, order = len(together), list[int]()

    def unevenness(shift: int) -> tuple[int, int]:
        """Return the squared counts of systems, then of pairs, with one more set."""
        counts = together + _pair_counts(base, shift, number)
        systems = np.diag(counts)
        return int(systems @ systems), int((counts**2).sum())

    while len(order) < number:
        free = [shift for shift in range(number) if shift not in order]
        best = min(free, key=unevenness)
        together = together + _pair_counts(base, best, number)
        order.append(best)
    return tuple(order)


def _pair_counts(base: SystemSet, shift: int, number: int) -> Ints:
    holds = np.zeros(number, np.int64)
    holds[[(place + shift) % number for place in base]] = 1
    return np.outer(holds, holds)


def _candidate_sets(number: int, heard: int) -> list[SystemSet]:
    """Return sets with the first system: all of them, or a fixed random sample."""
    if comb(number - 1, heard - 1) <= MAX_SETS_TRIED:
        return [(0, *others) for others in combinations(range(1, number), heard - 1)]
    rng = np.random.default_rng([number, heard])
    drawn = (
        rng.choice(np.arange(1, number), heard - 1, replace=False) for _ in range(MAX_SETS_TRIED)
    )
    return [(0, *sorted(others.tolist())) for others in drawn]


def _step_counts(base: SystemSet, number: int) -> Ints:
    """Count how often each step occurs between two systems of a set; the index is the step."""
    counts = np.zeros(number, np.int64)
    for a, b in permutations(base, 2):
        counts[(b - a) % number] += 1
    return counts


def _unevenness(steps: Ints) -> int:
    others = steps[1:]
    return int(others @ others)  # the total is fixed, so the most even has the least squares
