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
    for dimension in rubric.dimensions:
        value = values.get(dimension.name)
        if value is None and blank == "zero" and dimension.low <= 0 <= dimension.high:
            value = 0.0
        if value is not None:
            filled[dimension.name] = value
    if rubric.formula.names - filled.keys():
        return float("nan")
    return round(rubric.formula.value(filled), ROUNDING_DECIMALS) + 0.0  # no −0


def ratings(
    rubric: Rubric, judged: Sequence[CaptionJudgment], blank: Blank = "drop"
) -> list[Rating]:
    """Ratings on every dimension and on the total; what is blank is not there."""
    check_blanks(rubric, judged, blank)
    return [
        Rating(judgment.key, scale, judgment.listener, 1, value)
        for judgment in judged
        for scale, value in _scale_values(rubric, judgment, blank)
        if value == value
    ]


def means(
    rubric: Rubric, judged: Sequence[CaptionJudgment], blank: Blank = "drop"
) -> dict[tuple[Key, str], Cell]:
    """Means over raters of every description, on every dimension and on the total."""
    check_blanks(rubric, judged, blank)
    votes: dict[tuple[Key, str], list[float]] = {}
    for judgment in judged:
        for scale, value in _scale_values(rubric, judgment, blank):
            votes.setdefault((judgment.key, scale), []).append(value)
    return {place: _mean_cell(values) for place, values in votes.items()}


def check_blanks(rubric: Rubric, judged: Iterable[CaptionJudgment], blank: Blank) -> None:
    """Refuse a policy that is none, and blanks where they are to be refused."""
    if blank not in BLANK_POLICIES:
        raise UsageError(f'blank: no "{blank}" — {nearest(blank, BLANK_POLICIES)}')
    if blank != "refuse":
        return
    blanks = [
        blank_text for judgment in judged for blank_text in _describe_blanks(rubric, judgment)
    ]
    if blanks:
        more = f"; and {len(blanks) - MAX_BLANKS_IN_MESSAGE:,} more" * (
            len(blanks) > MAX_BLANKS_IN_MESSAGE
        )
        remedy = "fill them in, or say what a blank is: drop or zero"
        raise UsageError(f"blank: {'; '.join(blanks[:MAX_BLANKS_IN_MESSAGE])}{more} — {remedy}")


def _describe_blanks(rubric: Rubric, judgment: CaptionJudgment) -> Iterator[str]:
    for name in rubric.names:
        if judgment.values.get(name) is None:
            yield f"{name} of {judgment.key.item}, {judgment.key.system} by {judgment.listener}"


def _scale_values(
    rubric: Rubric, judgment: CaptionJudgment, blank: Blank
) -> Iterator[tuple[str, float]]:
    """Every scale with its number, or NaN; dimensions stay blank whatever totals make of it."""
    for name in rubric.names:
        value = judgment.values.get(name)
        yield name, float("nan") if value is None else value
    yield TOTAL, total(rubric, judgment.values, blank)


def _mean_cell(values: Sequence[float]) -> Cell:
    filled = [value for value in values if value == value]
    mean = fsum(filled) / len(filled) if filled else float("nan")
    return Cell(mean, len(filled), len(values) - len(filled))


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
        numbers = {name: self.votes[name].value for name in rubric.names if name in self.votes}
        values = {name: value if value == value else None for name, value in numbers.items()}
        return CaptionJudgment(
            self.first.key, self.first.listener, dict.fromkeys(rubric.names) | values
        )


def with_totals(
    rubric: Rubric,
    all_ratings: Sequence[Rating],
    blank: Blank = "drop",
    off: Sequence[RatingFault] = (),
    *,
    where: str = "",
) -> RatingsWithTotals:
    """Ratings on every dimension, and totals made of them; NaN is a blank.

    ``off`` are numbers that were taken for blanks; they are not told again.
    """
    rows = list(_group_votes(all_ratings))
    judged = [row.judged(rubric) for row in rows]
    check_blanks(rubric, judged, blank)
    dropped = {(Key(rating.item, rating.system), rating.listener, rating.scale) for rating in off}
    faults = [
        fault
        for rating in judged
        for fault in _list_blank_faults(rubric, rating, blank, dropped, where)
    ]
    rated = [
        rating for rating in all_ratings if rating.value == rating.value and rating.scale != TOTAL
    ]
    sums = [_total_or_nan(rubric, rating, blank, dropped) for rating in judged]
    totals = [_total(row, value) for row, value in zip(rows, sums, strict=True) if value == value]
    others = list(_other_total_faults(rows, sums, where))
    return RatingsWithTotals([*rated, *totals], (*off, *others, *faults))


def _group_votes(all_ratings: Sequence[Rating]) -> Iterator[_Row]:
    """Votes of one rater on one caption; a scale that comes again begins another row."""
    rows: list[_Row] = []
    latest: dict[object, _Row] = {}
    for rating in all_ratings:
        place = rating.key, rating.listener, rating.session, rating.trial
        if place not in latest or rating.scale in latest[place].votes:
            latest[place] = _Row({})
            rows.append(latest[place])
        latest[place].votes[rating.scale] = rating
    yield from rows


def _total_or_nan(
    rubric: Rubric, judgment: CaptionJudgment, blank: Blank, dropped: set[Place]
) -> float:
    """A total; NaN where a number was dropped, which is no blank that anybody left."""
    if any((judgment.key, judgment.listener, name) in dropped for name in rubric.names):
        return float("nan")
    return total(rubric, judgment.values, blank)


def _total(row: _Row, value: float) -> Rating:
    return replace(row.first, scale=TOTAL, value=value, asked=0)


def _list_blank_faults(
    rubric: Rubric, judgment: CaptionJudgment, blank: Blank, dropped: set[Place], where: str
) -> Iterator[RatingFault]:
    open_ones = [name for name in rubric.names if judgment.values[name] is None]
    blank_names = [
        name for name in open_ones if (judgment.key, judgment.listener, name) not in dropped
    ]
    place = judgment.key.item, judgment.key.system, judgment.listener
    if len(blank_names) == len(rubric.names):
        yield RatingFault("blank", "nothing was filled in", "not rated", *place, where=where)
        return
    for dimension in rubric.dimensions:
        if (name := dimension.name) in blank_names:
            done = _blank_note(dimension, blank)
            yield RatingFault("blank", f"{name} is blank", done, *place, name, where)


def _blank_note(dimension: Dimension, blank: Blank) -> str:
    if blank == "zero" and dimension.low <= 0 <= dimension.high:
        return f"counts as 0 in the {TOTAL}"
    return f"this rater is left out of the {TOTAL} of this caption, and of nothing else"


def off_scale(
    rubric: Rubric | None, where: str, key: Key, listener: Who, scale: str, value: float
) -> RatingFault:
    """A number that was taken for a blank, on a dimension or on any other scale."""
    dimension_of = {candidate.name: candidate for candidate in rubric.dimensions} if rubric else {}
    dimension = dimension_of.get(scale)
    above = dimension is not None and dimension.role == "penalty" and value > 0
    message = f"{scale} is {value:g}" + (
        f", not {dimension.range}" if dimension else ", which is not on it"
    )
    kind: FaultKind = "positive penalty" if above else "off scale"
    done = BLANK_NOTE if dimension is None else NO_TOTAL_NOTE
    return RatingFault(kind, message, done, key.item, key.system, listener, scale, where)


def _other_total_faults(
    rows: Sequence[_Row], sums: Sequence[float], where: str
) -> Iterator[RatingFault]:
    """That the table has other totals than the formula gives, in one sentence."""
    both = [
        (row.votes.get(TOTAL), total_value) for row, total_value in zip(rows, sums, strict=True)
    ]
    pairs = [
        (vote, total_value)
        for vote, total_value in both
        if vote is not None and vote.value == vote.value
    ]
    wrong = [
        (vote, total_value)
        for vote, total_value in pairs
        if not abs(vote.value - total_value) <= TOTAL_TOLERANCE
    ]
    if wrong:
        vote, total_value = wrong[0]
        gives = (
            f"{total_value:g}" if total_value == total_value else "none, as a dimension is blank"
        )
        message = (
            f"{len(wrong):,} of {len(pairs):,} totals of the table are not those of the formula: "
            f"it has {vote.value:g}, the formula gives {gives}"
        )
        done = "all totals are made of the dimensions"
        key = vote.key
        yield RatingFault(
            "other total", message, done, key.item, key.system, vote.listener, TOTAL, where
        )
