"""What a user says about a table, and what its columns can say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from earwitness.errors import UsageError, nearest
from earwitness.formats.check import Fault, is_name
from earwitness.formats.ratings.cells import number
from earwitness.formats.ratings.known import Known, Limit
from earwitness.formats.ratings.table import Cell, Table, Words

NEEDED = ("item", "system", "listener")
LONG = ("scale", "value")
OPTIONAL = ("session", "trial", "asked", "place", "against")
ROLES = (*NEEDED, *LONG, *OPTIONAL)
SAMPLES = ("sample", "file", "stimulus")
NUMBERED = ("value", "session", "trial", "asked", "place")


@dataclass(frozen=True)
class Options:
    """What the user says about a table; columns that stand ``apart`` are read elsewhere.

    Names of columns for roles that are ``optional`` need not be there. Columns that are ``groups``
    divide items or listeners. Scales may be written as ``aliases``. Votes that are off their scale
    are refused with a ``remedy``, or, with ``drop``, taken for missing.
    """

    pattern: str = ""
    column: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    scales: Sequence[str] = ()
    given: Mapping[str, int | str] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    words: Words = field(default_factory=Words)
    apart: Sequence[str] = ()
    optional: Collection[str] = ()
    groups: Sequence[str] = ()
    rubric: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    remedy: str = ""
    drop: bool = False

    def __post_init__(self) -> None:
        for what, names in (("columns", self.columns), ("given", self.given)):
            for role in names:
                if role not in ROLES:
                    raise UsageError(f'{what}: no "{role}" — {nearest(role, ROLES)}')
        for role, text in self.given.items():
            if not is_name(text):
                raise UsageError(f"given: {role} must be printable text, got {text!r}")
        for what, named in (
            ("columns", [name for name in self.columns.values() if name]),
            ("scales", list(self.scales)),
        ):
            for name in named:
                if named.count(name) > 1:
                    raise UsageError(f'{what}: "{name}" comes twice')
        if self.scales and (both := sorted({*LONG} & {*self.columns, *self.given})):
            raise UsageError(f"scales have columns of their own, so there is no {both[0]}")

    @property
    def wanted(self) -> list[str]:
        """Names of columns that a file may well have."""
        named = (*self.columns.values(), *self.scales, *self.known.scales, *self.limits)
        return [*ROLES, *SAMPLES, self.column, *named]

    def name_of(self, role: str) -> str:
        """The column for a role; nothing if the user says that there is none."""
        return self.columns.get(role, role)

    def scale(self, written: str) -> str:
        """A scale by the name that it has elsewhere."""
        return self.aliases.get(written, written)

    def number(self, table: Table) -> Callable[[Cell], float | Fault]:
        """How a cell with a number is read."""
        return partial(number, comma=table.comma, words=self.words)

    @property
    def expected(self) -> list[str]:
        """Scales that are known before a file is read."""
        return list(dict.fromkeys([*self.known.scales, *self.limits]))
