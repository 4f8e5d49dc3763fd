"""What systems wrote about clips: a table, CSV or JSON lines, with item, system and caption.

Lines may also be outputs as they are scored, which have the caption under ``output``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from earwitness.data import Clip
from earwitness.errors import Problem, nearest
from earwitness.formats.check import Fault, show
from earwitness.formats.study.objects import objects

COLUMNS = ("item", "system", "caption")
LONGEST = 32_000  # characters, as many as a cell of a workbook holds
Row = tuple[int, dict[str, Any]]


@dataclass
class Captions:
    """Texts by item and system, and what is wrong with them."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def of(self, clips: Sequence[Clip], systems: Sequence[str]) -> list[Clip]:
        """Clips with their captions."""
        return [
            replace(clip, captions={s: self.texts.get((clip.name, s), "") for s in systems})
            for clip in clips
        ]


def read_captions(path: Path, items: Sequence[str], systems: Sequence[str]) -> Captions:
    """One caption of every system for every item, or all that is wrong."""
    found = Captions()
    try:
        rows = list(_lines(path, found) if path.suffix == ".jsonl" else _columns(path))
    except (OSError, UnicodeError, csv.Error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        found.problems.append(Problem(str(path), 0, "", f"cannot be read: {told}"))
        return found
    for line, row in rows:
        faults = list(_wrong(row, items, systems, found))
        found.problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            found.texts[row["item"], row["system"]] = row["caption"].strip()
    if not found.problems:
        found.problems += list(_missing(str(path), items, systems, found))
    return found


def _columns(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            yield reader.line_num, {key: row.get(key) for key in COLUMNS}


def _lines(path: Path, found: Captions) -> Iterator[Row]:
    for number, row in objects(path, found.problems):
        wrote = row.get("output")
        yield number, {**row, **wrote} if isinstance(wrote, dict) else row


def _wrong(
    row: dict[str, Any], items: Sequence[str], systems: Sequence[str], found: Captions
) -> Iterator[Fault]:
    for key, known in (("item", items), ("system", systems)):
        if row.get(key) not in known:
            told = f"there is no {key} {show(row.get(key))}" if row.get(key) else "missing"
            yield Fault(key, told, nearest(str(row.get(key)), known) if row.get(key) else "")
    caption = row.get("caption")
    if not isinstance(caption, str) or not caption.strip():
        yield Fault("caption", "missing" if not caption else f"must be text, got {show(caption)}")
    elif len(caption) > LONGEST:
        yield Fault("caption", f"has more than {LONGEST:,} characters")
    if (row.get("item"), row.get("system")) in found.texts:
        yield Fault("", f'a second caption of "{row["item"]}" by "{row["system"]}"', "keep one")


def _missing(
    source: str, items: Sequence[str], systems: Sequence[str], found: Captions
) -> Iterator[Problem]:
    for item in items:
        for system in systems:
            if (item, system) not in found.texts:
                told = f'no caption of "{item}" by "{system}"'
                yield Problem(source, 0, "", told, item=item)
