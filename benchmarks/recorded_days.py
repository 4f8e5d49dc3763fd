"""Measures of skims on days assembled from recorded sounds with known truth.

python benchmarks/recorded_days.py SOUNDS TABLE [--days 40] [--seed 77] [--yamnet FILE]

SOUNDS is a folder of recordings, and TABLE a tab-separated file with the columns ``class`` and
``path`` (or ``path_in_package``), relative to the folder. The recordings are not part of the
project. Sounds of a class are split in two: with an even seed, days have the first half, with an
odd seed the second half, so development and proof share no recording.

A day has 7 to 14 sources: three that dominate some hours, and others that are less frequent or
occur once to three times. Levels of sources differ by up to 12 dB. The level of the day drifts by
up to 6 dB, gusts of wind that are no source occur throughout, and the recorder adds noise. All
sounds are limited to 5 kHz, since the bandwidth of a recording must not reveal its class. An hour
lasts six minutes. Each day has the skims of ``skim_days.py``. Correlations are computed within each
day, over all skims and over one skim of each kind: each method at z = 0, 0.5 and 1, each baseline
once, and the practice examples.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.read import read_sound
from earwitness.audio.signal import resample
from earwitness.skims.day import Day
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.sources import CROSSFADE_SECONDS, SoundSource
from earwitness.soundscapes.timetable import Timetable, TimetableRow, named_generator
from skim_days import (  # type: ignore[import-not-found] # in this folder
    BASELINES,
    BLOCK,
    DIALLED,
    PIECE,
    RATE,
    Floats,
    Judge,
    Row,
    Samples,
    blocks_of,
    by_day,
    told,
    worth,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.random_scenes import draw_hourly_profile

HOUR, HOURS = 360.0, 24
BAND_LIMIT = 10_000  # Hz, sample rate to which clips are limited
CLIP_SECONDS = 0.4, 20.0  # shortest and longest clips
MAIN_SOURCES, RARE_SHARE = 3, 0.3
MIN_SOURCES, MAX_SOURCES = 7, 14
LASTING = {
    *("aircraft", "wind", "rain", "water/stream/sea", "fire", "traffic/car", "train"),
    *("industry", "crowd/people", "insects/frog", "thunder"),
}
KINDS_Z = (0.0, 0.5, 1.0)


class Bank:
    """Clips of every class, limited to 5 kHz, in a folder of their own."""

    def __init__(self, sounds: Path, table: Path, folder: Path, seed: int) -> None:
        self.sounds, self.folder = sounds, folder
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        paths: dict[str, list[str]] = {}
        for row in rows:
            paths.setdefault(row["class"], []).append(row.get("path_in_package") or row["path"])
        halves = {name: sorted(found)[seed % 2 :: 2] for name, found in paths.items()}
        self.paths = {name: half for name, half in halves.items() if len(half) > 1}

    @cache  # noqa: B019 — one bank per process
    def clip(self, path: str) -> tuple[Path, float]:
        """Return the file of a clip and its duration; 0 if it is too short."""
        import soundfile

        target = self.folder / (path.replace("/", "_") + ".wav")
        if not target.exists():
            sound = read_sound(self.sounds / path)
            mono = sound.samples.mean(axis=1) if sound.samples.ndim > 1 else sound.samples
            mono = mono[: round(CLIP_SECONDS[1] * sound.rate)].astype(np.float32)
            limited = resample(resample(mono, sound.rate, BAND_LIMIT), BAND_LIMIT, RATE)
            soundfile.write(target, limited, RATE)
        seconds = soundfile.info(target).duration
        return target, seconds if seconds >= CLIP_SECONDS[0] else 0.0

    def source(self, name: str, rng: np.random.Generator) -> SoundSource | None:
        """Return a source with two to five clips of a class, or None if none is long enough."""
        paths = self.paths[name]
        drawn = [paths[n] for n in rng.permutation(len(paths))[: int(rng.integers(2, 6))]]
        least = 2 * CROSSFADE_SECONDS if name in LASTING else 0.0
        clips = [self.clip(path) for path in drawn]
        kept = [(str(path), seconds) for path, seconds in clips if seconds > least]
        if not kept:
            return None
        lasts = name in LASTING
        fade = CROSSFADE_SECONDS if lasts else 0.02
        files, lengths = zip(*kept, strict=True)
        return SoundSource(None, lengths, -26.0, (4.0, 40.0), (0.2, 1.5), lasts, fade, files)


def random_scene(bank: Bank, number: int, seed: int) -> Scene:
    """Return a day with random sources of the bank."""
    rng = named_generator(seed, "recorded", number)
    names = [str(name) for name in rng.permutation(sorted(bank.paths))]
    found = {name: bank.source(name, rng) for name in names}
    names = [name for name in names if found[name] is not None]
    names = names[: int(rng.integers(MIN_SOURCES, MAX_SOURCES + 1))]
    sources = {name: source for name in names if (source := found[name]) is not None}
    main = sorted(names, key=lambda name: not sources[name].lasts)[:MAIN_SOURCES]
    rows = tuple(_random_row(name, name in main, rng) for name in names)
    level = float(rng.uniform(-60, -52))
    timetable = Timetable(f"day {number + 1}", rows, HOUR, level, sources=sources)
    return make_scene(timetable, seed=int(rng.integers(2**31)), rate=RATE)


def _random_row(name: str, is_main: bool, rng: np.random.Generator) -> TimetableRow:
    level = -26 + float(rng.uniform(-6, 6))
    if is_main:
        shares = draw_hourly_profile(rng, float(rng.uniform(0.4, 0.9)))
        return TimetableRow(name, shares=shares, level=level)
    if rng.random() < RARE_SHARE:
        events = np.zeros(HOURS)
        events[rng.integers(HOURS, size=int(rng.integers(1, 4)))] = 1
        return TimetableRow(name, events=tuple(map(float, events)), level=level, seconds=(8, 40))
    shares = draw_hourly_profile(rng, float(rng.uniform(0.05, 0.25)))
    return TimetableRow(name, shares=shares, level=level)


def recorded(scene: Scene, seed: int, number: int) -> Iterator[Samples]:
    """Yield the audio of a scene as a recorder hears it: gusts, drift of the level, and noise."""
    from scipy.signal import lfilter

    rng, mixer = named_generator(seed, "recorder", number), Mixer(scene)
    walk = np.cumsum(rng.normal(size=2 * HOURS + 1))
    walk = 6 * (walk - walk.mean()) / np.abs(walk - walk.mean()).max()
    starts = np.sort(rng.uniform(0, scene.seconds, int(rng.integers(10, 60))))
    lengths, levels = rng.uniform(3, 30, len(starts)), rng.uniform(-45, -30, len(starts))
    noise = 10 ** (rng.uniform(-70, -58) / 20)
    for first in np.arange(0, scene.seconds, PIECE):
        sound = mixer.sound(float(first), PIECE).astype(np.float64)
        times = first + np.arange(len(sound)) / RATE
        rumble = lfilter([1, -1], [1, -1.98, 0.9801], rng.normal(size=len(sound)))
        rumble /= rumble.std()
        for start, length, level in zip(starts, lengths, levels, strict=True):
            if start < first + PIECE and start + length > first:
                shape = np.clip(np.minimum(times - start, start + length - times) / 2, 0, 1)
                sound += rumble * shape * 10 ** (level / 20)
        sound *= 10 ** (np.interp(times, np.linspace(0, scene.seconds, len(walk)), walk) / 20)
        sound += noise * rng.normal(size=len(sound))
        yield np.clip(sound, -1, 1).astype(np.float32)


def tagged(model: Any, pieces: Sequence[Samples], starts: Floats, seconds: float) -> Day:
    """Return the day as an embedder of audio hears it."""
    whole, size = np.concatenate(pieces), round(BLOCK * RATE)
    parts = [
        model.embed(np.stack([whole[round(s * RATE) :][:size] for s in starts[at : at + 16]]))
        for at in range(0, len(starts), 16)
    ]
    vectors = np.concatenate([part.vectors for part in parts])
    return Day.of(starts, BLOCK, vectors, np.concatenate([p.classes for p in parts]), seconds)


def judge(task: tuple[Bank, int, int, str]) -> tuple[list[Row], list[Row]]:
    """Return the skims of one day with measured and true values, also by YAMNet if given."""
    bank, number, seed, yamnet = task
    scene = random_scene(bank, number, seed)
    pieces = list(recorded(scene, seed, number))
    mine = Judge(number, scene, blocks_of(scene, pieces))
    rows = mine.rows()
    if not yamnet:
        return rows, []
    from earwitness.models.embedders import find_embedder

    day = tagged(find_embedder(yamnet), pieces, mine.day.starts, scene.seconds)
    other = Judge(number, scene, day)
    return rows, [other.again(row) for row in rows]


def one_of_each(rows: Sequence[Row]) -> list[Row]:
    """Return one skim of each kind per day."""
    kept: dict[tuple[int, str, float], Row] = {}
    for row in rows:
        if row.method not in DIALLED or row.z in KINDS_Z:
            kept.setdefault((row.day, row.method, -1.0 if np.isnan(row.z) else row.z), row)
    return list(kept.values())


def report(rows: Sequence[Row], title: str) -> None:
    """Print all correlations of one embedder."""
    print(title)
    for kind, chosen in (("one skim of each kind", one_of_each(rows)), ("all skims", rows)):
        each = len(chosen) // len({row.day for row in chosen})
        for measure, truth in (("tc", "true_tc"), ("sd", "true_sd")):
            text = f"  Spearman within a day, {measure.upper()}, {kind} ({each} a day)"
            print(told(text, worth(chosen, measure, truth)))


def main() -> None:
    """Print correlations with the truth, and true means of all methods."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sounds", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--yamnet", default="", help="YAMNet .tflite file")
    parser.add_argument("--clips", type=Path, default=Path("out/recorded_days"))
    given = parser.parse_args()
    given.clips.mkdir(parents=True, exist_ok=True)
    bank = Bank(given.sounds, given.table, given.clips, given.seed)
    tasks = [(bank, number, given.seed, given.yamnet) for number in range(given.days)]
    rows: list[Row] = []
    tags: list[Row] = []
    with get_context("spawn").Pool(given.jobs) as pool:
        for done, (own, other) in enumerate(pool.imap(judge, tasks), 1):
            rows, tags = rows + own, tags + other
            print(f"\rday {done} of {given.days}", end="", file=sys.stderr)
        pool.close()
        pool.join()
    print(file=sys.stderr)
    report(rows, f"codebook, {given.days} days, seed {given.seed}")
    if tags:
        report(tags, "YAMNet, the same skims")
    for method, z in [(m, z) for m in DIALLED for z in KINDS_Z] + [(m, np.nan) for m in BASELINES]:
        tc, sd = (by_day(rows, method, z, name).mean() for name in ("true_tc", "true_sd"))
        label = method if np.isnan(z) else f"{method} z={z:g}"
        print(f"  {label:16} true TC {tc:.3f}, true SD {sd:.3f}")


if __name__ == "__main__":
    main()
