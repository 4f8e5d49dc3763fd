"""Prototypes beside a plain search for the block that is farthest from all that were taken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.models.codebook import REACH_FACTOR, find_prototypes
from helpers.samples import many


def plain(vectors: np.ndarray, count: int) -> tuple[list[int], list[list[float]]]:
    """One distance at a time."""
    middle = vectors.mean(axis=0)
    first = min(range(len(vectors)), key=lambda row: math.dist(vectors[row], middle))
    rows = [first]
    while len(rows) < count:
        near = [min(math.dist(one, vectors[row]) for row in rows) for one in vectors]
        rows.append(max(range(len(vectors)), key=near.__getitem__))
    near = sorted(min(math.dist(one, vectors[row]) for row in rows) for one in vectors)
    half = len(near) // 2
    median = near[half] if len(near) % 2 else math.sqrt((near[half - 1] ** 2 + near[half] ** 2) / 2)
    away = [[math.dist(one, vectors[row]) for row in rows] for one in vectors]
    return rows, [[math.exp(-((d / (REACH_FACTOR * median)) ** 2)) for d in line] for line in away]


@pytest.mark.parametrize("seed", range(many(5, 100)))
def test_prototypes_are_those_of_a_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(int(rng.integers(9, 60)), 7)).astype(np.float32)
    found = find_prototypes(vectors, 4)
    rows, classes = plain(vectors.astype(np.float64), 4)
    assert list(found.rows) == rows
    assert found.classes == pytest.approx(np.array(classes), abs=1e-4)


def test_what_sounds_once_has_a_prototype_of_its_own() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 20)).astype(np.float32)
    vectors[321] += 9
    assert 321 in find_prototypes(vectors, 2).rows


def test_a_prototype_has_all_of_its_own_class() -> None:
    rng = np.random.default_rng(1)
    found = find_prototypes(rng.normal(size=(80, 5)).astype(np.float32), 10)
    own = found.classes[list(found.rows), np.arange(10)]
    assert own == pytest.approx(np.ones(10), abs=1e-6)
    assert found.classes.min() >= 0
    assert found.classes.max() <= 1


def test_blocks_that_are_all_alike_have_one_prototype_and_no_blocks_have_none() -> None:
    found = find_prototypes(np.ones((9, 3), np.float32), 4)
    assert len(found.rows) == 1
    assert found.classes == pytest.approx(np.ones((9, 1)))
    assert find_prototypes(np.zeros((0, 3), np.float32), 4).classes.shape == (0, 0)
