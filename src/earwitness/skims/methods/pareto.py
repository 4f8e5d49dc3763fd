"""Pareto skim method: archive of skims, convex hull and pool of candidate blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from earwitness.skims.day import Bools, Day, Doubles, Ints, Periods, Singles, allowed_rows
from earwitness.skims.measures import find_cheapest_picks, find_course, prefix_sums
from earwitness.skims.methods.plan import SkimPlan, fit_periods

# --- Convex hull ---------------------------------------------------------------------------------


SkimTerms = dict[tuple[int, ...], tuple[float, float]]  # cost and coverage of skims


@dataclass(frozen=True)
class SkimArchive:
    """Corners of the convex hull in the order of z: rows, costs, coverages, and z between them."""

    skims: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]
    coverages: tuple[float, ...]
    turns: tuple[float, ...]
    seen: int

    def rows(self, z: float) -> tuple[int, ...]:
        """Return the skim for a value of z; of two equally good ones, that of the lower z."""
        return self.skims[int(np.searchsorted(self.turns, z, side="left"))]


class HullCorner(NamedTuple):
    """A skim with its cost and coverage."""

    cost: float
    cover: float
    rows: tuple[int, ...]


def find_hull(skim_terms: SkimTerms) -> SkimArchive:
    """Return the corners from the lowest cost to the highest coverage."""
    kept: list[HullCorner] = []
    for corner in find_front(skim_terms):
        while len(kept) > 1 and not _is_above(kept[-2], kept[-1], corner):
            kept.pop()
        kept.append(corner)
    costs, covers, rows = zip(*kept, strict=True)
    return SkimArchive(rows, costs, covers, _find_turns(kept), len(skim_terms))


def find_front(skim_terms: SkimTerms) -> list[HullCorner]:
    """Return the skims that no other skim beats in both cost and coverage, cheapest first."""
    corners = sorted(HullCorner(*terms, rows) for rows, terms in skim_terms.items())
    corners.sort(key=lambda corner: (corner.cost, -corner.cover))
    kept: list[HullCorner] = []
    for corner in corners:
        if not kept or corner.cover > kept[-1].cover:
            kept.append(corner)
    return kept


def _is_above(first: HullCorner, middle: HullCorner, last: HullCorner) -> bool:
    """Whether the middle corner lies above the line from the first to the last."""
    rise = (middle.cover - first.cover) * (last.cost - first.cost)
    return rise > (last.cover - first.cover) * (middle.cost - first.cost)


def _find_turns(kept: Sequence[HullCorner]) -> tuple[float, ...]:
    """Return the z at which neighbours are equally good, both terms scaled from 0 to 1."""
    cost, cover = kept[-1].cost - kept[0].cost, kept[-1].cover - kept[0].cover
    turns = [0.0]
    for corner, following in pairwise(kept):
        dearer = (following.cost - corner.cost) / cost
        wider = (following.cover - corner.cover) / cover
        turns.append(max(turns[-1], dearer / (dearer + wider)))
    return tuple(turns[1:])


# --- Pool of candidate blocks --------------------------------------------------------------------


POOL_BLOCKS = 1500  # over all periods, in addition to those per class
POOL_BLOCKS_PER_CLASS = 3  # blocks per class
ROWS_PER_STEP = 4096  # to save memory
PICK_SETS_IN_MEMORY = 100  # sweeps return to the same pick sets


@dataclass(frozen=True)
class BlockPool:
    """Candidate blocks: rows, periods, cumulative distances to period means, and classes."""

    rows: Ints
    lies: Ints
    sums: Doubles
    classes: Singles
    _terms_of_picks: dict[bytes, tuple[Doubles, Doubles]] = field(default_factory=dict, repr=False)

    def terms(self, taken: Ints) -> tuple[float, float]:
        """Return cost and coverage of picks, given as pool indices."""
        cost = find_course(self.sums[taken], self.lies[taken]).cost
        return cost, float(self.classes[taken].max(axis=0).sum(dtype=np.float64))

    def terms_beside(self, taken: Ints) -> tuple[Doubles, Doubles]:
        """Return costs and coverages of the taken blocks plus each block, with a small cache."""
        key = taken.tobytes()
        if key not in self._terms_of_picks:
            if len(self._terms_of_picks) == PICK_SETS_IN_MEMORY:
                del self._terms_of_picks[next(iter(self._terms_of_picks))]
            self._terms_of_picks[key] = self.costs(taken), self.covers(taken)
        return self._terms_of_picks[key]

    def covers(self, taken: Ints) -> Doubles:
        """Return the coverage of the taken blocks plus each block of the pool."""
        have = self.classes[taken].max(axis=0) if len(taken) else np.float32(0)
        return _sum_rows(np.maximum(self.classes, have))

    def costs(self, taken: Ints) -> Doubles:
        """Return the cost of the taken blocks plus each block; infinite if its period is taken.

        Taken blocks are in chronological order. Between two of them, only the transitions to the
        neighbours of a new block matter; all blocks of a gap are computed at once.
        """
        count = self.sums.shape[1] - 1
        result = np.full(len(self.rows), np.inf)
        lies = [-1, *self.lies[taken].tolist(), count]
        for gap in range(len(taken) + 1):
            inside = slice(*np.searchsorted(self.lies, [lies[gap] + 1, lies[gap + 1]]))
            if inside.start < inside.stop:
                left = self.sums[taken[gap - 1]] if gap else None
                right = self.sums[taken[gap]] if gap < len(taken) else None
                span = (lies[gap], lies[gap + 1])
                result[inside] = self._cost_of_gap(inside, left, right, span)
        return result + self._cost_elsewhere(taken) if len(taken) else result

    def _cost_elsewhere(self, taken: Ints) -> Doubles:
        """Return the cost outside the gap in which each block lies."""
        lies = self.lies[taken]
        sums, count = self.sums[taken], self.sums.shape[1] - 1
        gaps = np.zeros(len(taken) + 1)
        gaps[0], gaps[-1] = sums[0, lies[0]], sums[-1, count] - sums[-1, lies[-1] + 1]
        for gap in range(1, len(taken)):
            span = slice(lies[gap - 1] + 1, lies[gap] + 1)
            more = sums[gap - 1, span] - sums[gap, span]
            gaps[gap] = more.min() + sums[gap, lies[gap]] - sums[gap - 1, lies[gap - 1] + 1]
        each = np.arange(len(taken))
        picks_cost = float((sums[each, lies + 1] - sums[each, lies]).sum())
        which = np.searchsorted(lies, self.lies)
        result: Doubles = picks_cost + gaps.sum() - gaps[which]
        return result

    def _cost_of_gap(
        self, inside: slice, left: Doubles | None, right: Doubles | None, span: tuple[int, int]
    ) -> Doubles:
        """Return the cost of a gap, excluding both ends, with each of the given blocks in it."""
        lies, sums = self.lies[inside], self.sums[inside]
        each = np.arange(len(lies))
        low, high = span[0] + 1, span[1]  # first period of the gap, and the one after it
        cost = sums[each, lies + 1] - sums[each, lies]
        if left is None:
            cost = cost + sums[each, lies]
        else:
            more = left[None, low : high + 1] - sums[:, low : high + 1]
            more = np.minimum.accumulate(more, axis=1)
            cost = cost + more[each, lies - low] + sums[each, lies] - left[low]
        if right is None:
            return cost + sums[:, -1] - sums[each, lies + 1]
        less = sums[:, low : high + 1] - right[None, low : high + 1]
        less = np.minimum.accumulate(less[:, ::-1], axis=1)[:, ::-1]
        result: Doubles = cost + less[each, lies + 1 - low] + right[high] - sums[each, lies + 1]
        return result


def make_pool(day: Day, day_periods: Periods, extra: Ints) -> BlockPool:
    """Return the candidate blocks: nearest to each period's mean, with the highest class sums per
    period, strongest in each class, and extra rows."""
    each = max(1, POOL_BLOCKS // (2 * len(day_periods.means)))
    full = day.classes.sum(axis=1)
    rows = [extra, _find_fullest(day)]
    for period in range(len(day_periods.means)):
        inside = allowed_rows(day, day_periods, period)
        mean = day_periods.means[period].astype(np.float32)
        away = ((day.vectors[inside] - mean) ** 2).sum(axis=1)
        rows += [inside[np.argsort(away, kind="stable")[:each]]]
        rows += [inside[np.argsort(-full[inside], kind="stable")[:each]]]
    index = np.unique(np.concatenate(rows)).astype(np.int64)
    sums = prefix_sums(day.vectors[index], day_periods.means)
    return BlockPool(index, day_periods.of[index], sums, day.classes[index])


def _find_fullest(day: Day) -> Ints:
    allowed = np.flatnonzero(day.allowed)
    classes = day.classes[allowed]
    kept: list[Ints] = []
    for scores in classes.T:
        count = min(POOL_BLOCKS_PER_CLASS, len(scores))
        top = np.argpartition(-scores, count - 1)[:count]
        kept.append(allowed[top[scores[top] > 0]])
    return np.concatenate(kept).astype(np.int64) if kept else np.zeros(0, np.int64)


def find_widest_picks(day: Day, day_periods: Periods, picks: int) -> Ints:
    """Return blocks, at most one per period, each adding the most coverage (greedy)."""
    have = np.zeros(day.classes.shape[1], np.float32)
    free: Bools = day.allowed.copy()
    chosen: list[int] = []
    while len(chosen) < picks and free.any():
        rows = np.flatnonzero(free)
        parts = (rows[at : at + ROWS_PER_STEP] for at in range(0, len(rows), ROWS_PER_STEP))
        gains = np.concatenate([_sum_rows(np.maximum(day.classes[part], have)) for part in parts])
        best = int(rows[np.argmax(gains)])
        chosen.append(best)
        have = np.maximum(have, day.classes[best])
        free &= day_periods.of != day_periods.of[best]
    return np.array(sorted(chosen), np.int64)


def _sum_rows(classes: Singles) -> Doubles:
    """Return sums of rows, computed as a matrix product for speed."""
    return (classes @ np.ones(classes.shape[1], np.float32)).astype(np.float64)


# --- Archive of skims ----------------------------------------------------------------------------
# The lowest cost (z = 0) is found exactly, the widest coverage of classes (z = 1) greedily. Between
# them, for several weights of the two terms, picks are exchanged one at a time while that improves
# the sum, starting from either end. All skims are kept. Both terms are scaled from 0 to 1 over the
# archive, and z selects the skim with the highest (1 − z) · TC + z · SD. These are the corners of
# the archive's convex hull in order, so both terms change monotonically with z.


TERM_WEIGHTS = (0.0, 0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95, 1.0)
EXCHANGE_ROUNDS = 4
MIN_IMPROVEMENT = 1e-9


def make_archive(day: Day, plan: SkimPlan) -> SkimArchive:
    """Return all skims that any z can select; the day must have more allowed blocks than picks."""
    day_periods, _ = fit_periods(day, plan)
    low = find_cheapest_picks(day, day_periods, plan.picks)
    high = find_widest_picks(day, day_periods, plan.picks)
    pool = make_pool(day, day_periods, np.concatenate([low, high]))
    skim_terms: SkimTerms = {}
    _sweep_weights(pool, np.searchsorted(pool.rows, low), TERM_WEIGHTS, skim_terms)
    if len(high) == len(low):  # otherwise greedy selection ran out of periods
        _sweep_weights(pool, np.searchsorted(pool.rows, high), TERM_WEIGHTS[::-1], skim_terms)
    by_rows = {tuple(pool.rows[[*taken]].tolist()): terms for taken, terms in skim_terms.items()}
    return find_hull(by_rows)


def _sweep_weights(
    pool: BlockPool, start: Ints, weights: tuple[float, ...], skim_terms: SkimTerms
) -> None:
    """Exchange picks for one weight after another, each starting from the previous result."""
    taken = start
    skim_terms[tuple(taken.tolist())] = pool.terms(taken)
    for weight in weights:
        taken = _exchange_picks(pool, taken, weight, skim_terms)


def _exchange_picks(pool: BlockPool, taken: Ints, weight: float, skim_terms: SkimTerms) -> Ints:
    """Replace picks one at a time while that improves the weighted sum."""
    terms = np.array(list(skim_terms.values()))
    reach, largest = terms.max(axis=0) - terms.min(axis=0), np.maximum(terms.max(axis=0), 1e-12)
    # ranges of costs and coverages, or their sizes where the range is 0
    cost_scale, cover_scale = np.where(reach > 0, reach, largest).tolist()
    weight = min(max(weight, 1e-6), 1 - 1e-6)  # a term of weight 0 only breaks ties
    for _ in range(EXCHANGE_ROUNDS):
        changed = False
        for place in range(len(taken)):
            others = np.delete(taken, place)
            costs, covers = pool.terms_beside(others)
            worth = -(1 - weight) * costs / cost_scale + weight * covers / cover_scale
            best = int(np.argmax(worth))
            if worth[best] > worth[taken[place]] + MIN_IMPROVEMENT:
                taken, changed = np.sort(np.append(others, best)), True
                skim_terms[tuple(taken.tolist())] = pool.terms(taken)
        if not changed:
            break
    return taken
