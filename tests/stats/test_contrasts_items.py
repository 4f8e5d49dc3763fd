"""The two-way test of systems with different items is that of plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import draw_weights, two_way_draws
from earwitness.stats.contrasts import two_way_contrasts, two_way_differences
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Codes, Votes
from helpers.samples import many
from helpers.simulated_votes import Crowd, crowd_votes, drawn, two_way_p


def plain_clusters(votes: Votes, a: int, b: int, clusters: Codes) -> tuple[float, float]:
    """Variance of a difference over clusters and its degrees of freedom, by loops."""
    parts, rated = [], []
    for system in (a, b):
        own = votes.systems == system
        deviations = (votes.values[own] - votes.values[own].mean()) / own.sum()
        names = sorted(set(clusters[own].tolist()))
        factor = math.sqrt(len(names) / (len(names) - 1))
        parts.append({name: factor * deviations[clusters[own] == name].sum() for name in names})
        rated.append(names)
    every = {*rated[0], *rated[1]}
    variance = sum((parts[0].get(name, 0) - parts[1].get(name, 0)) ** 2 for name in every)
    squares = [sum(value**2 for value in part.values()) for part in parts]
    bottom = sum(x**2 / (len(names) - 1) for x, names in zip(squares, rated, strict=True))
    return float(variance), min(sum(squares) ** 2 / bottom, len(every) - 1)


def plain_two_way_p(votes: Votes, a: int, b: int) -> float:
    """The two-way test of one pair, by loops over its parts."""
    from scipy.stats import t

    is_over_items, item_freedom = plain_clusters(votes, a, b, votes.items)
    over_listeners, listener_freedom = plain_clusters(votes, a, b, votes.listeners)
    over_votes, _ = plain_clusters(votes, a, b, votes.items * votes.size[2] + votes.listeners)
    variance = max(is_over_items + over_listeners - over_votes, is_over_items, over_listeners)
    means = [votes.values[votes.systems == system].mean() for system in (a, b)]
    freedom = min(item_freedom, listener_freedom)
    return float(2 * t.sf(abs(means[0] - means[1]) / variance**0.5, freedom))


@pytest.mark.parametrize("shared", [0, 2, 6])
def test_the_two_way_test_is_that_of_its_parts(shared: int) -> None:
    rng = np.random.default_rng(shared)
    for _ in range(many(5, 100)):
        whole = drawn(rng, Components(0.5, 0.4, 0.3, 0.3, 0.7), np.array([3.0, 3.3, 2.5]), 6, 9)
        is_own = whole.items >= shared
        items = np.where(is_own, 6 * (1 + whole.systems) + whole.items, whole.items)
        votes = replace(whole, items=items, size=(3, 24, 9)).select(rng.random(162) < 0.8)
        pairs = [(0, 1), (2, 0)]
        found = two_way_contrasts(votes, pairs)
        for (difference, p), pair in zip(found, pairs, strict=True):
            means = [votes.values[votes.systems == system].mean() for system in pair]
            assert difference.value == pytest.approx(means[0] - means[1])
            assert p == pytest.approx(plain_two_way_p(votes, *pair), rel=1e-9)
            assert (p < 0.05) == (difference.low > 0 or difference.high < 0)


def test_the_two_way_test_needs_two_items_and_two_listeners() -> None:
    whole = drawn(np.random.default_rng(1), Components(residual=1.0), np.zeros(2), 4, 5)
    for votes in (
        whole.select((whole.systems == 0) | (whole.items == 1)),
        whole.select((whole.systems == 0) | (whole.listeners == 1)),
    ):
        ((difference, p),) = two_way_contrasts(votes, [(0, 1)])
        assert math.isnan(p)
        assert math.isnan(difference.low)
    assert two_way_contrasts(whole, []) == []


CROWDS = {
    "one vote per listener": Crowd(80, 120, 120),
    "one and a third": Crowd(80, 120, 160),
    "two": Crowd(80, 120, 240),
    "two, one on each system": Crowd(80, 120, 240, both=True),
    "twenty": Crowd(80, 60, 1200),
}


@pytest.mark.parametrize("name", CROWDS)
def test_the_two_way_error_is_that_of_resampled_listeners_and_items(name: str) -> None:
    """The two-way bootstrap counts single votes twice too often (Owen 2007): they are resampled."""
    votes = crowd_votes(np.random.default_rng(5), CROWDS[name], 1)
    over_both = spread_of_draws(two_way_draws(votes, 4000, 0))
    one_way = [
        spread_of_draws(resampled_means(votes, clusters, 4000))
        for clusters in (votes.items, votes.listeners, np.arange(len(votes.values)))
    ]
    expected = max(over_both - 2 * one_way[2], one_way[0], one_way[1])
    error = two_way_differences(votes, [(0, 1)]).error[0]
    assert error**2 == pytest.approx(expected, rel=0.15)
    assert error**2 < over_both


def resampled_means(votes: Votes, clusters: Codes, draws: int) -> Floats:
    """Means of both systems, with clusters resampled, one row per draw."""
    weights = draw_weights(int(clusters.max()) + 1, draws, np.random.default_rng(1))[:, clusters]
    columns = [weights[:, votes.systems == system] for system in (0, 1)]
    values = [votes.values[votes.systems == system] for system in (0, 1)]
    means = [w @ x / w.sum(axis=1) for w, x in zip(columns, values, strict=True)]
    return np.stack(means, axis=1)


def spread_of_draws(means: Floats) -> float:
    return float((means[:, 0] - means[:, 1]).var())


@pytest.mark.parametrize("name", CROWDS)
def test_two_way_intervals_are_bounded_by_one_way_intervals(name: str) -> None:
    from scipy.special import stdtrit

    crowd = CROWDS[name]
    votes = crowd_votes(np.random.default_rng(6), crowd, 50)
    pairs = [(2 * study, 2 * study + 1) for study in range(50)]
    for (difference, _), pair in zip(two_way_contrasts(votes, pairs), pairs, strict=True):
        parts = [plain_clusters(votes, *pair, codes) for codes in (votes.items, votes.listeners)]
        t = stdtrit(min(freedom for _, freedom in parts), 0.975)
        one_way = [t * math.sqrt(variance) for variance, _ in parts]
        half_width = (difference.high - difference.low) / 2
        assert max(one_way) - 1e-9 <= half_width <= math.hypot(*one_way) + 1e-9
        assert t < stdtrit(crowd.items / 4, 0.975)


def test_adding_votes_does_not_lose_a_clear_difference() -> None:
    counts = (65, 70, 75, 80, 82, 85, 90, 100, 110, 120)
    rng = np.random.default_rng(7)
    found = [
        (two_way_p(crowd_votes(rng, Crowd(20, 60, count), 60, 1.5)) < 0.05).mean()
        for count in counts
    ]
    assert min(found) > 0.9
