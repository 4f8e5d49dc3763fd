"""The order in which a listener hears clips: sessions, systems within them, clips for each.

Every system occurs equally often in each session, or once more; none follows itself where that can
be avoided; and each follows each other about equally often. No clip follows itself, and a clip that
was heard comes again as late as may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
TRIES = 12  # orders of systems among which the most even one is taken
T = TypeVar("T")


def listener_order(
    items: Sequence[str], systems: Sequence[T], sessions: int, rng: np.random.Generator
) -> list[list[tuple[str, T]]]:
    """Every item with every system, in sessions.

    >>> order = listener_order(["a", "b", "c"], ["x", "y"], 2, np.random.default_rng(0))
    >>> sorted(trial for session in order for trial in session)
    [('a', 'x'), ('a', 'y'), ('b', 'x'), ('b', 'y'), ('c', 'x'), ('c', 'y')]
    """
    quotas = session_quotas(len(items), len(systems), sessions, rng)
    tries = [_system_order(quotas, rng) for _ in range(TRIES)]
    chosen = min(tries, key=lambda order: unevenness(order, len(systems)))
    places = _item_order(chosen, len(items), len(systems), rng)
    for _ in range(TRIES):
        if not _repeated(places):
            break
        other = _item_order(chosen, len(items), len(systems), rng)
        places = min(places, other, key=_repeated)
    return [
        [(items[item], systems[system]) for item, system in zip(own, order, strict=True)]
        for own, order in zip(places, chosen, strict=True)
    ]


def session_quotas(items: int, systems: int, sessions: int, rng: np.random.Generator) -> Ints:
    """How often each system occurs in each session: rows are sessions; all within one."""
    quotas = np.full((sessions, systems), items // sessions, np.int64)
    turn = 0
    for system in rng.permutation(systems):
        for _ in range(items % sessions):
            quotas[turn % sessions, system] += 1
            turn += 1
    return quotas


def _system_order(quotas: Ints, rng: np.random.Generator) -> list[list[int]]:
    followed = np.zeros((quotas.shape[1], quotas.shape[1]), np.int64)
    return [_session_order(quota.copy(), followed, rng) for quota in quotas]


def _session_order(left: Ints, followed: Ints, rng: np.random.Generator) -> list[int]:
    """Systems of one session; ``followed`` counts which came behind which, and grows."""
    order: list[int] = []
    total = int(left.sum())
    while len(order) < total:
        rest = total - len(order)
        last = order[-1] if order else -1
        open_ = [s for s in np.flatnonzero(left).tolist() if s != last] or [last]
        urgent = [s for s in open_ if 2 * left[s] > rest]  # else it must follow itself at the end
        if urgent:
            open_ = urgent
        chance = rng.random(len(left))
        after = followed[last] if order else np.zeros(len(left), np.int64)
        best = min(open_, key=lambda s: (after[s], -left[s], chance[s]))
        if order and best != last:
            followed[last, best] += 1
        left[best] -= 1
        order.append(best)
    return order


def carry_over(order: Sequence[Sequence[int]], systems: int) -> Ints:
    """How often each system came directly behind each other one, within sessions."""
    counts = np.zeros((systems, systems), np.int64)
    for session in order:
        for a, b in pairwise(session):
            counts[a, b] += 1
    return counts


def unevenness(order: Sequence[Sequence[int]], systems: int) -> tuple[int, int]:
    """Systems that follow themselves, then how far the counts of successions lie apart."""
    counts = carry_over(order, systems)
    others = counts[~np.eye(systems, dtype=np.bool_)]
    return int(np.trace(counts)), int(((others - others.mean()) ** 2).sum()) if len(others) else 0


def _item_order(
    order: list[list[int]], items: int, systems: int, rng: np.random.Generator
) -> list[list[int]]:
    """An item for every place of the systems' order, each once a system."""
    free = [set(range(items)) for _ in range(systems)]
    heard = np.full(items, -items)  # when each was last heard
    found, now = list[list[int]](), 0
    for session in order:
        own: list[int] = []
        within = np.zeros(items, np.int64)
        for system in session:
            chance = rng.random(items)
            last = own[-1] if own else -1
            choice = min(
                free[system], key=lambda i: (i == last, within[i], heard[i] // items, chance[i])
            )
            free[system].remove(choice)
            own.append(choice)
            heard[choice], now = now, now + 1
            within[choice] += 1
        found.append(own)
    _repair(order, found)
    return found


def _repair(order: list[list[int]], found: list[list[int]]) -> None:
    """Where an item follows itself, exchange it with another place of the same system."""
    places = [(s, p) for s, own in enumerate(found) for p in range(len(own))]
    for s, p in places:
        if not p or found[s][p] != found[s][p - 1]:
            continue
        for t, q in places:
            if order[t][q] != order[s][p] or (t, q) == (s, p):
                continue
            found[s][p], found[t][q] = found[t][q], found[s][p]
            if not _repeats(found[s], p) and not _repeats(found[t], q):
                break
            found[s][p], found[t][q] = found[t][q], found[s][p]


def _repeated(found: list[list[int]]) -> int:
    """How often an item follows itself."""
    return sum(a == b for own in found for a, b in pairwise(own))


def _repeats(own: list[int], place: int) -> bool:
    near = own[max(0, place - 1) : place + 2]
    return any(a == b for a, b in pairwise(near))
