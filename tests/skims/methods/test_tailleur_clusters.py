"""K-means from inner products beside K-means with centres."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from earwitness.skims.methods.tailleur import cluster_points
from helpers.random_days import seeds


@given(seeds, st.integers(3, 40), st.integers(1, 6))
def test_every_point_is_nearest_to_its_own_centre_and_no_round_would_change_it(
    seed: int, count: int, wanted: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3)).astype(np.float32)
    found = cluster_points(points, wanted, rng)
    kept = np.unique(found.of)
    centres = np.array([points[found.of == cluster].mean(axis=0) for cluster in kept])
    away = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    own = away[np.arange(count), np.searchsorted(kept, found.of)]
    assert np.all(own <= away.min(axis=1) + 1e-4)
    for place, cluster in enumerate(kept):
        members = np.flatnonzero(found.of == cluster)
        assert found.medoids[place] in members
        assert own[found.medoids[place]] <= own[members].min() + 1e-4
        assert found.sizes[place] == len(members)


def test_heaps_that_lie_apart_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    heaps = np.repeat([0, 1, 2], [5, 9, 3])
    points = (heaps[:, None] * 50 + rng.normal(size=(17, 4))).astype(np.float32)
    found = cluster_points(points, 3, rng)
    assert sorted(found.sizes.tolist()) == [3, 5, 9]
    assert len({(heap, of) for heap, of in zip(heaps, found.of, strict=True)}) == 3


def test_equal_points_make_one_cluster() -> None:
    found = cluster_points(np.ones((6, 2), np.float32), 3, np.random.default_rng(1))
    assert found.sizes.tolist() == [6]
    assert found.of.tolist() == [0] * 6
