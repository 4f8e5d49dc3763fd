"""Reader of rating tables in CSV or JSON lines: votes, groups and rubric dimensions."""

from __future__ import annotations

import gc
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

from earwitness.core import Input, Key, Rating
from earwitness.errors import nearest
from earwitness.io.schema import Fault, show
from earwitness.io.source import RecordSource
from earwitness.io.tables import Cell, InputTable, read_table
from earwitness.studies.ratings.columns import (
    HEADER_LINE,
    LONG_TABLE_ROLES,
    MISSING_VALUE,
    NO_COLUMN_MESSAGE,
    NUMERIC_ROLES,
    ColumnLayout,
    ColumnOptions,
    KnownNames,
    Limit,
    Limits,
    column,
    divided,
    lay_out,
    limits_of,
    listeners,
    name_of_cell,
    only_known,
    out_of_scale,
    perhaps_name,
    whole,
)
from earwitness.studies.results import Grouping, Who
from earwitness.studies.rubric import BUILT_IN_RUBRICS, TOTAL, Rubric, read_rubric
from earwitness.studies.wording import LANGUAGES

# --- Rubric dimensions as columns ----------------------------------------------------------------
# Dimensions are known by their names and by their titles in every language, in capitals or not.
# Where all dimensions of a rubric are there, the table is taken for one by that rubric, unless
# something else is said.


NO_RUBRIC = "none"
CAPTION_COLUMN = "caption"
OFF_SCALE_REMEDY = "write a number that is on it, or say --faults drop to take it for a blank"


def by_rubric(options: ColumnOptions, table: InputTable, said: str = "") -> ColumnOptions:
    """Options that hold for a table by a rubric: the one that was said, or that fits.

    Where scales are named already, nothing is guessed.
    """
    if said == NO_RUBRIC or (options.scales and not said):
        return options
    long = [role for role in LONG_TABLE_ROLES if options.name_of(role) in table.names]
    cells = table.cells(options.name_of("scale")) if "scale" in long else table.names
    written = [one for one in dict.fromkeys(cells) if isinstance(one, str)]
    for name in [said] if said else BUILT_IN_RUBRICS:
        found = {one: own for one in written if (own := spellings(name).get(folded(one)))}
        lacking = [one for one in read_rubric(name).names if one not in found.values()]
        if not lacking:
            return _fitted(options, read_rubric(name), found, table, wide=not long)
        if said:
            _tell_dimensions(table, read_rubric(name), lacking)
    return options


def _fitted(
    options: ColumnOptions,
    known: Rubric,
    found: Mapping[str, str],
    table: InputTable,
    *,
    wide: bool,
) -> ColumnOptions:
    limits = {name: Limit(one.low, one.high, one.step) for name, one in known.scales.items()}
    limits[TOTAL] = limits[TOTAL]._replace(step=0)  # totals are made again
    texts = [CAPTION_COLUMN] if CAPTION_COLUMN in table.names else []
    return replace(
        options,
        rubric=known.name,
        aliases=dict(found),
        limits={**limits, **options.limits} if options.limits else limits,
        scales=tuple(found) if wide else options.scales,
        apart=(*options.apart, *texts),
        remedy=OFF_SCALE_REMEDY,
    )


def _tell_dimensions(table: InputTable, known: Rubric, lacking: list[str]) -> None:
    """Which dimensions are not there."""
    has = ", ".join(show(name) for name in table.names if name)
    for name in lacking:
        told = f"{known.name} has {name}, the table does not"
        table.tell(
            HEADER_LINE,
            name,
            told,
            f"say --rubric {NO_RUBRIC} if it is no such table; it has {has}",
        )


@cache
def spellings(name: str) -> Mapping[str, str]:
    """Dimensions and the total, by everything that they may be called."""
    return dict(_spelt(name))


def _spelt(name: str) -> Iterator[tuple[str, str]]:
    for language in LANGUAGES:
        for one in read_rubric(name, language).dimensions:
            yield folded(one.shown), one.name
            yield folded(one.name), one.name
    yield TOTAL, TOTAL


def folded(text: str) -> str:
    """A name without capitals and odd blanks.

    >>> folded(" Hors_Sujet ")
    'hors sujet'
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("_", " ").split())


# --- Checked columns and votes -------------------------------------------------------------------


Columns = dict[str, Sequence[Any]]  # by what they say; votes by scale


class OffScaleCell(NamedTuple):
    """A vote that is not on its scale, and was taken for missing; the number of its row."""

    row: int
    scale: str
    value: float


class CheckedColumns(NamedTuple):
    """What rows say, votes by scale, and votes that were taken for missing."""

    found: Columns
    votes: Columns
    off: list[OffScaleCell]


MIN_ROLE_VALUES = {"session": 0, "trial": 0, "asked": 0, "place": 1}


def checked(table: InputTable, layout: ColumnLayout, options: ColumnOptions) -> CheckedColumns:
    """What rows say, and votes by scale; what is wrong with them is told to the table."""
    cells = _cells(table, layout, options)
    where = {role: layout.fields.get(role, layout.sample or role) for role in cells}
    found: Columns = {}
    for role, own in cells.items():
        if role in MIN_ROLE_VALUES:
            found[role] = column(table, own, where[role], whole(MIN_ROLE_VALUES[role]))
        elif role != "value":
            read = perhaps_name if role == "against" else name_of_cell
            found[role] = column(table, own, where[role], read)
            if role == "scale":
                found[role] = [options.scale(one) for one in found[role]]
            what = "system" if role == "against" else role
            only_known(table, found[role], where[role], what, options.known.names(what))
    off: list[OffScaleCell] = []
    return CheckedColumns(found, _votes(table, layout, options, cells, found, off), off)


def _cells(
    table: InputTable, layout: ColumnLayout, options: ColumnOptions
) -> dict[str, Sequence[Cell]]:
    """Columns by what they say, wherever it is said."""
    found: dict[str, Sequence[Cell]] = {
        role: table.cells(own, numbers=role in NUMERIC_ROLES) for role, own in layout.fields.items()
    }
    if layout.pattern:
        found |= divided(table, layout.sample, layout.pattern, layout.notes)
    for role, text in options.given.items():
        found[role] = [str(text)] * len(table.lines)
    return found


def _votes(
    table: InputTable,
    layout: ColumnLayout,
    options: ColumnOptions,
    cells: Mapping[str, Sequence[Cell]],
    found: Columns,
    off: list[OffScaleCell],
) -> Columns:
    """Votes by scale, or all of them where scales stand in a column."""
    read = options.number(table)
    if not layout.scales:
        where = layout.fields.get("value", "value")
        values = column(table, cells["value"], where, read)
        return {"": _within(table, found["scale"], values, where, options, off)}
    votes: Columns = {}
    for scale in layout.scales:
        known = options.known.names("scale")
        if known and options.scale(scale) not in known:
            table.tell(
                HEADER_LINE, show(scale), f"there is no scale {show(scale)}", nearest(scale, known)
            )
        values = column(table, table.cells(scale, numbers=True), scale, read)
        named = options.scale(scale)
        every = [named] * len(table.lines)
        votes[named] = _within(table, every, values, scale, options, off)
    return votes


def _within(
    table: InputTable,
    scales: Sequence[Any],
    values: Sequence[Any],
    where: str,
    options: ColumnOptions,
    off: list[OffScaleCell],
) -> Sequence[Any]:
    """Tell votes that are not on their scales, or leave them out and list them."""
    if not options.limits:
        return values
    pairs: list[tuple[Any, Any]] = list(zip(scales, values, strict=True))
    told: dict[Any, str] = dict(out_of_scale(set(pairs), options.limits))
    if told and options.drop:
        off += [OffScaleCell(row, *pair) for row, pair in enumerate(pairs) if pair in told]
        return [MISSING_VALUE if pair in told else pair[1] for pair in pairs]
    bad = {pair: Fault(where, text, options.remedy) for pair, text in told.items()}
    if bad:
        rows = zip(table.lines, pairs, strict=True)
        table.wrong.add((line, bad[pair]) for line, pair in rows if pair in bad)
    return values


def rated(found: Columns, votes: Columns) -> list[Rating]:
    """A rating for every vote, row by row; one that is missing is NaN."""
    rows = len(next(iter(votes.values())))
    keys = _keys(found["item"], found["system"])
    none: list[Any] = [None] * rows
    against = _keys(found["item"], found["against"]) if "against" in found else none
    zeros = [0] * rows
    session, trial, asked, place = (found.get(role, zeros) for role in MIN_ROLE_VALUES)
    people = listeners(found["listener"])
    by_scale: list[Iterable[Rating]] = [
        map(
            Rating,
            keys,
            [scale] * rows if scale else found["scale"],
            people,
            session,
            values,
            against,
            place,
            trial,
            asked,
        )
        for scale, values in votes.items()
    ]
    return list(chain.from_iterable(zip(*by_scale, strict=True)))


def _keys(items: Sequence[str], systems: Sequence[str]) -> list[Any]:
    """Keys, each made once; none where there is no system."""
    pairs = list(zip(items, systems, strict=True))
    known = {pair: Key(*pair) if pair[1] else None for pair in set(pairs)}
    return [known[pair] for pair in pairs]


# --- Tables of numbers per output ----------------------------------------------------------------


Fitted = Callable[[ColumnOptions, InputTable], ColumnOptions]


def _as_they_are(options: ColumnOptions, _: InputTable) -> ColumnOptions:
    return options


@dataclass(frozen=True)
class ParsedRatings:
    """A number for every cell that could have one, NaN where it has none."""

    every: list[Rating]
    layout: ColumnLayout
    table: InputTable
    input: Input
    options: ColumnOptions
    checked: CheckedColumns

    @property
    def filled(self) -> list[Rating]:
        """Those that have a number."""
        return [one for one in self.every if one.value == one.value]


def read_rows(
    source: RecordSource, options: ColumnOptions, fitted: Fitted = _as_they_are
) -> ParsedRatings:
    """All of a table; refused as a whole if anything is wrong, or if it has no number at all.

    ``fitted`` gives the options that hold for a table with such columns.
    """
    with _uncollected():
        return _read(source, options, fitted)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles: there are none here, and looking takes half the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read(source: RecordSource, options: ColumnOptions, fitted: Fitted) -> ParsedRatings:
    table, file = read_table(source, options.wanted)
    options = fitted(options, table)
    told = table.wrong.count
    layout = lay_out(table, options)
    nothing = f"has no {options.words.row} in it"
    if not table.lines and not table.wrong.count:
        table.tell(HEADER_LINE, "", nothing)
    if table.wrong.count > told or not table.lines:
        table.wrong.refuse()
    found = checked(table, layout, options)
    table.wrong.refuse()
    rows = ParsedRatings(rated(found.found, found.votes), layout, table, file, options, found)
    if not rows.filled:
        table.tell(HEADER_LINE, "", nothing, f"no row has a {options.words.cell}")
        table.wrong.refuse()
    return rows


# --- Groups of items and listeners ---------------------------------------------------------------


ItemOrListener = int | str
# the line, of whom, what was said before and what is said in this line
Clash = tuple[int, ItemOrListener, str, str]


def groupings(
    table: InputTable,
    names: Sequence[str],
    items: Sequence[ItemOrListener],
    people: Sequence[ItemOrListener],
) -> dict[str, Grouping]:
    """By field: of items if all rows of an item say the same, else of listeners.

    Where neither do, that is told to the table. Empty cells say nothing.
    """
    found: dict[str, Grouping] = {}
    for name in names:
        if name not in table.names:
            table.tell(
                HEADER_LINE, show(name), f"{NO_COLUMN_MESSAGE} (by)", nearest(name, table.names)
            )
            continue
        cells = table.cells(name)
        of_items, torn = _groups(table, items, cells)
        of_people, also = _groups(table, people, cells)
        if torn and also:
            _tell_clash(table, name, torn, also)
        elif torn:
            found[name] = Grouping("listener", of_people)
        else:
            found[name] = Grouping("item", of_items)
    return found


def _groups(
    table: InputTable, owners: Sequence[ItemOrListener], cells: Sequence[Cell]
) -> tuple[Mapping[ItemOrListener, str], Clash | None]:
    """What is said of each, and the first row that says something else than one before."""
    found: dict[ItemOrListener, str] = {}
    for line, owner, cell in zip(table.lines, owners, cells, strict=True):
        if isinstance(cell, str) and cell and found.setdefault(owner, cell) != cell:
            return found, (line, owner, found[owner], cell)
    return found, None


def _tell_clash(table: InputTable, name: str, item: Clash, listener: Clash) -> None:
    line, owner, before, here = item
    told = f"{owner} is {show(here)} here and was {show(before)} above"
    also = f"and listener {listener[1]} is both {show(listener[2])} and {show(listener[3])}"
    table.tell(line, name, told, f"{also}: an item, or a listener, is in one group")


def captions(
    table: InputTable, name: str, items: Sequence[str], systems: Sequence[str]
) -> dict[Key, str]:
    """Words that were judged, by item and system; the first that are said."""
    if name not in table.names:
        return {}
    found: dict[Key, str] = {}
    for item, system, cell in zip(items, systems, table.cells(name), strict=True):
        if isinstance(cell, str) and cell:
            found.setdefault(Key(item, system), cell)
    return found


# --- Tables of ratings ---------------------------------------------------------------------------
# All that is wrong with a table is told at once, with lines; then nothing is read. What is odd but
# allowed stands in notes.


@dataclass(frozen=True)
class OffScaleVote:
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
    off: tuple[OffScaleVote, ...] = ()
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
    known: KnownNames | None = None,
    limits: Limits | None = None,
    groups: Sequence[str] = (),
    rubric: str = NO_RUBRIC,
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
    options = ColumnOptions(
        *(
            pattern,
            column,
            columns or {},
            scales,
            given or {},
            known or KnownNames(),
            limits_of(limits),
        ),
        apart=groups,
        drop=drop,
    )
    rows = read_rows(RecordSource(path), options, partial(by_rubric, said=rubric))
    every, ratings = rows.every, rows.filled
    found, judged = rows.checked.found, rows.options.rubric
    divided = groupings(rows.table, groups, found["item"], listeners(found["listener"]))
    rows.table.wrong.refuse()
    texts = captions(rows.table, CAPTION_COLUMN, found["item"], found["system"]) if judged else {}
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


def _off(rows: ParsedRatings) -> Iterator[OffScaleVote]:
    found, lines = rows.checked.found, rows.table.lines
    people = listeners(found["listener"])
    for row, scale, value in rows.checked.off:
        item, system = found["item"][row], found["system"][row]
        yield OffScaleVote(lines[row], item, system, people[row], scale, value)


def _notes(
    rows: ParsedRatings, every: Sequence[Rating], ratings: Sequence[Rating], *, guessed: bool
) -> Iterator[str]:
    yield from rows.layout.notes
    if guessed:
        name = rows.options.rubric
        told = f"has all dimensions of {name} and is read as such"
        yield f"{told}; say --rubric {NO_RUBRIC} if it is not"
    empty = {one.key.system for one in every} - {one.key.system for one in ratings}
    yield from (f"nobody rated {name}: all its votes are missing" for name in sorted(empty))
    if missing := len(every) - len(ratings):
        yield f"{missing:,} {'vote is' if missing == 1 else 'votes are'} missing"
    sessions = {one.session for one in ratings}
    if 0 in sessions and len(sessions) > 1:
        count = sum(one.session == 0 for one in ratings)
        yield f"{count:,} ratings are of session 0: if that was practice, leave them out"
