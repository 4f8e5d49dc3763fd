"""Effects of items: by hand, by plain least squares with all terms, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from earwitness.metaeval.levels import (
    fit_item_effects,
    is_complete,
    is_connected,
    subtract_item_effects,
)
from earwitness.stats.arrays import Floats
from helpers.samples import many

NAN = np.nan


def plain(table: Floats) -> Floats:
    """Means of systems over all items, by least squares with a column for every effect."""
    systems, items = table.shape
    rows, wanted = [], []
    for s, i in np.argwhere(~np.isnan(table)).tolist():
        rows.append(
            [*(float(s == n) for n in range(systems)), *(float(i == n) for n in range(items))]
        )
        wanted.append(table[s, i])
    found = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]
    rated = ~np.isnan(table).all(axis=0)
    return np.asarray(found[:systems] + found[systems:][rated].mean())


def test_an_example_by_hand_where_plain_means_rank_the_wrong_way_round() -> None:
    # On the shared item the first system is better by 1. It had a hard item beside it, the second
    # an easy one: plain means 3 and 6. Effects −4 0 4; less these 5 5 and 4 4.
    table = np.array([[1.0, 5, NAN], [NAN, 4, 8]])
    assert np.nanmean(table, axis=1).tolist() == [3, 6]
    assert fit_item_effects(table) == pytest.approx([-4, 0, 4])
    assert np.nanmean(table - fit_item_effects(table), axis=1) == pytest.approx([5, 4])


def test_means_of_what_is_left_are_those_of_plain_least_squares() -> None:
    rng = np.random.default_rng(1)
    tried = 0
    for _ in range(many(60, 1000)):
        size = int(rng.integers(2, 7)), int(rng.integers(1, 12))
        table = np.where(rng.random(size) < 0.6, rng.normal(3, 1, size), NAN)
        known = ~np.isnan(table)
        if not is_connected(known) or not known.any(axis=1).all():
            continue
        tried += 1
        left = table - fit_item_effects(table)
        assert np.nanmean(left, axis=1) == pytest.approx(plain(table), abs=1e-9)
    assert tried > 20


def test_where_all_is_known_means_stay_as_they_are() -> None:
    table = np.random.default_rng(2).normal(size=(4, 6))
    assert is_complete(~np.isnan(table))
    assert (table - fit_item_effects(table)).mean(axis=1) == pytest.approx(table.mean(axis=1))


def test_systems_that_share_nothing_are_left_alone() -> None:
    apart = np.array([[1.0, 2, NAN, NAN], [1, 3, NAN, NAN], [NAN, NAN, 4, 5]])
    assert not is_connected(~np.isnan(apart))
    assert fit_item_effects(apart).tolist() == [0, 0, 0, 0]
    through = np.array([[1.0, NAN, NAN], [2, 3, NAN], [NAN, 4, 5]])
    assert is_connected(~np.isnan(through))
    assert is_connected(np.zeros((2, 3), bool))
    assert fit_item_effects(np.full((2, 3), NAN)).tolist() == [0, 0, 0]


def test_systems_and_items_without_a_cell_do_not_matter() -> None:
    table = np.array([[1.0, NAN, 5, NAN], [NAN, NAN, NAN, NAN], [NAN, NAN, 4, 8]])
    assert is_connected(~np.isnan(table))
    assert fit_item_effects(table) == pytest.approx([-4, 0, 0, 4])
    assert is_complete(~np.isnan(np.array([[1.0, NAN], [2, NAN], [NAN, NAN]])))
    assert not is_complete(~np.isnan(table))


def test_scores_are_adjusted_by_cells_that_people_know() -> None:
    people = np.array([[1.0, 5, NAN], [NAN, 4, 8]])
    scores = np.array([[[1.0, 5, 100], [100, 4, 8]], [[NAN, 5, NAN], [NAN, 4, NAN]]])
    found = subtract_item_effects(scores, people)
    assert found[0] == pytest.approx(np.array([[5, 5, 96], [104, 4, 4]]))
    assert found[1] == pytest.approx(scores[1], nan_ok=True)
