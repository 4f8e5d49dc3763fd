"""Skims that are given as sound, found again in days whose backgrounds repeat themselves.

Made days are put together from clips, so that most seconds of background are there hundreds of
times, each a little louder or softer: harder than recordings are. Skims by several methods, of two
lengths of blocks, are written in five formats and found again; a part is right within 20 ms. A part
that is wrong must be doubted, TC and SD by sound must be those by times where nothing is doubted,
and skims of other days must be refused.
With `--hours 24`, skims of such a day are timed beside decoding it.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

from earwitness.audio.encode import encode
from earwitness.audio.signal import Floats, render
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Recording
from earwitness.skims.day import heard
from earwitness.skims.locate.locate import match_all, one_channel
from earwitness.skims.measures import DayMeasures
from earwitness.skims.methods import Picker
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.metrics import MarkedRecording, measured
from earwitness.skims.reader import skims_of_sound
from earwitness.skims.types import Pick, Skim
from earwitness.soundscapes.mix import iterate_sound
from earwitness.soundscapes.write import soundscape

SEED, HOURS = 5_300, 2
DAYS = tuple((name, rate) for name in ("city", "village", "forest") for rate in (16_000, 32_000))
ENDINGS = (".flac", ".wav", ".mp3", ".ogg", ".opus")
LOSSLESS = (".flac", ".wav")
SHAPES = ((12, 8.0, 3.0), (10, 5.0, 1.0))  # picks, block, overlap
METHODS = (("pareto", 0.0), ("pareto", 1.0), ("published", 0.5), ("random", 0.0))
PERIOD = 300.0
RIGHT, SAME = 0.02, 0.005  # seconds, and of TC and SD
FOREIGN = 20
DECODED = 10.0  # seconds that are decoded at a time


class Made(NamedTuple):
    """A skim as sound, and what it is."""

    ending: str
    skim: Skim
    sound: Floats
    judge: DayMeasures


class Result(NamedTuple):
    """How a skim was found: parts, wrong and doubted ones, wrong in silence, and by how much."""

    ending: str
    parts: int
    wrong: int
    doubted: int
    silent: int
    off: float


def day_of(folder: Path, name: str, rate: int, seed: int, hours: int) -> Recording:
    """A made day as a file."""
    path = folder / f"{name}{rate}_{seed}.flac"
    scene = soundscape(name, seed=seed, hours=hours, rate=rate)
    with soundfile.SoundFile(path, "w", rate, 1, subtype="PCM_16", format="FLAC") as file:
        for chunk in iterate_sound(scene):
            file.write(chunk)
    return open_recording([path], name=path.stem)


def rendered(recording: Recording, skim: Skim) -> Floats:
    """A skim as sound."""
    pieces = [cut(recording, pick.start, pick.seconds)[:, 0] for pick in skim.picks]
    return np.asarray(render(pieces, recording.rate, skim.overlap))


def skims_of(recording: Recording, seed: int) -> Iterator[tuple[Skim, DayMeasures]]:
    """Skims by all methods, of both lengths."""
    for picks, block, overlap in SHAPES:
        judge = measured(MarkedRecording(recording), "codebook", block, PERIOD)
        picker = Picker(judge.day, SkimPlan(picks, block, overlap, PERIOD, seed))
        for method, z in METHODS:
            rows = picker.pick(method, z).rows
            starts = judge.day.starts[np.asarray(rows, np.int64)].tolist()
            yield Skim(tuple(Pick(start, block) for start in starts), overlap), judge


def encoded(recording: Recording, sound: Floats, ending: str) -> Floats:
    """Sound as it comes back from a file."""
    content = encode(sound, recording.rate, ending).content
    samples, rate = soundfile.read(io.BytesIO(content))
    return one_channel(samples, rate, recording)


def off_by(judge: DayMeasures, skim: Skim, found: Skim) -> float:
    """The larger difference of TC and SD."""
    given, back = (
        heard(judge.day, [(pick.start, pick.seconds) for pick in one.picks])
        for one in (skim, found)
    )
    if given is None or back is None:
        return float("inf")
    pairs = ((judge.tc(given), judge.tc(back)), (judge.sd(given), judge.sd(back)))
    return max(abs(a - b) for a, b in pairs)


def found_in_one(numbered: tuple[int, str, int]) -> list[Result]:
    """All skims of one day."""
    number, name, rate = numbered
    with tempfile.TemporaryDirectory() as folder:
        recording = day_of(Path(folder), name, rate, SEED + number, HOURS)
        every = [
            Made(ending, skim, encoded(recording, rendered(recording, skim), ending), judge)
            for skim, judge in skims_of(recording, SEED + number)
            for ending in ENDINGS
        ]
        matched = match_all([one.sound for one in every], recording)
    results = []
    for made, found in zip(every, matched, strict=True):
        starts = [pick.start for pick in found.skim.picks]
        pairs = list(zip(made.skim.picks, starts, strict=False))
        wrong = {n for n, (pick, start) in enumerate(pairs) if abs(pick.start - start) > RIGHT}
        lost = abs(len(made.skim.picks) - len(starts))
        silent = len(wrong - set(found.doubted)) + (0 if found.notes else lost)
        sizes = len(made.skim.picks), len(wrong) + lost, len(found.doubted), silent
        off = 0.0 if found.notes else off_by(made.judge, made.skim, found.skim)
        results.append(Result(made.ending, *sizes, off))
    return results


def refused() -> int:
    """How many skims of other days are refused."""
    with tempfile.TemporaryDirectory() as name:
        folder, paths = Path(name), list[Path]()
        own = day_of(folder, "city", 16_000, SEED, 1)
        rng = np.random.default_rng(SEED)
        for number in range(FOREIGN):
            preset = DAYS[2 * (number % 3)][0]
            other = day_of(folder, preset, 16_000, SEED + 50 + number, 1)
            starts = np.sort(rng.uniform(0, 3_590, 12)).round(3).tolist()
            skim = Skim(tuple(Pick(start, 8.0) for start in starts), 3.0)
            paths.append(folder / f"{number}{ENDINGS[number % len(ENDINGS)]}")
            paths[-1].write_bytes(encode(rendered(other, skim), 16_000, paths[-1].suffix).content)
        found = skims_of_sound(paths, MarkedRecording(own), lambda one: one.recording)
    return sum(isinstance(one, list) for one in found)


def tell(results: Sequence[Result]) -> None:
    """A line for every format, and the bars."""
    print("format    skims  parts  exact  doubted  wrong but doubted  wrong in silence  TC, SD off")
    for ending in ENDINGS:
        own = [one for one in results if one.ending == ending]
        columns = ("parts", "wrong", "doubted", "silent")
        parts, wrong, doubted, silent = (sum(getattr(one, n) for one in own) for n in columns)
        off = max(one.off for one in own)
        told = f"{ending:8}  {len(own):5}  {parts:5}  {parts - wrong:5}  {doubted:7}"
        print(f"{told}  {wrong - silent:17}  {silent:16}  {off:10.4f}")
    silent = sum(one.silent for one in results)
    exact = all(not one.wrong and not one.doubted for one in results if one.ending in LOSSLESS)
    off = max(one.off for one in results)
    for met, what in (
        (exact, "lossless: all exact, none doubted"),
        (not silent, "none wrong in silence"),
        (off <= SAME, f"TC and SD of skims without a note within {SAME}"),
    ):
        print(f"{what}: {'met' if met else 'MISSED'}")


def timed(hours: int) -> None:
    """Skims of a long day, beside decoding it."""
    with tempfile.TemporaryDirectory() as name:
        recording = day_of(Path(name), "city", 32_000, SEED + 99, hours)
        path = recording.stretches[0].path
        began = time.perf_counter()
        with soundfile.SoundFile(path) as file:
            while len(file.read(round(DECODED * file.samplerate), dtype="float32")):
                pass
        decoding = time.perf_counter() - began
        rng = np.random.default_rng(SEED)
        starts = [np.sort(rng.uniform(0, recording.seconds - 8, 12)).tolist() for _ in range(8)]
        skims = [Skim(tuple(Pick(start, 8.0) for start in one), 3.0) for one in starts]
        sounds = [rendered(recording, skim) for skim in skims]
        for count in (1, 8):
            began = time.perf_counter()
            match_all(sounds[:count], recording)
            took = time.perf_counter() - began
            told = f"{count} of {hours} h: {took:.0f} s, {took / decoding:.1f} x decoding"
            print(f"{told} ({decoding:.0f} s)")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=24, help="of the day that is timed; 0: none")
    parser.add_argument("--days", type=int, default=len(DAYS), help="of those that are searched")
    given = parser.parse_args()
    days = [(number, *one) for number, one in enumerate(DAYS[: given.days])]
    with get_context("spawn").Pool(2) as pool:
        tell([one for day in pool.imap_unordered(found_in_one, days) for one in day])
    print(f"skims of other days: {refused()} of {FOREIGN} refused")
    if given.hours:
        timed(given.hours)


if __name__ == "__main__":
    main()
