"""Reader of study.yaml files, and the digest that identifies a study."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import msgspec

from earwitness.analysis.plan import ALL_SCALES, interval_for
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.errors import Problem, refuse_problems
from earwitness.io.schema import Fault, fill_defaults
from earwitness.io.yaml import YamlDocument, read_yaml
from earwitness.studies.file.check_clips import (
    build_eligible,
    build_hearing,
    build_quality,
    build_rules,
    check_scales,
    count_faults,
    missing_clip_faults,
    missing_digits,
    read_check_clips,
)
from earwitness.studies.file.checks import (
    add_rubric,
    contradictions,
    is_captioned,
    is_transcribed,
    judged_systems,
    missing_sounds,
    valid_kinds,
)
from earwitness.studies.file.listener_rows import PlaylistVocabulary, read_playlists
from earwitness.studies.file.material import (
    Sounds,
    StudyMaterial,
    ZeroDurations,
    draft_captions,
    draft_clips,
    is_missing,
    pattern_faults,
    read_anchor_clips,
    read_captions,
    read_clips,
    read_folders,
    read_gold,
    with_numbers,
)
from earwitness.studies.file.recordings import build_recording, recording_faults
from earwitness.studies.file.schema import DeviceKeys, StudyKeys, check_study_file
from earwitness.studies.file.transcripts import (
    Transcripts,
    draft_transcripts,
    read_summaries,
    read_transcripts,
)
from earwitness.studies.study import (
    CheckClip,
    Clip,
    Gold,
    Study,
)
from earwitness.studies.trials import KINDS

# --- Digest of a study ---------------------------------------------------------------------------


# more listeners change no other plan
KEYS_OUTSIDE_DIGEST = ("digest", "listeners", "juries")
TEXT_KEYS = ("title", "language", "wordings", "instructions", "consent")
FORM_KEYS = ("before", "after")
DISPLAY_KEY = "recording_display"


def with_digest(study: Study) -> Study:
    """Return a study with the digest of everything that decides what is heard and computed.

    Texts are left out, so that a better wording does not make links and answers invalid.
    """
    value = {key: entry for key, entry in asdict(study).items() if key not in KEYS_OUTSIDE_DIGEST}
    if not study.recordings:
        del value["recording_display"]
    for recording in value["recordings"]:  # another folder is the same recording
        for key in ("files", "labels"):
            recording[key] = [PurePath(name).name for name in recording[key]]
    for block in value["blocks"]:
        block["parameters"] = {**KINDS[block["kind"]].parameters(), **block["parameters"]}
    for clip in value["quality"]["clips"]:
        del clip["seconds"]  # unknown where audio files are missing
    for key in TEXT_KEYS:
        del value[key]
    for question in (question for key in FORM_KEYS for question in value[key]):
        del question["prompt"]
    text = json.dumps(value, sort_keys=True)
    return replace(study, digest=hashlib.sha256(text.encode()).hexdigest())


def study_texts(study: Study) -> dict[str, str]:
    """Return the texts of a study that its digest leaves out, by the key of the study file.

    The display of long recordings is added, so that it stands with what listeners saw.
    """
    texts = {key: getattr(study, key) for key in TEXT_KEYS if key != "wordings"}
    for group, words in study.wordings.items():
        for name, entry in words.items():
            shown = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
            texts[f"wordings.{group}.{name}"] = shown
    for when in FORM_KEYS:
        texts |= {
            f"forms.{when}.{question.name}": question.prompt for question in getattr(study, when)
        }
    if study.recordings:
        texts[DISPLAY_KEY] = json.dumps(asdict(study.recording_display))
    return {name: text for name, text in texts.items() if text}


# --- Reading the study file ----------------------------------------------------------------------


StudyDict = dict[str, Any]


def read_study(
    path: str | Path,
    *,
    without: Sequence[str] = (),
    practice: bool = True,
    heard: bool = True,
    draft: bool = False,
) -> Study:
    """Read a study file and the files that it names.

    Parameters
    ----------
    path
        Path of the study file (YAML).
    without
        Names of folders whose audio files may be missing.
    practice
        Whether enough clips for practice trials are required.
    heard
        Whether audio files must exist. If false, they may be missing as long as the clips are known
        from a table or from other files.

    Returns
    -------
    Study
        The study with its clips, captions and digest.

    Raises
    ------
    InputError
        If the study file or a file that it names is invalid; lists all problems.
    """
    place = Path(path)
    file = read_yaml(place)
    faults = list(check_study_file(file.value, ""))
    if isinstance(file.value, dict) and isinstance(file.value.get("files"), str):
        shared = is_captioned(file.value) or is_transcribed(file.value)
        faults += pattern_faults(file.value["files"], captioned=shared)
    if not isinstance(file.value, dict):
        _refuse(file, faults)
    wrong = set(map(_main_key, faults))
    keys = StudyKeys.__struct_fields__
    usable = {key: file.value[key] for key in keys if key in file.value and key not in wrong}
    if {"systems", "blocks"} <= set(usable):  # the other keys can be checked
        value = _fill_defaults({"title": "", **usable})
        looked = not wrong & {"files", "material"}
        material = _read_material(
            place.parent, value, without, looked=looked, heard=heard, draft=draft
        )
        faulty = list(contradictions(value, material.clips, practice=practice))
        if {"recordings", "recording_display"} & set(usable):
            faulty += recording_faults(value, [] if material.is_draft else material.clips)
        more = [fault for fault in faulty if _main_key(fault) not in wrong]
        quality = build_quality(value["quality"], material.checks)
        if material.check_problems:
            wrong.add("quality")
        more += [] if "quality" in wrong else count_faults(quality)
        more += missing_clip_faults(value, quality, wrong)
        _refuse(file, [*faults, *more], material.problems)
        return _build_study(value, material, place.parent)
    table, others = file.value.get("material"), list[Problem]()
    if isinstance(table, str):  # its faults are reported even if the study file is invalid
        others = read_clips(place.parent / table, ZeroDurations()).problems
    _refuse(file, faults, others)
    raise AssertionError("a file without systems or blocks has faults")


def _main_key(fault: Fault) -> str:
    """Return the key of the study file that a fault concerns."""
    return re.split(r"[.\[]", fault.field)[0]


def _refuse(file: YamlDocument, faults: Sequence[Any], others: Sequence[Problem] = ()) -> None:
    refuse_problems([*others, *map(file.problem, faults)], "done")


def _fill_defaults(value: StudyDict) -> StudyDict:
    """Return the keys of a study file with defaults filled in on every level."""
    filled = fill_defaults(value, StudyKeys)
    filled["blocks"] = [add_rubric(block, filled.get("rubric")) for block in filled["blocks"]]
    device = filled["device"] if isinstance(filled["device"], dict) else {"steps": filled["device"]}
    filled["device"] = fill_defaults(device, DeviceKeys)
    if filled["juries"]:
        filled.setdefault("listeners", sum(filled["juries"].values()))
    for rule in filled["screening"]:
        if rule["rule"] not in PRESETS:
            rule["limits"] = {**SCREENS[rule["rule"]].limits, **rule["limits"]}
    return filled


@dataclass
class _NamedMaterial:
    """Clips and anchors that a study file names, and their problems."""

    clips: list[Clip]
    anchors: list[Clip] = field(default_factory=list)
    gold: list[Gold] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    checks: list[CheckClip] = field(default_factory=list)
    check_problems: list[Problem] = field(default_factory=list)
    is_draft: bool = False  # the names of clips are examples


def _read_material(
    folder: Path,
    value: StudyDict,
    without: Sequence[str],
    *,
    looked: bool,
    heard: bool,
    draft: bool,
) -> _NamedMaterial:
    sounds = None
    if "files" in value:
        wanted = [name for name in _sound_folders(value) if name not in without]
        shared = is_captioned(value) or is_transcribed(value)
        sounds = Sounds(folder, value["files"], wanted[:1] if shared else wanted)
    texts = _read_transcripts(folder, value, draft=draft) if looked else None
    free = draft and not {"files", "rows"} & set(value)  # clips are named nowhere else
    is_draft = looked and free and is_missing(folder, value.get("material"))
    if is_draft:
        material = StudyMaterial(draft_clips(value))
    else:
        material = _list_clips(folder, value, sounds, texts) if looked else StudyMaterial()
    named = _NamedMaterial(
        with_numbers(material.clips, value["balance"]["numbers"]),
        problems=material.problems,
        is_draft=is_draft,
    )
    if sounds is not None and heard:
        named.problems += sounds.problems(named.clips)
    if value.get("anchors"):
        named.anchors, problems = read_anchor_clips(folder, value["anchors"])
        named.problems += problems
    if is_captioned(value) and value.get("captions"):
        systems = value["systems"]
        names = [clip.name for clip in named.clips]
        if draft and is_missing(folder, value["captions"]):
            captions = draft_captions(value["captions"], names, systems)
        else:
            captions = read_captions(folder / value["captions"], names, systems)
        named.clips = captions.of(named.clips, systems)
        named.problems += captions.problems if looked and names else []
    if texts is not None:
        _add_texts(named, folder, value, texts, sounds if heard else None, draft=draft)
    if heard:
        named.problems += missing_sounds(folder, value)
    if value.get("gold"):
        first, names = value["blocks"][0], [clip.name for clip in named.clips]
        systems = first.get("systems", value["systems"])
        named.gold, problems = read_gold(
            folder / value["gold"], names, systems, check_scales(first)
        )
        named.problems += problems
    if heard and (test := build_hearing(value.get("hearing"))) is not None:
        named.problems += missing_digits(folder, test)
    if table := value["quality"].get("clips"):
        scales = check_scales(value["blocks"][0])
        named.checks, named.check_problems = read_check_clips(
            folder / table, folder, scales, heard=heard
        )
        named.problems += named.check_problems
    return named


def _read_transcripts(folder: Path, value: StudyDict, *, draft: bool) -> Transcripts | None:
    """Return the transcripts of a study, or None if it has none or they are drafted later."""
    if not is_transcribed(value) or not value.get("transcripts"):
        return None
    if draft and is_missing(folder, value["transcripts"]):
        return Transcripts()
    return read_transcripts(folder, value["transcripts"])


def _add_texts(
    named: _NamedMaterial,
    folder: Path,
    value: StudyDict,
    texts: Transcripts,
    sounds: Sounds | None,
    *,
    draft: bool,
) -> None:
    """Add transcripts and summaries to the clips, and their problems."""
    if draft and is_missing(folder, value["transcripts"]):
        texts = draft_transcripts(value["transcripts"], named.clips)
    highlight = any(kind.highlights for kind in valid_kinds(value))
    named.problems += texts.problems
    if texts.texts:
        named.problems += texts.find_missing(named.clips)
        named.problems += texts.find_time_faults(named.clips, sounds, highlight=highlight)
    named.clips = texts.of(named.clips)
    systems, table = judged_systems(value), value.get("summaries")
    names = [clip.name for clip in named.clips]
    if not table or not systems or not names:
        return
    if draft and is_missing(folder, table):
        summaries = draft_captions(table, names, systems)
    else:
        summaries = read_summaries(folder / table, texts, names, systems)
    named.clips = summaries.of(named.clips, systems)
    named.problems += summaries.problems


def _sound_folders(value: StudyDict) -> list[str]:
    """Return systems and the other folders that trials need."""
    folders = list(value["systems"])
    for kind in valid_kinds(value) if value.get("reference") else ():
        folders += kind.extra(value["reference"])
    return list(dict.fromkeys(folders))


def _list_clips(
    folder: Path, value: StudyDict, sounds: Sounds | None, texts: Transcripts | None
) -> StudyMaterial:
    if "material" in value:
        return read_clips(folder / value["material"], sounds or texts, _sound_folders(value))
    if texts is not None and (texts.texts or texts.problems):
        return StudyMaterial(texts.clips(sounds))
    if is_transcribed(value) and not value.get("transcripts"):
        return StudyMaterial()  # reported elsewhere
    if sounds is not None:
        return read_folders(sounds)
    message = "required unless files is set: name a table of clips"
    return StudyMaterial(problems=[Problem(str(folder), 0, "material", message)])


def _build_study(value: StudyDict, named: _NamedMaterial, folder: Path) -> Study:
    share = (len(named.clips) - len(value["training_items"])) // value["panels"]
    quality, device = build_quality(value["quality"], named.checks), value["device"]
    fields = {
        "listeners": 0,
        **value,
        **value["balance"],
        "material": named.clips,
        "anchors": named.anchors,
        "anchor_folder": value.get("anchors", ""),
        "gold": named.gold,
        "blocks": [
            {
                "systems": value["systems"],
                "clips": share,
                "heard": len(block.get("systems", value["systems"])),
                **block,
                "seconds": block["rating_seconds"],
            }
            for block in value["blocks"]
        ],
        "before": _build_questions(value["forms"]["before"]),
        "after": _build_questions(value["forms"]["after"]),
        "screening": build_rules(value["screening"], quality),
        "analysis": _fill_analysis(value["analysis"]),
        "device": device["steps"],
        "device_required": device["require"],
        "device_tries": device["tries"] if device["require"] else 0,
        "juries": [{"name": name, "listeners": n} for name, n in value["juries"].items()],
        "quality": quality,
        "hearing": build_hearing(value.get("hearing")),
        "recordings": [
            build_recording(*recording) for recording in sorted(value["recordings"].items())
        ],
    }
    study = msgspec.convert(fields, Study)
    return with_digest(
        _add_playlists(study, folder / value["rows"]) if value.get("rows") else study
    )


def _add_playlists(study: Study, folder: Path) -> Study:
    """Return a study with plans from playlists, which also set listeners, panels and blocks."""
    plans, problems = read_playlists(folder, PlaylistVocabulary.of(study))
    refuse_problems(problems, "done")
    blocks = []
    for number, block in enumerate(study.blocks):
        block_sessions = [[s for s in plan.sessions if s[0].block == number] for plan in plans]
        items = [
            len({trial.item for session in sessions for trial in session})
            for sessions in block_sessions
        ]
        blocks.append(replace(block, clips=max(items), sessions=max(map(len, block_sessions))))
    panels = max(plan.panel for plan in plans)
    return replace(
        study,
        plans=tuple(plans),
        listeners=len(plans),
        panels=panels,
        blocks=tuple(blocks),
        training=max(len(plan.training) for plan in plans),
    )


def _build_questions(asked: list[StudyDict]) -> list[StudyDict]:
    return [
        {**question, "eligible": build_eligible(question.get("eligible"))} for question in asked
    ]


def _fill_analysis(value: StudyDict) -> StudyDict:
    """Return the keys of an analysis with its interval, and its anchors by scale."""
    interval, anchors = value["interval"], value["anchors"]
    if population := value.get("generalize"):
        interval = interval_for(population, interval)
    by_scale = anchors if isinstance(anchors, dict) else {ALL_SCALES: anchors}
    named = {scale: list(map(str, names)) for scale, names in by_scale.items() if names}
    return {**value, "interval": interval, "anchors": named}
