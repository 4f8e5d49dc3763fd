"""Weather and water, and the quiet under everything."""

from __future__ import annotations

import numpy as np

from earwitness.soundscapes.tones import (
    Sound,
    band,
    falling,
    instants,
    noise,
    place,
    swell,
    wander,
)

Generator = np.random.Generator


def background(rng: Generator, seconds: float, rate: int) -> Sound:
    """The far hum of everything: what is heard when nothing is."""
    return noise(rng, seconds, rate, falling(120, 5))


def wind(rng: Generator, seconds: float, rate: int) -> Sound:
    """Gusts: the stronger, the higher."""
    low = noise(rng, seconds, rate, falling(90, 7))
    middle = noise(rng, seconds, rate, band(250, 700))
    high = noise(rng, seconds, rate, band(700, 1600))
    gust = np.exp(0.55 * wander(rng, len(low), rate, 0.5))
    return np.asarray(
        low * gust**0.7 + 0.5 * middle * gust**1.6 + 0.16 * high * gust**2.2, np.float32
    )


def rain(rng: Generator, seconds: float, rate: int) -> Sound:
    """A hiss, and drops on leaves and sills."""
    room = 0.30 * noise(rng, seconds, rate, band(900, 7000, 1.0))
    room *= (1 + 0.12 * wander(rng, len(room), rate, 0.8)).astype(np.float32)
    for _ in range(round(55 * seconds)):
        pitch, near = rng.uniform(900, 3600), 10 ** rng.uniform(-0.9, 0.25)
        time = instants(rng.uniform(0.004, 0.012), rate)
        drop = near * np.sin(2 * np.pi * pitch * time) * np.exp(-time * 500)
        place(room, drop.astype(np.float32), rng.uniform(0, seconds), rate)
    return room.astype(np.float32)


def thunder(rng: Generator, seconds: float, rate: int) -> Sound:
    """A crack far away, and what rolls after it."""
    rumble = noise(rng, seconds, rate, falling(60, 8))
    crack = noise(rng, seconds, rate, band(150, 900, 1.0))
    time = instants(seconds, rate)[: len(rumble)]
    roll = np.exp(-time / (0.35 * seconds)) * np.exp(0.8 * wander(rng, len(rumble), rate, 2.2))
    first = np.exp(-time / 0.5)
    found = (rumble * roll + 0.5 * crack * first) * swell(len(rumble), 0.05, 0.3 * seconds, rate)
    return np.asarray(found, np.float32)


def brook(rng: Generator, seconds: float, rate: int) -> Sound:
    """Water over stones: bubbles that rise in pitch as they close."""
    room = 0.12 * noise(rng, seconds, rate, band(350, 2500, 1.0))
    for _ in range(round(70 * seconds)):
        pitch, length = 350 * 2 ** rng.uniform(0, 2.6), rng.uniform(0.02, 0.06)
        time = instants(length, rate)
        bubble = np.sin(2 * np.pi * pitch * time * (1 + 2.5 * time)) * np.exp(-time * 60)
        near = 10 ** rng.uniform(-1.0, 0)
        bubble *= near * swell(len(time), 0.003, 0.01, rate)
        place(room, bubble.astype(np.float32), rng.uniform(0, seconds), rate)
    return room.astype(np.float32)
