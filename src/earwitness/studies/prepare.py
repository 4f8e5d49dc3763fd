"""MUSHRA anchors and webMUSHRA import, for study anchors and import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from warnings import warn

import yaml

from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ
from earwitness.audio.conditions import anchor_loss, make_anchor
from earwitness.audio.decode import facts_of
from earwitness.audio.files import write_sound
from earwitness.audio.read import read_sound
from earwitness.audio.signal import can_pass
from earwitness.audio.wav import wav_seconds
from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.io.atomic import AtomicFolder
from earwitness.io.tables import records_csv
from earwitness.studies.file.reader import read_study
from earwitness.studies.file.webmushra import ImportedStudy, read_webmushra
from earwitness.studies.trials import anchor_folders
from earwitness.studies.trials.mushra import AnchorLoss, weak_anchor_notes

# --- MUSHRA anchors and webMUSHRA import ---------------------------------------------------------


def study_anchors(study: StrPath, *, progress: Progress = no_progress) -> list[str]:
    """Create the missing low-pass anchors of a MUSHRA study from its references.

    An anchor is the reference low-passed at 3.5 or 7 kHz, without delay.

    Parameters
    ----------
    study
        Path of the study file.
    progress
        Called with the number of files written and to write.

    Returns
    -------
    list of str
        Paths of the files written. A warning names anchors that hardly differ from the references.

    Raises
    ------
    UsageError
        If the study has no such anchors, or the sampling rate of a reference is too low.
    """
    path = Path(study)
    plan = read_study(path, without=tuple(ANCHOR_CUTOFFS_HZ))
    wanted = [name for name in anchor_folders(plan) if name in ANCHOR_CUTOFFS_HZ]
    if not wanted:
        raise UsageError(f"{path}: no block has anchors named {' or '.join(ANCHOR_CUTOFFS_HZ)}")
    if not plan.reference:
        raise UsageError(f"{path}: anchors are created from references — set reference")
    todo = [
        (clip.name, name)
        for clip in plan.material
        for name in wanted
        if not (path.parent / plan.file(clip.name, name)).exists()
    ]
    for item, name in todo:  # before anything is written
        check_rate(path.parent / plan.file(item, plan.reference), ANCHOR_CUTOFFS_HZ[name])
    written, losses = [], list[AnchorLoss]()
    for number, (item, name) in enumerate(todo, 1):
        source = path.parent / plan.file(item, plan.reference)
        target = path.parent / plan.file(item, name)
        measured = write_anchor(source, target, ANCHOR_CUTOFFS_HZ[name])
        losses.append(AnchorLoss(name, item, *measured))
        written.append(str(target))
        progress(number, len(todo), number)
    for note in weak_anchor_notes(losses):
        warn(note, EarwitnessWarning, stacklevel=2)
    return written


def check_rate(source: Path, cutoff: float) -> None:
    """Raise UsageError if an audio file cannot contain frequencies above a cutoff."""
    rate = facts_of(source).rate
    if not can_pass(rate, cutoff):
        message = f"the sampling rate of {rate} Hz is too low for a low-pass at {cutoff:g} Hz"
        raise UsageError(f"{source}: {message}")


def write_anchor(source: Path, target: Path, cutoff: float) -> tuple[int, float]:
    """Write a low-passed copy of an audio file; return its rate, and what it lacks in dB(A)."""
    reference = read_sound(source)
    anchor = make_anchor(reference, cutoff)
    write_sound(target, anchor)
    return reference.rate, anchor_loss(reference, anchor)


def study_import(
    config: StrPath,
    folder: StrPath,
    *,
    listeners: int = 20,
) -> list[str]:
    """Convert the trials of a webMUSHRA configuration into studies in a new folder.

    Audio files are not copied; anchors that webMUSHRA would create are created.

    Parameters
    ----------
    config
        Path of the webMUSHRA configuration (YAML). Its paths are relative to its folder or to one
        above, such as that of webMUSHRA.
    folder
        Path of the folder, which must not exist.
    listeners
        Planned number of listeners.

    Returns
    -------
    list of str
        Notes on what was not imported.

    Raises
    ------
    InputError
        If the configuration is invalid.
    """
    path, new = Path(config), Path(folder)
    studies, notes = read_webmushra(path, listeners)
    with AtomicFolder(new) as place:
        for study in studies:
            study_folder = place / study.kind if len(studies) > 1 else place
            study_folder.mkdir(exist_ok=True)
            losses = _write_study(
                study, study_folder, new / study.kind if len(studies) > 1 else new
            )
            notes = [*notes, *weak_anchor_notes(losses)]
            _check_study(study_folder, place, new)
    return notes


def _check_study(folder: Path, place: Path, new: Path) -> None:
    """Raise UsageError if an imported study cannot be read."""
    try:
        read_study(folder / "study.yaml")
    except InputError as error:
        message = str(error).replace(str(place), str(new))
        raise UsageError(f"the configuration cannot be imported:\n{message}") from error


def _write_study(study: ImportedStudy, folder: Path, final: Path) -> list[AnchorLoss]:
    """Write one study, with paths relative to its final folder; return what its anchors lack."""
    losses = list[AnchorLoss]()
    for row in study.clips:
        source = Path(row[f"file.{study.study.get('reference') or study.study['systems'][0]}"])
        for name in study.anchors:
            check_rate(source, ANCHOR_CUTOFFS_HZ[name])
            target = folder / name / f"{row['name']}.wav"
            measured = write_anchor(source, target, ANCHOR_CUTOFFS_HZ[name])
            losses.append(AnchorLoss(name, row["name"], *measured))
    rows = [_relative_row(row, final.resolve()) for row in study.clips]
    (folder / "clips.csv").write_text(records_csv(rows), encoding="utf-8", newline="")
    text = yaml.safe_dump(study.study, sort_keys=False, allow_unicode=True)
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return losses


def _relative_row(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {key: Path(value) for key, value in row.items() if key.startswith("file.")}
    shown = {key: os.path.relpath(path.resolve(), folder) for key, path in files.items()}
    seconds = wav_seconds(next(iter(files.values())))
    return {"name": row["name"], "seconds": round(seconds, 3), **shown}
