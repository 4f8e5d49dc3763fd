"""Temporal consistency, source diversity and coverage of picks, and optimal picks for TC."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from earwitness.skims.day import (
    PERIOD_SECONDS,
    BlockContent,
    Day,
    Doubles,
    Ints,
    Periods,
    Singles,
    allowed_rows,
    dtw,
    hear_rows,
    split_periods,
)

# --- TC, SD and coverage -------------------------------------------------------------------------
# TC is the distance of the calibration from the course of the day, divided by that of the skim. SD
# is the coverage of the day's classes by the skim, divided by that of the calibration; the
# published SD has the agreement of classes (msIoU) instead of coverage. A calibration has as many
# picks as the skim; it is not an optimum, so all may exceed 1. In a day whose blocks are all alike,
# such as silence, nothing can be followed or found, so all are undefined.


CLASS_THRESHOLDS = np.arange(1, 100) / 100
BLOCKS_PER_PORTION = 450  # blocks that are compared at a time, to save memory
UNIFORM_EDGES = 15  # with more blocks, the first and the last do not make a difference


def split_runs(rows: Ints, count: int) -> list[Ints]:
    """Split blocks into ``count`` consecutive runs of nearly equal length, none of them empty."""
    return [run for run in np.array_split(rows, count) if len(run)]


def calibration_tc(day: Day, picks: int) -> Ints:
    """Return, for each equal part of the day, the block nearest to the mean of the part."""
    chosen = []
    for run in split_runs(np.arange(len(day)), picks):
        mean = day.vectors[run[0] : run[-1] + 1].mean(axis=0, dtype=np.float64)
        away = [
            ((day.vectors[first : first + BLOCKS_PER_PORTION] - mean) ** 2).sum(axis=1)
            for first in range(run[0], run[-1] + 1, BLOCKS_PER_PORTION)
        ]
        chosen.append(int(run[np.argmin(np.concatenate(away)[: len(run)])]))
    return np.array(chosen, np.int64)


def calibration_sd(day: Day, picks: int) -> Ints:
    """Return the blocks with the highest class maxima, in chronological order."""
    if not len(day):
        return np.zeros(0, np.int64)
    order = np.argsort(-day.classes.max(axis=0), kind="stable")
    holders = day.classes.argmax(axis=0)[order]
    kept = list(dict.fromkeys(holders.tolist()))[:picks]
    return np.array(sorted(kept), np.int64)


def class_maxima(day: Day) -> Doubles:
    """Return the maximum of every class over the day."""
    return np.asarray(day.classes.max(axis=0), np.float64)


def msiou(skim: Doubles, day: Doubles) -> float:
    """Return the mean IoU of the classes above a threshold, over all thresholds.

    Thresholds above which neither has a class are left out; NaN if none remains.
    """
    mine, theirs = skim[None] > CLASS_THRESHOLDS[:, None], day[None] > CLASS_THRESHOLDS[:, None]
    both, either = (mine & theirs).sum(axis=1), (mine | theirs).sum(axis=1)
    defined = either > 0
    return float(np.mean(both[defined] / either[defined])) if defined.any() else np.nan


def coverage(skim: Doubles, day: Doubles) -> float:
    """Return the skim's share of the sum of class maxima; NaN if the day has no classes."""
    whole = float(day.sum())
    return float(skim.sum()) / whole if whole > 0 else np.nan


def _skim_maxima(skim: BlockContent) -> Doubles:
    """Return the maximum of every class in a skim."""
    return np.asarray(skim.classes.max(axis=0, initial=0.0), np.float64)


def has_uniform_blocks(day: Day) -> bool:
    """Whether all blocks are alike, except at the edges of the recording."""
    vectors = day.vectors[1:-1] if len(day) > UNIFORM_EDGES else day.vectors
    return len(vectors) > 0 and not np.ptp(vectors, axis=0).any()


class Calibration(NamedTuple):
    """Distance of the calibration of TC; coverage and agreement of the calibration of SD."""

    distance: float
    coverage: float
    agreement: float


class DayMeasures:
    """Measures of skims of one day; what depends only on the day is computed once."""

    def __init__(self, day: Day, period: float = PERIOD_SECONDS) -> None:
        self.day = day
        self.periods: Periods = split_periods(day, period)
        self.maxima = class_maxima(day) if len(day) else np.zeros(day.classes.shape[1])
        self.is_uniform = has_uniform_blocks(day)
        self._calibrations: dict[int, Calibration] = {}

    def distance(self, skim: BlockContent) -> float:
        """Return the distance of a skim from the course of the day (DTW)."""
        return dtw(self.periods.means, skim.vectors)

    def agreement(self, skim: BlockContent) -> float:
        """Return the agreement of a skim's classes with those of the day (msIoU)."""
        return msiou(_skim_maxima(skim), self.maxima)

    def calibrate(self, picks: int) -> Calibration:
        """Return the measures of the calibrations with ``picks`` picks."""
        if picks not in self._calibrations:
            course = hear_rows(self.day, calibration_tc(self.day, picks))
            classes = hear_rows(self.day, calibration_sd(self.day, picks))
            self._calibrations[picks] = Calibration(
                self.distance(course), self.coverage(classes), self.agreement(classes)
            )
        return self._calibrations[picks]

    def tc(self, skim: BlockContent) -> float:
        """Temporal consistency: DTW(calibration) / DTW(skim); 0 for an empty skim."""
        return self._relate(skim, lambda known: (known.distance, self.distance(skim)))

    def sd(self, skim: BlockContent) -> float:
        """Source diversity: coverage(skim) / coverage(calibration); 0 for an empty skim."""
        return self._relate(skim, lambda known: (self.coverage(skim), known.coverage))

    def sd_msiou(self, skim: BlockContent) -> float:
        """Source diversity as published: msIoU(skim) / msIoU(calibration); 0 if empty."""
        return self._relate(skim, lambda known: (self.agreement(skim), known.agreement))

    def _relate(
        self, skim: BlockContent, parts: Callable[[Calibration], tuple[float, float]]
    ) -> float:
        """Return a quotient of skim and calibration; 0 without picks, NaN for a uniform day."""
        if self.is_uniform or not len(self.day):
            return np.nan
        if not len(skim.vectors):
            return 0.0
        top, bottom = parts(self.calibrate(len(skim.vectors)))
        if bottom == 0:
            return 1.0 if top == 0 else np.nan  # 1 if both are 0, and so identical
        return top / bottom

    def coverage(self, skim: BlockContent) -> float:
        """Coverage of class maxima."""
        return coverage(_skim_maxima(skim), self.maxima)


# --- Course of a day -----------------------------------------------------------------------------
# Every pick represents a run of periods that includes its own period; runs follow each other
# without a gap. The cost is the sum of the distances between the period means and the picks that
# represent them. Between two picks, the best point of transition is used. The picks with the lowest
# cost are found by Bellman's recursion over runs.


def prefix_sums(vectors: Doubles | Singles, means: Doubles) -> Doubles:
    """Return cumulative distances to the period means, one row per vector."""
    exact = np.asarray(vectors, np.float64)
    squares = (exact**2).sum(axis=1)[:, None] + (means**2).sum(axis=1)[None]
    apart = np.sqrt(np.maximum(squares - 2 * exact @ means.T, 0.0))
    result = np.zeros((len(exact), len(means) + 1))
    np.cumsum(apart, axis=1, out=result[:, 1:])
    return result


class PickCourse(NamedTuple):
    """Cost of picks, and the first period that each represents, followed by the period count."""

    cost: float
    first: Ints


def find_course(sums: Doubles, lies: Ints) -> PickCourse:
    """Return the cost of picks in chronological order, given distance sums and their periods.

    If several picks lie in one period, the nearest represents it, the first represents what comes
    before and the last what follows.
    """
    count = sums.shape[1] - 1
    cost = float(sums[0, lies[0]]) + float(sums[-1, count] - sums[-1, lies[-1] + 1])
    first = np.zeros(len(lies) + 1, np.int64)
    first[-1] = count
    for period in np.unique(lies):
        cost += float(np.min((sums[:, period + 1] - sums[:, period])[lies == period]))
    for row in range(len(lies) - 1):
        current, following = int(lies[row]), int(lies[row + 1])
        if current == following:
            first[row + 1] = current
            continue
        more = sums[row, current + 1 : following + 1] - sums[row + 1, current + 1 : following + 1]
        place = int(np.argmin(more))
        cost += float(more[place] + sums[row + 1, following] - sums[row, current + 1])
        first[row + 1] = current + 1 + place
    return PickCourse(cost, first)


def run_costs(day: Day, day_periods: Periods) -> Singles:
    """Return the cost of the best block for each run of periods (row: first, column: last).

    Infinite where no block may be picked. Single precision halves the time for long recordings;
    costs are correct to about 1e-7.
    """
    count = len(day_periods.means)
    costs = np.full((count, count), np.inf, np.float32)
    room = np.empty(count * count, np.float32)
    for period in range(count):
        rows = allowed_rows(day, day_periods, period)
        sums = prefix_sums(day.vectors[rows], day_periods.means)
        before = (sums[:, period, None] - sums[:, : period + 1]).astype(np.float32)
        behind = (sums[:, period + 1 :] - sums[:, period, None]).astype(np.float32)
        best = costs[: period + 1, period:]
        total = room[: best.size].reshape(best.shape)
        for row in _find_undominated(before, behind):
            np.add(before[row, :, None], behind[row, None], out=total)
            np.minimum(best, total, out=best)
    return costs


def _find_undominated(before: Singles, behind: Singles) -> list[int]:
    """Return the blocks of a period that are not dominated by another block.

    The cost of a block in a run is the sum of one number for the start of the run and one for its
    end; a block with no lower number than another for either can be left out.
    """
    if not len(before):
        return []
    begins = [before[:, place] for place in (0, before.shape[1] // 2, -1)]
    ends = [behind[:, place] for place in (0, behind.shape[1] // 2, -1)]
    totals = [begin + end for begin in begins for end in ends]
    best = list(dict.fromkeys(int(np.argmin(total)) for total in totals))
    left = np.ones(len(before), np.bool_)
    for row in best:
        worse = (before >= before[row]).all(axis=1) & (behind >= behind[row]).all(axis=1)
        worse[row] = False
        left &= ~worse | np.isin(np.arange(len(left)), best)
    return np.flatnonzero(left).tolist()


def find_cheapest_picks(day: Day, day_periods: Periods, picks: int) -> Ints:
    """Return the rows of the picks, at most one per period, with the lowest cost."""
    costs = run_costs(day, day_periods)
    count = len(costs)
    best = np.concatenate([[0.0], np.full(count, np.inf)])  # lowest cost of all periods before each
    cuts = np.zeros((picks, count + 1), np.int64)
    for pick in range(picks):
        total = best[:-1, None] + costs  # runs from the row's period to the column's
        cuts[pick, 1:] = np.argmin(total, axis=0)
        best = np.concatenate([[np.inf], total.min(axis=0)])
    chosen, end = [], count
    for pick in reversed(range(picks)):
        start = int(cuts[pick, end])
        chosen.append(_find_representative(day, day_periods, start, end))
        end = start
    return np.array(chosen[::-1], np.int64)


def _find_representative(day: Day, day_periods: Periods, start: int, end: int) -> int:
    """Return the block that represents a run of periods at the lowest cost.

    Blocks are processed one period at a time, since a run may cover most of a week.
    """
    best, chosen = np.inf, -1
    for period in range(start, end):
        rows = allowed_rows(day, day_periods, period)
        costs = prefix_sums(day.vectors[rows], day_periods.means[start:end])[:, -1]
        if len(rows) and costs.min() < best:
            best, chosen = float(costs.min()), int(rows[np.argmin(costs)])
    return chosen
