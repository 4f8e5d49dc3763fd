"""Skims beside plain decoding, and log-mel frames beside librosa: times, ratios and bars.

Log-mel frames come first: both give powers of 40 bands in decibels, for ten seconds of noise at
each rate; ours in bytes, as they are kept. The two take turns, and the shortest time of the
processor counts, so that other work beside it hardly does.

With `--hours 24 168`, recordings of so many hours are skimmed, each command in a process of its
own: decoded by soundfile alone, skimmed, skimmed again with another z, and skimmed sparsely. Times
are those of the clock, so nothing else should run: the load of the machine before each is shown.
The recordings (30 MB an hour) and features stay in `--folder`; features are made anew each time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import librosa
import numpy as np

from earwitness.audio.logmel import (
    FRAMES_PER_SECOND,
    MAX_FREQUENCY_HZ,
    MEL_BANDS,
    MIN_FREQUENCY_HZ,
    Floats,
    log_mel,
    make_kernel,
)
from long_days import long_days  # type: ignore[import-not-found] # beside this file

RATES = (16_000, 32_000, 44_100, 48_000)
SECONDS = 10
TURNS = 40
FASTER = 2.0  # than librosa
WHOLE, SPARSE = 1.5, 0.5  # of the time of decoding
AGAIN = 3.0  # seconds
MEMORY = 500.0  # megabytes that belong to no file
LINEAR = 1.25  # time of an hour in the longest recording beside that in the shortest
USUAL = Path.home() / ".cache" / "earwitness-benchmarks"
DECODE = """
import sys, soundfile
for path in sys.argv[1:]:
    with soundfile.SoundFile(path) as file:
        while len(file.read(10 * file.samplerate, dtype="float32")):
            pass
"""


class Took(NamedTuple):
    """Seconds of the clock and of the processor, most anonymous megabytes, and the load before."""

    wall: float
    processor: float
    memory: float
    load: float


def bar(value: float, limit: float, *, most: bool = True) -> str:
    """The bar, and whether it is met."""
    met = value <= limit if most else value >= limit
    return f"(bar {limit:g}: {'met' if met else 'MISSED'})"


def by_librosa(sound: Floats, rate: int) -> Floats:
    """The same bands, in decibels."""
    powers = librosa.feature.melspectrogram(
        y=sound,
        sr=rate,
        n_fft=make_kernel(rate).reach,
        hop_length=rate // FRAMES_PER_SECOND,
        center=False,
        n_mels=MEL_BANDS,
        fmin=MIN_FREQUENCY_HZ,
        fmax=min(MAX_FREQUENCY_HZ, rate / 2),
        htk=True,
        norm=None,
    )
    return np.asarray(librosa.power_to_db(powers))


def shortest(*works: Callable[[], object]) -> list[float]:
    """The shortest time of each, in turns."""
    best = [float("inf")] * len(works)
    for _ in range(TURNS):
        for number, work in enumerate(works):
            start = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - start)
    return best


def log_mel_beside_librosa(rate: int) -> None:
    """One line: how much faster than the sound itself each is, and the ratio."""
    rng = np.random.Generator(np.random.PCG64(0))
    sound = (0.1 * rng.normal(size=rate * SECONDS)).astype(np.float32)
    ours, peer = shortest(lambda: log_mel(sound, rate), lambda: by_librosa(sound, rate))
    print(
        f"log-mel of {rate:,} Hz: ours {SECONDS / ours:,.0f} × real time, librosa "
        f"{SECONDS / peer:,.0f} ×, ratio {peer / ours:.1f} {bar(peer / ours, FASTER, most=False)}"
    )


def took(arguments: list[str]) -> Took:
    """A command in a process of its own."""
    load, start = os.getloadavg()[0], time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    memory = 0.0
    while (found := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        memory = max(memory, anonymous(process.pid))
        time.sleep(0.02)
    wall, (_, status, used) = time.perf_counter() - start, found
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}: {process.stderr.read()}")
    return Took(wall, used.ru_utime + used.ru_stime, memory, load)


def anonymous(process: int) -> float:
    """Megabytes of a process that belong to no file; 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon"))


def told(name: str, one: Took, rest: str = "") -> None:
    """One line."""
    clock = f"{one.wall:.1f} s (processor {one.processor:.1f} s, load before {one.load:.1f})"
    print(f"{name}: {clock}{rest}", flush=True)


def skims(folder: Path, hours: int) -> Took:
    """All of one recording; what its first skim took."""
    paths, work = long_days(folder, hours), folder / "work"
    path = paths[0] if len(paths) == 1 else paths[0].parent
    shutil.rmtree(work, ignore_errors=True)
    common = ["-m", "earwitness", "skim", str(path), "--cache", str(work / "cache"), "--quiet"]
    decoded = took(["-c", DECODE, *map(str, paths)])
    told(f"{hours} h decoded by soundfile", decoded)

    def skimmed(name: str, *more: str) -> Took:
        return took([*common, "-o", str(work / f"{name}.flac"), *more])

    first = skimmed("first")
    ratio = first.wall / decoded.wall
    memory = f"{first.memory:.0f} MB {bar(first.memory, MEMORY)}"
    told(f"{hours} h skimmed", first, f", {ratio:.2f} × {bar(ratio, WHOLE)}, {memory}")
    again = skimmed("again", "--z", "0.2")
    told(f"{hours} h, another z", again, f" {bar(again.wall, AGAIN)}, {again.memory:.0f} MB")
    sparse = skimmed("sparse", "--sparse")
    ratio = sparse.wall / decoded.wall
    told(f"{hours} h sparsely", sparse, f", {ratio:.2f} × {bar(ratio, SPARSE)}")
    shutil.rmtree(work)
    return first


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, nargs="*", default=[], help="of recordings to skim")
    parser.add_argument("--folder", type=Path, default=USUAL, help="for recordings and features")
    options = parser.parse_args()
    if not options.hours:
        for rate in RATES:
            log_mel_beside_librosa(rate)
        return
    found = {hours: skims(options.folder, hours) for hours in sorted(options.hours)}
    few, many = min(found), max(found)
    if few < many:
        ratio = found[many].processor / many / (found[few].processor / few)
        print(f"an hour of {many} takes {ratio:.2f} × one of {few} {bar(ratio, LINEAR)}")


if __name__ == "__main__":
    main()
