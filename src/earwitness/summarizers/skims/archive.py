"""Our method: many skims that are good in one way or another, and the one that a z asks for.

The cheapest course (z = 0) is found exactly, the widest coverage of its classes (z = 1)
greedily; between them, for each of several weights of the two terms, picks are exchanged
one at a time as long as that is better, starting from either end. All skims are kept. Both
terms are scaled to reach from 0 to 1 over the archive, and a z takes the skim with the highest
(1 − z) · TC + z · SD: the corners of the archive's convex hull, one after the other, so no term
ever turns as z grows.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.skims.course import cheapest
from earwitness.stats.skims.day import Day, Floats, Ints
from earwitness.summarizers.skims.hull import Archive, Found, hull
from earwitness.summarizers.skims.plan import Plan, fitting
from earwitness.summarizers.skims.pool import Pool, pool_of, widest

WEIGHTS = (0.0, 0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95, 1.0)
ROUNDS = 4
BETTER = 1e-9


def archive_of(day: Day, plan: Plan) -> Archive:
    """All skims that any z can ask for; the day has more blocks that may be picked than picks."""
    known, _ = fitting(day, plan)
    low, high = cheapest(day, known, plan.picks), widest(day, known, plan.picks)
    pool = pool_of(day, known, np.concatenate([low, high]))
    found: Found = {}
    _sweep(pool, np.searchsorted(pool.rows, low), WEIGHTS, found)
    if len(high) == len(low):  # else the greedy one had no period left for a pick
        _sweep(pool, np.searchsorted(pool.rows, high), WEIGHTS[::-1], found)
    return hull({_rows(pool, taken): terms for taken, terms in found.items()})


def _sweep(pool: Pool, start: Ints, weights: tuple[float, ...], found: Found) -> None:
    """Exchange picks for one weight after the other, each from where the last one ended."""
    taken = start
    _note(pool, taken, found)
    for weight in weights:
        taken = _exchange(pool, taken, weight, found)


def _rows(pool: Pool, taken: tuple[int, ...]) -> tuple[int, ...]:
    """Rows of the day for places in the pool."""
    return tuple(pool.rows[list(taken)].tolist())


def _note(pool: Pool, taken: Ints, found: Found) -> None:
    found[tuple(taken.tolist())] = pool.terms(taken)


def _exchange(pool: Pool, taken: Ints, weight: float, found: Found) -> Ints:
    """Replace picks one at a time as long as that is better."""
    scale = _scales(found)
    for _ in range(ROUNDS):
        changed = False
        for place in range(len(taken)):
            rest = np.delete(taken, place)
            worth = _worth(*pool.beside(rest), weight, scale)
            best = int(np.argmax(worth))
            if worth[best] > worth[taken[place]] + BETTER:
                taken, changed = np.sort(np.append(rest, best)), True
                _note(pool, taken, found)
        if not changed:
            break
    return taken


def _scales(found: Found) -> tuple[float, float]:
    """How far costs and coverages reach in what was found, or their size where they do not."""
    terms = np.array(list(found.values()))
    reach = terms.max(axis=0) - terms.min(axis=0)
    size = np.where(reach > 0, reach, np.maximum(terms.max(axis=0), 1e-12))
    return float(size[0]), float(size[1])


def _worth(costs: Floats, covers: Floats, weight: float, scale: tuple[float, float]) -> Floats:
    """Both terms together; the one that has no weight decides what the other leaves open."""
    weight = min(max(weight, 1e-6), 1 - 1e-6)
    result: Floats = -(1 - weight) * costs / scale[0] + weight * covers / scale[1]
    return result
