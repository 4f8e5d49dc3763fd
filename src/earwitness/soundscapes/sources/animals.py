"""Animals of a farm, a garden and a pond."""

from __future__ import annotations

import numpy as np

from earwitness.soundscapes.tones import (
    Sound,
    band,
    buzz,
    contour,
    formants,
    instants,
    noise,
    place,
    silence,
    swell,
    tone,
)

Generator = np.random.Generator


def rooster(rng: Generator, seconds: float, rate: int) -> Sound:
    """Cock-a-doodle-doo: three short notes and a long one that falls."""
    root, length = rng.uniform(480, 580), min(seconds, rng.uniform(1.9, 2.4))
    room = silence(seconds, rate)
    crow = [
        (0.00, 0.13, (1.0, 1.25)),
        (0.15, 0.09, (1.3, 1.35)),
        (0.26, 0.16, (1.25, 1.7)),
        (0.44, 0.56, (1.55, 1.75, 1.7, 1.5, 1.05)),
    ]
    for start, share, steps in crow:
        points = [(n / (len(steps) - 1), root * step) for n, step in enumerate(steps)]
        pitch = contour(points, share * length, rate)
        pitch *= 1 + 0.012 * np.sin(2 * np.pi * 23 * instants(share * length, rate))
        voice = tone(pitch, rate, (0.5, 1.0, 0.9, 0.6, 0.4, 0.25, 0.12))
        voice *= swell(len(voice), 0.025, 0.06, rate).astype(np.float32)
        place(room, voice, start * length, rate)
    return room


def dog(rng: Generator, seconds: float, rate: int) -> Sound:
    """Barks, alone or in twos."""
    room, at, root = silence(seconds, rate), 0.0, rng.uniform(240, 420)
    throat = formants([(700, 250, 1.0), (1400, 350, 0.7), (2600, 600, 0.3)])
    while at < seconds - 0.22:
        length = rng.uniform(0.14, 0.2)
        pitch = contour([(0, root), (0.3, root * 1.5), (1, root * 0.8)], length, rate)
        voice = buzz(pitch, rate, throat)
        voice /= np.float32(voice.std() + 1e-9)
        voice = voice + np.float32(0.3) * noise(rng, length, rate, band(500, 3500))[: len(voice)]
        place(room, voice * swell(len(voice), 0.012, 0.1, rate).astype(np.float32), at, rate)
        at += length + (rng.uniform(0.08, 0.15) if rng.random() < 0.5 else rng.uniform(0.3, 0.6))
    return room


def frogs(rng: Generator, seconds: float, rate: int) -> Sound:
    """A pond of frogs that answer each other."""
    room = silence(seconds, rate)
    for _ in range(int(rng.integers(4, 7))):
        root, at = rng.uniform(450, 900), rng.uniform(0, 0.8)
        throat = formants([(root * 2, 220, 1.0), (root * 3.1, 400, 0.6)])
        near = np.float32(10 ** rng.uniform(-0.8, 0))
        while at < seconds:
            length = rng.uniform(0.35, 0.6)
            pulses = contour([(0, 26), (0.5, 38), (1, 34)], length, rate)
            croak = buzz(pulses, rate, throat)
            croak *= swell(len(croak), 0.08, 0.12, rate).astype(np.float32)
            place(room, near * croak, at, rate)
            at += length + rng.uniform(0.25, 0.9)
    return room


def crickets(rng: Generator, seconds: float, rate: int) -> Sound:
    """Some crickets, each with its own pitch and pace: chirps of a few pulses."""
    time = instants(seconds, rate)
    room = np.zeros(len(time))
    for _ in range(int(rng.integers(2, 5))):
        pitch, pace = rng.uniform(3900, 5200), rng.uniform(1.8, 3.2)
        phase = time * pace * (1 + 0.01 * np.sin(0.7 * time)) + rng.random()
        chirp = (phase % 1) < 0.45
        pulses = np.clip(np.sin(2 * np.pi * 32 * time + rng.uniform(0, 6)), 0, 1) ** 2
        near = 10 ** rng.uniform(-0.9, 0)
        room += near * chirp * pulses * np.sin(2 * np.pi * pitch * time)
    return room.astype(np.float32)


def bees(rng: Generator, seconds: float, rate: int) -> Sound:
    """A hum of wings that come and go."""
    room = silence(seconds, rate)
    for _ in range(max(2, round(seconds / 1.6))):
        length, root = rng.uniform(1.2, 3.0), rng.uniform(190, 260)
        time = instants(length, rate)
        drift = 1 + 0.05 * np.sin(2 * np.pi * rng.uniform(0.3, 1.2) * time + rng.uniform(0, 6))
        wings = tone(root * drift, rate, (1.0, 0.7, 0.5, 0.35, 0.2, 0.12, 0.08))
        near = 10 ** rng.uniform(-0.7, 0)
        fly = near * wings * swell(len(wings), 0.4 * length, 0.4 * length, rate)
        place(room, fly.astype(np.float32), rng.uniform(-0.3, seconds - 0.6), rate)
    return room
