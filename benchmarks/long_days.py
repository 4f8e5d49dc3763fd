"""Recordings of days and weeks for benchmarks: a few hours of soundscapes, encoded once, repeated.

MP3 is a sequence of frames, so hours can be concatenated as bytes. The tag of the first hour, which
contains the number of frames, is rewritten for the whole file: libsndfile reads no more than that.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

from earwitness.audio.files import sound_library
from earwitness.audio.mp3 import layout_of, walk_file
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.write import soundscape

RATE = 32_000
DAY = 24
HOURS = (("village", 7), ("city", 17), ("forest", 5))  # timetables, with an hour of each
PIECE = 30  # seconds rendered at a time


def long_days(folder: Path, hours: int) -> list[Path]:
    """Return the files of a recording, one per day, and create those that are missing.

    Files with the same audio differ in a tag at their end; otherwise they would share cached
    features.
    """
    days = hours // DAY
    if hours % DAY or days < 2:
        return [long_day(folder, hours)]
    content, beside = long_day(folder, DAY), folder / f"{hours}h"
    beside.mkdir(exist_ok=True)
    paths = [beside / f"site_202606{number + 1:02}_000000.mp3" for number in range(days)]
    for number, path in enumerate(paths):
        if not path.exists():
            part = path.with_suffix(".part")
            shutil.copyfile(content, part)
            with part.open("ab") as file:
                file.write(b"TAG" + f"day {number + 1}".encode().ljust(125, b"\0"))
            part.replace(path)
    return paths


def long_day(folder: Path, hours: int) -> Path:
    """Return one file with the given number of hours, and create it if it is missing."""
    path = folder / f"{hours}h_20260601_000000.mp3"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_hour(folder, *one) for one in HOURS]
    chosen = [parts[number % len(parts)] for number in range(hours)]
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        file.write(_tag(chosen))
        for part in chosen:
            with part.open("rb") as own:
                own.seek(_behind_tag(part))
                shutil.copyfileobj(own, file)
    beside.replace(path)
    return path


def _hour(folder: Path, timetable: str, hour: int) -> Path:
    path = folder / f"{timetable}-{hour:02}.mp3"
    if path.exists():
        return path
    mixer, beside = Mixer(soundscape(timetable, rate=RATE)), path.with_suffix(".part")
    with sound_library().SoundFile(beside, "w", RATE, 1, format="MP3") as file:
        for second in range(0, 3600, PIECE):
            file.write(mixer.sound(hour * 3600 + second, PIECE))
    beside.replace(path)
    return path


def _behind_tag(path: Path) -> int:
    layout = layout_of(path)
    with path.open("rb") as file:
        file.seek(layout.start)
        return layout.start + layout.kind.sizes[file.read(3)[2]]


def _tag(parts: list[Path]) -> bytes:
    """Return the first frame, with the frames and bytes of all parts and a uniform seek table."""
    frames = sum(walk_file(part).counted - 1 for part in parts)
    head = parts[0].read_bytes()[layout_of(parts[0]).start : _behind_tag(parts[0])]
    size = len(head) + sum(part.stat().st_size - _behind_tag(part) for part in parts)
    at = max(head.find(b"Xing"), head.find(b"Info"))
    assert at > 0, "the encoder writes a tag"
    assert head[at + 7] & 7 == 7, "the tag has frames, bytes and a seek table"
    places = bytes(256 * percent // 100 for percent in range(100))
    return head[: at + 8] + struct.pack(">II", frames, size) + places + head[at + 116 :]
