"""What passes: each comes near and goes, and its pitch falls as it does."""

from __future__ import annotations

import numpy as np

from earwitness.soundscapes.tones import (
    Curve,
    Sound,
    band,
    buzz,
    falling,
    formants,
    instants,
    noise,
    place,
    silence,
    swell,
    tone,
)

Generator = np.random.Generator


def passing(seconds: float, rate: int, speed: float, near: float) -> tuple[Curve, Curve]:
    """How loud and how high something is that passes in the middle: speed in m/s, metres apart."""
    along = speed * (instants(seconds, rate) - seconds / 2)
    apart = np.sqrt(along**2 + near**2)
    return near / apart, 1 / (1 + speed / 340 * along / apart)


def car(rng: Generator, seconds: float, rate: int) -> Sound:
    """Tyres and a motor."""
    near = rng.uniform(0.9, 1.6)
    loud, high = passing(seconds, rate, rng.uniform(9, 18), near * seconds)
    rumble = noise(rng, seconds, rate, falling(70, 6))
    tyres = noise(rng, seconds, rate, band(600, 1700, 1.2))
    hiss = noise(rng, seconds, rate, band(1500, 4500, 1.2))
    motor = tone(rng.uniform(55, 95) * high, rate, (1.0, 0.8, 0.4, 0.5, 0.2, 0.15))
    mixed = (
        rumble * loud**1.5 + 0.7 * tyres * loud**3 + 0.3 * hiss * loud**5 + 0.25 * motor * loud**2
    )
    return np.asarray(mixed * swell(len(mixed), 0.25 * seconds, 0.3 * seconds, rate), np.float32)


def motorbike(rng: Generator, seconds: float, rate: int) -> Sound:
    """A motor that is driven up through its gears."""
    loud, high = passing(seconds, rate, rng.uniform(14, 24), rng.uniform(1.0, 1.8) * seconds)
    time = instants(seconds, rate)
    gear = (time / seconds * rng.uniform(2.2, 3.2)) % 1
    fires = rng.uniform(55, 75) * (1 + 0.75 * gear) * high
    motor = buzz(fires, rate, formants([(160, 120, 1.0), (420, 240, 0.8), (1100, 900, 0.5)]))
    motor /= np.float32(motor.std() + 1e-9)
    air = noise(rng, seconds, rate, band(400, 2500, 1.0))
    mixed = (motor + 0.25 * air) * loud**2.5
    return np.asarray(mixed * swell(len(mixed), 0.2 * seconds, 0.25 * seconds, rate), np.float32)


def train(rng: Generator, seconds: float, rate: int) -> Sound:
    """A rumble and a hum, and wheels over the joints of rails, two and two."""
    loud, _ = passing(seconds, rate, 25, 9 * seconds)
    rumble = noise(rng, seconds, rate, falling(100, 5))
    metal = noise(rng, seconds, rate, formants([(950, 160, 1.0), (2100, 300, 0.5), (420, 80, 0.8)]))
    mixed = np.asarray(rumble * loud + 0.35 * metal * loud**2, np.float32)
    beat = rng.uniform(0.62, 0.85)
    thud = noise(rng, 0.09, rate, band(120, 1200, 1.0))
    thud *= np.exp(-instants(0.09, rate)[: len(thud)] * 45).astype(np.float32) * np.float32(2.2)
    for at in np.arange(0.1 * seconds, 0.9 * seconds, beat):
        here = np.float32(loud[min(len(loud) - 1, round(at * rate))])
        place(mixed, here * thud, at, rate)
        place(mixed, np.float32(0.8) * here * thud, at + 0.13, rate)
    return np.asarray(mixed * swell(len(mixed), 0.2 * seconds, 0.2 * seconds, rate), np.float32)


def aeroplane(rng: Generator, seconds: float, rate: int) -> Sound:
    """A broad roar overhead whose whine falls slowly."""
    loud, high = passing(seconds, rate, 90, 24 * seconds)
    roar = noise(rng, seconds, rate, band(70, 500, 0.8))
    above = noise(rng, seconds, rate, band(400, 1800, 1.0))
    whine = tone(rng.uniform(380, 560) * high**1.6, rate, (1.0, 0.4, 0.2))
    fan = tone(rng.uniform(95, 130) * high**1.6, rate, (1.0, 0.6, 0.5, 0.3))
    mixed = roar * loud + 0.3 * above * loud**3 + 0.10 * whine * loud**2 + 0.25 * fan * loud
    return np.asarray(mixed * swell(len(mixed), 0.4 * seconds, 0.45 * seconds, rate), np.float32)


def siren(rng: Generator, seconds: float, rate: int) -> Sound:
    """Two tones a fourth apart, as European ambulances have, that pass."""
    loud, high = passing(seconds, rate, rng.uniform(12, 18), 2.4 * seconds)
    time, root = instants(seconds, rate), rng.uniform(425, 445)
    turn = np.tanh(8 * np.sin(2 * np.pi * time / rng.uniform(1.0, 1.4)))
    pitch = root * (1 + 1 / 6 + turn / 6) * high
    horn = tone(pitch, rate, (0.7, 1.0, 0.5, 0.5, 0.25, 0.15))
    return np.asarray(horn * loud**1.5 * swell(len(horn), 1.0, 1.5, rate), np.float32)


def bicycle(rng: Generator, seconds: float, rate: int) -> Sound:
    """A freewheel that ticks past, and its bell."""
    room = silence(seconds, rate)
    loud, _ = passing(seconds, rate, 5, 0.9 * seconds)
    tick = noise(rng, 0.006, rate, band(2000, 6000))
    for at in np.arange(0.05, seconds - 0.05, rng.uniform(0.035, 0.05)):
        place(room, np.float32(0.35 * loud[round(at * rate)]) * tick, at, rate)
    pitch, time = rng.uniform(2300, 2900), instants(0.9, rate)
    trill = 0.6 + 0.4 * np.sign(np.sin(2 * np.pi * 14 * time))
    bell = np.exp(-time / 0.3) * trill
    bell *= np.sin(2 * np.pi * pitch * time) + 0.5 * np.sin(2 * np.pi * 2.1 * pitch * time)
    place(room, bell.astype(np.float32), 0.35 * seconds, rate)
    return np.asarray(room * swell(len(room), 0.5, 0.6, rate), np.float32)
