"""Cells of columns as names and numbers; each distinct one is looked at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from earwitness.errors import nearest
from earwitness.formats.check import NAME, Fault, show
from earwitness.formats.ratings.names import Pattern
from earwitness.formats.ratings.table import Cell, Odd, Table, Words

Found = TypeVar("Found")
MISSING = float("nan")  # no number; a NaN among votes is refused
UNDEFINED = ("nan", "na", "n/a", "null", "none")
FARTHEST = 1e9  # whole numbers
SHOWN_NEAREST = 20  # unknown names for which the nearest one is looked for
WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")


def shown(cell: Cell) -> str:
    """A cell in a message."""
    return cell.shown if isinstance(cell, Odd) else show(cell)


def name(cell: Cell) -> str | Fault:
    """A name: printable text that is not empty."""
    if isinstance(cell, str) and re.search(NAME, cell):
        return cell
    if cell == "":
        return Fault("", "is empty")
    told = f"must be printable text or a whole number, got {shown(cell)}"
    return Fault("", told, "no control characters, no blanks around it")


def perhaps_name(cell: Cell) -> str | Fault:
    """A name, or nothing."""
    return name(cell) if cell else ""


def number(cell: Cell, *, comma: bool = False, words: Words = Words()) -> float | Fault:  # noqa: B008
    """A finite number; nothing is one that is missing."""
    if cell == "" or (words.undefined and isinstance(cell, str) and cell.lower() in UNDEFINED):
        return MISSING
    remedy = f"leave it empty if there is no {words.cell}"
    try:
        found = float(_digits(cell, comma))
    except ValueError:
        return Fault("", f"must be a number, got {shown(cell)}", remedy)
    if abs(found) < float("inf"):
        return found
    return Fault("", f"must be finite, got {shown(cell)}", remedy)


def _digits(cell: Cell, comma: bool) -> str:
    if not isinstance(cell, str) or "_" in cell:
        raise ValueError(cell)
    return cell.replace(",", ".") if comma else cell


def whole(least: int) -> Callable[[Cell], int | Fault]:
    """A whole number counted from the least, or 0 for nothing."""

    def read(cell: Cell) -> int | Fault:
        found = number(cell)
        if cell == "":
            return 0
        if isinstance(found, float) and found == int(found) and least <= found <= FARTHEST:
            return int(found) - least
        return Fault("", f"must be a whole number from {least} on, got {shown(cell)}")

    return read


def column(
    table: Table, cells: Sequence[Cell], where: str, read: Callable[[Cell], Found | Fault]
) -> Sequence[Found]:
    """What cells are; faults are told, and stay where they are."""
    known = {cell: cell if isinstance(cell, Fault) else read(cell) for cell in set(cells)}
    told = {
        cell: found._replace(field=where)
        for cell, found in known.items()
        if isinstance(found, Fault) and not isinstance(cell, Fault)
    }
    if told:
        rows = zip(table.lines, cells, strict=True)
        table.wrong.add((line, told[cell]) for line, cell in rows if cell in told)
    if all(cell is found for cell, found in known.items()):
        return cells  # type: ignore[return-value]
    return [known[cell] for cell in cells]  # type: ignore[misc]


def only_known(
    table: Table, cells: Sequence[object], where: str, role: str, known: frozenset[str]
) -> None:
    """Tell names that nobody knows; for the first of them the nearest known one."""
    if not known or known.issuperset(set(cells)):
        return
    strange = dict.fromkeys(one for one in cells if isinstance(one, str) and one)
    for one in known:
        strange.pop(one, None)
    near = {one: nearest(one, known) for one in islice(strange, SHOWN_NEAREST)}
    faults = {
        one: Fault(where, f"there is no {role} {show(one)}", near.get(one, "")) for one in strange
    }
    rows = zip(table.lines, cells, strict=True)
    table.wrong.add((line, faults[one]) for line, one in rows if one in faults)


def divided(
    table: Table, where: str, pattern: Pattern, notes: list[str]
) -> dict[str, Sequence[Cell]]:
    """Columns that are taken out of names of samples."""
    cells = table.cells(where)
    found = {one: pattern.divide(one) for one in set(cells) if isinstance(one, str)}
    told = f"does not fit {pattern.text}"
    remedy = "* in a pattern is anything"
    bad = {
        one: Fault(where, f"{shown(one)} {told}", remedy)
        for one in set(cells)
        if one not in found or not found[one].parts
    }
    rows = zip(table.lines, cells, strict=True)
    table.wrong.add((line, bad[cell]) for line, cell in rows if cell in bad)
    if several := sorted(one for one, way in found.items() if way.several):
        best = ", ".join(f"{name} {show(part)}" for name, part in found[several[0]].parts.items())
        names = "names of samples fit" if len(several) > 1 else "name of a sample fits"
        count = f"{len(several):,} {names} {pattern.text} in several ways"
        notes.append(f"{count}: {show(several[0])} is taken as {best}")
    return {
        place: [bad[one] if one in bad else found[one].parts[place] for one in cells]  # type: ignore[index]
        for place in pattern.places
    }


def listeners(names: Sequence[str]) -> Sequence[int | str]:
    """Numbers, if all listeners are called by whole numbers; else names."""
    if all(isinstance(one, str) and WHOLE.fullmatch(one) for one in set(names)):
        known = {one: int(one) for one in set(names)}
        return [known[one] for one in names]
    return names
