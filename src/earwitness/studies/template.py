"""Study files to start from, also from a folder of audio files, for study new."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import escape, glob
from itertools import count, product
from math import ceil
from pathlib import Path
from typing import Annotated, Any
from warnings import warn

import yaml

from earwitness.audio.decode import read_profile
from earwitness.core import StrPath, count_text, group_values
from earwitness.errors import (
    EarwitnessWarning,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.io.atomic import AtomicFile
from earwitness.io.tables import open_csv
from earwitness.recordings.recording import natural_sort_key
from earwitness.studies.design.plan import clip_minutes, count_minutes, max_clips
from earwitness.studies.file.material import ITEM_PLACEHOLDER, SYSTEM_PLACEHOLDER, pattern_faults
from earwitness.studies.study import Clip, Question, Study, StudyBlock
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.single import P835
from earwitness.studies.trials.template import SOUND_SYSTEMS

# --- Audio files of a pattern --------------------------------------------------------------------


REFERENCE_NAMES = ("reference", "references", "ref", "refs", "clean", "original", "hidden_ref")
SHOWN_ITEMS = 3  # in an error
PLACEHOLDER_SPLIT = re.compile(f"({re.escape(ITEM_PLACEHOLDER)}|{re.escape(SYSTEM_PLACEHOLDER)})")
Paths = Mapping[str, Mapping[str, str]]  # by system and item


def find_sounds(pattern: str) -> Paths:
    """Return the paths that a pattern matches, by system and item in natural order.

    Where names can be divided in several ways, such as ``a_b_c.wav`` by ``{system}_{item}.wav``,
    all systems have the same items, if possible.
    """
    pieces, paths = _find_paths(pattern)
    splits = dict(_split_paths(pieces, paths))
    items = group_values(splits)
    systems = group_values((item, system) for system, item in splits)

    def rank(split: tuple[str, str]) -> tuple[bool, int]:
        system, item = split
        return min(len(items[system]), len(systems[item])) == 1, len(system)

    for system, item in sorted(splits, key=rank):
        size = len(systems[item]) * len(items[system])
        keys = [*product(systems[item], items[system])] if size == len(paths) else []
        if keys and splits.keys() >= {*keys}:
            return _by_system((key, splits[key]) for key in keys)
    shortest = {path: split for split, path in reversed(splits.items())}
    return _by_system((shortest[path], path) for path in paths if path in shortest)


def find_clips(pattern: str) -> dict[str, str]:
    """Return the paths that a pattern without systems matches, by item in natural order."""
    pieces, paths = _find_paths(pattern, captioned=True)
    shape = "".join(
        "([^/]+)" if piece == ITEM_PLACEHOLDER else re.escape(piece) for piece in pieces
    )
    matches = ((re.fullmatch(shape, Path(path).as_posix()), path) for path in paths)
    return {match[1]: path for match, path in matches if match and len({*match.groups()}) == 1}


def _find_paths(pattern: str, *, captioned: bool = False) -> tuple[list[str], list[str]]:
    """Return the parts of a pattern, and the paths that match it, in natural order."""
    for fault in pattern_faults(pattern, captioned=captioned):
        remedy = f" — {fault.remedy}" if fault.remedy else ""
        raise UsageError(f'files "{pattern}" {fault.message}{remedy}')
    pieces = PLACEHOLDER_SPLIT.split(pattern)
    paths = glob("".join("*" if piece[:1] == "{" else escape(piece) for piece in pieces))  # noqa: PTH207
    if not paths:
        message = "no audio file matches this pattern"
        raise UsageError(f"{pattern}: {message} — it is relative to the current folder")
    return pieces, sorted(paths, key=lambda path: natural_sort_key(Path(path)))


def _by_system(pairs: Iterable[tuple[tuple[str, str], str]]) -> Paths:
    paths = dict[str, dict[str, str]]()
    for (system, item), path in pairs:
        paths.setdefault(system, {})[item] = path
    return paths


def _split_paths(
    pieces: Sequence[str], paths: Sequence[str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each way to divide a path into system and item, the shortest system first."""
    shapes = list[re.Pattern[str]]()
    for size in range(1, max(map(len, paths))):
        groups = {"{system}": f"(?P<system>[^/]{{{size}}})", "{item}": "(?P<item>[^/]+)"}
        shape = ""
        for piece in pieces:
            shape += groups.get(piece, re.escape(piece))
            if piece in groups:
                groups[piece] = f"(?P={piece[1:-1]})"
        shapes.append(re.compile(shape))
    for path in paths:
        for expression in shapes:
            if match := expression.fullmatch(Path(path).as_posix()):
                yield (match["system"], match["item"]), path


def _missing_sounds(pattern: str, sounds: Paths) -> Iterator[Problem]:
    """Yield a problem for each system without some of the items of the others."""
    items = dict.fromkeys(item for paths in sounds.values() for item in paths)
    for system, paths in sounds.items():
        if missing := [item for item in items if item not in paths]:
            names = ", ".join(missing[:SHOWN_ITEMS]) + (", …" if missing[SHOWN_ITEMS:] else "")
            place = pattern.replace(SYSTEM_PLACEHOLDER, system)
            message = f"{len(missing):,} of {count_text(len(items), 'clip')} missing: {names}"
            remedy = "add the files, or remove these clips of the other systems"
            yield file_problem(place, message, remedy)


# --- Size of a study -----------------------------------------------------------------------------


MAX_MINUTES = 60.0  # per listener, if none are given
MAX_SESSION_MINUTES = 20.0  # as ITU-T P.800 recommends
MIN_PANEL_LISTENERS = 8  # who rate the same clips


def fit_study(study: Study, minutes: float) -> Study:
    """Return a study with as many clips of its first block as fit into the time per listener.

    Sessions are short enough for breaks between them; if not all clips fit, panels divide them.
    """
    [block], total = study.blocks, len(study.material)
    each = clip_minutes(study)
    for sessions in count(1):
        sized = replace(study, blocks=(replace(block, sessions=sessions),))
        clips = min(total, max_clips(sized, minutes))
        if clips <= sessions or clips * each <= sessions * MAX_SESSION_MINUTES:
            break
    if clips < 1:
        needed = ceil(count_minutes(replace(study, blocks=(replace(block, clips=1),)))[-1].minutes)
        raise UsageError(
            f"{minutes:g} minutes are too short: one clip takes {count_text(needed, 'minute')} — "
            f"set minutes to {needed} or more, or use fewer systems"
        )
    needed, most = ceil(total / clips), max(1, study.listeners // MIN_PANEL_LISTENERS)
    equal = (panels for panels in range(needed, most + 1) if total % panels == 0)
    panels = next(equal, min(needed, most))
    clips = min(clips, total // panels)
    sessions = min(clips, max(1, ceil(clips * each / MAX_SESSION_MINUTES)))
    return replace(study, panels=panels, blocks=(replace(block, clips=clips, sessions=sessions),))


def _describe_size(study: Study) -> str:
    """Return the size of a study in a sentence."""
    [block], total = study.blocks, len(study.material)
    clips = "all clips" if block.clips == total else f"{block.clips} of {total} clips"
    sessions = count_text(block.sessions, "session")
    minutes = ceil(count_minutes(study)[-1].minutes)
    rated = min(total, block.clips * study.panels)
    others = ""
    if rated < total:
        needed = ceil(total / block.clips)
        others = (
            f"; {count_text(total - rated, 'clip')} would not be rated — for all clips, set "
            f"panels to {needed} and listeners to {needed * MIN_PANEL_LISTENERS} or more"
        )
    return (
        f"each listener rates {clips} of {count_text(len(block.systems), 'system')} in about "
        f"{count_text(minutes, 'minute')} ({sessions}){others}"
    )


# --- Template of a study file --------------------------------------------------------------------


STUDY_TEMPLATE = """\
# A listening study. `earwitness study check study.yaml` prints its plan and its balance.
title: My listening test
seed: 1  # random seed of the design

{systems}
{material}
listeners: {listeners}
panels: {panels}  # groups of listeners, each with its own subset of clips
rest_minutes: 5  # break between sessions

blocks:
  - kind: {kind}  # {title}
    clips: {clips}  # per listener (default: all clips of the panel)
    sessions: {sessions}
    rating_seconds: {seconds}  # expected time per question
    # heard: 3  # systems per listener (default: all)
    parameters:
{parameters}

{first}# training: 4  # practice trials, with clips not heard later

language: en
instructions: |
  {instructions}
# consent: |
#   I have read the description of this study. I know that I may stop at any time.
forms:
  before:
    - {{name: age, prompt: "How old are you?", answer: number, needed: false}}
  after:
    - {{name: remarks, prompt: "Do you have any comments?", needed: false}}

# Planned before listening starts, so that it does not depend on the results.
screening: []  # such as [{{rule: {rule}}}]
analysis:
  interval: cluster_t
  level: 0.95
  correction: holm
"""
TABLE_LINES = """\
# Table of clips, CSV or JSONL: name (file name without extension), seconds (duration), and any
# further columns. Without this key, all clips in the folders of `files` are used.
material: clips.csv

# Columns of that table on which the subsets of the panels are balanced.
balance:
  categories: []  # such as [session, location, sex]
  numbers: []  # such as [snr]
"""
FILES_LINES = """\
# All {clips} of the files are used; {size}.
# material: clips.csv  # table of clips, to use some of them, or to balance panels
"""
ANCHORS_LINE = "# anchors: ref  # folder of audio files that all listeners rate first\n"
REFERENCE_LINE = "reference: {}  # folder of references\n"
CAPTIONS_FILE, CAPTION_AUTHORS = "captions.csv", ("person", "model")  # of the template
FORM_QUESTIONS = (Question("age", ""),), (Question("remarks", ""),)  # of the template


def study_new(
    protocol: str = P835.name,
    output: StrPath | None = None,
    *,
    files: Annotated[str | None, "PATTERN"] = None,
    minutes: float | None = None,
) -> str:
    """Return a commented study file to edit, which ``study_check`` accepts as it is.

    Parameters
    ----------
    protocol
        Trial kind, such as ``"p835"`` or ``"mushra"``.
    output
        Path of the file to write; it must not exist. By default nothing is written.
    files
        Audio files of the study, such as ``wavs/{system}/{item}.wav``, which set its systems,
        clips, sessions and panels.
    minutes
        Minutes per listener, which set the number of clips of the first block.

    Returns
    -------
    str
        Text of the file.

    Raises
    ------
    UsageError
        If the trial kind is unknown, the file exists, no audio file matches, or references are
        needed and missing.
    InputError
        If systems lack audio files.

    Examples
    --------
    >>> study_new("mushra").splitlines()[0][:1]
    '#'
    """
    if protocol not in KINDS:
        raise UsageError(f'unknown trial kind "{protocol}" — {nearest(protocol, KINDS)}')
    if files is None and minutes is not None:
        raise UsageError("minutes require files — set files, such as wavs/{system}/{item}.wav")
    if output is not None and Path(output).is_file():
        raise UsageError(f"{output} already exists — choose another file")
    if files is None:
        text = starting_file(protocol)
    else:
        folder = Path() if output is None else Path(output).parent
        text = _file_of_sounds(KINDS[protocol], str(Path(files).expanduser()), folder, minutes)
    if output is not None:
        with AtomicFile(Path(output)) as file:
            file.write(text)
    return text


def starting_file(name: str) -> str:
    """Return a commented template of a study file for a trial kind."""
    kind = KINDS[name]
    template = kind.template
    return _fill_template(
        kind,
        systems=template.systems + (REFERENCE_LINE.format("ref") if kind().needs_reference else ""),
        material=TABLE_LINES,
        parameters=kind.parameters(),
        listeners=template.listeners,
        panels=template.panels,
        clips=template.clips,
        sessions=template.sessions,
    )


def _file_of_sounds(
    kind: type[TrialKind], pattern: str, folder: Path, minutes: float | None
) -> str:
    """Return the study file for the audio files of a pattern, in a folder."""
    sounds: Paths
    if kind.captioned:
        systems, reference, parameters = _find_authors(folder), "", dict[str, Any]()
        sounds = {systems[0]: find_clips(pattern)}
    elif kind.template.systems == SOUND_SYSTEMS:
        sounds = find_sounds(pattern)
        systems, reference, parameters = _assign_roles(kind, list(sounds), pattern)
        refuse_problems(list(_missing_sounds(pattern, sounds)), "written")
    else:
        remedy = "leave out files, and edit the file that is written"
        raise UsageError(f"{kind.name} studies have other files than audio of systems — {remedy}")
    clips = tuple(
        Clip(item, read_profile(Path(path)).seconds) for item, path in sounds[systems[0]].items()
    )
    block = StudyBlock(
        kind.name,
        tuple(systems),
        len(clips),
        heard=len(systems),
        seconds=kind.template.seconds,
        parameters=parameters,
    )
    before, after = FORM_QUESTIONS
    study = Study("", 1, clips, (block,), kind.template.listeners, before=before, after=after)
    study = fit_study(study, MAX_MINUTES if minutes is None else minutes)
    [block], size = study.blocks, _describe_size(study)
    if minutes is not None or block.clips < len(clips):
        warn(size, EarwitnessWarning, stacklevel=3)
    place = Path(pattern) if Path(pattern).is_absolute() else Path(os.path.relpath(pattern, folder))
    files = f"files: {json.dumps(place.as_posix(), ensure_ascii=False)}"
    lines = f"systems: {_yaml_list(systems)}\n{files}\n"
    if kind.captioned:
        lines, given = kind.template.systems, iter(lines.splitlines())
        lines = re.sub(r"(?m)^(# )?(files|systems): .*$", lambda _: next(given), lines)
    if reference:
        lines += REFERENCE_LINE.format(_yaml_list([reference])[1:-1])
    return _fill_template(
        kind,
        systems=lines,
        material=FILES_LINES.format(clips=count_text(len(clips), "clip"), size=size),
        parameters=kind.parameters() | parameters,
        listeners=study.listeners,
        panels=study.panels,
        clips=block.clips,
        sessions=block.sessions,
    )


def _find_authors(folder: Path) -> list[str]:
    """Return the systems of the table of captions in a folder, or those of the template."""
    with suppress(OSError, ValueError), open_csv(folder / CAPTIONS_FILE) as (names, rows):
        is_wide = not {"system", "caption"} & {*names}
        found = names[1:] if is_wide else {row.get("system"): 0 for _, row in rows}
        if authors := [name for name in found if name]:
            return authors
    return list(CAPTION_AUTHORS)


def _assign_roles(
    kind: type[TrialKind], names: Sequence[str], pattern: str
) -> tuple[list[str], str, dict[str, Any]]:
    """Return the systems to rate, the reference, if it is needed, and parameters of the kind."""
    parameters, reference = dict[str, Any](), ""
    if "anchors" in kind.parameters():
        parameters["anchors"] = [name for name in kind().anchor_systems if name in names]
    if kind().needs_reference:
        reference = next((name for name in names if name.lower() in REFERENCE_NAMES), "")
        if not reference:
            raise UsageError(
                f"{pattern}: {kind.name} needs references, but the systems are "
                f"{', '.join(names)} — rename that of the references to {REFERENCE_NAMES[0]}"
            )
    others = {reference, *parameters.get("anchors", ())}
    systems = [name for name in names if name not in others]
    if len(systems) < (2 if kind.is_paired else 1):
        needed = "two systems" if kind.is_paired else "one system"
        raise UsageError(f"{pattern}: {kind.name} needs {needed} or more — add audio files")
    return systems, reference, parameters


def _yaml_list(names: Sequence[str]) -> str:
    """Return names as a list of YAML in one line.

    >>> _yaml_list(["C0", "1"])
    "[C0, '1']"
    """
    text: str = yaml.safe_dump(
        list(names), default_flow_style=True, width=float("inf"), allow_unicode=True
    )
    return text.strip()


def _fill_template(
    kind: type[TrialKind], *, systems: str, parameters: Mapping[str, Any], **values: Any
) -> str:
    template = kind.template
    return STUDY_TEMPLATE.format(
        kind=kind.name,
        title=kind.title,
        systems=systems,
        seconds=template.seconds,
        instructions=template.instructions,
        parameters="\n".join(
            _parameter_line(kind, name, value) for name, value in parameters.items()
        ),
        rule=template.rule,
        first=ANCHORS_LINE if kind.is_single and not kind.open_reference else "",
        **values,
    )


def _parameter_line(kind: type[TrialKind], name: str, value: Any) -> str:
    shown = f"[{', '.join(value)}]" if isinstance(value, tuple | list) else json.dumps(value)
    return f"      {name}: {shown}  # {kind.help(name)}"
