"""Trial orders with balanced carry-over and as few immediate repeats as possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate, pairwise, permutations
from math import exp
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from earwitness.stats.arrays import Ints
from earwitness.studies.study import Trial

# --- Panel history -------------------------------------------------------------------------------
# A listener's order depends on earlier listeners of the same panel, never on later ones.


RANKS_STREAM, WAYS_STREAM = 1, 2  # random streams


@dataclass
class PanelHistory:
    """Running counts of a panel; ``seed`` is the seed of the panel and block.

    Treatments are numbered in the order they first occur. ``counts`` has how often each treatment
    directly followed each other one; the last row and column of ``successions`` are the breaks
    before and after a session.
    """

    seed: tuple[int, ...] = (0,)
    counts: Ints = field(default_factory=lambda: np.zeros((1, 1), np.int64))
    numbers: dict[Hashable, int] = field(default_factory=dict)
    turns: Counter[Hashable] = field(default_factory=Counter)
    trials: dict[Hashable, Trial] = field(default_factory=dict)  # trials already created

    def successions(self, treatments: Sequence[Hashable]) -> Ints:
        """Return how often treatments, and breaks, followed each other so far."""
        places = self._places(treatments)
        return self.counts[np.ix_(places, places)]

    def add(self, treatments: Sequence[Hashable], counts: Ints) -> None:
        """Add the counts of one more listener, as returned by ``successions``."""
        places = self._places(treatments)
        self.counts[np.ix_(places, places)] += counts

    def ranks(self, treatment: Hashable, items: int) -> list[int]:
        """Return a rank for each item, drawn once per panel and treatment."""
        seed = [*self.seed, RANKS_STREAM, self._places([treatment])[0]]
        return [int(rank) for rank in np.random.default_rng(seed).permutation(items)]

    def rng(self, treatment: Hashable, *more: int) -> Generator:
        """Return a random generator for presentation orders of a treatment."""
        return np.random.default_rng([*self.seed, WAYS_STREAM, self._places([treatment])[0], *more])

    def _places(self, treatments: Sequence[Hashable]) -> list[int]:
        for treatment in treatments:
            self.numbers.setdefault(treatment, len(self.numbers) + 1)
        short = len(self.numbers) + 1 - len(self.counts)
        if short > 0:
            self.counts = np.pad(self.counts, (0, short))
        return [*(self.numbers[treatment] for treatment in treatments), 0]


# --- Carry-over between treatments ---------------------------------------------------------------
# Each treatment occurs equally often in each session, or once more; it follows itself only where
# that is unavoidable; and each follows each other about equally often. Several such orders are
# drawn; of these, with all permutations of treatment names, the one is used that leaves the counts
# of the panel most even: successions and first positions in a session.


MAX_ORDER_TRIES = 12  # orders drawn; fewer if orders are long
MAX_PLACES_IN_ALL_TRIES = 4000  # positions in all drawn orders together
MAX_TREATMENTS_FOR_ALL_NAMINGS = 5  # up to this number, all permutations of names are tried
RANDOM_NAMINGS = 120  # permutations tried for more treatments
PANEL_COUNT_WEIGHT = 1000.0  # makes panel counts weigh more than remaining quotas
Order = list[list[int]]


def even_order(quotas: Ints, before: Ints, rng: Generator) -> Order:
    """Return treatments by session; ``before`` has the counts of the panel so far."""
    number = quotas.shape[1]
    panel = before[:-1, :-1]
    starts = panel / (2 + int(panel.max())), np.zeros(panel.shape)  # break ties, or not
    number_of = max(1, min(MAX_ORDER_TRIES, MAX_PLACES_IN_ALL_TRIES // max(int(quotas.sum()), 1)))
    tries = list[Order]()
    for n in range(number_of):
        followed = starts[n % 2].tolist()
        tries.append([_draw_session(quota.tolist(), followed, rng) for quota in quotas])
    uneven = [unevenness(order, number) for order in tries]
    best = [order for order, value in zip(tries, uneven, strict=True) if value == min(uneven)]
    return rename_treatments(best, before, rng)[1]


def rename_treatments(orders: Sequence[Order], before: Ints, rng: Generator) -> tuple[int, Order]:
    """Return the order and naming, of those tried, that leave the panel most even.

    The result is the index of the order, and the order with its new names.
    """
    number = len(before) - 1
    namings = _draw_namings(number, rng)
    whole = np.hstack([namings, np.full((len(namings), 1), number)])
    counted = np.array([carry_over(order, number) for order in orders])
    named = counted[:, whole[:, :, None], whole[:, None, :]]  # by order and naming
    order, naming = divmod(int(panel_unevenness(before + named).argmin()), len(namings))
    chosen = namings[naming]
    if number > MAX_TREATMENTS_FOR_ALL_NAMINGS:
        chosen = _improve_naming(chosen, counted[order], before)
    names = np.argsort(chosen).tolist()
    return order, [[names[treatment] for treatment in session] for session in orders[order]]


def session_quotas(items: int, treatments: int, sessions: int, rng: Generator) -> Ints:
    """Return how often each treatment occurs in each session (rows); counts differ by at most 1."""
    quotas = np.full((sessions, treatments), items // sessions, np.int64)
    turn = 0
    for treatment in rng.permutation(treatments):
        for _ in range(items % sessions):
            quotas[turn % sessions, treatment] += 1
            turn += 1
    return quotas


def carry_over(order: Sequence[Sequence[int]], number: int) -> Ints:
    """Count how often each treatment directly follows each other one; the last are breaks."""
    counts = np.zeros((number + 1, number + 1), np.int64)
    for session in order:
        if session:
            sequence = np.array([number, *session, number])
            np.add.at(counts, (sequence[:-1], sequence[1:]), 1)
    return counts


def unevenness(order: Sequence[Sequence[int]], number: int) -> tuple[int, int]:
    """Return the number of immediate repeats, then the range of the succession counts."""
    counts = carry_over(order, number)[:-1, :-1]
    others = counts[~np.eye(number, dtype=np.bool_)]
    return int(np.trace(counts)), int(((others - others.mean()) ** 2).sum()) if len(others) else 0


def panel_unevenness(counts: Ints) -> Ints:
    """Return the sum of squared counts; with a fixed total, the least is the most even."""
    return np.asarray((counts**2 * _weights(counts.shape[-1])).sum(axis=(-2, -1)))


@cache
def _weights(size: int) -> Ints:
    """Return weights: first positions weigh as much as all successions, repeats weigh nothing."""
    weights = 1 - np.eye(size, dtype=np.int64)
    weights[-1] *= max(1, size - 2)
    return weights


def _improve_naming(naming: Ints, counted: Ints, before: Ints) -> Ints:
    """Swap two names as long as that leaves the panel more even."""
    first, second = np.triu_indices(len(naming), 1)
    lowest = np.inf
    while True:
        exchanged = np.tile([*naming, len(naming)], (len(first), 1))
        rows = np.arange(len(first))
        exchanged[rows, first], exchanged[rows, second] = naming[second], naming[first]
        costs = panel_unevenness(before + counted[exchanged[:, :, None], exchanged[:, None, :]])
        if costs.min() >= lowest:
            return naming
        lowest = float(costs.min())
        naming = exchanged[int(costs.argmin()), :-1]


def _draw_namings(number: int, rng: Generator) -> Ints:
    """Return permutations of names, in random order."""
    if number <= MAX_TREATMENTS_FOR_ALL_NAMINGS:
        return rng.permutation(_all_namings(number))
    same = np.tile(np.arange(number), (RANDOM_NAMINGS, 1))
    return np.vstack([same[:1], rng.permuted(same, axis=1)])


@cache
def _all_namings(number: int) -> Ints:
    return np.array(list(permutations(range(number))), np.int64)


def _draw_session(left: list[int], followed: list[list[float]], rng: Generator) -> list[int]:
    """Draw one session; ``followed`` has the succession counts and is updated."""
    order, remaining, last = list[int](), sum(left), -1
    chances = rng.random((remaining, len(left))).tolist()
    nobody, weight = [0.0] * len(left), (remaining + 1) * PANEL_COUNT_WEIGHT
    for chance in chances:
        after = followed[last] if order else nobody
        best, least = last, float("inf")
        for treatment, count in enumerate(left):
            if not count or treatment == last:
                continue
            if 2 * count > remaining:  # otherwise it would have to follow itself at the end
                best = treatment
                break
            cost = after[treatment] * weight - count + chance[treatment]
            if cost < least:
                best, least = treatment, cost
        if order and best != last:
            after[best] += 1
        left[best] -= 1
        remaining -= 1
        last = best
        order.append(best)
    return order


# --- Repair of immediate repeats -----------------------------------------------------------------
# First, clips of one system are swapped, across sessions, which keeps the order of systems. Where
# that is not enough, sessions are re-ordered and trials of a session swapped; then the order is
# balanced again without new repeats. Each session keeps its number of trials per system.


Pair = tuple[int, int]  # a clip and a system
Trials = list[list[Pair]]
Place = tuple[int, int]  # a session, and the position in it
BASE_EXCHANGES = 300  # swaps tried in any case
EXCHANGES_PER_TRIAL = 60  # additional swaps tried per trial
CLIP_ONLY_DIVISOR = 10  # divides the number of swaps when only clips are swapped
ANNEALING_TEMPERATURE = 0.4  # tolerance for one more repeat during annealing
CLIP_EXCHANGE_SHARE = 0.5  # share of swaps of clips only, where trials are swapped too
LEVELING_EXCHANGES = 300  # swaps tried for evenness
MAX_TRIALS_FOR_ALL_ORDERS = 10  # up to this number of trials, all orders of a session are tried


def count_repeats(session: list[Pair]) -> int:
    """Count how often a clip or a system directly follows itself."""
    return sum((a[0] == b[0]) + (a[1] == b[1]) for a, b in pairwise(session))


def repair_repeats(trials: Trials, before: Ints, rng: Generator) -> Trials:
    """Return trials with the fewest repeats found, then the most even successions found."""
    repaired_trials = _anneal_repeats([list(session) for session in trials], 1.0, rng)
    if not any(map(count_repeats, repaired_trials)):
        return repaired_trials
    woven = [
        _weave_session(session, rng) if count_repeats(session) else list(session)
        for session in trials
    ]
    return _level_successions(_anneal_repeats(woven, CLIP_EXCHANGE_SHARE, rng), before, rng)


def _weave_session(session: list[Pair], rng: Generator) -> list[Pair]:
    """Re-order a session step by step: the most frequent remaining next, avoiding repeats."""
    left = [Counter(pair[side] for pair in session) for side in (0, 1)]
    free = [session[i] for i in rng.permutation(len(session))]
    woven = list[Pair]()
    while free:
        last = woven[-1] if woven else (-1, -1)

        def worth(
            candidate: Pair, last: Pair = last, remaining: int = len(free)
        ) -> tuple[int, bool, int]:
            repeated = (candidate[0] == last[0]) + (candidate[1] == last[1])
            urgent = 2 * max(left[0][candidate[0]], left[1][candidate[1]]) > remaining
            return repeated, not urgent, -left[0][candidate[0]] - left[1][candidate[1]]

        best = min(free, key=worth)
        free.remove(best)
        woven.append(best)
        for side in (0, 1):
            left[side][best[side]] -= 1
    return woven


@lru_cache(maxsize=4096)
def can_avoid_repeats(session: frozenset[Pair]) -> bool:
    """Return whether some order of a session has no repeated clip or system; tries all."""
    pairs = sorted(session)
    fits = [[i for i, b in enumerate(pairs) if a[0] != b[0] and a[1] != b[1]] for a in pairs]
    whole, seen = (1 << len(pairs)) - 1, set[tuple[int, int]]()
    waiting = [(1 << i, i) for i in range(len(pairs))]
    while waiting:
        heard, last = waiting.pop()
        if heard == whole:
            return True
        for i in fits[last]:
            state = heard | 1 << i, i
            if not heard >> i & 1 and state not in seen:
                seen.add(state)
                waiting.append(state)
    return not pairs


def _anneal_repeats(trials: Trials, clips: float, rng: Generator) -> Trials:
    """Return trials after swaps at repeats; ``clips`` is the share of swaps of clips only."""
    current = trials
    places = [(s, p) for s, session in enumerate(current) for p in range(len(session))]
    cost = best = sum(map(count_repeats, current))
    steps = (BASE_EXCHANGES + EXCHANGES_PER_TRIAL * len(places)) // (
        CLIP_ONLY_DIVISOR if clips == 1 else 1
    )
    best_trials = [list(session) for session in current]
    chances = iter(rng.random((steps, 4)).tolist())
    for first, second, which, luck in chances:
        if not best:
            break
        wrong = [(s, p) for s, p in places if _repeats_near(current[s], p)]
        place = wrong[int(first * len(wrong))]
        by_clip = which < clips
        others = _partners(current, places, place, by_clip)
        if not others:
            continue
        partner = others[int(second * len(others))]
        change = _exchange(current, place, partner, by_clip)
        if change > 0 and luck > exp(-change / ANNEALING_TEMPERATURE):
            _exchange(current, place, partner, by_clip)
            continue
        cost += change
        if cost < best:
            best, best_trials = cost, [list(session) for session in current]
    return best_trials


def _partners(current: Trials, places: list[Place], place: Place, by_clip: bool) -> list[Place]:
    """Return positions of the same system anywhere, or all positions of the session."""
    s, p = place
    if by_clip:
        return [
            (t, q) for t, q in places if current[t][q][1] == current[s][p][1] and (t, q) != place
        ]
    return [(s, q) for q in range(len(current[s])) if q != p]


def _exchange(current: Trials, first: Place, second: Place, by_clip: bool) -> int:
    """Swap two clips, or two trials; return the change in the number of repeats."""
    (s, p), (t, q) = first, second
    before = _repeats_near(current[s], p) + _repeats_near(current[t], q)
    a, b = current[s][p], current[t][q]
    current[s][p], current[t][q] = ((b[0], a[1]), (a[0], b[1])) if by_clip else (b, a)
    return _repeats_near(current[s], p) + _repeats_near(current[t], q) - before


def _repeats_near(session: list[Pair], place: int) -> int:
    return count_repeats(session[max(0, place - 1) : place + 2])


def _level_successions(trials: Trials, before: Ints, rng: Generator) -> Trials:
    """Return trials after swaps within sessions that even out successions without new repeats."""
    worth = _order_cost(trials, before)
    for _ in range(LEVELING_EXCHANGES):
        s = int(rng.integers(len(trials)))
        session = trials[s]
        if len(session) < 2:
            continue
        p, q = rng.choice(len(session), 2, replace=False).tolist()
        had = count_repeats(session)
        session[p], session[q] = session[q], session[p]
        new_worth = _order_cost(trials, before) if count_repeats(session) <= had else None
        if new_worth is None or new_worth > worth:
            session[p], session[q] = session[q], session[p]
        else:
            worth = new_worth
    return trials


def _systems_of(trials: Trials) -> Order:
    return [[system for _, system in session] for session in trials]


def _order_cost(trials: Trials, before: Ints) -> tuple[tuple[int, int], int]:
    """Return the unevenness of the listener, then of the panel; lower is better."""
    order, number = _systems_of(trials), len(before) - 1
    return unevenness(order, number), int(panel_unevenness(before + carry_over(order, number)))


# --- Trial order of a listener -------------------------------------------------------------------
# Treatments come first (`even_order`). Then each treatment goes through all clips in one order per
# listener, each from another start, so that a clip is repeated as late as possible. Where a clip
# or a treatment then directly follows itself, trials are swapped (`repair_repeats`).


REPAIR_VARIANTS, MAX_TRIALS_FOR_VARIANTS = 4, 40  # repairs tried, up to this number of trials
T = TypeVar("T", bound=Hashable)


def listener_order(
    items: Sequence[str],
    systems: Sequence[T],
    sessions: int,
    rng: Generator,
    pool: PanelHistory | None = None,
) -> list[list[tuple[str, T]]]:
    """Return all items with all systems by session; ``pool``, the panel's counts, is updated.

    >>> order = listener_order(["a", "b", "c"], ["x", "y"], 2, np.random.default_rng(0))
    >>> sorted(trial for session in order for trial in session)
    [('a', 'x'), ('a', 'y'), ('b', 'x'), ('b', 'y'), ('c', 'x'), ('c', 'y')]
    """
    pool = pool or PanelHistory()
    before = pool.successions(systems)
    quotas = session_quotas(len(items), len(systems), sessions, rng)
    order = even_order(quotas, before, rng)
    clips = _assign_clips(order, len(items), len(systems), rng)
    trials = [list(zip(*session, strict=True)) for session in zip(clips, order, strict=True)]
    if min(len(items), len(systems)) > 1 and any(map(count_repeats, trials)):
        variants = REPAIR_VARIANTS if len(items) * len(systems) <= MAX_TRIALS_FOR_VARIANTS else 1
        trials = _choose_most_even(
            [repair_repeats(trials, before, rng) for _ in range(variants)], before, rng
        )
    pool.add(systems, carry_over(_systems_of(trials), len(systems)))
    return [[(items[item], systems[system]) for item, system in session] for session in trials]


def _choose_most_even(variants: list[Trials], before: Ints, rng: Generator) -> Trials:
    """Return, of the variants with fewest repeats, the one that leaves the panel most even.

    Systems may swap names.
    """
    orders = list(map(_systems_of, variants))
    worth = [
        (sum(map(count_repeats, trials)), unevenness(order, len(before) - 1))
        for trials, order in zip(variants, orders, strict=True)
    ]
    best = [n for n, value in enumerate(worth) if value == min(worth)]
    which, named = rename_treatments([orders[n] for n in best], before, rng)
    return [
        [(item, system) for (item, _), system in zip(session, names, strict=True)]
        for session, names in zip(variants[best[which]], named, strict=True)
    ]


def _assign_clips(
    order: list[list[int]], items: int, systems: int, rng: Generator
) -> list[list[int]]:
    """Assign a clip to each position in the order of systems, each clip once per system."""
    places = np.concatenate([np.array(session, np.int64) for session in order])
    clips = np.empty(len(places), np.int64)
    circle, start = rng.permutation(items), rng.permutation(systems)
    for system in range(systems):
        rank = int(start[system])
        first = rank * items // systems if systems <= items else rank % items
        turned = np.roll(circle, -first)
        moved = np.arange(items) + rng.uniform(0, items / (2 * systems), items)
        clips[places == system] = turned[np.argsort(moved)]  # neighbours vary
    ends = np.cumsum([0, *map(len, order)]).tolist()
    return [clips[a:b].tolist() for a, b in pairwise(ends)]


# --- Clips in rotation ---------------------------------------------------------------------------
# If each clip is one trial, the rows of a Williams square give the orders of listeners: after as
# many listeners as clips (twice as many if this is odd), each clip was equally often in each
# position, and each followed each other equally often. Then clips change places at random.


ITEMS_STREAM = 3  # random stream


def williams_row(size: int) -> list[int]:
    """Return the first row of a Williams square; adding a number modulo the size gives the others.

    >>> williams_row(4)
    [0, 1, 3, 2]
    """
    return [((n + 1) // 2 if n % 2 else -(n // 2)) % size for n in range(size)]


def rotated_order(
    items: Sequence[str], treatment: T, sessions: int, pool: PanelHistory
) -> list[list[tuple[str, T]]]:
    """Return all items with one treatment by session; ``pool``, which counts listeners, is updated.

    >>> pool = PanelHistory()
    >>> orders = [rotated_order("ab", "x", 2, pool) for _ in range(2)]
    >>> [[item for [(item, _)] in order] for order in orders]
    [['a', 'b'], ['b', 'a']]
    """
    size, row = len(items), williams_row(len(items))
    cycle, turn = divmod(pool.turns[ITEMS_STREAM], size)
    pool.turns[ITEMS_STREAM] += 1
    if size % 2 and cycle % 2:
        row = row[::-1]
    names = cycle // 2 if size % 2 else cycle
    shuffled = np.random.default_rng([*pool.seed, ITEMS_STREAM, names]).permutation(size)
    order = [(items[shuffled[(place + turn) % size]], treatment) for place in row]
    return [[order[n] for n in part] for part in np.array_split(np.arange(size), sessions)]


# --- Clips grouped by a covariate ----------------------------------------------------------------


def group_clips(
    sessions: Sequence[Sequence[Trial]], group: Mapping[str, str], turn: int
) -> list[list[Trial]]:
    """Return the same trials grouped by clip group, with session lengths kept.

    Listeners start with different groups, in turn.

    >>> trials = [Trial(item, ("x",), ()) for item in "abcd"]
    >>> groups = {"a": "park", "b": "street", "c": "park", "d": "street"}
    >>> [[one.item for one in own] for own in group_clips([trials[:2], trials[2:]], groups, 1)]
    [['b', 'd'], ['a', 'c']]
    """
    trials = [trial for session in sessions for trial in session]
    names = sorted({group[trial.item] for trial in trials})
    start = turn % len(names)
    order = {name: place for place, name in enumerate(names[start:] + names[:start])}
    sorted_ = sorted(trials, key=lambda trial: order[group[trial.item]])
    ends = accumulate(map(len, sessions), initial=0)
    return [sorted_[a:b] for a, b in pairwise(ends)]
