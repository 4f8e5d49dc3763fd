"""People: voices that say nothing, steps, work, machines and bells."""

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
    ring,
    silence,
    swell,
    wander,
)

Generator = np.random.Generator
VOWELS = (  # formants, in Hz
    (730, 1090, 2440),
    (270, 2290, 3010),
    (300, 870, 2240),
    (530, 1840, 2480),
    (570, 840, 2410),
)
PARTIALS = (  # of a bell: how high above its strike note, how strong, how long
    (0.5, 0.5, 1.0),
    (1.0, 0.8, 0.7),
    (1.2, 0.7, 0.6),
    (1.5, 0.35, 0.4),
    (2.0, 1.0, 0.45),
    (2.67, 0.35, 0.25),
    (3.0, 0.3, 0.2),
    (4.1, 0.25, 0.14),
)


def syllable(rng: Generator, rate: int, root: float, tract: float) -> Sound:
    """A vowel, often with a consonant of noise before it."""
    vowel, length = VOWELS[int(rng.integers(len(VOWELS)))], rng.uniform(0.12, 0.26)
    peaks = [(f * tract, 70 + 0.05 * f, g) for f, g in zip(vowel, (1.0, 0.6, 0.3), strict=True)]
    steps = root * rng.uniform(0.9, 1.15), root * rng.uniform(0.85, 1.1)
    voice = buzz(contour([(0, steps[0]), (1, steps[1])], length, rate), rate, formants(peaks, 6))
    voice /= np.float32(voice.std() + 1e-9)
    voice *= swell(len(voice), 0.04, 0.06, rate).astype(np.float32)
    if rng.random() < 0.4:
        puff = noise(rng, 0.05, rate, band(2200, 5500)) * np.float32(0.25)
        place(voice, puff * swell(len(puff), 0.01, 0.02, rate).astype(np.float32), 0.0, rate)
    return voice


def voice(rng: Generator, seconds: float, rate: int) -> Sound:
    """Somebody who talks, in phrases, without words."""
    room, at = silence(seconds, rate), rng.uniform(0, 0.3)
    high = rng.random() < 0.5
    root, tract = (rng.uniform(180, 235), 1.16) if high else (rng.uniform(95, 130), 1.0)
    while at < seconds - 0.15:
        for number in range(int(rng.integers(4, 10))):
            sound = syllable(rng, rate, root * (1.12 - 0.03 * number), tract)
            if at + len(sound) / rate > seconds:
                break
            place(room, sound, at, rate)
            at += len(sound) / rate * rng.uniform(0.9, 1.15)
        at += rng.uniform(0.2, 0.6)
    return room


def babble(rng: Generator, seconds: float, rate: int) -> Sound:
    """Several people who talk at once."""
    room = silence(seconds, rate)
    for _ in range(int(rng.integers(3, 7))):
        room += np.float32(10 ** rng.uniform(-0.5, 0)) * voice(rng, seconds, rate)
    return room


def footsteps(rng: Generator, seconds: float, rate: int) -> Sound:
    """Somebody who walks by on gravel or stone."""
    room, pace = silence(seconds, rate), rng.uniform(0.46, 0.6)
    gravel, low = rng.random() < 0.5, rng.uniform(70, 110)
    loud = np.sin(np.pi * np.linspace(0.1, 0.9, int(seconds / pace) + 1))
    for number, at in enumerate(np.arange(0.05, seconds - 0.25, pace)):
        heel = ring([(low, 1.0, 0.03), (2.7 * low, 0.6, 0.015), (9 * low, 0.3, 0.008)], 0.12, rate)
        length = 0.16 if gravel else 0.05
        sole = noise(rng, length, rate, band(1200, 5500, 1.0))
        sole *= (swell(len(sole), 0.03, 0.6 * length, rate) * (0.45 if gravel else 0.15)).astype(
            "f4"
        )
        strength = np.float32(loud[number] * rng.uniform(0.8, 1.0))
        place(room, strength * heel, at, rate)
        place(room, strength * sole, at + 0.01, rate)
    return room


def hammer(rng: Generator, seconds: float, rate: int) -> Sound:
    """Blows on wood or metal, in runs."""
    room, at, root = silence(seconds, rate), 0.0, rng.uniform(380, 900)
    lasting = rng.choice([0.03, 0.12])
    modes = [
        (root * k, s, lasting / k**0.5) for k, s in ((1, 1.0), (2.76, 0.7), (5.4, 0.5), (8.9, 0.3))
    ]
    while at < seconds - 0.3:
        for _ in range(int(rng.integers(3, 7))):
            if at < seconds - 0.3:
                blow = ring(modes, 0.3, rate, 0.0005)
                click = noise(rng, 0.02, rate, band(700, 5000, 1.0))
                place(blow, click * np.exp(-instants(0.02, rate) * 250).astype("f4"), 0.0, rate)
                place(room, np.float32(rng.uniform(0.6, 1.0)) * blow, at, rate)
            at += rng.uniform(0.36, 0.46)
        at += rng.uniform(0.4, 1.0)
    return room


def saw(rng: Generator, seconds: float, rate: int) -> Sound:
    """A handsaw, to and fro."""
    room, at, stroke = silence(seconds, rate), 0.0, rng.uniform(0.38, 0.5)
    for number in range(int(seconds / stroke)):
        low = 900 if number % 2 else 1300
        teeth = noise(rng, 0.85 * stroke, rate, formants([(low, 500, 1.0), (2.6 * low, 900, 0.7)]))
        rasp = 1 + 0.6 * np.sin(2 * np.pi * 85 * instants(0.85 * stroke, rate)[: len(teeth)])
        teeth = (teeth * rasp * swell(len(teeth), 0.12, 0.1, rate)).astype(np.float32)
        place(room, teeth, at, rate)
        at += stroke
    return room


def machine(rng: Generator, seconds: float, rate: int) -> Sound:
    """A motor that runs and works: a mower, a pump."""
    time = instants(seconds, rate)
    fires = rng.uniform(42, 62) * (1 + 0.02 * wander(rng, len(time), rate, 0.6))
    motor = buzz(fires, rate, formants([(110, 90, 1.0), (330, 200, 0.7), (900, 600, 0.4)]))
    motor /= np.float32(motor.std() + 1e-9)
    blade = noise(rng, seconds, rate, band(500, 3200, 1.0))[: len(motor)]
    load = 1 + 0.15 * wander(rng, len(motor), rate, 0.4)
    return np.asarray((motor + 0.3 * blade) * load, np.float32)


def bells(rng: Generator, seconds: float, rate: int) -> Sound:
    """One stroke of a church bell."""
    root = 330 * 2 ** rng.choice([0.0, 2 / 12, 4 / 12])
    modes = [(root * k * rng.uniform(0.998, 1.002), s, 0.35 * seconds * d) for k, s, d in PARTIALS]
    stroke = ring(modes, seconds, rate)
    clang = noise(rng, 0.03, rate, band(1500, 5000)) * np.float32(0.5)
    place(stroke, clang * np.exp(-instants(0.03, rate) * 150).astype("f4"), 0.0, rate)
    return stroke
