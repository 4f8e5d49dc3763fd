"""Keys of a study file on eligibility and quality control, and the table of clips with answers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from earwitness.analysis.evidence import GOLD_ROLE, TRAP_ROLE
from earwitness.analysis.plan import Rule
from earwitness.analysis.screening import CHECK_RULES, PRESETS, SCREENS
from earwitness.audio.decode import read_profile
from earwitness.errors import Problem, UsageError, file_problem, nearest
from earwitness.io.schema import Fault
from earwitness.io.source import is_present
from earwitness.ratings.scales import Scale
from earwitness.studies.file.material import Faults, read_fixed_table, value_faults
from earwitness.studies.hearing import digit_files
from earwitness.studies.study import (
    CHECK_ROLES,
    CHECK_SYSTEMS,
    CheckClip,
    EligibleAnswers,
    HearingTest,
    QualityControl,
)
from earwitness.studies.trials import KINDS, kinds_for_rule
from earwitness.studies.trials.base import TrialKind

# --- Table of clips with known answers -----------------------------------------------------------


StudyMapping = Mapping[str, Any]  # keys of a study file
CHECK_COLUMNS = ("file", "role", "scale", "value")
COUNT_KEYS = {GOLD_ROLE: "gold", TRAP_ROLE: "traps"}  # numbers of clips per session


@dataclass
class _ClipRows:
    """Role and answers of one clip, with the line of each answer."""

    role: str
    line: int
    values: dict[str, float] = field(default_factory=dict)


def read_check_clips(
    path: Path, folder: Path, scales: Mapping[str, Scale], *, heard: bool
) -> tuple[list[CheckClip], list[Problem]]:
    """Read a table of clips with known answers: file, role, scale and value.

    ``folder`` is that of the study file; an empty scale stands for all ``scales``. Audio files may
    be missing unless ``heard``.
    """
    table, checks = read_fixed_table(path, CHECK_COLUMNS), list[CheckClip]()
    clips: dict[str, _ClipRows] = {}
    for line, row in table.rows:
        faults = list(_row_faults(row, scales, clips))
        table.problems += [Problem(str(path), line, *fault) for fault in faults]
        if not faults:
            clip = clips.setdefault(row["file"], _ClipRows(row["role"], line))
            for scale in [row["scale"]] if row["scale"] else scales:
                clip.values[scale] = float(row["value"])
    if not clips and not table.problems:
        table.problems.append(Problem(str(path), 1, "", "contains no clips"))
    for file, clip in clips.items():
        seconds = 0.0
        try:
            if heard or is_present(folder / file):
                seconds = read_profile(folder / file).seconds
        except (OSError, ValueError) as error:  # UsageError is one of them, and NUL in a name
            reason = str(error).partition(": ")[2] if isinstance(error, UsageError) else ""
            message = reason or "the audio file does not exist"
            table.problems.append(Problem(str(path), clip.line, "file", f"{file}: {message}"))
        checks.append(CheckClip(file, clip.role, file, seconds, clip.values))
    return checks, table.problems


def _row_faults(
    row: Mapping[str, str], scales: Mapping[str, Scale], clips: Mapping[str, _ClipRows]
) -> Faults:
    if not row["file"]:
        yield Fault("file", "missing")
    if row["role"] not in CHECK_ROLES:
        yield Fault("role", f'unknown role "{row["role"]}"', nearest(row["role"], CHECK_ROLES))
    if row["scale"] and row["scale"] not in scales:
        yield Fault("scale", f'unknown scale "{row["scale"]}"', nearest(row["scale"], scales))
        return
    asked = [row["scale"]] if row["scale"] else list(scales)
    yield from islice((f for name in asked for f in value_faults(row["value"], scales[name])), 1)
    known = clips.get(row["file"])
    if known is not None and known.role != row["role"]:
        yield Fault("role", f"{row['file']} is a {known.role} clip on line {known.line}")
    if known is not None and set(asked) & set(known.values):
        yield Fault("scale", f"duplicate answer for {row['file']}", "keep one")


# --- Quality control and eligibility from keys ---------------------------------------------------


def build_quality(value: StudyMapping, clips: Sequence[CheckClip]) -> QualityControl:
    """Return the quality control of a study; each session has one clip of each role by default."""
    counts = {key: int(role in {clip.role for clip in clips}) for role, key in COUNT_KEYS.items()}
    return msgspec.convert({**counts, **value, "clips": clips}, QualityControl)


def build_rules(rules: Sequence[StudyMapping], quality: QualityControl) -> tuple[Rule, ...]:
    """Return screening rules; a preset stands for its rules that are not listed themselves."""
    listed, made = {rule["rule"] for rule in rules}, list[Rule]()
    for rule in rules:
        for name in PRESETS.get(rule["rule"], ()):
            if name not in listed and _has_clips(name, quality):
                made.append(Rule(name, SCREENS[name].limits))
        if rule["rule"] not in PRESETS:
            made.append(Rule(rule["rule"], rule["limits"]))
    return tuple(made)


def _has_clips(rule: str, quality: QualityControl) -> bool:
    """Return whether a study has what a rule on clips with known answers needs."""
    return getattr(quality, rule) > 0 if rule in CHECK_RULES.values() else True


def build_eligible(value: Any) -> EligibleAnswers | None:
    """Return the answers with which a person may take part, from a list or a range."""
    if value is None:
        return None
    if isinstance(value, list):
        return EligibleAnswers(tuple(value))
    return EligibleAnswers(low=value.get("min"), high=value.get("max"))


def build_hearing(value: StudyMapping | None) -> HearingTest | None:
    """Return the hearing test of a study, if any."""
    return HearingTest(**value) if value is not None and "{digit}" in value["digits"] else None


def missing_digits(folder: Path, test: HearingTest) -> list[Problem]:
    """Return a problem for each missing recording of a digit."""
    message = "missing recording of a digit of the hearing test"
    return [
        file_problem(folder / name, message)
        for name in digit_files(test)
        if not is_present(folder / name)
    ]


def check_scales(block: StudyMapping) -> dict[str, Scale]:
    """Return the scales on which clips with known answers are rated: those of the first block."""
    return {scale.name: scale for scale in KINDS[block["kind"]].fixed}


# --- Faults --------------------------------------------------------------------------------------


def eligibility_faults(forms: StudyMapping) -> Faults:
    """Yield faults of the rules on who may take part."""
    for when, questions in forms.items():
        for index, question in enumerate(questions):
            if question.get("eligible") is not None:
                path = f"forms.{when}[{index}]"
                yield from _eligible_faults(question, f"{path}.eligible", before=when == "before")
                if not question.get("needed", True):
                    message = "a question that decides who may take part must be answered"
                    yield Fault(f"{path}.needed", message, "remove needed: false")


def _eligible_faults(question: StudyMapping, path: str, *, before: bool) -> Faults:
    eligible, answer = question["eligible"], question.get("answer", "text")
    if not before:
        yield Fault(path, "allowed only in forms.before", "move the question")
    if answer == "text":
        yield Fault(path, "not supported for texts", "write answer: number or answer: choice")
    elif isinstance(eligible, list) != (answer == "choice"):
        remedy = "list options" if answer == "choice" else "write min and max"
        yield Fault(path, f"does not fit answer: {answer}", remedy)
    elif isinstance(eligible, list):
        options = question.get("options", [])
        for option in eligible:
            if option not in options:
                yield Fault(path, f'unknown option "{option}"', nearest(option, options))
        if options and set(options) <= set(eligible):
            yield Fault(path, "lists all options", "leave out those who may not take part")
    else:
        low, high = eligible.get("min"), eligible.get("max")
        if low is None and high is None:
            yield Fault(path, "empty", "write min, max or both")
        elif low is not None and high is not None and low > high:
            yield Fault(path, f"min {low:g} is larger than max {high:g}")


def quality_faults(value: StudyMapping, kinds: Sequence[TrialKind]) -> Faults:
    """Yield faults of the key ``quality``."""
    quality = value["quality"]
    if "hearing" in value and build_hearing(value["hearing"]) is None:
        message = "must contain {digit}, such as digits/{digit}.wav"
        yield Fault("hearing.digits", message)
    for name in value["systems"]:
        if name in CHECK_SYSTEMS:
            yield Fault("systems", f'"{name}" is reserved for quality control', "rename it")
    if "clips" in quality and len({kind.name for kind in kinds}) > 1:
        yield Fault("quality.clips", "all blocks must have the same kind", "split the study")


def preset_faults(rule: StudyMapping, path: str, kinds: Sequence[str]) -> Faults:
    """Yield faults of a screening rule that stands for several."""
    names = PRESETS[rule["rule"]]
    if rule.get("limits"):
        remedy = f"add the rules whose limits differ: {', '.join(names)}"
        yield Fault(f"{path}.limits", f"{rule['rule']} has no limits of its own", remedy)
    for name in names:
        yield from kind_faults(name, rule["rule"], f"{path}.rule", kinds)


def kind_faults(rule: str, named: str, path: str, kinds: Sequence[str]) -> Faults:
    """Yield a fault if no block has a trial kind that a rule was made for."""
    if not (SCREENS[rule].for_all or any(rule in KINDS[kind].screening_rules() for kind in kinds)):
        yield Fault(path, f"{named} needs a block of kind {' or '.join(kinds_for_rule(rule))}")


def missing_clip_faults(
    value: StudyMapping, quality: QualityControl, unknown: Container[str] = ()
) -> Faults:
    """Yield faults of screening rules that need gold, trapping or repeated trials.

    Rules on a key that is ``unknown``, because it has other faults, have none.
    """
    for index, rule in enumerate(value["screening"]):
        path, name = f"screening[{index}].rule", rule["rule"]
        if ("hearing" if name == "hearing" else "quality") in unknown:
            continue
        if name in PRESETS and not (quality.gold or quality.traps):
            message = f"{name} needs gold or trapping clips"
            yield Fault(path, message, "set quality.clips, or use the rule p808")
        elif not _has_clips(name, quality):
            yield Fault(path, f"{name} needs clips with known answers", "set quality.clips")
        elif name == "hearing" and "hearing" not in value:
            yield Fault(path, "the study has no hearing test", "set hearing")
        elif name == "repeats" and not quality.repeats and not value.get("rows"):
            yield Fault(path, "repeats needs repeated trials", "set quality.repeats")


def count_faults(quality: QualityControl) -> Faults:
    """Yield faults of numbers of clips per session that the table does not have."""
    for role, key in COUNT_KEYS.items():
        count = sum(clip.role == role for clip in quality.clips)
        if (wanted := getattr(quality, key)) > count:
            noun = "clip" if wanted == 1 else "clips"
            message = f"needs {wanted} {role} {noun}, the table has {count}"
            yield Fault(f"quality.{key}", message, "add clips or reduce the number")
