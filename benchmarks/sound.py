"""Time to decode MP3, compared with soundfile, on the same files in one process.

    python benchmarks/sound.py [MINUTES]

Both are run fifteen times in alternation; the ratio is that of the shortest CPU times.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import soundfile

from earwitness.audio.read import read_blocks

BAR = 1.3  # times the CPU time of soundfile
RATE = 44_100
RUNS = 15


def read_with_soundfile(path: Path) -> None:
    """Decode a file and mix it to one channel, as Earwitness does."""
    with soundfile.SoundFile(path) as file:
        for block in file.blocks(1 << 16, dtype="float32", always_2d=True):
            block.mean(axis=1)


def read_with_earwitness(path: Path) -> None:
    """Decode a file to one channel."""
    for _ in read_blocks(path):
        pass


def cpu_seconds(read: Callable[[Path], None], path: Path) -> float:
    """Return the CPU time of reading a file once."""
    start = time.process_time()
    read(path)
    return time.process_time() - start


def main(minutes: float) -> None:
    """Print the ratio for one and two channels."""
    rng = np.random.default_rng(0)
    missed = False
    with TemporaryDirectory() as folder:
        for channels in (1, 2):
            path = Path(folder) / f"{channels}.mp3"
            samples = rng.normal(0, 0.1, (round(minutes * 60 * RATE), channels))
            soundfile.write(path, samples.astype(np.float32), RATE, format="MP3")
            readers = (read_with_soundfile, read_with_earwitness)
            for read in readers:  # load the libraries before timing
                read(path)
            times = [[cpu_seconds(read, path) for read in readers] for _ in range(RUNS)]
            peer, ours = np.min(times, axis=0).tolist()
            verdict = "met" if ours <= BAR * peer else "MISSED"
            missed |= verdict == "MISSED"
            print(
                f"{minutes:g} min of MP3, {channels} channel{'s' * (channels > 1)}: "
                f"soundfile {peer:.2f} s, Earwitness {ours:.2f} s: "
                f"{ours / peer:.2f} × (bar {BAR} ×: {verdict})"
            )
    sys.exit(missed)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
