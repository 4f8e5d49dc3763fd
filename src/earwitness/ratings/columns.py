"""Column roles, cell values and scale limits of rating tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import inf, nan
from typing import Any, NamedTuple, TypeVar

from earwitness.core import group_values
from earwitness.errors import UsageError, nearest
from earwitness.io.schema import NAME_PATTERN, Fault, is_name, show
from earwitness.io.tables import BadCell, Cell, InputTable, TableWording
from earwitness.ratings.names import (
    DEFAULT_SOUND_PATTERN,
    KnownNames,
    Pattern,
    is_counter,
    looks_like_votes,
    match_scales,
    unused_votes_note,
)
from earwitness.ratings.scales import OTHER_SCALE_NAMES, Scale, canonical_scale
from earwitness.ratings.vote_columns import divide_numbers, is_vote_name
from earwitness.task import Filter

# --- Names and numbers in cells ------------------------------------------------------------------


Parsed = TypeVar("Parsed")
MISSING_VALUE = nan  # marks an empty cell; a written NaN is refused
UNDEFINED_WORDS = ("nan", "na", "n/a", "null", "none")
MAX_WHOLE_NUMBER = 1e9
MAX_NUMBER = 1e100  # sums of squares and their products stay finite
SHOWN_NEAREST_NAMES = 20  # unknown names for which a suggestion is made
# a number with a decimal comma, a percent sign or both
ODD_NUMBER = re.compile(r"(?=.*[,%])[-+]?\d+(\.\d+|(?P<comma>,\d+))?(?P<percent>\s*%)?")
DECIMAL_COMMA_REMEDY = "write a decimal point, or separate columns by semicolons"


def show_cell(cell: Cell) -> str:
    """Return a cell for a message."""
    return cell.shown if isinstance(cell, BadCell) else show(cell)


def read_name(cell: Cell) -> str | Fault:
    """Return a name, which is printable text and not empty, or a fault."""
    if isinstance(cell, str) and re.search(NAME_PATTERN, cell):
        return cell
    if cell == "":
        return Fault("", "is empty")
    message = f"must be printable text or a whole number, got {show_cell(cell)}"
    return Fault("", message, "remove control characters and surrounding spaces")


def read_optional_name(cell: Cell) -> str | Fault:
    """Return a name, an empty string, or a fault."""
    return read_name(cell) if cell else ""


def read_number(
    cell: Cell,
    *,
    comma: bool = False,
    words: TableWording = TableWording(),  # noqa: B008
    percent: bool = False,
) -> float | Fault:
    """Return a number of at most ``MAX_NUMBER``, NaN for an empty cell, or a fault.

    With ``percent``, a percent sign is ignored.
    """
    if cell == "":
        return MISSING_VALUE
    value: float | None = None
    try:
        text = _number_text(cell, comma)
        value = float(text.removesuffix("%") if percent else text)
        if abs(value) <= MAX_NUMBER:
            return value
    except ValueError:
        pass
    if words.undefined and isinstance(cell, str) and cell.lower() in UNDEFINED_WORDS:
        return MISSING_VALUE
    remedy = f"leave the cell empty if there is no {words.cell}"
    if value is None:
        remedy = _notation_remedy(cell, comma) or remedy
        return Fault("", f"must be a number, got {show_cell(cell)}", remedy)
    if abs(value) < inf:
        message = f"must be between −{MAX_NUMBER:g} and {MAX_NUMBER:g}, got {show_cell(cell)}"
        return Fault("", message, ("use logarithms, or " if words.undefined else "") + remedy)
    return Fault("", f"must be finite, got {show_cell(cell)}", remedy)


def _notation_remedy(cell: Cell, comma: bool) -> str:
    """Return the remedy for a number with a percent sign or a decimal comma, else an empty string.

    ``comma`` says that numbers may have a decimal comma.
    """
    match = ODD_NUMBER.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return ""
    remedies = [DECIMAL_COMMA_REMEDY] if match["comma"] and not comma else []
    return "; ".join([*remedies, *(["remove the % sign"] if match["percent"] else [])])


def read_plain_numbers(cells: Sequence[Cell]) -> list[float] | None:
    """Return the numbers of a column at once, or None unless every cell is a plain number."""
    try:
        numbers = [*map(float, cells)]  # type: ignore[arg-type]
        is_plain = all(-MAX_NUMBER <= number <= MAX_NUMBER for number in numbers)
        is_plain = is_plain and "_" not in "".join(cells)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return numbers if is_plain else None


def _number_text(cell: Cell, comma: bool) -> str:
    if not isinstance(cell, str) or "_" in cell:
        raise ValueError(cell)
    return cell.replace(",", ".") if comma else cell


def read_whole_number(cell: Cell, least: int) -> int | Fault:
    """Return a whole number, counted from ``least``; an empty cell is 0."""
    value = read_number(cell)
    if cell == "":
        return 0
    if isinstance(value, float) and value == int(value) and least <= value <= MAX_WHOLE_NUMBER:
        return int(value) - least
    return Fault("", f"must be a whole number of at least {least}, got {show_cell(cell)}")


def read_column(
    table: InputTable, cells: Sequence[Cell], where: str, read: Callable[[Cell], Parsed | Fault]
) -> Sequence[Parsed]:
    """Return parsed cells; faults are added to the table and kept in place."""
    parsed = {cell: cell if isinstance(cell, Fault) else read(cell) for cell in set(cells)}
    faults = {
        cell: value._replace(field=where)
        for cell, value in parsed.items()
        if isinstance(value, Fault) and not isinstance(cell, Fault)
    }
    if faults:
        tell_cells(table, cells, faults)
    if all(cell is value for cell, value in parsed.items()):
        return cells  # type: ignore[return-value]
    return [parsed[cell] for cell in cells]  # type: ignore[misc]


def tell_cells(table: InputTable, cells: Sequence[Any], faults: Mapping[Any, Fault]) -> None:
    """Add the faults of cells to a table, each with its line."""
    rows = zip(table.lines, cells, strict=True)
    table.wrong.add((line, faults[cell]) for line, cell in rows if cell in faults)


def refuse_header(table: InputTable, *fault: str) -> None:
    """Raise InputError with all faults of a table, and one more of its column names."""
    table.tell(HEADER_LINE, *fault)
    table.wrong.refuse()


def tell_unknown_names(
    table: InputTable, cells: Sequence[object], where: str, role: str, names: frozenset[str]
) -> None:
    """Report unknown names, with suggestions for the first ones."""
    if not names or names.issuperset(set(cells)):
        return
    strange = dict.fromkeys(name for name in cells if isinstance(name, str) and name)
    for name in names:
        strange.pop(name, None)
    near = {name: nearest(name, names) for name in islice(strange, SHOWN_NEAREST_NAMES)}
    faults = {
        name: Fault(where, f"unknown {role} {show(name)}", near.get(name, "")) for name in strange
    }
    tell_cells(table, cells, faults)


def match_known_names(
    cells: Sequence[Parsed], names: frozenset[str], role: str, notes: list[str]
) -> Sequence[Parsed]:
    """Return names as the study writes them, if they differ from it only in case.

    A name that fits two names of the study is kept.
    """
    strange = {cell for cell in set(cells) if isinstance(cell, str) and cell not in names}
    if not names or not strange:
        return cells
    by_folded = group_values((name.casefold(), name) for name in names)
    matched: dict[Any, Any] = {
        name: found[0] for name in strange if len(found := by_folded.get(name.casefold(), [])) == 1
    }
    if not matched:
        return cells
    first = min(matched)
    told = f"{show(first)} is read as {show(matched[first])}"
    notes.append(f"names of {role}s that differ from the study only in case are matched: {told}")
    return [matched.get(cell, cell) for cell in cells]


MAX_LISTED_SAMPLES = 3  # names that do not match; more are counted in one message


def divide_samples(
    table: InputTable, where: str, pattern: Pattern, notes: list[str]
) -> dict[str, Sequence[Cell]]:
    """Return the columns extracted from sample names."""
    cells = table.cells(where)
    divisions = {sample: pattern.divide(sample) for sample in set(cells) if isinstance(sample, str)}
    message = f"does not match the pattern {pattern.text}"
    remedy = "change the pattern; * matches any text"
    bad = {
        sample: Fault(where, f"{show_cell(sample)} {message}", remedy)
        for sample in set(cells)
        if sample not in divisions or not divisions[sample].parts
    }
    if len(bad) == len({*cells}) > 1:
        first = f"no sample name matches the pattern {pattern.text}, e.g. {show_cell(cells[0])}"
        table.tell(table.lines[0], where, first, remedy)
        table.wrong.refuse()
    if len(bad) > MAX_LISTED_SAMPLES:
        line, cell = next(x for x in zip(table.lines, cells, strict=True) if x[1] in bad)
        names = f"{len(bad):,} of {len({*cells}):,} names do not match the pattern {pattern.text}"
        remedy = "change the pattern, or leave these rows out, as in --where session!=0"
        table.tell(line, where, f"{names}, such as {show_cell(cell)}", remedy)
        table.wrong.refuse()
    tell_cells(table, cells, bad)
    if several := sorted(sample for sample, way in divisions.items() if way.several):
        best = ", ".join(
            f"{name} {show(part)}" for name, part in divisions[several[0]].parts.items()
        )
        names = "sample names match" if len(several) > 1 else "sample name matches"
        count = f"{len(several):,} {names} {pattern.text} in several ways"
        notes.append(f"{count}; {show(several[0])} is read as {best}")
    return {
        place: [bad[cell] if cell in bad else divisions[cell].parts[place] for cell in cells]  # type: ignore[index]
        for place in pattern.places
    }


# --- Scale limits ----------------------------------------------------------------


STEP_TOLERANCE = 1e-6  # of a step


class Limit(NamedTuple):
    """Values of a scale: from ``low`` to ``high`` in steps; step 0 allows any value between.

    >>> Limit(1, 5, 1).allows(4), Limit(1, 5, 1).allows(4.5), Limit(1, 5, 0).allows(4.5)
    (True, False, True)
    >>> str(Limit(0, 100, 1))
    '0 to 100 in steps of 1'
    """

    low: float
    high: float
    step: float

    def allows(self, value: float) -> bool:
        """Return whether a value is on the scale."""
        if not self.low <= value <= self.high:
            return False
        steps = (value - self.low) / self.step if self.step else 0.0
        return abs(steps - round(steps)) < STEP_TOLERANCE

    def __str__(self) -> str:
        steps = f" in steps of {self.step:g}" if self.step else ""
        return f"{self.low:g} to {self.high:g}{steps}"


Limits = Mapping[str, tuple[float, float, float] | Scale]


def limits_of(limits: Limits | None) -> dict[str, Limit]:
    """Return limits by scale."""
    made = dict[str, Limit]()
    for name, limit in (limits or {}).items():
        if isinstance(limit, Scale):
            made[name] = Limit(limit.low, limit.high, limit.step)
            continue
        low, high, step = made[name] = Limit(*limit)
        if not (low < high and step >= 0 and high - low < inf):
            raise UsageError(
                f"limits of {name} must be (low, high, step) with low < high, got {limit!r}"
            )
    return made


def find_off_scale(
    pairs: Collection[tuple[object, object]], limits: Mapping[str, Limit]
) -> Iterator[tuple[tuple[object, object], str]]:
    """Yield the pairs of scale and value that are outside the scale, with the reason."""
    for scale, value in pairs:
        limit = limits.get(scale) if isinstance(scale, str) else None
        if limit and isinstance(value, float) and value == value and not limit.allows(value):
            yield (scale, value), f"{value:g} is outside scale {scale} ({limit})"


# --- Column options and roles --------------------------------------------------------------------


REQUIRED_ROLES = ("item", "system", "listener")
LONG_TABLE_ROLES = ("scale", "value")
OPTIONAL_ROLES = ("session", "trial", "asked", "place", "against")
ROLES = (*REQUIRED_ROLES, *LONG_TABLE_ROLES, *OPTIONAL_ROLES)
SAMPLE_COLUMNS = ("sample", "file", "stimulus")
ONLY_SYSTEM = "system"  # name of the system if no table has a column for it
CAPTION_ROLE = "caption"
RATERS_ROLE = "raters"
RATERS_COLUMNS = (RATERS_ROLE, "n")  # default names of the column
NUMERIC_ROLES = ("value", "session", "trial", "asked", "place", RATERS_ROLE)


AUTO_LAYOUT, PLAIN_LAYOUT, MATRIX_LAYOUT, TRANSPOSED_LAYOUT = LAYOUTS = (
    *("auto", "plain", "matrix", "transposed"),
)


@dataclass(frozen=True)
class ColumnOptions:
    """Options for reading a table.

    Columns in ``apart`` are read elsewhere, and names of ``ignored`` columns are not checked for
    misspellings. ``layout`` is one of ``LAYOUTS``. Columns for ``optional`` roles
    may be missing. Columns in ``groups`` group items or listeners. Scales may be written as
    ``aliases``. Values outside their scale are refused with a ``remedy``, or treated as missing
    with ``drop``. With ``means``, values are means over raters: they may lie between the steps of a
    scale, and have no listener; None means that a table without listeners has means. A table with
    ``metrics`` has votes and these metrics, or all its metrics if none is named. Only rows are read
    for which the conditions in ``where`` hold.
    """

    pattern: str = ""
    column: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scales: Sequence[str] = ()
    constants: Mapping[str, int | str] = field(default_factory=dict)
    known_names: KnownNames = field(default_factory=KnownNames)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    words: TableWording = field(default_factory=TableWording)
    apart: Sequence[str] = ()
    optional: Collection[str] = ()
    groups: Sequence[str] = ()
    rubric: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    remedy: str = ""
    drop: bool = False
    roles: Sequence[str] = ROLES
    means: bool | None = False
    metrics: Sequence[str] | None = None
    ignored: Collection[str] = ()
    layout: str = AUTO_LAYOUT
    where: Filter = Filter()  # noqa: RUF009

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise UsageError(
                f'layout: unknown layout "{self.layout}" — {nearest(self.layout, LAYOUTS)}'
            )
        constant_roles = [role for role in self.roles if role != CAPTION_ROLE]
        for what, names, roles in (
            ("columns", self.columns, (*self.roles, "sample")),
            ("constants", self.constants, constant_roles),
        ):
            for role in names:
                if role not in roles:
                    raise UsageError(f'{what}: unknown role "{role}" — {nearest(role, roles)}')
        for role, text in self.constants.items():
            if not is_name(text):
                raise UsageError(f"constants: {role} must be printable text, got {text!r}")
        for what, named in (
            ("columns", [name for name in self.columns.values() if name]),
            ("scales", list(self.scales)),
        ):
            for name in named:
                if named.count(name) > 1:
                    raise UsageError(f'{what}: "{name}" is named twice — name it once')
        if self.scales and (both := sorted({*LONG_TABLE_ROLES} & self.said)):
            raise UsageError(
                f"{both[0]}: cannot be combined with scales in separate columns — remove either"
            )

    @property
    def said(self) -> set[str]:
        """Roles that have a column or a constant set by the user."""
        return {*self.columns, *self.constants}

    @property
    def wanted(self) -> list[str]:
        """Names of columns that a file may have."""
        named = (*self.columns.values(), *self.scales, *self.known_names.scales, *self.limits)
        return [*ROLES, *SAMPLE_COLUMNS, self.column, *named]

    def name_of(self, role: str) -> str:
        """Return the column of a role; empty if the user excludes it."""
        return self.columns.get(role, role)

    def scale(self, written: str) -> str:
        """Return the canonical name of a scale."""
        return self.aliases.get(written) or canonical_scale(written, self.expected)

    def number_reader(self, table: InputTable) -> Callable[[Cell], float | Fault]:
        """Return the reader of cells with numbers."""
        return partial(read_number, comma=table.comma, words=self.words)

    def metric_reader(self, table: InputTable) -> Callable[[Cell], float | Fault]:
        """Return the reader of cells with values of metrics, which may be undefined."""
        words = replace(self.words, cell="score", undefined=True)
        return partial(read_number, comma=table.comma, words=words, percent=True)

    @property
    def expected(self) -> list[str]:
        """Scales that are known before a file is read."""
        return list(dict.fromkeys([*self.known_names.scales, *self.limits]))


# --- Column layout -------------------------------------------------------------------------------
# Columns are found by their default names or by names set by the user. Without ``scale`` and
# ``value``, every scale has its own column: those named by the user, or known scales, or else all
# columns of numbers. Other columns are ignored with a note, or refused if they look misspelled.


Faults = Iterator[Fault]  # of the columns of a table
NO_COLUMN_MESSAGE = "missing column"
SAMPLE_REMEDY = (
    "if file names contain system and item, use --column sample=NAME --pattern "
    "'{system}_{item}.wav'"
)
HEADER_LINE = 1  # line of the column names
PLANE_SCALES = {"TC", "SD"}


@dataclass
class ColumnLayout:
    """Columns by role; ``scales`` and ``metrics`` have their own columns."""

    fields: dict[str, str]
    sample: str = ""
    pattern: Pattern | None = None
    scales: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Roles that are part of sample names."""
        return self.pattern.places if self.pattern else []

    @property
    def used(self) -> set[str]:
        """Columns that are read."""
        sample = [self.sample] if self.sample else []
        return {*self.fields.values(), *self.scales, *self.metrics, *sample}


def lay_out(table: InputTable, options: ColumnOptions) -> ColumnLayout:
    """Return the columns of all roles; faults are added to the table."""
    named = {role: options.name_of(role) for role in options.roles}
    if not options.means:
        named.pop(RATERS_ROLE, None)
    elif RATERS_ROLE in named and RATERS_ROLE not in options.said:
        named[RATERS_ROLE] = next((name for name in RATERS_COLUMNS if name in table.names), "")
    if options.scales:
        named = {role: name for role, name in named.items() if role not in LONG_TABLE_ROLES}
    layout = ColumnLayout(
        {role: name for role, name in named.items() if name and name in table.names}
    )
    _lay_out_samples(layout, table, options)
    roles = {*layout.fields, *options.constants}
    wide = bool(options.scales) or not roles & {*LONG_TABLE_ROLES}
    if wide and options.metrics is None:
        match_scales(table, options.expected, {*layout.used, *options.wanted, *options.apart})
    if options.metrics is not None:
        _divide_columns(layout, table, options, options.metrics, wide=wide)
    elif wide:
        layout.scales = tuple(_scale_columns(layout, table, options))
    odd = [*_odd_number_columns(layout, table, options)] if wide else []
    for fault in (
        *odd,
        *_contradictions(layout, options),
        *_missing_columns(layout, table, options, wide, odd=bool(odd)),
        *_misspelled_columns(layout, table, options, wide),
    ):
        table.tell(HEADER_LINE, *fault)
    layout.notes = [*table.notes, *layout.notes]
    unused = [show(n) for n in table.names if n and n not in layout.used and n not in options.apart]
    if unused:
        layout.notes.append(f"ignored columns: {', '.join(unused)}")
    return layout


def match_case(table: InputTable, wanted: Sequence[str]) -> None:
    """Rename columns that differ from a wanted name only in case, if only one does."""
    for name in dict.fromkeys(wanted):
        close = [other for other in table.names if other and other.casefold() == name.casefold()]
        if name not in table.names and len(close) == 1 and close[0] not in wanted:
            table.rename(close[0], name)


def _lay_out_samples(layout: ColumnLayout, table: InputTable, options: ColumnOptions) -> None:
    """Find the column of sample names, and its pattern."""
    known_names = options.known_names
    sample = options.column or next((name for name in SAMPLE_COLUMNS if name in table.names), "")
    if options.column and options.pattern:  # the pattern defines the content of this column
        layout.fields = {role: name for role, name in layout.fields.items() if name != sample}
    unsaid = not {"item", "system"} & {*layout.fields, *options.constants}
    text = options.pattern or (DEFAULT_SOUND_PATTERN if sample and unsaid else "")
    if text:
        layout.sample = sample or SAMPLE_COLUMNS[0]
        layout.pattern = Pattern(text, known_names.names("system"), known_names.names("item"))
    if text and not options.pattern:
        layout.notes.append(f"column {show(sample)} is read with the pattern {text}")


def _scale_columns(
    layout: ColumnLayout, table: InputTable, options: ColumnOptions
) -> Iterator[str]:
    """Yield the columns that are scales."""
    if options.scales:
        yield from options.scales
        return
    taken = layout.used | {*options.apart}
    free = [name for name in table.names if name and name not in taken]
    expected = [name for name in options.expected if name in free]
    expected = expected or [name for name in free if options.means and is_vote_name(name)]
    if PLANE_SCALES & {*expected} and not {*expected, *options.known_names.scales} >= PLANE_SCALES:
        expected = [name for name in expected if name not in PLANE_SCALES]  # SD: of a mean
    is_rated = not options.words.undefined  # a metric may well be a count of rows
    counters = [
        n
        for n in free
        if is_rated and is_counter(n, read_plain_numbers(table.cells(n, numbers=True)))
    ]
    scales = expected or [
        name for name in free if name not in counters and _holds_numbers(table, name, options)
    ]
    if scales and not expected:
        names = ", ".join(map(show, scales))
        layout.notes.append(f"all columns of numbers are read as {options.words.columns}: {names}")
    others = [name for name in free if name not in scales and name not in counters]
    unused = [name for name in others if _holds_votes(layout, table, name)]
    if {*scales} <= {*OTHER_SCALE_NAMES.values()}:  # a name that is not only that of a trial kind
        scales, unused = [name for name in free if name in scales or name in unused], []
    if unused:
        layout.notes.append(unused_votes_note(unused))
    yield from scales


def _divide_columns(
    layout: ColumnLayout,
    table: InputTable,
    options: ColumnOptions,
    metrics: Sequence[str],
    *,
    wide: bool,
) -> None:
    """Find the columns of votes and of metrics, and note which they are."""
    read, numbers = options.metric_reader(table), dict[str, list[float]]()
    for name in table.names:
        if not name or name in layout.used or name in options.apart:
            continue
        cells = table.cells(name, numbers=True)
        values = [value if isinstance(value, float) else nan for value in map(read, cells)]
        known = sum(value == value for value in values)
        is_number = 2 * known >= sum(map(bool, cells)) > 0
        is_number = is_number and not is_counter(name, read_plain_numbers(cells))
        if is_number or name in options.scales or name in metrics:
            numbers[name] = values
    places = [layout.fields[role] for role in ("item", "system", "scale") if role in layout.fields]
    places += [layout.sample] if layout.sample else []
    columns = [table.cells(name) for name in places]
    outputs = list(zip(*columns, strict=True)) if columns else [()] * len(table.lines)
    listeners = table.cells(layout.fields["listener"]) if "listener" in layout.fields else ()
    votes = options.scales if wide else [layout.fields.get("value", "")]
    divided = divide_numbers(numbers, outputs, listeners, votes, metrics)
    layout.scales, layout.metrics = divided.votes if wide else (), divided.metrics
    if divided.fault is None:
        ratings, scores = (", ".join(map(show, names)) for names in divided[:2])
        remedy = "use --scale and --metric to change this"
        layout.notes.append(f"ratings are read from {ratings}, metrics from {scores}; {remedy}")
    elif not table.wrong.count:
        table.tell(HEADER_LINE, *divided.fault)


def _holds_votes(layout: ColumnLayout, table: InputTable, name: str) -> bool:
    """Return whether the filled cells of a column look like votes."""
    cells = table.cells(name, numbers=True)
    filled = [row for row, cell in enumerate(cells) if cell]
    numbers = read_plain_numbers([cells[row] for row in filled])
    columns = {role: layout.fields[role] for role in REQUIRED_ROLES if role in layout.fields}
    if layout.sample and "listener" in columns:  # means have one row per sample
        columns["sample"] = layout.sample
    owners = {
        role: [table.cells(column)[row] for row in filled] for role, column in columns.items()
    }
    listeners = owners.get("listener", [""] * len(filled))
    return numbers is not None and looks_like_votes(numbers, [*owners.values()], listeners)


def _holds_numbers(table: InputTable, name: str, options: ColumnOptions) -> bool:
    """Return whether at least half of the filled cells of a column are numbers of any size."""
    cells = [cell for cell in table.cells(name, numbers=True) if cell]
    if cells and read_plain_numbers(cells) is not None:
        return True
    read = options.number_reader(table)
    right = set[Cell]()
    for cell in set(cells):
        with suppress(ValueError):
            if isinstance(read(cell), float) or abs(float(_number_text(cell, table.comma))) < inf:
                right.add(cell)
    return bool(right) and 2 * sum(cell in right for cell in cells) >= len(cells)


def _odd_number_columns(layout: ColumnLayout, table: InputTable, options: ColumnOptions) -> Faults:
    """Yield faults of columns of numbers that cannot be read, such as "85 %".

    Such columns are ignored if there are others and users cannot choose columns.
    """
    is_chosen = bool(options.words.choice) or options.metrics is not None
    if options.scales or (layout.scales and not is_chosen):
        return
    read = options.number_reader(table)
    for name in table.names:
        if not name or name in layout.used or name in options.apart:
            continue
        cells = [cell for cell in table.cells(name) if isinstance(cell, str) and cell]
        odd = {cell for cell in set(cells) if ODD_NUMBER.fullmatch(cell)}
        if odd and 2 * sum(cell in odd for cell in cells) >= len(cells):
            first = next(cell for cell in cells if cell in odd)
            fault = read(first)
            if isinstance(fault, Fault):
                remedy = "; ".join(part for part in (fault.remedy, options.words.choice) if part)
                yield Fault(show(name), f"contains numbers such as {show(first)}", remedy)


def _contradictions(layout: ColumnLayout, options: ColumnOptions) -> Faults:
    for role in layout.places:
        if role in layout.fields:
            message = f"both a column and {{{role}}} in the pattern"
            yield Fault(layout.fields[role], message, "write * instead in the pattern")
    for role in options.constants:
        if role in layout.fields or role in layout.places:
            yield Fault(role, "set as a constant, but also in the file", "remove one of them")
    if options.means and "listener" in {*layout.fields, *options.constants}:
        message = "a table of means has no listeners"
        remedy = (
            "remove --layout means if each row is the vote of one listener, else remove the column"
        )
        yield Fault(layout.fields.get("listener", "listener"), message, remedy)


def _missing_columns(
    layout: ColumnLayout, table: InputTable, options: ColumnOptions, wide: bool, *, odd: bool
) -> Faults:
    """Yield faults of missing columns; ``odd`` says that columns of odd numbers were reported."""
    sure = {*layout.fields.values(), *options.scales, layout.sample}
    free = [name for name in table.names if name and name not in sure]
    for role, name in options.columns.items():
        if name and name not in table.names and role not in options.optional:
            yield Fault(
                show(name), f"{NO_COLUMN_MESSAGE} (for {role})", _column_remedy(name, table.names)
            )
    for name in (layout.sample, *layout.scales, *layout.metrics):
        if name and name not in table.names:
            yield Fault(show(name), NO_COLUMN_MESSAGE, _column_remedy(name, table.names))
    said = {*layout.fields, *layout.places, *options.constants}
    said |= set() if options.means is False else {"listener"}
    for role in REQUIRED_ROLES if wide else (*REQUIRED_ROLES, *LONG_TABLE_ROLES):
        if role not in said and not options.columns.get(role):
            needs_sample = not layout.pattern and not options.words.undefined
            samples = [SAMPLE_REMEDY] if needs_sample and role in ("item", "system") else []
            yield Fault(
                role,
                NO_COLUMN_MESSAGE,
                _column_remedy(role, free, options.words.remedy.format(role=role), *samples),
            )
    if wide and not layout.scales and not odd and options.metrics is None:
        message = "neither columns scale and value, nor columns of numbers"
        yield Fault("", message, _column_remedy("value", free))


def _column_remedy(name: str, names: Sequence[str], *more: str) -> str:
    suggestion = nearest(name, [column_name for column_name in names if column_name]).replace(
        "known:", "found:", 1
    )
    return "; ".join(part for part in (suggestion, *more) if part).replace("?; ", "? ")


def _misspelled_columns(
    layout: ColumnLayout, table: InputTable, options: ColumnOptions, wide: bool
) -> Faults:
    """Yield faults of columns whose names look like misspelled missing columns."""
    roles = {*layout.fields, *layout.places, *options.constants, *options.columns}
    lacking = [role for role in OPTIONAL_ROLES if role not in roles]
    lacking += [name for name in layout.used if name in table.partial]
    if wide and not options.scales:
        lacking += [
            *LONG_TABLE_ROLES,
            *(name for name in options.expected if name not in {*table.names, *PLANE_SCALES}),
        ]
    for name in table.names:
        if name in options.ignored or name in options.expected:
            continue
        read = {*layout.fields.values(), *options.scales, *layout.metrics}
        if name and name not in read:
            remedy = nearest(name, [other for other in lacking if other != name])
            if name != layout.sample and remedy.startswith("did"):
                yield Fault(show(name), "unknown column", remedy)
