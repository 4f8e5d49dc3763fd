"""Temporal consistency, source diversity and coverage of picks, and the best course."""

from __future__ import annotations

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
    dtw,
    hear_rows,
    split_periods,
)

# --- TC, SD and coverage -------------------------------------------------------------------------
# TC is the distance of the calibration to the day's course over that of the skim, SD the agreement
# of the skim's classes with the day's over that of its calibration. A calibration is no optimum, so
# both may be over 1. It has as many picks as the skim.


CLASS_THRESHOLDS = np.arange(1, 100) / 100


def split_runs(rows: Ints, count: int) -> list[Ints]:
    """Equal parts of a day: blocks in so many runs of as equal length as can be, none empty."""
    return [run for run in np.array_split(rows, count) if len(run)]


def calibration_tc(day: Day, picks: int) -> Ints:
    """For each of so many equal parts of the day the block that is nearest to the part's mean."""
    chosen = []
    for run in split_runs(np.arange(len(day)), picks):
        vectors = day.vectors[run].astype(np.float64)
        away = ((vectors - vectors.mean(axis=0)) ** 2).sum(axis=1)
        chosen.append(int(run[np.argmin(away)]))
    return np.array(chosen, np.int64)


def calibration_sd(day: Day, picks: int) -> Ints:
    """The blocks that hold the highest class maxima, in the order of time."""
    if not len(day):
        return np.zeros(0, np.int64)
    order = np.argsort(-day.classes.max(axis=0), kind="stable")
    holders = day.classes.argmax(axis=0)[order]
    kept = list(dict.fromkeys(holders.tolist()))[:picks]
    return np.array(sorted(kept), np.int64)


def class_maxima(day: Day) -> Doubles:
    """The highest of every class in the day."""
    return np.asarray(day.classes.max(axis=0), np.float64)


def msiou(skim: Doubles, day: Doubles) -> float:
    """Agreement of the classes above a threshold, shared over all, mean over thresholds.

    Thresholds above which neither has a class say nothing and do not count; NaN if all are such.
    """
    mine, theirs = skim[None] > CLASS_THRESHOLDS[:, None], day[None] > CLASS_THRESHOLDS[:, None]
    both, either = (mine & theirs).sum(axis=1), (mine | theirs).sum(axis=1)
    defined = either > 0
    return float(np.mean(both[defined] / either[defined])) if defined.any() else float("nan")


def coverage(skim: Doubles, day: Doubles) -> float:
    """What the skim reaches of the maxima of all classes; NaN if the day has none."""
    whole = float(day.sum())
    return float(skim.sum()) / whole if whole > 0 else float("nan")


def divide_or_nan(top: float, bottom: float) -> float:
    """A quotient; 1 if both are 0, which is the same course, and NaN if only the bottom is."""
    if bottom == 0:
        return 1.0 if top == 0 else float("nan")
    return top / bottom


def _skim_maxima(skim: BlockContent) -> Doubles:
    """Of every class in a skim."""
    return np.asarray(skim.classes.max(axis=0, initial=0.0), np.float64)


class DayMeasures:
    """Everything about skims of one day, with what belongs to the day alone computed once."""

    def __init__(self, day: Day, period: float = PERIOD_SECONDS) -> None:
        self.day = day
        self.periods: Periods = split_periods(day, period)
        self.maxima = class_maxima(day) if len(day) else np.zeros(day.classes.shape[1])
        self._calibrations: dict[int, tuple[float, float]] = {}

    def distance(self, skim: BlockContent) -> float:
        """From the course of the day."""
        return dtw(self.periods.means, skim.vectors)

    def agreement(self, skim: BlockContent) -> float:
        """Of classes with those of the day."""
        return msiou(_skim_maxima(skim), self.maxima)

    def calibrations(self, picks: int) -> tuple[float, float]:
        """The distance and the agreement of the calibrations of so many picks."""
        if picks not in self._calibrations:
            course = hear_rows(self.day, calibration_tc(self.day, picks))
            classes = hear_rows(self.day, calibration_sd(self.day, picks))
            self._calibrations[picks] = self.distance(course), self.agreement(classes)
        return self._calibrations[picks]

    def tc(self, skim: BlockContent) -> float:
        """Temporal consistency: DTW(calibration) / DTW(skim); 0 of nothing, which is far away."""
        if not len(skim.vectors):
            return 0.0 if len(self.day) else float("nan")
        return divide_or_nan(self.calibrations(len(skim.vectors))[0], self.distance(skim))

    def sd(self, skim: BlockContent) -> float:
        """Source diversity: msIoU(skim) / msIoU(calibration); 0 of nothing."""
        if not len(skim.classes):
            return 0.0 if len(self.day) else float("nan")
        return divide_or_nan(self.agreement(skim), self.calibrations(len(skim.classes))[1])

    def coverage(self, skim: BlockContent) -> float:
        """Of class maxima."""
        return coverage(_skim_maxima(skim), self.maxima)


def tc(day: Day, skim: BlockContent, period: float = PERIOD_SECONDS) -> float:
    """Temporal consistency of one skim."""
    return DayMeasures(day, period).tc(skim)


def sd(day: Day, skim: BlockContent) -> float:
    """Source diversity of one skim."""
    return DayMeasures(day).sd(skim)


# --- Course of a day -----------------------------------------------------------------------------
# Every pick stands for a run of periods that holds the period in which it lies, so that runs follow
# each other without a gap; the cost is the sum of the distances of the periods' means to the picks
# that stand for them. Between two picks the best place to go over from one to the other is taken.
# The cheapest picks of all are found by Bellman's recursion over runs.


def prefix_sums(vectors: Doubles | Singles, means: Doubles) -> Doubles:
    """Sums of distances to the means before each period and to all, a row for every vector."""
    exact = np.asarray(vectors, np.float64)
    squares = (exact**2).sum(axis=1)[:, None] + (means**2).sum(axis=1)[None]
    apart = np.sqrt(np.maximum(squares - 2 * exact @ means.T, 0.0))
    result = np.zeros((len(exact), len(means) + 1))
    np.cumsum(apart, axis=1, out=result[:, 1:])
    return result


class PickCourse(NamedTuple):
    """What picks cost, and the first period that each stands for, with the number of all behind."""

    cost: float
    first: Ints


def find_course(sums: Doubles, lies: Ints) -> PickCourse:
    """Picks in the order of time, with their sums of distances and the periods in which they lie.

    Of picks in one period the nearest stands for it, the first for what comes before it and the
    last for what follows.
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
    """What the best block within each run of periods costs: from a row's to a column's, both in.

    Infinite where no block may be picked. In single precision, which halves the time of long
    recordings: what is cheapest is so up to a ten millionth.
    """
    count = len(day_periods.means)
    costs = np.full((count, count), np.inf, np.float32)
    room = np.empty(count * count, np.float32)
    for period in range(count):
        sums = prefix_sums(
            day.vectors[_allowed_rows(day, day_periods, period, period)], day_periods.means
        )
        before = (sums[:, period, None] - sums[:, : period + 1]).astype(np.float32)
        behind = (sums[:, period + 1 :] - sums[:, period, None]).astype(np.float32)
        best = costs[: period + 1, period:]
        total = room[: best.size].reshape(best.shape)
        for row in _find_undominated(before, behind):
            np.add(before[row, :, None], behind[row, None], out=total)
            np.minimum(best, total, out=best)
    return costs


def _find_undominated(before: Singles, behind: Singles) -> list[int]:
    """Blocks of a period without those that are never better than one of its best.

    A block's cost in a run is the sum of one number for where the run begins and one for where it
    ends; who has no lower one of either than another can be left out.
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


def _allowed_rows(day: Day, day_periods: Periods, first: int, last: int) -> Ints:
    rows = np.arange(day_periods.first[first], day_periods.first[last + 1])
    return rows[day.allowed[rows]]


def find_cheapest_picks(day: Day, day_periods: Periods, picks: int) -> Ints:
    """The rows of so many picks, no two in one period, that stand for the course at least cost."""
    costs = run_costs(day, day_periods)
    count = len(costs)
    best = np.concatenate([[0.0], np.full(count, np.inf)])  # of the periods before each
    cuts = np.zeros((picks, count + 1), np.int64)
    for pick in range(picks):
        total = best[:-1, None] + costs  # run from a row's period to a column's
        cuts[pick, 1:] = np.argmin(total, axis=0)
        best = np.concatenate([[np.inf], total.min(axis=0)])
    chosen, end = [], count
    for pick in reversed(range(picks)):
        start = int(cuts[pick, end])
        chosen.append(_find_representative(day, day_periods, start, end))
        end = start
    return np.array(chosen[::-1], np.int64)


def _find_representative(day: Day, day_periods: Periods, start: int, end: int) -> int:
    """The block within a run that stands for it at least cost.

    One period's blocks at a time: a run may hold most of a week.
    """
    best, chosen = np.inf, -1
    for period in range(start, end):
        rows = _allowed_rows(day, day_periods, period, period)
        costs = prefix_sums(day.vectors[rows], day_periods.means[start:end])[:, -1]
        if len(rows) and costs.min() < best:
            best, chosen = float(costs.min()), int(rows[np.argmin(costs)])
    return chosen
