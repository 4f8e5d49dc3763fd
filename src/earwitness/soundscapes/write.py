"""The command soundscape: audio files, labels, truth and a practice folder."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from earwitness.audio.files import SoundWriter, sound_library
from earwitness.audio.signal import render
from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile, AtomicFiles, AtomicFolder
from earwitness.io.tables import csv_text
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.practice import PICKS_PER_SKIM, PracticeSkim, make_practice_skims
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import Timetable, find_timetable
from earwitness.soundscapes.truth import Truth, hour_spans

# --- Labels, truth and reasons -------------------------------------------------------------------


FULL_LENGTH_NAME = "full-length"
HOUR_TOLERANCE = 1e-9  # share of an hour: times this close to the next one belong to it
PRACTICE_INTRODUCTION = """\
A skim condenses a long recording into a short one. Two criteria describe how good it is:

- **TC**, temporal consistency: the most present source of each hour is heard, in the order of the
  day. Time need not pass evenly.
- **SD**, source diversity: many of the sources of the day are heard.

Listen to the day and to each skim, and read the explanation. TC and SD are true values: they are
computed from the known times of all sources, since the day is synthetic. Both range from 0 to 1; on
most days, no skim of this length can reach 1.
"""


def labels_csv(scene: Scene, hour_gap: float = 0.0) -> str:
    """Return when each source sounds, in seconds of the audio file.

    If there are silences between hours, which are in the file but not on the clock, clock times
    follow in separate columns. An event across such a silence includes it.
    """
    columns = 5 if hour_gap > 0 else 3
    rows = [["start", "end", "source", "clock_start", "clock_end"][:columns]]
    for event in scene.events:
        clock = event.start, event.end
        # a start on the hour comes after its silence, an end on the hour before it
        before = math.floor(event.start / scene.hour + HOUR_TOLERANCE)
        last = max(before, math.ceil(event.end / scene.hour - HOUR_TOLERANCE) - 1)
        sound = event.start + before * hour_gap, event.end + last * hour_gap
        rows.append([*_format_seconds(sound), event.source, *_format_seconds(clock)][:columns])
    return csv_text(rows)


def _format_seconds(times: tuple[float, float]) -> list[str]:
    return [f"{time:.3f}" for time in times]


def picks_csv(example: PracticeSkim) -> str:
    """Return the times of a skim's picks in the day, in playing order."""
    rows = ([f"{pick.start:.3f}", f"{pick.seconds:.3f}"] for pick in example.skim.picks)
    return csv_text([["start", "seconds"], *rows])


def truth_json(scene: Scene, hour_gap: float = 0.0) -> str:
    """Return the sources of the day with their durations, and their presence in every hour.

    All times are clock times; the length of the silences between hours is given separately.
    """
    truth = Truth(scene.events, scene.seconds)
    seconds = truth.seconds([0.0], [scene.seconds])[0]
    hours = truth.presence(*hour_spans(scene.seconds, scene.hour))
    return _to_json(
        {
            "title": scene.name,
            "seed": scene.seed,
            "seconds": scene.seconds,
            "hour": scene.hour,
            **({"hour_gap": hour_gap} if hour_gap else {}),
            "rate": scene.rate,
            "sources": _round_values(truth.names, seconds, 3),
            "hours": [_round_values(truth.names, row, 6) for row in hours],
        }
    )


def practice_json(examples: Sequence[PracticeSkim], form: str, language: str) -> str:
    """Return all practice skims with their times, true TC and SD, and explanations."""
    skims = [
        {
            "skim": number,
            "title": example.title,
            "audio": f"{number}{form}",
            "overlap": example.skim.overlap,
            "picks": [[pick.start, pick.seconds] for pick in example.skim.picks],
            "tc": round(example.tc, 6),
            "sd": round(example.sd, 6),
            "heard": example.heard,
            "reason": example.reason,
        }
        for number, example in enumerate(examples, 1)
    ]
    return _to_json({"language": language, "skims": skims})


def reasons_text(scene: Scene, examples: Sequence[PracticeSkim]) -> str:
    """Return the explanations for people who are learning TC and SD."""
    rows = [f"| {n} | {e.title} | {e.tc:.2f} | {e.sd:.2f} |" for n, e in enumerate(examples, 1)]
    table = "\n".join(["| skim | | TC | SD |", "| --: | :-- | --: | --: |", *rows])
    lines = [f"# {scene.name}: seven skims of a day", PRACTICE_INTRODUCTION, table]
    for number, example in enumerate(examples, 1):
        lines += [
            f"## {number}: {example.title}",
            example.reason,
            f"Heard: {', '.join(example.heard)}.",
        ]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"


def _round_values(names: Sequence[str], values: Iterable[float], digits: int) -> dict[str, float]:
    return {name: round(float(value), digits) for name, value in zip(names, values, strict=True)}


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


# --- Writing a soundscape ------------------------------------------------------------------------


SOUND_FORMATS = {".flac": "FLAC", ".wav": "WAV", ".mp3": "MP3", ".ogg": "OGG"}
MAX_WAV_BYTES = 4_000_000_000  # bytes of a WAV file; more needs RF64
MAX_HOUR_GAP_SECONDS = 60.0
MIN_SAMPLE_RATE = 16_000  # Hz
PIECE_SECONDS = 30.0  # rendered at a time


def soundscape(
    timetable: StrPath | Timetable = "village",
    output: StrPath | None = None,
    *,
    seed: int | None = None,
    hours: int = 24,
    rate: int = 32_000,
    clips: Annotated[StrPath | None, "FOLDER"] = None,
    hour_gap: float = 0.0,
    progress: Progress = no_progress,
) -> Scene:
    """Make a day-long scene with known sources, and write it as audio.

    Parameters
    ----------
    timetable
        Name of a preset (village, city or forest), path of a YAML file, or a timetable.
    output
        Audio file to write, with labels and truth next to it. By default nothing is written.
    seed
        Random seed. By default that of the timetable.
    hours
        Length in hours, from midnight.
    rate
        Sample rate in Hz.
    clips
        Folder with your own sounds, one subfolder per source.
    hour_gap
        Length of the silences that separate hours, in seconds (0: none).
    progress

    Returns
    -------
    Scene
        All events with their times, ready to be rendered.

    Raises
    ------
    UsageError
        If a parameter is out of range, or the timetable does not exist.
    InputError
        If the timetable or a folder of clips is invalid.

    Examples
    --------
    >>> soundscape("village", hours=1, seed=1).name
    'A village in early summer'
    """
    if hours < 1:
        raise UsageError(f"hours must be at least 1, got {hours}")
    if rate < MIN_SAMPLE_RATE:
        message = f"the sample rate must be at least {MIN_SAMPLE_RATE:,} Hz"
        raise UsageError(f"{message} (birds are inaudible below that), got {rate:,}")
    if seed is not None and seed < 0:
        raise UsageError(f"seed must be 0 or greater, got {seed}")
    if not isinstance(timetable, Timetable):
        timetable = find_timetable(Path(timetable), clips=None if clips is None else Path(clips))
    scene = make_scene(timetable, seed=seed, hours=hours, rate=rate)
    if output is not None:
        soundscape_write(scene, output, hour_gap=hour_gap, progress=progress)
    return scene


def soundscape_write(
    scene: Scene, path: StrPath, *, hour_gap: float = 0.0, progress: Progress = no_progress
) -> list[Path]:
    """Write a scene as audio, with labels and truth next to it.

    Parameters
    ----------
    scene
        The scene to render.
    path
        Audio file; its extension sets the format.
    hour_gap
        Seconds of silence between hours. They are in the audio file but not on the clock of the
        day; labels then have both times.
    progress
        Callback for progress reports.

    Returns
    -------
    list of Path
        The audio file, its labels (CSV) and its truth (JSON).
    """
    sound_path = Path(path)
    _sound_format(sound_path)
    if not 0 <= hour_gap <= MAX_HOUR_GAP_SECONDS:
        message = f"the silence between hours must be from 0 to {MAX_HOUR_GAP_SECONDS:g} s"
        raise UsageError(f"{message}, got {hour_gap:g}")
    try:
        sound_path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{path}: cannot be written: {sound_path.parent}: {error.strerror or error}"
        raise UsageError(f"{message} — choose another path") from error
    texts = {".labels.csv": labels_csv(scene, hour_gap), ".truth.json": truth_json(scene, hour_gap)}
    text_by_path = {
        sound_path.with_name(sound_path.stem + end): text for end, text in texts.items()
    }
    for text_path in text_by_path:
        AtomicFile(text_path)  # refuses paths that cannot be written
    with AtomicFiles() as files:
        _write_day(Mixer(scene), sound_path, files.path(sound_path), hour_gap, progress)
        for text_path, text in text_by_path.items():
            files.path(text_path).write_text(text, encoding="utf-8", newline="")
    return [sound_path, *text_by_path]


def _write_day(mixer: Mixer, path: Path, place: Path, hour_gap: float, progress: Progress) -> None:
    """Write the audio of a scene to a place in pieces, in the format of the path's extension."""
    scene, total, done = mixer.scene, round(mixer.scene.seconds), 0
    gap_frames = (_count_hours(scene) - 1) * round(hour_gap * scene.rate)
    with _open_sound_file(path, place, scene.rate, mixer.frames + gap_frames) as writer:
        for piece in _iterate_pieces(mixer, hour_gap):
            writer.write(piece)
            done = min(total, done + round(len(piece) / scene.rate))
            progress(done, total, 0)


def practice_write(
    scene: Scene,
    folder: StrPath,
    *,
    form: str = ".flac",
    language: str = "en",
    progress: Progress = no_progress,
) -> tuple[PracticeSkim, ...]:
    """Write a new practice folder: the day, and seven skims with times, audio and explanations.

    Parameters
    ----------
    scene
        A day of at least as many hours as a skim has picks.
    folder
        Folder to create.
    form
        Extension of the audio files.
    language
        Language of the explanations, en or fr.
    progress
        Callback for progress reports.

    Returns
    -------
    tuple of PracticeSkim
        The seven skims.
    """
    if scene.seconds < PICKS_PER_SKIM * scene.hour:
        raise UsageError(f"a practice day must have at least {PICKS_PER_SKIM} hours")
    skims, mixer = make_practice_skims(scene, language), Mixer(scene)
    texts = {
        "labels.csv": labels_csv(scene),
        "truth.json": truth_json(scene),
        "practice.json": practice_json(skims, form, language),
        "reasons.md": reasons_text(scene, skims),
        **{f"{number}.csv": picks_csv(skim) for number, skim in enumerate(skims, 1)},
    }
    with AtomicFolder(Path(folder)) as place:
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8", newline="")
        for number, skim in enumerate(skims, 1):
            pieces = [mixer.sound(pick.start, pick.seconds) for pick in skim.skim.picks]
            sound = render(pieces, scene.rate, skim.skim.overlap)
            path = place / f"{number}{form}"
            with _open_sound_file(path, path, scene.rate, len(sound)) as writer:
                writer.write(sound)
        path = place / f"{FULL_LENGTH_NAME}{form}"
        _write_day(mixer, path, path, 0.0, progress)
    return skims


def _iterate_pieces(mixer: Mixer, hour_gap: float) -> Iterator[Sound]:
    """Yield the audio of each hour, with silences between hours."""
    scene = mixer.scene
    for hour in range(_count_hours(scene)):
        if hour and hour_gap > 0:
            yield np.zeros(round(hour_gap * scene.rate), np.float32)
        last = min(mixer.frames, round((hour + 1) * scene.hour * scene.rate))
        first, size = round(hour * scene.hour * scene.rate), round(PIECE_SECONDS * scene.rate)
        for at in range(first, last, size):
            yield mixer.mix_frames(at, min(last, at + size))


def _count_hours(scene: Scene) -> int:
    return int(np.ceil(scene.seconds / scene.hour - 1e-9))


def _sound_format(path: Path) -> str:
    """Return the format of a file extension; unknown ones are refused before any work."""
    form = SOUND_FORMATS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: unknown audio format — use {', '.join(SOUND_FORMATS)}")
    return form


@contextmanager
def _open_sound_file(path: Path, place: Path, rate: int, frames: int) -> Iterator[SoundWriter]:
    """Open an audio file at a place, in the format of the extension of its final path."""
    form = _sound_format(path)
    form = "RF64" if form == "WAV" and 2 * frames > MAX_WAV_BYTES else form
    try:
        with place.open("w+b", buffering=0) as file, SoundWriter(file, rate, 1, form) as writer:
            yield writer
    except (OSError, sound_library().SoundFileError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be written: {reason}") from error
