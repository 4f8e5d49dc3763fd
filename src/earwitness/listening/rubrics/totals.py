"""Totals of a rubric: per rater, never clipped; then means over raters, with their number.

The mean of totals is not the total of means as soon as a cell is blank: a rater with a blank is
left out of the total of that description and kept in every dimension that was filled in. So totals
are made first, rater by rater.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, get_args

from earwitness.data import Key, Rating
from earwitness.errors import UsageError, nearest
from earwitness.listening.rubrics.rubric import DIGITS, TOTAL, Rubric

Blank = Literal["drop", "zero", "refuse"]
BLANKS: tuple[Blank, ...] = get_args(Blank)
LISTED = 20  # blanks in a message


@dataclass(frozen=True)
class Judged:
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
    return round(rubric.formula.value(filled), DIGITS) + 0.0  # no −0


def ratings(rubric: Rubric, judged: Sequence[Judged], blank: Blank = "drop") -> list[Rating]:
    """Ratings on every dimension and on the total; what is blank is not there."""
    check_blanks(rubric, judged, blank)
    return [
        Rating(one.key, scale, one.listener, 1, value)
        for one in judged
        for scale, value in _numbers(rubric, one, blank)
        if value == value
    ]


def means(
    rubric: Rubric, judged: Sequence[Judged], blank: Blank = "drop"
) -> dict[tuple[Key, str], Cell]:
    """Means over raters of every description, on every dimension and on the total."""
    check_blanks(rubric, judged, blank)
    votes: dict[tuple[Key, str], list[float]] = {}
    for one in judged:
        for scale, value in _numbers(rubric, one, blank):
            votes.setdefault((one.key, scale), []).append(value)
    return {place: _cell(values) for place, values in votes.items()}


def check_blanks(rubric: Rubric, judged: Iterable[Judged], blank: Blank) -> None:
    """Refuse a policy that is none, and blanks where they are to be refused."""
    if blank not in BLANKS:
        raise UsageError(f'blank: no "{blank}" — {nearest(blank, BLANKS)}')
    if blank != "refuse":
        return
    found = [told for one in judged for told in _blanks(rubric, one)]
    if found:
        more = f"; and {len(found) - LISTED:,} more" * (len(found) > LISTED)
        remedy = "fill them in, or say what a blank is: drop or zero"
        raise UsageError(f"blank: {'; '.join(found[:LISTED])}{more} — {remedy}")


def _blanks(rubric: Rubric, one: Judged) -> Iterator[str]:
    for name in rubric.names:
        if one.values.get(name) is None:
            yield f"{name} of {one.key.item}, {one.key.system} by {one.listener}"


def _numbers(rubric: Rubric, one: Judged, blank: Blank) -> Iterator[tuple[str, float]]:
    """Every scale with its number, or NaN; dimensions stay blank whatever totals make of it."""
    for name in rubric.names:
        value = one.values.get(name)
        yield name, float("nan") if value is None else value
    yield TOTAL, total(rubric, one.values, blank)


def _cell(values: Sequence[float]) -> Cell:
    given = [value for value in values if value == value]
    mean = fsum(given) / len(given) if given else float("nan")
    return Cell(mean, len(given), len(values) - len(given))
