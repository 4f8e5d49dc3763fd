"""Levels of the picture against a slow twin that loops over columns and bands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.audio.logmel import ABSENT_BYTE, MEL_BANDS, Bytes
from earwitness.models.cache import open_sealed
from earwitness.navigator.indices import COLUMN_FRAMES
from earwitness.navigator.pyramid import (
    STORED_LEVELS,
    Pyramid,
    PyramidBuilder,
    count_columns,
    max_bytes,
    mean_bytes,
    pool_frames,
)


def random_frames(count: int, seed: int = 0) -> Bytes:
    """Frames with some stretches that are absent."""
    random = np.random.default_rng(seed)
    frames = random.integers(0, ABSENT_BYTE, (count, MEL_BANDS)).astype(np.uint8)
    for start in random.integers(0, count, 1 + count // 400):
        frames[start : start + random.integers(1, 300)] = ABSENT_BYTE
    return frames


def plain_levels(frames: Bytes, size: int) -> tuple[list[list[int]], list[list[int]]]:
    """Mean and maximum of every column and band, one by one, in integers."""
    means, loudest = [], []
    for start in range(0, len(frames), size):
        present = [row for row in frames[start : start + size].tolist() if row[0] != ABSENT_BYTE]
        if not present:
            means.append([ABSENT_BYTE] * MEL_BANDS)
            loudest.append([ABSENT_BYTE] * MEL_BANDS)
            continue
        bands = list(zip(*present, strict=True))
        means.append([int(sum(band) / len(band) + 0.5) for band in bands])
        loudest.append([max(band) for band in bands])
    return means, loudest


@pytest.mark.parametrize("size", [1, 2, 16])
def test_pooled_frames_are_those_of_the_slow_twin(size: int) -> None:
    frames = random_frames(700)
    pooled = pool_frames(frames, size)
    means, loudest = plain_levels(frames, size)
    assert mean_bytes(pooled.sums, pooled.counts).tolist() == means
    assert max_bytes(pooled.loudest, pooled.counts).tolist() == loudest


@settings(max_examples=10, deadline=None)
@given(parts=st.lists(st.integers(1, 12), min_size=1, max_size=5), rest=st.integers(1, 255))
def test_stored_levels_are_those_of_the_slow_twin_whatever_the_portions(
    parts: list[int], rest: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sizes = [COLUMN_FRAMES * part for part in parts] + [rest]
    frames = random_frames(sum(sizes))
    builder = PyramidBuilder(len(frames), tmp_path_factory.getbasetemp())
    done = 0
    for size in sizes:
        builder.add(frames[done : done + size])
        done += size
    for level in STORED_LEVELS:
        means, loudest = plain_levels(frames, 1 << level)
        assert builder.pyramid.means[level].tolist() == means
        assert builder.pyramid.loudest[level].tolist() == loudest


def test_what_is_not_added_yet_is_absent(tmp_path: Path) -> None:
    frames = random_frames(4 * COLUMN_FRAMES)
    builder = PyramidBuilder(len(frames), tmp_path)
    builder.add(frames[:COLUMN_FRAMES])
    assert (builder.pyramid.loudest[5][8:] == ABSENT_BYTE).all()
    assert (builder.pyramid.colours[8][1:] == ABSENT_BYTE).all()
    # a column of level 12 has what is known of it
    assert builder.pyramid.means[12].tolist() == plain_levels(frames[:COLUMN_FRAMES], 4096)[0]


def test_levels_are_the_same_after_they_were_stored(tmp_path: Path) -> None:
    frames = random_frames(3 * COLUMN_FRAMES + 7)
    builder = PyramidBuilder(len(frames), tmp_path)
    builder.add(frames)
    builder.pyramid.write(tmp_path / "x.sealed")
    sealed = open_sealed(tmp_path / "x.sealed")
    assert sealed is not None
    stored, made = Pyramid.from_sealed(sealed), builder.pyramid
    for levels, others in zip(
        (stored.means, stored.loudest, stored.colours),
        (made.means, made.loudest, made.colours),
        strict=True,
    ):
        assert [one.tolist() for one in levels.values()] == [
            one.tolist() for one in others.values()
        ]


def test_a_tenth_of_a_second_is_visible_in_the_maximum_of_the_highest_level(tmp_path: Path) -> None:
    frames = np.full((4096, MEL_BANDS), 40, np.uint8)
    frames[2000:2005, 20] = 150
    builder = PyramidBuilder(len(frames), tmp_path)
    builder.add(frames)
    assert builder.pyramid.loudest[12][0, 20] == 150
    assert builder.pyramid.means[12][0, 20] == 40


@pytest.mark.parametrize(("level", "count"), [(-4, 16_000), (0, 1000), (5, 32), (12, 1)])
def test_columns_of_a_level(level: int, count: int) -> None:
    assert count_columns(1000, level) == count
