"""Time to compute log-mel frames, compared with librosa, or to skim, compared with decoding.

Without options, log-mel frames are compared: both libraries compute powers of 40 bands in decibels
for ten seconds of noise at each rate; Earwitness returns bytes, as in its cache. Runs alternate,
and the shortest CPU time counts, so other load has little effect.

With `--hours 24 168`, recordings of 24 and 168 hours are decoded by soundfile alone, skimmed,
skimmed again with another z, and skimmed sparsely, each in a separate process. These are wall-clock
times, so nothing else should run; the load average before each run is shown. The recordings (30 MB
per hour) stay in `--folder`; features are recomputed each time.

With `--locate 24`, eight skims of a recording of 24 hours are scored, given as audio that has to be
located in it.
"""

from __future__ import annotations

import argparse
import json
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
from long_days import long_days  # type: ignore[import-not-found] # in this folder

RATES = (16_000, 32_000, 44_100, 48_000)
SECONDS = 10
TURNS = 40
FASTER = 2.0  # times as fast as librosa
WHOLE, SPARSE = 1.0, 0.5  # relative to the time of decoding
AGAIN = 3.0  # seconds
MEMORY = 500.0  # megabytes of anonymous memory
LOCATED = 3.0  # scoring of eight skims given as audio, relative to the time of decoding
LOCATED_ZS = (0, 0.1, 0.25, 0.4, 0.5, 0.7, 0.85, 1)
LONGER_WEEK = 7.5  # wall-clock time of a week relative to a day
LINEAR = 1.25  # CPU time per hour of the longest recording relative to the shortest
USUAL = Path.home() / ".cache" / "earwitness-benchmarks"
DECODE = """
import sys, soundfile
for path in sys.argv[1:]:
    with soundfile.SoundFile(path) as file:
        while len(file.read(10 * file.samplerate, dtype="float32")):
            pass
"""


class Took(NamedTuple):
    """Wall-clock and CPU seconds, peak anonymous megabytes, and the load average before.

    Both include worker processes.
    """

    wall: float
    processor: float
    memory: float
    load: float


def bar(value: float, limit: float, *, most: bool = True) -> str:
    """Return the limit and whether it is met, as text."""
    met = value <= limit if most else value >= limit
    return f"(bar {limit:g}: {'met' if met else 'MISSED'})"


def by_librosa(sound: Floats, rate: int) -> Floats:
    """Return the same bands in decibels."""
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
    """Return the shortest CPU time of each function, run in alternation."""
    best = [float("inf")] * len(works)
    for _ in range(TURNS):
        for number, work in enumerate(works):
            start = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - start)
    return best


def log_mel_beside_librosa(rate: int) -> None:
    """Print the speed of both relative to real time, and their ratio."""
    rng = np.random.Generator(np.random.PCG64(0))
    sound = (0.1 * rng.normal(size=rate * SECONDS)).astype(np.float32)
    ours, peer = shortest(lambda: log_mel(sound, rate), lambda: by_librosa(sound, rate))
    print(
        f"log-mel of {rate:,} Hz: Earwitness {SECONDS / ours:,.0f} × real time, librosa "
        f"{SECONDS / peer:,.0f} ×, ratio {peer / ours:.1f} {bar(peer / ours, FASTER, most=False)}"
    )


def took(arguments: list[str]) -> Took:
    """Run a Python command in a separate process and return its cost."""
    load, start = os.getloadavg()[0], time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    memory = 0.0
    while (found := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        memory = max(memory, anonymous(process.pid))
        time.sleep(0.1)
    wall, (_, status, used) = time.perf_counter() - start, found
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}: {process.stderr.read()}")
    return Took(wall, used.ru_utime + used.ru_stime, memory, load)


def anonymous(process: int) -> float:
    """Return the anonymous memory of a process and its workers in megabytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        workers = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    own = sum(float(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon"))
    return own + sum(anonymous(int(worker)) for worker in workers)


def told(name: str, one: Took, rest: str = "") -> None:
    """Print the cost of a command in one line."""
    cost = f"CPU {one.processor:.1f} s, load before {one.load:.1f}, {one.wall:.1f} s wall time"
    print(f"{name}: {cost}{rest}", flush=True)


def skims(folder: Path, hours: int) -> Took:
    """Print all times of one recording; return the cost of its first skim."""
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
    told(f"{hours} h skimmed", first, f", {ratio:.2f} × decoding {bar(ratio, WHOLE)}, {memory}")
    again = skimmed("again", "--z", "0.2")
    told(
        f"{hours} h skimmed again with another z",
        again,
        f" {bar(again.wall, AGAIN)}, {again.memory:.0f} MB",
    )
    sparse = skimmed("sparse", "--sparse")
    ratio = sparse.wall / decoded.wall
    told(f"{hours} h skimmed sparsely", sparse, f", {ratio:.2f} × decoding {bar(ratio, SPARSE)}")
    shutil.rmtree(work)
    return first


def located(folder: Path, hours: int) -> None:
    """Print the time to score eight skims given as audio, relative to decoding the recording."""
    path, work = long_days(folder, hours)[0], folder / "located"
    skims = work / "skims"
    if not skims.exists():
        zs = ",".join(map(str, LOCATED_ZS))
        options = ["--cache", str(work / "cache"), "-o", str(skims), "--z", zs]
        took(["-m", "earwitness", "skim", str(path), "--quiet", *options])
    outputs = [
        {"item": "day", "system": file.stem, "output": {"audio": str(file)}}
        for file in sorted(skims.glob("*.flac"))
    ]
    (work / "outputs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in outputs))
    line = {"item": "day", "recording": str(path)}
    (work / "recordings.jsonl").write_text(f"{json.dumps(line)}\n")
    decoded = took(["-c", DECODE, str(path)])
    told(f"{hours} h decoded by soundfile", decoded)
    shutil.rmtree(work / "scoring", ignore_errors=True)
    os.environ["EARWITNESS_CACHE"] = str(work / "scoring")
    files = [str(work / name) for name in ("outputs.jsonl", "recordings.jsonl")]
    scored = took(["-m", "earwitness", "score", *files, "--quiet"])
    ratio = scored.wall / decoded.wall
    more = f", {ratio:.2f} × decoding {bar(ratio, LOCATED)}, {scored.memory:.0f} MB"
    told(f"{len(outputs)} skims located and scored", scored, more)
    shutil.rmtree(work / "scoring")


def main() -> None:
    """Print the chosen comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--hours", type=int, nargs="*", default=[], help="durations of the recordings to skim"
    )
    parser.add_argument(
        "--folder", type=Path, default=USUAL, help="folder for recordings and features"
    )
    parser.add_argument("--locate", type=int, help="hours of a recording in which to locate skims")
    options = parser.parse_args()
    if options.locate:
        located(options.folder, options.locate)
        return
    if not options.hours:
        for rate in RATES:
            log_mel_beside_librosa(rate)
        return
    found = {hours: skims(options.folder, hours) for hours in sorted(options.hours)}
    few, many = min(found), max(found)
    if few < many:
        longer = found[many].wall / found[few].wall
        limit = LONGER_WEEK * many / (7 * few)
        print(f"{many} h relative to {few} h: {longer:.2f} × {bar(longer, limit)}")
        ratio = found[many].processor / many / (found[few].processor / few)
        print(
            f"CPU time per hour, {many} h relative to {few} h: {ratio:.2f} × {bar(ratio, LINEAR)}"
        )


if __name__ == "__main__":
    main()
