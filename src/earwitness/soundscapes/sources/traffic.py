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
    outdoors,
    place,
    rough,
    silence,
    swell,
    tone,
    wander,
)

Generator = np.random.Generator


def passing(seconds: float, rate: int, speed: float, near: float) -> tuple[Curve, Curve]:
    """How loud and how high something is that passes in the middle: speed in m/s, metres apart."""
    along = speed * (instants(seconds, rate) - seconds / 2)
    apart = np.sqrt(along**2 + near**2)
    return near / apart, 1 / (1 + speed / 340 * along / apart)


def car(rng: Generator, seconds: float, rate: int) -> Sound:
    """Tyres and a motor."""
    loud, high = passing(seconds, rate, rng.uniform(11, 18), rng.uniform(0.8, 1.4) * seconds)
    rumble = noise(rng, seconds, rate, band(60, 350, 1.0))
    tyres = noise(rng, seconds, rate, formants([(850, 700, 1.0), (1500, 1100, 0.45)]))
    hiss = noise(rng, seconds, rate, band(1500, 3500))
    fires = rough(rng, rng.uniform(60, 95) * high, rate, 0.02)
    motor = buzz(fires, rate, formants([(130, 100, 1.0), (350, 250, 0.6), (900, 600, 0.2)]))
    motor /= np.float32(motor.std() + 1e-9)
    mixed = 0.5 * rumble * loud**1.3 + 0.8 * tyres * loud**2.5
    mixed += 0.2 * hiss * loud**5 + 0.5 * motor * loud**1.5
    return np.asarray(mixed * swell(len(mixed), 0.25 * seconds, 0.3 * seconds, rate), np.float32)


def motorbike(rng: Generator, seconds: float, rate: int) -> Sound:
    """A motor that is driven up through its gears."""
    loud, high = passing(seconds, rate, rng.uniform(16, 24), rng.uniform(0.8, 1.2) * seconds)
    gear = (instants(seconds, rate) / seconds * rng.uniform(1.3, 1.7)) % 1
    fires = rough(rng, rng.uniform(65, 77) * (1 + 0.54 * gear) * high, rate, 0.08)
    motor = buzz(fires, rate, formants([(160, 180, 1.0), (493, 330, 0.65), (1700, 400, 0.28)]))
    motor = np.tanh(2.7 * motor / np.float32(motor.std() + 1e-9))
    beat = 1 + 0.38 * np.sin(2 * np.pi * np.cumsum(fires) / rate)
    exhaust = noise(rng, seconds, rate, band(307, 4050, 1.0))[: len(motor)] * beat
    mixed = (motor + 0.41 * exhaust) * loud**2.0
    return np.asarray(mixed * swell(len(mixed), 0.2 * seconds, 0.25 * seconds, rate), np.float32)


def train(rng: Generator, seconds: float, rate: int) -> Sound:
    """A rumble and a hum, and wheels over the joints of rails, two and two."""
    loud, _ = passing(seconds, rate, 25, 9 * seconds)
    rumble = noise(rng, seconds, rate, falling(140, 5))
    steel = formants([(1065, 105, 1.0), (2340, 210, 0.5)])
    mixed = rumble * loud + 0.47 * noise(rng, seconds, rate, steel) * loud**2
    room = np.asarray(mixed, np.float32)
    thud = noise(rng, 0.12, rate, band(250, 600, 1.0))
    thud *= np.exp(-instants(0.12, rate)[: len(thud)] * 26).astype(np.float32) * np.float32(3.5)
    for at in np.arange(0.1 * seconds, 0.9 * seconds, rng.uniform(0.82, 0.94)):
        here = np.float32(loud[min(len(loud) - 1, round(at * rate))])
        place(room, here * thud, at, rate)
        place(room, np.float32(0.8) * here * thud, at + 0.11, rate)
    return np.asarray(room * swell(len(room), 0.2 * seconds, 0.2 * seconds, rate), np.float32)


def aeroplane(rng: Generator, seconds: float, rate: int) -> Sound:
    """A motor overhead: a drone whose pitch falls slowly, and a roar that rolls."""
    loud, high = passing(seconds, rate, 80, 22 * seconds)
    count = len(loud)
    roll = 1 + 0.2 * wander(rng, count, rate, 1.5)
    roar = noise(rng, seconds, rate, band(60, 280))
    fires = rough(rng, rng.uniform(75, 110) * high**1.3, rate, 0.015)
    drone = buzz(fires, rate, formants([(110, 80, 1.0), (240, 140, 0.8), (520, 350, 0.4)]))
    drone /= np.float32(drone.std() + 1e-9)
    mixed = (0.9 * roar * roll + drone * (1 + 0.2 * wander(rng, count, rate, 0.7))) * loud**1.3
    return np.asarray(mixed * swell(count, 0.4 * seconds, 0.45 * seconds, rate), np.float32)


def siren(rng: Generator, seconds: float, rate: int) -> Sound:
    """An ambulance that passes: two tones a fourth apart, or a wail."""
    loud, high = passing(seconds, rate, rng.uniform(12, 18), 2.4 * seconds)
    time, wails = instants(seconds, rate), rng.random() < 0.5
    turn = np.sin(2 * np.pi * time / (rng.uniform(3.0, 4.5) if wails else rng.uniform(1.0, 1.4)))
    low, wide = (850, 0.42) if wails else (rng.uniform(500, 520), 0.14)
    pitch = low * (1 + wide * (turn if wails else np.tanh(8 * turn))) * high
    horn = tone(pitch, rate, (0.8, 0.5, 1.0, 0.3, 0.5, 0.15, 0.2))
    mixed = horn * loud**1.5 * swell(len(horn), 1.0, 1.5, rate)
    street = noise(rng, seconds, rate, band(80, 700, 1.0))[: len(horn)] * loud**2
    return outdoors(rng, np.asarray(mixed + 0.25 * street, np.float32), rate, 0.6, 0.3)


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
