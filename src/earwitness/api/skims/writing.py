"""The files of a skim: its sound, and beside it lists of picks, a picture and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from earwitness.api.skims.asked import DIALLED, EXTRAS, Asked
from earwitness.audio.cutting import cut
from earwitness.audio.encoding import Encoded, encode, write_whole
from earwitness.audio.fades import render
from earwitness.data import Recording, Skim, Skimmed
from earwitness.formats.picks import LISTS, picks_json
from earwitness.report.skims import (
    CurvePoint,
    Measure,
    ShownSkim,
    Spectrogram,
    skim_page,
    skim_picture,
)

DRAWN = {"picture": (".svg", skim_picture), "page": (".html", skim_page)}
DOCS = {
    "tc": ("Temporal consistency", "1 is as close to the day's course as its calibration"),
    "sd": ("Source diversity", "1 is as many classes as its calibration has"),
    "coverage": ("Coverage", "of the classes of the whole recording"),
}


@dataclass(frozen=True)
class Written:
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


def files_of(path: Path, asked: Asked) -> dict[str, Path]:
    """Where each of the files of a skim goes, by name."""
    endings = {name: ending for name, (ending, _) in {**LISTS, **DRAWN}.items()}
    return {
        "sound": path,
        **{n: path.with_suffix(endings[n]) for n in EXTRAS if n not in asked.without},
    }


def write_skim(
    path: Path, made: Skimmed, others: Sequence[Skimmed], spectrogram: Spectrogram, asked: Asked
) -> Written:
    """All files of one skim, the sound first and the JSON last: what has its JSON is whole.

    ``others`` are the skims of the same recording, for the curve over z.
    """
    sound = encode(sound_of(made.recording, made.skim), made.recording.rate, path.suffix)
    shown = _shown(made, others, spectrogram, sound)
    places = files_of(path, asked)
    contents: dict[str, Callable[[], bytes]] = {"sound": lambda: sound.content}
    for name, (_, draw) in DRAWN.items():
        contents[name] = lambda draw=draw: draw(shown).encode()  # type: ignore[misc]
    for name, (_, listed) in LISTS.items():
        contents[name] = lambda listed=listed: listed(made.recording, made.skim).encode()  # type: ignore[misc]
    told = _told(made, (*made.notes, *sound.notes))
    contents["json"] = lambda: picks_json(made.recording, made.skim, told).encode()
    for name in sorted(places, key=lambda one: one == "json"):
        write_whole(places[name], contents[name]())
    return Written(tuple(places.values()), sound.notes)


def is_made(path: Path, made: Skimmed, asked: Asked) -> bool:
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


def _told(made: Skimmed, notes: Sequence[str]) -> dict[str, Any]:
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
    made: Skimmed, others: Sequence[Skimmed], spectrogram: Spectrogram, sound: Encoded
) -> ShownSkim:
    measures = tuple(Measure(name, made.measures[key], doc) for key, (name, doc) in DOCS.items())
    return ShownSkim(
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


def _points(made: Skimmed, others: Sequence[Skimmed]) -> Iterator[CurvePoint]:
    for one in others if made.method in DIALLED else ():
        if one.method == made.method and one.z is not None:
            yield CurvePoint(one.z, one.measures["tc"], one.measures["sd"])
