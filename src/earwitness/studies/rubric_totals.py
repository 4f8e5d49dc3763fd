"""Rubric totals per rater, means over raters, blanks and values off the scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal, get_args

from earwitness.core import Key, Rating
from earwitness.errors import UsageError, nearest
from earwitness.studies.results import FaultKind, RatingFault, Who
from earwitness.studies.rubric import ROUNDING_DECIMALS, TOTAL, Dimension, Rubric

# --- Totals per rater and means ------------------------------------------------------------------
# The mean of totals is not the total of means as soon as a cell is blank: a rater with a blank is
# left out of the total of that description and kept in every dimension that was filled in. So
# totals are made first, rater by rater.


Blank = Literal["drop", "zero", "refuse"]
BLANK_POLICIES: tuple[Blank, ...] = get_args(Blank)
MAX_BLANKS_IN_MESSAGE = 20


@dataclass(frozen=True)
class CaptionJudgment:
    """What a rater wrote beside one description; a blank is None, and never 0."""

    key: Key
    listener: int | str
    values: Mapping[str, float | None]


@dataclass(frozen=True)
class Cell:
    """A mean, over how many raters, and how many left it blank; NaN where nobody is left."""

    mean: float
    n: int
    blank: int


def total(rubric: Rubric, values: Mapping[str, float | None], blank: Blank = "drop") -> float:
    """The total of one rater, or NaN if a dimension that it needs is blank.

    With ``zero`` a blank counts as 0 where 0 is on the dimension, as on all penalties; a blank
    score has no such number and leaves the total out.
    """
    filled: dict[str, float] = {}
    for one in rubric.dimensions:
        value = values.get(one.name)
        if value is None and blank == "zero" and one.low <= 0 <= one.high:
            value = 0.0
        if value is not None:
            filled[one.name] = value
    if rubric.formula.names - filled.keys():
        return float("nan")
    return round(rubric.formula.value(filled), ROUNDING_DECIMALS) + 0.0  # no −0


def ratings(
    rubric: Rubric, judged: Sequence[CaptionJudgment], blank: Blank = "drop"
) -> list[Rating]:
    """Ratings on every dimension and on the total; what is blank is not there."""
    check_blanks(rubric, judged, blank)
    return [
        Rating(one.key, scale, one.listener, 1, value)
        for one in judged
        for scale, value in _numbers(rubric, one, blank)
        if value == value
    ]


def means(
    rubric: Rubric, judged: Sequence[CaptionJudgment], blank: Blank = "drop"
) -> dict[tuple[Key, str], Cell]:
    """Means over raters of every description, on every dimension and on the total."""
    check_blanks(rubric, judged, blank)
    votes: dict[tuple[Key, str], list[float]] = {}
    for one in judged:
        for scale, value in _numbers(rubric, one, blank):
            votes.setdefault((one.key, scale), []).append(value)
    return {place: _cell(values) for place, values in votes.items()}


def check_blanks(rubric: Rubric, judged: Iterable[CaptionJudgment], blank: Blank) -> None:
    """Refuse a policy that is none, and blanks where they are to be refused."""
    if blank not in BLANK_POLICIES:
        raise UsageError(f'blank: no "{blank}" — {nearest(blank, BLANK_POLICIES)}')
    if blank != "refuse":
        return
    found = [told for one in judged for told in _describe_blanks(rubric, one)]
    if found:
        more = f"; and {len(found) - MAX_BLANKS_IN_MESSAGE:,} more" * (
            len(found) > MAX_BLANKS_IN_MESSAGE
        )
        remedy = "fill them in, or say what a blank is: drop or zero"
        raise UsageError(f"blank: {'; '.join(found[:MAX_BLANKS_IN_MESSAGE])}{more} — {remedy}")


def _describe_blanks(rubric: Rubric, one: CaptionJudgment) -> Iterator[str]:
    for name in rubric.names:
        if one.values.get(name) is None:
            yield f"{name} of {one.key.item}, {one.key.system} by {one.listener}"


def _numbers(rubric: Rubric, one: CaptionJudgment, blank: Blank) -> Iterator[tuple[str, float]]:
    """Every scale with its number, or NaN; dimensions stay blank whatever totals make of it."""
    for name in rubric.names:
        value = one.values.get(name)
        yield name, float("nan") if value is None else value
    yield TOTAL, total(rubric, one.values, blank)


def _cell(values: Sequence[float]) -> Cell:
    given = [value for value in values if value == value]
    mean = fsum(given) / len(given) if given else float("nan")
    return Cell(mean, len(given), len(values) - len(given))


# --- Totals and faults of rating tables ----------------------------------------------------------
# Totals are made of the dimensions, whatever the table says of them; where it says something else,
# that is told. What is blank, or was taken for blank, is listed, with what it means for the total.


BLANK_NOTE = "taken for a blank"
NO_TOTAL_NOTE = f"{BLANK_NOTE}; this rater is left out of the {TOTAL} of this caption"
TOTAL_TOLERANCE = 1e-6  # by which totals may differ from the formula
Place = tuple[Key, Who, str]  # whose, by whom, on which dimension


@dataclass(frozen=True)
class RatingsWithTotals:
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

    def judged(self, rubric: Rubric) -> CaptionJudgment:
        found = {name: self.votes[name].value for name in rubric.names if name in self.votes}
        values = {name: value if value == value else None for name, value in found.items()}
        return CaptionJudgment(
            self.first.key, self.first.listener, dict.fromkeys(rubric.names) | values
        )


def with_totals(
    rubric: Rubric,
    every: Sequence[Rating],
    blank: Blank = "drop",
    off: Sequence[RatingFault] = (),
    *,
    where: str = "",
) -> RatingsWithTotals:
    """Ratings on every dimension, and totals made of them; NaN is a blank.

    ``off`` are numbers that were taken for blanks; they are not told again.
    """
    rows = list(_rows(every))
    judged = [row.judged(rubric) for row in rows]
    check_blanks(rubric, judged, blank)
    dropped = {(Key(one.item, one.system), one.listener, one.scale) for one in off}
    faults = [
        told for one in judged for told in _list_blank_faults(rubric, one, blank, dropped, where)
    ]
    found = [one for one in every if one.value == one.value and one.scale != TOTAL]
    sums = [_sum(rubric, one, blank, dropped) for one in judged]
    made = [_total(row, value) for row, value in zip(rows, sums, strict=True) if value == value]
    others = list(_others(rows, sums, where))
    return RatingsWithTotals([*found, *made], (*off, *others, *faults))


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


def _sum(rubric: Rubric, one: CaptionJudgment, blank: Blank, dropped: set[Place]) -> float:
    """A total; NaN where a number was dropped, which is no blank that anybody left."""
    if any((one.key, one.listener, name) in dropped for name in rubric.names):
        return float("nan")
    return total(rubric, one.values, blank)


def _total(row: _Row, value: float) -> Rating:
    return replace(row.first, scale=TOTAL, value=value, asked=0)


def _list_blank_faults(
    rubric: Rubric, one: CaptionJudgment, blank: Blank, dropped: set[Place], where: str
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
    done = BLANK_NOTE if own is None else NO_TOTAL_NOTE
    return RatingFault(kind, told, done, key.item, key.system, listener, scale, where)


def _others(rows: Sequence[_Row], sums: Sequence[float], where: str) -> Iterator[RatingFault]:
    """That the table has other totals than the formula gives, in one sentence."""
    both = [(row.votes.get(TOTAL), made) for row, made in zip(rows, sums, strict=True)]
    pairs = [(one, made) for one, made in both if one is not None and one.value == one.value]
    wrong = [(one, made) for one, made in pairs if not abs(one.value - made) <= TOTAL_TOLERANCE]
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
