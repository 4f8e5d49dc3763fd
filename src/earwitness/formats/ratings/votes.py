"""Columns of a table, checked one by one, and the ratings that rows are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from earwitness.data import Key, Rating
from earwitness.errors import nearest
from earwitness.formats.check import Fault, show
from earwitness.formats.ratings.cells import (
    MISSING,
    column,
    divided,
    listeners,
    name,
    only_known,
    perhaps_name,
    whole,
)
from earwitness.formats.ratings.known import out_of_scale
from earwitness.formats.ratings.layout import HEAD, Layout
from earwitness.formats.ratings.options import NUMBERED, Options
from earwitness.formats.ratings.table import Cell, Table

Columns = dict[str, Sequence[Any]]  # by what they say; votes by scale


class Off(NamedTuple):
    """A vote that is not on its scale, and was taken for missing; the number of its row."""

    row: int
    scale: str
    value: float


class Checked(NamedTuple):
    """What rows say, votes by scale, and votes that were taken for missing."""

    found: Columns
    votes: Columns
    off: list[Off]


LEAST = {"session": 0, "trial": 0, "asked": 0, "place": 1}


def checked(table: Table, layout: Layout, options: Options) -> Checked:
    """What rows say, and votes by scale; what is wrong with them is told to the table."""
    cells = _cells(table, layout, options)
    where = {role: layout.fields.get(role, layout.sample or role) for role in cells}
    found: Columns = {}
    for role, own in cells.items():
        if role in LEAST:
            found[role] = column(table, own, where[role], whole(LEAST[role]))
        elif role != "value":
            read = perhaps_name if role == "against" else name
            found[role] = column(table, own, where[role], read)
            if role == "scale":
                found[role] = [options.scale(one) for one in found[role]]
            what = "system" if role == "against" else role
            only_known(table, found[role], where[role], what, options.known.names(what))
    off: list[Off] = []
    return Checked(found, _votes(table, layout, options, cells, found, off), off)


def _cells(table: Table, layout: Layout, options: Options) -> dict[str, Sequence[Cell]]:
    """Columns by what they say, wherever it is said."""
    found: dict[str, Sequence[Cell]] = {
        role: table.cells(own, numbers=role in NUMBERED) for role, own in layout.fields.items()
    }
    if layout.pattern:
        found |= divided(table, layout.sample, layout.pattern, layout.notes)
    for role, text in options.given.items():
        found[role] = [str(text)] * len(table.lines)
    return found


def _votes(
    table: Table,
    layout: Layout,
    options: Options,
    cells: Mapping[str, Sequence[Cell]],
    found: Columns,
    off: list[Off],
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
            table.tell(HEAD, show(scale), f"there is no scale {show(scale)}", nearest(scale, known))
        values = column(table, table.cells(scale, numbers=True), scale, read)
        named = options.scale(scale)
        every = [named] * len(table.lines)
        votes[named] = _within(table, every, values, scale, options, off)
    return votes


def _within(
    table: Table,
    scales: Sequence[Any],
    values: Sequence[Any],
    where: str,
    options: Options,
    off: list[Off],
) -> Sequence[Any]:
    """Tell votes that are not on their scales, or leave them out and list them."""
    if not options.limits:
        return values
    pairs: list[tuple[Any, Any]] = list(zip(scales, values, strict=True))
    told: dict[Any, str] = dict(out_of_scale(set(pairs), options.limits))
    if told and options.drop:
        off += [Off(row, *pair) for row, pair in enumerate(pairs) if pair in told]
        return [MISSING if pair in told else pair[1] for pair in pairs]
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
    session, trial, asked, place = (found.get(role, zeros) for role in LEAST)
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
