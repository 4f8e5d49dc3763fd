"""Tables of numbers about outputs, whoever gave them: people or metrics."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from earwitness.data import Input, Rating
from earwitness.formats.ratings.layout import HEAD, Layout, lay_out
from earwitness.formats.ratings.opened import read_table
from earwitness.formats.ratings.options import Options
from earwitness.formats.ratings.table import Table
from earwitness.formats.ratings.votes import Checked, checked, rated
from earwitness.formats.source import Source

Fitted = Callable[[Options, Table], Options]


def _as_they_are(options: Options, _: Table) -> Options:
    return options


@dataclass(frozen=True)
class Rows:
    """A number for every cell that could have one, NaN where it has none."""

    every: list[Rating]
    layout: Layout
    table: Table
    input: Input
    options: Options
    checked: Checked

    @property
    def filled(self) -> list[Rating]:
        """Those that have a number."""
        return [one for one in self.every if one.value == one.value]


def read_rows(source: Source, options: Options, fitted: Fitted = _as_they_are) -> Rows:
    """All of a table; refused as a whole if anything is wrong, or if it has no number at all.

    ``fitted`` gives the options that hold for a table with such columns.
    """
    with _uncollected():
        return _read(source, options, fitted)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles: there are none here, and looking takes half the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read(source: Source, options: Options, fitted: Fitted) -> Rows:
    table, file = read_table(source, options.wanted)
    options = fitted(options, table)
    told = table.wrong.count
    layout = lay_out(table, options)
    nothing = f"has no {options.words.row} in it"
    if not table.lines and not table.wrong.count:
        table.tell(HEAD, "", nothing)
    if table.wrong.count > told or not table.lines:
        table.wrong.refuse()
    found = checked(table, layout, options)
    table.wrong.refuse()
    rows = Rows(rated(found.found, found.votes), layout, table, file, options, found)
    if not rows.filled:
        table.tell(HEAD, "", nothing, f"no row has a {options.words.cell}")
        table.wrong.refuse()
    return rows
