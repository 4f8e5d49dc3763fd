"""Bands of curves over numbers of people, and intervals of correlations, cover what they should."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.experiments.curves import (
    DrawSettings,
    OrderValues,
    curve_bands,
    order_correlations,
)
from earwitness.experiments.people_orders import PeopleSubsets, draw_orders, first_people
from earwitness.experiments.references import robust_deviations
from earwitness.stats.votes import Votes
from helpers.samples import many

pytestmark = pytest.mark.simulation
Floats = NDArray[np.float64]
PEOPLE, ITEMS, SYSTEMS, JUDGES = 12, 30, 8, 6
SIZES = (1, 3, 6, 12)
SETTINGS = DrawSettings(draws=300, level=0.95, seed=0)


class Study(NamedTuple):
    """Systems and people of a study: qualities of systems, and effects on scores.

    An output is scored by the best match with the references of the people, as on a word network,
    so scores increase with the number of people. People differ in their level and in which systems
    they suit.
    """

    quality: Floats
    systems: Floats  # errors of the metric that are shared by all outputs of a system
    people: Floats  # systems × people

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Study:
        """A study with new systems and people."""
        levels = 0.3 * rng.normal(size=PEOPLE)
        return cls(
            0.6 * rng.normal(size=SYSTEMS),
            0.2 * rng.normal(size=SYSTEMS),
            levels + 0.15 * rng.normal(size=(SYSTEMS, PEOPLE)),
        )

    def values(
        self, rng: np.random.Generator, items: int, subsets: NDArray[np.bool_], share: float
    ) -> Floats:
        """Values of new items, as systems × subsets × items; NaN if nobody did the item."""
        base = (self.quality + self.systems)[:, None, None] + self.people[:, :, None]
        table = (
            base + 0.4 * rng.normal(size=items) + 0.5 * rng.normal(size=(SYSTEMS, PEOPLE, items))
        )
        table[:, rng.random((PEOPLE, items)) >= share] = -np.inf
        best = np.stack([table[:, subset].max(axis=1) for subset in subsets], axis=1)
        return np.where(np.isinf(best), np.nan, best)

    def votes(self, rng: np.random.Generator) -> Votes:
        """Votes of new judges on all outputs."""
        size = SYSTEMS, ITEMS, JUDGES
        values = self.quality[:, None, None] + 0.3 * rng.normal(size=(ITEMS, 1))
        values = values + 0.3 * rng.normal(size=JUDGES) + 0.7 * rng.normal(size=size)
        places = [one.ravel() for one in np.indices(size)]
        return Votes(values.ravel(), places[0], places[1], places[2], size)


def subsets_of(seed: int) -> PeopleSubsets:
    """Subsets of 30 random orders."""
    return first_people(draw_orders(PEOPLE, 30, seed, exact=False), [], SIZES)


def means_by_size(values: Floats, rows: NDArray[np.int64]) -> Floats:
    """Means over items and orders: systems × sizes."""
    return np.asarray(np.nanmean(values, axis=2)[:, rows].mean(axis=1))


def shown(covered: Floats, runs: int) -> str:
    """Coverage by number of people."""
    pairs = zip(SIZES, (covered / runs).round(3).tolist(), strict=True)
    return ", ".join(f"{size}: {share}" for size, share in pairs)


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_bands_of_curves(share: float) -> None:
    """Over items: the curve on other items. Over both: some of these people, on other items.

    With nearly all people, the band over both has no variation of people left, as these are drawn
    from those of the study; it is then too narrow for other people, which is printed.
    """
    runs, rng = many(150, 1500), np.random.default_rng(1)
    truth, settled = np.zeros(len(SIZES)), many(300, 2000)
    for number in range(settled):
        subsets = subsets_of(number)
        values = Study.draw(rng).values(rng, 60, subsets.subsets, share)
        truth += means_by_size(values, subsets.rows).mean(axis=0) / settled
    items, both, others = (np.zeros(len(SIZES)) for _ in range(3))
    for number in range(runs):
        study, subsets = Study.draw(rng), subsets_of(number)
        values = study.values(rng, ITEMS, subsets.subsets, share)
        more = study.values(rng, 3000, subsets.subsets, share)
        found = curve_bands(OrderValues(values[0], subsets.rows), SETTINGS)
        own = means_by_size(more[:1], subsets.rows)[0]
        low, high = found.bands["items"]
        items += (low <= own) & (own <= high)
        low, high = found.bands["both"]
        single = np.nanmean(more[0], axis=1)[subsets.rows[rng.integers(len(subsets.rows))]]
        both += (low <= single) & (single <= high)
        mean = truth + study.quality[0] + study.systems[0]  # of this system
        others += (low <= mean) & (mean <= high)
    error = math.sqrt(0.95 * 0.05 / runs)
    print(f"\n{share:.0%} of items per person, {runs} runs, ± {error:.3f}")
    print(f"  over items: {shown(items, runs)}")
    print(f"  over both:  {shown(both, runs)}")
    print(f"  over both, mean of other people: {shown(others, runs)}")
    assert (items / runs).min() > 0.93 - 4 * error
    assert (items / runs).max() < 0.965 + 4 * error
    assert (both / runs).min() > 0.925 - 4 * error
    assert (others / runs)[:2].min() > 0.935 - 4 * error


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_intervals_of_correlations_over_all(share: float) -> None:
    """The mean correlation in studies with other systems, items, judges and people."""
    runs, rng = many(150, 1500), np.random.default_rng(2)
    truths, covered = list[Floats](), list[tuple[Floats, Floats]]()
    for number in range(runs):
        study, subsets = Study.draw(rng), subsets_of(number)
        values = study.values(rng, ITEMS, subsets.subsets, share)
        systems = [OrderValues(own, subsets.rows) for own in values]
        found = order_correlations(systems, study.votes(rng), ["pearson"], SETTINGS)
        truths.append(found.mean[0])
        covered.append((found.intervals["all"].low[0], found.intervals["all"].high[0]))
    truth = np.tanh(np.arctanh(np.stack(truths)).mean(axis=0))
    inside = sum(((low <= truth) & (truth <= high)).astype(np.float64) for low, high in covered)
    error = math.sqrt(0.95 * 0.05 / runs)
    print(f"\n{share:.0%} of items per person, {runs} runs, ± {error:.3f}, r {truth.round(3)}")
    print(f"  over all: {shown(np.asarray(inside), runs)}")
    assert (np.asarray(inside) / runs).min() > 0.92 - 4 * error


def test_how_often_somebody_is_isolated_by_chance() -> None:
    runs, rng = many(2000, 20_000), np.random.default_rng(3)
    for people in (5, 10, 25):
        found = sum(robust_deviations(rng.normal(size=people)).min() < -3 for _ in range(runs))
        print(
            f"\n{people} people without isolated ones: somebody is isolated in {found / runs:.3f}"
        )
        assert 0.08 < found / runs < 0.18
