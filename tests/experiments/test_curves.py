"""Intervals of correlations are those of the agreement analysis, with orders besides."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from earwitness.experiments.curves import (
    DrawSettings,
    OrderValues,
    curve_bands,
    order_correlations,
)
from earwitness.experiments.people_orders import draw_orders, first_people
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.resampling import bootstrap_interval, resample_coefficients
from earwitness.stats.votes import Votes

SYSTEMS, ITEMS, JUDGES, PEOPLE = 7, 9, 6, 5
SETTINGS = DrawSettings(draws=60, level=0.9, seed=4)
NAMES = ["pearson", "spearman", "kendall_b"]


def votes_of(rng: np.random.Generator) -> Votes:
    """Votes from 1 to 5 on all outputs."""
    size = SYSTEMS, ITEMS, JUDGES
    places = np.array([*product(*map(range, size))]).T
    values = rng.integers(1, 6, len(places[0])) + 0.3 * places[0]
    return Votes(values, places[0], places[1], places[2], size)


@pytest.mark.parametrize("source", ["systems", "items", "judges"])
def test_intervals_with_all_people_are_those_of_agree(source: str) -> None:
    rng = np.random.default_rng(0)
    votes, scores = votes_of(rng), rng.normal(size=(SYSTEMS, ITEMS))
    one = np.zeros((3, 1), np.int64)  # three orders with the same subset
    systems = [OrderValues(row[None], one) for row in scores]
    found = order_correlations(systems, votes, NAMES, SETTINGS)
    grid = ScoreRatingGrid(scores[None], cell_means(votes)[0])
    assert found.mean == pytest.approx(evaluate_grid(grid, "system", NAMES).value)
    over, count = {
        "systems": ("systems", SYSTEMS),
        "items": ("items", ITEMS),
        "judges": ("raters", JUDGES),
    }[source]
    drawn = resample_coefficients(scores[None], votes, "system", NAMES, over=over, draws=60, seed=4)
    wanted = bootstrap_interval(found.mean, drawn, NAMES, level=0.9, count=count)
    interval = found.intervals[source]
    assert interval.low == pytest.approx(wanted.low)
    assert interval.high == pytest.approx(wanted.high)


def test_intervals_over_all_are_those_of_agree_if_orders_do_not_differ() -> None:
    rng = np.random.default_rng(1)
    votes, scores = votes_of(rng), rng.normal(size=(SYSTEMS, ITEMS))
    systems = [OrderValues(row[None], np.zeros((3, 1), np.int64)) for row in scores]
    found = order_correlations(systems, votes, NAMES, SETTINGS)
    drawn = resample_coefficients(scores[None], votes, "system", NAMES, draws=60, seed=4)
    wanted = bootstrap_interval(found.mean, drawn, NAMES, level=0.9)
    assert found.intervals["all"].low == pytest.approx(wanted.low)
    different = rng.normal(size=(SYSTEMS, 2, ITEMS))
    orders = [OrderValues(own, np.array([[0], [1]])) for own in different]
    wider = order_correlations(orders, votes, NAMES, SETTINGS)
    values = evaluate_grid(
        ScoreRatingGrid(np.moveaxis(different, 1, 0), cell_means(votes)[0]), "system", NAMES
    )
    assert wider.mean[:, 0] == pytest.approx(values.value.mean(axis=1))


def test_few_systems_items_or_judges_have_no_interval() -> None:
    rng = np.random.default_rng(2)
    votes = votes_of(rng)
    few = votes.select(votes.listeners < 3)
    few = Votes(few.values, few.systems, few.items, few.listeners, (SYSTEMS, ITEMS, 3))
    systems = [
        OrderValues(row[None], np.zeros((2, 1), np.int64)) for row in rng.normal(size=(7, 9))
    ]
    found = order_correlations(systems, few, ["pearson"], SETTINGS)
    defined = {source: not np.isnan(one.low).any() for source, one in found.intervals.items()}
    assert defined == {"systems": True, "items": True, "judges": False, "all": False}


def test_items_without_references_are_left_out_of_means() -> None:
    orders = draw_orders(PEOPLE, 4, 0, exact=False)
    subsets = first_people(orders, [], [1, 5])
    values = np.random.default_rng(3).normal(size=(len(subsets.subsets), ITEMS))
    values[subsets.rows[0, 0], :4] = np.nan
    values[subsets.rows[1, 0]] = np.nan
    system = OrderValues(values, subsets.rows)
    found = curve_bands(system, SETTINGS)
    rows = [values[row] for row in subsets.rows[:, 0]]
    wanted = np.mean([np.nanmean(row) for row in rows if not np.isnan(row).all()])
    assert found.mean[0] == pytest.approx(wanted)
    assert not np.isnan(found.bands["both"]).any()
    assert found.items.tolist() == [ITEMS, ITEMS]
    nothing = curve_bands(OrderValues(np.full_like(values, np.nan), subsets.rows), SETTINGS)
    assert np.isnan(nothing.mean).all()
    assert nothing.items.tolist() == [0, 0]
