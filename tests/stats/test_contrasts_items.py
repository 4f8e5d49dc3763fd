"""The two-way test of systems with different items is that of plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from earwitness.stats.contrasts import two_way_contrasts
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.simulated_votes import drawn


def plain_two_way_p(votes: Votes, a: int, b: int) -> float:
    """The two-way test of one pair, by loops over its parts."""
    from scipy.stats import t

    by_item, by_listener = np.zeros(votes.size[1]), np.zeros(votes.size[2])
    difference = rest_variance = 0.0
    rest_freedom, rated = 0, []
    for sign, system in ((1, a), (-1, b)):
        own = votes.select(votes.systems == system)
        items, listeners = np.unique(own.items), np.unique(own.listeners)
        rated.append((set(items.tolist()), set(listeners.tolist())))
        n, deviations = len(own.values), own.values - own.values.mean()
        difference += sign * own.values.mean()
        rest = deviations.copy()
        for item in items:
            here = own.items == item
            by_item[item] += (
                sign * deviations[here].sum() / n * (len(items) / (len(items) - 1)) ** 0.5
            )
            rest[here] -= deviations[here].mean()
        for listener in listeners:
            here, count = own.listeners == listener, len(listeners)
            by_listener[listener] += (
                sign * deviations[here].sum() / n * (count / (count - 1)) ** 0.5
            )
            rest[here] -= deviations[here].mean()
        spare = n - len(items) - len(listeners) + 1
        rest_variance += float(rest @ rest) / spare / n
        rest_freedom += spare
    over_items, over_listeners = float(by_item @ by_item), float(by_listener @ by_listener)
    variance = max(over_items + over_listeners - rest_variance, over_items, over_listeners)
    (items_a, listeners_a), (items_b, listeners_b) = rated
    freedom_items = len(items_a | items_b) - (1 if items_a & items_b else 2)
    freedom = variance**2 / (
        over_items**2 / freedom_items
        + over_listeners**2 / (len(listeners_a | listeners_b) - 1)
        + rest_variance**2 / rest_freedom
    )
    return float(2 * t.sf(abs(difference) / variance**0.5, freedom))


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
