"""Timetables of sources by hour, their YAML files, and folders of clips."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any
from zlib import crc32

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.audio.decode import facts_of
from earwitness.audio.read import read_sound
from earwitness.errors import (
    EarwitnessWarning,
    InputError,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.io.schema import (
    Fault,
    derive_check,
    fill_defaults,
    number_range,
    whole_range,
)
from earwitness.io.yaml import read_yaml
from earwitness.soundscapes.sources import CROSSFADE_SECONDS, SOURCES, SoundSource
from earwitness.soundscapes.synthesis import Sound

# --- Timetables by hour --------------------------------------------------------------------------


HOURS_PER_DAY = 24


@dataclass(frozen=True)
class TimetableRow:
    """A source over the hours of a day: share of each hour, or number of events per hour.

    A row that ``strikes`` has one event at the start of each hour with events, with as many strokes
    as a clock strikes at that hour.
    """

    source: str
    shares: tuple[float, ...] = ()
    events: tuple[float, ...] = ()
    level: float | None = None
    seconds: tuple[float, float] | None = None
    strikes: bool = False


@dataclass(frozen=True)
class Timetable:
    """Rows, seconds per hour, background level, seed, and sources."""

    title: str
    rows: tuple[TimetableRow, ...]
    hour: float = 3600.0
    background: float = -58.0
    seed: int = 0
    sources: Mapping[str, SoundSource] = field(default_factory=lambda: SOURCES)


def spread_over_hours(text: Mapping[str, float]) -> tuple[float, ...]:
    """Return 24 hourly numbers from ranges of hours; 0 elsewhere.

    >>> shares = spread_over_hours({"22-2": 0.5, "12": 1})
    >>> shares[-3:], shares[:3]
    ((0.0, 0.5, 0.5), (0.5, 0.5, 0.0))
    """
    hourly_values = [0.0] * HOURS_PER_DAY
    for hours, value in text.items():
        first, _, last = hours.partition("-")
        start, end = int(first), int(last or int(first) + 1)
        for hour in range(start, end if end > start else end + HOURS_PER_DAY):
            hourly_values[hour % HOURS_PER_DAY] = float(value)
    return tuple(hourly_values)


# --- Folders of clips ----------------------------------------------------------------------------


CLIP_ENDINGS = (".wav", ".flac", ".ogg", ".mp3", ".opus", ".aiff", ".aif", ".w64")
# clips of at least this length count as continuous and are cross-faded
MIN_LASTING_CLIP_SECONDS = 4 * CROSSFADE_SECONDS
# of a source that is not built in; its level is that of the loudest moment, in dBFS
OTHER_SOURCE = SoundSource(None, (), -28.0, (10.0, 60.0), (0.3, 1.5), lasts=True)


def read_clip_sources(folder: Path) -> dict[str, SoundSource]:
    """Read one source per subfolder; all problems are reported at once."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not folders:
        raise UsageError(f"{folder}: has no subfolders — create one subfolder per source")
    problems: list[Problem] = []
    sources = {place.name: _read_source(place, problems) for place in folders}
    refuse_problems(problems, "made")
    return sources


def _read_source(folder: Path, problems: list[Problem]) -> SoundSource:
    """Read the clips of a folder; settings are those of the built-in source of the same name."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in CLIP_ENDINGS)
    lengths = [_clip_seconds(file, problems) for file in files]
    if not files:
        problems.append(file_problem(folder, "contains no clips", f"add {CLIP_ENDINGS[0]} files"))
    source = SOURCES.get(folder.name, OTHER_SOURCE)
    lasts = source.lasts and min(lengths, default=0.0) >= MIN_LASTING_CLIP_SECONDS
    return replace(
        source,
        make=None,
        lengths=tuple(lengths),
        pause=OTHER_SOURCE.pause if source.lasts else source.pause,
        lasts=lasts,
        fade=CROSSFADE_SECONDS if lasts else OTHER_SOURCE.fade,
        files=tuple(map(str, files)),
    )


def _clip_seconds(path: Path, problems: list[Problem]) -> float:
    try:
        seconds = facts_of(path).seconds
    except UsageError as error:
        problems.append(file_problem(path, error))
        return 1.0
    if seconds <= 0:
        problems.append(file_problem(path, "is empty"))
    return seconds


def read_clip(path: str, rate: int) -> Sound:
    """Read a clip as one channel at the given sample rate."""
    from scipy.signal import resample_poly

    sound = read_sound(Path(path))
    mono = sound.samples.mean(axis=1)
    if sound.rate != rate:
        mono = resample_poly(mono, rate, sound.rate)
    return np.asarray(mono, np.float32)


# --- Timetable files -----------------------------------------------------------------------------


PRESET_FOLDER = Path(str(files("earwitness.soundscapes"))) / "presets"
TIMETABLE_PRESETS = ("village", "city", "forest")
HOURS_PATTERN = r"^([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-4]))?(?![\s\S])"  # 7, or 22-5
MAX_LEVEL_DB = 0.0  # relative to full scale


Hours = Annotated[
    str,
    Meta(
        pattern=HOURS_PATTERN,
        extra={"message": "must be an hour from 0 to 23, or a range such as 22-5"},
    ),
]
DayLength = Meta(
    min_length=HOURS_PER_DAY,
    max_length=HOURS_PER_DAY,
    extra={"message": f"must have {HOURS_PER_DAY} numbers"},
)
# a number for all hours, 24 numbers, or numbers for ranges of hours
Share = Annotated[float, number_range(0, 1)]
HourlyShare = Share | Annotated[list[Share], DayLength] | dict[Hours, Share]
EventCount = Annotated[float, number_range(0, 10_000)]
HourlyCount = EventCount | Annotated[list[EventCount], DayLength] | dict[Hours, EventCount]
Level = Annotated[float, number_range(-120, MAX_LEVEL_DB)]
EventLength = Annotated[float, number_range(0.1)]


class TimetableRowKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """One source of a timetable file."""

    share: (
        Annotated[HourlyShare, Meta(description="share of each hour in which it sounds")]
        | UnsetType
    ) = UNSET
    events: Annotated[HourlyCount, Meta(description="events per hour")] | UnsetType = UNSET
    level: (
        Annotated[Level, Meta(description="level at its loudest moment, in dBFS")] | UnsetType
    ) = UNSET
    seconds: (
        Annotated[
            tuple[EventLength, EventLength],
            Meta(description="shortest and longest event, in seconds"),
        ]
        | UnsetType
    ) = UNSET
    strikes: Annotated[bool, Meta(description="strike every hour, as a clock does")] = False


class TimetableKeys(Struct, kw_only=True, forbid_unknown_fields=True):
    """Keys of a timetable file."""

    title: Annotated[str, Meta(description="title of the soundscape")] = ""
    seed: Annotated[int, whole_range(0, 2**31), Meta(description="random seed")] = 0
    hour: Annotated[float, number_range(1, 3600), Meta(description="seconds per hour")] = 3600.0
    background: Annotated[Level, Meta(description="background level, in dBFS")] = -58.0
    clips: (
        Annotated[str, Meta(description="folder of your own clips, one subfolder per source")]
        | UnsetType
    ) = UNSET
    sources: Annotated[
        dict[str, TimetableRowKeys], Meta(description="sources, and when they sound")
    ]


def find_timetable(name: str | Path, *, clips: str | Path | None = None) -> Timetable:
    """Return a preset or read a file; ``clips`` is a folder with clips of sources."""
    path = PRESET_FOLDER / f"{name}.yaml" if str(name) in TIMETABLE_PRESETS else Path(name)
    if not path.is_file():
        remedy = nearest(str(name), TIMETABLE_PRESETS)
        raise UsageError(f"{name}: neither a file nor a preset — {remedy}")
    return read_timetable(path, clips=clips)


def read_timetable(path: Path, *, clips: str | Path | None = None) -> Timetable:
    """Read a timetable file, or report all its problems."""
    file = read_yaml(path)
    faults = list(derive_check(TimetableKeys, hints=False)(file.value, ""))
    if faults:
        raise InputError([file.problem(fault) for fault in faults], done="made")
    value = fill_defaults(file.value, TimetableKeys)
    folder = clips or (path.parent / value["clips"] if "clips" in value else None)
    clip_sources = {} if folder is None else read_clip_sources(Path(folder))
    sources = {**SOURCES, **clip_sources}
    faults = [
        fault for name, row in value["sources"].items() for fault in _check_row(name, row, sources)
    ]
    if faults or not value["sources"]:
        faults = faults or [Fault("sources", "must not be empty")]
        raise InputError([file.problem(fault) for fault in faults], done="made")
    if unused := [name for name in clip_sources if name not in value["sources"]]:
        message = f"clips of {', '.join(unused)} are not used: the timetable has no such source"
        warnings.warn(message, EarwitnessWarning, stacklevel=3)
    return Timetable(
        value["title"] or path.stem,
        tuple(_row_from_values(name, row) for name, row in value["sources"].items()),
        float(value["hour"]),
        float(value["background"]),
        value["seed"],
        sources,
    )


def _check_row(
    name: str, row: Mapping[str, Any], sources: Mapping[str, SoundSource]
) -> Iterator[Fault]:
    """Yield contradictions in a row."""
    path = f"sources.{name}"
    if name not in sources:
        yield Fault(path, f'unknown source "{name}"', nearest(name, sources))
    elif row.get("strikes") and sources[name].lasts:
        yield Fault(f"{path}.strikes", f"{name} is a continuous source and cannot strike")
    if ("share" in row) == ("events" in row):
        yield Fault(path, "must have either share or events")
    if "seconds" in row and row["seconds"][0] > row["seconds"][1]:
        yield Fault(f"{path}.seconds", "must be the shortest, then the longest event")


def _row_from_values(name: str, row: Mapping[str, Any]) -> TimetableRow:
    low, high = row.get("seconds", (0.0, 0.0))
    return TimetableRow(
        name,
        _hourly_values(row["share"]) if "share" in row else (),
        _hourly_values(row["events"]) if "events" in row else (),
        float(row["level"]) if "level" in row else None,
        (float(low), float(high)) if "seconds" in row else None,
        bool(row.get("strikes", False)),
    )


def _hourly_values(value: Any) -> tuple[float, ...]:
    if isinstance(value, Mapping):
        return spread_over_hours({str(hours): float(amount) for hours, amount in value.items()})
    return tuple(map(float, value)) if isinstance(value, list) else (float(value),) * HOURS_PER_DAY


# --- Named random streams ------------------------------------------------------------------------


def named_generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return a random generator of its own for each name, independent of all others."""
    keys = [crc32(name.encode()) if isinstance(name, str) else name for name in names]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=keys)))
