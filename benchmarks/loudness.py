"""Integrated loudness of an hour of stereo, compared with libebur128 and pyloudnorm, and memory.

    python benchmarks/loudness.py [MINUTES]

All run on the same samples in one process and one thread, in alternation; ratios are those of the
shortest CPU times. The memory of ``audio normalize`` is measured in processes of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import soundfile
from numpy.typing import NDArray
from scipy.signal import sosfilt

from earwitness.audio.loudness import LoudnessMeter, k_weighting_sections

pyebur128 = import_module("pyebur128")
pyloudnorm = import_module("pyloudnorm")

RATE = 48_000
RATES = (16_000, 44_100, 48_000)
RUNS = 3
PIECE_SECONDS = 10
PASSAGE_SECONDS = 2
MAX_DIFFERENCE_LU = 1e-6
MAX_MEMORY_GROWTH_MB = 30.0
NORMALIZE = """
import sys
from pathlib import Path
from earwitness.material.normalize import audio_normalize
audio_normalize(sys.argv[1], sys.argv[2])
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""

Samples = NDArray[np.float32]


def make_noise(seconds: int, rate: int) -> Samples:
    """Return stereo noise whose level changes every two seconds, between -60 and -15 dB."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((seconds * rate, 2), np.float32)
    for start in range(0, len(samples), PASSAGE_SECONDS * rate):
        samples[start : start + PASSAGE_SECONDS * rate] *= 10 ** (rng.uniform(-60, -15) / 20)
    return samples


def cut(samples: Samples, rate: int) -> list[Samples]:
    """Return pieces, as a reader of files has them."""
    size = PIECE_SECONDS * rate
    return [samples[start : start + size] for start in range(0, len(samples), size)]


def with_earwitness(samples: Samples, rate: int) -> float:
    """Return the loudness by Earwitness."""
    meter = LoudnessMeter(rate, 2)
    for piece in cut(samples, rate):
        meter.add(piece)
    return meter.loudness()


def with_libebur128(samples: Samples, rate: int) -> float:
    """Return the loudness by libebur128."""
    state = pyebur128.R128State(2, rate, pyebur128.MeasurementMode.MODE_I)
    for piece in cut(samples, rate):
        state.add_frames(piece.ravel(), len(piece))
    return float(pyebur128.get_loudness_global(state))


def with_pyloudnorm(samples: Samples, rate: int) -> float:
    """Return the loudness by pyloudnorm, whose filters differ slightly from the recommendation."""
    return float(pyloudnorm.Meter(rate).integrated_loudness(samples))


def filter_with_scipy(samples: Samples, rate: int) -> float:
    """Filter with SciPy, and compute no loudness."""
    state = np.zeros((2, 2, 2))
    for piece in cut(samples, rate):
        _, state = sosfilt(k_weighting_sections(rate), piece, axis=0, zi=state)
    return float("nan")


METERS = (with_earwitness, with_libebur128, with_pyloudnorm, filter_with_scipy)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a task."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare_values() -> bool:
    """Print the differences in a minute of audio; return whether a limit is missed."""
    missed = False
    for rate in RATES:
        samples = make_noise(60, rate)
        ours, peer, other, _ = (meter(samples, rate) for meter in METERS)
        difference = abs(ours - peer)
        verdict = "met" if difference <= MAX_DIFFERENCE_LU else "MISSED"
        missed |= verdict == "MISSED"
        print(
            f"difference at {rate / 1000:g} kHz: {ours:.6f} LUFS, from pyloudnorm"
            f" {abs(ours - other):.4f} LU, from libebur128 {difference:.1e} LU"
            f" (bar {MAX_DIFFERENCE_LU:g} LU: {verdict})"
        )
    return missed


def compare_times(minutes: int) -> bool:
    """Print the time of all meters; return whether Earwitness is not the fastest."""
    samples = make_noise(minutes * 60, RATE)
    for meter in METERS:  # load libraries and prepare filters before timing
        meter(samples[: RATE * 2], RATE)
    tasks = [partial(meter, samples, RATE) for meter in METERS]
    rounds = [[cpu_seconds(task) for task in tasks] for _ in range(RUNS)]
    ours, peer, other, scipy = np.min(rounds, axis=0).tolist()
    missed = False
    for name, seconds in (("libebur128", peer), ("pyloudnorm", other)):
        verdict = "met" if ours < seconds else "MISSED"
        missed |= verdict == "MISSED"
        print(
            f"{minutes} min of stereo at 48 kHz, {name}: {seconds:.2f} s, Earwitness {ours:.2f} s:"
            f" {seconds / ours:.2f} × faster (bar 1 ×: {verdict})"
        )
    print(f"  K-weighting alone with SciPy: {scipy:.2f} s")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "noise.wav"
        soundfile.write(path, samples, RATE, subtype="PCM_16")
        with soundfile.SoundFile(path) as file:
            pieces = file.blocks(PIECE_SECONDS * RATE, dtype="float32", always_2d=True)
            decoding = cpu_seconds(lambda: [len(piece) for piece in pieces])
        print(f"  decoding of the same audio as 16-bit WAV alone: {decoding:.2f} s")
    return missed


def compare_memory(minutes: int) -> bool:
    """Print the memory of ``audio_normalize`` for a minute and for all; return if it grows."""
    peaks = []
    with TemporaryDirectory() as folder:
        for number, length in enumerate((1, minutes)):
            path = Path(folder) / f"noise{number}.wav"
            soundfile.write(path, make_noise(length * 60, RATE), RATE, subtype="PCM_16")
            command = [sys.executable, "-c", NORMALIZE, str(path), f"{folder}/output{number}"]
            start = time.monotonic()
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds = time.monotonic() - start
            peaks.append(int(output) / 1000)
    growth = peaks[1] - peaks[0]
    verdict = "met" if growth <= MAX_MEMORY_GROWTH_MB else "MISSED"
    print(
        f"audio normalize of {minutes} min of stereo at 48 kHz: {seconds:.0f} s, {peaks[1]:.0f} MB,"
        f" {growth:+.0f} MB compared with 1 min (bar {MAX_MEMORY_GROWTH_MB:+g} MB: {verdict})"
    )
    return verdict == "MISSED"


def main(minutes: int) -> None:
    """Print differences, times and memory."""
    missed = [compare_values(), compare_memory(minutes), compare_times(minutes)]
    sys.exit(any(missed))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
