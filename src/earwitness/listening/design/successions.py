"""In which order treatments come: even for a listener, and even over a panel.

Every treatment occurs equally often in each session, or once more; none follows itself where that
can be avoided; and each follows each other about equally often. Of several such orders, and of all
ways to exchange the names of treatments in them, the one is taken that leaves most even what the
panel heard so far: who followed whom, and who came first in a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from earwitness.listening.design.pool import Ints

TRIES = 12  # orders among which the most even ones are taken; fewer where orders are long
PLACES = 4000  # places of all tries together
FEW, NAMINGS = 5, 120  # treatments of which all namings are looked at; else so many of them
FINE = 1000.0  # so that counts of a panel weigh more than how many are left
Order = list[list[int]]


def even_order(quotas: Ints, before: Ints, rng: np.random.Generator) -> Order:
    """Treatments by session; ``before`` is what the panel heard (`Pool.successions`)."""
    number = quotas.shape[1]
    panel = before[:-1, :-1].tolist()
    alone = np.zeros_like(before[:-1, :-1]).tolist()
    number_of = _tries(int(quotas.sum()))
    tries = [_order(quotas, alone if n % 2 else panel, rng) for n in range(number_of)]
    uneven = [unevenness(order, number) for order in tries]
    best = [order for order, found in zip(tries, uneven, strict=True) if found == min(uneven)]
    return renamed(best, before, rng)[1]


def renamed(orders: Sequence[Order], before: Ints, rng: np.random.Generator) -> tuple[int, Order]:
    """Of all orders and namings that are looked at, the one that leaves the panel most even.

    Which order it was, and the order with its new names.
    """
    number = len(before) - 1
    namings = _namings(number, rng)
    whole = np.hstack([namings, np.full((len(namings), 1), number)])
    counted = np.array([carry_over(order, number) for order in orders])
    named = counted[:, whole[:, :, None], whole[:, None, :]]  # by order, by naming
    order, naming = divmod(int(pooled(before + named).argmin()), len(namings))
    chosen = namings[naming]
    if number > FEW:
        chosen = _improved(chosen, counted[order], before)
    names = np.argsort(chosen).tolist()
    return order, [[names[one] for one in session] for session in orders[order]]


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
            own = np.array([number, *session, number])
            np.add.at(counts, (own[:-1], own[1:]), 1)
    return counts


def unevenness(order: Sequence[Sequence[int]], number: int) -> tuple[int, int]:
    """Treatments that follow themselves, then how far the counts of successions lie apart."""
    counts = carry_over(order, number)[:-1, :-1]
    others = counts[~np.eye(number, dtype=np.bool_)]
    return int(np.trace(counts)), int(((others - others.mean()) ** 2).sum()) if len(others) else 0


def pooled(counts: Ints) -> Ints:
    """Squares of all successions, of first and last places; the total is fixed: least is even."""
    return np.asarray((counts**2 * _weights(counts.shape[-1])).sum(axis=(-2, -1)))


@cache
def _weights(size: int) -> Ints:
    """First places weigh as much in all as successions; nothing counts that follows itself."""
    weights = 1 - np.eye(size, dtype=np.int64)
    weights[-1] *= max(1, size - 2)
    return weights


def _improved(naming: Ints, counted: Ints, before: Ints) -> Ints:
    """Exchange two names as long as that leaves the panel more even."""
    one, other = np.triu_indices(len(naming), 1)
    least = np.inf
    while True:
        every = np.tile([*naming, len(naming)], (len(one), 1))
        rows = np.arange(len(one))
        every[rows, one], every[rows, other] = naming[other], naming[one]
        costs = pooled(before + counted[every[:, :, None], every[:, None, :]])
        if costs.min() >= least:
            return naming
        least = float(costs.min())
        naming = every[int(costs.argmin()), :-1]


def _tries(places: int) -> int:
    return max(1, min(TRIES, PLACES // max(places, 1)))


def _namings(number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Ways to exchange names, in any order."""
    if number <= FEW:
        return rng.permutation(_every(number))
    same = np.tile(np.arange(number), (NAMINGS, 1))
    return np.vstack([same[:1], rng.permuted(same, axis=1)])


@cache
def _every(number: int) -> NDArray[np.int64]:
    return np.array(list(permutations(range(number))), np.int64)


def _order(quotas: Ints, panel: list[list[int]], rng: np.random.Generator) -> Order:
    """Who followed whom in the panel decides where the listener's own order leaves a choice."""
    much = 1 + max(map(max, panel)) + 1
    followed = [[count / much for count in row] for row in panel]
    return [_session(quota.tolist(), followed, rng) for quota in quotas]


def _session(left: list[int], followed: list[list[float]], rng: np.random.Generator) -> list[int]:
    """One session; ``followed`` says which came behind which how often, and grows."""
    order, rest, last = list[int](), sum(left), -1
    chances = rng.random((rest, len(left))).tolist()
    nobody, weight = [0.0] * len(left), (rest + 1) * FINE
    for chance in chances:
        after = followed[last] if order else nobody
        best, least = last, float("inf")
        for one, many in enumerate(left):
            if not many or one == last:
                continue
            if 2 * many > rest:  # else it must follow itself at the end
                best = one
                break
            worth = after[one] * weight - many + chance[one]
            if worth < least:
                best, least = one, worth
        if order and best != last:
            after[best] += 1
        left[best] -= 1
        rest -= 1
        last = best
        order.append(best)
    return order
