"""The order in which a listener hears clips: sessions, treatments within them, clips for each.

Treatments come first (`successions`). Then every treatment goes through all clips in one order of
the listener's own, each from another start: so a clip that was heard comes again as late as may be.
Where a clip or a treatment then follows itself, trials are exchanged (`repair`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from earwitness.listening.design.pool import Ints, Pool
from earwitness.listening.design.repair import Trials, repaired, repeats
from earwitness.listening.design.successions import (
    carry_over,
    even_order,
    renamed,
    session_quotas,
    unevenness,
)

VARIANTS, FEW = 4, 40  # repairs that are tried for so few trials
T = TypeVar("T", bound=Hashable)


def listener_order(
    items: Sequence[str],
    systems: Sequence[T],
    sessions: int,
    rng: np.random.Generator,
    pool: Pool | None = None,
) -> list[list[tuple[str, T]]]:
    """Every item with every system, in sessions; the pool is what the panel heard, and grows.

    >>> order = listener_order(["a", "b", "c"], ["x", "y"], 2, np.random.default_rng(0))
    >>> sorted(trial for session in order for trial in session)
    [('a', 'x'), ('a', 'y'), ('b', 'x'), ('b', 'y'), ('c', 'x'), ('c', 'y')]
    """
    pool = pool or Pool()
    before = pool.successions(systems)
    quotas = session_quotas(len(items), len(systems), sessions, rng)
    order = even_order(quotas, before, rng)
    clips = _clips(order, len(items), len(systems), rng)
    trials = [list(zip(*own, strict=True)) for own in zip(clips, order, strict=True)]
    if min(len(items), len(systems)) > 1 and any(map(repeats, trials)):
        variants = VARIANTS if len(items) * len(systems) <= FEW else 1
        trials = _evenest([repaired(trials, before, rng) for _ in range(variants)], before, rng)
    counts = carry_over([[system for _, system in own] for own in trials], len(systems))
    pool.add(systems, counts)
    return [[(items[item], systems[system]) for item, system in own] for own in trials]


def _evenest(variants: list[Trials], before: Ints, rng: np.random.Generator) -> Trials:
    """Of those with fewest repeats that are most even alone, one that leaves the panel most even.

    Systems may exchange their names for that.
    """
    orders = [[[system for _, system in own] for own in trials] for trials in variants]
    worth = [
        (sum(map(repeats, trials)), unevenness(order, len(before) - 1))
        for trials, order in zip(variants, orders, strict=True)
    ]
    best = [n for n, one in enumerate(worth) if one == min(worth)]
    which, named = renamed([orders[n] for n in best], before, rng)
    return [
        [(item, system) for (item, _), system in zip(own, names, strict=True)]
        for own, names in zip(variants[best[which]], named, strict=True)
    ]


def _clips(
    order: list[list[int]], items: int, systems: int, rng: np.random.Generator
) -> list[list[int]]:
    """A clip for every place of the systems' order, each once a system."""
    places = np.concatenate([np.array(own, np.int64) for own in order])
    found = np.empty(len(places), np.int64)
    circle, start = rng.permutation(items), rng.permutation(systems)
    for system in range(systems):
        turned = np.roll(circle, -_start(int(start[system]), items, systems))
        found[places == system] = _jittered(turned, items / (2 * systems), rng)
    ends = np.cumsum([0, *map(len, order)]).tolist()
    return [found[a:b].tolist() for a, b in pairwise(ends)]


def _start(rank: int, items: int, systems: int) -> int:
    return rank * items // systems if systems <= items else rank % items


def _jittered(clips: Ints, by: float, rng: np.random.Generator) -> Ints:
    """Clips of nearby places exchanged, so that neighbours are not always the same."""
    return clips[np.argsort(np.arange(len(clips)) + rng.uniform(0, by, len(clips)))]
