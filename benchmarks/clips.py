"""Share of clips that keep their rule against true speech times, and speed and memory of cutting.

    python benchmarks/clips.py [--minutes N] [--voice NAME …] [--snr DB …] [--hours N]

Sentences of the lecture in `tests/helpers` are spoken by `flite` (Debian package `flite`), which
also gives the true times of words, with pauses of 0.2 to 2.5 s and white noise. With `--hours`, one
recording of that duration is cut in a process of its own, whose time and memory are printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import soundfile
from numpy.typing import NDArray

from earwitness.audio.read import stream_mono
from earwitness.engines.local import processes
from earwitness.material.candidates import ClipRule
from earwitness.material.clips import CutClip, audio_clips
from earwitness.speech.vad import find_speech

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.flite import SpokenText, read_lecture, speak_chapters

RATE = 16_000
Words = list[tuple[float, float]]
TOLERANCES_SECONDS = (0.0, 0.05, 0.1, 0.15)


def make_recording(
    sentences: Sequence[SpokenText], seconds: float, snr: float, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Words]:
    """Return sentences in random order with pauses and noise, and the true times of words."""
    parts, words, at = list[NDArray[np.float32]](), Words(), 0
    while at < seconds * RATE:
        pause = np.zeros(int(rng.uniform(0.2, 2.5) * RATE), np.float32)
        sentence = sentences[int(rng.integers(len(sentences)))]
        at += len(pause)
        words += [(word.start + at / RATE, word.end + at / RATE) for word in sentence.words]
        parts += [pause, (sentence.samples[: -int(0.9 * RATE)] / 32768).astype(np.float32)]
        at += len(parts[-1])
    samples = np.concatenate(parts)
    level = float(np.sqrt(np.mean(np.square(np.concatenate(parts[1::2])))))
    noise = rng.standard_normal(len(samples), np.float32) * level * 10 ** (-snr / 20)
    return np.clip(samples + noise, -1, 1).astype(np.float32), words


def keeps_rule(clip: CutClip, words: Words, rule: ClipRule, tolerance: float) -> bool:
    """Whether a clip has enough true speech, and none at its ends, within a tolerance."""
    start, end = clip.start, clip.end
    inside = sum(max(0.0, min(b, end) - max(a, start)) for a, b in words)
    free = rule.silence - tolerance
    heard = [(a, b) for a, b in words if b > start and a < end]
    is_free = all(a >= start + free and b <= end - free for a, b in heard)
    is_long = rule.seconds[0] - 1e-3 <= clip.seconds <= rule.seconds[1] + 1e-3
    return is_long and is_free and inside >= rule.speech_seconds - 2 * tolerance


def print_shares(arguments: argparse.Namespace, folder: Path) -> None:
    """Print one line per detector and ratio."""
    rule = ClipRule()
    for snr in (60.0, *arguments.snr):
        truth: dict[str, Words] = {}
        place = folder / f"{snr:g}"
        place.mkdir()
        for number, voice in enumerate(arguments.voice):
            spoken = [speak_chapters([[one]], voice) for one in SENTENCES]
            rng = np.random.default_rng(number)
            samples, words = make_recording(spoken, 60 * arguments.minutes, snr, rng)
            truth[voice] = words
            soundfile.write(place / f"{voice}.wav", samples, RATE, subtype="PCM_16")
        for detector in (None, "webrtc"):
            output = folder / f"clips-{snr:g}-{detector}"
            run = audio_clips(place, output, detector=detector)
            shares = [
                np.mean([keeps_rule(one, truth[one.recording], rule, slack) for one in run.clips])
                for slack in TOLERANCES_SECONDS
            ]
            texts = [
                f"{100 * share:.1f} % within {1000 * slack:.0f} ms"
                for share, slack in zip(shares, TOLERANCES_SECONDS, strict=True)
            ]
            rate = len(run.clips) / (run.seconds / 60)
            name = detector or "default detector"
            print(f"{name}, {snr:g} dB: {len(run.clips)} clips ({rate:.1f} per min): ", end="")
            print(", ".join(texts), flush=True)


def measure_run(task: tuple[str, str, str]) -> tuple[float, float, int]:
    """Do a task in this process; return its seconds, its memory in MB, and its clips."""
    kind, path, output = task
    began, count = time.perf_counter(), 0
    if kind == "decode":
        count = sum(len(piece) for piece in stream_mono(Path(path), RATE))
    elif kind == "detect":
        count = len(find_speech(path))
    else:
        count = len(audio_clips(path, output).clips)
    spent = time.perf_counter() - began
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return spent, int(peak.split()[1]) / 1024, count


def print_speed(hours: float, folder: Path) -> None:
    """Print time and memory of cutting a long recording and a tenth of it."""
    spoken = [speak_chapters([[one]], "slt") for one in SENTENCES]
    samples, _ = make_recording(spoken, 360 * hours, 20, np.random.default_rng(0))
    for name, repeats in (("tenth", 1), ("whole", 10)):
        with soundfile.SoundFile(folder / f"{name}.wav", "w", RATE, 1, "PCM_16") as file:
            for _ in range(repeats):
                file.write(samples)
        for kind in ("decode", "detect", "cut"):
            task = (kind, str(folder / f"{name}.wav"), str(folder / f"cut-{name}"))
            ((spent, memory, count),) = processes(1)(measure_run, [task])
            minutes = repeats * len(samples) / RATE / 60
            print(
                f"{minutes:.0f} min, {kind}: {spent:.1f} s, {memory:.0f} MB, {count:,}", flush=True
            )


SENTENCES = [sentence for chapter in read_lecture()[:4] for sentence in chapter]


def main() -> None:
    """Print shares, or speed and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="duration per voice")
    parser.add_argument("--voice", nargs="+", default=["slt", "rms"], help="voices of flite")
    parser.add_argument("--snr", type=float, nargs="*", default=[20, 10], help="ratios in dB")
    parser.add_argument("--hours", type=float, help="measure speed and memory instead")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        if arguments.hours:
            print_speed(arguments.hours, Path(folder))
        else:
            print_shares(arguments, Path(folder))


if __name__ == "__main__":
    main()
