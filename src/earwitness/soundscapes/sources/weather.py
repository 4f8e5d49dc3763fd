"""Weather and water, and the quiet under everything."""

from __future__ import annotations

import numpy as np

from earwitness.soundscapes.tones import (
    Sound,
    band,
    falling,
    formants,
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
    """Gusts that push low and howl a little around corners."""
    low = noise(rng, seconds, rate, falling(60, 9))
    gust = np.exp(0.5 * wander(rng, len(low), rate, 0.6))
    found = low * gust * (1 + 0.12 * wander(rng, len(low), rate, 2))
    for centre in (280, 420, 610, 850):
        howl = noise(rng, seconds, rate, formants([(centre, 180, 1.0)]))
        found += 0.05 * howl * np.maximum(0, gust - 0.6) * np.exp(wander(rng, len(low), rate, 0.9))
    leaves = noise(rng, seconds, rate, band(1200, 4000, 1.0))
    return np.asarray(found + 0.05 * leaves * gust**1.5, np.float32)


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
    rumble = noise(rng, seconds, rate, falling(208, 10))
    time = instants(seconds, rate)[: len(rumble)]
    roll = np.exp(-time / (0.57 * seconds)) * np.exp(0.9 * wander(rng, len(rumble), rate, 1.7))
    roll *= 1 + 0.22 * wander(rng, len(rumble), rate, 5.2)
    crack = noise(rng, seconds, rate, band(390, 4000, 1.0)) * np.exp(-time / 0.1)
    found = (rumble * roll + 0.6 * crack) * swell(len(rumble), 0.02, 0.4 * seconds, rate)
    return np.asarray(found, np.float32)


def brook(rng: Generator, seconds: float, rate: int) -> Sound:
    """Water over stones: a rush, and bubbles that rise in pitch as they close."""
    rush = noise(rng, seconds, rate, band(400, 3500, 1.0))
    room = (0.25 * rush * (1 + 0.2 * wander(rng, len(rush), rate, 7))).astype(np.float32)
    for _ in range(round(160 * seconds)):
        pitch, length = 450 * 2 ** rng.uniform(0, 2.6), rng.uniform(0.008, 0.03)
        time = instants(length, rate)
        bubble = np.sin(2 * np.pi * pitch * time * (1 + 6 * time)) * np.exp(-time * 140)
        near = 10 ** rng.uniform(-1.2, -0.15)
        bubble *= near * swell(len(time), 0.002, 0.004, rate)
        place(room, bubble.astype(np.float32), rng.uniform(0, seconds), rate)
    return room
