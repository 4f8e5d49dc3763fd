"""Write noisy recordings of synthetic speech, and clean sentences, into FOLDER; needs flite.

``recordings/SESSION_LOCATION.wav`` are four recordings of two speakers in noise, ``clean/f1.wav``
to ``clean/m2.wav`` one sentence of each of four speakers without noise.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
SENTENCES = (
    "The harbour was quiet when the first boats came back with their nets",
    "She opened the window and listened to the rain on the garden wall",
    "Nobody in the village remembers when the old bridge was first built",
    "We walked along the river until the path ended at a wooden gate",
    "The children counted every carriage of the long and noisy morning train",
    "He keeps three clocks in the kitchen and none of them is right",
    "The market closes early today because the wind is getting much stronger",
    "A small orchestra played in the park while the lamps were being lit",
    "They moved the heavy table closer to the fire before the guests arrived",
    "My neighbour repairs radios and sells them at the station every Sunday",
    "The library has a quiet room where nobody is allowed to speak",
    "You can hear the sea from here when the road is empty at night",
    "The last bus leaves at ten so we should finish our dinner soon",
    "Her grandmother wrote down every recipe in a thick green notebook",
    "The teacher asked the whole class to describe a sound without naming it",
    "Snow covered the fields and every step we took sounded strangely close",
)
SPEAKERS = {  # voice of flite, and mean pitch in Hz
    "f1": ("slt", 170),
    "f2": ("slt", 210),
    "m1": ("rms", 95),
    "m2": ("awb", 125),
}
RECORDINGS = {  # speakers, and ratio of speech to noise in dB
    "S01_kitchen": (("f1", "m1"), 8.0),
    "S01_living": (("f2", "m2"), 5.0),
    "S21_kitchen": (("f2", "m1"), 11.0),
    "S21_living": (("f1", "m2"), 6.0),
}
PAUSE_SECONDS = (1.0, 1.6)
Sound = NDArray[np.float64]


def speak(speaker: str, sentence: str) -> Sound:
    """Return a sentence as flite speaks it, without the silence around it."""
    voice, pitch = SPEAKERS[speaker]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentence.wav"
        command = ["flite", "-voice", voice, "--setf", f"int_f0_target_mean={pitch}"]
        subprocess.run([*command, "-t", sentence, "-o", str(path)], check=True)
        with wave.open(str(path), "rb") as file:
            data = file.readframes(file.getnframes())
    sound = np.frombuffer(data, "<i2") / 2**15
    loud = np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())
    return np.asarray(sound[loud[0] : loud[-1] + 1])


def add_noise(speech: Sound, location: str, ratio: float, rng: np.random.Generator) -> Sound:
    """Return speech in the noise of a location: a fan and clinks, or a murmur."""
    spectrum = np.fft.rfft(rng.standard_normal(len(speech)))
    hertz = np.fft.rfftfreq(len(speech), 1 / RATE)
    spectrum /= 1 + (hertz / (400 if location == "kitchen" else 900)) ** 2
    noise = np.fft.irfft(spectrum, len(speech))
    if location == "kitchen":
        time = np.arange(RATE // 4) / RATE
        clink = np.exp(-30 * time) * np.sin(2 * np.pi * 3100 * time)
        for start in rng.integers(0, len(speech) - len(clink), len(speech) // (4 * RATE)):
            noise[start : start + len(clink)] += 4 * noise.std() * clink
    else:
        slow = np.interp(np.arange(len(speech)), *_slow_curve(len(speech), rng))
        noise *= 1 + 0.5 * slow
    spoken = speech[speech != 0]
    gain = np.sqrt(np.mean(spoken**2) / np.mean(noise**2) / 10 ** (ratio / 10))
    return np.asarray(speech + gain * noise)


def _slow_curve(frames: int, rng: np.random.Generator) -> tuple[Sound, Sound]:
    """Return times and values of a curve that changes five times per second."""
    times = np.arange(0, frames + RATE, RATE // 5, dtype=float)
    return times, rng.uniform(-1, 1, len(times))


def write(path: Path, sound: Sound) -> None:
    """Write a 16-bit WAV file with a peak of -6 dBFS."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(2**14 * sound / np.abs(sound).max()).astype("<i2").tobytes())


def main(folder: Path) -> None:
    """Write all files."""
    for number, (name, (speakers, ratio)) in enumerate(RECORDINGS.items()):
        rng = np.random.Generator(np.random.PCG64(number))
        parts: list[Sound] = []
        for place in range(8):
            sentence = SENTENCES[(8 * (number % 2) + place + 5 * (number // 2)) % len(SENTENCES)]
            parts += [_pause(rng), speak(speakers[place % 2], sentence)]
        speech = np.concatenate([*parts, _pause(rng)])
        noisy = add_noise(speech, name.partition("_")[2], ratio, rng)
        write(folder / "recordings" / f"{name}.wav", noisy)
    for place, speaker in enumerate(SPEAKERS):
        pause = np.zeros(RATE // 4)
        sound = np.concatenate([pause, speak(speaker, SENTENCES[-1 - place]), pause])
        write(folder / "clean" / f"{speaker}.wav", sound)


def _pause(rng: np.random.Generator) -> Sound:
    return np.zeros(int(RATE * rng.uniform(*PAUSE_SECONDS)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
