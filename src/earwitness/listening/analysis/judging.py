"""Ratings of a table by a rubric: totals, rater by rater, and what is wrong with the numbers.

Totals are made of the dimensions, whatever the table says of them; where it says something else,
that is told. What is blank, or was taken for blank, is listed, with what it means for the total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from earwitness.data import Key, Rating, RatingFault, Who
from earwitness.data.judged import FaultKind
from earwitness.listening.rubrics import TOTAL, Blank, Dimension, Judged, Rubric, total
from earwitness.listening.rubrics.totals import check_blanks

TAKEN = "taken for a blank"
LEFT = f"{TAKEN}; this rater is left out of the {TOTAL} of this caption"
NEAR = 1e-6  # by which totals may differ from the formula
Place = tuple[Key, Who, str]  # whose, by whom, on which dimension


@dataclass(frozen=True)
class Totalled:
    """Ratings with totals, and what is odd about them."""

    ratings: list[Rating]
    faults: tuple[RatingFault, ...]


@dataclass(frozen=True)
class _Row:
    """All that a rater said of a caption at one time, by scale; what is blank is NaN or missing."""

    votes: dict[str, Rating]

    @property
    def first(self) -> Rating:
        return next(iter(self.votes.values()))

    def judged(self, rubric: Rubric) -> Judged:
        found = {name: self.votes[name].value for name in rubric.names if name in self.votes}
        values = {name: value if value == value else None for name, value in found.items()}
        return Judged(self.first.key, self.first.listener, dict.fromkeys(rubric.names) | values)


def with_totals(
    rubric: Rubric,
    every: Sequence[Rating],
    blank: Blank = "drop",
    off: Sequence[RatingFault] = (),
    *,
    where: str = "",
) -> Totalled:
    """Ratings on every dimension, and totals made of them; NaN is a blank.

    ``off`` are numbers that were taken for blanks; they are not told again.
    """
    rows = list(_rows(every))
    judged = [row.judged(rubric) for row in rows]
    check_blanks(rubric, judged, blank)
    dropped = {(Key(one.item, one.system), one.listener, one.scale) for one in off}
    faults = [told for one in judged for told in _blanks(rubric, one, blank, dropped, where)]
    found = [one for one in every if one.value == one.value and one.scale != TOTAL]
    sums = [_sum(rubric, one, blank, dropped) for one in judged]
    made = [_total(row, value) for row, value in zip(rows, sums, strict=True) if value == value]
    others = list(_others(rows, sums, where))
    return Totalled([*found, *made], (*off, *others, *faults))


def _rows(every: Sequence[Rating]) -> Iterator[_Row]:
    """Votes of one rater on one caption; a scale that comes again begins another row."""
    rows: list[_Row] = []
    latest: dict[object, _Row] = {}
    for one in every:
        place = one.key, one.listener, one.session, one.trial
        if place not in latest or one.scale in latest[place].votes:
            latest[place] = _Row({})
            rows.append(latest[place])
        latest[place].votes[one.scale] = one
    yield from rows


def _sum(rubric: Rubric, one: Judged, blank: Blank, dropped: set[Place]) -> float:
    """A total; NaN where a number was dropped, which is no blank that anybody left."""
    if any((one.key, one.listener, name) in dropped for name in rubric.names):
        return float("nan")
    return total(rubric, one.values, blank)


def _total(row: _Row, value: float) -> Rating:
    return replace(row.first, scale=TOTAL, value=value, asked=0)


def _blanks(
    rubric: Rubric, one: Judged, blank: Blank, dropped: set[Place], where: str
) -> Iterator[RatingFault]:
    open_ones = [name for name in rubric.names if one.values[name] is None]
    told = [name for name in open_ones if (one.key, one.listener, name) not in dropped]
    place = one.key.item, one.key.system, one.listener
    if len(told) == len(rubric.names):
        yield RatingFault("blank", "nothing was filled in", "not rated", *place, where=where)
        return
    for dimension in rubric.dimensions:
        if (name := dimension.name) in told:
            done = _done(dimension, blank)
            yield RatingFault("blank", f"{name} is blank", done, *place, name, where)


def _done(dimension: Dimension, blank: Blank) -> str:
    if blank == "zero" and dimension.low <= 0 <= dimension.high:
        return f"counts as 0 in the {TOTAL}"
    return f"this rater is left out of the {TOTAL} of this caption, and of nothing else"


def off_scale(
    rubric: Rubric | None, where: str, key: Key, listener: Who, scale: str, value: float
) -> RatingFault:
    """A number that was taken for a blank, on a dimension or on any other scale."""
    known = {one.name: one for one in rubric.dimensions} if rubric else {}
    own = known.get(scale)
    above = own is not None and own.role == "penalty" and value > 0
    told = f"{scale} is {value:g}" + (f", not {own.range}" if own else ", which is not on it")
    kind: FaultKind = "positive penalty" if above else "off scale"
    done = TAKEN if own is None else LEFT
    return RatingFault(kind, told, done, key.item, key.system, listener, scale, where)


def _others(rows: Sequence[_Row], sums: Sequence[float], where: str) -> Iterator[RatingFault]:
    """That the table has other totals than the formula gives, in one sentence."""
    both = [(row.votes.get(TOTAL), made) for row, made in zip(rows, sums, strict=True)]
    pairs = [(one, made) for one, made in both if one is not None and one.value == one.value]
    wrong = [(one, made) for one, made in pairs if not abs(one.value - made) <= NEAR]
    if wrong:
        one, made = wrong[0]
        gives = f"{made:g}" if made == made else "none, as a dimension is blank"
        told = (
            f"{len(wrong):,} of {len(pairs):,} totals of the table are not those of the formula: "
            f"it has {one.value:g}, the formula gives {gives}"
        )
        done = "all totals are made of the dimensions"
        key = one.key
        yield RatingFault(
            "other total", told, done, key.item, key.system, one.listener, TOTAL, where
        )
