"""Order of anchors before the first session, and its balance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd

import numpy as np
from numpy.random import Generator

from earwitness.stats.arrays import Bools, Ints
from earwitness.studies.design.orders import (
    MAX_TRIALS_FOR_ALL_ORDERS,
    can_avoid_repeats,
    williams_row,
)
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    Claim,
    count_claim,
)
from earwitness.studies.study import Design

# --- Conditions and talkers ----------------------------------------------------------------------


CONDITION_AND_TALKER = re.compile(r"(i\d+)_(.+)")


def split_anchor_name(name: str) -> tuple[str, str]:
    """Return the condition and the talker of an anchor.

    An anchor whose name is not like ``i01_f1`` is a condition and a talker of its own.

    >>> split_anchor_name("i01_f1"), split_anchor_name("clean")
    (('i01', 'f1'), ('clean', 'clean'))
    """
    match = CONDITION_AND_TALKER.fullmatch(name)
    return (match[1], match[2]) if match else (name, name)


@dataclass(frozen=True)
class AnchorSet:
    """Anchors of a study as codes: a condition and a talker per anchor.

    A talker of more than half of the anchors cannot be avoided; then each anchor has its own.
    """

    conditions: tuple[int, ...]
    talkers: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> AnchorSet:
        """Return the codes of anchors by their names."""
        parts = [split_anchor_name(name) for name in names]
        sides = [[part[side] for part in parts] for side in (0, 1)]
        conditions, talkers = (tuple(map([*dict.fromkeys(side)].index, side)) for side in sides)
        most = max(Counter(talkers).values(), default=0)
        return cls(conditions, talkers if most <= len(names) / 2 else tuple(range(len(names))))

    @cached_property
    def members(self) -> list[dict[int, int]]:
        """Anchors of each condition, by talker."""
        found: list[dict[int, int]] = [{} for _ in range(max(self.conditions) + 1)]
        for place, condition in enumerate(self.conditions):
            found[condition][self.talkers[place]] = place
        return [dict(sorted(by_talker.items())) for by_talker in found]

    @property
    def has_rounds(self) -> bool:
        """Whether each round can have all conditions: one anchor each, or one of each talker.

        With two talkers, these alternate, which leaves too few orders.
        """
        talkers = self.members[0].keys()
        if len(self.members) == 1 or any(len(member) != len(talkers) for member in self.members):
            return False
        return len(talkers) == 1 or (
            len(talkers) > 2 and all(member.keys() == talkers for member in self.members)
        )

    @cached_property
    def costs(self) -> Ints:
        """Costs of one anchor directly after another one."""
        conditions, talkers = np.array(self.conditions), np.array(self.talkers)
        costs: Ints = CONDITION_REPEAT_COST * (conditions[:, None] == conditions)
        costs += talkers[:, None] == talkers
        return costs

    def bound_cost(self, *, circular: bool) -> int:
        """Return a lower bound of the cost of an order: others separate the largest condition."""
        most = max(Counter(self.conditions).values())
        spare = 2 * most - len(self.conditions) - (not circular)
        return CONDITION_REPEAT_COST * max(spare, 0)

    def count_repeats(self, order: Sequence[int]) -> tuple[int, int]:
        """Count how often a condition, and how often a talker, directly follows itself."""
        pairs = list(pairwise(order))
        return (
            sum(self.conditions[a] == self.conditions[b] for a, b in pairs),
            sum(self.talkers[a] == self.talkers[b] for a, b in pairs),
        )


# --- Orders --------------------------------------------------------------------------------------
# If there is one anchor of each condition by each talker, a phase has as many rounds as talkers,
# and each round has all conditions in the order of a row of a Williams square. After as many
# listeners as conditions, each condition was once in each position, and conditions followed each
# other about equally often. Then conditions and talkers change places at random.
#
# Otherwise, a circular order without repeats is started at another place for each listener.


MAX_SWAPS = 200
MAX_RESTARTS = 10
CONDITION_REPEAT_COST = 1_000  # one repeat of a talker costs 1
GOLDEN_RATIO = (5**0.5 - 1) / 2
Seed = tuple[int, ...]


def order_anchors(anchors: AnchorSet, listener: int, seed: Seed) -> list[int]:
    """Return the order of anchors for a listener (1, 2, …), balanced over listeners.

    No condition directly follows itself if that can be avoided, and no talker if possible.

    >>> names = [f"i{n:02}_{talker}" for n in range(1, 4) for talker in ("f1", "m1", "m2")]
    >>> " ".join(names[place] for place in order_anchors(AnchorSet.of(names), 1, (1,)))
    'i01_m1 i02_m2 i03_f1 i02_m1 i03_m2 i01_f1 i03_m1 i01_m2 i02_f1'
    """
    if anchors.has_rounds:
        cycle, turn = divmod(listener - 1, len(anchors.members))
        if order := _order_by_rounds(anchors, cycle, turn, seed):
            return order
    size = len(anchors.conditions)
    cycle, turn = divmod(listener - 1, size)
    circle = _make_circle(anchors, (*seed, cycle))
    if anchors.count_repeats([*circle, circle[0]])[0]:
        return list(_find_order(anchors, np.random.default_rng([*seed, cycle, turn])))
    step = next(n for n in range(round(size * GOLDEN_RATIO), 2 * size) if gcd(n, size) == 1)
    start = turn * step % size
    return [*circle[start:], *circle[:start]]


def _order_by_rounds(anchors: AnchorSet, cycle: int, turn: int, seed: Seed) -> list[int]:
    """Return an order with all conditions in each round; empty if a talker would be repeated."""
    size, rounds = len(anchors.members), len(anchors.members[0])
    odd = size % 2 == 1  # then rows and their reverses, with the same conditions, are balanced
    pattern = _make_pattern(size, rounds, odd and cycle % 2 == 1, (*seed, cycle))
    names = cycle // 2 if odd else cycle
    conditions = np.random.default_rng([*seed, names]).permutation(size).tolist()
    order = list[int]()
    for place, talker in pattern:
        own = list(anchors.members[conditions[(place + turn) % size]].values())
        order.append(own[talker])
    return order


@lru_cache(maxsize=64)
def _make_pattern(
    size: int, rounds: int, backwards: bool, seed: Seed
) -> tuple[tuple[int, int], ...]:
    """Return conditions and talkers of all rounds, without repeats; empty if none was found.

    Adding a number to all conditions gives the pattern of another listener. Of several patterns,
    the one is returned in which talkers are most even in each round.
    """
    row = williams_row(size)
    row = row[::-1] if backwards else row
    best, least = tuple[tuple[int, int], ...](), float("inf")
    codes = AnchorSet(tuple(np.repeat(range(size), rounds).tolist()), tuple(range(rounds)) * size)
    if rounds == 1:
        codes = AnchorSet(codes.conditions, tuple(range(size)))
    rng = np.random.default_rng(seed)
    for step in dict.fromkeys([size // rounds, *range(1, size), 0]):
        if (row[0] + step - row[-1]) % size == 0 and rounds > 1:
            continue  # a condition would follow itself between rounds
        places = [(place + step * number) % size for number in range(rounds) for place in row]
        for _ in range(MAX_RESTARTS):
            shift = rng.permutation(size)
            first = [
                int(place * rounds + (shift[place] + n // size) % rounds)
                for n, place in enumerate(places)
            ]
            order, cost = _swap_repeats(codes, first, rng, within=True, circular=False)
            if cost:
                continue
            found = tuple((place // rounds, place % rounds) for place in order)
            counts = np.zeros((rounds, rounds))
            for n, (_, talker) in enumerate(found):
                counts[n // size, talker] += 1
            if np.ptp(counts) < least:
                best, least = found, float(np.ptp(counts))
        if best:
            break
    return best


@lru_cache(maxsize=64)
def _make_circle(anchors: AnchorSet, seed: Seed) -> tuple[int, ...]:
    """Return an order whose last and first anchor are neighbours, too."""
    return _find_order(anchors, np.random.default_rng(seed), circular=True)


def _find_order(anchors: AnchorSet, rng: Generator, *, circular: bool = False) -> tuple[int, ...]:
    """Return the order with fewest repeats of several random ones."""
    best, least = list[int](), float("inf")
    bound = anchors.bound_cost(circular=circular)
    for _ in range(MAX_RESTARTS):
        start = _separate_largest(anchors, rng)
        order, cost = _swap_repeats(anchors, start, rng, within=False, circular=circular)
        if cost < least:
            best, least = order, cost
        if least <= bound:
            break
    return tuple(best)


def _separate_largest(anchors: AnchorSet, rng: Generator) -> list[int]:
    """Return a random order; others separate a condition of more than half of the anchors."""
    start: list[int] = rng.permutation(len(anchors.conditions)).tolist()
    (largest, most), *_ = Counter(anchors.conditions).most_common()
    if 2 * most <= len(start):
        return start
    others = [place for place in start if anchors.conditions[place] != largest]
    gaps = {*rng.permutation(most - 1)[: len(others)].tolist()}
    order = list[int]()
    for gap, place in enumerate(
        anchor for anchor in start if anchors.conditions[anchor] == largest
    ):
        order += [place, others.pop()] if gap in gaps else [place]
    return order


def _swap_repeats(
    anchors: AnchorSet, order: list[int], rng: Generator, *, within: bool, circular: bool
) -> tuple[list[int], int]:
    """Return an order after swaps of anchors that repeat a neighbour, and the cost of repeats.

    ``within``: only anchors of the same condition are swapped.
    """
    codes, conditions = np.array(order), np.array(anchors.conditions)
    places, bound = np.arange(len(codes)), anchors.bound_cost(circular=circular)
    counted = (places > 0) | circular  # places whose anchor follows another one
    for _ in range(MAX_SWAPS):
        costs = anchors.costs[np.roll(codes, 1), codes] * counted
        wrong = np.flatnonzero(costs)
        if costs.sum() <= bound:
            return codes.tolist(), int(costs.sum())
        place = int(wrong[rng.integers(len(wrong))] - rng.integers(2)) % len(codes)
        others = rng.permutation(len(codes))
        changes = swap_changes(anchors, codes, counted, place)[others]
        allowed = (others != place) & (changes <= 0)
        if within:
            allowed &= conditions[codes[others]] == conditions[codes[place]]
        if allowed.any():
            best = others[np.argmin(np.where(allowed, changes, 1))]
            codes[[place, best]] = codes[[best, place]]
    return codes.tolist(), int((anchors.costs[np.roll(codes, 1), codes] * counted).sum())


def swap_changes(anchors: AnchorSet, codes: Ints, counted: Bools, place: int) -> Ints:
    """Return the change of the cost if the anchor at a place is swapped with each other one."""
    size = len(codes)
    others = np.arange(size)

    def swapped(at: Ints) -> Ints:
        """Return the anchors at places after each swap."""
        return np.where(at == place, codes, np.where(at == others, codes[place], codes[at]))

    changes = np.zeros(size, np.int64)
    following = (place + 1) % size
    for at, is_new in (
        (np.full(size, place), True),
        (np.full(size, following), following != place),
        (others, (others != place) & (others != following)),
        ((others + 1) % size, ((others + 1) % size != place) & (others != place)),
    ):
        before = (at - 1) % size
        after = anchors.costs[swapped(before), swapped(at)]
        changes += (after - anchors.costs[codes[before], codes[at]]) * counted[at] * is_new
    return changes


# --- Balance -------------------------------------------------------------------------------------


ANCHOR_SHUFFLE_STREAM = 9  # random stream
PHASE_PARTS = 3  # parts in which anchors are counted if conditions have different numbers
MAX_PART_DIFFERENCE = 2  # largest allowed difference from even counts


def anchor_claims(design: Design) -> Iterator[Claim]:
    """Yield claims on the order of anchors: repeats, and positions over listeners."""
    names = [clip.name for clip in design.study.anchors]
    places = {name: place for place, name in enumerate(names)}
    orders = [[places[trial.item] for trial in plan.anchors] for plan in design.plans]
    if not names or any(sorted(order) != list(range(len(names))) for order in orders):
        return
    rng = np.random.default_rng([design.study.seed, ANCHOR_SHUFFLE_STREAM])
    shuffled = [rng.permutation(len(names)).tolist() for _ in orders]
    anchors = AnchorSet.of(names)
    for side, codes in enumerate((anchors.conditions, anchors.talkers)):
        if len({*codes}) < len(names):
            yield _repeat_claim(anchors, side, orders, shuffled)
    yield _position_claim(anchors, np.array(orders), np.array(shuffled))


def _repeat_claim(
    anchors: AnchorSet, side: int, orders: list[list[int]], shuffled: list[list[int]]
) -> Claim:
    """Return the claim that no condition (side 0) or no talker (1) directly follows itself."""
    counts, chance = (
        np.array([anchors.count_repeats(order)[side] for order in order_set])
        for order_set in (orders, shuffled)
    )
    pairs = frozenset(zip(anchors.talkers, anchors.conditions, strict=True))
    most = max(Counter((anchors.conditions, anchors.talkers)[side]).values())
    avoidable = 2 * most <= len(anchors.conditions) + 1
    if side and len(pairs) <= MAX_TRIALS_FOR_ALL_ORDERS:
        avoidable = can_avoid_repeats(pairs)
    kept = CLAIM_IMPOSSIBLE if counts.any() and not avoidable else not counts.any()
    what = f"direct repeats of an anchor {('condition', 'talker')[side]}, per listener"
    return count_claim(what, counts, kept, chance)


def _position_claim(anchors: AnchorSet, orders: Ints, shuffled: Ints) -> Claim:
    """Return the claim on positions of conditions, or of anchors in thirds of the phase."""
    size = orders.shape[1]
    if anchors.has_rounds:
        codes, parts = np.array(anchors.conditions), np.arange(size)
        what, allowed = "listeners per anchor condition and position", 1.0
    else:
        codes, parts = np.arange(size), np.arange(size) * PHASE_PARTS // size
        what, allowed = "listeners per anchor and third of the phase", 2.0 * MAX_PART_DIFFERENCE
    counts, chance = (
        np.stack(
            [
                np.bincount(codes[order_set[:, parts == part]].ravel(), minlength=codes.max() + 1)
                for part in range(parts[-1] + 1)
            ]
        )
        for order_set in (orders, shuffled)
    )
    even = np.bincount(parts)[:, None] * (len(orders) / size) * np.bincount(codes)
    return count_claim(what, counts, bool(np.ptp(counts - even) <= allowed + 1e-9), chance)
