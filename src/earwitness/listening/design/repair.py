"""Exchange trials of a listener where a clip or a system follows itself.

First clips of one system change places, in whichever sessions, which leaves the order of systems as
it is. Where that does not help, sessions are woven anew, and trials of a session change places too;
then the order is made even again without any new repeats. Every session keeps as many trials of
each system as it had.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from math import exp

import numpy as np

from earwitness.listening.design.pool import Ints
from earwitness.listening.design.successions import carry_over, pooled, unevenness

Pair = tuple[int, int]  # a clip and a system
Trials = list[list[Pair]]
Place = tuple[int, int]  # a session, and where in it
STEPS, EACH = 300, 60  # exchanges that are tried: so many, and so many a trial
BRIEFLY = 10  # of clips alone, so many times fewer
WARMTH = 0.4  # how readily one more repeat is put up with for a while
CLIPS = 0.5  # exchanges of clips alone, where trials change places too
LEVELLING = 300  # exchanges that are tried for evenness
EXACT = 10  # trials of a session up to which all orders are looked at


def repeats(session: list[Pair]) -> int:
    """How often a clip follows itself, or a system does."""
    return sum((a[0] == b[0]) + (a[1] == b[1]) for a, b in pairwise(session))


def repaired(trials: Trials, before: Ints, rng: np.random.Generator) -> Trials:
    """With as few repeats as were found, then as even as was found."""
    found = _driven_out([list(own) for own in trials], 1.0, rng)
    if not any(map(repeats, found)):
        return found
    woven = [_woven(own, rng) if repeats(own) else list(own) for own in trials]
    return _levelled(_driven_out(woven, CLIPS, rng), before, rng)


def _woven(session: list[Pair], rng: np.random.Generator) -> list[Pair]:
    """The trials of a session step by step: what has most left is next, nothing twice in a row."""
    left = [Counter(pair[side] for pair in session) for side in (0, 1)]
    free = [session[i] for i in rng.permutation(len(session))]
    found = list[Pair]()
    while free:
        last = found[-1] if found else (-1, -1)

        def worth(one: Pair, last: Pair = last, rest: int = len(free)) -> tuple[int, bool, int]:
            repeated = (one[0] == last[0]) + (one[1] == last[1])
            urgent = 2 * max(left[0][one[0]], left[1][one[1]]) > rest
            return repeated, not urgent, -left[0][one[0]] - left[1][one[1]]

        best = min(free, key=worth)
        free.remove(best)
        found.append(best)
        for side in (0, 1):
            left[side][best[side]] -= 1
    return found


@lru_cache(maxsize=4096)
def avoidable(session: frozenset[Pair]) -> bool:
    """Whether some order has neither a clip nor a system follow itself; all orders are tried."""
    every = sorted(session)
    fits = [[i for i, b in enumerate(every) if a[0] != b[0] and a[1] != b[1]] for a in every]
    whole, seen = (1 << len(every)) - 1, set[tuple[int, int]]()
    waiting = [(1 << i, i) for i in range(len(every))]
    while waiting:
        heard, last = waiting.pop()
        if heard == whole:
            return True
        for i in fits[last]:
            state = heard | 1 << i, i
            if not heard >> i & 1 and state not in seen:
                seen.add(state)
                waiting.append(state)
    return not every


def _driven_out(trials: Trials, clips: float, rng: np.random.Generator) -> Trials:
    """After exchanges at places with repeats; ``clips`` is the share of those of clips alone."""
    now = trials
    places = [(s, p) for s, own in enumerate(now) for p in range(len(own))]
    cost = best = sum(map(repeats, now))
    steps = (STEPS + EACH * len(places)) // (BRIEFLY if clips == 1 else 1)
    found = [list(session) for session in now]
    chances = iter(rng.random((steps, 4)).tolist())
    for first, second, which, luck in chances:
        if not best:
            break
        wrong = [(s, p) for s, p in places if _near(now[s], p)]
        one = wrong[int(first * len(wrong))]
        by_clip = which < clips
        others = _partners(now, places, one, by_clip)
        if not others:
            continue
        other = others[int(second * len(others))]
        change = _exchange(now, one, other, by_clip)
        if change > 0 and luck > exp(-change / WARMTH):
            _exchange(now, one, other, by_clip)
            continue
        cost += change
        if cost < best:
            best, found = cost, [list(session) for session in now]
    return found


def _partners(now: Trials, places: list[Place], one: Place, by_clip: bool) -> list[Place]:
    """Places of the same system anywhere, or all places of the session."""
    s, p = one
    if by_clip:
        return [(t, q) for t, q in places if now[t][q][1] == now[s][p][1] and (t, q) != one]
    return [(s, q) for q in range(len(now[s])) if q != p]


def _exchange(now: Trials, one: Place, other: Place, by_clip: bool) -> int:
    """Exchange two clips, or two trials; how many repeats there are more."""
    (s, p), (t, q) = one, other
    before = _near(now[s], p) + _near(now[t], q)
    a, b = now[s][p], now[t][q]
    now[s][p], now[t][q] = ((b[0], a[1]), (a[0], b[1])) if by_clip else (b, a)
    return _near(now[s], p) + _near(now[t], q) - before


def _near(own: list[Pair], place: int) -> int:
    return repeats(own[max(0, place - 1) : place + 2])


def _levelled(trials: Trials, before: Ints, rng: np.random.Generator) -> Trials:
    """Exchanges within sessions that make successions more even and bring no new repeats."""
    worth = _worth(trials, before)
    for _ in range(LEVELLING):
        s = int(rng.integers(len(trials)))
        own = trials[s]
        if len(own) < 2:
            continue
        p, q = rng.choice(len(own), 2, replace=False).tolist()
        had = repeats(own)
        own[p], own[q] = own[q], own[p]
        found = _worth(trials, before) if repeats(own) <= had else None
        if found is None or found > worth:
            own[p], own[q] = own[q], own[p]
        else:
            worth = found
    return trials


def _worth(trials: Trials, before: Ints) -> tuple[tuple[int, int], int]:
    """The listener's own unevenness, then that of the panel; less is better."""
    order, number = [[system for _, system in own] for own in trials], len(before) - 1
    return unevenness(order, number), int(pooled(before + carry_over(order, number)))
