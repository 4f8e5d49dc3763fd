"""Columns of a table, checked one by one, and the ratings that rows are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from earwitness.data import Key, Rating
from earwitness.errors import nearest
from earwitness.formats.check import Fault, show
from earwitness.formats.ratings.cells import (
    column,
    divided,
    listeners,
    name,
    only_known,
    perhaps_name,
    whole,
)
from earwitness.formats.ratings.known import Limit, out_of_scale
from earwitness.formats.ratings.layout import HEAD, Layout
from earwitness.formats.ratings.options import NUMBERED, Options
from earwitness.formats.ratings.table import Cell, Table

LEAST = {"session": 0, "trial": 0, "asked": 0, "place": 1}
Columns = dict[str, Sequence[Any]]  # by what they say; votes by scale


def checked(table: Table, layout: Layout, options: Options) -> tuple[Columns, Columns]:
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
            what = "system" if role == "against" else role
            only_known(table, found[role], where[role], what, options.known.names(what))
    return found, _votes(table, layout, options, cells, found)


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
) -> Columns:
    """Votes by scale, or all of them where scales stand in a column."""
    read = options.number(table)
    if not layout.scales:
        where = layout.fields.get("value", "value")
        values = column(table, cells["value"], where, read)
        _within(table, found["scale"], values, where, options.limits)
        return {"": values}
    votes: Columns = {}
    for scale in layout.scales:
        known = options.known.names("scale")
        if known and scale not in known:
            table.tell(HEAD, show(scale), f"there is no scale {show(scale)}", nearest(scale, known))
        votes[scale] = column(table, table.cells(scale, numbers=True), scale, read)
        _within(table, [scale] * len(table.lines), votes[scale], scale, options.limits)
    return votes


def _within(
    table: Table,
    scales: Sequence[Any],
    values: Sequence[Any],
    where: str,
    limits: Mapping[str, Limit],
) -> None:
    """Tell votes that are not on their scales."""
    if not limits:
        return
    pairs = list(zip(scales, values, strict=True))
    bad = {pair: Fault(where, told) for pair, told in out_of_scale(set(pairs), limits)}
    if bad:
        rows = zip(table.lines, pairs, strict=True)
        table.wrong.add((line, bad[pair]) for line, pair in rows if pair in bad)


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
