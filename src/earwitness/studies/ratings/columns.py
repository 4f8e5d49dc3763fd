"""Column roles, sample name patterns, cell values and scale limits of rating tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple, TypeVar

from earwitness.errors import UsageError, nearest
from earwitness.io.schema import NAME_PATTERN, Fault, is_name, show
from earwitness.io.tables import BadCell, Cell, InputTable, TableWording
from earwitness.studies.study import DEFAULT_SOUND_PATTERN, Scale

# --- Sample name patterns ------------------------------------------------------------------------
# In ``{system}/{item}.wav`` names are placeholders and ``*`` is any text; names contain no slash.
# If a sample matches in several ways, ``{item}`` takes the longest text and all others the
# shortest: ``{item}_{system}.wav`` is split at the last underscore, ``{system}_{item}.wav`` at the
# first. If systems are known, the system must be one of them; if several match, the item must be
# known too, and then the longest system name is used.


PATTERN_FIELDS = ("item", "system", "listener", "scale", "session")
MAX_SAMPLE_NAME_CHARACTERS = 1000
PATTERN_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|\*)")


class Division(NamedTuple):
    """Parts of a sample name by placeholder (empty: no match), and whether it is ambiguous."""

    parts: dict[str, str]
    several: bool


@dataclass(frozen=True)
class Pattern:
    """Pattern of sample names.

    >>> Pattern("{item}_{system}.wav").divide("clip_7_C1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C1'}, several=True)
    >>> Pattern("{item}_{system}.wav", frozenset(["C_1"])).divide("clip_7_C_1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C_1'}, several=False)
    """

    text: str
    systems: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in self.places:
            if name not in PATTERN_FIELDS:
                raise UsageError(
                    f'pattern: unknown placeholder "{{{name}}}" — {nearest(name, PATTERN_FIELDS)}'
                )
            if self.places.count(name) > 1:
                raise UsageError(f'pattern: "{{{name}}}" occurs twice — use it once')
        if not self.places:
            raise UsageError(
                f'pattern "{self.text}" has no placeholder — use at least one, such as {{item}}'
            )
        if re.search(r"[{}]", PATTERN_PLACEHOLDER.sub("", self.text)):
            raise UsageError(
                f'pattern "{self.text}" has an unmatched brace — write placeholders as {{item}}'
            )
        if "}{" in self.text:
            raise UsageError(
                f'pattern "{self.text}" has adjacent placeholders — put text between them'
            )

    @cached_property
    def places(self) -> list[str]:
        """Names of the placeholders."""
        return [
            placeholder[1:-1]
            for placeholder in PATTERN_PLACEHOLDER.findall(self.text)
            if placeholder != "*"
        ]

    def divide(self, sample: str) -> Division:
        """Split a sample name into its parts."""
        sample = sample.replace("\\", "/")
        if len(sample) > MAX_SAMPLE_NAME_CHARACTERS:
            return Division({}, False)
        return self._divide_by_system(sample) or self._divide_any(sample)

    def _divide_any(self, sample: str) -> Division:
        match, other_match = (
            self._usual_pattern.fullmatch(sample),
            self._other_pattern.fullmatch(sample),
        )
        if match is None or other_match is None:
            return Division({}, False)
        return Division(match.groupdict(), match.groupdict() != other_match.groupdict())

    def _divide_by_system(self, sample: str) -> Division | None:
        """Return the best division with a known system, or None."""
        ways = [
            {**match.groupdict(), "system": system}
            for system, pattern in self._by_system.items()
            if system in sample and (match := pattern.fullmatch(sample))
        ]
        ways = [way for way in ways if way.get("item") in self.items] or ways
        if not ways:
            return None
        best = max(ways, key=lambda way: len(way["system"]))
        return Division({name: best[name] for name in self.places}, len(ways) > 1)

    @cached_property
    def _by_system(self) -> dict[str, re.Pattern[str]]:
        if "system" not in self.places:
            return {}
        return {
            system: self._compile(flipped=False, system=system) for system in sorted(self.systems)
        }

    @cached_property
    def _usual_pattern(self) -> re.Pattern[str]:
        return self._compile(flipped=False)

    @cached_property
    def _other_pattern(self) -> re.Pattern[str]:
        return self._compile(flipped=True)

    def _compile(self, *, flipped: bool, system: str = "") -> re.Pattern[str]:
        pieces = PATTERN_PLACEHOLDER.split(self.text.replace("\\", "/"))
        return re.compile("".join(_piece_regex(piece, flipped, system) for piece in pieces))


def _piece_regex(piece: str, flipped: bool, system: str) -> str:
    if piece == "*":
        return ".*" if flipped else ".*?"
    if not piece.startswith("{"):
        return re.escape(piece)
    if system and piece == "{system}":
        return re.escape(system)
    most = (piece == "{item}") != flipped
    return f"(?P<{piece[1:-1]}>[^/]+{'' if most else '?'})"


# --- Names and numbers in cells ------------------------------------------------------------------


Parsed = TypeVar("Parsed")
MISSING_VALUE = float("nan")  # marks an empty cell; a written NaN is refused
UNDEFINED_WORDS = ("nan", "na", "n/a", "null", "none")
MAX_WHOLE_NUMBER = 1e9
SHOWN_NEAREST_NAMES = 20  # unknown names for which a suggestion is made
WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


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
) -> float | Fault:
    """Return a finite number, NaN for an empty cell, or a fault."""
    if cell == "" or (
        words.undefined and isinstance(cell, str) and cell.lower() in UNDEFINED_WORDS
    ):
        return MISSING_VALUE
    remedy = f"leave the cell empty if there is no {words.cell}"
    try:
        value = float(_number_text(cell, comma))
    except ValueError:
        return Fault("", f"must be a number, got {show_cell(cell)}", remedy)
    if abs(value) < float("inf"):
        return value
    return Fault("", f"must be finite, got {show_cell(cell)}", remedy)


def _number_text(cell: Cell, comma: bool) -> str:
    if not isinstance(cell, str) or "_" in cell:
        raise ValueError(cell)
    return cell.replace(",", ".") if comma else cell


def whole_number_reader(least: int) -> Callable[[Cell], int | Fault]:
    """Return a reader of whole numbers, counted from ``least``; an empty cell is 0."""

    def read(cell: Cell) -> int | Fault:
        value = read_number(cell)
        if cell == "":
            return 0
        if isinstance(value, float) and value == int(value) and least <= value <= MAX_WHOLE_NUMBER:
            return int(value) - least
        return Fault("", f"must be a whole number of at least {least}, got {show_cell(cell)}")

    return read


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
        rows = zip(table.lines, cells, strict=True)
        table.wrong.add((line, faults[cell]) for line, cell in rows if cell in faults)
    if all(cell is value for cell, value in parsed.items()):
        return cells  # type: ignore[return-value]
    return [parsed[cell] for cell in cells]  # type: ignore[misc]


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
    rows = zip(table.lines, cells, strict=True)
    table.wrong.add((line, faults[name]) for line, name in rows if name in faults)


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
    rows = zip(table.lines, cells, strict=True)
    table.wrong.add((line, bad[cell]) for line, cell in rows if cell in bad)
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


def listener_ids(names: Sequence[str]) -> Sequence[int | str]:
    """Return listeners as numbers if all are whole numbers, else as names."""
    if all(isinstance(name, str) and WHOLE_NUMBER.fullmatch(name) for name in set(names)):
        numbers = {name: int(name) for name in set(names)}
        return [numbers[name] for name in names]
    return names


# --- Known names and scale limits ----------------------------------------------------------------


STEP_TOLERANCE = 1e-6  # of a step


@dataclass(frozen=True)
class KnownNames:
    """Names defined by a study; empty: any name is allowed."""

    systems: Collection[str] = ()
    items: Collection[str] = ()
    listeners: Collection[int | str] = ()
    scales: Collection[str] = ()

    def names(self, role: str) -> frozenset[str]:
        """Return the names allowed in a column."""
        by_role: dict[str, Collection[int | str]] = {
            "system": [*self.systems],
            "item": [*self.items],
            "listener": self.listeners,
            "scale": [*self.scales],
        }
        return frozenset(map(str, by_role[role]))


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
    return {name: _make_limit(name, limit) for name, limit in (limits or {}).items()}


def _make_limit(name: str, limit: tuple[float, float, float] | Scale) -> Limit:
    if isinstance(limit, Scale):
        return Limit(limit.low, limit.high, limit.step)
    low, high, step = limit
    if not (low < high and step >= 0 and high - low < float("inf")):
        raise UsageError(
            f"limits of {name} must be (low, high, step) with low < high, got {limit!r}"
        )
    return Limit(low, high, step)


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
NUMERIC_ROLES = ("value", "session", "trial", "asked", "place")


@dataclass(frozen=True)
class ColumnOptions:
    """Options for reading a table.

    Columns in ``apart`` are read elsewhere. Columns for ``optional`` roles may be missing. Columns
    in ``groups`` group items or listeners. Scales may be written as ``aliases``. Values outside
    their scale are refused with a ``remedy``, or treated as missing with ``drop``.
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

    def __post_init__(self) -> None:
        for what, names in (("columns", self.columns), ("given", self.constants)):
            for role in names:
                if role not in ROLES:
                    raise UsageError(f'{what}: unknown role "{role}" — {nearest(role, ROLES)}')
        for role, text in self.constants.items():
            if not is_name(text):
                raise UsageError(f"given: {role} must be printable text, got {text!r}")
        for what, named in (
            ("columns", [name for name in self.columns.values() if name]),
            ("scales", list(self.scales)),
        ):
            for name in named:
                if named.count(name) > 1:
                    raise UsageError(f'{what}: "{name}" is named twice — name it once')
        if self.scales and (both := sorted({*LONG_TABLE_ROLES} & {*self.columns, *self.constants})):
            raise UsageError(
                f"{both[0]}: cannot be combined with scales in separate columns — remove either"
            )

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
        return self.aliases.get(written, written)

    def number_reader(self, table: InputTable) -> Callable[[Cell], float | Fault]:
        """Return the reader of cells with numbers."""
        return partial(read_number, comma=table.comma, words=self.words)

    @property
    def expected(self) -> list[str]:
        """Scales that are known before a file is read."""
        return list(dict.fromkeys([*self.known_names.scales, *self.limits]))


# --- Column layout -------------------------------------------------------------------------------
# Columns are found by their default names or by names set by the user. Without ``scale`` and
# ``value``, every scale has its own column: those named by the user, or known scales, or else all
# columns of numbers. Other columns are ignored with a note, or refused if they look misspelled.


NO_COLUMN_MESSAGE = "missing column"
SAMPLE_REMEDY = (
    "if file names contain system and item, use --sample COLUMN --pattern '{system}_{item}.wav'"
)
HEADER_LINE = 1  # line of the column names


@dataclass
class ColumnLayout:
    """Columns by role; ``scales`` are scales with their own columns."""

    fields: dict[str, str]
    sample: str = ""
    pattern: Pattern | None = None
    scales: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Roles that are part of sample names."""
        return self.pattern.places if self.pattern else []

    @property
    def used(self) -> set[str]:
        """Columns that are read."""
        return {*self.fields.values(), *self.scales, *([self.sample] * bool(self.sample))}


def lay_out(table: InputTable, options: ColumnOptions) -> ColumnLayout:
    """Return the columns of all roles; faults are added to the table."""
    named = {role: options.name_of(role) for role in ROLES}
    if options.scales:
        named = {role: name for role, name in named.items() if role not in LONG_TABLE_ROLES}
    layout = ColumnLayout(
        {role: name for role, name in named.items() if name and name in table.names}
    )
    _lay_out_samples(layout, table, options)
    roles = {*layout.fields, *layout.places, *options.constants}
    wide = bool(options.scales) or not roles & {*LONG_TABLE_ROLES}
    if wide:
        layout.scales = tuple(_scale_columns(layout, table, options))
    for fault in (
        *_contradictions(layout, options),
        *_missing_columns(layout, table, options, wide),
        *_misspelled_columns(layout, table, options, wide),
    ):
        table.tell(HEADER_LINE, *fault)
    unused = [show(n) for n in table.names if n and n not in layout.used and n not in options.apart]
    if unused:
        layout.notes.append(f"ignored columns: {', '.join(unused)}")
    return layout


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
    scales = expected or [name for name in free if _holds_numbers(table, name, options)]
    if scales and not expected:
        names = ", ".join(map(show, scales))
        layout.notes.append(f"all columns of numbers are read as {options.words.columns}: {names}")
    yield from scales


def _holds_numbers(table: InputTable, name: str, options: ColumnOptions) -> bool:
    """Return whether at least half of the filled cells of a column are numbers."""
    cells = [cell for cell in table.cells(name, numbers=True) if cell]
    read = options.number_reader(table)
    right = {cell for cell in set(cells) if isinstance(read(cell), float)}
    return bool(right) and 2 * sum(cell in right for cell in cells) >= len(cells)


def _contradictions(layout: ColumnLayout, options: ColumnOptions) -> Iterator[Fault]:
    for role in layout.places:
        if role in layout.fields:
            message = f"both a column and {{{role}}} in the pattern"
            yield Fault(layout.fields[role], message, "write * instead in the pattern")
        elif layout.scales and role == "scale":
            message = "{scale} in the pattern, but scales are separate columns"
            yield Fault(layout.sample, message, "write * instead of {scale}")
    for role in options.constants:
        if role in layout.fields or role in layout.places:
            yield Fault(role, "set as a constant, but also in the file", "remove one of them")


def _missing_columns(
    layout: ColumnLayout, table: InputTable, options: ColumnOptions, wide: bool
) -> Iterator[Fault]:
    """Yield faults of missing columns."""
    sure = {*layout.fields.values(), *options.scales, layout.sample}
    free = [name for name in table.names if name and name not in sure]
    for role, name in options.columns.items():
        if name and name not in table.names and role not in options.optional:
            yield Fault(
                show(name), f"{NO_COLUMN_MESSAGE} (for {role})", _column_remedy(name, table.names)
            )
    for name in (layout.sample, *layout.scales):
        if name and name not in table.names:
            yield Fault(show(name), NO_COLUMN_MESSAGE, _column_remedy(name, table.names))
    said = {*layout.fields, *layout.places, *options.constants}
    for role in REQUIRED_ROLES if wide else (*REQUIRED_ROLES, *LONG_TABLE_ROLES):
        if role not in said and not options.columns.get(role):
            yield Fault(
                role,
                NO_COLUMN_MESSAGE,
                _column_remedy(role, free, *_role_remedies(role, layout, options)),
            )
    if wide and not layout.scales:
        message = "neither columns scale and value, nor columns of numbers"
        yield Fault("", message, _column_remedy("value", free))


def _role_remedies(role: str, layout: ColumnLayout, options: ColumnOptions) -> Iterator[str]:
    yield options.words.remedy.format(role=role)
    if role in ("item", "system") and not layout.pattern and not options.words.undefined:
        yield SAMPLE_REMEDY


def _column_remedy(name: str, names: Sequence[str], *more: str) -> str:
    suggestion = nearest(name, [column_name for column_name in names if column_name]).replace(
        "known:", "found:", 1
    )
    return "; ".join(part for part in (suggestion, *more) if part).replace("?; ", "? ")


def _misspelled_columns(
    layout: ColumnLayout, table: InputTable, options: ColumnOptions, wide: bool
) -> Iterator[Fault]:
    """Yield faults of columns whose names look like misspelled missing columns."""
    roles = {*layout.fields, *layout.places, *options.constants, *options.columns}
    lacking = [role for role in OPTIONAL_ROLES if role not in roles]
    lacking += [name for name in layout.used if name in table.partial]
    if wide and not options.scales:
        lacking += [
            *LONG_TABLE_ROLES,
            *(name for name in options.expected if name not in table.names),
        ]
    for name in table.names:
        if name and name not in layout.fields.values() and name not in options.scales:
            remedy = nearest(name, [other for other in lacking if other != name])
            if name != layout.sample and remedy.startswith("did"):
                yield Fault(show(name), "unknown column", remedy)
