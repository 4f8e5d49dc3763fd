"""Acoustic indices against their formulas, frame by frame."""

from __future__ import annotations

from math import log2
from statistics import median_low

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, FLOOR_DB, MEL_BANDS, STEP_DB, Bytes
from earwitness.navigator.indices import (
    COLUMN_FRAMES,
    INDEX_RANGES,
    MAX_INDEX_BYTE,
    index_bytes,
    sum_indices,
)


def plain_indices(columns: list[Bytes], band: int) -> list[float]:
    """Complexity, concentration of energy and events per second, by their definitions."""
    changes = amplitudes = 0.0
    energies: list[float] = []
    events = 0
    for column in columns:
        levels = [None if row[0] == ABSENT_BYTE else int(row[band]) for row in column]
        sounds = [
            None if x is None else 10 ** ((FLOOR_DB + STEP_DB * x) / 20) * (x > 0) for x in levels
        ]
        present = [x for x in levels if x is not None]
        threshold = median_low(present) + 6 / STEP_DB if present else 0
        was_loud = False
        for number, (level, sound) in enumerate(zip(levels, sounds, strict=True)):
            is_loud = level is not None and level > threshold
            events += is_loud and not was_loud
            was_loud = is_loud
            if sound is None:
                continue
            amplitudes += sound
            energies.append(sound**2)
            before = sounds[number - 1] if number else None
            changes += 0 if before is None else abs(sound - before)
    total = sum(energies)
    shares = [one / total for one in energies if one]
    entropy = -sum(share * log2(share) for share in shares) / log2(len(energies))
    return [changes / amplitudes, 1 - entropy, events / (len(energies) / 50)]


@pytest.mark.parametrize("seed", range(3))
def test_indices_follow_from_their_definitions_at_every_level(seed: int) -> None:
    random = np.random.default_rng(seed)
    frames = random.normal(80, 12, (4 * COLUMN_FRAMES, MEL_BANDS)).clip(0, 254).astype(np.uint8)
    frames[300:420] = frames[511:514] = ABSENT_BYTE
    frames[600:640, 3] = 200
    columns = [frames[at : at + COLUMN_FRAMES] for at in range(0, len(frames), COLUMN_FRAMES)]
    sums = sum_indices(frames)
    joined = np.add.reduceat(sums, [0, 2], axis=0)
    for found, groups in (
        (index_bytes(sums), [[column] for column in columns]),
        (index_bytes(joined), [columns[:2], columns[2:]]),
    ):
        for place, group in enumerate(groups):
            for band in (0, 3, 39):
                for number, value in enumerate(plain_indices(group, band)):
                    low, high = INDEX_RANGES[number]
                    byte = min(1.0, max(0.0, (value - low) / (high - low))) * MAX_INDEX_BYTE
                    assert found[place, number, band] == pytest.approx(byte, abs=0.6)


def test_steady_levels_have_no_complexity_and_no_events() -> None:
    assert index_bytes(sum_indices(np.full((256, MEL_BANDS), 90, np.uint8))).max() == 0


def test_silence_is_no_absence() -> None:
    frames = np.zeros((512, MEL_BANDS), np.uint8)
    frames[256:] = ABSENT_BYTE
    found = index_bytes(sum_indices(frames))
    assert (found[0] == 0).all()
    assert (found[1] == ABSENT_BYTE).all()
