"""Files of one skim, and the JSONL lines that the verb score reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from earwitness.audio.encode import EncodedSound, encode, write_whole
from earwitness.audio.signal import render
from earwitness.recordings.cut import cut
from earwitness.recordings.types import Recording
from earwitness.skims.options import EXTRAS, METHODS_WITH_Z, SkimOptions
from earwitness.skims.page import skim_page
from earwitness.skims.picks import PICK_LISTS, picks_json
from earwitness.skims.picture import skim_picture
from earwitness.skims.types import Skim, SkimResult
from earwitness.skims.view import CurvePoint, SkimMeasure, SkimView, Spectrogram

# --- Files of one skim ---------------------------------------------------------------------------


DRAWINGS = {"picture": (".svg", skim_picture), "page": (".html", skim_page)}
MEASURE_DOCS = {
    "tc": ("Temporal consistency", "1 is as close to the day's course as its calibration"),
    "sd": ("Source diversity", "1 is as many classes as its calibration has"),
    "coverage": ("Coverage", "of the classes of the whole recording"),
}


@dataclass(frozen=True)
class SkimFiles:
    """What was written, and what was done to the sound."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def sound_of(recording: Recording, skim: Skim) -> Any:
    """The samples of a skim; those that are no numbers are silent."""
    pieces = [
        np.nan_to_num(cut(recording, pick.start, pick.seconds), copy=False, posinf=0, neginf=0)
        for pick in skim.picks
    ]
    turned = [
        piece[::-1] if pick.turned else piece
        for piece, pick in zip(pieces, skim.picks, strict=True)
    ]
    return render(turned, recording.rate, skim.overlap)


def files_of(path: Path, asked: SkimOptions) -> dict[str, Path]:
    """Where each of the files of a skim goes, by name."""
    endings = {name: ending for name, (ending, _) in {**PICK_LISTS, **DRAWINGS}.items()}
    return {
        "sound": path,
        **{n: path.with_suffix(endings[n]) for n in EXTRAS if n not in asked.without},
    }


def write_skim(
    path: Path,
    made: SkimResult,
    others: Sequence[SkimResult],
    spectrogram: Spectrogram,
    asked: SkimOptions,
) -> SkimFiles:
    """All files of one skim, the sound first and the JSON last: what has its JSON is whole.

    ``others`` are the skims of the same recording, for the curve over z.
    """
    sound = encode(sound_of(made.recording, made.skim), made.recording.rate, path.suffix)
    shown = _shown(made, others, spectrogram, sound)
    places = files_of(path, asked)
    contents: dict[str, Callable[[], bytes]] = {"sound": lambda: sound.content}
    for name, (_, draw) in DRAWINGS.items():
        contents[name] = lambda draw=draw: draw(shown).encode()  # type: ignore[misc]
    for name, (_, listed) in PICK_LISTS.items():
        contents[name] = lambda listed=listed: listed(made.recording, made.skim).encode()  # type: ignore[misc]
    told = _told(made, (*made.notes, *sound.notes))
    contents["json"] = lambda: picks_json(made.recording, made.skim, told).encode()
    for name in sorted(places, key=lambda one: one == "json"):
        write_whole(places[name], contents[name]())
    return SkimFiles(tuple(places.values()), sound.notes)


def is_made(path: Path, made: SkimResult, asked: SkimOptions) -> bool:
    """Whether a skim is there as it would be made, with all its files."""
    places = files_of(path, asked)
    if "json" not in places or not all(place.is_file() for place in places.values()):
        return False
    told = picks_json(made.recording, made.skim, _told(made, ()))
    try:
        known = msgspec.json.decode(places["json"].read_bytes())
    except (OSError, msgspec.DecodeError):
        return False
    return isinstance(known, dict) and known | {"notes": []} == msgspec.json.decode(told)


def _told(made: SkimResult, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "signature": made.signature,
        "method": made.method,
        "z": made.z,
        "measures": {name: _number(value) for name, value in made.measures.items()},
        "notes": list(notes),
    }


def _number(value: float) -> float | None:
    return value if value == value else None


def _shown(
    made: SkimResult, others: Sequence[SkimResult], spectrogram: Spectrogram, sound: EncodedSound
) -> SkimView:
    measures = tuple(
        SkimMeasure(name, made.measures[key], doc) for key, (name, doc) in MEASURE_DOCS.items()
    )
    return SkimView(
        made.recording,
        made.skim,
        spectrogram,
        sound.content,
        sound.mime,
        measures,
        tuple(_points(made, others)),
        made.z,
        (*made.notes, *sound.notes, made.signature),
    )


def _points(made: SkimResult, others: Sequence[SkimResult]) -> Iterator[CurvePoint]:
    for one in others if made.method in METHODS_WITH_Z else ():
        if one.method == made.method and one.z is not None:
            yield CurvePoint(one.z, one.measures["tc"], one.measures["sd"])


# --- Lines for scoring ---------------------------------------------------------------------------


OUTPUTS_FILE, RECORDINGS_FILE = "outputs.jsonl", "recordings.jsonl"


def write_lines(
    folder: Path, skims: Sequence[SkimResult], wholes: Mapping[str, Recording], asked: SkimOptions
) -> tuple[Path, Path]:
    """Both files, in a folder; ``wholes`` are the recordings that were given, by those skimmed."""
    recordings = {one.recording.name: one.recording for one in skims}
    outputs, references = folder / OUTPUTS_FILE, folder / RECORDINGS_FILE
    write_whole(outputs, _lines(_output(one, asked) for one in skims))
    lines = (_recording(one, wholes[name], folder, asked) for name, one in recordings.items())
    write_whole(references, _lines(lines))
    return outputs, references


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _output(one: SkimResult, asked: SkimOptions) -> dict[str, Any]:
    plan = asked.plan
    made: dict[str, Any] = {"embedder": asked.embedder, "block": plan.block, "period": plan.period}
    made |= {"sparse": True} if asked.sparse else {}
    dial = {} if one.z is None else {"z": one.z}
    picks = [[pick.start, pick.seconds] for pick in one.skim.picks]
    return {
        "item": one.recording.name,
        "system": one.system,
        "output": {"picks": picks},
        "meta": {"method": one.method, **dial, "made": made},
    }


def _recording(
    one: Recording, whole: Recording, folder: Path, asked: SkimOptions
) -> dict[str, Any]:
    """The recording by its files, and what was said about its clock.

    A day has its own files, if names alone tell their times; else all of them, from the first on.
    """
    start, zone = asked.start, asked.zone
    if asked.by_day and asked.shown and whole.began:  # midnight is that of the zone that is shown
        start, zone = whole.began.isoformat(), asked.shown
    known = whole if start or asked.hour_gap else one
    paths = dict.fromkeys(_seen(stretch.path, folder) for stretch in known.stretches)
    told = {"start": start, "zone": zone, "hour_gap": asked.hour_gap}
    if asked.by_day and one.began is not None:
        told["day"] = f"{one.began:%Y-%m-%d}"
    return {"item": one.name, "recording": list(paths)} | {n: v for n, v in told.items() if v}


def _seen(path: str, folder: Path) -> str:
    return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
