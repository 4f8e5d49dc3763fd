"""The study file: YAML, checked as a whole, every problem with its line."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from earwitness.data import Clip, Study
from earwitness.errors import InputError, Problem, nearest
from earwitness.formats.check import (
    Check,
    Fault,
    Field,
    is_name,
    listed,
    name,
    number,
    record,
    show,
    text,
)
from earwitness.listening.kinds import KINDS

MOST = 1_000_000


def read_study(path: str | Path) -> Study:
    """A study, or all that is wrong with its file and its table of clips."""
    place = Path(path)
    value, lines = _load(place)
    faults = list(STUDY(value, ""))
    known = value if isinstance(value, dict) else {}
    clips, problems = _material(place.parent, known)
    if not faults and not problems:
        faults = list(_together(known, clips))
    problems += [Problem(str(place), _line(lines, fault.field), *fault) for fault in faults]
    if problems:
        raise InputError(problems, done="planned")
    return _study(known, clips)


def _study(value: dict[str, Any], clips: list[Clip]) -> Study:
    balance = value.get("balance", {})
    plain = {**DEFAULTS, **value}
    canonical = json.dumps([plain, [[c.name, c.seconds, dict(c.covariates)] for c in clips]])
    return Study(
        title=str(value["title"]),
        kind=value["kind"],
        seed=plain["seed"],
        systems=tuple(map(str, value["systems"])),
        material=tuple(clips),
        panels=plain["panels"],
        listeners=value["listeners"],
        clips=plain.get("clips", len(clips) // plain["panels"]),
        sessions=plain["sessions"],
        rest_minutes=float(plain["rest_minutes"]),
        rating_seconds=float(plain["rating_seconds"]),
        categories=tuple(balance.get("categories", ())),
        numbers=tuple(balance.get("numbers", ())),
        digest=hashlib.sha256(canonical.encode()).hexdigest(),
    )


def whole(least: int) -> Check:
    """A whole number from some number on."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        right = isinstance(value, int) and not isinstance(value, bool)
        if not right or not least <= value <= MOST:
            yield Fault(path, f"must be a whole number from {least} on, got {show(value)}")

    return check


def _kind(value: Any, path: str) -> Iterator[Fault]:
    if value not in KINDS:
        yield Fault(path, f"there is no kind {show(value)}", nearest(str(value), KINDS))


def _span(value: Any, path: str) -> Iterator[Fault]:
    found = list(number(value, path))
    yield from found
    if not found and value < 0:
        yield Fault(path, f"must not be negative, got {show(value)}")


BALANCE = record({"categories": Field(listed(name)), "numbers": Field(listed(name))}, own="")
STUDY = record(
    {
        "title": Field(text, required=True),
        "kind": Field(_kind, required=True),
        "seed": Field(whole(0)),
        "systems": Field(listed(name, least=1), required=True),
        "material": Field(text, required=True),
        "balance": Field(BALANCE),
        "panels": Field(whole(1)),
        "listeners": Field(whole(1), required=True),
        "clips": Field(whole(1)),
        "sessions": Field(whole(1)),
        "rest_minutes": Field(_span),
        "rating_seconds": Field(_span),
    },
    own="",
)
DEFAULTS = {"seed": 0, "panels": 1, "sessions": 1, "rest_minutes": 5, "rating_seconds": 4}


def _together(value: dict[str, Any], clips: list[Clip]) -> Iterator[Fault]:
    """What only shows when all is looked at."""
    systems = [str(one) for one in value["systems"]]
    for index, one in enumerate(systems):
        if one in systems[:index]:
            yield Fault(f"systems[{index}]", f'"{one}" comes twice')
    panels = value.get("panels", 1)
    if value.get("clips", 1) * panels > len(clips):
        told = f"{panels} panels of {value['clips']} clips need {value['clips'] * panels}"
        yield Fault("clips", f"{told}, the material has {len(clips)}", "fewer clips or panels")
    elif len(clips) < panels:
        yield Fault("panels", f"{panels} panels, but {len(clips)} clips")
    if value["listeners"] < panels:
        yield Fault("listeners", f"{value['listeners']} listeners cannot fill {panels} panels")
    if value.get("sessions", 1) > value.get("clips", len(clips) // max(panels, 1)):
        yield Fault("sessions", "more sessions than clips: a system would miss some of them")
    yield from _covariates(value.get("balance", {}), clips)


def _covariates(balance: dict[str, list[str]], clips: list[Clip]) -> Iterator[Fault]:
    known = set(clips[0].covariates) if clips else set()
    for kind, names in balance.items():
        for index, one in enumerate(names):
            path = f"balance.{kind}[{index}]"
            if one not in known:
                yield Fault(path, f'the material has no column "{one}"', nearest(one, known))
            elif kind == "numbers":
                odd = [c.name for c in clips if not isinstance(c.covariates[one], float)]
                if odd:
                    yield Fault(path, f'"{one}" of {odd[0]} is no number', "name it a category")


def _load(path: Path) -> tuple[Any, dict[str, int]]:
    """What the file says, and on which line each value stands."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except OSError as error:
        told = f"cannot be read: {error.strerror or error}"
        raise InputError([Problem(str(path), 0, "", told)], done="planned") from error
    except UnicodeDecodeError as error:
        told = f"not UTF-8 at byte {error.start + 1}"
        raise InputError([Problem(str(path), 0, "", told)], done="planned") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        told = f"not YAML: {error.problem}"
        raise InputError([Problem(str(path), line, "", told)], done="planned") from error
    if node is None:
        raise InputError([Problem(str(path), 0, "", "is empty")], done="planned")
    lines: dict[str, int] = {}
    repeated: list[Problem] = []
    value = _value(node, "", lines, repeated, str(path))
    if repeated:
        raise InputError(repeated, done="planned")
    return value, lines


def _value(
    node: yaml.Node, path: str, lines: dict[str, int], repeated: list[Problem], source: str
) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, inner in node.value:
            key_name = str(key.value)
            at = f"{path}.{key_name}" if path else key_name
            lines[at] = key.start_mark.line + 1
            if key_name in found:
                line = key.start_mark.line + 1
                repeated.append(Problem(source, line, at, "comes twice", "keep one"))
            found[key_name] = _value(inner, at, lines, repeated, source)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(inner, f"{path}[{n}]", lines, repeated, source)
            for n, inner in enumerate(node.value)
        ]
    return yaml.SafeLoader("").construct_object(node)


def _line(lines: dict[str, int], field: str) -> int:
    """The line of a field, or of what it is missing from."""
    while field and field not in lines:
        field = field.rpartition("." if "." in field else "[")[0]
    return lines.get(field, 1)


def _material(folder: Path, value: dict[str, Any]) -> tuple[list[Clip], list[Problem]]:
    """The table of clips: name, seconds, and whatever else is known of each."""
    place = value.get("material")
    if not isinstance(place, str):
        return [], []
    path = folder / place
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows, columns = list(reader), list(reader.fieldnames or ())
    except (OSError, UnicodeError, csv.Error) as error:
        return [], [Problem(str(path), 0, "", f"cannot be read: {error}")]
    missing = [column for column in ("name", "seconds") if column not in columns]
    if missing:
        told = f"needs the columns name and seconds, lacks {' and '.join(missing)}"
        return [], [Problem(str(path), 1, "", told)]
    if not rows:
        return [], [Problem(str(path), 1, "", "has no clip in it")]
    clips, problems, seen = list[Clip](), list[Problem](), dict[str, int]()
    for line, row in enumerate(rows, 2):
        faults = list(_wrong_row(row, columns, seen))
        problems += [Problem(str(path), line, *fault) for fault in faults]
        seen.setdefault(row["name"], line)
        if not faults:
            rest = {key: _plain(row[key]) for key in columns if key not in ("name", "seconds")}
            clips.append(Clip(row["name"], float(row["seconds"]), rest))
    return clips, problems


def _wrong_row(row: dict[str, Any], columns: list[str], seen: dict[str, int]) -> Iterator[Fault]:
    if None in row or any(row[column] is None for column in columns):
        yield Fault("", f"needs {len(columns)} fields")
        return
    if not is_name(row["name"]):
        yield Fault("name", f"must be printable text, got {show(row['name'])}")
    if row["name"] in seen:
        yield Fault("name", f'"{row["name"]}" is also on line {seen[row["name"]]}', "keep one")
    seconds = _plain(row["seconds"])
    if not isinstance(seconds, float) or not 0 < seconds < 86_400:
        yield Fault("seconds", f"must be a positive number, got {show(row['seconds'])}")


def _plain(value: str) -> str | float:
    try:
        found = float(value)
    except ValueError:
        return value
    return found if abs(found) < float("inf") else value
