"""Verbs study new, study anchors and study import."""

from __future__ import annotations

import csv
import json
import os
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from earwitness.audio.files import Sound, read_sound, sound_rate, write_sound
from earwitness.audio.signal import can_pass, low_pass
from earwitness.audio.wav import wav_seconds
from earwitness.core import Progress, no_progress
from earwitness.errors import InputError, UsageError
from earwitness.io.atomic import AtomicFolder
from earwitness.studies.file.reader import read_study
from earwitness.studies.file.webmushra import ImportedStudy, read_webmushra
from earwitness.studies.study import Study
from earwitness.studies.trials import KINDS, block_kind
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.mushra import ANCHOR_CUTOFFS_HZ, Mushra
from earwitness.studies.trials.single import SingleKind

# --- MUSHRA anchors and webMUSHRA import ---------------------------------------------------------


def study_anchors(study: str | PathLike[str], *, progress: Progress = no_progress) -> list[str]:
    """Make the low-pass anchors of a MUSHRA study that are not there; the files that were written.

    Each is the reference without what lies above 3.5 or 7 kHz, neither early nor late.
    """
    path = Path(study)
    plan = read_study(path, without=tuple(ANCHOR_CUTOFFS_HZ))
    wanted = [name for name in _anchor_names(plan) if name in ANCHOR_CUTOFFS_HZ]
    if not wanted:
        raise UsageError(f"{path}: no block has anchors called {' or '.join(ANCHOR_CUTOFFS_HZ)}")
    todo = [
        (clip.name, name)
        for clip in plan.material
        for name in wanted
        if not (path.parent / plan.file(clip.name, name)).exists()
    ]
    for item, name in todo:  # before anything is written
        check_rate(path.parent / plan.file(item, plan.reference), ANCHOR_CUTOFFS_HZ[name])
    written = []
    for number, (item, name) in enumerate(todo, 1):
        source = path.parent / plan.file(item, plan.reference)
        target = path.parent / plan.file(item, name)
        write_anchor(source, target, ANCHOR_CUTOFFS_HZ[name])
        written.append(str(target))
        progress(number, len(todo), number)
    return written


def _anchor_names(plan: Study) -> list[str]:
    kinds = [block_kind(block) for block in plan.blocks]
    named = [kind.anchors for kind in kinds if isinstance(kind, Mushra)]
    return list(dict.fromkeys(chain.from_iterable(named)))


def check_rate(source: Path, cutoff: float) -> None:
    """Refuse a sound that has nothing above a frequency."""
    rate = sound_rate(source)
    if not can_pass(rate, cutoff):
        message = f"sound at {rate} Hz has nothing above {cutoff:g} Hz to leave out"
        raise UsageError(f"{source}: {message}")


def write_anchor(source: Path, target: Path, cutoff: float) -> None:
    """A file with the sound of another, low-passed."""
    sound = read_sound(source)
    samples = low_pass(sound.samples, sound.rate, cutoff)
    if not sound.subtype.startswith(("FLOAT", "DOUBLE")):
        samples = samples.clip(-1, 1)  # a filter may overshoot full scale by a little
    write_sound(target, Sound(samples, sound.rate, sound.subtype))


def study_import(
    config: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    root: str | PathLike[str] | None = None,
    listeners: int = 20,
) -> list[str]:
    """Write the trials of a webMUSHRA configuration as studies into a new folder.

    Paths of the configuration are seen from ``root``, or from its own folder. Sounds stay where
    they are; anchors that webMUSHRA would make are made. Returns notes on what has no counterpart.
    """
    path, new = Path(config), Path(folder)
    base = Path(root) if root is not None else path.parent
    studies, notes = read_webmushra(path, base, listeners)
    with AtomicFolder(new) as place:
        for study in studies:
            study_folder = place / study.kind if len(studies) > 1 else place
            study_folder.mkdir(exist_ok=True)
            _write_study(study, study_folder, new / study.kind if len(studies) > 1 else new)
            _check_study(study_folder, place, new)
    return notes


def _check_study(folder: Path, place: Path, new: Path) -> None:
    """Nothing is written that could not be read."""
    try:
        read_study(folder / "study.yaml")
    except InputError as error:
        message = str(error).replace(str(place), str(new))
        raise UsageError(f"cannot be taken over as it is:\n{message}") from error


def _write_study(study: ImportedStudy, folder: Path, final: Path) -> None:
    """One study: paths as seen from where its folder will be."""
    for row in study.clips:
        source = Path(row[f"file.{study.study.get('reference') or study.study['systems'][0]}"])
        for name in study.anchors:
            check_rate(source, ANCHOR_CUTOFFS_HZ[name])
            write_anchor(source, folder / name / f"{row['name']}.wav", ANCHOR_CUTOFFS_HZ[name])
    rows = [_relative_row(row, final.resolve()) for row in study.clips]
    with (folder / "clips.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = yaml.safe_dump(study.study, sort_keys=False, allow_unicode=True)
    (folder / "study.yaml").write_text(text, encoding="utf-8")


def _relative_row(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {key: Path(value) for key, value in row.items() if key.startswith("file.")}
    shown = {key: os.path.relpath(path.resolve(), folder) for key, path in files.items()}
    seconds = wav_seconds(next(iter(files.values())))
    return {"name": row["name"], "seconds": round(seconds, 3), **shown}


# --- Template of a study file --------------------------------------------------------------------


STUDY_TEMPLATE = """\
# A study with listeners. `earwitness study check study.yaml` prints the plan and its balance.
title: My listening test
seed: 1  # another seed, another design

{systems}
# A table of clips, CSV or JSONL: name (of the file, without its ending), seconds, and whatever else
# is known of a clip. Without this line, clips are what the folders of `files` have.
material: clips.csv

# Columns of that table in which the subsets of the panels are to be alike.
balance:
  categories: []  # such as [session, location, sex]
  numbers: []  # such as [snr]

listeners: {listeners}
panels: {panels}  # each hears another subset of the clips
rest_minutes: 5  # between sessions

blocks:
  - kind: {kind}  # {title}
    clips: {clips}  # that one listener hears; left out: as many as there are for a panel
    sessions: {sessions}
    rating_seconds: {seconds}  # to answer one question
    # heard: 3  # systems that one listener hears, if not all
    parameters:
{parameters}

{first}# training: 4  # trials for practice, of clips that are not heard later

language: en
instructions: |
  {instructions}
# consent: |
#   I have read what this study is about, and may stop at any time.
forms:
  before:
    - {{name: age, prompt: "How old are you?", answer: number, needed: false}}
  after:
    - {{name: remarks, prompt: "Is there anything to tell us?", needed: false}}

# Said before anybody listens, so that it cannot be chosen afterwards.
screening: []  # such as [{{rule: {rule}}}]
analysis:
  interval: cluster_t
  level: 0.95
  correction: holm
"""
SOUND_SYSTEMS_TEMPLATE = """\
# Folders with the same file names in each; the names of the folders are the systems.
systems: [C0, C1, C2, C3, C4]
# files: "audio/{system}/{item}.wav"  # where they are; if given, every file must be there
"""
CAPTION_SYSTEMS_TEMPLATE = """\
# Who wrote the captions: people and programs. All are about the same sounds.
systems: [person, model]
captions: captions.csv  # CSV or JSONL: item, system, caption
# files: "clips/{item}.wav"  # where the sounds are; if given, every file must be there
# juries: {experts: 10, lay: 10}  # parts of the listeners, by their numbers
# rubric: thumbs  # or one of your own: name, dimensions, total, examples
"""
LISTENING_INSTRUCTIONS = (
    "Listen with headphones, in a quiet room. Hear every sound to its end before you answer."
)
JUDGING_INSTRUCTIONS = "Hear the clip, read each caption, and judge it by the five numbers below."
ANCHORS_LINE = "# anchors: ref  # a folder with sounds that everybody rates first, by themselves\n"
SUGGESTED_SCREENING_RULES = {
    "mushra": "bs1534",
    "bs1116": "bs1116",
    "p835": "p808",
    "acr": "p808",
    "dcr": "p808",
}
# as published for P.835
SINGLE_STIMULUS_SIZES = {"listeners": 32, "panels": 4, "clips": 32, "sessions": 4}
# where a trial takes longer
LONG_TRIAL_SIZES = {"listeners": 20, "panels": 1, "clips": 12, "sessions": 2}


def starting_file(name: str) -> str:
    """A commented study file of a kind."""
    kind = KINDS[name]
    return STUDY_TEMPLATE.format(
        kind=name,
        title=kind.title,
        systems=_systems_lines(kind),
        seconds=10 if kind.captioned else 4,
        instructions=JUDGING_INSTRUCTIONS if kind.captioned else LISTENING_INSTRUCTIONS,
        parameters="\n".join(_parameter_line(kind, parameter) for parameter in kind.parameters()),
        rule=SUGGESTED_SCREENING_RULES.get(name, "unheard"),
        first=ANCHORS_LINE if issubclass(kind, SingleKind) and not kind.open_reference else "",
        **(SINGLE_STIMULUS_SIZES if issubclass(kind, SingleKind) else LONG_TRIAL_SIZES),
    )


def _systems_lines(kind: type[TrialKind]) -> str:
    if kind.captioned:
        return CAPTION_SYSTEMS_TEMPLATE
    return (
        SOUND_SYSTEMS_TEMPLATE
        + "reference: ref  # the folder with the references\n" * kind().needs_reference
    )


def _parameter_line(kind: type[TrialKind], name: str) -> str:
    value = kind.parameters()[name]
    shown = f"[{', '.join(value)}]" if isinstance(value, tuple) else json.dumps(value)
    return f"      {name}: {shown}  # {kind.help(name)}"
