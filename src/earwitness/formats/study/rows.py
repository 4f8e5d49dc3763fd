"""What each listener hears, row by row: files as those of the UDASE listening test, in and out.

A folder has `csv/*.csv`, `json/*.json`, or either directly in it; the number in a file's name is
that of the listener. A row is `subset,session,file,scale`; session 0 is heard first and does not
count. Rows of one file that stand together are one trial; all are run in the order in which they
stand.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from earwitness.data import Plan, Session, Study, Trial
from earwitness.errors import Problem, nearest
from earwitness.formats.check import Fault, show
from earwitness.formats.study.sounds import ITEM, SYSTEM

COLUMNS = ("subset", "session", "file", "scale")
Row = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """What rows may speak of; an empty set of items is any. ``pattern`` is that of their files."""

    systems: Sequence[str]
    anchors: str
    scales: Sequence[str]
    items: frozenset[str]
    pattern: str

    def named(self, file: str) -> tuple[str, str]:
        """System and item of a file; where the pattern does not fit, its folder and its name."""
        groups = {ITEM: "(?P<item>[^/]+)", SYSTEM: "(?P<system>[^/]+)"}
        parts = re.split(r"(\{item\}|\{system\})", self.pattern)
        shape = "".join(groups.get(part, re.escape(part)) for part in parts)
        path = PurePosixPath(file)
        if path.parent.name != self.anchors and (match := re.fullmatch(shape, file)):
            return match["system"], match["item"]
        return path.parent.name, path.stem


@dataclass
class Rows:
    """Plans, and what is wrong with their files."""

    plans: list[Plan] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def rows_of(study: Study, plan: Plan) -> list[Row]:
    """What a listener hears, a row a rating; sounds that are heard together share a row."""
    before = [plan.training + plan.anchors] if plan.training or plan.anchors else []
    first = 0 if before else 1
    return [
        {
            "subset": plan.panel,
            "session": number,
            "file": " | ".join(study.file(trial.item, system) for system in trial.systems),
            "scale": scale,
        }
        for number, session in enumerate([*before, *plan.sessions], first)
        for trial in session
        for scale in trial.scales
    ]


def read_rows(folder: Path, known: Known) -> Rows:
    """All plans of a folder, by listener."""
    found = Rows()
    files = _files(folder)
    if not files:
        told = "has no .csv or .json file of a listener"
        found.problems.append(Problem(str(folder), 0, "", told))
    for listener, path in sorted(files.items()):
        rows = list(_read(path, found.problems))
        faults = [
            Problem(str(path), line, *fault) for line, row in rows for fault in _wrong(row, known)
        ]
        found.problems += faults or _order(path, rows)
        if rows and not faults:
            found.plans.append(_plan(listener, [row for _, row in rows], known))
    return found


def _files(folder: Path) -> dict[int, Path]:
    """By the number in their names; CSV before JSON, folders of their own before this one."""
    found: dict[int, Path] = {}
    for pattern in ("csv/*.csv", "json/*.json", "*.csv", "*.json"):
        for path in sorted(folder.glob(pattern)):
            numbers = re.findall(r"\d+", path.stem)
            if numbers and not path.stem.startswith("samples"):
                found.setdefault(int(numbers[-1]), path)
        if found:
            break
    return found


def _read(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Row]]:
    try:
        if path.suffix == ".json":
            rows = json.loads(path.read_text(encoding="utf-8-sig"))
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise ValueError("must be a list of rows")
            yield from enumerate(rows, 1)
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                reader = csv.DictReader(file)
                for row in reader:
                    yield reader.line_num, {key: _whole(key, row[key]) for key in row}
    except (OSError, ValueError, csv.Error) as error:
        problems.append(Problem(str(path), 0, "", f"cannot be read: {error}"))


def _whole(key: str, value: str) -> str | int:
    right = key in ("subset", "session") and isinstance(value, str) and value.isdecimal()
    return int(value) if right else value


def _wrong(row: Row, known: Known) -> Iterator[Fault]:
    if set(row) != set(COLUMNS) or None in row.values():
        yield Fault("", f"needs the columns {', '.join(COLUMNS)}")
        return
    for key, least in (("subset", 1), ("session", 0)):
        value = row[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            yield Fault(key, f"must be a whole number from {least} on, got {show(value)}")
    if row["scale"] not in known.scales:
        told = f"there is no scale {show(row['scale'])}"
        yield Fault("scale", told, nearest(str(row["scale"]), known.scales))
    system, item = known.named(str(row["file"]))
    if system == known.anchors and row["session"] == 0:
        return
    if system not in known.systems:
        yield Fault("file", f'there is no system "{system}"', nearest(system, known.systems))
    elif known.items and item not in known.items:
        yield Fault("file", f'the material has no clip "{item}"', nearest(item, known.items))


def _order(path: Path, rows: list[tuple[int, Row]]) -> list[Problem]:
    """Sessions that come back, and listeners who are in two panels."""
    found, seen = list[Problem](), list[int]()
    for line, row in rows:
        number = row["session"]
        if not seen or seen[-1] != number:
            if number in seen:
                told = f"session {number} comes again after session {seen[-1]}"
                found.append(Problem(str(path), line, "session", told))
            seen.append(number)
        if row["subset"] != rows[0][1]["subset"]:
            told = f"subset {row['subset']}, but {rows[0][1]['subset']} above"
            found.append(Problem(str(path), line, "subset", told))
    return found


def _plan(listener: int, rows: Sequence[Row], known: Known) -> Plan:
    sessions: dict[int, list[Trial]] = {}
    last: Mapping[str, Any] = {}
    for row in rows:
        own = sessions.setdefault(row["session"], [])
        system, item = known.named(row["file"])
        together = own and row["file"] == last.get("file") and row["session"] == last["session"]
        if together and row["scale"] not in own[-1].scales:
            own[-1] = Trial(item, (system,), (*own[-1].scales, row["scale"]))
        else:
            own.append(Trial(item, (system,), (row["scale"],)))
        last = row
    before = sessions.pop(0, [])
    anchors = _only(before, known.anchors, there=True)
    training = _only(before, known.anchors, there=False)
    kept = tuple(tuple(own) for own in sessions.values())
    return Plan(listener, rows[0]["subset"], kept, training, anchors)


def _only(trials: Sequence[Trial], anchors: str, *, there: bool) -> Session:
    return tuple(trial for trial in trials if (trial.systems == (anchors,)) == there)
