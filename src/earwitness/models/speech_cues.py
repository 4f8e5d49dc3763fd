"""What tells speech from other sounds, measured in every second without any trained network.

Sound is taken at 8 kHz in frames of 40 ms every 10 ms. From each frame come how periodic it is with
a pitch of 80 to 400 Hz (autocorrelation of its whitened spectrum up to 2,500 Hz), the levels of
eight bands from 300 to 3,400 Hz, and how much of its power is where first formants are. Frames make
windows of 1 s every 0.5 s with six cues each; ``NAMES`` says which. All of them stay as they are
when sound is made louder or softer.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
RATE = 8_000
FRAME, STEP, TRANSFORM = 320, 80, 512  # samples
WINDOW, HOP = 100, 50  # frames
SHORTEST_LAG, LONGEST_LAG = 20, 100  # samples: 400 and 80 Hz
PITCHED = slice(6, 160)  # bins of the transform: 94 to 2,484 Hz
WIDTH = 33  # bins over which a spectrum is whitened
EDGES = (20, 26, 36, 48, 65, 88, 119, 161, 218)  # bins: 300 to 3,400 Hz
FIRST_FORMANTS, AUDIBLE = slice(13, 65), slice(7, 256)  # bins: 200 to 1,000 Hz; 100 Hz on
FLOOR = 1e-5  # of the mean power: what lies 50 dB below it is silence
VOICED = 0.14  # periodicity from which a frame has a pitch
FEWEST = 0.02  # share of voiced frames from which more of them matter
GLIDE = 0.06  # octaves by which the pitch of a voice moves in 10 ms at most
SYLLABLES, MOVEMENTS = slice(2, 9), slice(1, 26)  # Hz
NAMES = (
    "voiced",  # log10(0.02 + share of frames whose pitch goes on smoothly)
    "beat",  # share of 2–8 Hz in how the levels move
    "formant beat",  # the same for the shape of the spectrum, whatever the level
    "formant depth",  # how far that shape moves at 2–8 Hz: log10(1 + dB²)
    "first formant",  # share of the power that is at 200–1,000 Hz
    "first formant moves",  # how far that share moves
)


class Frames(NamedTuple):
    """Measures of each frame."""

    periodicity: Floats
    pitch: Floats  # octaves
    levels: Floats  # dB, a column a band
    first: Floats  # share of the power where first formants are
    weight: Floats


def cues(samples: Floats, rate: int) -> Floats:
    """A row a window, a column a cue; shorter sound is filled with silence to one window."""
    whole = quickly_resampled(samples, rate, RATE)
    short = max(0, FRAME + (WINDOW - 1) * STEP - len(whole))
    frames = _frames(np.pad(whole, (0, short)).astype(np.float32, copy=False))
    return np.stack([_voice(frames), *_movement(frames), *_formant(frames)], axis=1)


def quickly_resampled(samples: Floats, rate: int, wanted: int) -> Floats:
    """Sound at another rate, by a short filter: cues need no more."""
    if rate == wanted:
        return samples
    from scipy.signal import resample_poly

    up, down = wanted // gcd(wanted, rate), rate // gcd(wanted, rate)
    return np.asarray(resample_poly(samples, up, down, window=_taps(max(up, down))), np.float32)


def _frames(samples: Floats) -> Frames:
    from scipy.fft import rfft

    cut = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[::STEP]
    spectra = rfft(cut * _hann(), TRANSFORM, axis=1)
    power = spectra.real**2 + spectra.imag**2
    power += FLOOR * power.mean() + np.finfo(np.float32).tiny
    bands = np.add.reduceat(power[:, : EDGES[-1]], EDGES[:-1], axis=1)
    audible = power[:, AUDIBLE].sum(axis=1)
    first = power[:, FIRST_FORMANTS].sum(axis=1) / audible
    return Frames(*_periods(power), 10 * np.log10(bands), first, np.sqrt(audible))


def _periods(power: Floats) -> tuple[Floats, Floats]:
    """How periodic each frame is, about 0 to 1, and at which pitch."""
    from scipy.ndimage import uniform_filter1d

    size = np.cbrt(power[:, : PITCHED.stop + WIDTH // 2])
    around = uniform_filter1d(size, WIDTH, axis=1, mode="nearest")
    alike = (size[:, PITCHED] / around[:, PITCHED] - 1) @ _cosines()
    best = alike.argmax(axis=1)
    pitch = np.log2(RATE / (SHORTEST_LAG + best)).astype(np.float32)
    return alike[np.arange(len(alike)), best], pitch


def _voice(frames: Frames) -> Floats:
    """How many frames have a pitch that goes on."""
    voiced = frames.periodicity > VOICED
    glides = np.abs(np.diff(frames.pitch)) < GLIDE
    goes_on = np.append(False, voiced[1:] & voiced[:-1] & glides)
    return np.asarray(np.log10(FEWEST + _windows(goes_on.astype(np.float32)).mean(axis=-1)))


def _movement(frames: Frames) -> tuple[Floats, Floats, Floats]:
    """The beat of levels, and beat and depth of the shape of the spectrum."""
    shape = frames.levels - frames.levels.mean(axis=1, keepdims=True)
    (slow, all_), (formants, all_shape) = _modulation(frames.levels), _modulation(shape)
    depth = np.log10(1 + np.median(formants, axis=1))
    return _share(slow, all_), _share(formants, all_shape), depth


def _modulation(levels: Floats) -> tuple[Floats, Floats]:
    """Of each window and band, dB² of what moves as syllables do, and of all that moves."""
    from scipy.fft import rfft

    taper = np.hanning(WINDOW).astype(np.float32)
    spectra = rfft(_centred(_windows(levels)) * taper, axis=-1)
    power = (spectra.real**2 + spectra.imag**2) / ((taper**2).sum() * WINDOW / 2)
    return power[..., SYLLABLES].sum(axis=-1), power[..., MOVEMENTS].sum(axis=-1)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part.sum(axis=1) / np.maximum(whole.sum(axis=1), 1e-6))


def _formant(frames: Frames) -> tuple[Floats, Floats]:
    """Where the power is (loud frames count more), and how far that moves."""
    first, weight = _windows(frames.first), _windows(frames.weight)
    mean = (first * weight).sum(axis=-1) / weight.sum(axis=-1)
    return mean, first.std(axis=-1)


def _windows(values: Floats) -> Any:
    """Windows first, frames last; the last window ends with the sound."""
    last = len(values) - WINDOW
    starts = sorted({*range(0, last + 1, HOP), last})
    return np.lib.stride_tricks.sliding_window_view(values, WINDOW, axis=0)[starts]


def _centred(windows: Any) -> Any:
    return windows - windows.mean(axis=-1, keepdims=True)


@cache
def _cosines() -> Floats:
    """What makes an autocorrelation of a spectrum: a row a bin, a column a lag."""
    bins = np.arange(PITCHED.start, PITCHED.stop)[:, None]
    lags = np.arange(SHORTEST_LAG, LONGEST_LAG + 1)
    return np.asarray(np.cos(2 * np.pi * bins * lags / TRANSFORM) / len(bins), np.float32)


@cache
def _taps(most: int) -> Floats:
    """A low-pass filter for a change of rate; half as long as the usual one, for speed."""
    from scipy.signal import firwin

    return np.asarray(firwin(10 * most + 1, 1 / most, window=("kaiser", 5.0)), np.float32)


@cache
def _hann() -> Floats:
    places = np.arange(FRAME) / FRAME
    return (0.5 - 0.5 * np.cos(2 * np.pi * places)).astype(np.float32)
