"""Files as tables, whatever their form."""

from __future__ import annotations

from collections.abc import Collection

from earwitness.data import Input
from earwitness.errors import InputError
from earwitness.formats.check import Fault
from earwitness.formats.mistaken import ARRAY
from earwitness.formats.ratings.delimited import read_csv
from earwitness.formats.ratings.objects import read_json
from earwitness.formats.ratings.table import DONE, Table, Wrong
from earwitness.formats.source import Source

UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_table(source: Source, wanted: Collection[str]) -> tuple[Table, Input]:
    """All rows; ``wanted`` are names of columns from which the delimiter is told."""
    try:
        lines = [line for block in source.blocks() for line in block.lines]
    except InputError as error:
        raise InputError(error.problems, error.count, done=DONE) from None
    wrong, first = Wrong(source.name), next((line for line in lines if line.strip()), b"")
    ending = source.name.removesuffix(".gz").removesuffix(".zst").lower()
    if not first:
        wrong.add([(1, Fault("", "is empty"))])
    elif first.lstrip().startswith(b"["):
        wrong.add([(1, Fault("", ARRAY))])
    wrong.refuse()
    if ending.endswith((".jsonl", ".ndjson")) or first.lstrip().startswith(b"{"):
        return read_json(lines, wrong), source.read()
    return read_csv(_text(lines, wrong), wrong, wanted), source.read()


def _text(lines: list[bytes], wrong: Wrong) -> str:
    whole = b"\n".join(lines)
    if whole.startswith(UTF16):
        wrong.add([(1, Fault("", "is UTF-16", "save as UTF-8"))])
        wrong.refuse()
    try:
        return whole.decode()
    except UnicodeDecodeError:
        wrong.add((n, bad) for n, line in enumerate(lines, 1) for bad in _not_text(line))
        wrong.refuse()
        raise


def _not_text(line: bytes) -> list[Fault]:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return [Fault("", f"not UTF-8 at byte {error.start + 1}", "save as UTF-8")]
    return []
