"""Tables as JSON lines: an object a row, with the names of columns as keys.

What stands in an object ``values`` counts as columns of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

import msgspec

from earwitness.formats.check import LARGEST, BadLine, Fault, load, show
from earwitness.formats.ratings.table import Cell, Odd, Table, Wrong
from earwitness.formats.records import REFUSALS

NAMES = {str, int, NoneType}


@dataclass
class JsonTable(Table):
    """Rows of values."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        found: list[Any] = [row.get(name) for row in self.rows]
        read = _number if numbers else _name
        if set(map(type, found)) <= ({str, int, float, NoneType} if numbers else NAMES):
            known = {one: read(one) for one in set(found)}  # 1 and 1.0 are the same number
            return [known[one] for one in found]
        return [read(one) for one in found]


def _number(value: Any) -> Cell:
    if value is None or value == "":
        return ""
    right = isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST)
    return repr(value) if right and not isinstance(value, bool) else Odd(_shown(value))


def _name(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value or ""
    right = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return str(value) if right else Odd(_shown(value))


def _shown(value: Any) -> str:
    try:
        return show(value)
    except (ValueError, RecursionError):  # Python's limits on digits and depth
        return "what is too long to show"


def read_json(lines: list[bytes], wrong: Wrong) -> JsonTable:
    """Objects, one a line."""
    numbers, rows = list[int](), list[dict[str, Any]]()
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for number, line in enumerate(lines, 1):
        try:
            row: Any = decode(line)
        except REFUSALS:
            if not line.strip():
                continue
            row = _slowly(line, number, wrong)
        if isinstance(row, dict):
            numbers.append(number)
            rows.append(_flat(row))
    shapes = list(dict.fromkeys(map(tuple, rows)))
    names = list(dict.fromkeys(name for shape in shapes for name in shape))
    partial = frozenset(n for n in names if any(n not in shape for shape in shapes))
    return JsonTable(wrong, names, numbers, partial, rows=rows)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("values")
    if not isinstance(inner, dict):
        return row
    return {name: value for name, value in row.items() if name != "values"} | inner


def _slowly(line: bytes, number: int, wrong: Wrong) -> Any:
    """What the fast decoder refused: perhaps a NaN, to be told with its field."""
    try:
        row = load(line)
    except BadLine as bad:
        wrong.add([(number, bad.fault)])
        return None
    if not isinstance(row, dict):
        wrong.add([(number, Fault("", f"must be an object, got {_shown(row)}"))])
    return row
