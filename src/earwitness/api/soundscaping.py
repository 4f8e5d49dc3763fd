"""Soundscapes as files: the day, its labels, the truth, and a folder to practise with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from earwitness.audio.fades import render
from earwitness.audio.files import sound_library
from earwitness.data import Progress, no_progress
from earwitness.errors import UsageError
from earwitness.formats.soundscapes import (
    FULL,
    labels_csv,
    picks_csv,
    practice_json,
    reasons_text,
    truth_json,
)
from earwitness.formats.timetables import find_timetable
from earwitness.formats.whole import WholeFile, WholeFolder
from earwitness.soundscapes import Mixer, Scene, Timetable, scene_of
from earwitness.soundscapes.practice import PICKS, Example, examples
from earwitness.soundscapes.tones import Sound

FORMS = {".flac": "FLAC", ".wav": "WAV", ".mp3": "MP3", ".ogg": "OGG"}
LARGEST = 4_000_000_000  # bytes of a WAV file; more needs RF64
LONGEST_GAP = 60.0  # seconds
LEAST = 16_000  # samples a second
PIECE = 30.0  # seconds that are made at a time
Place = str | PathLike[str]


def soundscape(
    timetable: Place | Timetable,
    *,
    seed: int | None = None,
    hours: int = 24,
    rate: int = 32_000,
    clips: Place | None = None,
) -> Scene:
    """A day by a preset, a file or a timetable: all its events, ready to be heard."""
    if hours < 1:
        raise UsageError(f"a soundscape has an hour or more, got {hours}")
    if rate < LEAST:
        told = f"{LEAST:,} samples a second or more — birds are not heard below"
        raise UsageError(f"a soundscape has {told}, got {rate:,}")
    if seed is not None and seed < 0:
        raise UsageError(f"a seed must not be below 0, got {seed}")
    if not isinstance(timetable, Timetable):
        timetable = find_timetable(Path(timetable), clips=None if clips is None else Path(clips))
    return scene_of(timetable, seed=seed, hours=hours, rate=rate)


def soundscape_write(
    scene: Scene, path: Place, *, hour_gap: float = 0.0, progress: Progress = no_progress
) -> list[Path]:
    """Write the sound, and beside it labels and truth; the files.

    With an ``hour_gap``, hours are parted by so many seconds of silence, which are in the sound but
    not on the clock of the day; labels then have both times.
    """
    place = Path(path)
    _form(place)
    if not 0 <= hour_gap <= LONGEST_GAP:
        told = f"silence between hours lasts from 0 to {LONGEST_GAP:g} s"
        raise UsageError(f"{told}, got {hour_gap:g}")
    _make_folder(place)
    texts = {".labels.csv": labels_csv(scene, hour_gap), ".truth.json": truth_json(scene, hour_gap)}
    beside = {place.with_name(place.stem + end): text for end, text in texts.items()}
    files = [WholeFile(one) for one in beside]
    write_day(Mixer(scene), place, hour_gap=hour_gap, progress=progress)
    for file, text in zip(files, beside.values(), strict=True):
        with file as stream:
            stream.write(text)
    return [place, *beside]


def write_day(
    mixer: Mixer, path: Path, *, hour_gap: float = 0.0, progress: Progress = no_progress
) -> None:
    """Write all sound of a scene, piece by piece, in the form that the file's ending names."""
    scene, total = mixer.scene, round(mixer.scene.seconds)
    with _sound_file(path, scene.rate, mixer.frames + _gaps(scene, hour_gap)) as write:
        done = 0
        for piece in _pieces(mixer, hour_gap):
            write(piece)
            done = min(total, done + round(len(piece) / scene.rate))
            progress(done, total, 0)


def practice_write(
    scene: Scene, folder: Place, *, form: str = ".flac", progress: Progress = no_progress
) -> tuple[Example, ...]:
    """Write a new folder: the day, seven skims of it as times and sound, places and reasons."""
    if scene.seconds < PICKS * scene.hour:
        raise UsageError(f"a day to practise with has {PICKS} hours or more")
    made, mixer = examples(scene), Mixer(scene)
    texts = {
        "labels.csv": labels_csv(scene),
        "truth.json": truth_json(scene),
        "practice.json": practice_json(made, form),
        "reasons.md": reasons_text(scene, made),
        **{f"{number}.csv": picks_csv(one) for number, one in enumerate(made, 1)},
    }
    with WholeFolder(Path(folder)) as place:
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8", newline="")
        for number, one in enumerate(made, 1):
            sound = _skim(mixer, one)
            with _sound_file(place / f"{number}{form}", scene.rate, len(sound)) as write:
                write(sound)
        write_day(mixer, place / f"{FULL}{form}", progress=progress)
    return made


def _skim(mixer: Mixer, example: Example) -> Sound:
    picks, rate = example.skim.picks, mixer.scene.rate
    return render([mixer.sound(p.start, p.seconds) for p in picks], rate, example.skim.overlap)


def _pieces(mixer: Mixer, hour_gap: float) -> Iterator[Sound]:
    """The sound of hour after hour, with silences between them."""
    scene = mixer.scene
    for hour in range(_hours(scene)):
        if hour and hour_gap > 0:
            yield np.zeros(round(hour_gap * scene.rate), np.float32)
        last = min(mixer.frames, round((hour + 1) * scene.hour * scene.rate))
        first, size = round(hour * scene.hour * scene.rate), round(PIECE * scene.rate)
        for at in range(first, last, size):
            yield mixer.frames_of(at, min(last, at + size))


def _hours(scene: Scene) -> int:
    return int(np.ceil(scene.seconds / scene.hour - 1e-9))


def _gaps(scene: Scene, hour_gap: float) -> int:
    return (_hours(scene) - 1) * round(hour_gap * scene.rate)


def _form(path: Path) -> str:
    """What the ending of a file asks for; refused before any work."""
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: which form is that? — end it in {', '.join(FORMS)}")
    return form


def _make_folder(path: Path) -> None:
    """The folder of a file, where there is none yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = f"{path}: cannot be written: {path.parent}: {error.strerror or error}"
        raise UsageError(f"{told} — name another place") from error


class _Write:
    """Takes sound bit by bit: some forms cannot be written in one go."""

    def __init__(self, file: object, rate: int) -> None:
        self._write = file.write  # type: ignore[attr-defined]
        self._size = round(PIECE * rate)

    def __call__(self, sound: Sound) -> None:
        for at in range(0, len(sound), self._size):
            self._write(sound[at : at + self._size])


@contextmanager
def _sound_file(path: Path, rate: int, frames: int) -> Iterator[_Write]:
    """A file that appears at the end, if all went well."""
    form = _form(path)
    form = "RF64" if form == "WAV" and 2 * frames > LARGEST else form
    soundfile, beside = sound_library(), Path(mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    made = beside / path.name
    try:
        with soundfile.SoundFile(made, "w", rate, 1, format=form) as file:
            yield _Write(file, rate)
        made.replace(path)
    except soundfile.SoundFileError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error
    finally:
        made.unlink(missing_ok=True)
        beside.rmdir()
