"""Synthetic animals, birds, weather and water."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from earwitness.soundscapes.synthesis import (
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
    place,
    rough,
    scattered,
    swell,
    tone,
    wander,
)

# --- Farm, garden and pond animals ---------------------------------------------------------------


ROOSTER_NOTES = (  # start and length (share of the call), and pitches
    (0.00, 0.13, (1.0, 1.25)),
    (0.15, 0.09, (1.3, 1.35)),
    (0.26, 0.16, (1.25, 1.7)),
    (0.44, 0.56, (1.55, 1.75, 1.7, 1.5, 1.05)),
)


@scattered(0.2, 0.15)
def rooster(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Cock-a-doodle-doo: three short notes and a long one that falls."""
    root, length = rng.uniform(480, 580), min(seconds - 0.2, rng.uniform(1.9, 2.3))
    for start, share, steps in ROOSTER_NOTES:
        points = [(n / (len(steps) - 1), root * step) for n, step in enumerate(steps)]
        pitch = rough(rng, contour(points, share * length, rate), rate, 0.012)
        voice = tone(pitch, rate, (0.5, 1.0, 0.9, 0.6, 0.5, 0.35, 0.2, 0.1))
        hoarse = np.float32(0.12) * noise(rng, share * length, rate, band(900, 4000))
        yield fade(voice + hoarse[: len(voice)], 0.02, 0.06, rate), start * length


@scattered(0.4, 0.15)
def dog(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Barks, single or in pairs."""
    at, root = 0.0, rng.uniform(300, 480)
    throat = formants([(0.9 * root, 200, 0.8), (2.1 * root, 350, 1.0), (1900, 700, 0.4)])
    while at < seconds - 0.25:
        length = rng.uniform(0.15, 0.21)
        steps = [(0, 0.8 * root), (0.25, 1.35 * root), (0.5, 1.25 * root), (1, 0.6 * root)]
        voice = growl(rng, contour(steps, length, rate), rate, 0.07, throat)
        breath = np.float32(0.4) * noise(rng, length, rate, band(500, 2500))[: len(voice)]
        yield (voice + breath) * swell(len(voice), 0.02, 0.12, rate).astype(np.float32), at
        at += length + (rng.uniform(0.1, 0.2) if rng.random() < 0.5 else rng.uniform(0.35, 0.7))


@scattered()
def frogs(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A pond of frogs answering each other."""
    for _ in range(int(rng.integers(4, 7))):
        root, at = rng.uniform(450, 900), rng.uniform(0, 0.8)
        throat = formants([(root * 2, 220, 1.0), (root * 3.1, 400, 0.6)])
        near = np.float32(10 ** rng.uniform(-0.8, 0))
        while at < seconds:
            length = rng.uniform(0.35, 0.6)
            pulses = contour([(0, 26), (0.5, 38), (1, 34)], length, rate)
            croak = buzz(pulses, rate, throat)
            croak *= swell(len(croak), 0.08, 0.12, rate).astype(np.float32)
            yield near * croak, at
            at += length + rng.uniform(0.25, 0.9)


def crickets(rng: Generator, seconds: float, rate: int) -> Sound:
    """Several crickets, each with its own pitch and rate: chirps of a few pulses."""
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


@scattered()
def bees(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A hum of wings that swells and fades."""
    wings = formants([(230, 120, 1.0), (480, 200, 0.8), (950, 500, 0.5), (2600, 1500, 0.2)])
    for _ in range(max(4, round(seconds * 1.2))):
        length, root = rng.uniform(1.5, 4.0), rng.uniform(180, 270)
        time = instants(length, rate)
        drift = 1 + 0.06 * wander(rng, len(time), rate, 4)
        fly = buzz(rough(rng, root * drift, rate, 0.03), rate, wings)
        near = 10 ** rng.uniform(-0.9, 0)
        fly *= (near * swell(len(fly), 0.4 * length, 0.4 * length, rate)).astype(np.float32)
        yield fly, rng.uniform(-0.3, seconds - 0.6)


# --- Birds and dawn chorus -----------------------------------------------------------------------


def note(
    rate: int, seconds: float, *pitches: float, partials: tuple[float, ...] = (1.0, 0.12)
) -> Sound:
    """A whistle through evenly spaced pitches."""
    points = [(n / max(1, len(pitches) - 1), pitch) for n, pitch in enumerate(pitches)]
    pitch = contour(points, seconds, rate)
    edge = min(0.02, seconds / 4)
    return fade(tone(pitch, rate, partials), edge, 1.5 * edge, rate)


@scattered()
def blackbird(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Slow fluted motifs in thirds and fifths, and a thin twitter at the end."""
    at, root = 0.0, 1700 * 2 ** rng.uniform(-0.2, 0.2)
    while at < seconds * 0.65:
        step, length = rng.choice([1.0, 1.125, 1.25, 1.333, 1.5]), rng.uniform(0.14, 0.32)
        bend = rng.uniform(0.94, 1.06)
        yield note(rate, length, root * step, root * step * bend), at
        at += length + rng.uniform(0.02, 0.12)
    while at < seconds - 0.06:
        high = rng.uniform(4200, 6500)
        yield 0.25 * note(rate, 0.05, high, high * rng.uniform(0.7, 1.2)), at
        at += rng.uniform(0.06, 0.09)


@scattered()
def great_tit(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Two notes, high and low, over and over like a small pump."""
    high, low = rng.uniform(5200, 6200), rng.uniform(3600, 4300)
    beat = rng.uniform(0.26, 0.36)
    for at in np.arange(0, seconds - beat, beat):
        yield note(rate, 0.4 * beat, high, high * 0.97), at
        yield note(rate, 0.48 * beat, low * 1.04, low), at + 0.46 * beat


@scattered()
def wren(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A fast and loud song with a trill in the middle."""
    at = 0.0
    while at < seconds - 0.1:
        top, fall = rng.uniform(4800, 7000), rng.uniform(0.55, 0.8)
        speed, count = rng.uniform(0.035, 0.11), int(rng.integers(4, 14))
        for _ in range(count):
            if at < seconds - speed:
                yield note(rate, 0.8 * speed, top, top * fall), at
            at += speed


@scattered()
def sparrow(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Chirps without a tune."""
    at = 0.0
    while at < seconds - 0.15:
        low, length = rng.uniform(2300, 3000), rng.uniform(0.07, 0.13)
        yield note(rate, length, low, low * 1.7, low * 1.1, partials=(1.0, 0.45, 0.2)), at
        at += length + rng.uniform(0.12, 0.4)


@scattered()
def chiffchaff(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Single notes, now high, now low, like drops of water."""
    at = 0.0
    pitches = rng.uniform(3700, 4100), rng.uniform(4600, 5100)
    while at < seconds - 0.15:
        pitch = pitches[int(rng.integers(2))]
        yield note(rate, 0.11, pitch * 1.35, pitch, pitch * 0.98), at
        at += rng.uniform(0.24, 0.32)


BIRD_SPECIES = (blackbird, great_tit, wren, sparrow, chiffchaff)


def birds(rng: Generator, seconds: float, rate: int) -> Sound:
    """A bird of any species."""
    return BIRD_SPECIES[int(rng.integers(len(BIRD_SPECIES)))](rng, seconds, rate)


@scattered()
def chorus(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Many birds at once, near and far."""
    for _ in range(round(2.2 * seconds)):
        length = rng.uniform(1.0, 2.8)
        strength = np.float32(10 ** rng.uniform(-1.3, 0))
        yield strength * birds(rng, length, rate), rng.uniform(-0.5, seconds - 0.5)


@scattered(0.15, 0.2)
def cuckoo(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A cuckoo: two notes, falling by a third."""
    at, root = 0.0, rng.uniform(520, 590)
    while at < seconds - 0.7:
        yield note(rate, 0.15, root * 1.15, root * 1.22, root * 1.2, partials=(1, 0.1, 0.03)), at
        low = note(rate, 0.28, root * 0.97, root, root * 0.96, partials=(1, 0.08, 0.03))
        yield low, at + 0.3
        at += rng.uniform(1.1, 1.25)


@scattered(0.6, 0.35)
def owl(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """A long hoot, a pause, and a trembling hoot."""
    root = rng.uniform(340, 430)
    yield _hoot(rng, rate, 0.65, root, 0.0), 0.0
    yield _hoot(rng, rate, 0.12, root * 0.96, 0.0), min(1.6, seconds * 0.45)
    remaining = max(0.4, seconds - min(1.9, seconds * 0.55))
    yield _hoot(rng, rate, min(1.4, remaining), root * 1.04, 0.7), seconds - remaining


def _hoot(rng: Generator, rate: int, seconds: float, root: float, shiver: float) -> Sound:
    time = instants(seconds, rate)
    pitch = root * (0.94 + 0.08 * np.sin(np.pi * time / seconds))
    sound = tone(rough(rng, pitch, rate, 0.01), rate, (1.0, 0.12, 0.06))
    throat = formants([(root, 70, 1.0), (2 * root, 90, 0.3), (3 * root, 120, 0.12)])
    breath = noise(rng, seconds, rate, throat)[: len(sound)]
    shaken = 1 - shiver * (0.5 + 0.5 * np.sin(2 * np.pi * 13 * time))
    return fade((0.3 * sound + breath) * shaken, 0.1, 0.2, rate)


@scattered(0.03, 0.2)
def crow(rng: Generator, seconds: float, rate: int) -> SoundParts:
    """Harsh caws that rattle."""
    at, root = 0.0, rng.uniform(410, 470)
    throat = formants([(1400, 670, 1.0), (1600, 670, 0.9), (2800, 900, 0.4)])
    while at < seconds - 0.45:
        length = rng.uniform(0.3, 0.45)
        pitch = contour([(0, root * 0.9), (0.25, root * 1.1), (1, root * 0.8)], length, rate)
        voice = growl(rng, pitch, rate, 0.06, throat)
        harsh = 0.4 * noise(rng, length, rate, band(900, 2600))[: len(voice)]
        rattle = 1 + 0.35 * np.sin(2 * np.pi * 86 * instants(length, rate)[: len(voice)])
        yield fade((voice + harsh) * rattle, 0.03, 0.12, rate), at
        at += length + rng.uniform(0.2, 0.35)


# --- Weather and water ---------------------------------------------------------------------------


def background(rng: Generator, seconds: float, rate: int) -> Sound:
    """Distant background noise, heard when nothing else sounds."""
    return noise(rng, seconds, rate, falling(120, 5))


def wind(rng: Generator, seconds: float, rate: int) -> Sound:
    """Gusts with low-frequency pressure and some howling."""
    low = noise(rng, seconds, rate, falling(60, 9))
    gust = np.exp(0.5 * wander(rng, len(low), rate, 0.6))
    gusts = low * gust * (1 + 0.12 * wander(rng, len(low), rate, 2))
    for centre in (280, 420, 610, 850):
        howl = noise(rng, seconds, rate, formants([(centre, 180, 1.0)]))
        gusts += 0.05 * howl * np.maximum(0, gust - 0.6) * np.exp(wander(rng, len(low), rate, 0.9))
    leaves = noise(rng, seconds, rate, band(1200, 4000, 1.0))
    return np.asarray(gusts + 0.05 * leaves * gust**1.5, np.float32)


def rain(rng: Generator, seconds: float, rate: int) -> Sound:
    """A hiss, and drops on leaves and sills."""
    room = 0.30 * noise(rng, seconds, rate, band(900, 7000, 1.0))
    room *= (1 + 0.12 * wander(rng, len(room), rate, 0.8)).astype(np.float32)
    for _ in range(round(55 * seconds)):
        pitch, near = rng.uniform(900, 3600), 10 ** rng.uniform(-0.9, 0.25)
        time = instants(rng.uniform(0.004, 0.012), rate)
        drop = near * np.sin(2 * np.pi * pitch * time) * np.exp(-time * 500)
        place(room, drop, rng.uniform(0, seconds), rate)
    return room.astype(np.float32)


def thunder(rng: Generator, seconds: float, rate: int) -> Sound:
    """A distant crack and the rolling rumble after it."""
    rumble = noise(rng, seconds, rate, falling(208, 10))
    time = instants(seconds, rate)[: len(rumble)]
    roll = np.exp(-time / (0.57 * seconds)) * np.exp(0.9 * wander(rng, len(rumble), rate, 1.7))
    roll *= 1 + 0.22 * wander(rng, len(rumble), rate, 5.2)
    crack = noise(rng, seconds, rate, band(390, 4000, 1.0)) * np.exp(-time / 0.1)
    return fade(rumble * roll + 0.6 * crack, 0.02, 0.4 * seconds, rate)


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
        place(room, bubble, rng.uniform(0, seconds), rate)
    return room
