"""Sound as YAMNet sees it: patches of 96 log-mel frames.

A frame is 400 samples at 16 kHz in a periodic Hann window, every 160 samples; its magnitudes (FFT
of 512) are summed by 64 triangles from 125 to 7,500 Hz, which are evenly spaced and straight on the
mel scale of HTK, and ln(sum + 0.001) is taken. Patches begin every 48 frames.

Reference: Plakal and Ellis (2020), YAMNet, in the TensorFlow model garden.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
RATE = 16_000
WINDOW, STEP, TRANSFORM = 400, 160, 512  # samples
BANDS, LOWEST, HIGHEST = 64, 125.0, 7500.0
OFFSET = 0.001
FRAMES, HOP = 96, 48  # of a patch, between patches
LENGTH = WINDOW + (FRAMES - 1) * STEP  # samples of a patch


def patches(samples: Floats) -> Floats:
    """All patches of a sound: patches × 96 × 64."""
    frames = log_mel(filled(samples))
    return np.stack([frames[start : start + FRAMES] for start in _starts(len(frames))])


def windows(samples: Floats) -> Floats:
    """The samples behind the patches, for models that have their own front end."""
    whole = filled(samples)
    frames = 1 + (len(whole) - WINDOW) // STEP
    return np.stack([whole[at * STEP : at * STEP + LENGTH] for at in _starts(frames)])


def filled(samples: Floats) -> Floats:
    """Zeros behind a sound that is shorter than a patch."""
    return np.pad(samples, (0, max(0, LENGTH - len(samples)))).astype(np.float32, copy=False)


def _starts(frames: int) -> list[int]:
    """Every 48 frames, and once more so that the last patch ends with the sound."""
    last = frames - FRAMES
    return sorted({*range(0, last + 1, HOP), last})


def log_mel(samples: Floats) -> Floats:
    """A row a frame; samples that do not fill a frame are left out."""
    from scipy.fft import rfft

    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::STEP]
    magnitudes = np.abs(rfft(frames * _hann(), TRANSFORM, axis=1))
    return np.asarray(np.log(magnitudes @ _triangles() + np.float32(OFFSET)), np.float32)


@cache
def _hann() -> Floats:
    places = np.arange(WINDOW) / WINDOW
    return (0.5 - 0.5 * np.cos(2 * np.pi * places)).astype(np.float32)


@cache
def _triangles() -> Floats:
    """A row a bin of the transform, a column a band; what is at 0 Hz counts for nothing."""
    bins = _mel(np.arange(TRANSFORM // 2 + 1) * RATE / TRANSFORM)[:, None]
    edges = np.linspace(_mel(LOWEST), _mel(HIGHEST), BANDS + 2)
    lower, middle, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - lower) / (middle - lower), (upper - bins) / (upper - middle)
    weights = np.maximum(0, np.minimum(rising, falling))
    weights[0] = 0
    return np.asarray(weights, np.float32)


def _mel(hertz: Any) -> Any:
    return 1127 * np.log1p(np.asarray(hertz) / 700)
