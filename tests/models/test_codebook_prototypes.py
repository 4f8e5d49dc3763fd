"""Segments and prototypes beside plain versions, one value at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, MEL_BANDS
from earwitness.models.codebook import (
    SoundSegments,
    average_neighbours,
    describe_segments,
    few_classes_note,
    find_prototypes,
    fit_segment_projection,
    measure_classes,
)
from helpers.samples import many


def plain_prototypes(
    vectors: np.ndarray, count: int, support: int
) -> tuple[list[int], list[float]]:
    """One distance at a time."""
    middle = vectors.mean(axis=0)
    rows = [min(range(len(vectors)), key=lambda row: math.dist(vectors[row], middle))]
    separations: list[float] = []
    while len(rows) < count:
        near = [min(math.dist(one, vectors[row]) for row in rows) for one in vectors]
        supported = [row for row in range(len(vectors)) if near[row] > 0]
        supported = [
            row
            for row in supported
            if sum(math.dist(one, vectors[row]) < near[row] / 2 for one in vectors) > support
        ]
        if not supported:
            break
        rows.append(max(supported, key=near.__getitem__))
        separations.append(near[rows[-1]])
    return rows, [*separations[:1], *separations]


@pytest.mark.parametrize("seed", range(many(5, 100)))
def test_prototypes_and_classes_are_those_of_a_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 7))[rng.integers(0, 6, int(rng.integers(30, 60)))]
    vectors = centres + rng.normal(size=centres.shape) * 0.3
    block = np.sort(rng.integers(0, 5, len(vectors)))
    support = int(rng.integers(0, 5))
    found = find_prototypes(vectors, 4, support)
    rows, separations = plain_prototypes(vectors, 4, support)
    assert len(rows) > 1
    assert list(found.rows) == rows
    assert found.separations == pytest.approx(separations, rel=1e-5)
    classes = measure_classes(SoundSegments(vectors, block, block), found, 6)
    for number in range(6):
        for column, (row, separation) in enumerate(zip(rows, separations, strict=True)):
            inside = vectors[block == number]
            nearest = min((math.dist(one, vectors[row]) for one in inside), default=math.inf)
            weight = (separation / max(separations)) ** 2
            expected = weight * max(0.0, 1 - nearest / separation)
            assert classes[number, column] == pytest.approx(expected, abs=1e-5)


def test_a_sound_that_lasts_four_segments_has_the_heaviest_class_and_a_single_one_none() -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 20))
    vectors[320:324] += 9
    vectors[100] -= 20
    found = find_prototypes(vectors, 12)
    assert found.rows[1] in range(320, 324)
    assert 100 not in found.rows
    classes = measure_classes(
        SoundSegments(vectors, np.arange(500) // 4, np.arange(500) % 4), found, 125
    )
    assert classes.argmax(axis=0)[1] == 80
    assert classes[80, 1] == pytest.approx(1)


def test_vectors_are_means_over_complete_neighbours_in_the_block() -> None:
    vectors = np.random.default_rng(1).normal(size=(2, 6, 3))
    is_whole = np.ones((2, 6), np.bool_)
    is_whole[1, 2] = False
    means = average_neighbours(vectors, is_whole)
    for block in range(2):
        for place in range(6):
            near = [n for n in range(max(0, place - 2), min(6, place + 3)) if is_whole[block, n]]
            plain = np.mean([vectors[block, n] for n in near], axis=0)
            assert means[block, place] == pytest.approx(plain, abs=1e-6)
    assert average_neighbours(vectors[:, :1], is_whole[:, :1]).shape == (2, 1, 3)


def test_vectors_that_are_all_alike_have_no_prototypes() -> None:
    assert find_prototypes(np.ones((9, 3)), 4).rows == ()
    assert find_prototypes(np.zeros((0, 3)), 4).rows == ()
    assert "the same throughout" in few_classes_note(500, 0)
    assert "too few" in few_classes_note(15)
    assert "less reliable" in few_classes_note(95)
    assert few_classes_note(96) == ""


def test_values_of_segments_are_those_of_a_plain_version_and_ignore_loudness() -> None:
    rng = np.random.default_rng(2)
    portion = rng.integers(0, 200, (2, 25, MEL_BANDS)).astype(np.uint8)
    values, is_whole = describe_segments(portion, 10)
    assert values.shape == (2, 2, 4 * MEL_BANDS)
    assert is_whole.all()
    frames = portion[1, 10:20].astype(float)
    frames -= frames.mean(axis=1, keepdims=True)
    fives = [frames[:5].mean(axis=0), frames[5:].mean(axis=0)]
    changes = np.mean([abs(frames[n + 1] - frames[n]) for n in range(9)], axis=0)
    plain = [frames.mean(axis=0), frames.max(axis=0), changes, abs(fives[1] - fives[0])]
    assert values[1, 1] == pytest.approx(np.concatenate(plain), abs=1e-3)
    louder, _ = describe_segments(portion + np.uint8(20), 10)
    assert louder == pytest.approx(values, abs=1e-3)


def test_incomplete_segments_are_marked() -> None:
    portion = np.full((1, 20, MEL_BANDS), 100, np.uint8)
    portion[0, 13] = ABSENT_BYTE
    _, is_whole = describe_segments(portion, 10)
    assert is_whole.tolist() == [[True, False]]


def test_constant_values_do_not_count_in_the_projection() -> None:
    values = np.random.default_rng(3).normal(size=(200, 6)).astype(np.float32)
    values[:, 4] = 7
    fitted = fit_segment_projection(values)
    assert not fitted.projection[4].any()
    silent = fit_segment_projection(np.zeros((50, 6), np.float32))
    assert silent.projection.shape == (6, 0)
