"""Every fast kernel against its slow plain twin."""

from __future__ import annotations

import random
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms import bootstrap as slow_bootstrap
from algorithms import chunks as slow_chunks
from algorithms import collar as slow_collar
from earwitness.chapters import matching as matching_module
from earwitness.chapters.matching import greedy_matches
from earwitness.chapters.metrics import Chunks, Collar
from earwitness.stats.arrays import Ragged, split, weighted_sums
from earwitness.stats.bootstrap import (
    Bootstrap,
    multinomial_weights,
    percentile_interval,
    poisson_weights,
)
from helpers.samples import Sample, chunk_sizes, collars, columns, many, nasty, sample


@given(st.lists(sample, min_size=1, max_size=6), chunk_sizes)
def test_chunk_values_of_a_batch_are_those_of_the_plain_version(
    samples: list[Sample], chunk_size: float
) -> None:
    metric = Chunks(chunk_size)
    values = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(values, samples, strict=True):
        want = slow_chunks.scores(one["hypothesis"], one["reference"], one["duration"], chunk_size)
        assert want or np.isnan(row).all()
        for value, number in zip(metric.values, row, strict=True):
            if want:
                assert number == pytest.approx(want[value.name], abs=1e-12), value.name


def test_chunk_values_of_nasty_samples_are_those_of_the_plain_version() -> None:
    rng = random.Random(1)
    for _ in range(many(15, 400)):
        size = rng.choice([0.1, 1.0, 6.0, rng.uniform(0.1, 30)])
        batch = [nasty(rng, size, rng.choice([1, 2, 7, 50, 300])) for _ in range(10)]
        metric = Chunks(size)
        values = metric.score(metric.measure_many(columns(batch)))
        for row, one in zip(values, batch, strict=True):
            want = slow_chunks.scores(one["hypothesis"], one["reference"], one["duration"], size)
            assert row.tolist() == pytest.approx(
                [*want.values()] or [nan] * 13, abs=1e-12, nan_ok=True
            )


@given(st.lists(sample, min_size=1, max_size=6), collars)
def test_collar_values_of_a_batch_are_those_of_the_plain_version(
    samples: list[Sample], collar: float
) -> None:
    metric = Collar(collar)
    values = metric.score(metric.measure_many(columns(samples)))
    for row, one in zip(values, samples, strict=True):
        want = slow_collar.scores(one["hypothesis"], one["reference"], collar)
        assert row.tolist() == pytest.approx(list(want.values()), abs=1e-12)


def test_matching_in_portions_gives_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(2)
    batch = [nasty(rng, 6.0, 100) for _ in range(60)]
    output, reference = (
        Ragged.from_rows([s[k] for s in batch]) for k in ("hypothesis", "reference")
    )
    whole = greedy_matches(output, reference, 30.0)
    monkeypatch.setattr(matching_module, "PAIRS_IN_MEMORY", 50)
    assert greedy_matches(output, reference, 30.0).tolist() == whole.tolist()
    assert whole.sum() > 100


def test_an_infinite_boundary_never_matches() -> None:
    inf = float("inf")
    assert greedy_matches(
        Ragged.from_rows([[5.0, inf]]), Ragged.from_rows([[inf, 6.0]]), 3.0
    ).tolist() == [1]


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 2**64 - 1))
def test_multinomial_weights_are_those_of_the_plain_version(n: int, draws: int, seed: int) -> None:
    rows = np.concatenate(list(multinomial_weights(n, draws, seed)))
    assert rows.astype(int).tolist() == slow_bootstrap.multinomial_counts(n, draws, seed)


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5),
    st.integers(1, 30),
    st.integers(0, 2**64 - 1),
)
def test_poisson_weights_are_those_of_the_plain_version(
    hashes: list[int], draws: int, seed: int
) -> None:
    rows = poisson_weights(np.array(hashes, np.uint64), draws, seed)
    assert rows.tolist() == [slow_bootstrap.poisson_weights(h, draws, seed) for h in hashes]


@given(st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), min_size=1, max_size=50))
def test_weighted_sums_are_exact_to_a_rounding_per_addend(pairs: list[tuple[int, float]]) -> None:
    weights, values = [w for w, _ in pairs], [v for _, v in pairs]
    parts = split(np.array(values)[:, None])
    sums = weighted_sums(np.array([weights], np.float64), parts)
    want = slow_bootstrap.exact_sum(weights, values)
    last = 2**-52 * want  # the rounding of the result itself
    assert abs((sums[0] + sums[1])[0, 0] - want) <= 2**-55 * sum(weights) + last


@pytest.mark.parametrize("limit", [100, 3])
def test_intervals_are_those_of_the_plain_version(limit: int) -> None:
    rng = np.random.default_rng(3)
    hashes = np.sort(rng.integers(0, 2**63, 12).astype(np.uint64))
    statistics = np.stack([np.ones(12), rng.random(12)], axis=1)
    bootstrap = Bootstrap(draws=200, seed=5, limit=limit)
    bootstrap.add(hashes, statistics)
    draws = bootstrap.finish().draws
    low, high = percentile_interval(draws[:, 1:] / draws[:, :1], 0.9)
    if limit == 100:
        weights = slow_bootstrap.multinomial_counts(12, 200, 5)
    else:
        rows = [slow_bootstrap.poisson_weights(int(h), 200, 5) for h in hashes]
        weights = [list(column) for column in zip(*rows, strict=True)]
    want = slow_bootstrap.interval(weights, statistics.tolist(), lambda s: s[1] / s[0], 0.9)
    assert (low[0], high[0]) == pytest.approx(want, abs=1e-12)
