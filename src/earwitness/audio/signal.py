"""Fades, resampling, decimation and low-pass filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

# --- Fades ---------------------------------------------------------------------------------------
# Where two pieces overlap, one fades out along a cosine and the other in along a sine. Sounds that
# have nothing to do with each other add in power, and the squares of sine and cosine add to one, so
# a skim is as loud in its fades as beside them.


Samples = NDArray[Any]
EDGE_FADE_SECONDS = 0.01  # seconds in which sound comes and goes where nothing overlaps


def starts_of(lengths: Sequence[float], overlap: float) -> list[float]:
    """When each piece is first heard, if each lies over the end of the one before.

    >>> starts_of([8, 8, 8], 3)
    [0.0, 5.0, 10.0]
    """
    steps = (length - overlap for length in lengths[:-1])
    return [float(start) for start in accumulate(steps, initial=0.0)][: len(lengths)]


def render(pieces: Sequence[Samples], rate: int, overlap: float) -> Samples:
    """One sound of pieces: samples, or a column a channel, and as they are given.

    Pieces overlap by so many seconds. The first fades in and the last fades out in 10 ms, and so
    do all of them if nothing overlaps: there are no clicks. Pieces of mixed channels become mono.
    """
    if not pieces:
        raise UsageError("there is no sound to put together")
    columns = _match_channels(pieces)
    shared = round(overlap * rate)
    _refuse_short(columns, shared, rate)
    lengths = [len(piece) for piece in columns]
    starts = [round(start) for start in starts_of(lengths, shared)]
    whole = np.zeros((starts[-1] + lengths[-1], columns[0].shape[1]), np.float32)
    for number, (start, piece) in enumerate(zip(starts, columns, strict=True)):
        rise = shared if number else 0
        fall = shared if number + 1 < len(columns) else 0
        whole[start : start + len(piece)] += (
            piece * fade_gains(len(piece), rise, fall, rate)[:, None]
        )
    return whole[:, 0] if all(piece.ndim == 1 for piece in pieces) else whole


def fade_gains(frames: int, rise: int, fall: int, rate: int) -> NDArray[np.float32]:
    """How loud each frame of a piece is; no rise and no fall mean those of 10 ms."""
    edge = min(round(EDGE_FADE_SECONDS * rate), frames // 2)
    rise, fall = rise or min(edge, frames - fall), fall or min(edge, frames - rise)
    gain = np.ones(frames, np.float32)
    gain[:rise] = _rising_gains(rise)
    gain[frames - fall :] *= _rising_gains(fall)[::-1]
    return gain


def _rising_gains(frames: int) -> NDArray[np.float32]:
    """From silence to all of it; backwards it is what belongs to it: the cosine to the sine."""
    return np.sin(np.pi / 2 * (np.arange(frames) + 0.5) / max(1, frames)).astype(np.float32)


def _match_channels(pieces: Sequence[Samples]) -> list[Samples]:
    columns = [piece[:, None] if piece.ndim == 1 else piece for piece in pieces]
    if len({piece.shape[1] for piece in columns}) == 1:
        return columns
    return [piece.mean(axis=1, keepdims=True) for piece in columns]


def _refuse_short(pieces: Sequence[Samples], shared: int, rate: int) -> None:
    """Never do more than two sound at once."""
    if shared < 0:
        raise UsageError("overlap: must not be below 0")
    for number, piece in enumerate(pieces):
        fades = shared * ((number > 0) + (number + 1 < len(pieces)))
        if len(piece) < max(1, fades):
            raise UsageError(
                f"overlap: {shared / rate:g} s is too much for a piece of {len(piece) / rate:g} s"
                " — give at most half of a block"
            )


# --- Sample-rate conversion ----------------------------------------------------------------------


def resample(samples: Samples, rate: int, wanted: int) -> Samples:
    """Sound at another sample rate, without what that rate cannot hold; a column a channel."""
    if rate == wanted:
        return samples
    from scipy.signal import resample_poly

    common = gcd(rate, wanted)
    converted = resample_poly(samples, wanted // common, rate // common, axis=0)
    return np.asarray(converted, samples.dtype)


# --- Decimation to a low rate --------------------------------------------------------------------
# A day at a thousand samples a second is small enough to be laid beside other sound everywhere.
# Samples are taken as rows of a matrix, so that filtering a day is one product.


Floats = NDArray[np.float32]
PASSBAND_FRACTION = 0.7  # of what a low rate can hold
FILTER_SPAN_SAMPLES = 8  # low samples that a filter spans


class LowRateSound(NamedTuple):
    """Sound at a low rate: ``start`` is the place of the first sample that went into it."""

    start: int
    samples: Floats


def decimation_factor(rate: int, low_rate: int) -> int:
    """How many samples make one of about a low rate."""
    return max(1, round(rate / low_rate))


def decimate(samples: NDArray[Any], factor: int) -> Floats:
    """A low sample for every so many; as many fewer at the end as a filter reaches beyond."""
    count = len(samples) // factor
    if count < FILTER_SPAN_SAMPLES:
        return np.zeros(0, np.float32)
    rows = np.asarray(samples[: count * factor], np.float32).reshape(
        count, factor
    ) @ _make_decimation_taps(factor)
    kept = count - FILTER_SPAN_SAMPLES + 1
    return np.asarray(
        np.sum([rows[n : n + kept, n] for n in range(FILTER_SPAN_SAMPLES)], axis=0), np.float32
    )


def decimate_pieces(pieces: Iterable[tuple[int, Floats]], factor: int) -> Iterator[LowRateSound]:
    """Sound that comes in pieces, each with its place; those that follow each other are one."""
    remainder, place = np.zeros(0, np.float32), 0
    for at, samples in pieces:
        if at != place + len(remainder):
            remainder, place = remainder[:0], at
        whole = np.concatenate([remainder, samples])
        low = decimate(whole, factor)
        if len(low):
            yield LowRateSound(place, low)
        used = factor * len(low)
        remainder, place = whole[used:], place + used


@lru_cache(8)
def _make_decimation_taps(factor: int) -> Floats:
    """A sinc in a Kaiser window; a column for each low sample that it spans."""
    places = np.arange(FILTER_SPAN_SAMPLES * factor) - (FILTER_SPAN_SAMPLES * factor - 1) / 2
    cutoff = PASSBAND_FRACTION / factor
    taps = cutoff * np.sinc(cutoff * places) * np.kaiser(len(places), 6)
    return np.ascontiguousarray(taps.reshape(FILTER_SPAN_SAMPLES, factor).T, np.float32)


# --- Low-pass filters ----------------------------------------------------------------------------


STOPBAND_DB = 60.0  # by which what is left out is down
TRANSITION_HZ = 500.0  # Hz from what is kept whole to what is stopped


def low_pass(samples: Samples, rate: int, cutoff: float) -> Samples:
    """Sound without what lies above a frequency, a column a channel; as long as before.

    Up to the cutoff it is kept to 0.1 dB, from 500 Hz above it is down by 60 dB. The filter is
    symmetric and its delay is taken out, so that sounds can be switched without a jump.
    """
    if not can_pass(rate, cutoff):
        raise UsageError(f"sound at {rate} Hz has nothing above {cutoff:g} Hz to leave out")
    taps = _make_low_pass_taps(rate, cutoff)
    size = len(samples) + len(taps) - 1
    spectrum = np.fft.rfft(samples, size, axis=0)
    filtered = np.fft.rfft(taps, size)
    shaped = filtered if samples.ndim == 1 else filtered[:, None]
    whole = np.fft.irfft(spectrum * shaped, size, axis=0)
    delay = len(taps) // 2
    return np.asarray(whole[delay : delay + len(samples)])


def can_pass(rate: int, cutoff: float) -> bool:
    """Whether sound at a rate has anything above a frequency."""
    return rate / 2 > cutoff + TRANSITION_HZ


def _make_low_pass_taps(rate: int, cutoff: float) -> Samples:
    """A sinc in a Kaiser window, of odd length."""
    width = 2 * np.pi * TRANSITION_HZ / rate
    half = int(np.ceil((STOPBAND_DB - 7.95) / (2.285 * width) / 2))
    middle = 2 * (cutoff + TRANSITION_HZ / 2) / rate
    places = np.arange(-half, half + 1)
    taps = middle * np.sinc(middle * places) * np.kaiser(2 * half + 1, 0.1102 * (STOPBAND_DB - 8.7))
    return np.asarray(taps / taps.sum())
