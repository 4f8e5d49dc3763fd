"""Log-mel frames: 40 bands, 50 frames per second, one byte per band.

A frame is 32 ms in a Hann window; its power is split into triangular bands that are evenly spaced
in mel (O'Shaughnessy's formula, as in HTK) from 50 Hz to 16 kHz, or to half the sample rate if that
is lower. The power of a band is its share of the mean square of the samples, so a full-scale square
wave has a total of 0 dB. Bytes are half decibels above −110 dB: 0 is −110 dB or less, 220 is full
scale, and 255 is an absent frame (damaged or skipped audio).

Processors differ in rounding errors. So frames are computed in single precision, and once more in
double precision where such errors could change a byte: the same samples give the same bytes.

Frame i starts at the sample nearest to i / 50 s at any sample rate. A frame at the end of a stream
is zero-padded, and counts if its 20 ms are complete.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

MEL_BANDS = 40
FRAMES_PER_SECOND = 50
WINDOW_SECONDS = 0.032  # length of a frame
MIN_FREQUENCY_HZ, MAX_FREQUENCY_HZ = 50.0, 16_000.0
FLOOR_DB = -110.0  # level of byte 0
STEP_DB = 0.5  # per byte step
ABSENT_BYTE = 255
# bands between two edges are summed as one group, since few of its weights are 0; the last band is
# the whole spectrum, to which rounding errors are relative
BAND_GROUP_EDGES = (0, 24, 32, MEL_BANDS, MEL_BANDS + 1)
BATCH_FRAMES = 128  # per batch, to fit the CPU cache
LOGMEL_FORMAT = "log-mel/2"  # change it when the bytes for the same audio change
STEPS_PER_NEPER = 10 / (math.log(10) * STEP_DB)  # of power
MIN_POWER, MAX_POWER = (10 ** ((FLOOR_DB + STEP_DB * byte) / 10) for byte in (0, ABSENT_BYTE - 1))
# bounds of rounding errors in byte steps, twice to four times the largest found on x86-64 and
# aarch64: of any level, and for each time that the spectrum's amplitude exceeds that of the band
LEVEL_ERROR, SPECTRUM_ERROR = 1e-4, 1.5e-6

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Reals = NDArray[np.floating]


class MelBandGroup(NamedTuple):
    """Neighbouring bands, their part of the spectrum, and its weights for each band.

    Spectra are alternating real and imaginary parts, so each weight occurs twice.
    """

    bands: slice
    used: slice
    weights: Reals


class Kernel(NamedTuple):
    """Window, transform size and band weights for one sample rate."""

    rate: int
    window: Reals
    size: int
    groups: tuple[MelBandGroup, ...]

    @property
    def reach(self) -> int:
        """Number of samples per frame."""
        return len(self.window)


@cache
def make_kernel(rate: int, precision: type[np.floating] = np.float32) -> Kernel:
    """Return the kernel for a sample rate."""
    if rate <= 2 * MIN_FREQUENCY_HZ:
        raise UsageError(f"audio at {rate} Hz has no bands above {MIN_FREQUENCY_HZ:g} Hz")
    from scipy.fft import next_fast_len

    reach = round(rate * WINDOW_SECONDS)
    size = int(next_fast_len(reach, real=True))
    # a periodic Hann window; scipy.signal, which has one, takes a second to import
    window = 0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, reach + 1)[:-1])
    # weights, one row per bin and one column per band; each band peaks at 1
    bins = np.arange(size // 2 + 1)[:, None] * rate / size
    low, peak, high = (band_edges(rate)[i : i + MEL_BANDS] for i in range(3))
    rising, falling = (bins - low) / (peak - low), (high - bins) / (high - peak)
    triangles = np.maximum(0, np.minimum(rising, falling))
    bands = np.pad(triangles, ((0, 0), (0, 1)), constant_values=1)
    weights = (bands * 2 / (size * (window**2).sum())).astype(precision)
    groups = []
    for columns in (slice(*ends) for ends in pairwise(BAND_GROUP_EDGES)):
        repeated = np.repeat(weights[:, columns], 2, axis=0)
        there = np.flatnonzero(repeated.any(axis=1))
        used = slice(int(there[0]), int(there[-1]) + 1) if len(there) else slice(0, 0)
        groups.append(MelBandGroup(columns, used, repeated[used]))
    return Kernel(rate, window.astype(precision), size, tuple(groups))


def band_edges(rate: int) -> NDArray[np.float64]:
    """Return the edges and peaks of the bands in Hz: two more than there are bands."""
    low, high = (
        2595 * np.log10(1 + f / 700) for f in (MIN_FREQUENCY_HZ, min(MAX_FREQUENCY_HZ, rate / 2))
    )
    return np.asarray(700 * (10 ** (np.linspace(low, high, MEL_BANDS + 2) / 2595) - 1))


def first_sample(frame: int, rate: int) -> int:
    """Return the first sample of a frame."""
    return (frame * rate + FRAMES_PER_SECOND // 2) // FRAMES_PER_SECOND


def frames_within(samples: int, rate: int) -> int:
    """Return the number of frames whose 20 ms are complete within ``samples`` samples."""
    return (FRAMES_PER_SECOND * samples + FRAMES_PER_SECOND // 2 - 1) // rate


def log_mel(samples: Floats, rate: int) -> Bytes:
    """Return the frames of complete audio, one row per frame."""
    return frames_from(samples, rate, 0, frames_within(len(samples), rate))


def frames_from(samples: Floats, rate: int, first: int, count: int) -> Bytes:
    """Return ``count`` frames of a stream whose samples start with those of frame ``first``."""
    mel_kernel, exact_kernel = make_kernel(rate), make_kernel(rate, np.float64)
    powers = np.empty((count, MEL_BANDS + 1), np.float32)
    if not count:
        return encode_powers(powers[:, :MEL_BANDS])
    numbers = np.arange(first, first + count, dtype=np.int64)
    starts = (numbers * rate + FRAMES_PER_SECOND // 2) // FRAMES_PER_SECOND - first_sample(
        first, rate
    )
    lacking = max(0, int(starts[-1]) + mel_kernel.reach - len(samples))
    whole = np.concatenate([samples, np.zeros(lacking, np.float32)]) if lacking else samples
    # sliding_window_view does the same, but its checks take as long as a tenth of the transform
    places = len(whole) - mel_kernel.reach + 1, mel_kernel.reach
    windows = np.lib.stride_tricks.as_strided(whole, places, whole.strides * 2, writeable=False)
    room = np.empty((min(count, BATCH_FRAMES), mel_kernel.reach), np.float32)
    for at in range(0, count, BATCH_FRAMES):
        part = starts[at : at + BATCH_FRAMES]
        even = not rate % FRAMES_PER_SECOND
        chosen = slice(part[0], part[-1] + 1, rate // FRAMES_PER_SECOND) if even else part
        shaped = np.multiply(windows[chosen], mel_kernel.window, out=room[: len(part)])
        _put_powers(shaped, mel_kernel, powers[at : at + BATCH_FRAMES])
    frames, uncertain = _round_powers(powers)
    for at in range(0, len(uncertain), BATCH_FRAMES):
        rows = uncertain[at : at + BATCH_FRAMES]
        exact = np.empty((len(rows), MEL_BANDS + 1))
        _put_powers(windows[starts[rows]] * exact_kernel.window, exact_kernel, exact)
        frames[rows] = encode_powers(exact)
    return frames[:, :MEL_BANDS].astype(np.uint8)


def _put_powers(shaped: Reals, mel_kernel: Kernel, powers: Reals) -> None:
    """Write the power of every band into one row per window, in place to save memory."""
    from scipy.fft import rfft

    spectra = rfft(shaped, mel_kernel.size, axis=1, overwrite_x=True, workers=1)
    parts = spectra.view(powers.dtype)
    np.square(parts, out=parts)
    for group in mel_kernel.groups:
        powers[:, group.bands] = parts[:, group.used] @ group.weights


def _round_powers(powers: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return powers in byte steps, and the rows in which a rounding error could change a byte."""
    errors = SPECTRUM_ERROR * np.sqrt(powers[:, -1:])
    steps = _measure_steps(powers)
    rounded = np.rint(steps)
    steps -= rounded
    room = (0.5 - LEVEL_ERROR - np.abs(steps, out=steps)) * np.sqrt(powers)
    return rounded, np.unique(np.flatnonzero(~(room >= errors)) // powers.shape[1])


def _measure_steps(powers: Reals) -> Reals:
    """Return powers in byte steps; overwrites those beyond the range of bytes."""
    steps = np.log(np.clip(powers, MIN_POWER, MAX_POWER, out=powers))
    steps *= STEPS_PER_NEPER
    steps -= FLOOR_DB / STEP_DB
    return np.asarray(steps)


def encode_powers(powers: Reals) -> Bytes:
    """Return powers as half decibels; overwrites them. NaN counts as the maximum."""
    np.fmin(powers, MAX_POWER, out=powers)  # fmin ignores NaN
    return np.asarray(np.rint(_measure_steps(powers)), np.uint8)


def decode_decibels(frames: Bytes) -> Floats:
    """Return bytes as dB relative to full scale; −110 for silence."""
    return frames * np.float32(STEP_DB) + np.float32(FLOOR_DB)


def frame_levels(frames: Bytes) -> Floats:
    """Return the level of every frame in dB over all bands; NaN for absent frames."""
    powers = 10.0 ** ((np.arange(256) * STEP_DB + FLOOR_DB) / 10)
    powers[0] = 0
    summed = powers.astype(np.float32)[frames].sum(axis=1)
    with np.errstate(divide="ignore"):
        decibels = np.maximum(10 * np.log10(summed), np.float32(FLOOR_DB))
    return np.where(frames[:, 0] == ABSENT_BYTE, np.float32(np.nan), decibels)
