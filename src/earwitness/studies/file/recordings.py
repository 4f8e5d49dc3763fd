"""Long recordings of a study: their keys, their files and clock, and their check."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from earwitness.core import count_text
from earwitness.errors import EarwitnessError, InputError, Problem, nearest
from earwitness.io.schema import Fault
from earwitness.navigator.labels import Overlay, read_overlays
from earwitness.recordings.recording import open_recording, sound_files
from earwitness.recordings.types import Recording
from earwitness.report.parts import Lines, Section, Table
from earwitness.studies.study import Clip, LongRecording, RecordingDisplay, Study

# --- Keys of the study file ----------------------------------------------------------------------


def recording_faults(value: Mapping[str, Any], clips: Sequence[Clip]) -> Iterator[Fault]:
    """Yield faults of the keys for long recordings."""
    names = [clip.name for clip in clips]
    for item in value["recordings"] if clips else ():
        if item not in names:
            yield Fault(f"recordings.{item}", f'no item "{item}"', nearest(item, names))
    display = value["recording_display"]
    if not value["recordings"] and msgspec.convert(display, RecordingDisplay) != RecordingDisplay():
        remedy = "name them under recordings, or remove this key"
        yield Fault("recording_display", "the study has no long recordings", remedy)
    low, high = display.get("range_db", (0, 1))
    if low >= high:
        message = f"the first level must be below the second, got {low:g} and {high:g}"
        yield Fault("recording_display.range_db", message)


def build_recording(item: str, value: Any) -> LongRecording:
    """Return the long recording of an item by its keys in the study file, or its path."""
    keys = {"item": item, **(value if isinstance(value, dict) else {"files": value})}
    for name in ("files", "labels"):
        if isinstance(keys.get(name), str):
            keys[name] = [keys[name]]
    return msgspec.convert(keys, LongRecording)


# --- Files and clock -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordingCheck:
    """A long recording as it was found: its number of files, length and start, and notes on it.

    ``recorded`` are the seconds without gaps.
    """

    item: str
    files: int
    seconds: float
    recorded: float
    start: str
    notes: tuple[str, ...] = ()


def open_long_recording(recording: LongRecording, folder: Path) -> Recording:
    """Open a long recording of a study in a folder."""
    paths = [folder / name for name in recording.files]
    return open_recording(
        paths,
        start=recording.start or None,
        zone=recording.zone or None,
        shown=recording.shown or None,
        hour_gap=recording.hour_gap,
    )


def read_labels(
    long_recording: LongRecording, recording: Recording, folder: Path
) -> tuple[Overlay, ...]:
    """Read the labels of a long recording, and its picks of skims, which are JSON files."""
    paths = [folder / name for name in long_recording.labels]
    return read_overlays(recording, paths)


def check_recordings(
    study: Study, path: Path
) -> tuple[tuple[RecordingCheck, ...], tuple[Problem, ...]]:
    """Open all long recordings of a study, without looking for silences between hours.

    Parameters
    ----------
    study
        The study.
    path
        Path of the study file.

    Returns
    -------
    tuple of (RecordingCheck, ...) and (Problem, ...)
        The recordings that can be opened, and the problems of the others.
    """
    checks, problems = list[RecordingCheck](), list[Problem]()
    for study_recording in study.recordings:
        try:
            recording = open_long_recording(replace(study_recording, hour_gap=0.0), path.parent)
            overlays = read_labels(study_recording, recording, path.parent)
        except InputError as error:
            problems += error.problems
        except (OSError, EarwitnessError) as error:
            problems.append(Problem(str(path), 0, f"recordings.{study_recording.item}", str(error)))
        else:
            checks.append(_check_recording(study_recording.item, recording, overlays))
    return tuple(checks), tuple(problems)


def _check_recording(
    item: str, recording: Recording, overlays: Iterable[Overlay]
) -> RecordingCheck:
    stretches = recording.stretches
    files = len({stretch.path for stretch in stretches})
    recorded = sum(stretch.seconds for stretch in stretches)
    start = "" if recording.began is None else recording.began.isoformat(" ", "seconds")
    damages = [f"{damage.path}: {damage.message}" for damage in recording.damages]
    left_out = [note for overlay in overlays for note in overlay.notes]
    notes = (*recording.notes, *damages, *left_out)
    return RecordingCheck(item, files, recording.seconds, recorded, start, notes)


def recording_texts(study: Study, folder: Path) -> dict[str, str]:
    """Return what identifies the files of each long recording, by the key of the study file."""
    texts = dict[str, str]()
    for recording in study.recordings:
        with suppress(OSError, EarwitnessError):
            files, _ = sound_files([folder / name for name in recording.files])
            sizes = [path.stat().st_size for path in files]
            named = [f"{path.name} {size}" for path, size in zip(files, sizes, strict=True)]
            digest = hashlib.sha256("\n".join(named).encode()).hexdigest()[:12]
            count = count_text(len(files), "file")
            about = f"{count}, {sum(sizes):,} bytes, names and sizes {digest}"
            texts[f"recordings.{recording.item}"] = about
    return texts


def recordings_section(checks: Sequence[RecordingCheck]) -> Section:
    """Return the section of a report on the long recordings of a study."""
    rows = [
        (
            check.item,
            str(check.files),
            _format_length(check.seconds),
            _format_length(check.seconds - check.recorded),
            check.start or "unknown",
        )
        for check in checks
    ]
    notes = [f"{check.item}: {note}" for check in checks for note in check.notes]
    table = Table("recordings", ("item", "files", "length", "gaps", "start"), tuple(rows))
    shown = (Lines("notes on the recordings", tuple(notes), shown=len(notes)),) if notes else ()
    return Section("Long recordings", (table, *shown))


def _format_length(seconds: float) -> str:
    """Return a length in hours, minutes and seconds.

    >>> _format_length(86400), _format_length(61.2)
    ('24:00:00', '0:01:01')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
