"""Frames of 10 ms that the detectors of speech segments classify right, on `flite` speech.

    python benchmarks/speech_segments.py [--chapters N] [--voice NAME …] [--snr DB …]

Chapters of the lecture in `tests/helpers` are spoken by `flite` (Debian package `flite`), which
also gives the true times of words; everything between words is silence. White noise is added at a
ratio to the level of the words. Each chapter and voice is one file; intervals are 95 % bootstrap
intervals over the files.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import soundfile
from numpy.typing import NDArray

from earwitness.speech.vad import WebRtcDetector, find_frame_detector, find_speech

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.flite import SpokenText, read_lecture, speak_chapters

FRAMES_PER_SECOND = 100
RESAMPLINGS = 10_000
RATES = ("right", "missed", "false alarms")


def mark_frames(spans: Iterable[tuple[float, float]], seconds: float) -> NDArray[np.bool_]:
    """Return for each frame whether its middle is in one of the spans."""
    middles = (np.arange(int(seconds * FRAMES_PER_SECOND)) + 0.5) / FRAMES_PER_SECOND
    marked = np.zeros(len(middles), bool)
    for start, end in spans:
        marked |= (middles >= start) & (middles < end)
    return marked


def add_noise(speech: SpokenText, truth: NDArray[np.bool_], snr: float) -> NDArray[np.float64]:
    """Return the audio with white noise at a ratio to the level of the words, in dB."""
    samples = speech.samples / 32768
    spoken = np.repeat(truth, speech.rate // FRAMES_PER_SECOND)
    level = float(np.sqrt(np.mean(np.square(samples[: len(spoken)][spoken]))))
    noise = np.random.default_rng(len(samples)).normal(0, level * 10 ** (-snr / 20), len(samples))
    return np.asarray(samples + noise)


def main() -> None:
    """Print one line per detector and ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapters", type=int, default=4, help="number of chapters")
    parser.add_argument("--voice", nargs="+", default=["slt", "rms"], help="voices of flite")
    parser.add_argument("--snr", type=float, nargs="*", default=[20, 10, 0], help="ratios in dB")
    arguments = parser.parse_args()
    texts = [
        speak_chapters([chapter], voice)
        for voice in arguments.voice
        for chapter in read_lecture()[: arguments.chapters]
    ]
    total = sum(text.seconds for text in texts)
    print(f"{len(texts)} files, {total:.0f} s")
    for snr in (np.inf, *arguments.snr):
        for detector in (find_frame_detector(), WebRtcDetector()):
            counts, spent = [], 0.0  # counts of right, missed and falsely marked frames, and bases
            for text in texts:
                truth = mark_frames([(word.start, word.end) for word in text.words], text.seconds)
                with TemporaryDirectory() as folder:
                    path = Path(folder) / "speech.wav"
                    soundfile.write(path, add_noise(text, truth, snr), text.rate)
                    began = time.perf_counter()
                    found = mark_frames(find_speech(path, detector=detector), text.seconds)
                    spent += time.perf_counter() - began
                right, missed, wrong = found == truth, truth & ~found, found & ~truth
                counts.append(
                    [
                        right.sum(),
                        missed.sum(),
                        wrong.sum(),
                        truth.size,
                        truth.sum(),
                        (~truth).sum(),
                    ]
                )
            table = np.array(counts, float)
            draws = np.random.default_rng(1).integers(len(table), size=(RESAMPLINGS, len(table)))
            sums = table[draws].sum(axis=1)
            shares = 100 * table.sum(axis=0)[:3] / table.sum(axis=0)[3:]
            low, high = np.percentile(100 * sums[:, :3] / sums[:, 3:], [2.5, 97.5], axis=0)
            figures = ", ".join(
                f"{name} {share:.1f} % ({one:.1f}–{two:.1f})"
                for name, share, one, two in zip(RATES, shares, low, high, strict=True)
            )
            speed = f"{total / spent:.0f} × real time"
            print(f"{Path(detector.name).stem}, {snr:g} dB: {figures}; {speed}", flush=True)


if __name__ == "__main__":
    main()
