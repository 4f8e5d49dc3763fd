"""Tones, noises, strokes and envelopes from which sounds are synthesized.

All functions take a sample rate in Hz and return ``float32``; randomness comes from the given
generator. They compute in ``float64``, so that rounding by different processors does not show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Sound = NDArray[np.float32]
Curve = NDArray[np.float64]
Colour = Callable[[Curve], Curve]
Make = Callable[[Generator, float, int], Sound]  # from a duration and a sample rate
SoundParts = Iterator[tuple[NDArray[Any], float]]  # sounds, and when they start
MAX_RELATIVE_FREQUENCY = 0.47  # of the sample rate: highest tone


def instants(seconds: float, rate: int) -> Curve:
    """Return the time of every sample."""
    return np.arange(max(1, round(seconds * rate))) / rate


def silence(seconds: float, rate: int) -> Sound:
    """Return silence, as a buffer for sounds."""
    return np.zeros(max(1, round(seconds * rate)), np.float32)


def place(into: Sound, sound: NDArray[Any], at: float, rate: int) -> None:
    """Add a sound to a buffer at a time, cut at the end of the buffer."""
    first = max(0, round(at * rate))
    fitting = np.asarray(sound[: max(0, len(into) - first)], np.float32)
    into[first : first + len(fitting)] += fitting


def scattered(
    *reverberation: float,
) -> Callable[[Callable[[Generator, float, int], SoundParts]], Make]:
    """Make a source of a function that yields sounds with the times at which they start.

    ``reverberation`` are the share and the decay time of ``outdoors``; none by default.
    """

    def decorate(make: Callable[[Generator, float, int], SoundParts]) -> Make:
        @wraps(make)
        def make_sound(rng: Generator, seconds: float, rate: int) -> Sound:
            room = silence(seconds, rate)
            for sound, at in make(rng, seconds, rate):
                place(room, sound, at, rate)
            return outdoors(rng, room, rate, *reverberation) if reverberation else room

        return make_sound

    return decorate


def contour(points: Sequence[tuple[float, float]], seconds: float, rate: int) -> Curve:
    """Return a curve through points (share of the time, value)."""
    times, values = zip(*points, strict=True)
    return np.asarray(np.interp(instants(seconds, rate), np.array(times) * seconds, values))


def tone(pitch: Curve, rate: int, partials: Sequence[float] = (1.0,)) -> Sound:
    """Return a tone that follows a pitch in Hz, with the given strengths of its harmonics."""
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    samples = np.zeros(len(pitch))
    highest = float(pitch.max(initial=1.0))
    for number, strength in enumerate(partials, 1):
        if strength and number * highest < MAX_RELATIVE_FREQUENCY * rate:
            samples += strength * np.sin(number * phase)
    return samples.astype(np.float32)


def buzz(pitch: Curve, rate: int, colour: Colour) -> Sound:
    """Return filtered pulses at a pitch, as in a voice or an engine."""
    phase = np.cumsum(pitch) / rate
    pulses = np.diff(np.floor(phase), prepend=0.0)
    return coloured(pulses, rate, colour)


def coloured(samples: NDArray[Any], rate: int, colour: Colour) -> Sound:
    """Return samples filtered by a curve over frequency."""
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(len(samples), real=True)
    spectrum = rfft(samples.astype(np.float64), size)
    curve = colour(np.asarray(np.fft.rfftfreq(size, 1 / rate), np.float64))
    return np.asarray(irfft(spectrum * curve, size)[: len(samples)], np.float32)


def noise(rng: Generator, seconds: float, rate: int, colour: Colour) -> Sound:
    """Return filtered noise with a mean square of 1."""
    count = max(2, round(seconds * rate))
    samples = coloured(rng.standard_normal(count, np.float32), rate, colour)
    return samples / np.float32(max(1e-9, float(np.sqrt(np.mean(samples**2, dtype=np.float64)))))


def band(low: float, high: float, steep: float = 2.0) -> Colour:
    """Return a band-pass filter curve between two frequencies."""

    def curve(hertz: Curve) -> Curve:
        safe = np.maximum(hertz, 1.0)
        under, over = (low / safe) ** (2 * steep), (safe / high) ** (2 * steep)
        return np.asarray(1 / np.sqrt((1 + under) * (1 + over)))

    return curve


def falling(low: float, slope: float) -> Colour:
    """Return a filter curve that falls by ``slope`` dB per octave above a frequency."""

    def curve(hertz: Curve) -> Curve:
        return np.asarray(np.maximum(hertz / low, 1.0) ** (-slope / 6.02) * (hertz > low / 3))

    return curve


def formants(peaks: Sequence[tuple[float, float, float]], tilt: float = 0.0) -> Colour:
    """Return resonances (frequency, width, strength), with a spectral tilt."""

    def curve(hertz: Curve) -> Curve:
        response = np.zeros_like(hertz)
        for centre, width, strength in peaks:
            response += strength / (1 + ((hertz - centre) / (width / 2)) ** 2)
        return np.asarray(response * np.maximum(hertz / 500, 0.3) ** (-tilt / 6.02) * (hertz > 40))

    return curve


def swell(count: int, attack: float, release: float, rate: int) -> Curve:
    """Return a smooth rise and fall with 1 between them; shorter if there is no room."""
    envelope = np.ones(count)
    rise, fall = (min(count, max(1, round(s * rate))) for s in (attack, release))
    envelope[:rise] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(rise) / rise)
    envelope[count - fall :] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(fall) / fall)
    return envelope


def fade(sound: NDArray[Any], attack: float, release: float, rate: int) -> Sound:
    """Return a sound that rises and falls as in ``swell``."""
    return np.asarray(sound * swell(len(sound), attack, release, rate), np.float32)


def growl(rng: Generator, pitch: Curve, rate: int, depth: float, colour: Colour) -> Sound:
    """Return a buzz with random jitter and a standard deviation of 1."""
    sound = buzz(rough(rng, pitch, rate, depth), rate, colour)
    return sound / np.float32(sound.std() + 1e-9)


def wander(rng: Generator, count: int, rate: int, speed: float) -> Curve:
    """Return a smooth random curve around 0 with ``speed`` turns per second."""
    knots = max(4, int(count / rate * speed) + 3)
    values, positions = rng.standard_normal(knots), np.linspace(0, knots - 1.001, count)
    knot = positions.astype(int)
    weight = 0.5 - 0.5 * np.cos(np.pi * (positions - knot))
    return np.asarray(values[knot] * (1 - weight) + values[knot + 1] * weight)


def ring(
    modes: Sequence[tuple[float, float, float]], seconds: float, rate: int, attack: float = 0.002
) -> Sound:
    """Return a struck sound: frequency, strength and decay time of every mode."""
    time = instants(seconds, rate)
    samples = np.zeros(len(time))
    for hertz, strength, lasting in modes:
        if hertz < MAX_RELATIVE_FREQUENCY * rate:
            samples += strength * np.exp(-time / lasting) * np.sin(2 * np.pi * hertz * time)
    return fade(samples, attack, 0.02, rate)


def outdoors(
    rng: Generator, sound: Sound, rate: int, share: float = 0.3, lasting: float = 0.25
) -> Sound:
    """Add outdoor reverberation: a short tail of noise."""
    from scipy.signal import fftconvolve

    time = instants(4 * lasting, rate)
    fading = rng.standard_normal(len(time)) * np.exp(-time / lasting) * (time > 0.008)
    tail = coloured(fading, rate, band(150, 2500, 1.0))
    tail *= np.float32(share / max(1e-9, float(np.sqrt(np.sum(tail**2, dtype=np.float64)))))
    reverberation = fftconvolve(sound.astype(np.float64), tail.astype(np.float64))
    return np.asarray(sound + reverberation[: len(sound)], np.float32)


def rough(rng: Generator, pitch: Curve, rate: int, depth: float) -> Curve:
    """Return a pitch with random jitter, as in voices and engines."""
    return np.asarray(pitch * np.maximum(0.3, 1 + depth * wander(rng, len(pitch), rate, 150)))
