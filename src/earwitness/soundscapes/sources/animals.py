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
    outdoors,
    place,
    rough,
    silence,
    swell,
    tone,
    wander,
)

Generator = np.random.Generator
CROW = (  # of a rooster: when a note begins and how long it is (shares), and its pitches
    (0.00, 0.13, (1.0, 1.25)),
    (0.15, 0.09, (1.3, 1.35)),
    (0.26, 0.16, (1.25, 1.7)),
    (0.44, 0.56, (1.55, 1.75, 1.7, 1.5, 1.05)),
)


def rooster(rng: Generator, seconds: float, rate: int) -> Sound:
    """Cock-a-doodle-doo: three short notes and a long one that falls."""
    root, length = rng.uniform(480, 580), min(seconds - 0.2, rng.uniform(1.9, 2.3))
    room = silence(seconds, rate)
    for start, share, steps in CROW:
        points = [(n / (len(steps) - 1), root * step) for n, step in enumerate(steps)]
        pitch = rough(rng, contour(points, share * length, rate), rate, 0.012)
        voice = tone(pitch, rate, (0.5, 1.0, 0.9, 0.6, 0.5, 0.35, 0.2, 0.1))
        hoarse = np.float32(0.12) * noise(rng, share * length, rate, band(900, 4000))
        cry = (voice + hoarse[: len(voice)]) * swell(len(voice), 0.02, 0.06, rate)
        place(room, cry.astype(np.float32), start * length, rate)
    return outdoors(rng, room, rate, 0.2, 0.15)


def dog(rng: Generator, seconds: float, rate: int) -> Sound:
    """Barks, alone or in twos."""
    room, at, root = silence(seconds, rate), 0.0, rng.uniform(300, 480)
    throat = formants([(0.9 * root, 200, 0.8), (2.1 * root, 350, 1.0), (1900, 700, 0.4)])
    while at < seconds - 0.25:
        length = rng.uniform(0.15, 0.21)
        steps = [(0, 0.8 * root), (0.25, 1.35 * root), (0.5, 1.25 * root), (1, 0.6 * root)]
        voice = buzz(rough(rng, contour(steps, length, rate), rate, 0.07), rate, throat)
        voice /= np.float32(voice.std() + 1e-9)
        breath = np.float32(0.4) * noise(rng, length, rate, band(500, 2500))[: len(voice)]
        bark = (voice + breath) * swell(len(voice), 0.02, 0.12, rate).astype(np.float32)
        place(room, bark, at, rate)
        at += length + (rng.uniform(0.1, 0.2) if rng.random() < 0.5 else rng.uniform(0.35, 0.7))
    return outdoors(rng, room, rate, 0.4, 0.15)


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
    wings = formants([(230, 120, 1.0), (480, 200, 0.8), (950, 500, 0.5), (2600, 1500, 0.2)])
    for _ in range(max(4, round(seconds * 1.2))):
        length, root = rng.uniform(1.5, 4.0), rng.uniform(180, 270)
        time = instants(length, rate)
        drift = 1 + 0.06 * wander(rng, len(time), rate, 4)
        fly = buzz(rough(rng, root * drift, rate, 0.03), rate, wings)
        near = 10 ** rng.uniform(-0.9, 0)
        fly *= (near * swell(len(fly), 0.4 * length, 0.4 * length, rate)).astype(np.float32)
        place(room, fly, rng.uniform(-0.3, seconds - 0.6), rate)
    return room
