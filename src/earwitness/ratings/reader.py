"""Reader of rating tables in CSV or JSON Lines: votes, groups and rubric dimensions."""

from __future__ import annotations

import gc
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

from earwitness.core import Input, Key, Rating, Score, StrPath
from earwitness.errors import nearest
from earwitness.io.schema import Fault, show
from earwitness.io.source import RecordSource
from earwitness.io.tables import Cell, InputTable, read_table
from earwitness.ratings.columns import (
    AUTO_LAYOUT,
    CAPTION_ROLE,
    HEADER_LINE,
    LONG_TABLE_ROLES,
    MISSING_VALUE,
    NO_COLUMN_MESSAGE,
    NUMERIC_ROLES,
    RATERS_ROLE,
    ROLES,
    ColumnLayout,
    ColumnOptions,
    Limits,
    divide_samples,
    find_off_scale,
    lay_out,
    limits_of,
    match_case,
    match_known_names,
    read_column,
    read_name,
    read_optional_name,
    read_plain_numbers,
    read_whole_number,
    refuse_header,
    tell_cells,
    tell_unknown_names,
)
from earwitness.ratings.layouts import (
    accept_means,
    filter_rows,
    join_columns,
    match_samples,
    recognize_layout,
    unfold_results,
)
from earwitness.ratings.names import KnownNames, listener_ids, penalty_notes
from earwitness.ratings.records import Grouping, Who
from earwitness.ratings.rubric import BUILT_IN_RUBRICS, LANGUAGES, TOTAL, Rubric, read_rubric
from earwitness.task import Filter

# --- Rubric dimensions as columns ----------------------------------------------------------------
# Dimensions are found by their names and by their titles in every language, ignoring case. A table
# with all dimensions of a rubric is read as ratings by that rubric, unless set otherwise.


NO_RUBRIC = "none"
OFF_SCALE_REMEDY = "correct the value, or use --faults drop to treat it as blank"


def fit_rubric(options: ColumnOptions, table: InputTable, said: str = "") -> ColumnOptions:
    """Return options for a table by a rubric: the named one, or one whose dimensions match.

    If scales are named, no rubric is detected.
    """
    if said == NO_RUBRIC or (options.scales and not said):
        return options
    long = [role for role in LONG_TABLE_ROLES if options.name_of(role) in table.names]
    cells = table.cells(options.name_of("scale")) if "scale" in long else table.names
    written = [text for text in dict.fromkeys(cells) if isinstance(text, str)]
    for name in [said] if said else BUILT_IN_RUBRICS:
        dimension_of = _dimensions_of(written, spellings(name))
        averaged = _dimensions_of(written, spellings(name), averaged=True)
        if options.means is not False and len(averaged) > len(dimension_of):
            dimension_of = averaged
        dimensions = read_rubric(name).names
        lacking = [dimension for dimension in dimensions if dimension not in dimension_of.values()]
        if not lacking:
            if dimension_of is averaged:
                options = accept_means(table, options)
            return _add_rubric_columns(options, read_rubric(name), dimension_of, wide=not long)
        if said:
            has = ", ".join(show(name) for name in table.names if name)
            remedy = f"columns found: {has}; use --rubric {NO_RUBRIC} if the table has no rubric"
            for dimension in lacking:
                message = f"missing dimension of the rubric {read_rubric(name).name}"
                table.tell(HEADER_LINE, dimension, message, remedy)
    return options


def _dimensions_of(
    written: Iterable[str], known: Mapping[str, str], *, averaged: bool = False
) -> dict[str, str]:
    """Return dimensions by the names of their columns, or of the columns of their means."""
    folded = {text: fold_name(text) for text in written}
    if averaged:
        folded = {text: name[:-4] for text, name in folded.items() if name.endswith(" avg")}
    return {text: known[name] for text, name in folded.items() if name in known}


def _add_rubric_columns(
    options: ColumnOptions,
    rubric: Rubric,
    dimension_of: Mapping[str, str],
    *,
    wide: bool,
) -> ColumnOptions:
    limits = limits_of(rubric.scales)
    limits[TOTAL] = limits[TOTAL]._replace(step=0)  # totals are recomputed
    return replace(
        options,
        rubric=rubric.name,
        aliases=dict(dimension_of),
        limits={**limits, **options.limits},
        scales=tuple(dimension_of) if wide else options.scales,
        remedy=OFF_SCALE_REMEDY,
    )


@cache
def spellings(name: str) -> Mapping[str, str]:
    """Return dimensions and the total by all their spellings."""
    dimensions = [
        dimension for language in LANGUAGES for dimension in read_rubric(name, language).dimensions
    ]
    names = {
        fold_name(text): dimension.name
        for dimension in dimensions
        for text in (dimension.shown, dimension.name)
    }
    return names | {TOTAL: TOTAL}


def fold_name(text: str) -> str:
    """Return a name in lower case with normalized spaces.

    >>> fold_name(" Hors_Sujet ")
    'hors sujet'
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("_", " ").split())


# --- Checked columns and votes -------------------------------------------------------------------


Columns = dict[str, Sequence[Any]]  # by role; votes by scale


class OffScaleCell(NamedTuple):
    """A vote outside its scale, treated as missing, with the number of its row."""

    row: int
    scale: str
    value: float


class CheckedColumns(NamedTuple):
    """Columns by role, votes by scale, votes treated as missing, and values by metric."""

    columns: Columns
    votes: Columns
    off: list[OffScaleCell]
    metrics: Columns


MIN_ROLE_VALUES = {"session": 0, "trial": 0, "asked": 0, "place": 1, RATERS_ROLE: 0}


def check_columns(
    table: InputTable, layout: ColumnLayout, options: ColumnOptions
) -> CheckedColumns:
    """Return checked columns and votes; faults are added to the table."""
    cells = _cells_by_role(table, layout, options)
    where = {role: layout.fields.get(role, layout.sample or role) for role in cells}
    columns: Columns = {}
    for role, role_cells in cells.items():
        if role in MIN_ROLE_VALUES:
            read_whole = partial(read_whole_number, least=MIN_ROLE_VALUES[role])
            columns[role] = read_column(table, role_cells, where[role], read_whole)
        elif role not in ("value", CAPTION_ROLE):
            read = read_optional_name if role == "against" else read_name
            columns[role] = read_column(table, role_cells, where[role], read)
            if role == "scale":
                written = {name for name in {*columns[role]} if isinstance(name, str)}
                scale_of = {name: options.scale(name) for name in written}
                columns[role] = [scale_of.get(name, name) for name in columns[role]]
            what = "system" if role == "against" else role
            known = options.known_names.names(what)
            columns[role] = match_known_names(columns[role], known, what, layout.notes)
            tell_unknown_names(table, columns[role], where[role], what, known)
    if options.means:
        columns["listener"] = [""] * len(table.lines)
    off: list[OffScaleCell] = []
    read_score = options.metric_reader(table)
    metrics: Columns = {
        name: read_column(table, table.cells(name, numbers=True), name, read_score)
        for name in layout.metrics
    }
    votes = _votes_by_scale(table, layout, options, cells, columns, off)
    return CheckedColumns(columns, votes, off, metrics)


def _cells_by_role(
    table: InputTable, layout: ColumnLayout, options: ColumnOptions
) -> dict[str, Sequence[Cell]]:
    """Return cells by role, from columns, sample names and constants."""
    cells: dict[str, Sequence[Cell]] = {
        role: table.cells(name, numbers=role in NUMERIC_ROLES)
        for role, name in layout.fields.items()
    }
    if layout.pattern:
        cells |= divide_samples(table, layout.sample, layout.pattern, layout.notes)
    for role, text in options.constants.items():
        cells[role] = [str(text)] * len(table.lines)
    return cells


def _votes_by_scale(
    table: InputTable,
    layout: ColumnLayout,
    options: ColumnOptions,
    cells: Mapping[str, Sequence[Cell]],
    columns: Columns,
    off: list[OffScaleCell],
) -> Columns:
    """Return votes by scale, or all votes if there is a scale column."""
    read = options.number_reader(table)
    if not layout.scales:
        where = layout.fields.get("value", "value")
        numbers = read_column(table, cells["value"], where, read)
        return {"": _check_limits(table, columns["scale"], numbers, where, options, off)}
    votes: Columns = {}
    for scale in layout.scales:
        names = options.known_names.names("scale")
        if names and options.scale(scale) not in names:
            table.tell(
                HEADER_LINE, show(scale), f"unknown scale {show(scale)}", nearest(scale, names)
            )
        scale_cells = table.cells(scale, numbers=True)
        values = read_plain_numbers(scale_cells) or read_column(table, scale_cells, scale, read)
        named = options.scale(scale)
        scales = [named] * len(table.lines)
        votes[named] = _check_limits(table, scales, values, scale, options, off)
    return votes


def _check_limits(
    table: InputTable,
    scales: Sequence[Any],
    values: Sequence[Any],
    where: str,
    options: ColumnOptions,
    off: list[OffScaleCell],
) -> Sequence[Any]:
    """Report votes outside their scales, or treat them as missing and list them."""
    if not options.limits:
        return values
    pairs: list[tuple[Any, Any]] = list(zip(scales, values, strict=True))
    limits = options.limits
    if options.means:
        limits = {scale: limit._replace(step=0) for scale, limit in limits.items()}
    reasons: dict[Any, str] = dict(find_off_scale(set(pairs), limits))
    if reasons and options.drop:
        off += [OffScaleCell(row, *pair) for row, pair in enumerate(pairs) if pair in reasons]
        return [MISSING_VALUE if pair in reasons else pair[1] for pair in pairs]
    bad = {pair: Fault(where, text, options.remedy) for pair, text in reasons.items()}
    if bad:
        tell_cells(table, pairs, bad)
    return values


def build_ratings(columns: Columns, votes: Columns) -> list[Rating]:
    """Return one rating per vote, row by row; a missing vote is NaN."""
    rows = len(next(iter(votes.values())))
    keys = make_keys(columns["item"], columns["system"])
    none: list[Any] = [None] * rows
    against = make_keys(columns["item"], columns["against"]) if "against" in columns else none
    zeros = [0] * rows
    orders = ("session", "trial", "asked", "place")
    session, trial, asked, place = (columns.get(role, zeros) for role in orders)
    people = listener_ids(columns["listener"])
    by_scale: list[Iterable[Rating]] = [
        map(
            Rating,
            keys,
            [scale] * rows if scale else columns["scale"],
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


def make_keys(items: Sequence[str], systems: Sequence[str]) -> list[Any]:
    """Return keys, each created once; None without a system."""
    pairs = list(zip(items, systems, strict=True))
    key_of = {pair: Key(*pair) if pair[1] else None for pair in set(pairs)}
    return [key_of[pair] for pair in pairs]


# --- Tables of numbers per output ----------------------------------------------------------------


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which would take half the time and find nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


OptionsFitter = Callable[[ColumnOptions, InputTable], ColumnOptions]


@dataclass(frozen=True)
class ParsedRatings:
    """Ratings of a table, one per cell; NaN for empty cells."""

    layout: ColumnLayout
    table: InputTable
    input: Input
    options: ColumnOptions
    checked: CheckedColumns

    @cached_property
    def all_ratings(self) -> list[Rating]:
        """One rating per cell, created when needed."""
        with without_garbage_collection():
            return build_ratings(self.checked.columns, self.checked.votes)

    @property
    def has_numbers(self) -> bool:
        """Whether any cell is filled."""
        return any(vote == vote for votes in self.checked.votes.values() for vote in votes)

    @property
    def filled(self) -> list[Rating]:
        """Ratings that are not missing."""
        return [rating for rating in self.all_ratings if rating.value == rating.value]


@without_garbage_collection()
def read_rows(
    source: RecordSource,
    options: ColumnOptions,
    fitted: OptionsFitter = lambda options, _: options,
    *,
    foreign: bool = False,
) -> ParsedRatings:
    """Read a table; raise InputError with all faults, or if it has no number.

    ``fitted`` adapts the options to the columns of the table. With ``foreign``, layouts of other
    tools for listening tests are recognized.
    """
    may_be_means = options.means is None
    table, file = read_table(source, options.wanted, unfold_results if foreign else None)
    match_case(table, options.wanted)
    table, options = join_columns(table, options)
    table = filter_rows(table, options.where)
    conditions = options.where.conditions
    options = replace(
        options, apart=(*options.apart, *(condition.field for condition in conditions))
    )
    if foreign:
        table, options = recognize_layout(table, options)
    else:
        options = match_samples(table, options)
    options = fitted(options, table)
    faults_before = table.wrong.count
    if options.means is None:
        has_listeners = "listener" in {*options.said, *table.names}
        has_listeners |= nearest("listener", table.names).startswith("did")  # misspelled
        options = replace(options, means=False) if has_listeners else accept_means(table, options)
    layout = lay_out(table, options)
    nothing = f"contains no {options.words.row}s"
    if not table.lines and not table.wrong.count:
        table.tell(HEADER_LINE, "", nothing)
    if table.wrong.count > faults_before or not table.lines:
        table.wrong.refuse()
    parsed = check_columns(table, layout, options)
    table.wrong.refuse()
    if may_be_means and options.means:
        _refuse_repeats(table, parsed.columns)
    rows = ParsedRatings(layout, table, file, options, parsed)
    if not rows.has_numbers:
        refuse_header(table, "", nothing, f"fill in at least one {options.words.cell}")
    return rows


def _refuse_repeats(table: InputTable, columns: Columns) -> None:
    """Refuse a table without listeners in which outputs have several rows, like votes."""
    roles = [role for role in ("item", "system", "scale", "against") if role in columns]
    first: dict[tuple[Any, ...], int] = {}
    outputs = zip(*(columns[role] for role in roles), strict=True)
    for line, output in zip(table.lines, outputs, strict=True):
        if first.setdefault(output, line) != line:
            pairs = zip(roles, output, strict=True)
            names = ", ".join(f"{role} {show(name)}" for role, name in pairs)
            message = f"{NO_COLUMN_MESSAGE}, but lines {first[output]} and {line} both rate {names}"
            remedy = "use --column listener=NAME, or keep one row per output"
            refuse_header(table, "listener", message, remedy)


# --- Groups of items and listeners ---------------------------------------------------------------


ItemOrListener = int | str
# line, item or listener, earlier group, group in this line
Clash = tuple[int, ItemOrListener, str, str]


def read_groupings(
    table: InputTable,
    names: Sequence[str],
    items: Sequence[ItemOrListener],
    people: Sequence[ItemOrListener],
) -> dict[str, Grouping]:
    """Return groups by field: of items if constant per item, else of listeners.

    A field that is neither is reported as a fault. Empty cells are ignored.
    """
    by_field: dict[str, Grouping] = {}
    for name in names:
        if name not in table.names:
            table.tell(
                HEADER_LINE,
                show(name),
                f"{NO_COLUMN_MESSAGE} to group by",
                nearest(name, table.names),
            )
            continue
        cells = table.cells(name)
        of_items, torn = _group_values(table, items, cells)
        of_people, also = _group_values(table, people, cells)
        if torn and also:
            line, owner, before, current = torn
            message, remedy = f"item {owner} is {show(current)} here and {show(before)} above", ""
            if also[1] != "":  # means have no listener
                message += f", and listener {also[1]} is both {show(also[2])} and {show(also[3])}"
                remedy = ", or each listener,"
            table.tell(line, name, message, f"assign each item{remedy} to one group")
        elif torn:
            by_field[name] = Grouping("listener", of_people)
        else:
            by_field[name] = Grouping("item", of_items)
    return by_field


def _group_values(
    table: InputTable, owners: Sequence[ItemOrListener], cells: Sequence[Cell]
) -> tuple[Mapping[ItemOrListener, str], Clash | None]:
    """Return the group of each owner, and the first row that contradicts an earlier one."""
    group_of: dict[ItemOrListener, str] = {}
    for line, owner, cell in zip(table.lines, owners, cells, strict=True):
        if isinstance(cell, str) and cell and group_of.setdefault(owner, cell) != cell:
            return group_of, (line, owner, group_of[owner], cell)
    return group_of, None


def caption_texts(
    table: InputTable, name: str, items: Sequence[str], systems: Sequence[str]
) -> dict[Key, str]:
    """Return captions by item and system; the first one in the table."""
    texts: dict[Key, str] = {}
    for item, system, cell in zip(items, systems, table.cells(name), strict=True):
        if isinstance(cell, str) and cell:
            texts.setdefault(Key(item, system), cell)
    return texts


# --- Tables of ratings ---------------------------------------------------------------------------
# All faults of a table are reported at once, with lines, and nothing is read. Notes report unusual
# content that is allowed.


@dataclass(frozen=True)
class OffScaleVote:
    """A vote outside its scale, which is treated as missing."""

    line: int
    item: str
    system: str
    listener: Who
    scale: str
    value: float


@dataclass(frozen=True)
class RatingsTable:
    """Ratings in the order of the file; ``missing`` is the number of empty cells.

    ``all_ratings`` also has empty cells, as NaN. ``groups`` are groups of items or listeners,
    ``captions`` the rated captions, and ``rubric`` that of the ratings, if any. ``raters`` has the
    number of raters of each mean, by output and scale; 0 if it is not known. ``scores`` are those
    of metrics in the table.
    """

    ratings: list[Rating]
    notes: tuple[str, ...]
    missing: int
    input: Input
    all_ratings: list[Rating] = field(default_factory=list)
    off: tuple[OffScaleVote, ...] = ()
    groups: Mapping[str, Grouping] = field(default_factory=dict)
    captions: Mapping[Key, str] = field(default_factory=dict)
    rubric: str = ""
    raters: Mapping[tuple[Key, str], int] = field(default_factory=dict)
    scores: Sequence[Score] = ()


def read_ratings(
    path: StrPath | RecordSource,
    *,
    pattern: str = "",
    columns: Mapping[str, str] | None = None,
    scales: Sequence[str] = (),
    constants: Mapping[str, int | str] | None = None,
    known_names: KnownNames | None = None,
    limits: Limits | None = None,
    groups: Sequence[str] = (),
    rubric: str = NO_RUBRIC,
    drop: bool = False,
    means: bool | None = False,
    layout: str = AUTO_LAYOUT,
    metrics: Sequence[str] | None = None,
    where: Filter = Filter(),  # noqa: B008
) -> RatingsTable:
    """Read a table of ratings (CSV, TSV, JSON Lines, or results of other tools).

    Parameters
    ----------
    path
        Path of the table, or the rows of a table in memory.
    pattern
        Pattern of sample names with item and system, such as ``{system}/{item}.wav``.
    columns
        Names of columns, by role; ``sample`` is the role of sample names. An empty name excludes
        a role.
    scales
        Columns that are scales.
    constants
        Values for roles without a column, such as the listener.
    known_names
        Allowed names of systems, items, listeners and scales.
    limits
        Lowest value, highest value and step, by scale.
    groups
        Columns that group items or listeners.
    rubric
        Rubric of the ratings; an empty string detects it.
    drop
        Whether to treat votes outside their scale as missing instead of refusing them.
    means
        Whether values are means over raters. They may lie between the steps of a scale, and the
        listener of their ratings is an empty string. None: if the table has no listeners.
    layout
        ``auto`` recognizes tables of other tools by their columns, ``matrix`` reads one column per
        listener, ``plain`` reads only the columns documented for ratings.
    metrics
        Columns with scores of metrics, which the table has as well; empty: find them. None: the
        table has ratings only.
    where
        Conditions on columns; only rows for which all of them hold are read.

    Returns
    -------
    RatingsTable

    Raises
    ------
    InputError
        If the table has faults; all of them are listed.
    """
    named = {**(columns or {})}
    options = ColumnOptions(
        pattern,
        named.pop("sample", ""),
        named,
        scales,
        constants or {},
        known_names or KnownNames(),
        limits_of(limits),
        apart=groups,
        drop=drop,
        roles=(*ROLES, CAPTION_ROLE, *([] if means is False else [RATERS_ROLE])),
        means=means,
        layout=layout,
        metrics=metrics,
        where=where,
    )
    source = path if isinstance(path, RecordSource) else RecordSource(path)
    rows = read_rows(source, options, partial(fit_rubric, said=rubric), foreign=True)
    all_ratings, ratings = rows.all_ratings, rows.filled
    parsed_columns, judged = rows.checked.columns, rows.options.rubric
    divided = read_groupings(
        rows.table, groups, parsed_columns["item"], listener_ids(parsed_columns["listener"])
    )
    scores = build_scores(rows)
    rows.table.wrong.refuse()
    captions = rows.layout.fields.get(CAPTION_ROLE)
    texts = (
        caption_texts(rows.table, captions, parsed_columns["item"], parsed_columns["system"])
        if captions
        else {}
    )
    return RatingsTable(
        ratings,
        tuple(_table_notes(rows, all_ratings, ratings, guessed=bool(judged and not rubric))),
        len(all_ratings) - len(ratings),
        rows.input,
        all_ratings,
        tuple(_off_scale_votes(rows)),
        divided,
        texts,
        judged,
        _raters_by_mean(rows) if rows.options.means else {},
        scores,
    )


def build_scores(rows: ParsedRatings) -> list[Score]:
    """Return one score per output and metric; outputs with several scores are faults."""
    columns, scores = rows.checked.columns, dict[tuple[str, Key], Score]()
    keys = make_keys(columns["item"], columns["system"]) if rows.checked.metrics else []
    for metric, values in rows.checked.metrics.items():
        for line, key, value in zip(rows.table.lines, keys, values, strict=True):
            score = scores.get((metric, key))
            if score is None or score.value != score.value:
                scores[metric, key] = Score(key, metric, value)
            elif value == value and value != score.value:
                output = f"item {key.item} of system {key.system}"
                message = f"{output} has the score {value:g} here and {score.value:g} above"
                remedy = "give all rows of an output the same score, or choose metrics (--metric)"
                rows.table.tell(line, metric, message, remedy)
    return [*scores.values()]


def _raters_by_mean(rows: ParsedRatings) -> dict[tuple[Key, str], int]:
    scales = len(rows.checked.votes)
    counts = rows.checked.columns.get(RATERS_ROLE, [0] * len(rows.table.lines))
    each = chain.from_iterable([count] * scales for count in counts)
    return {(r.key, r.scale): n for r, n in zip(rows.all_ratings, each, strict=True)}


def _off_scale_votes(rows: ParsedRatings) -> Iterator[OffScaleVote]:
    columns, lines = rows.checked.columns, rows.table.lines
    people = listener_ids(columns["listener"])
    for row, scale, value in rows.checked.off:
        item, system = columns["item"][row], columns["system"][row]
        yield OffScaleVote(lines[row], item, system, people[row], scale, value)


def _table_notes(
    rows: ParsedRatings, all_ratings: Sequence[Rating], ratings: Sequence[Rating], *, guessed: bool
) -> Iterator[str]:
    yield from rows.layout.notes
    yield from penalty_notes(ratings, rows.options.limits)
    if guessed:
        name = rows.options.rubric
        message = f"the table has all dimensions of the rubric {name} and is read with it"
        yield f"{message}; use --rubric {NO_RUBRIC} to change this"
    empty = {rating.key.system for rating in all_ratings} - {
        rating.key.system for rating in ratings
    }
    noun = "mean" if rows.options.means else "vote"
    yield from (f"no ratings of {name}: all its {noun}s are missing" for name in sorted(empty))
    if missing := len(all_ratings) - len(ratings):
        yield f"{missing:,} {f'{noun} is' if missing == 1 else f'{noun}s are'} missing"
    sessions = {rating.session for rating in ratings}
    if 0 in sessions and len(sessions) > 1:
        count = sum(rating.session == 0 for rating in ratings)
        yield f"{count:,} ratings are from session 0; remove them if that was practice"
