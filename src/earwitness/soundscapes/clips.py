"""Somebody's own clips: a folder with a folder for every source."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from earwitness.audio.files import read_sound, sound_library
from earwitness.errors import InputError, Problem, UsageError
from earwitness.soundscapes.sources import SEAM, SOURCES, Source
from earwitness.soundscapes.tones import Sound

ENDINGS = (".wav", ".flac", ".ogg", ".mp3", ".opus", ".aiff", ".aif", ".w64")
LEVEL = -28.0  # dB of full scale at the loudest moment, for sources that nobody knows
LONG = 4 * SEAM  # a clip from here on can go on: it is melted into the next
EVENT = (10.0, 60.0)


def own_sources(folder: Path) -> dict[str, Source]:
    """A source for every folder; all that is wrong is told at once."""
    places = sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    if not places:
        raise UsageError(f"{folder}: holds no folder — make a folder for every source")
    problems: list[Problem] = []
    found = {place.name: _source(place, problems) for place in places}
    if problems:
        raise InputError(problems, done="made")
    return found


def _source(folder: Path, problems: list[Problem]) -> Source:
    """The clips of a folder, used as those of the known source with its name, if there is one."""
    files = sorted(one for one in folder.iterdir() if one.suffix.lower() in ENDINGS)
    lengths = [_seconds(one, problems) for one in files]
    if not files:
        problems.append(Problem(str(folder), 0, "", "holds no sound", f"end it in {ENDINGS[0]}"))
    known = SOURCES.get(folder.name)
    level = LEVEL if known is None else known.level
    event = EVENT if known is None else known.event
    lasts = (known is None or known.lasts) and min(lengths, default=0.0) >= LONG
    pause = (0.3, 1.5) if known is None or known.lasts else known.pause
    names = tuple(map(str, files))
    fade = SEAM if lasts else 0.02
    return Source(None, tuple(lengths), level, event, pause, lasts, fade, names)


def _seconds(path: Path, problems: list[Problem]) -> float:
    library = sound_library()
    try:
        found = float(library.info(path).duration)
    except library.SoundFileError as error:
        problems.append(Problem(str(path), 0, "", f"cannot be read: {error}"))
        return 1.0
    if found <= 0:
        problems.append(Problem(str(path), 0, "", "is empty"))
    return found


def read_clip(path: str, rate: int) -> Sound:
    """A clip as one channel at a rate."""
    from scipy.signal import resample_poly

    sound = read_sound(Path(path))
    mono = sound.samples.mean(axis=1)
    if sound.rate != rate:
        mono = resample_poly(mono, rate, sound.rate)
    return np.asarray(mono, np.float32)
