"""Write a small study with synthetic audio: FOLDER/study.yaml, four systems and anchors.

The audio is speech-like (vowels in syllables) with noise; each system processes it differently.
``--kind`` selects the kind of trial: p835 (default), acr, dcr, ccr, ab, abx,
preference, mushra or bs1116. ``--recording`` adds a recording of five minutes, in which the speech
of all clips occurs, for listeners to browse below each trial.
"""

from __future__ import annotations

import argparse
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE, SECONDS, CLIPS = 16_000, 2.5, 6
VOWELS = ((730, 1090), (270, 2290), (300, 870), (530, 1840), (570, 840))  # formants, in Hz
SYSTEMS = {  # noise level, low-pass cutoff, clipping limit
    "C0": (0.30, 1.0, 1.0),
    "C1": (0.12, 0.8, 0.8),
    "C2": (0.03, 0.45, 0.4),
    "C3": (0.05, 0.9, 0.9),
}
ANCHORS = {  # the range of quality, rated before the test
    "clean": (0.0, 1.0, 1.0),
    "noisy": (0.6, 1.0, 1.0),
    "distorted": (0.0, 0.3, 0.25),
}
REFERENCE = (0.0, 1.0, 1.0)
REFERENCE_KINDS = ("dcr", "mushra", "bs1116")
LOW_PASS = {"anchor35": (0.0, 3.5 / 8, 1.0), "anchor70": (0.0, 7 / 8, 1.0)}  # of the kind mushra
TASKS = {  # instructions of the kinds other than p835
    "acr": "Rate the quality of each sound.",
    "dcr": "You hear a reference, then a second sound. Rate how much worse the second sound is.",
    "ccr": "You hear two sounds. Rate the second compared with the first.",
    "ab": "Switch between two sounds as often as you like. Choose the better one.",
    "abx": "Switch between three sounds as often as you like. X is the same as A or as B.",
    "preference": "Switch between two sounds as often as you like. Choose the one that you prefer, "
    "if any.",
    "mushra": "Switch between all sounds as often as you like. Rate each against the reference.",
    "bs1116": "B or C is the same as the reference A: rate it 5.0. Rate how much the other one is "
    "impaired.",
}
SHORT = """\
title: {title}
seed: 1
systems: [{systems}]
files: "{{system}}/{{item}}.wav"
listeners: 4
{reference}device: [level, sides]
instructions: |
  You will hear short, speech-like sounds with noise. Listen with headphones, in a quiet room.
  {task}
consent: |
  This is a demonstration. Answers stay on this computer.
blocks:
  - kind: {kind}
    clips: 3
"""
STUDY = """\
title: Four ways to enhance speech
seed: 1
systems: [C0, C1, C2, C3]
files: "{system}/{item}.wav"
listeners: 4
anchors: anchors
training: 2
feedback: true
device: [level, sides]
rest_minutes: 1
instructions: |
  You will hear short, speech-like sounds with noise. Listen with headphones, in a quiet room.
  First attend to the speech only, then to the background only, then to the overall quality.
consent: |
  This is a demonstration. Answers stay on this computer.
blocks:
  - kind: p835
    clips: 4
    sessions: 2
screening:
  - {rule: p808}
"""
RECORDING, RECORDING_SECONDS = "recordings/evening.wav", 300
RECORDINGS = f"""\
recording_display: {{frequency: log, range_db: [-80, -10]}}
recordings:
  clip1: &evening {{files: {RECORDING}, start: 2026-06-01T20:55:00+02:00}}
"""
Sound = NDArray[np.float64]


def voice(rng: np.random.Generator) -> Sound:
    """Return syllables: harmonics of a gliding pitch, louder near the formants of a vowel."""
    time = np.arange(int(RATE * SECONDS)) / RATE
    pitch = 110 + 60 * rng.random() + 15 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    found = np.zeros_like(time)
    for start in np.arange(0, SECONDS, 0.3):
        vowel = VOWELS[rng.integers(len(VOWELS))]
        shape = np.clip(np.sin(np.pi * (time - start) / 0.26), 0, 1) * (np.abs(time - start) < 0.26)
        for n in range(1, 25):
            near = sum(np.exp(-(((n * pitch.mean() - f) / 160) ** 2)) for f in vowel)
            found += shape * (0.05 / n + near / 4) * np.sin(n * phase)
    return np.asarray(found / np.abs(found).max())


def treated(clean: Sound, noise: Sound, loud: float, kept: float, limit: float) -> Sound:
    """Return noisy speech as processed by a system."""
    spectrum = np.fft.rfft(clean + loud * noise)
    spectrum[int(kept * len(spectrum)) :] = 0
    mixed = np.fft.irfft(spectrum, len(clean))
    return np.asarray(0.5 * np.clip(mixed, -limit, limit) / limit)


def write(path: Path, sound: Sound) -> None:
    """Write a 16-bit WAV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(30_000 * sound).astype("<i2").tobytes())


def study_text(kind: str) -> str:
    """Return the study file: P.835 in two sessions, other kinds in one with fewer trials."""
    if kind == "p835":
        return STUDY
    systems = "C0, C1, C2, C3" if kind in ("acr", "dcr", "mushra") else "C0, C1, C2"
    reference = "reference: clean\n" if kind in REFERENCE_KINDS else ""
    title = f"Ways to enhance speech ({kind.upper()})"
    return SHORT.format(
        title=title, systems=systems, reference=reference, task=TASKS[kind], kind=kind
    )


def evening() -> Sound:
    """Return five minutes of noise that swells and fades, with speech every ten seconds."""
    rng = np.random.Generator(np.random.PCG64(100))
    time = np.arange(RECORDING_SECONDS * RATE) / RATE
    swell = 0.03 + 0.02 * np.sin(2 * np.pi * time / 60)
    found = swell * rng.standard_normal(len(time))
    for number, start in enumerate(range(5, RECORDING_SECONDS - 5, 10)):
        spoken = voice(np.random.Generator(np.random.PCG64(number % CLIPS + 1)))
        found[start * RATE : start * RATE + len(spoken)] += 0.3 * spoken
    return np.asarray(np.clip(found, -1, 1))


def main(folder: Path, kind: str = "p835", *, recording: bool = False) -> None:
    """Write all files."""
    for number in range(1, CLIPS + 1):
        rng = np.random.Generator(np.random.PCG64(number))
        clean, noise = voice(rng), rng.standard_normal(int(RATE * SECONDS))
        for system, how in SYSTEMS.items():
            write(folder / system / f"clip{number}.wav", treated(clean, noise, *how))
        if kind in REFERENCE_KINDS:
            write(folder / "clean" / f"clip{number}.wav", treated(clean, noise, *REFERENCE))
        for anchor, how in LOW_PASS.items() if kind == "mushra" else ():
            write(folder / anchor / f"clip{number}.wav", treated(clean, noise, *how))
    for name, how in ANCHORS.items() if kind == "p835" else ():
        rng = np.random.Generator(np.random.PCG64(0))
        clean, noise = voice(rng), rng.standard_normal(int(RATE * SECONDS))
        write(folder / "anchors" / f"{name}.wav", treated(clean, noise, *how))
    text = study_text(kind)
    if recording:
        write(folder / RECORDING, evening())
        text += RECORDINGS + "".join(f"  clip{n}: *evening\n" for n in range(2, CLIPS + 1))
    (folder / "study.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="output folder")
    parser.add_argument("--kind", choices=["p835", *TASKS], default="p835", help="kind of trial")
    parser.add_argument("--recording", action="store_true", help="add a recording to browse")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.kind, recording=arguments.recording)
