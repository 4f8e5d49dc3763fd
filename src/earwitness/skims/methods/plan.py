"""Plan of a skim, selected blocks with reasons, and random baselines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earwitness.errors import UsageError
from earwitness.skims.day import PERIOD_SECONDS, Day, Doubles, Ints, Periods, split_periods
from earwitness.skims.measures import (
    class_maxima,
    coverage,
    find_course,
    prefix_sums,
    split_runs,
)

# --- Plan of a skim ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkimPlan:
    """Number and length of picks as published, and length of periods.

    Parameters
    ----------
    picks
        Number of picks.
    block, overlap
        Length of a pick, and of the cross-fade between picks, in seconds.
    period
        Length of the periods that a skim should follow, in seconds. The published method has
        periods of at most 15 minutes.
    seed
        Random seed.
    """

    picks: int = 12
    block: float = 8.0
    overlap: float = 3.0
    period: float = PERIOD_SECONDS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.picks < 1:
            raise UsageError(f"picks must be at least 1, got {self.picks}")
        if not 0 < self.block < np.inf:
            raise UsageError(f"block must be a number of seconds above 0, got {self.block}")
        if not 0 <= self.overlap <= self.block / 2:
            message = f"overlap must be from 0 to half a block ({self.block / 2:g} s)"
            raise UsageError(f"{message}, got {self.overlap}")
        if not self.block <= self.period < np.inf:
            message = f"period must be at least one block ({self.block:g} s)"
            raise UsageError(f"{message}, got {self.period}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or greater, got {self.seed}")


def fit_periods(day: Day, plan: SkimPlan) -> tuple[Periods, float]:
    """Return periods, halved until enough of them contain a block that may be picked."""
    seconds = plan.period
    while True:
        day_periods = split_periods(day, seconds)
        if len(np.unique(day_periods.of[day.allowed])) >= min(plan.picks, int(day.allowed.sum())):
            return day_periods, seconds
        seconds /= 2


# --- Selected blocks with reasons ----------------------------------------------------------------


Reasons = dict[str, str | float]


@dataclass(frozen=True)
class BlockSelection:
    """Selected rows in chronological order, both terms (higher is better), and reasons.

    ``tc_term`` is the negative mean distance between a period and the pick that represents it;
    ``sd_term`` is the coverage of the day's class maxima.
    """

    rows: tuple[int, ...]
    tc_term: float
    sd_term: float
    why: list[Reasons] = field(default_factory=list)
    notes: tuple[str, ...] = ()


def unique_coverage(classes: Doubles, whole: float) -> Doubles:
    """Return the share of coverage that only this pick provides, for each pick."""
    if len(classes) == 1:
        return np.array([classes[0].sum() / whole if whole > 0 else 0.0])
    order = np.sort(classes, axis=0)
    lead = np.where(classes == order[-1], order[-1] - order[-2], 0.0)
    result: Doubles = lead.sum(axis=1) / (whole if whole > 0 else 1.0)
    return result


def describe_selection(
    day: Day, day_periods: Periods, seconds: float, rows: Any, more: list[Reasons]
) -> BlockSelection:
    """Return picks with their reasons; ``more`` are reasons given by the method."""
    index = np.asarray(rows, np.int64)
    if not len(index):
        return BlockSelection((), np.nan, np.nan)
    sums, whole = prefix_sums(day.vectors[index], day_periods.means), class_maxima(day)
    picks_course = find_course(sums, day_periods.of[index])
    ends = np.append(day_periods.starts, day_periods.starts[-1] + seconds)
    classes = day.classes[index].astype(np.float64)
    alone = unique_coverage(classes, float(whole.sum()))
    why: list[Reasons] = []
    for row in range(len(index)):
        first, last = picks_course.first[row : row + 2]
        start = end = float(day.starts[index[row]])  # if the pick represents no period
        if first < last:
            start, end = float(ends[first]), min(float(ends[last]), day.length)
        why.append({"from": start, "to": end, "brings": float(alone[row]), **more[row]})
    distance = -picks_course.cost / len(day_periods.means)
    reached = coverage(classes.max(axis=0), whole)
    return BlockSelection(tuple(index.tolist()), distance, reached, why)


# --- Random baselines ----------------------------------------------------------------------------


def draw_blocks(day: Day, plan: SkimPlan) -> Ints:
    """Return blocks drawn at random, in chronological order."""
    allowed = np.flatnonzero(day.allowed)
    rng = np.random.default_rng(plan.seed)
    return np.sort(rng.choice(allowed, plan.picks, replace=False))


def downsample_blocks(day: Day, plan: SkimPlan) -> Ints:
    """Return one random block from each of equally long parts of the recorded time."""
    rng = np.random.default_rng(plan.seed)
    parts = split_runs(np.flatnonzero(day.allowed), plan.picks)
    return np.array([rng.choice(part) for part in parts], np.int64)
