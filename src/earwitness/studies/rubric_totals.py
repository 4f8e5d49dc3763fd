"""Rubric totals per rater, means over raters, blanks and values outside the scale."""

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
# With blanks, the mean of totals differs from the total of means: a rater with a blank is excluded
# from the total of that caption, but kept in the dimensions that are filled in. Therefore totals
# are computed per rater first.


Blank = Literal["drop", "zero", "refuse"]
BLANK_POLICIES: tuple[Blank, ...] = get_args(Blank)
MAX_BLANKS_IN_MESSAGE = 20


@dataclass(frozen=True)
class CaptionJudgment:
    """Values of one rater for one caption; a blank is None, never 0."""

    key: Key
    listener: int | str
    values: Mapping[str, float | None]


@dataclass(frozen=True)
class Cell:
    """Mean, number of raters, and number of blanks; the mean is NaN without raters."""

    mean: float
    n: int
    blank: int


def total(rubric: Rubric, values: Mapping[str, float | None], blank: Blank = "drop") -> float:
    """Return the total of one rater, or NaN if a required dimension is blank.

    With ``zero``, a blank counts as 0 on dimensions that include 0, such as penalties; a blank
    score still makes the total NaN.
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
    """Return ratings on every dimension and on the total, without blanks."""
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
    """Return means over raters per caption, on every dimension and on the total."""
    check_blanks(rubric, judged, blank)
    votes: dict[tuple[Key, str], list[float]] = {}
    for judgment in judged:
        for scale, value in _scale_values(rubric, judgment, blank):
            votes.setdefault((judgment.key, scale), []).append(value)
    return {place: _mean_cell(values) for place, values in votes.items()}


def check_blanks(rubric: Rubric, judged: Iterable[CaptionJudgment], blank: Blank) -> None:
    """Raise UsageError for an unknown policy, and for blanks if they are refused."""
    if blank not in BLANK_POLICIES:
        raise UsageError(f'blank: unknown policy "{blank}" — {nearest(blank, BLANK_POLICIES)}')
    if blank != "refuse":
        return
    blanks = [
        blank_text for judgment in judged for blank_text in _describe_blanks(rubric, judgment)
    ]
    if blanks:
        more = f"; and {len(blanks) - MAX_BLANKS_IN_MESSAGE:,} more" * (
            len(blanks) > MAX_BLANKS_IN_MESSAGE
        )
        remedy = "fill them in, or set the policy for blanks to drop or zero"
        listed = "; ".join(blanks[:MAX_BLANKS_IN_MESSAGE])
        raise UsageError(f"blank values: {listed}{more} — {remedy}")


def _describe_blanks(rubric: Rubric, judgment: CaptionJudgment) -> Iterator[str]:
    for name in rubric.names:
        if judgment.values.get(name) is None:
            yield f"{name} of {judgment.key.item}, {judgment.key.system} by {judgment.listener}"


def _scale_values(
    rubric: Rubric, judgment: CaptionJudgment, blank: Blank
) -> Iterator[tuple[str, float]]:
    """Yield each scale with its value; blank dimensions are NaN under every policy."""
    for name in rubric.names:
        value = judgment.values.get(name)
        yield name, float("nan") if value is None else value
    yield TOTAL, total(rubric, judgment.values, blank)


def _mean_cell(values: Sequence[float]) -> Cell:
    filled = [value for value in values if value == value]
    mean = fsum(filled) / len(filled) if filled else float("nan")
    return Cell(mean, len(filled), len(values) - len(filled))


# --- Totals and faults of rating tables ----------------------------------------------------------
# Totals are always computed from the dimensions; deviating totals in a table are reported. Blanks,
# and values treated as blanks, are listed with their effect on the total.


BLANK_NOTE = "treated as blank"
NO_TOTAL_NOTE = f"{BLANK_NOTE}; this rater is excluded from the {TOTAL} of this caption"
TOTAL_TOLERANCE = 1e-6  # tolerated difference of totals from the formula
Place = tuple[Key, Who, str]  # caption, rater, dimension


@dataclass(frozen=True)
class RatingsWithTotals:
    """Ratings with totals, and faults."""

    ratings: list[Rating]
    faults: tuple[RatingFault, ...]


@dataclass(frozen=True)
class _Row:
    """Votes of one rater on one caption, by scale; a blank is NaN or missing."""

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
    """Return ratings on every dimension with computed totals; NaN is a blank.

    ``off`` are values treated as blanks; they are not reported again.
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
    """Yield the votes of one rater on one caption; a repeated scale starts a new row."""
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
    """Return a total; NaN if a value was dropped, whatever the policy for blanks."""
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
        yield RatingFault("blank", "all dimensions are blank", "not rated", *place, where=where)
        return
    for dimension in rubric.dimensions:
        if (name := dimension.name) in blank_names:
            done = _blank_note(dimension, blank)
            yield RatingFault("blank", f"{name} is blank", done, *place, name, where)


def _blank_note(dimension: Dimension, blank: Blank) -> str:
    if blank == "zero" and dimension.low <= 0 <= dimension.high:
        return f"counts as 0 in the {TOTAL}"
    return f"this rater is excluded from the {TOTAL} of this caption only"


def off_scale(
    rubric: Rubric | None, where: str, key: Key, listener: Who, scale: str, value: float
) -> RatingFault:
    """Return the fault of a value outside its scale, which is treated as blank."""
    dimension_of = {candidate.name: candidate for candidate in rubric.dimensions} if rubric else {}
    dimension = dimension_of.get(scale)
    above = dimension is not None and dimension.role == "penalty" and value > 0
    message = f"{scale} is {value:g}" + (
        f", must be {dimension.range}" if dimension else ", which is outside the scale"
    )
    kind: FaultKind = "positive penalty" if above else "off scale"
    done = BLANK_NOTE if dimension is None else NO_TOTAL_NOTE
    return RatingFault(kind, message, done, key.item, key.system, listener, scale, where)


def _other_total_faults(
    rows: Sequence[_Row], sums: Sequence[float], where: str
) -> Iterator[RatingFault]:
    """Yield one fault if totals in the table deviate from the formula."""
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
            f"{total_value:g}"
            if total_value == total_value
            else "no total, because a dimension is blank"
        )
        message = (
            f"{len(wrong):,} of {len(pairs):,} totals in the table deviate from the formula; the "
            f"first is {vote.value:g}, the formula gives {gives}"
        )
        done = "all totals are computed from the dimensions"
        key = vote.key
        yield RatingFault(
            "other total", message, done, key.item, key.system, vote.listener, TOTAL, where
        )
