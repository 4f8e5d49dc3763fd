"""Who wrote which caption: a table that stays with whoever runs the study.

CSV or JSON lines with the columns ``item``, ``system`` and ``caption`` (the words) or ``hash``.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from earwitness.formats.check import Fault, is_name
from earwitness.formats.ratings.opened import read_table
from earwitness.formats.ratings.table import Table
from earwitness.formats.source import Source
from earwitness.formats.workbooks.cells import caption_hash

Caption = tuple[str, str]  # the clip, and the hash of the caption
COLUMNS = ("item", "system", "caption", "hash")


def read_key(path: str | PathLike[str]) -> dict[Caption, str]:
    """Systems by clip and hash of the caption; all that is wrong is told at once."""
    table, _ = read_table(Source(path), COLUMNS)
    absent = [name for name in COLUMNS[:2] if name not in table.names]
    told = [Fault(name, "there is no such column") for name in absent]
    if not {"caption", "hash"} & {*table.names}:
        told.append(Fault("caption", "there is no such column", "or a column hash"))
    table.wrong.add((1, one) for one in told)
    table.wrong.refuse()
    found: dict[Caption, str] = {}
    table.wrong.add(_gathered(table, found))
    table.wrong.refuse()
    return found


def _gathered(table: Table, found: dict[Caption, str]) -> Iterator[tuple[int, Fault]]:
    words = "hash" if "hash" in table.names else "caption"
    cells = (table.cells(name) for name in ("item", "system", words))
    for line, item, system, caption in zip(table.lines, *cells, strict=True):
        if not (is_name(item) and is_name(system) and isinstance(caption, str) and caption):
            yield line, Fault("", "needs an item, a system and a caption")
            continue
        key = str(item), caption if words == "hash" else caption_hash(caption)
        if found.setdefault(key, str(system)) != system:
            told = f'"{found[key]}" and "{system}" have the same caption of "{item}"'
            yield line, Fault("caption", told, "which of them was rated cannot be told")
