"""Birds of several species, many of them at dawn, and three that everybody knows by their call."""

from __future__ import annotations

from collections.abc import Callable

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
)

Generator = np.random.Generator


def note(
    rate: int, seconds: float, *pitches: float, partials: tuple[float, ...] = (1.0, 0.12)
) -> Sound:
    """A whistle through pitches that are evenly apart."""
    points = [(n / max(1, len(pitches) - 1), pitch) for n, pitch in enumerate(pitches)]
    pitch = contour(points, seconds, rate)
    sound = tone(pitch, rate, partials)
    edge = min(0.02, seconds / 4)
    return (sound * swell(len(sound), edge, 1.5 * edge, rate)).astype(np.float32)


def blackbird(rng: Generator, seconds: float, rate: int) -> Sound:
    """Slow fluted motifs in thirds and fifths, and a thin twitter at the end."""
    room, at = silence(seconds, rate), 0.0
    root = 1700 * 2 ** rng.uniform(-0.2, 0.2)
    while at < seconds * 0.65:
        step, length = rng.choice([1.0, 1.125, 1.25, 1.333, 1.5]), rng.uniform(0.14, 0.32)
        bend = rng.uniform(0.94, 1.06)
        place(room, note(rate, length, root * step, root * step * bend), at, rate)
        at += length + rng.uniform(0.02, 0.12)
    while at < seconds - 0.06:
        high = rng.uniform(4200, 6500)
        place(room, 0.25 * note(rate, 0.05, high, high * rng.uniform(0.7, 1.2)), at, rate)
        at += rng.uniform(0.06, 0.09)
    return room


def great_tit(rng: Generator, seconds: float, rate: int) -> Sound:
    """Two notes, high and low, over and over like a small pump."""
    room = silence(seconds, rate)
    high, low = rng.uniform(5200, 6200), rng.uniform(3600, 4300)
    beat = rng.uniform(0.26, 0.36)
    for at in np.arange(0, seconds - beat, beat):
        place(room, note(rate, 0.4 * beat, high, high * 0.97), at, rate)
        place(room, note(rate, 0.48 * beat, low * 1.04, low), at + 0.46 * beat, rate)
    return room


def wren(rng: Generator, seconds: float, rate: int) -> Sound:
    """A fast and loud song with a trill in the middle."""
    room, at = silence(seconds, rate), 0.0
    while at < seconds - 0.1:
        top, fall = rng.uniform(4800, 7000), rng.uniform(0.55, 0.8)
        speed, count = rng.uniform(0.035, 0.11), int(rng.integers(4, 14))
        for _ in range(count):
            if at < seconds - speed:
                place(room, note(rate, 0.8 * speed, top, top * fall), at, rate)
            at += speed
    return room


def sparrow(rng: Generator, seconds: float, rate: int) -> Sound:
    """Chirps without a tune."""
    room, at = silence(seconds, rate), 0.0
    while at < seconds - 0.15:
        low, length = rng.uniform(2300, 3000), rng.uniform(0.07, 0.13)
        chirp = note(rate, length, low, low * 1.7, low * 1.1, partials=(1.0, 0.45, 0.2))
        place(room, chirp, at, rate)
        at += length + rng.uniform(0.12, 0.4)
    return room


def chiffchaff(rng: Generator, seconds: float, rate: int) -> Sound:
    """Single notes, now high, now low, like drops of water."""
    room, at = silence(seconds, rate), 0.0
    pitches = rng.uniform(3700, 4100), rng.uniform(4600, 5100)
    while at < seconds - 0.15:
        pitch = pitches[int(rng.integers(2))]
        place(room, note(rate, 0.11, pitch * 1.35, pitch, pitch * 0.98), at, rate)
        at += rng.uniform(0.24, 0.32)
    return room


SPECIES: tuple[Callable[[Generator, float, int], Sound], ...] = (
    blackbird,
    great_tit,
    wren,
    sparrow,
    chiffchaff,
)


def birds(rng: Generator, seconds: float, rate: int) -> Sound:
    """A bird of any species."""
    return SPECIES[int(rng.integers(len(SPECIES)))](rng, seconds, rate)


def chorus(rng: Generator, seconds: float, rate: int) -> Sound:
    """Many birds at once, near and far."""
    room = silence(seconds, rate)
    for _ in range(round(2.2 * seconds)):
        length = rng.uniform(1.0, 2.8)
        strength = np.float32(10 ** rng.uniform(-1.3, 0))
        place(room, strength * birds(rng, length, rate), rng.uniform(-0.5, seconds - 0.5), rate)
    return room


def cuckoo(rng: Generator, seconds: float, rate: int) -> Sound:
    """Its own name, a third down."""
    room, at = silence(seconds, rate), 0.0
    root = rng.uniform(520, 590)
    while at < seconds - 0.7:
        high = note(rate, 0.15, root * 1.15, root * 1.22, root * 1.2, partials=(1, 0.1, 0.03))
        low = note(rate, 0.28, root * 0.97, root, root * 0.96, partials=(1, 0.08, 0.03))
        place(room, high, at, rate)
        place(room, low, at + 0.3, rate)
        at += rng.uniform(1.1, 1.25)
    return outdoors(rng, room, rate, 0.15, 0.2)


def owl(rng: Generator, seconds: float, rate: int) -> Sound:
    """A long hoot, a wait, and a hoot that shivers."""
    room, root = silence(seconds, rate), rng.uniform(340, 430)
    place(room, _hoot(rng, rate, 0.65, root, 0.0), 0.0, rate)
    place(room, _hoot(rng, rate, 0.12, root * 0.96, 0.0), min(1.6, seconds * 0.45), rate)
    rest = max(0.4, seconds - min(1.9, seconds * 0.55))
    place(room, _hoot(rng, rate, min(1.4, rest), root * 1.04, 0.7), seconds - rest, rate)
    return outdoors(rng, room, rate, 0.6, 0.35)


def _hoot(rng: Generator, rate: int, seconds: float, root: float, shiver: float) -> Sound:
    time = instants(seconds, rate)
    pitch = root * (0.94 + 0.08 * np.sin(np.pi * time / seconds))
    sound = tone(rough(rng, pitch, rate, 0.01), rate, (1.0, 0.12, 0.06))
    throat = formants([(root, 70, 1.0), (2 * root, 90, 0.3), (3 * root, 120, 0.12)])
    breath = noise(rng, seconds, rate, throat)[: len(sound)]
    shaken = 1 - shiver * (0.5 + 0.5 * np.sin(2 * np.pi * 13 * time))
    mixed = (0.3 * sound + breath) * shaken * swell(len(time), 0.1, 0.2, rate)
    return np.asarray(mixed, np.float32)


def crow(rng: Generator, seconds: float, rate: int) -> Sound:
    """Harsh caws that rattle."""
    room, at, root = silence(seconds, rate), 0.0, rng.uniform(410, 470)
    throat = formants([(1400, 670, 1.0), (1600, 670, 0.9), (2800, 900, 0.4)])
    while at < seconds - 0.45:
        length = rng.uniform(0.3, 0.45)
        pitch = contour([(0, root * 0.9), (0.25, root * 1.1), (1, root * 0.8)], length, rate)
        voice = buzz(rough(rng, pitch, rate, 0.06), rate, throat)
        voice /= np.float32(voice.std() + 1e-9)
        harsh = 0.4 * noise(rng, length, rate, band(900, 2600))[: len(voice)]
        rattle = 1 + 0.35 * np.sin(2 * np.pi * 86 * instants(length, rate)[: len(voice)])
        caw = (voice + harsh) * rattle * swell(len(voice), 0.03, 0.12, rate)
        place(room, caw.astype(np.float32), at, rate)
        at += length + rng.uniform(0.2, 0.35)
    return outdoors(rng, room, rate, 0.03, 0.2)
