"""Reader from study.yaml to Study, and the digest that identifies a study."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from earwitness.errors import InputError, Problem, UsageError
from earwitness.io.schema import Fault, fill_defaults
from earwitness.io.yaml import YamlDocument, read_yaml
from earwitness.studies.file import schema
from earwitness.studies.file.checks import (
    captioned,
    contradictions,
    kind_of,
    missing_sounds,
    with_rubric,
)
from earwitness.studies.file.listener_rows import PlaylistVocabulary, read_rows
from earwitness.studies.file.material import (
    GoldVocabulary,
    Sounds,
    StudyMaterial,
    anchor_clips,
    misfit,
    read_captions,
    read_folders,
    read_gold,
    read_table,
    with_numbers,
)
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import (
    DEFAULT_SOUND_PATTERN,
    Analysis,
    Clip,
    Gold,
    Jury,
    Question,
    Rule,
    Study,
    StudyBlock,
)
from earwitness.studies.trials import KINDS

# --- Digest of a study ---------------------------------------------------------------------------


KEYS_OUTSIDE_DIGEST = ("digest", "listeners", "juries")  # one more listener moves no other
# came later: left out where they are not used, so that older digests stay as they are
DIGEST_KEYS_IF_USED = ("device", "feedback", "gold")
DIGEST_ANALYSIS_KEYS_IF_USED = ("by", "margins")  # the same, of the analysis


def with_digest(study: Study) -> Study:
    """A study with the digest of all that decides what is heard, asked and computed."""
    value = {key: one for key, one in asdict(study).items() if key not in KEYS_OUTSIDE_DIGEST}
    value = {key: one for key, one in value.items() if one or key not in DIGEST_KEYS_IF_USED}
    for clip in (*value["material"], *value["anchors"]):
        if not clip["captions"]:
            del clip["captions"]
    planned = value["analysis"]
    value["analysis"] = {
        k: one for k, one in planned.items() if one or k not in DIGEST_ANALYSIS_KEYS_IF_USED
    }
    for block in value["blocks"]:
        block["parameters"] = {**KINDS[block["kind"]].parameters(), **block["parameters"]}
    value["wordings"] = {key: one for key, one in value["wordings"].items() if one}
    canonical = json.dumps(value, sort_keys=True)
    return replace(study, digest=hashlib.sha256(canonical.encode()).hexdigest())


# --- Reading the study file ----------------------------------------------------------------------


StudyDict = dict[str, Any]


def read_study(
    path: str | Path,
    *,
    without: Sequence[str] = (),
    practice: bool = True,
    heard: bool = True,
) -> Study:
    """A study, or all that is wrong with its file and with what it names.

    Sounds ``without`` which it is read are not looked for; without ``practice`` there need be no
    room for that, since clips will be chosen later. A study that is not ``heard`` any more may lack
    sounds, as long as it is known from a table, or from others, what clips there are.
    """
    place = Path(path)
    file = read_yaml(place)
    faults = list(schema.STUDY_SHAPE(file.value, ""))
    if isinstance(file.value, dict) and isinstance(file.value.get("files"), str):
        faults += misfit(file.value["files"], captioned=captioned(file.value))
    if not isinstance(file.value, dict):
        _refuse(file, faults)
    wrong = {re.split(r"[.\[]", fault.field)[0] for fault in faults}
    usable = {key: one for key, one in file.value.items() if key in schema.STUDY_KEYS}
    usable = {key: one for key, one in usable.items() if key not in wrong}
    if {"systems", "blocks"} <= set(usable):  # the rest of the file can be looked at
        value = _filled({"title": "", **usable})
        looked = not wrong & {"files", "material"}
        found = _found(place.parent, value, without, looked=looked, heard=heard)
        faulty = contradictions(value, found.clips, practice=practice)
        more = [fault for fault in faulty if _about(fault, wrong)]
        _refuse(file, [*faults, *more], found.problems)
        return _study(value, found, place.parent)
    _refuse(file, faults, _table_problems(place.parent, file.value))
    raise AssertionError("a file without systems or blocks has faults")


def _about(fault: Fault, wrong: set[str]) -> bool:
    """Whether a fault is not only about keys that are wrong anyhow."""
    return re.split(r"[.\[]", fault.field)[0] not in wrong


def _refuse(file: YamlDocument, faults: Sequence[Any], others: Sequence[Problem] = ()) -> None:
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


def _filled(value: StudyDict) -> StudyDict:
    """With what holds for keys that are left out, on every level."""
    value = fill_defaults(value, schema.STUDY_KEYS)
    value["blocks"] = [
        with_rubric(fill_defaults(block, schema.BLOCK_KEYS), value.get("rubric"))
        for block in value["blocks"]
    ]
    if value["juries"]:
        value.setdefault("listeners", sum(value["juries"].values()))
    for key, inner in (("balance", schema.BALANCE_KEYS), ("analysis", schema.ANALYSIS_KEYS)):
        value[key] = fill_defaults(value[key], inner)
    value["forms"] = {
        when: [fill_defaults(one, schema.QUESTION_KEYS) for one in questions]
        for when, questions in fill_defaults(value["forms"], schema.FORM_KEYS).items()
    }
    value["screening"] = [
        {**rule, "limits": {**SCREENS[rule["rule"]].limits, **rule.get("limits", {})}}
        for rule in value["screening"]
    ]
    return value


@dataclass
class _Found:
    """What a study file names: clips and anchors; and what is wrong with them."""

    clips: list[Clip]
    anchors: list[Clip] = field(default_factory=list)
    gold: list[Gold] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _found(
    folder: Path, value: StudyDict, without: Sequence[str], *, looked: bool, heard: bool
) -> _Found:
    sounds = _sounds(folder, value, without)
    material = _material(folder, value, sounds) if looked else StudyMaterial()
    found = _Found(
        with_numbers(material.clips, list(map(str, value["balance"]["numbers"]))),
        problems=material.problems,
    )
    if sounds is not None and heard:
        found.problems += sounds.problems(found.clips)
    if value.get("anchors"):
        found.anchors, problems = anchor_clips(folder, value["anchors"])
        found.problems += problems
    if captioned(value) and value.get("captions"):
        systems = list(map(str, value["systems"]))
        names = [clip.name for clip in found.clips]
        captions = read_captions(folder / value["captions"], names, systems)
        found.clips = captions.of(found.clips, systems)
        found.problems += captions.problems if looked and names else []
    if heard:
        found.problems += missing_sounds(folder, value)
    if value.get("gold"):
        gold = read_gold(folder / value["gold"], _names(value, found.clips))
        found.gold, found.problems = gold.values, found.problems + gold.problems
    return found


def _names(value: StudyDict, clips: Sequence[Clip]) -> GoldVocabulary:
    """What practice may be of: the first block."""
    first = value["blocks"][0]
    systems = list(map(str, first.get("systems", value["systems"])))
    scales = {scale.name: scale for scale in KINDS[first["kind"]].fixed}
    return GoldVocabulary([clip.name for clip in clips], systems, scales)


def _sounds(folder: Path, value: StudyDict, without: Sequence[str]) -> Sounds | None:
    """Where sounds are, if the file says so."""
    if "files" not in value:
        return None
    wanted = [name for name in _folders(value) if name not in without]
    if captioned(value):
        wanted = wanted[:1]
    return Sounds(folder, value["files"], wanted)


def _folders(value: StudyDict) -> list[str]:
    """Systems, and what trials need beside them."""
    found = list(map(str, value["systems"]))
    for block in value["blocks"]:
        kind = kind_of(block)
        if not isinstance(kind, UsageError) and value.get("reference"):
            found += kind.extra(str(value["reference"]))
    return list(dict.fromkeys(found))


def _material(folder: Path, value: StudyDict, sounds: Sounds | None) -> StudyMaterial:
    if "material" in value:
        return read_table(folder / value["material"], sounds, _folders(value))
    if sounds is not None:
        return read_folders(sounds)
    told = "missing: name a table of clips, or say in files where sounds are"
    return StudyMaterial(problems=[Problem(str(folder), 0, "material", told)])


def _study(value: StudyDict, found: _Found, folder: Path) -> Study:
    systems = tuple(map(str, value["systems"]))
    share = len(found.clips) // value["panels"]
    study = Study(
        title=value["title"],
        seed=value["seed"],
        material=tuple(found.clips),
        blocks=tuple(_block(block, systems, share) for block in value["blocks"]),
        listeners=value.get("listeners", 0),
        panels=value["panels"],
        rest_minutes=float(value["rest_minutes"]),
        categories=tuple(map(str, value["balance"]["categories"])),
        numbers=tuple(map(str, value["balance"]["numbers"])),
        files=value.get("files", DEFAULT_SOUND_PATTERN),
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
        device=tuple(value["device"]),
        feedback=value["feedback"],
        gold=tuple(found.gold),
        juries=tuple(Jury(str(name), count) for name, count in value["juries"].items()),
    )
    return with_digest(_with_rows(study, folder / value["rows"]) if value.get("rows") else study)


def _with_rows(study: Study, folder: Path) -> Study:
    """A study whose plans were made elsewhere: listeners, panels and blocks are as they say."""
    rows = read_rows(folder, PlaylistVocabulary.of(study))
    if rows.problems:
        raise InputError(rows.problems, done="planned")
    blocks = []
    for number, block in enumerate(study.blocks):
        own = [[s for s in plan.sessions if s[0].block == number] for plan in rows.plans]
        items = [len({trial.item for session in one for trial in session}) for one in own]
        blocks.append(replace(block, clips=max(items), sessions=max(map(len, own))))
    panels = max(plan.panel for plan in rows.plans)
    return replace(
        study,
        plans=tuple(rows.plans),
        listeners=len(rows.plans),
        panels=panels,
        blocks=tuple(blocks),
        training=max(len(plan.training) for plan in rows.plans),
    )


def _block(block: StudyDict, systems: tuple[str, ...], share: int) -> StudyBlock:
    own = tuple(map(str, block.get("systems", systems)))
    return StudyBlock(
        kind=block["kind"],
        systems=own,
        clips=block.get("clips", share),
        sessions=block["sessions"],
        heard=block.get("heard", len(own)),
        seconds=float(block["rating_seconds"]),
        parameters=block["parameters"],
    )


def _questions(asked: list[StudyDict]) -> tuple[Question, ...]:
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


def _analysis(value: StudyDict) -> Analysis:
    return Analysis(
        scales=tuple(map(str, value["scales"])),
        contrasts=tuple((str(a), str(b)) for a, b in value["contrasts"]),
        interval=value["interval"],
        level=float(value["level"]),
        correction=value["correction"],
        by=tuple(map(str, value["by"])),
        margins={str(name): float(margin) for name, margin in value["margins"].items()},
    )
