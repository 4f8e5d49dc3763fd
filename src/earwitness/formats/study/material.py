"""The clips of a study: a table, CSV or JSON lines, or what is found in the folders."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from earwitness.data import Clip
from earwitness.errors import Problem, UsageError, nearest
from earwitness.formats.check import Fault, is_name, show
from earwitness.formats.study.objects import objects
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


def read_table(path: Path, sounds: Sounds | None, folders: Sequence[str] = ()) -> Material:
    """A table of clips; seconds may be missing where files can be asked.

    ``folders`` are systems and others that files may be named for; if none, any.
    """
    found = Material()
    try:
        lined = path.suffix == ".jsonl"
        rows = list(objects(path, found.problems) if lined else _columns(path, found))
    except (OSError, UnicodeError, csv.Error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        remedy = "without the line material, clips are what the folders of files have"
        return Material(problems=[Problem(str(path), 0, "", f"cannot be read: {told}", remedy)])
    if not rows and not found.problems:
        found.problems.append(Problem(str(path), 1, "", "has no clip in it"))
    _take(str(path), rows, sounds, folders, found)
    return found


def read_folders(sounds: Sounds) -> Material:
    """Every name that any system has; a system that lacks it is told."""
    found = Material()
    for name in sounds.names():
        try:
            found.clips.append(Clip(name, sounds.seconds(Clip(name, 0))))
        except UsageError:  # told when files are looked at
            found.clips.append(Clip(name, 1.0))
    if not found.clips:
        where = str(sounds.path(Clip("*", 0), sounds.systems[0]))
        found.problems.append(Problem(where, 0, "", "there is no such file"))
    return found


def with_numbers(clips: Sequence[Clip], names: Sequence[str]) -> list[Clip]:
    """Clips whose covariates of these names are numbers; what is none stays as it is."""
    return [
        replace(clip, covariates={k: _number(v, k in names) for k, v in clip.covariates.items()})
        for clip in clips
    ]


def _number(value: str | float, wanted: bool) -> str | float:
    if not wanted or not isinstance(value, str):
        return value
    try:
        found = float(value) if "_" not in value else float("nan")
    except ValueError:
        return value
    return found if abs(found) < float("inf") else value


def _columns(path: Path, found: Material) -> Iterator[tuple[int, Row]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        faults = list(_wrong_columns(columns))
        found.problems += [Problem(str(path), 1, *fault) for fault in faults]
        if faults:
            return
        for row in reader:
            if None in row or None in row.values():
                told = f"needs {len(columns)} fields"
                found.problems.append(Problem(str(path), reader.line_num, "", told))
                continue
            files = {k.removeprefix(FILE): row.pop(k) for k in columns if k.startswith(FILE)}
            seconds = {"seconds": _number(row["seconds"], True)} if "seconds" in row else {}
            yield (
                reader.line_num,
                {**row, **seconds, "files": {k: v for k, v in files.items() if v}},
            )


def _wrong_columns(columns: Sequence[str]) -> Iterator[Fault]:
    if "name" not in columns:
        remedy = "separate columns by commas" if len(columns) == 1 else ""
        yield Fault("", "needs the column name", remedy)
    for index, column in enumerate(columns):
        if column in columns[:index]:
            yield Fault("", f'the column "{column}" comes twice', "keep one")
        if not column.strip():
            yield Fault("", f"column {index + 1} has no name")
        if column == "files":
            yield Fault("", 'a column cannot be called "files"', "write file.SYSTEM")


def _take(
    source: str,
    rows: list[tuple[int, Row]],
    sounds: Sounds | None,
    folders: Sequence[str],
    found: Material,
) -> None:
    seen: dict[str, int] = {}
    expected = {key for _, row in rows for key in row if key not in OWN}
    for line, row in rows:
        faults = list(_wrong(row, expected, seen, folders))
        if not faults:
            clip = Clip(str(row["name"]), 0, files=dict(row.get("files") or {}))
            try:
                clip = replace(clip, seconds=_seconds(row, clip, sounds))
            except UsageError as error:
                faults.append(Fault("seconds", str(error)))
            else:
                rest = {key: _covariate(row[key]) for key in row if key not in OWN}
                found.clips.append(replace(clip, covariates=rest))
        found.problems += [Problem(source, line, *fault) for fault in faults]
        seen.setdefault(normalize("NFC", str(row.get("name"))), line)


def _seconds(row: Row, clip: Clip, sounds: Sounds | None) -> float:
    if row.get("seconds") not in (None, ""):
        return float(row["seconds"])
    seconds = float("nan") if sounds is None else sounds.seconds(clip)
    if seconds != seconds:
        known = nearest(clip.name, sounds.names()) if sounds is not None else ""
        remedy = known if known.startswith("did") else "write how long the clip is"
        raise UsageError(f"missing, and there is no file to ask — {remedy}")
    return seconds


def _wrong(
    row: Row, expected: set[str], seen: dict[str, int], folders: Sequence[str]
) -> Iterator[Fault]:
    name, seconds, files = row.get("name"), row.get("seconds"), row.get("files", {})
    if not is_name(name):
        yield Fault("name", f"must be printable text, got {show(name)}")
    elif is_path(name):
        yield Fault("name", f"must be no path, got {show(name)}", "name files in file.SYSTEM")
    elif normalize("NFC", str(name)) in seen:
        where = seen[normalize("NFC", str(name))]
        yield Fault("name", f'"{name}" is also on line {where}', "keep one")
    if seconds not in (None, "") and not _is_number(seconds, 0, LONGEST):
        yield Fault("seconds", f"must be a positive number, got {show(seconds)}")
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        yield Fault("files", f"must name a file for each system, got {show(files)}")
    else:
        for system in files:
            if folders and system not in folders:
                yield Fault(f"file.{system}", "there is no such system", nearest(system, folders))
    for key in sorted(expected - set(row)):
        yield Fault(key, "missing", "every clip needs the same covariates")
    for key in sorted(expected & set(row)):
        if not isinstance(row[key], str | bool) and not _is_number(row[key]):
            yield Fault(key, f"must be text or a number, got {show(row[key])}")


def is_path(name: object) -> bool:
    """Whether a name would lead out of its folder."""
    return bool(set(str(name)) & set("/\\")) or str(name) in (".", "..")


def _is_number(value: Any, above: float = -1e300, below: float = 1e300) -> bool:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return right and above < value < below


def _covariate(value: Any) -> str | float:
    """Text as it is written; whole numbers are names too."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else float(value)
