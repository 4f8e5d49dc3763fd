"""How often ranges of sample-size curves hold the mean of studies with other people.

Annotators have likings for systems and err on every output. The score of an output with several
references is the mean over them, as a rating is the mean over raters, so both kinds of curve come
from the same simulated people.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from earwitness.metaeval.levels import ScoreRatingGrid, evaluate_grid
from earwitness.metaeval.sample_size import (
    coefficients_at_counts,
    estimate_at_count,
    estimate_with_references,
)
from earwitness.scoring.measure import first_rows, order_people
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes
from helpers.samples import many

SYSTEMS, ITEMS = 8, 10
STUDIES = many(30, 200)
NEW = many(60, 100)
NAMES = ("kendall_b", "pearson")
LEVELS = ("system", "item")


class Range(NamedTuple):
    """Ends of a range."""

    low: float
    high: float


def people_of(rng: np.random.Generator, true: Floats, count: int, liking: float) -> Floats:
    """Return systems × items × people, whose likings for systems have this standard deviation."""
    likings = rng.normal(0, liking, (SYSTEMS, 1, count))
    people: Floats = true[..., None] + likings + rng.normal(0, 0.7, (SYSTEMS, ITEMS, count))
    return people


def values(tables: Floats, other: Floats, level: str, name: str) -> Floats:
    """Return the coefficient of each table with the other side."""
    coefficients: Floats = evaluate_grid(ScoreRatingGrid(tables, other), level, [name]).value[0]
    return coefficients


def draw_people(people: Floats, count: int, draws: int, seed: int, *, apart: bool) -> Floats:
    """Return the means over that many people, by draw; ``apart``: every item draws on its own."""
    total = people.shape[2]
    counts = np.full(ITEMS, total)
    means = []
    for draw in range(1, draws + 1):
        places = np.concatenate(
            [order_people(total, draw, draws, seed + item * apart) for item in range(ITEMS)]
        )
        rows = first_rows(counts, places, count)
        is_drawn = np.isin(np.arange(ITEMS * total), rows).reshape(ITEMS, total)
        means.append((people * is_drawn).sum(axis=2) / count)
    return np.array(means)


def reference_ranges(
    people: Floats,
    other: Floats,
    figure: tuple[str, str],
    counts: list[int],
    draws: int,
    seed: int,
    *,
    apart: bool = False,
) -> list[Range]:
    """Return the ranges of the curve by references."""
    drawn = {
        count: values(draw_people(people, count, draws, seed, apart=apart), other, *figure)
        for count in counts[:-1]
    }
    drawn[counts[-1]] = values(people.mean(axis=2)[None], other, *figure)
    found = [estimate_with_references(drawn, count, figure[1], 0.95) for count in counts]
    return [Range(one.low, one.high) for one in found]


def rater_ranges(
    people: Floats, other: Floats, figure: tuple[str, str], counts: list[int], seed: int
) -> list[Range]:
    """Return the ranges of the curve by raters, if the same people are raters."""
    systems, items, raters = (one.ravel() for one in np.indices(people.shape))
    votes = Votes(people.ravel(), systems, items, raters, people.shape)
    found = coefficients_at_counts(other[None], votes, figure, "raters", counts, seed=seed)
    raters_count = people.shape[2]
    estimates = [
        estimate_at_count(one, 0, figure[1], 0.95, count, raters_count)
        for count, one in zip(counts, found, strict=True)
    ]
    return [Range(one.low, one.high) for one in estimates]


def held(total: int, counts: list[int], draws: int, liking: float = 0.3) -> dict[str, Floats]:
    """Return how often ranges hold the mean of new studies: figures × counts, by kind of range."""
    figures = [(level, name) for level in LEVELS for name in NAMES]
    found: dict[str, list[Floats]] = {"references": [], "raters": [], "apart": []}
    for seed in range(STUDIES):
        rng = np.random.default_rng((seed, total, draws))
        true = rng.normal(0, 0.7, (SYSTEMS, 1)) + rng.normal(0, 0.4, (SYSTEMS, ITEMS))
        other = true + rng.normal(0, 0.3, (SYSTEMS, 1)) + rng.normal(0, 0.4, (SYSTEMS, ITEMS))
        people = people_of(rng, true, total, liking)
        new = {
            count: np.array([people_of(rng, true, count, liking).mean(axis=2) for _ in range(NEW)])
            for count in counts
        }
        rows: dict[str, list[list[bool]]] = {kind: [] for kind in found}
        for figure in figures:
            means = [float(np.nanmean(values(new[count], other, *figure))) for count in counts]
            ranges = {
                "references": reference_ranges(people, other, figure, counts, draws, seed),
                "raters": rater_ranges(people, other, figure, counts, seed),
                "apart": reference_ranges(
                    people, other, figure, counts, draws, 1000 * seed, apart=True
                ),
            }
            for kind, own in ranges.items():
                rows[kind].append(
                    [low <= mean <= high for (low, high), mean in zip(own, means, strict=True)]
                )
        for kind, row in rows.items():
            found[kind].append(np.array(row))
    return {kind: np.mean(each, axis=0) for kind, each in found.items()}


@pytest.mark.parametrize(
    ("total", "counts", "draws"),
    [(4, [1, 2, 4], 5), (5, [1, 2, 5], 5), (8, [1, 4, 8], 5), (8, [1, 4, 8], 20)],
)
def test_ranges_of_references_hold_as_often_as_those_of_raters(
    total: int, counts: list[int], draws: int
) -> None:
    shares = held(total, counts, draws)
    print(f"\n{total} annotators or raters, {draws} draws of references; held with {counts}:")
    for kind, share in shares.items():
        print(f"{kind:>12}: {np.round(share.mean(axis=0), 3)}, least {share.min():.3f}")
    error = math.sqrt(0.05 * 0.95 / STUDIES)
    ours = shares["references"].mean(axis=0)
    assert (ours > shares["raters"].mean(axis=0) - 2 * error).all()
    assert ours.min() > 0.95 - 0.03 - 2 * error
    assert shares["references"].min() > 0.95 - 0.06 - 3 * error


def test_ranges_are_too_narrow_if_every_item_draws_its_own_people() -> None:
    total, counts = 12, [1, 6, 12]
    shares = held(total, counts, 20, liking=0.6)
    systems = slice(0, len(NAMES))  # over items, likings for systems cancel out
    ours, apart = (shares[kind][systems, -1].mean() for kind in ("references", "apart"))
    print(f"\nsystem level, all {total}: same people {ours:.3f}, each item its own {apart:.3f}")
    assert apart < 0.8 < 0.87 < ours
