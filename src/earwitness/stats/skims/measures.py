"""TC and SD of a skim as published, and coverage; each by itself and beside its calibration.

TC is the distance of the calibration to the day's course over that of the skim, SD the agreement
of the skim's classes with the day's over that of its calibration. A calibration is no optimum, so
both may be over 1. It has as many picks as the skim.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.skims.day import (
    PERIOD,
    Day,
    Floats,
    Heard,
    Ints,
    Periods,
    heard_rows,
    periods,
)
from earwitness.stats.skims.warping import dtw

THRESHOLDS = np.arange(1, 100) / 100


def runs(rows: Ints, count: int) -> list[Ints]:
    """Equal parts of a day: blocks in so many runs of as equal length as can be, none empty."""
    return [run for run in np.array_split(rows, count) if len(run)]


def calibration_tc(day: Day, picks: int) -> Ints:
    """For each of so many equal parts of the day the block that is nearest to the part's mean."""
    chosen = []
    for run in runs(np.arange(len(day)), picks):
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


def maxima(day: Day) -> Floats:
    """The highest of every class in the day."""
    return np.asarray(day.classes.max(axis=0), np.float64)


def msiou(skim: Floats, day: Floats) -> float:
    """Agreement of the classes above a threshold, shared over all, mean over thresholds.

    Thresholds above which neither has a class say nothing and do not count; NaN if all are such.
    """
    mine, theirs = skim[None] > THRESHOLDS[:, None], day[None] > THRESHOLDS[:, None]
    both, either = (mine & theirs).sum(axis=1), (mine | theirs).sum(axis=1)
    told = either > 0
    return float(np.mean(both[told] / either[told])) if told.any() else float("nan")


def coverage(skim: Floats, day: Floats) -> float:
    """What the skim reaches of the maxima of all classes; NaN if the day has none."""
    whole = float(day.sum())
    return float(skim.sum()) / whole if whole > 0 else float("nan")


def over(top: float, bottom: float) -> float:
    """A quotient; 1 if both are 0, which is the same course, and NaN if only the bottom is."""
    if bottom == 0:
        return 1.0 if top == 0 else float("nan")
    return top / bottom


def _highest(skim: Heard) -> Floats:
    """Of every class in a skim."""
    return np.asarray(skim.classes.max(axis=0, initial=0.0), np.float64)


class Measured:
    """Everything about skims of one day, with what belongs to the day alone computed once."""

    def __init__(self, day: Day, period: float = PERIOD) -> None:
        self.day = day
        self.periods: Periods = periods(day, period)
        self.maxima = maxima(day) if len(day) else np.zeros(day.classes.shape[1])
        self._calibrations: dict[int, tuple[float, float]] = {}

    def distance(self, skim: Heard) -> float:
        """From the course of the day."""
        return dtw(self.periods.means, skim.vectors)

    def agreement(self, skim: Heard) -> float:
        """Of classes with those of the day."""
        return msiou(_highest(skim), self.maxima)

    def calibrations(self, picks: int) -> tuple[float, float]:
        """The distance and the agreement of the calibrations of so many picks."""
        if picks not in self._calibrations:
            course = heard_rows(self.day, calibration_tc(self.day, picks))
            classes = heard_rows(self.day, calibration_sd(self.day, picks))
            self._calibrations[picks] = self.distance(course), self.agreement(classes)
        return self._calibrations[picks]

    def tc(self, skim: Heard) -> float:
        """Temporal consistency: DTW(calibration) / DTW(skim); 0 of nothing, which is far away."""
        if not len(skim.vectors):
            return 0.0 if len(self.day) else float("nan")
        return over(self.calibrations(len(skim.vectors))[0], self.distance(skim))

    def sd(self, skim: Heard) -> float:
        """Source diversity: msIoU(skim) / msIoU(calibration); 0 of nothing."""
        if not len(skim.classes):
            return 0.0 if len(self.day) else float("nan")
        return over(self.agreement(skim), self.calibrations(len(skim.classes))[1])

    def coverage(self, skim: Heard) -> float:
        """Of class maxima."""
        return coverage(_highest(skim), self.maxima)


def tc(day: Day, skim: Heard, period: float = PERIOD) -> float:
    """Temporal consistency of one skim."""
    return Measured(day, period).tc(skim)


def sd(day: Day, skim: Heard) -> float:
    """Source diversity of one skim."""
    return Measured(day).sd(skim)
