"""Rubric totals per rater, means over raters, blanks and values outside the scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Literal, get_args

from earwitness.core import Key, Rating
from earwitness.errors import UsageError, nearest
from earwitness.ratings.records import FaultKind, RatingFault, Who
from earwitness.ratings.rubric import ROUNDING_DECIMALS, TOTAL, Rubric

# --- Totals per rater and means ------------------------------------------------------------------
# With blanks, the mean of totals differs from the total of means: a rater with a blank is excluded
# from the total of that caption, but kept in the dimensions that are filled in. Therefore totals
# are computed per rater first.


Blank = Literal["drop", "zero", "refuse"]
BLANK_POLICIES: tuple[Blank, ...] = get_args(Blank)
FAULT_POLICIES = ("refuse", "drop")  # for values outside a scale
MAX_BLANKS_IN_MESSAGE = 20


@dataclass(frozen=True)
class CaptionJudgment:
    """Values of one rater for one caption; a blank is None, never 0."""

    key: Key
    listener: int | str
    values: Mapping[str, float | None]


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
        return nan
    return round(rubric.formula.value(filled), ROUNDING_DECIMALS) + 0.0  # no −0


def ratings(
    rubric: Rubric, judged: Sequence[CaptionJudgment], blank: Blank = "drop"
) -> list[Rating]:
    """Return ratings on every dimension and on the total, without blanks."""
    check_blanks(rubric, judged, blank)
    made = list[Rating]()
    for judgment in judged:
        values = {name: judgment.values.get(name) for name in rubric.names}
        values[TOTAL] = total(rubric, judgment.values, blank)
        made += [
            Rating(judgment.key, scale, judgment.listener, 1, value)
            for scale, value in values.items()
            if value is not None and value == value
        ]
    return made


def check_blanks(rubric: Rubric, judged: Iterable[CaptionJudgment], blank: Blank) -> None:
    """Raise UsageError for an unknown policy, and for blanks if they are refused."""
    if blank not in BLANK_POLICIES:
        raise UsageError(f'blank: unknown policy "{blank}" — {nearest(blank, BLANK_POLICIES)}')
    if blank != "refuse":
        return
    blanks = [
        f"{name} of {judgment.key.item}, {judgment.key.system}"
        + (f" by {judgment.listener}" if judgment.listener != "" else "")
        for judgment, name in product(judged, rubric.names)
        if judgment.values.get(name) is None
    ]
    if blanks:
        more = (
            f"; and {len(blanks) - MAX_BLANKS_IN_MESSAGE:,} more"
            if len(blanks) > MAX_BLANKS_IN_MESSAGE
            else ""
        )
        remedy = "fill them in, or set the policy for blanks to drop or zero"
        listed = "; ".join(blanks[:MAX_BLANKS_IN_MESSAGE])
        raise UsageError(f"blank values: {listed}{more} — {remedy}")


# --- Totals and faults of rating tables ----------------------------------------------------------
# Totals of votes are always computed from the dimensions; deviating totals in a table are reported.
# In a table of means over raters, totals are those of the table, if it has them: where a rater left
# a blank, the mean of totals is not the total of means. Blanks, and values treated as blanks, are
# listed with their effect on the total. Means have an empty string as their listener.


BLANK_NOTE = "treated as blank"
UNUSED_NOTE = "not used"
PUBLISHED_TOTALS_NOTE = "the totals of the table are used; differences by the formula are reported"
NO_TOTAL_NOTE = f"{BLANK_NOTE}; this rater is excluded from the {TOTAL} of this caption"
TOTAL_TOLERANCE = 1e-6  # tolerated difference of totals from the formula
MEAN_TOTAL_TOLERANCE = 0.03  # the same for means, which may be rounded to two decimals
Place = tuple[Key, Who, str]  # caption, rater, dimension


@dataclass(frozen=True)
class RatingsWithTotals:
    """Ratings with totals, and faults.

    ``blank_rows`` are captions and raters with some blanks; ``blank_totals`` are totals of such
    rows that are not among the ratings, with blanks as 0. ``formula_totals`` are totals of means by
    the formula, if totals in the table deviate from them. ``published`` is whether totals are those
    of the table.
    """

    ratings: list[Rating]
    faults: tuple[RatingFault, ...]
    blank_rows: frozenset[tuple[Key, Who]] = frozenset()
    blank_totals: tuple[Rating, ...] = ()
    formula_totals: tuple[Rating, ...] = ()
    published: bool = False


@dataclass(frozen=True)
class _Row:
    """Votes of one rater on one caption, by scale; a blank is NaN or missing."""

    votes: dict[str, Rating]

    @property
    def has_total(self) -> bool:
        return TOTAL in self.votes and self.votes[TOTAL].value == self.votes[TOTAL].value

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
    published = any(row.first.listener == "" and row.has_total for row in rows)
    faults = [
        fault
        for rating in judged
        for fault in _list_blank_faults(rubric, rating, blank, dropped, where, published)
    ]
    if published:
        faults += [
            RatingFault(
                "blank",
                f"{TOTAL} is blank",
                UNUSED_NOTE,
                row.first.key.item,
                row.first.key.system,
                "",
                TOTAL,
                where,
            )
            for row in rows
            if not row.has_total
        ]
    blank_rows = frozenset(
        (Key(fault.item, fault.system), fault.listener) for fault in faults if fault.scale
    )
    rated = [
        rating for rating in all_ratings if rating.value == rating.value and rating.scale != TOTAL
    ]
    sums = [_total_or_nan(rubric, rating, blank, dropped) for rating in judged]
    by_formula = list(_totals(rows, sums))
    as_zero = [_total_or_nan(rubric, rating, "zero", dropped) for rating in judged]
    others = list(_other_total_faults(rows, as_zero, where))
    if published:
        known = [row.votes[TOTAL] for row in rows if row.has_total]
        beside = tuple(by_formula) if others else ()
        return RatingsWithTotals(
            [*rated, *known], (*off, *others, *faults), blank_rows, (), beside, published=True
        )
    blank_totals = [
        nan if value == value or (row.first.key, row.first.listener) not in blank_rows else zero
        for row, value, zero in zip(rows, sums, as_zero, strict=True)
    ]
    totals = tuple(_totals(rows, blank_totals))
    return RatingsWithTotals([*rated, *by_formula], (*off, *others, *faults), blank_rows, totals)


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
        return nan
    return total(rubric, judgment.values, blank)


def _totals(rows: Sequence[_Row], sums: Sequence[float]) -> Iterator[Rating]:
    for row, value in zip(rows, sums, strict=True):
        if value == value:
            yield replace(row.first, scale=TOTAL, value=value, asked=0)


def _list_blank_faults(
    rubric: Rubric,
    judgment: CaptionJudgment,
    blank: Blank,
    dropped: set[Place],
    where: str,
    published: bool,
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
            done = f"this rater is excluded from the {TOTAL} of this caption only"
            if published:
                done = f"{UNUSED_NOTE}; the {TOTAL} is that of the table"
            elif blank == "zero" and dimension.low <= 0 <= dimension.high:
                done = f"counts as 0 in the {TOTAL}"
            elif judgment.listener == "":
                done = f"{UNUSED_NOTE}; this caption has no {TOTAL}"
            yield RatingFault("blank", f"{name} is blank", done, *place, name, where)


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
    done = BLANK_NOTE if dimension is None or listener == "" else NO_TOTAL_NOTE
    return RatingFault(kind, message, done, key.item, key.system, listener, scale, where)


def _other_total_faults(
    rows: Sequence[_Row], sums: Sequence[float], where: str
) -> Iterator[RatingFault]:
    """Yield a fault for each total in the table that deviates from the formula.

    A total is not compared if there is none by the formula, because a value is missing.
    """
    for row, by_formula in zip(rows, sums, strict=True):
        is_mean = row.first.listener == ""
        tolerance = MEAN_TOTAL_TOLERANCE if is_mean else TOTAL_TOLERANCE
        if row.has_total and abs((vote := row.votes[TOTAL]).value - by_formula) > tolerance:
            message = f"{TOTAL} is {vote.value:g}, the formula gives {by_formula:g}"
            done = PUBLISHED_TOTALS_NOTE if is_mean else UNUSED_NOTE
            place = vote.key.item, vote.key.system, vote.listener
            yield RatingFault("other total", message, done, *place, TOTAL, where)
