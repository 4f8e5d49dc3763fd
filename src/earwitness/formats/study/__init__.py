"""The study file: YAML, checked as a whole, every problem with its line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from earwitness.data import Analysis, Block, Clip, Plan, Question, Rule, Study
from earwitness.data.study import PATTERN
from earwitness.errors import InputError, Problem, UsageError
from earwitness.formats.lined import Lined, read_yaml
from earwitness.formats.shapes import filled
from earwitness.formats.study import fields
from earwitness.formats.study.material import Material, read_folders, read_table
from earwitness.formats.study.rows import Known, read_rows
from earwitness.formats.study.sounds import Sounds, anchor_clips, misfit
from earwitness.formats.study.together import contradictions, kind_of
from earwitness.listening.kinds import KINDS
from earwitness.listening.screening import SCREENS

Value = dict[str, Any]


def read_study(path: str | Path, *, without: Sequence[str] = ()) -> Study:
    """A study, or all that is wrong with its file and with what it names.

    Sounds ``without`` which it is read are not looked for.
    """
    place = Path(path)
    file = read_yaml(place)
    faults = list(fields.SHAPE(file.value, ""))
    if isinstance(file.value, dict) and isinstance(file.value.get("files"), str):
        faults += misfit(file.value["files"])
    if faults:
        _refuse(file, faults, _table_problems(place.parent, file.value))
    value = _filled(file.value)
    found = _found(place.parent, value, without)
    _refuse(file, list(contradictions(value, found.clips)), found.problems)
    return _study(value, found)


def _refuse(file: Lined, faults: Sequence[Any], others: Sequence[Problem] = ()) -> None:
    problems = [*others, *(file.problem(fault) for fault in faults)]
    if problems:
        raise InputError(problems, done="planned")


def _table_problems(folder: Path, value: Any) -> list[Problem]:
    """Those of the table of clips, though the file itself is wrong."""
    table = value.get("material") if isinstance(value, dict) else None
    if not isinstance(table, str):
        return []
    problems = read_table(folder / table, None).problems
    return [one for one in problems if "there is no file to ask" not in one.message]


def _filled(value: Value) -> Value:
    """With what holds for keys that are left out, on every level."""
    value = filled(value, fields.STUDY)
    value["blocks"] = [filled(block, fields.BLOCK) for block in value["blocks"]]
    for key, inner in (("balance", fields.BALANCE), ("analysis", fields.ANALYSIS)):
        value[key] = filled(value[key], inner)
    value["forms"] = {
        when: [filled(one, fields.QUESTION) for one in questions]
        for when, questions in filled(value["forms"], fields.FORMS).items()
    }
    value["screening"] = [
        {**rule, "limits": {**SCREENS[rule["rule"]].limits, **rule.get("limits", {})}}
        for rule in value["screening"]
    ]
    return value


@dataclass
class _Found:
    """What a study file names: clips, anchors, plans; and what is wrong with them."""

    clips: list[Clip]
    anchors: list[Clip] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _found(folder: Path, value: Value, without: Sequence[str]) -> _Found:
    sounds = _sounds(folder, value, without)
    material = _material(folder, value, sounds)
    found = _Found(material.clips, problems=material.problems)
    if sounds is not None:
        found.problems += sounds.missing(found.clips)
    if value.get("anchors"):
        found.anchors, problems = anchor_clips(folder, value["anchors"])
        found.problems += problems
    if value.get("rows"):
        rows = read_rows(folder / value["rows"], _known(value, found.clips))
        found.plans, found.problems = rows.plans, found.problems + rows.problems
    return found


def _known(value: Value, clips: Sequence[Clip]) -> Known:
    scales = [scale.name for scale in KINDS[value["blocks"][0]["kind"]].scales]
    anchors = Path(value.get("anchors", "")).name
    items = frozenset(clip.name for clip in clips)
    pattern = value.get("files", PATTERN)
    return Known(list(map(str, value["systems"])), anchors, scales, items, pattern)


def _sounds(folder: Path, value: Value, without: Sequence[str]) -> Sounds | None:
    """Where sounds are, if the file says so."""
    if "files" not in value:
        return None
    systems = list(map(str, value["systems"]))
    for block in value["blocks"]:
        kind = kind_of(block)
        if not isinstance(kind, UsageError) and value.get("reference"):
            systems += kind.extra(str(value["reference"]))
    wanted = [name for name in dict.fromkeys(systems) if name not in without]
    return Sounds(folder, value["files"], wanted)


def _material(folder: Path, value: Value, sounds: Sounds | None) -> Material:
    if "material" in value:
        return read_table(folder / value["material"], sounds)
    if sounds is not None:
        return read_folders(sounds)
    told = "missing: name a table of clips, or say in files where sounds are"
    return Material(problems=[Problem(str(folder), 0, "material", told)])


def _study(value: Value, found: _Found) -> Study:
    systems = tuple(map(str, value["systems"]))
    clips = len(found.clips)
    panels = max((plan.panel for plan in found.plans), default=value["panels"])
    return Study(
        title=value["title"],
        seed=value["seed"],
        material=tuple(found.clips),
        blocks=tuple(_block(block, systems, clips // value["panels"]) for block in value["blocks"]),
        listeners=len(found.plans) or value["listeners"],
        panels=panels,
        rest_minutes=float(value["rest_minutes"]),
        categories=tuple(map(str, value["balance"]["categories"])),
        numbers=tuple(map(str, value["balance"]["numbers"])),
        files=value.get("files", PATTERN),
        reference=str(value.get("reference", "")),
        anchors=tuple(found.anchors),
        anchor_folder=value.get("anchors", ""),
        training=value["training"],
        language=value["language"],
        wordings=value["wordings"],
        instructions=value["instructions"],
        consent=value["consent"],
        before=_questions(value["forms"]["before"]),
        after=_questions(value["forms"]["after"]),
        screening=tuple(Rule(rule["rule"], rule["limits"]) for rule in value["screening"]),
        analysis=_analysis(value["analysis"]),
        plans=tuple(found.plans),
        digest=_digest(value, found),
    )


def _block(block: Value, systems: tuple[str, ...], share: int) -> Block:
    own = tuple(map(str, block.get("systems", systems)))
    return Block(
        kind=block["kind"],
        systems=own,
        clips=block.get("clips", share),
        sessions=block["sessions"],
        heard=block.get("heard", len(own)),
        seconds=float(block["rating_seconds"]),
        parameters=block["parameters"],
    )


def _questions(asked: list[Value]) -> tuple[Question, ...]:
    return tuple(
        Question(
            str(one["name"]),
            one["prompt"],
            one["answer"],
            tuple(one.get("options", ())),
            one["needed"],
        )
        for one in asked
    )


def _analysis(value: Value) -> Analysis:
    return Analysis(
        scales=tuple(map(str, value["scales"])),
        contrasts=tuple((str(a), str(b)) for a, b in value["contrasts"]),
        interval=value["interval"],
        level=float(value["level"]),
        correction=value["correction"],
    )


def _digest(value: Value, found: _Found) -> str:
    """Of all that the file says or names, in one form whatever order its keys stand in."""
    whole = [value, *([asdict(one) for one in own] for own in (found.clips, found.anchors))]
    canonical = json.dumps([*whole, [asdict(plan) for plan in found.plans]], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
