"""Columns of a table that divide its items, or its listeners: dataset, jury."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from earwitness.data import Key
from earwitness.data.grouped import Grouping
from earwitness.errors import nearest
from earwitness.formats.check import show
from earwitness.formats.ratings.layout import HEAD, NO_COLUMN
from earwitness.formats.ratings.table import Cell, Table

Who = int | str
Clash = tuple[int, Who, str, str]  # the line, of whom, what was said before and what is said here


def groupings(
    table: Table, names: Sequence[str], items: Sequence[Who], people: Sequence[Who]
) -> dict[str, Grouping]:
    """By field: of items if all rows of an item say the same, else of listeners.

    Where neither do, that is told to the table. Empty cells say nothing.
    """
    found: dict[str, Grouping] = {}
    for name in names:
        if name not in table.names:
            table.tell(HEAD, show(name), f"{NO_COLUMN} (by)", nearest(name, table.names))
            continue
        cells = table.cells(name)
        of_items, torn = _groups(table, items, cells)
        of_people, also = _groups(table, people, cells)
        if torn and also:
            _tell(table, name, torn, also)
        elif torn:
            found[name] = Grouping("listener", of_people)
        else:
            found[name] = Grouping("item", of_items)
    return found


def _groups(
    table: Table, owners: Sequence[Who], cells: Sequence[Cell]
) -> tuple[Mapping[Who, str], Clash | None]:
    """What is said of each, and the first row that says something else than one before."""
    found: dict[Who, str] = {}
    for line, owner, cell in zip(table.lines, owners, cells, strict=True):
        if isinstance(cell, str) and cell and found.setdefault(owner, cell) != cell:
            return found, (line, owner, found[owner], cell)
    return found, None


def _tell(table: Table, name: str, item: Clash, listener: Clash) -> None:
    line, owner, before, here = item
    told = f"{owner} is {show(here)} here and was {show(before)} above"
    also = f"and listener {listener[1]} is both {show(listener[2])} and {show(listener[3])}"
    table.tell(line, name, told, f"{also}: an item, or a listener, is in one group")


def captions(
    table: Table, name: str, items: Sequence[str], systems: Sequence[str]
) -> dict[Key, str]:
    """Words that were judged, by item and system; the first that are said."""
    if name not in table.names:
        return {}
    found: dict[Key, str] = {}
    for item, system, cell in zip(items, systems, table.cells(name), strict=True):
        if isinstance(cell, str) and cell:
            found.setdefault(Key(item, system), cell)
    return found
