"""Acoustic indices per band for false-colour pictures: complexity, entropy and events.

Three indices of Towsey et al. (2014), "Visualization of long-duration acoustic recordings of the
environment", Procedia Computer Science 29, per band b. With the amplitude ``a`` of a frame
(10^(dB / 20)) and its energy ``e`` = a²:

- acoustic complexity: ACI = Σ |a(t+1) − a(t)| / Σ a(t), over consecutive frames of 5.12 s;
- temporal entropy, as concentration of energy in time: 1 − H, with H = −Σ p log p / log N and
  p = e / Σ e, over N present frames. Since −Σ p log p = log Σ e − Σ e log e / Σ e, it follows
  from sums;
- events per second: how often the level rises above the median of its 5.12 s by more than 6 dB.

Numerators and denominators are summed over columns of 5.12 s (256 frames, level 8), so the indices
of longer columns follow from added sums. Each index is scaled linearly to bytes 0–254.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import (
    ABSENT_BYTE,
    FRAMES_PER_SECOND,
    MEL_BANDS,
    STEP_DB,
    Bytes,
    decode_decibels,
)

COLOUR_LEVELS = range(8, 13)
COLUMN_FRAMES = 1 << COLOUR_LEVELS[0]
INDEX_NAMES = ("complexity", "entropy", "events")
INDEX_COUNT = len(INDEX_NAMES)
INDEX_RANGES = ((0.1, 1.1), (0.0, 0.7), (0.0, 5.0))  # values of the bytes 0 and 254
SUM_COUNT = 6  # per band: changes, amplitudes, energies, energies × log, events, frames
EVENT_STEPS = round(6 / STEP_DB)  # bytes above the median
PORTION_COLUMNS = 64  # columns at a time, to save memory
MAX_INDEX_BYTE = ABSENT_BYTE - 1
Floats = NDArray[np.float32]

AMPLITUDES = (10 ** (decode_decibels(np.arange(256, dtype=np.uint8)) / 20)).astype(np.float32)
AMPLITUDES[0] = 0
ENERGIES = AMPLITUDES.astype(np.float64) ** 2
ENERGY_LOGS = (ENERGIES * np.log2(np.where(ENERGIES > 0, ENERGIES, 1))).astype(np.float32)


def sum_indices(rows: Bytes) -> Floats:
    """Return the sums of columns of 256 frames: column × sum × band; the last may have fewer."""
    step = PORTION_COLUMNS * COLUMN_FRAMES
    parts = [_sum_portion(rows[at : at + step]) for at in range(0, len(rows), step)]
    return np.concatenate([np.zeros((0, SUM_COUNT, MEL_BANDS), np.float32), *parts])


def _sum_portion(rows: Bytes) -> Floats:
    count = -(-len(rows) // COLUMN_FRAMES)
    columns = np.full((count, COLUMN_FRAMES, MEL_BANDS), ABSENT_BYTE, np.uint8)
    columns.reshape(-1, MEL_BANDS)[: len(rows)] = rows
    is_present = columns[..., 0] != ABSENT_BYTE
    amplitudes, logs = AMPLITUDES.take(columns), ENERGY_LOGS.take(columns)
    is_consecutive = is_present[:, 1:] & is_present[:, :-1]
    changes = np.abs(np.diff(amplitudes, axis=1)) * is_consecutive[..., None]
    amplitudes[~is_present] = logs[~is_present] = 0
    sums = np.empty((count, SUM_COUNT, MEL_BANDS), np.float32)
    for place, values in enumerate((changes, amplitudes, np.square(amplitudes), logs)):
        sums[:, place] = values.sum(axis=1)
    sums[:, 4] = _count_events(columns, is_present)
    sums[:, 5] = is_present.sum(axis=1)[:, None]
    return sums


def _count_events(columns: Bytes, is_present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often each band of each column rises above its median."""
    # absent frames are sorted last, and the lower median of the others is at half their number
    places = np.maximum(0, is_present.sum(axis=1) - 1) // 2
    ordered = np.partition(columns, np.unique(places), axis=1)
    medians = ordered[np.arange(len(columns)), places].astype(np.int16)
    is_loud = (columns.astype(np.int16) > medians[:, None] + EVENT_STEPS) & is_present[..., None]
    return np.asarray((is_loud[:, 1:] & ~is_loud[:, :-1]).sum(axis=1) + is_loud[:, 0])


def index_bytes(sums: Floats) -> Bytes:
    """Return the indices of columns as bytes: column × index × band; 255 is absent."""
    changes, amplitudes, energies, logs, events, frames = np.moveaxis(sums.astype(np.float64), 1, 0)
    values = np.zeros((len(sums), INDEX_COUNT, MEL_BANDS))
    is_heard = energies > 0
    divide = {"where": is_heard, "out": np.zeros_like(energies)}
    values[:, 0] = np.divide(changes, amplitudes, **divide)
    nats = np.log2(energies, where=is_heard, out=np.zeros_like(energies))
    entropies = nats - np.divide(logs, energies, where=is_heard, out=np.zeros_like(energies))
    values[:, 1] = np.where(
        is_heard & (frames > 1), 1 - entropies / np.log2(np.maximum(2, frames)), 0
    )
    values[:, 2] = events * FRAMES_PER_SECOND / np.maximum(1, frames)
    low, high = np.array(INDEX_RANGES).T[..., None]
    scaled = np.rint((values - low) / (high - low) * MAX_INDEX_BYTE)
    found: Bytes = np.clip(scaled, 0, MAX_INDEX_BYTE).astype(np.uint8)
    found[frames[:, 0] == 0] = ABSENT_BYTE
    return found
