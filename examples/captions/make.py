"""Synthesize the clips of this example, and copy the study next to them.

Clips are written to FOLDER/clips and FOLDER/examples. sources.csv lists the sources in each clip,
with times and levels; nothing is recorded. The captions were written for these clips: those of
person are correct, and the errors in those of model are listed in faults.csv, which raters never
see. words.csv lists the words that name a source.
"""

from __future__ import annotations

import csv
import shutil
import sys
import wave
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np

from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import Scene, SoundEvent, place_clips
from earwitness.soundscapes.sources import SOURCES
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import named_generator

HERE = Path(__file__).parent
RATE = 16_000
LOUDER = 6.0  # dB: source levels are meant for whole days, too low for single clips
BACKGROUND = -58.0
PAUSE = 60.0  # seconds between clips on the tape
EXAMPLES = {"square": 12.0, "pond": 10.0}  # audio of the worked examples, in seconds
COPIED = ("study.yaml", "clips.csv", "captions.csv")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table in this folder."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def seconds() -> dict[str, float]:
    """Return the duration of every audio file: worked examples, then clips."""
    return EXAMPLES | {row["name"]: float(row["seconds"]) for row in rows("clips.csv")}


def events(item: str) -> Iterator[SoundEvent]:
    """Yield the events of a clip; calls are complete, so an event may end slightly early."""
    for number, row in enumerate(one for one in rows("sources.csv") if one["item"] == item):
        name, start, end = row["source"], float(row["start"]), float(row["end"])
        source = SOURCES[name]
        clips = place_clips(source, end - start, named_generator(0, item, name, number))
        last = end if source.lasts else min(end, start + clips[-1].end(source))
        yield SoundEvent(start, last, name, float(row["level"]) + LOUDER, clips)


def tape() -> Scene:
    """Return one scene with all clips, so that every source is synthesized only once."""
    placed = [
        replace(event, start=event.start + at, end=event.end + at)
        for at, item in zip(count(PAUSE, PAUSE), seconds(), strict=False)
        for event in events(item)
    ]
    whole = PAUSE * (len(seconds()) + 1)
    return Scene("", tuple(sorted(placed)), whole, rate=RATE, background=BACKGROUND + LOUDER)


def write(path: Path, sound: Sound) -> None:
    """Write a 16-bit WAV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(32_767 * sound).astype("<i2").tobytes())


def main(folder: Path) -> None:
    """Write all files."""
    mixer = Mixer(tape())
    for number, (item, long) in enumerate(seconds().items(), 1):
        place = folder / ("examples" if item in EXAMPLES else "clips") / f"{item}.wav"
        write(place, mixer.sound(number * PAUSE, long))
    for name in COPIED:
        shutil.copyfile(HERE / name, folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
