"""Getting a study ready: anchors of MUSHRA, and configurations of webMUSHRA as studies."""

from __future__ import annotations

import csv
import os
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from earwitness.audio.files import Sound, read_sound, sound_rate, write_sound
from earwitness.audio.lowpass import can_pass, low_pass
from earwitness.audio.wav import wav_seconds
from earwitness.data import Progress, Study, no_progress
from earwitness.errors import InputError, UsageError
from earwitness.formats.study import read_study
from earwitness.formats.webmushra import Imported, read_webmushra
from earwitness.formats.whole import WholeFolder
from earwitness.listening.kinds import block_kind
from earwitness.listening.kinds.mushra import CUTOFFS, Mushra


def study_anchors(study: str | PathLike[str], *, progress: Progress = no_progress) -> list[str]:
    """Make the low-pass anchors of a MUSHRA study that are not there; the files that were written.

    Each is the reference without what lies above 3.5 or 7 kHz, neither early nor late.
    """
    path = Path(study)
    plan = read_study(path, without=tuple(CUTOFFS))
    wanted = [one for one in _anchors(plan) if one in CUTOFFS]
    if not wanted:
        raise UsageError(f"{path}: no block has anchors called {' or '.join(CUTOFFS)}")
    todo = [
        (clip.name, name)
        for clip in plan.material
        for name in wanted
        if not (path.parent / plan.file(clip.name, name)).exists()
    ]
    for item, name in todo:  # before anything is written
        check_rate(path.parent / plan.file(item, plan.reference), CUTOFFS[name])
    written = []
    for number, (item, name) in enumerate(todo, 1):
        source = path.parent / plan.file(item, plan.reference)
        target = path.parent / plan.file(item, name)
        write_anchor(source, target, CUTOFFS[name])
        written.append(str(target))
        progress(number, len(todo), number)
    return written


def _anchors(plan: Study) -> list[str]:
    kinds = [block_kind(block) for block in plan.blocks]
    named = [kind.anchors for kind in kinds if isinstance(kind, Mushra)]
    return list(dict.fromkeys(chain.from_iterable(named)))


def check_rate(source: Path, cutoff: float) -> None:
    """Refuse a sound that has nothing above a frequency."""
    rate = sound_rate(source)
    if not can_pass(rate, cutoff):
        told = f"sound at {rate} Hz has nothing above {cutoff:g} Hz to leave out"
        raise UsageError(f"{source}: {told}")


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
    made, notes = read_webmushra(path, base, listeners)
    with WholeFolder(new) as place:
        for study in made:
            own = place / study.kind if len(made) > 1 else place
            own.mkdir(exist_ok=True)
            _write(study, own, new / study.kind if len(made) > 1 else new)
            _check(own, place, new)
    return notes


def _check(folder: Path, place: Path, new: Path) -> None:
    """Nothing is written that could not be read."""
    try:
        read_study(folder / "study.yaml")
    except InputError as error:
        told = str(error).replace(str(place), str(new))
        raise UsageError(f"cannot be taken over as it is:\n{told}") from error


def _write(study: Imported, folder: Path, final: Path) -> None:
    """One study: paths as seen from where its folder will be."""
    for row in study.clips:
        source = Path(row[f"file.{study.study.get('reference') or study.study['systems'][0]}"])
        for name in study.anchors:
            check_rate(source, CUTOFFS[name])
            write_anchor(source, folder / name / f"{row['name']}.wav", CUTOFFS[name])
    rows = [_relative(row, final.resolve()) for row in study.clips]
    with (folder / "clips.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = yaml.safe_dump(study.study, sort_keys=False, allow_unicode=True)
    (folder / "study.yaml").write_text(text, encoding="utf-8")


def _relative(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {key: Path(value) for key, value in row.items() if key.startswith("file.")}
    shown = {key: os.path.relpath(path.resolve(), folder) for key, path in files.items()}
    seconds = wav_seconds(next(iter(files.values())))
    return {"name": row["name"], "seconds": round(seconds, 3), **shown}
