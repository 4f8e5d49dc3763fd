"""Correlations of columns are those of scipy, in every draw."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from earwitness.stats.bootstrap import draw_weight_blocks, percentile_interval
from earwitness.stats.effects import (
    ClusterResampling,
    centre_within_raters,
    clustered_pearson,
    clustered_spearman,
)

Floats = NDArray[np.float64]
HOW = ClusterResampling(0.9, 60, 3)


def columns(rows: int = 40) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Two columns in tenths that go together, with gaps, in clusters of two."""
    rng = np.random.default_rng(8)
    x = np.round(rng.normal(3, 1, rows), 1)
    y = np.round(0.6 * x + rng.normal(0, 0.8, rows), 0)
    x[3], y[7] = math.nan, math.nan
    return x, y, np.arange(rows) // 2


@pytest.mark.parametrize(
    ("found", "slow"), [(clustered_pearson, stats.pearsonr), (clustered_spearman, stats.spearmanr)]
)
def test_every_draw_is_that_of_rows_that_are_repeated(found, slow) -> None:  # type: ignore[no-untyped-def]
    x, y, clusters = columns()
    both = ~(np.isnan(x) | np.isnan(y))
    a, b, own = x[both], y[both], np.unique(clusters[both], return_inverse=True)[1]
    one = found(x, y, clusters, HOW)
    assert one.value == pytest.approx(slow(a, b).statistic)
    assert (one.n, one.undefined) == (len(a), 2)
    ((weights,),) = draw_weight_blocks((int(own.max()) + 1,), HOW.draws, HOW.seed)
    made = []
    for weight in weights:
        rows = np.repeat(np.arange(len(a)), weight[own].astype(int))
        made.append(slow(a[rows], b[rows]).statistic)
    low, high = percentile_interval(np.array(made)[:, None], HOW.level)
    assert (one.low, one.high) == pytest.approx((low[0], high[0]))


def test_raters_are_centred_over_the_rows_that_have_both() -> None:
    raters = np.array([0, 0, 0, 1, 1])
    values = np.array([[1.0, 5], [3, 7], [9, math.nan], [2, 2], [4, 0]])
    found = centre_within_raters(values, raters)
    # the first rater's means are (1 + 3)/2 and (5 + 7)/2, the second's 3 and 1
    want = [[-1, -1], [1, 1], [math.nan, math.nan], [-1, 1], [1, -1]]
    assert found == pytest.approx(np.array(want), nan_ok=True)


def test_what_raters_share_does_not_make_dimensions_go_together_within_them() -> None:
    rng = np.random.default_rng(2)
    raters = np.repeat(np.arange(30), 40)
    severe = rng.normal(0, 2, 30)[raters]
    values = severe[:, None] + rng.normal(0, 1, (len(raters), 2))
    clusters = np.tile(np.arange(40), 30)
    plain = clustered_pearson(values[:, 0], values[:, 1], clusters, HOW)
    own = centre_within_raters(values, raters)
    assert plain.value > 0.7
    assert abs(clustered_pearson(own[:, 0], own[:, 1], clusters, HOW).value) < 0.1


def test_columns_that_do_not_vary_and_few_clusters_say_nothing() -> None:
    x, y, clusters = columns()
    assert math.isnan(clustered_pearson(np.zeros(len(x)), y, clusters, HOW).value)
    assert math.isnan(clustered_spearman(np.zeros(len(x)), y, clusters, HOW).value)
    few = clustered_pearson(x[:8], y[:8], clusters[:8], HOW)
    assert not math.isnan(few.value)
    assert math.isnan(few.low)
