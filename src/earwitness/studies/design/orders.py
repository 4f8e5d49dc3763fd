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

from earwitness.stats.arrays import Ints
from earwitness.studies.study import Trial

# --- Panel history -------------------------------------------------------------------------------
# A listener's order depends on the listeners before in the same panel, never on those who come
# after.


RANKS_STREAM, WAYS_STREAM = 1, 2  # streams of chance


@dataclass
class PanelHistory:
    """Counts of a panel, which grow; ``seed`` is that of the panel and block.

    Treatments are numbered as they come. ``counts`` say how often each came directly behind each
    other one; the last row and column of ``successions`` are rests before and after a session.
    """

    seed: tuple[int, ...] = (0,)
    counts: Ints = field(default_factory=lambda: np.zeros((1, 1), np.int64))
    numbers: dict[Hashable, int] = field(default_factory=dict)
    turns: Counter[Hashable] = field(default_factory=Counter)
    trials: dict[Hashable, Trial] = field(default_factory=dict)  # those that were made

    def successions(self, treatments: Sequence[Hashable]) -> Ints:
        """How often treatments followed each other, and rests, so far."""
        places = self._places(treatments)
        return self.counts[np.ix_(places, places)]

    def add(self, treatments: Sequence[Hashable], counts: Ints) -> None:
        """One more listener; counts are as ``successions`` gives them."""
        places = self._places(treatments)
        self.counts[np.ix_(places, places)] += counts

    def ranks(self, treatment: Hashable, items: int) -> list[int]:
        """A place for every item, drawn once for a panel and a treatment."""
        seed = [*self.seed, RANKS_STREAM, self._places([treatment])[0]]
        return [int(rank) for rank in np.random.default_rng(seed).permutation(items)]

    def rng(self, treatment: Hashable, *more: int) -> np.random.Generator:
        """Chance for ways of presenting a treatment."""
        return np.random.default_rng([*self.seed, WAYS_STREAM, self._places([treatment])[0], *more])

    def _places(self, treatments: Sequence[Hashable]) -> list[int]:
        for treatment in treatments:
            self.numbers.setdefault(treatment, len(self.numbers) + 1)
        short = len(self.numbers) + 1 - len(self.counts)
        if short > 0:
            self.counts = np.pad(self.counts, (0, short))
        return [*(self.numbers[treatment] for treatment in treatments), 0]


# --- Carry-over between treatments ---------------------------------------------------------------
# Every treatment occurs equally often in each session, or once more; none follows itself where that
# can be avoided; and each follows each other about equally often. Of several such orders, and of
# all ways to exchange the names of treatments in them, the one is taken that leaves most even what
# the panel heard so far: who followed whom, and who came first in a session.


MAX_ORDER_TRIES = 12  # orders among which the most even ones are taken; fewer where orders are long
MAX_PLACES_IN_ALL_TRIES = 4000  # places of all tries together
MAX_TREATMENTS_FOR_ALL_NAMINGS = 5  # treatments of which all namings are looked at
RANDOM_NAMINGS = 120  # namings that are looked at where treatments are more
PANEL_COUNT_WEIGHT = 1000.0  # so that counts of a panel weigh more than how many are left
Order = list[list[int]]


def even_order(quotas: Ints, before: Ints, rng: np.random.Generator) -> Order:
    """Treatments by session; ``before`` is what the panel heard (`PanelHistory.successions`)."""
    number = quotas.shape[1]
    panel = before[:-1, :-1].tolist()
    alone = np.zeros_like(before[:-1, :-1]).tolist()
    number_of = _number_of_tries(int(quotas.sum()))
    tries = [_draw_order(quotas, alone if n % 2 else panel, rng) for n in range(number_of)]
    uneven = [unevenness(order, number) for order in tries]
    best = [order for order, value in zip(tries, uneven, strict=True) if value == min(uneven)]
    return rename_treatments(best, before, rng)[1]


def rename_treatments(
    orders: Sequence[Order], before: Ints, rng: np.random.Generator
) -> tuple[int, Order]:
    """Of all orders and namings that are looked at, the one that leaves the panel most even.

    Which order it was, and the order with its new names.
    """
    number = len(before) - 1
    namings = _draw_namings(number, rng)
    whole = np.hstack([namings, np.full((len(namings), 1), number)])
    counted = np.array([carry_over(order, number) for order in orders])
    named = counted[:, whole[:, :, None], whole[:, None, :]]  # by order, by naming
    order, naming = divmod(int(panel_unevenness(before + named).argmin()), len(namings))
    chosen = namings[naming]
    if number > MAX_TREATMENTS_FOR_ALL_NAMINGS:
        chosen = _improve_naming(chosen, counted[order], before)
    names = np.argsort(chosen).tolist()
    return order, [[names[treatment] for treatment in session] for session in orders[order]]


def session_quotas(items: int, treatments: int, sessions: int, rng: np.random.Generator) -> Ints:
    """How often each treatment occurs in each session: rows are sessions; all within one."""
    quotas = np.full((sessions, treatments), items // sessions, np.int64)
    turn = 0
    for treatment in rng.permutation(treatments):
        for _ in range(items % sessions):
            quotas[turn % sessions, treatment] += 1
            turn += 1
    return quotas


def carry_over(order: Sequence[Sequence[int]], number: int) -> Ints:
    """How often each treatment came directly behind each other one; the last are rests."""
    counts = np.zeros((number + 1, number + 1), np.int64)
    for session in order:
        if session:
            sequence = np.array([number, *session, number])
            np.add.at(counts, (sequence[:-1], sequence[1:]), 1)
    return counts


def unevenness(order: Sequence[Sequence[int]], number: int) -> tuple[int, int]:
    """Treatments that follow themselves, then how far the counts of successions lie apart."""
    counts = carry_over(order, number)[:-1, :-1]
    others = counts[~np.eye(number, dtype=np.bool_)]
    return int(np.trace(counts)), int(((others - others.mean()) ** 2).sum()) if len(others) else 0


def panel_unevenness(counts: Ints) -> Ints:
    """Squares of all successions, of first and last places; the total is fixed: least is even."""
    return np.asarray((counts**2 * _weights(counts.shape[-1])).sum(axis=(-2, -1)))


@cache
def _weights(size: int) -> Ints:
    """First places weigh as much in all as successions; nothing counts that follows itself."""
    weights = 1 - np.eye(size, dtype=np.int64)
    weights[-1] *= max(1, size - 2)
    return weights


def _improve_naming(naming: Ints, counted: Ints, before: Ints) -> Ints:
    """Exchange two names as long as that leaves the panel more even."""
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


def _number_of_tries(places: int) -> int:
    return max(1, min(MAX_ORDER_TRIES, MAX_PLACES_IN_ALL_TRIES // max(places, 1)))


def _draw_namings(number: int, rng: np.random.Generator) -> Ints:
    """Ways to exchange names, in any order."""
    if number <= MAX_TREATMENTS_FOR_ALL_NAMINGS:
        return rng.permutation(_all_namings(number))
    same = np.tile(np.arange(number), (RANDOM_NAMINGS, 1))
    return np.vstack([same[:1], rng.permuted(same, axis=1)])


@cache
def _all_namings(number: int) -> Ints:
    return np.array(list(permutations(range(number))), np.int64)


def _draw_order(quotas: Ints, panel: list[list[int]], rng: np.random.Generator) -> Order:
    """Who followed whom in the panel decides where the listener's own order leaves a choice."""
    much = 1 + max(map(max, panel)) + 1
    followed = [[count / much for count in row] for row in panel]
    return [_draw_session(quota.tolist(), followed, rng) for quota in quotas]


def _draw_session(
    left: list[int], followed: list[list[float]], rng: np.random.Generator
) -> list[int]:
    """One session; ``followed`` says which came behind which how often, and grows."""
    order, remaining, last = list[int](), sum(left), -1
    chances = rng.random((remaining, len(left))).tolist()
    nobody, weight = [0.0] * len(left), (remaining + 1) * PANEL_COUNT_WEIGHT
    for chance in chances:
        after = followed[last] if order else nobody
        best, least = last, float("inf")
        for treatment, count in enumerate(left):
            if not count or treatment == last:
                continue
            if 2 * count > remaining:  # else it must follow itself at the end
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
# First clips of one system change places, in whichever sessions, which leaves the order of systems
# as it is. Where that does not help, sessions are woven anew, and trials of a session change places
# too; then the order is made even again without any new repeats. Every session keeps as many trials
# of each system as it had.


Pair = tuple[int, int]  # a clip and a system
Trials = list[list[Pair]]
Place = tuple[int, int]  # a session, and where in it
BASE_EXCHANGES = 300  # exchanges that are tried in any case
EXCHANGES_PER_TRIAL = 60  # exchanges that are tried beside, for every trial
CLIP_ONLY_DIVISOR = 10  # of clips alone, so many times fewer
ANNEALING_TEMPERATURE = 0.4  # how readily one more repeat is put up with for a while
CLIP_EXCHANGE_SHARE = 0.5  # exchanges of clips alone, where trials change places too
LEVELING_EXCHANGES = 300  # exchanges that are tried for evenness
MAX_TRIALS_FOR_ALL_ORDERS = 10  # trials of a session up to which all orders are looked at


def count_repeats(session: list[Pair]) -> int:
    """How often a clip follows itself, or a system does."""
    return sum((a[0] == b[0]) + (a[1] == b[1]) for a, b in pairwise(session))


def repair_repeats(trials: Trials, before: Ints, rng: np.random.Generator) -> Trials:
    """With as few repeats as were found, then as even as was found."""
    repaired_trials = _anneal_repeats([list(session) for session in trials], 1.0, rng)
    if not any(map(count_repeats, repaired_trials)):
        return repaired_trials
    woven = [
        _weave_session(session, rng) if count_repeats(session) else list(session)
        for session in trials
    ]
    return _level_successions(_anneal_repeats(woven, CLIP_EXCHANGE_SHARE, rng), before, rng)


def _weave_session(session: list[Pair], rng: np.random.Generator) -> list[Pair]:
    """The trials of a session step by step: what has most left is next, nothing twice in a row."""
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
    """Whether some order has neither a clip nor a system follow itself; all orders are tried."""
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


def _anneal_repeats(trials: Trials, clips: float, rng: np.random.Generator) -> Trials:
    """After exchanges at places with repeats; ``clips`` is the share of those of clips alone."""
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
    """Places of the same system anywhere, or all places of the session."""
    s, p = place
    if by_clip:
        return [
            (t, q) for t, q in places if current[t][q][1] == current[s][p][1] and (t, q) != place
        ]
    return [(s, q) for q in range(len(current[s])) if q != p]


def _exchange(current: Trials, first: Place, second: Place, by_clip: bool) -> int:
    """Exchange two clips, or two trials; how many repeats there are more."""
    (s, p), (t, q) = first, second
    before = _repeats_near(current[s], p) + _repeats_near(current[t], q)
    a, b = current[s][p], current[t][q]
    current[s][p], current[t][q] = ((b[0], a[1]), (a[0], b[1])) if by_clip else (b, a)
    return _repeats_near(current[s], p) + _repeats_near(current[t], q) - before


def _repeats_near(session: list[Pair], place: int) -> int:
    return count_repeats(session[max(0, place - 1) : place + 2])


def _level_successions(trials: Trials, before: Ints, rng: np.random.Generator) -> Trials:
    """Exchanges within sessions that make successions more even and bring no new repeats."""
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


def _order_cost(trials: Trials, before: Ints) -> tuple[tuple[int, int], int]:
    """The listener's own unevenness, then that of the panel; less is better."""
    order, number = [[system for _, system in session] for session in trials], len(before) - 1
    return unevenness(order, number), int(panel_unevenness(before + carry_over(order, number)))


# --- Trial order of a listener -------------------------------------------------------------------
# Treatments come first (`even_order`). Then every treatment goes through all clips in one order of
# the listener's own, each from another start: so a clip that was heard comes again as late as may
# be. Where a clip or a treatment then follows itself, trials are exchanged (`repaired`).


REPAIR_VARIANTS, MAX_TRIALS_FOR_VARIANTS = 4, 40  # repairs that are tried for so few trials
T = TypeVar("T", bound=Hashable)


def listener_order(
    items: Sequence[str],
    systems: Sequence[T],
    sessions: int,
    rng: np.random.Generator,
    pool: PanelHistory | None = None,
) -> list[list[tuple[str, T]]]:
    """Every item with every system, in sessions; the pool is what the panel heard, and grows.

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
    counts = carry_over([[system for _, system in session] for session in trials], len(systems))
    pool.add(systems, counts)
    return [[(items[item], systems[system]) for item, system in session] for session in trials]


def _choose_most_even(variants: list[Trials], before: Ints, rng: np.random.Generator) -> Trials:
    """Of those with fewest repeats that are most even alone, one that leaves the panel most even.

    Systems may exchange their names for that.
    """
    orders = [[[system for _, system in session] for session in trials] for trials in variants]
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
    order: list[list[int]], items: int, systems: int, rng: np.random.Generator
) -> list[list[int]]:
    """A clip for every place of the systems' order, each once a system."""
    places = np.concatenate([np.array(session, np.int64) for session in order])
    clips = np.empty(len(places), np.int64)
    circle, start = rng.permutation(items), rng.permutation(systems)
    for system in range(systems):
        turned = np.roll(circle, -_first_clip(int(start[system]), items, systems))
        clips[places == system] = _jitter(turned, items / (2 * systems), rng)
    ends = np.cumsum([0, *map(len, order)]).tolist()
    return [clips[a:b].tolist() for a, b in pairwise(ends)]


def _first_clip(rank: int, items: int, systems: int) -> int:
    return rank * items // systems if systems <= items else rank % items


def _jitter(clips: Ints, by: float, rng: np.random.Generator) -> Ints:
    """Clips of nearby places exchanged, so that neighbours are not always the same."""
    return clips[np.argsort(np.arange(len(clips)) + rng.uniform(0, by, len(clips)))]


# --- Clips grouped by a covariate ----------------------------------------------------------------


def group_clips(
    sessions: Sequence[Sequence[Trial]], group: Mapping[str, str], turn: int
) -> list[list[Trial]]:
    """The same trials in sessions as long, group by group; listeners take turns to start.

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
