"""What was picked, what it is worth, and why each pick is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earwitness.stats.skims.course import Course, course, prefixes
from earwitness.stats.skims.day import Day, Floats, Ints, Periods
from earwitness.stats.skims.measures import coverage, maxima

Why = dict[str, str | float]


@dataclass(frozen=True)
class Picked:
    """Rows of the day in the order of time, both terms (more is better), and reasons.

    ``tc_term`` is the mean distance of a period to the pick that stands for it, below 0;
    ``sd_term`` is the coverage of what is unusual in the day.
    """

    rows: tuple[int, ...]
    tc_term: float
    sd_term: float
    why: list[Why] = field(default_factory=list)
    notes: tuple[str, ...] = ()


def course_of(day: Day, known: Periods, rows: Ints) -> Course:
    """What picks stand for."""
    return course(prefixes(day.vectors[rows], known.means), known.of[rows])


def brings(classes: Floats, whole: float) -> Floats:
    """The share of all coverage that each pick alone brings: what is lost without it."""
    if len(classes) == 1:
        return np.array([classes[0].sum() / whole if whole > 0 else 0.0])
    order = np.sort(classes, axis=0)
    lead = np.where(classes == order[-1], order[-1] - order[-2], 0.0)
    result: Floats = lead.sum(axis=1) / (whole if whole > 0 else 1.0)
    return result


def picked(day: Day, known: Periods, seconds: float, rows: Any, more: list[Why]) -> Picked:
    """Picks with their reasons; ``more`` are those of the method."""
    index = np.asarray(rows, np.int64)
    if not len(index):
        return Picked((), float("nan"), float("nan"))
    found, whole = course_of(day, known, index), maxima(day)
    ends = np.append(known.starts, known.starts[-1] + seconds)
    classes = day.classes[index].astype(np.float64)
    alone = brings(classes, float(whole.sum()))
    why: list[Why] = []
    for row in range(len(index)):
        first, last = int(found.first[row]), int(found.first[row + 1])
        span = _span(ends, first, last, day.length, float(day.starts[index[row]]))
        why.append({"from": span[0], "to": span[1], "brings": float(alone[row]), **more[row]})
    distance = -found.cost / len(known.means)
    reached = coverage(classes.max(axis=0), whole)
    return Picked(tuple(index.tolist()), distance, reached, why)


def _span(ends: Floats, first: int, last: int, length: float, start: float) -> tuple[float, float]:
    """From when to when a pick stands for the day; a pick that stands for no period, for itself."""
    if first >= last:
        return start, start
    return float(ends[first]), min(float(ends[last]), length)
