"""Which column of a table says what.

Columns are known by their names, or by those that the user gives. Without ``scale`` and ``value``
every scale has a column of its own: those that the user names, or that are known, or else all that
hold numbers. What is left is passed over and told, but refused if it looks like a slip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from earwitness.data.study import PATTERN
from earwitness.errors import nearest
from earwitness.formats.check import Fault, show
from earwitness.formats.ratings.names import Pattern
from earwitness.formats.ratings.options import LONG, NEEDED, OPTIONAL, ROLES, SAMPLES, Options
from earwitness.formats.ratings.table import Table

NO_COLUMN = "there is no such column"
HEAD = 1  # the line with the names of columns


@dataclass
class Layout:
    """Columns by what they say; ``scales`` are columns of their own, if any."""

    fields: dict[str, str]
    sample: str = ""
    pattern: Pattern | None = None
    scales: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """What names of samples say."""
        return self.pattern.places if self.pattern else []

    @property
    def used(self) -> set[str]:
        """Columns that are read."""
        return {*self.fields.values(), *self.scales, *([self.sample] * bool(self.sample))}


def lay_out(table: Table, options: Options) -> Layout:
    """Where everything is; what cannot be is told to the table."""
    named = {role: options.name_of(role) for role in ROLES}
    if options.scales:
        named = {role: name for role, name in named.items() if role not in LONG}
    layout = Layout({role: name for role, name in named.items() if name and name in table.names})
    _samples(layout, table, options)
    told = {*layout.fields, *layout.places, *options.given}
    wide = bool(options.scales) or not told & {*LONG}
    if wide:
        layout.scales = tuple(_scales(layout, table, options))
    for fault in (
        *_contradictions(layout, options),
        *_absent(layout, table, options, wide),
        *_slips(layout, table, options, wide),
    ):
        table.tell(HEAD, *fault)
    rest = [show(n) for n in table.names if n and n not in layout.used and n not in options.apart]
    if rest:
        layout.notes.append(f"passed over: {', '.join(rest)}")
    return layout


def _samples(layout: Layout, table: Table, options: Options) -> None:
    """The column with names of samples, where they say something."""
    known = options.known
    sample = options.column or next((name for name in SAMPLES if name in table.names), "")
    if options.column and options.pattern:  # which then says what is in this column
        layout.fields = {role: own for role, own in layout.fields.items() if own != sample}
    unsaid = not {"item", "system"} & {*layout.fields, *options.given}
    text = options.pattern or (PATTERN if sample and unsaid else "")
    if text:
        layout.sample = sample or SAMPLES[0]
        layout.pattern = Pattern(text, known.names("system"), known.names("item"))
    if text and not options.pattern:
        layout.notes.append(f"{show(sample)} is read as {text}")


def _scales(layout: Layout, table: Table, options: Options) -> Iterator[str]:
    """Columns that are scales."""
    if options.scales:
        yield from options.scales
        return
    taken = layout.used | {*options.apart}
    free = [name for name in table.names if name and name not in taken]
    known = [name for name in options.expected if name in free]
    found = known or [name for name in free if _holds_numbers(table, name, options)]
    if found and not known:
        names = ", ".join(map(show, found))
        layout.notes.append(f"{options.words.columns} are the columns of numbers: {names}")
    yield from found


def _holds_numbers(table: Table, name: str, options: Options) -> bool:
    """Whether at least half of what a column says are numbers; the others will be refused."""
    cells = [cell for cell in table.cells(name, numbers=True) if cell]
    read = options.number(table)
    right = {cell for cell in set(cells) if isinstance(read(cell), float)}
    return bool(right) and 2 * sum(cell in right for cell in cells) >= len(cells)


def _contradictions(layout: Layout, options: Options) -> Iterator[Fault]:
    for role in layout.places:
        if role in layout.fields:
            told = f"the pattern says {{{role}}}, and there is a column"
            yield Fault(layout.fields[role], told, "write * in the pattern")
        elif layout.scales and role == "scale":
            told = "scales have columns of their own"
            yield Fault(layout.sample, f"the pattern says {{scale}}, and {told}", "write * there")
    for role in options.given:
        if role in layout.fields or role in layout.places:
            yield Fault(role, "is given, and the file says it too", "give it once")


def _absent(layout: Layout, table: Table, options: Options, wide: bool) -> Iterator[Fault]:
    """What nothing in the file says."""
    sure = {*layout.fields.values(), *options.scales, layout.sample}
    free = [name for name in table.names if name and name not in sure]
    for role, name in options.columns.items():
        if name and name not in table.names and role not in options.optional:
            yield Fault(show(name), f"{NO_COLUMN} (for {role})", _remedy(name, table.names))
    for name in (layout.sample, *layout.scales):
        if name and name not in table.names:
            yield Fault(show(name), NO_COLUMN, _remedy(name, table.names))
    said = {*layout.fields, *layout.places, *options.given}
    for role in NEEDED if wide else (*NEEDED, *LONG):
        if role not in said and not options.columns.get(role):
            yield Fault(
                role, NO_COLUMN, _remedy(role, free, options.words.remedy.format(role=role))
            )
    if wide and not layout.scales:
        told = "there are no columns scale and value, and none of numbers"
        yield Fault("", told, _remedy("value", free))


def _remedy(name: str, known: Sequence[str], more: str = "") -> str:
    found = nearest(name, [one for one in known if one]).replace("known:", "the file has", 1)
    return " — ".join(part for part in (found, more) if part)


def _slips(layout: Layout, table: Table, options: Options, wide: bool) -> Iterator[Fault]:
    """Columns that look like others that are not there."""
    told = {*layout.fields, *layout.places, *options.given, *options.columns}
    lacking = [role for role in OPTIONAL if role not in told]
    lacking += [name for name in layout.used if name in table.partial]
    if wide and not options.scales:
        lacking += [*LONG, *(name for name in options.expected if name not in table.names)]
    for name in table.names:
        if name and name not in layout.fields.values() and name not in options.scales:
            remedy = nearest(name, [one for one in lacking if one != name])
            if name != layout.sample and remedy.startswith("did"):
                yield Fault(show(name), "unknown column", remedy)
