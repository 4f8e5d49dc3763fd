"""The verb soundscape: files of the day, its labels, its truth and a practice folder."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from earwitness.audio.files import sound_library
from earwitness.audio.signal import render
from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile, AtomicFolder
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.practice import PICKS_PER_SKIM, PracticeSkim, make_practice_skims
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import Timetable, find_timetable
from earwitness.soundscapes.truth import BACKGROUND_SOURCE, Truth

# --- Labels, truth and reasons -------------------------------------------------------------------


FULL_LENGTH_NAME = "full-length"
HOUR_TOLERANCE = 1e-9  # of an hour: times so close to the next one belong to it
PRACTICE_INTRODUCTION = """\
A skim is a short piece of sound that stands for a long one. Two things make it good:

- **TC**, temporal consistency: what is most present in each hour of the day is heard, in the order
  of the day. Time need not pass evenly.
- **SD**, source diversity: of the sources that sound in the day, many are heard.

Listen to each skim beside the day, and read why it is where it is. TC and SD are true values: they
are computed from when each source sounds, which is known, since the day was made. Both go from 0 to
1; the most that a skim of this length can have is below 1 in most days.
"""


def labels_csv(scene: Scene, hour_gap: float = 0.0) -> str:
    """When each source sounds, in seconds of the sound.

    With silences between hours, which are in the sound but on no clock, that of the clock stands
    behind it. An event that goes on over such a silence has it inside.
    """
    has_gaps = hour_gap > 0
    header = ["start", "end", "source", *(["clock_start", "clock_end"] if has_gaps else [])]
    rows = []
    for event in scene.events:
        clock = event.start, event.end
        sound = _clock_to_sound(scene, hour_gap, *clock) if has_gaps else clock
        rows.append(
            [*_format_seconds(sound), event.source, *(_format_seconds(clock) if has_gaps else [])]
        )
    return _to_csv(header, rows)


def _format_seconds(times: tuple[float, float]) -> list[str]:
    return [f"{time:.3f}" for time in times]


def _clock_to_sound(scene: Scene, gap: float, start: float, end: float) -> tuple[float, float]:
    """From the clock to the sound: what begins with an hour follows its silence, what ends with
    one comes before that of the next."""
    gaps_before = (
        math.floor(start / scene.hour + HOUR_TOLERANCE),
        math.ceil(end / scene.hour - HOUR_TOLERANCE) - 1,
    )
    return start + gaps_before[0] * gap, end + max(gaps_before) * gap


def picks_csv(example: PracticeSkim) -> str:
    """Where the picks of a skim are in the day, in the order in which they are heard."""
    rows = ([f"{pick.start:.3f}", f"{pick.seconds:.3f}"] for pick in example.skim.picks)
    return _to_csv(["start", "seconds"], rows)


def truth_json(scene: Scene, hour_gap: float = 0.0) -> str:
    """The sources of the day with their seconds, and what is present in every hour.

    All of it is told on the clock; of silences between hours it says how long they are.
    """
    truth = Truth(scene.events)
    starts = [float(one) for one in np.arange(0, scene.seconds - 1e-9, scene.hour)]
    ends = [min(one + scene.hour, scene.seconds) for one in starts]
    seconds = truth.seconds([0.0], [scene.seconds])[0]
    names = (*truth.sources, BACKGROUND_SOURCE)
    return _to_json(
        {
            "title": scene.name,
            "seed": scene.seed,
            "seconds": scene.seconds,
            "hour": scene.hour,
            **({"hour_gap": hour_gap} if hour_gap else {}),
            "rate": scene.rate,
            "sources": _round_values(truth.sources, seconds, 3),
            "hours": [_round_values(names, row, 6) for row in truth.presence(starts, ends)],
        }
    )


def practice_json(examples: Sequence[PracticeSkim], form: str) -> str:
    """All skims with their times, places and reasons."""
    return _to_json({"skims": [_skim_record(n, one, form) for n, one in enumerate(examples, 1)]})


def _skim_record(number: int, example: PracticeSkim, form: str) -> dict[str, Any]:
    return {
        "skim": number,
        "title": example.title,
        "audio": f"{number}{form}",
        "overlap": example.skim.overlap,
        "picks": [[pick.start, pick.seconds] for pick in example.skim.picks],
        "tc": round(example.tc, 6),
        "sd": round(example.sd, 6),
        "heard": list(example.heard),
        "reason": example.reason,
    }


def reasons_text(scene: Scene, examples: Sequence[PracticeSkim]) -> str:
    """For people who learn what TC and SD are."""
    lines = [f"# {scene.name}: seven skims of a day", PRACTICE_INTRODUCTION, _plane_table(examples)]
    for number, example in enumerate(examples, 1):
        lines += [
            f"## {number}: {example.title}",
            example.reason,
            f"Heard: {', '.join(example.heard)}.",
        ]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"


def _plane_table(examples: Sequence[PracticeSkim]) -> str:
    rows = [f"| {n} | {e.title} | {e.tc:.2f} | {e.sd:.2f} |" for n, e in enumerate(examples, 1)]
    return "\n".join(["| skim | | TC | SD |", "| --: | :-- | --: | --: |", *rows])


def _round_values(names: Sequence[str], values: Iterable[float], digits: int) -> dict[str, float]:
    return {name: round(float(one), digits) for name, one in zip(names, values, strict=True)}


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _to_csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


# --- Writing a soundscape ------------------------------------------------------------------------


SOUND_FORMATS = {".flac": "FLAC", ".wav": "WAV", ".mp3": "MP3", ".ogg": "OGG"}
MAX_WAV_BYTES = 4_000_000_000  # bytes of a WAV file; more needs RF64
MAX_HOUR_GAP_SECONDS = 60.0
MIN_SAMPLE_RATE = 16_000  # samples a second
PIECE_SECONDS = 30.0  # seconds that are made at a time


def soundscape(
    timetable: StrPath | Timetable,
    *,
    seed: int | None = None,
    hours: int = 24,
    rate: int = 32_000,
    clips: StrPath | None = None,
) -> Scene:
    """A day by a preset, a file or a timetable: all its events, ready to be heard."""
    if hours < 1:
        raise UsageError(f"a soundscape has an hour or more, got {hours}")
    if rate < MIN_SAMPLE_RATE:
        message = f"{MIN_SAMPLE_RATE:,} samples a second or more — birds are not heard below"
        raise UsageError(f"a soundscape has {message}, got {rate:,}")
    if seed is not None and seed < 0:
        raise UsageError(f"a seed must not be below 0, got {seed}")
    if not isinstance(timetable, Timetable):
        timetable = find_timetable(Path(timetable), clips=None if clips is None else Path(clips))
    return make_scene(timetable, seed=seed, hours=hours, rate=rate)


def soundscape_write(
    scene: Scene, path: StrPath, *, hour_gap: float = 0.0, progress: Progress = no_progress
) -> list[Path]:
    """Write the sound, and beside it labels and truth; the files.

    With an ``hour_gap``, hours are parted by so many seconds of silence, which are in the sound but
    not on the clock of the day; labels then have both times.
    """
    sound_path = Path(path)
    _sound_format(sound_path)
    if not 0 <= hour_gap <= MAX_HOUR_GAP_SECONDS:
        message = f"silence between hours lasts from 0 to {MAX_HOUR_GAP_SECONDS:g} s"
        raise UsageError(f"{message}, got {hour_gap:g}")
    _make_folder(sound_path)
    texts = {".labels.csv": labels_csv(scene, hour_gap), ".truth.json": truth_json(scene, hour_gap)}
    text_by_path = {
        sound_path.with_name(sound_path.stem + end): text for end, text in texts.items()
    }
    files = [AtomicFile(one) for one in text_by_path]
    write_day(Mixer(scene), sound_path, hour_gap=hour_gap, progress=progress)
    for file, text in zip(files, text_by_path.values(), strict=True):
        with file as stream:
            stream.write(text)
    return [sound_path, *text_by_path]


def write_day(
    mixer: Mixer, path: Path, *, hour_gap: float = 0.0, progress: Progress = no_progress
) -> None:
    """Write all sound of a scene, piece by piece, in the form that the file's ending names."""
    scene, total = mixer.scene, round(mixer.scene.seconds)
    with _open_sound_file(
        path, scene.rate, mixer.frames + _count_gap_frames(scene, hour_gap)
    ) as write:
        done = 0
        for piece in _iterate_pieces(mixer, hour_gap):
            write(piece)
            done = min(total, done + round(len(piece) / scene.rate))
            progress(done, total, 0)


def practice_write(
    scene: Scene, folder: StrPath, *, form: str = ".flac", progress: Progress = no_progress
) -> tuple[PracticeSkim, ...]:
    """Write a new folder: the day, seven skims of it as times and sound, places and reasons."""
    if scene.seconds < PICKS_PER_SKIM * scene.hour:
        raise UsageError(f"a day to practise with has {PICKS_PER_SKIM} hours or more")
    skims, mixer = make_practice_skims(scene), Mixer(scene)
    texts = {
        "labels.csv": labels_csv(scene),
        "truth.json": truth_json(scene),
        "practice.json": practice_json(skims, form),
        "reasons.md": reasons_text(scene, skims),
        **{f"{number}.csv": picks_csv(skim) for number, skim in enumerate(skims, 1)},
    }
    with AtomicFolder(Path(folder)) as place:
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8", newline="")
        for number, skim in enumerate(skims, 1):
            sound = _render_skim(mixer, skim)
            with _open_sound_file(place / f"{number}{form}", scene.rate, len(sound)) as write:
                write(sound)
        write_day(mixer, place / f"{FULL_LENGTH_NAME}{form}", progress=progress)
    return skims


def _render_skim(mixer: Mixer, example: PracticeSkim) -> Sound:
    picks, rate = example.skim.picks, mixer.scene.rate
    return render([mixer.sound(p.start, p.seconds) for p in picks], rate, example.skim.overlap)


def _iterate_pieces(mixer: Mixer, hour_gap: float) -> Iterator[Sound]:
    """The sound of hour after hour, with silences between them."""
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


def _count_gap_frames(scene: Scene, hour_gap: float) -> int:
    return (_count_hours(scene) - 1) * round(hour_gap * scene.rate)


def _sound_format(path: Path) -> str:
    """What the ending of a file asks for; refused before any work."""
    form = SOUND_FORMATS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: which form is that? — end it in {', '.join(SOUND_FORMATS)}")
    return form


def _make_folder(path: Path) -> None:
    """The folder of a file, where there is none yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{path}: cannot be written: {path.parent}: {error.strerror or error}"
        raise UsageError(f"{message} — name another place") from error


class _PieceWriter:
    """Takes sound bit by bit: some forms cannot be written in one go."""

    def __init__(self, file: object, rate: int) -> None:
        self._write = file.write  # type: ignore[attr-defined]
        self._size = round(PIECE_SECONDS * rate)

    def __call__(self, sound: Sound) -> None:
        for at in range(0, len(sound), self._size):
            self._write(sound[at : at + self._size])


@contextmanager
def _open_sound_file(path: Path, rate: int, frames: int) -> Iterator[_PieceWriter]:
    """A file that appears at the end, if all went well."""
    form = _sound_format(path)
    form = "RF64" if form == "WAV" and 2 * frames > MAX_WAV_BYTES else form
    soundfile, temporary_folder = (
        sound_library(),
        Path(mkdtemp(prefix=f".{path.name}.", dir=path.parent)),
    )
    temporary_file = temporary_folder / path.name
    try:
        with soundfile.SoundFile(temporary_file, "w", rate, 1, format=form) as file:
            yield _PieceWriter(file, rate)
        temporary_file.replace(path)
    except soundfile.SoundFileError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error
    finally:
        temporary_file.unlink(missing_ok=True)
        temporary_folder.rmdir()
