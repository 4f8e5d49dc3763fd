"""Low-pass filters whose output is neither early nor late."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Samples = NDArray[Any]
STOPPED = 60.0  # dB that is left out is down by
SLOPE = 500.0  # Hz from what is kept whole to what is stopped


def low_pass(samples: Samples, rate: int, cutoff: float) -> Samples:
    """Sound without what lies above a frequency, a column a channel; as long as before.

    Up to the cutoff it is kept to 0.1 dB, from 500 Hz above it is down by 60 dB. The filter is
    symmetric and its delay is taken out, so that sounds can be switched without a jump.
    """
    if not can_pass(rate, cutoff):
        raise UsageError(f"sound at {rate} Hz has nothing above {cutoff:g} Hz to leave out")
    taps = _taps(rate, cutoff)
    size = len(samples) + len(taps) - 1
    spectrum = np.fft.rfft(samples, size, axis=0)
    filtered = np.fft.rfft(taps, size)
    shaped = filtered if samples.ndim == 1 else filtered[:, None]
    whole = np.fft.irfft(spectrum * shaped, size, axis=0)
    delay = len(taps) // 2
    return np.asarray(whole[delay : delay + len(samples)])


def can_pass(rate: int, cutoff: float) -> bool:
    """Whether sound at a rate has anything above a frequency."""
    return rate / 2 > cutoff + SLOPE


def _taps(rate: int, cutoff: float) -> Samples:
    """A sinc in a Kaiser window, of odd length."""
    width = 2 * np.pi * SLOPE / rate
    half = int(np.ceil((STOPPED - 7.95) / (2.285 * width) / 2))
    middle = 2 * (cutoff + SLOPE / 2) / rate
    places = np.arange(-half, half + 1)
    taps = middle * np.sinc(middle * places) * np.kaiser(2 * half + 1, 0.1102 * (STOPPED - 8.7))
    return np.asarray(taps / taps.sum())
