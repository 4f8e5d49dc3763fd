"""Synthetic voices, steps, machines, bells and traffic."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from earwitness.soundscapes.synthesis import (
    Curve,
    Sound,
    SoundParts,
    band,
    buzz,
    contour,
    fade,
    falling,
    formants,
    growl,
    instants,
    noise,
    outdoors,
    place,
    ring,
    rough,
    scattered,
    silence,
    swell,
    tone,
    wander,
)

# --- Voices, work and bells ----------------------------------------------------------------------


VOWEL_FORMANTS_HZ = (  # formant frequencies
    (730, 1090, 2440),
    (270, 2290, 3010),
    (300, 870, 2240),
    (530, 1840, 2480),
    (570, 840, 2410),
)
STRUCK_MODES = ((1, 1.0), (2.76, 0.7), (5.4, 0.5), (8.9, 0.3))  # frequency ratio and strength
BELL_PARTIALS = (  # frequency ratio to the strike note, strength, decay
    (0.5, 0.5, 1.0),
    (1.0, 0.8, 0.7),
    (1.2, 0.7, 0.6),
    (1.5, 0.35, 0.4),
    (2.0, 1.0, 0.45),
    (2.67, 0.35, 0.25),
    (3.0, 0.3, 0.2),
    (4.1, 0.4, 0.14),
    (5.4, 0.4, 0.1),
    (6.8, 0.3, 0.08),
    (8.2, 0.2, 0.06),
)


def syllable(rng: Generator, rate: int, root: float, tract: float) -> Sound:
    """A vowel, often with a consonant of noise before it."""
    vowel, length = (
        VOWEL_FORMANTS_HZ[int(rng.integers(len(VOWEL_FORMANTS_HZ)))],
        rng.uniform(0.09, 0.22),
    )
    peaks = [(f * tract, 70 + 0.05 * f, g) for f, g in zip(vowel, (1.0, 0.6, 0.3), strict=True)]
    steps = root * rng.uniform(0.8, 1.3), root * rng.uniform(0.75, 1.2)
    voice = buzz(contour([(0, steps[0]), (1, steps[1])], length, rate), rate, formants(peaks, 6))
    voice /= np.float32(voice.std() + 1e-9)
    voice *= swell(len(voice), 0.04, 0.06, rate).astype(np.float32)
    if rng.random() < 0.4:
        puff = noise(rng, 0.05, rate, band(2200, 5500)) * np.float32(0.25)
        place(voice, puff * swell(len(puff), 0.01, 0.02, rate).astype(np.float32), 0.0, rate)
    return voice


@scattered()
def voice(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A person talking in phrases, without words."""
    at = rng.uniform(0, 0.3)
    high = rng.random() < 0.5
    root, tract = (rng.uniform(180, 235), 1.16) if high else (rng.uniform(95, 130), 1.0)
    while at < seconds - 0.15:
        for number in range(int(rng.integers(4, 10))):
            sound = syllable(rng, rate, root * (1.12 - 0.03 * number), tract)
            if at + len(sound) / rate > seconds:
                break
            yield sound, at
            at += len(sound) / rate * rng.uniform(0.9, 1.15)
        at += rng.uniform(0.2, 0.6)


@scattered(0.5, 0.15)
def babble(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Many people talking at once, near and far."""
    for _ in range(int(rng.integers(4, 7))):
        yield np.float32(10 ** rng.uniform(-0.8, 0)) * voice(rng, seconds, rate), 0.0


@scattered()
def footsteps(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A person walking past on gravel."""
    pace = rng.uniform(0.48, 0.58)
    loud = np.sin(np.pi * np.linspace(0.15, 0.85, int(seconds / pace) + 1))
    for number, at in enumerate(np.arange(0.05, seconds - 0.35, pace)):
        strength = loud[number] * rng.uniform(0.7, 1.0)
        yield _step(rng, rate, strength), at + rng.uniform(0, 0.02)


def _step(rng: Generator, rate: int, strength: float) -> Sound:
    """One step: heel, then sole, each with a grinding noise."""
    room = silence(0.32, rate)
    for at, share, length in ((0.0, 1.0, 0.058), (0.152, 0.375, 0.147)):
        knock = noise(rng, 0.05, rate, band(212, 624, 1.0))
        knock *= (0.19 * share * swell(len(knock), 0.013, 0.04, rate)).astype(np.float32)
        place(room, knock, at, rate)
        grind = noise(rng, length, rate, band(1300, 3260, 1.0))
        crumbs = np.maximum(0, wander(rng, len(grind), rate, 180)) ** 1.8
        crumbs *= 0.42 * share * swell(len(grind), 0.37 * length, 0.5 * length, rate)
        grind *= crumbs.astype(np.float32)
        place(room, grind, at, rate)
    return np.asarray(strength * room, np.float32)


@scattered(0.4, 0.15)
def hammer(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Hammering on wood or metal, in bursts."""
    at, root = 0.0, rng.uniform(320, 700)
    lasting = float(rng.choice([0.012, 0.035]))
    modes = [(root * k, s, lasting / k**0.3) for k, s in STRUCK_MODES]
    while at < seconds - 0.3:
        for _ in range(int(rng.integers(3, 7))):
            if at < seconds - 0.3:
                blow = np.float32(0.25) * ring(modes, 0.25, rate, 0.0005)
                click = noise(rng, 0.08, rate, band(300, 4500, 1.0))
                click *= np.exp(-instants(0.08, rate) * 110).astype(np.float32)
                place(blow, click, 0.0, rate)
                yield np.float32(rng.uniform(0.6, 1.0)) * blow, at
            at += rng.uniform(0.34, 0.46)
        at += rng.uniform(0.4, 1.0)


@scattered(0.25, 0.1)
def saw(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A handsaw, back and forth."""
    at, stroke = 0.0, rng.uniform(0.42, 0.55)
    for number in range(int(seconds / stroke)):
        length, low = 0.88 * stroke, 1300 if number % 2 else 1700
        teeth = noise(rng, length, rate, band(low, 6500, 1.5))
        bite = contour([(0, 90), (0.5, 170), (1, 110)], length, rate)
        rasp = (0.5 + 0.5 * np.sin(2 * np.pi * np.cumsum(bite) / rate))[: len(teeth)] ** 2
        yield fade(teeth * (0.8 + rasp), 0.15, 0.12, rate), at
        at += stroke


def machine(rng: Generator, seconds: float, rate: int) -> Sound:
    """A running motor under load, such as a mower or a pump."""
    time = instants(seconds, rate)
    turns = rng.uniform(48, 68) * (1 + 0.03 * wander(rng, len(time), rate, 0.6))
    body = formants([(120, 80, 1.0), (380, 260, 0.9), (1000, 800, 0.5)])
    motor = growl(rng, turns, rate, 0.05, body)
    beat = 1 + 0.5 * np.sin(2 * np.pi * np.cumsum(turns) / rate)
    blade = noise(rng, seconds, rate, band(250, 2200, 1.0))[: len(motor)] * beat
    load = 1 + 0.15 * wander(rng, len(motor), rate, 0.4)
    return np.asarray((motor + 0.5 * blade) * load, np.float32)


def bells(rng: Generator, seconds: float, rate: int) -> Sound:
    """One stroke of a church bell: partials beat, and high ones decay first."""
    root = 415 * 2 ** rng.choice([0.0, 2 / 12, 4 / 12])
    modes = [
        (root * k * (1 + side), s, 0.3 * seconds * d)
        for k, s, d in BELL_PARTIALS
        for side in rng.uniform(0, 0.003, 2)
    ]
    stroke = ring(modes, seconds, rate)
    clang = noise(rng, 0.08, rate, band(1500, 6000))
    place(stroke, clang * np.exp(-instants(0.08, rate) * 60).astype(np.float32), 0.0, rate)
    return outdoors(rng, stroke, rate, 0.7, 0.5)


# --- Passing traffic -----------------------------------------------------------------------------


def passing(seconds: float, rate: int, speed: float, near: float) -> tuple[Curve, Curve]:
    """Return gain and Doppler ratio of a source passing at ``speed`` m/s, ``near`` metres away."""
    along = speed * (instants(seconds, rate) - seconds / 2)
    apart = np.sqrt(along**2 + near**2)
    return near / apart, 1 / (1 + speed / 340 * along / apart)


def car(rng: Generator, seconds: float, rate: int) -> Sound:
    """A passing car: tyres and engine."""
    loud, high = passing(seconds, rate, rng.uniform(11, 18), rng.uniform(0.8, 1.4) * seconds)
    rumble = noise(rng, seconds, rate, band(60, 350, 1.0))
    tyres = noise(rng, seconds, rate, formants([(850, 700, 1.0), (1500, 1100, 0.45)]))
    hiss = noise(rng, seconds, rate, band(1500, 3500))
    engine = formants([(130, 100, 1.0), (350, 250, 0.6), (900, 600, 0.2)])
    motor = growl(rng, rng.uniform(60, 95) * high, rate, 0.02, engine)
    mixed = 0.5 * rumble * loud**1.3 + 0.8 * tyres * loud**2.5
    mixed += 0.2 * hiss * loud**5 + 0.5 * motor * loud**1.5
    return fade(mixed, 0.25 * seconds, 0.3 * seconds, rate)


def motorbike(rng: Generator, seconds: float, rate: int) -> Sound:
    """A motorbike that accelerates through its gears."""
    loud, high = passing(seconds, rate, rng.uniform(16, 24), rng.uniform(0.8, 1.2) * seconds)
    gear = (instants(seconds, rate) / seconds * rng.uniform(1.3, 1.7)) % 1
    fires = rough(rng, rng.uniform(65, 77) * (1 + 0.54 * gear) * high, rate, 0.08)
    motor = buzz(fires, rate, formants([(160, 180, 1.0), (493, 330, 0.65), (1700, 400, 0.28)]))
    motor = np.tanh(2.7 * motor / np.float32(motor.std() + 1e-9))
    beat = 1 + 0.38 * np.sin(2 * np.pi * np.cumsum(fires) / rate)
    exhaust = noise(rng, seconds, rate, band(307, 4050, 1.0))[: len(motor)] * beat
    return fade((motor + 0.41 * exhaust) * loud**2.0, 0.2 * seconds, 0.25 * seconds, rate)


def train(rng: Generator, seconds: float, rate: int) -> Sound:
    """A passing train: rumble, hum, and pairs of wheels over rail joints."""
    loud, _ = passing(seconds, rate, 25, 9 * seconds)
    rumble = noise(rng, seconds, rate, falling(140, 5))
    steel = formants([(1065, 105, 1.0), (2340, 210, 0.5)])
    mixed = rumble * loud + 0.47 * noise(rng, seconds, rate, steel) * loud**2
    room = np.asarray(mixed, np.float32)
    thud = noise(rng, 0.12, rate, band(250, 600, 1.0))
    thud *= np.exp(-instants(0.12, rate)[: len(thud)] * 26).astype(np.float32) * np.float32(3.5)
    for at in np.arange(0.1 * seconds, 0.9 * seconds, rng.uniform(0.82, 0.94)):
        gain = np.float32(loud[min(len(loud) - 1, round(at * rate))])
        place(room, gain * thud, at, rate)
        place(room, np.float32(0.8) * gain * thud, at + 0.11, rate)
    return fade(room, 0.2 * seconds, 0.2 * seconds, rate)


def aeroplane(rng: Generator, seconds: float, rate: int) -> Sound:
    """A propeller aircraft overhead: a slowly falling drone and a rolling roar."""
    loud, high = passing(seconds, rate, 80, 22 * seconds)
    count = len(loud)
    roll = 1 + 0.2 * wander(rng, count, rate, 1.5)
    roar = noise(rng, seconds, rate, band(60, 280))
    engine = formants([(110, 80, 1.0), (240, 140, 0.8), (520, 350, 0.4)])
    drone = growl(rng, rng.uniform(75, 110) * high**1.3, rate, 0.015, engine)
    mixed = (0.9 * roar * roll + drone * (1 + 0.2 * wander(rng, count, rate, 0.7))) * loud**1.3
    return fade(mixed, 0.4 * seconds, 0.45 * seconds, rate)


def siren(rng: Generator, seconds: float, rate: int) -> Sound:
    """A passing ambulance: two tones a fourth apart, or a wail."""
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
    """A passing bicycle: a ticking freewheel and its bell."""
    room = silence(seconds, rate)
    loud, _ = passing(seconds, rate, 5, 0.9 * seconds)
    tick = noise(rng, 0.006, rate, band(2000, 6000))
    for at in np.arange(0.05, seconds - 0.05, rng.uniform(0.035, 0.05)):
        place(room, np.float32(0.35 * loud[round(at * rate)]) * tick, at, rate)
    pitch, time = rng.uniform(2300, 2900), instants(0.9, rate)
    trill = 0.6 + 0.4 * np.sign(np.sin(2 * np.pi * 14 * time))
    bell = np.exp(-time / 0.3) * trill
    bell *= np.sin(2 * np.pi * pitch * time) + 0.5 * np.sin(2 * np.pi * 2.1 * pitch * time)
    place(room, bell, 0.35 * seconds, rate)
    return fade(room, 0.5, 0.6, rate)
