"""Fades, level matching, resampling, decimation and low-pass filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError

# --- Fades ---------------------------------------------------------------------------------------
# Where two pieces overlap, one fades out along a cosine and the other in along a sine. Unrelated
# sounds add in power, and the squares of sine and cosine sum to 1, so the loudness stays the same
# during a fade.


Samples = NDArray[Any]
EDGE_FADE_SECONDS = 0.01  # fade at edges without overlap


def starts_of(lengths: Sequence[float], overlap: float) -> list[float]:
    """Return when each piece starts, if each overlaps the end of the previous one.

    >>> starts_of([8, 8, 8], 3)
    [0.0, 5.0, 10.0]
    """
    steps = (length - overlap for length in lengths[:-1])
    return [float(start) for start in accumulate(steps, initial=0.0)][: len(lengths)]


def render(pieces: Sequence[Samples], rate: int, overlap: float) -> Samples:
    """Return pieces joined into one sound; pieces have one column per channel.

    Pieces overlap by ``overlap`` seconds. The first fades in and the last fades out in 10 ms; all
    pieces do without overlap, to avoid clicks. Pieces of mono and stereo become mono.
    """
    if not pieces:
        raise UsageError("there is no audio to join")
    columns = [piece[:, None] if piece.ndim == 1 else piece for piece in pieces]
    if len({piece.shape[1] for piece in columns}) > 1:
        columns = [piece.mean(axis=1, keepdims=True) for piece in columns]
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


def fade_gains(frames: int, rise: int, fall: int, rate: int) -> Floats:
    """Return the gain of each frame of a piece; a rise or fall of 0 becomes 10 ms."""
    edge = min(round(EDGE_FADE_SECONDS * rate), frames // 2)
    rise, fall = rise or min(edge, frames - fall), fall or min(edge, frames - rise)
    gain = np.ones(frames, np.float32)
    gain[:rise] = _rising_gains(rise)
    gain[frames - fall :] *= _rising_gains(fall)[::-1]
    return gain


def _rising_gains(frames: int) -> Floats:
    """Return gains from 0 to 1 along a sine; reversed, they are the matching cosine."""
    return np.sin(np.pi / 2 * (np.arange(frames) + 0.5) / max(1, frames)).astype(np.float32)


def _refuse_short(pieces: Sequence[Samples], shared: int, rate: int) -> None:
    """Refuse pieces so short that more than two would overlap."""
    if shared < 0:
        raise UsageError("overlap must be 0 or greater")
    for number, piece in enumerate(pieces):
        fades = shared * ((number > 0) + (number + 1 < len(pieces)))
        if len(piece) < max(1, fades):
            raise UsageError(
                f"overlap of {shared / rate:g} s is too long for a piece of {len(piece) / rate:g} s"
                " — use at most half a block"
            )


# --- Level matching ------------------------------------------------------------------------------
# Levels are compared in the loudest part of what people hear: power between 200 Hz and 8 kHz, so
# that wind and handling noise below it do not decide.


LEVEL_BAND_HZ = (200.0, 8_000.0)
MAX_GAIN_DB = 12.0  # largest gain and attenuation
PEAK_LIMIT_DB = -1.0  # no gain raises a peak above this, relative to full scale
SILENCE_DB = -90.0  # quieter pieces are left as they are


def match_levels(pieces: Sequence[Samples], rate: int) -> list[float]:
    """Return the gain of each piece in dB that brings it to the median level of all pieces.

    The level is the mean power between 200 Hz and 8 kHz. Gains are at most 12 dB in either
    direction, and no gain raises the peak of a piece above −1 dB; silent pieces have a gain of 0.

    >>> [round(gain, 1) for gain in match_levels([np.ones(9), np.zeros(9)], 8_000)]
    [0.0, 0.0]
    """
    levels = [_band_level(piece, rate) for piece in pieces]
    audible = [level for level in levels if level > SILENCE_DB]
    if not audible:
        return [0.0] * len(pieces)
    median = float(np.median(audible))
    gains = []
    for piece, level in zip(pieces, levels, strict=True):
        peak = _to_decibels(float(np.abs(piece).max(initial=0.0)) ** 2)
        headroom = max(0.0, PEAK_LIMIT_DB - peak)
        gain = min(MAX_GAIN_DB, headroom, max(-MAX_GAIN_DB, median - level))
        gains.append(gain if level > SILENCE_DB else 0.0)
    return gains


def _band_level(piece: Samples, rate: int) -> float:
    """Return the mean power of a piece between 200 Hz and 8 kHz, in dB relative to full scale."""
    if not len(piece):
        return -np.inf
    spectrum = np.fft.rfft(np.asarray(piece, np.float64), axis=0)
    hertz = np.fft.rfftfreq(len(piece), 1 / rate)
    inside = (hertz >= LEVEL_BAND_HZ[0]) & (hertz <= LEVEL_BAND_HZ[1])
    powers = (np.abs(spectrum[inside]) ** 2).sum(axis=0) * 2 / len(piece) ** 2
    return _to_decibels(float(np.mean(powers)))


def _to_decibels(power: float) -> float:
    return float(10 * np.log10(power)) if power > 0 else -np.inf


def apply_gain(samples: Samples, gain: float) -> Samples:
    """Return samples amplified by a gain in dB."""
    return samples if gain == 0 else samples * np.float32(10 ** (gain / 20))


def to_int16(samples: Samples) -> NDArray[np.int16]:
    """Return samples as 16-bit integers, as in the file if it has 16 bits."""
    scaled = samples * np.float32(32768)
    np.clip(np.rint(scaled, out=scaled), -32768, 32767, out=scaled)
    return scaled.astype("<i2")


def fit_frames(pieces: Iterable[Samples], frames: int) -> Iterator[Samples]:
    """Yield pieces up to a number of frames, and silence if there are fewer."""
    left, last = frames, np.zeros((0, 1))
    for piece in pieces:
        last = piece[:left]
        left -= len(last)
        yield last
        if not left:
            return
    for start in range(0, left, 1 << 20):
        yield np.zeros((min(1 << 20, left - start), last.shape[1]))


# --- Sample-rate conversion ----------------------------------------------------------------------


RESAMPLING_HALF_LENGTH = 10  # of SciPy's default filter, in periods of the lower rate


def load_soxr() -> Any:
    """Return soxr, or raise an error if it is not installed."""
    if find_spec("soxr") is None:
        raise MissingExtra("soxr", "audio", "resampling")
    return import_module("soxr")


def resample(samples: Samples, rate: int, wanted: int) -> Samples:
    """Return samples at another sample rate, low-pass filtered; one column per channel."""
    if rate == wanted:
        return samples
    from scipy.signal import resample_poly

    common = gcd(rate, wanted)
    converted = resample_poly(samples, wanted // common, rate // common, axis=0)
    return np.asarray(converted, samples.dtype)


def resample_pieces(pieces: Iterable[Samples], rate: int, wanted: int) -> Iterator[Samples]:
    """Yield pieces at another sample rate; joined, they equal ``resample`` of the joined pieces.

    Each conversion starts at a sample that exists at both rates, and includes the samples before
    and after it that the filter spans.
    """
    if rate == wanted:
        yield from pieces
        return
    up, down = wanted // gcd(rate, wanted), rate // gcd(rate, wanted)
    reach = -(-RESAMPLING_HALF_LENGTH * max(up, down) // up)  # samples on either side of a sample
    margin = -(-reach // down) * down
    held: Samples | None = None
    start = done = 0  # positions of the first held sample, and of the first one to convert
    for piece in pieces:
        held = piece if held is None else np.concatenate([held, piece])
        ready = (start + len(held) - reach) // down * down
        if ready > done:
            converted = resample(held, rate, wanted)
            yield converted[(done - start) // down * up : (ready - start) // down * up]
            kept = max(0, ready - margin)
            held, start, done = held[kept - start :], kept, ready
    if held is not None and len(held):
        yield resample(held, rate, wanted)[(done - start) // down * up :]


# --- Decimation to a low rate --------------------------------------------------------------------
# At about 1,000 samples per second, a day is small enough for cross-correlation. Samples are
# arranged as rows of a matrix, so that filtering a day is one product.


Floats = NDArray[np.float32]
PASSBAND_FRACTION = 0.7  # of the Nyquist frequency at the low rate
FILTER_SPAN_SAMPLES = 8  # length of the filter in low-rate samples


class LowRateSound(NamedTuple):
    """Audio at a low rate; ``start`` is the position of the first source sample."""

    start: int
    samples: Floats


def decimation_factor(rate: int, low_rate: int) -> int:
    """Return the number of samples per low-rate sample."""
    return max(1, round(rate / low_rate))


def decimate(samples: NDArray[Any], factor: int) -> Floats:
    """Return low-rate samples, without those for which the filter exceeds the end."""
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
    """Yield decimated audio of pieces with their positions; consecutive pieces are joined."""
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
    """Return a Kaiser-windowed sinc, one column per low-rate sample that it spans."""
    places = np.arange(FILTER_SPAN_SAMPLES * factor) - (FILTER_SPAN_SAMPLES * factor - 1) / 2
    cutoff = PASSBAND_FRACTION / factor
    taps = cutoff * np.sinc(cutoff * places) * np.kaiser(len(places), 6)
    return np.ascontiguousarray(taps.reshape(FILTER_SPAN_SAMPLES, factor).T, np.float32)


# --- Low-pass filters ----------------------------------------------------------------------------


STOPBAND_DB = 60.0  # stopband attenuation
TRANSITION_HZ = 500.0  # width of the transition band


def low_pass(samples: Samples, rate: int, cutoff: float) -> Samples:
    """Return audio low-pass filtered at ``cutoff`` Hz, of the same length.

    The passband is flat to 0.1 dB up to the cutoff; from 500 Hz above it, attenuation is 60 dB. The
    filter is symmetric and its delay is compensated, so listeners can switch between versions
    without a jump.
    """
    if not can_pass(rate, cutoff):
        raise UsageError(f"audio at {rate} Hz has no content above {cutoff:g} Hz to filter out")
    width = 2 * np.pi * TRANSITION_HZ / rate
    half = int(np.ceil((STOPBAND_DB - 7.95) / (2.285 * width) / 2))
    middle = 2 * (cutoff + TRANSITION_HZ / 2) / rate
    places = np.arange(-half, half + 1)
    # a Kaiser-windowed sinc of odd length
    taps = middle * np.sinc(middle * places) * np.kaiser(2 * half + 1, 0.1102 * (STOPBAND_DB - 8.7))
    taps /= taps.sum()
    size = len(samples) + len(taps) - 1
    spectrum = np.fft.rfft(samples, size, axis=0)
    filtered = np.fft.rfft(taps, size)
    shaped = filtered if samples.ndim == 1 else filtered[:, None]
    whole = np.fft.irfft(spectrum * shaped, size, axis=0)
    delay = len(taps) // 2
    return np.asarray(whole[delay : delay + len(samples)])


def can_pass(rate: int, cutoff: float) -> bool:
    """Whether audio at a sample rate has content above a frequency."""
    return rate / 2 > cutoff + TRANSITION_HZ
