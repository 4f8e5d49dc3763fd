"""Plain tables of ratings, CSV or JSON lines: a row a rating, or a column a scale.

All that is wrong with a table is told at once, with lines; then nothing is read. What is odd but
allowed stands in notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike

from earwitness.data import Input, Key, Rating, Who
from earwitness.data.grouped import Grouping
from earwitness.formats.ratings.cells import listeners
from earwitness.formats.ratings.groups import captions, groupings
from earwitness.formats.ratings.known import Known, Limit, Limits, limits_of
from earwitness.formats.ratings.options import Options
from earwitness.formats.ratings.reading import Rows, read_rows
from earwitness.formats.ratings.rubrics import CAPTION, NONE, by_rubric
from earwitness.formats.source import Source

__all__ = ["Known", "Limit", "Limits", "OffScale", "RatingsTable", "read_ratings"]


@dataclass(frozen=True)
class OffScale:
    """A vote that was taken for missing, as it is not on its scale."""

    line: int
    item: str
    system: str
    listener: Who
    scale: str
    value: float


@dataclass(frozen=True)
class RatingsTable:
    """Ratings in the order of the file; ``missing`` is how many cells for a vote are empty.

    ``every`` has those too, as NaN. ``groups`` are columns that divide items or listeners,
    ``captions`` are words that were judged by the ``rubric``, where there is one.
    """

    ratings: list[Rating]
    notes: tuple[str, ...]
    missing: int
    input: Input
    every: list[Rating] = field(default_factory=list)
    off: tuple[OffScale, ...] = ()
    groups: Mapping[str, Grouping] = field(default_factory=dict)
    captions: Mapping[Key, str] = field(default_factory=dict)
    rubric: str = ""


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
    groups: Sequence[str] = (),
    rubric: str = NONE,
    drop: bool = False,
) -> RatingsTable:
    """Ratings of a table.

    ``pattern`` takes item and system out of names of samples, such as ``{system}/{item}.wav``,
    which stand in ``column``. ``columns`` has names of columns by what they say (an empty one: the
    file does not say it), ``scales`` are columns that are scales, ``given`` says what the file does
    not, such as who the listener is. ``known`` are names that may occur, ``limits`` has by scale
    the lowest number, the highest, and the step between. ``groups`` are columns that divide items
    or listeners. A ``rubric`` says what dimensions there are; an empty one is guessed. With
    ``drop`` votes that are off their scale are taken for missing.
    """
    options = Options(
        *(pattern, column, columns or {}, scales, given or {}, known or Known(), limits_of(limits)),
        apart=groups,
        drop=drop,
    )
    rows = read_rows(Source(path), options, partial(by_rubric, said=rubric))
    every, ratings = rows.every, rows.filled
    found, judged = rows.checked.found, rows.options.rubric
    divided = groupings(rows.table, groups, found["item"], listeners(found["listener"]))
    rows.table.wrong.refuse()
    texts = captions(rows.table, CAPTION, found["item"], found["system"]) if judged else {}
    return RatingsTable(
        ratings,
        tuple(_notes(rows, every, ratings, guessed=bool(judged and not rubric))),
        len(every) - len(ratings),
        rows.input,
        every,
        tuple(_off(rows)),
        divided,
        texts,
        judged,
    )


def _off(rows: Rows) -> Iterator[OffScale]:
    found, lines = rows.checked.found, rows.table.lines
    people = listeners(found["listener"])
    for row, scale, value in rows.checked.off:
        item, system = found["item"][row], found["system"][row]
        yield OffScale(lines[row], item, system, people[row], scale, value)


def _notes(
    rows: Rows, every: Sequence[Rating], ratings: Sequence[Rating], *, guessed: bool
) -> Iterator[str]:
    yield from rows.layout.notes
    if guessed:
        name = rows.options.rubric
        yield f"has all dimensions of {name} and is read as such; say --rubric {NONE} if it is not"
    empty = {one.key.system for one in every} - {one.key.system for one in ratings}
    yield from (f"nobody rated {name}: all its votes are missing" for name in sorted(empty))
    if missing := len(every) - len(ratings):
        yield f"{missing:,} {'vote is' if missing == 1 else 'votes are'} missing"
    sessions = {one.session for one in ratings}
    if 0 in sessions and len(sessions) > 1:
        count = sum(one.session == 0 for one in ratings)
        yield f"{count:,} ratings are of session 0: if that was practice, leave them out"
