"""Plain tables of ratings, CSV or JSON lines: a row a rating, or a column a scale.

All that is wrong with a table is told at once, with lines; then nothing is read. What is odd but
allowed stands in notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from earwitness.data import Input, Rating
from earwitness.formats.ratings.known import Known, Limit, Limits, limits_of
from earwitness.formats.ratings.layout import Layout
from earwitness.formats.ratings.options import Options
from earwitness.formats.ratings.reading import read_rows
from earwitness.formats.source import Source

__all__ = ["Known", "Limit", "Limits", "RatingsTable", "read_ratings"]


@dataclass(frozen=True)
class RatingsTable:
    """Ratings in the order of the file; ``missing`` is how many cells for a vote are empty."""

    ratings: list[Rating]
    notes: tuple[str, ...]
    missing: int
    input: Input


def read_ratings(
    path: str | PathLike[str],
    *,
    pattern: str = "",
    column: str = "",
    columns: Mapping[str, str] | None = None,
    scales: Sequence[str] = (),
    given: Mapping[str, int | str] | None = None,
    known: Known | None = None,
    limits: Limits | None = None,
) -> RatingsTable:
    """Ratings of a table.

    ``pattern`` takes item and system out of names of samples, such as ``{system}/{item}.wav``,
    which stand in ``column``. ``columns`` has names of columns by what they say (an empty one: the
    file does not say it), ``scales`` are columns that are scales, ``given`` says what the file does
    not, such as who the listener is. ``known`` are names that may occur, ``limits`` has by scale
    the lowest number, the highest, and the step between.
    """
    limit, names = limits_of(limits), known or Known()
    options = Options(pattern, column, columns or {}, scales, given or {}, names, limit)
    rows = read_rows(Source(path), options)
    every, ratings = rows.every, rows.filled
    missing = len(every) - len(ratings)
    return RatingsTable(ratings, tuple(_notes(rows.layout, every, ratings)), missing, rows.input)


def _notes(layout: Layout, every: Sequence[Rating], ratings: Sequence[Rating]) -> Iterator[str]:
    yield from layout.notes
    empty = {one.key.system for one in every} - {one.key.system for one in ratings}
    yield from (f"nobody rated {name}: all its votes are missing" for name in sorted(empty))
    if missing := len(every) - len(ratings):
        yield f"{missing:,} {'vote is' if missing == 1 else 'votes are'} missing"
    sessions = {one.session for one in ratings}
    if 0 in sessions and len(sessions) > 1:
        count = sum(one.session == 0 for one in ratings)
        yield f"{count:,} ratings are of session 0: if that was practice, leave them out"
