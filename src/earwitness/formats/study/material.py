"""The clips of a study: a table, CSV or JSON lines, or what is found in the folders."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from earwitness.data import Clip
from earwitness.errors import Problem, UsageError
from earwitness.formats.check import BadLine, Fault, is_name, load, show
from earwitness.formats.study.sounds import Sounds

FILE = "file."  # a column of paths: file.SYSTEM
OWN = ("name", "seconds", "files")
LONGEST = 86_400
Row = dict[str, Any]


@dataclass
class Material:
    """Clips, and what is wrong with them."""

    clips: list[Clip] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_table(path: Path, sounds: Sounds | None) -> Material:
    """A table of clips; seconds may be missing where files can be asked."""
    found = Material()
    try:
        rows = list(_lines(path, found) if path.suffix == ".jsonl" else _columns(path, found))
    except (OSError, UnicodeError, csv.Error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        return Material(problems=[Problem(str(path), 0, "", f"cannot be read: {told}")])
    if not rows and not found.problems:
        found.problems.append(Problem(str(path), 1, "", "has no clip in it"))
    _take(str(path), rows, sounds, found)
    return found


def read_folders(sounds: Sounds) -> Material:
    """Every name that any system has; a system that lacks it is told."""
    found = Material()
    for name in sounds.names():
        try:
            seconds = sounds.seconds(Clip(name, 0))
        except UsageError as error:
            where, _, told = str(error).partition(": ")
            found.problems.append(Problem(where, 0, "", told))
            continue
        found.clips.append(Clip(name, seconds))
    if not found.clips and not found.problems:
        where = str(sounds.path(Clip("*", 0), sounds.systems[0]))
        found.problems.append(Problem(where, 0, "", "there is no such file"))
    return found


def _columns(path: Path, found: Material) -> Iterator[tuple[int, Row]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        if "name" not in columns:
            found.problems.append(Problem(str(path), 1, "", "needs the column name"))
            return
        for row in reader:
            if None in row or None in row.values():
                told = f"needs {len(columns)} fields"
                found.problems.append(Problem(str(path), reader.line_num, "", told))
                continue
            files = {k.removeprefix(FILE): row.pop(k) for k in columns if k.startswith(FILE)}
            plain = {key: value if key == "name" else _plain(value) for key, value in row.items()}
            yield reader.line_num, {**plain, "files": {k: v for k, v in files.items() if v}}


def _lines(path: Path, found: Material) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = load(line)
        except BadLine as bad:
            found.problems.append(Problem(str(path), number, *bad.fault))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            told = f"must be an object, got {show(row)}"
            found.problems.append(Problem(str(path), number, "", told))


def _take(source: str, rows: list[tuple[int, Row]], sounds: Sounds | None, found: Material) -> None:
    seen: dict[str, int] = {}
    expected = {key for _, row in rows for key in row if key not in OWN}
    for line, row in rows:
        clip = Clip(str(row.get("name")), 0, files=dict(row.get("files") or {}))
        faults = list(_wrong(row, expected, seen))
        if not faults:
            try:
                clip = replace(clip, seconds=_seconds(row, clip, sounds))
            except UsageError as error:
                faults.append(Fault("seconds", str(error)))
        found.problems += [Problem(source, line, *fault) for fault in faults]
        seen.setdefault(clip.name, line)
        if not faults:
            rest = {key: _covariate(row[key]) for key in row if key not in OWN}
            found.clips.append(replace(clip, covariates=rest))


def _seconds(row: Row, clip: Clip, sounds: Sounds | None) -> float:
    if row.get("seconds") not in (None, ""):
        return float(row["seconds"])
    seconds = float("nan") if sounds is None else sounds.seconds(clip)
    if seconds != seconds:
        raise UsageError("missing, and there is no file to ask — write how long the clip is")
    return seconds


def _wrong(row: Row, expected: set[str], seen: dict[str, int]) -> Iterator[Fault]:
    name, seconds, files = row.get("name"), row.get("seconds"), row.get("files", {})
    if not is_name(name):
        yield Fault("name", f"must be printable text, got {show(name)}")
    elif str(name) in seen:
        yield Fault("name", f'"{name}" is also on line {seen[str(name)]}', "keep one")
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds not in (None, "") and not (number and 0 < seconds < LONGEST):
        yield Fault("seconds", f"must be a positive number, got {show(seconds)}")
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        yield Fault("files", f"must name a file for each system, got {show(files)}")
    for key in sorted(expected - set(row)):
        yield Fault(key, "missing", "every clip needs the same covariates")
    for key in sorted(expected & set(row)):
        if not isinstance(row[key], str | int | float | bool):
            yield Fault(key, f"must be text or a number, got {show(row[key])}")


def _covariate(value: Any) -> str | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return float(value)


def _plain(value: str) -> str | float:
    try:
        found = float(value)
    except ValueError:
        return value
    return found if abs(found) < float("inf") else value
