"""Agreement expected by chance, with systems and items permuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    evaluate_draws,
    fit_item_effects,
    mean_of_defined,
)
from earwitness.stats.arrays import Bools, Floats, seeded_generator
from earwitness.stats.votes import Codes

# Systems are permuted in the ratings: the ratings of one system, on all items, are compared with
# the scores of another. Any agreement is then due to chance, whatever a metric favours and however
# its scores of a system are correlated. (Independent noise for each cell would not do at the item
# level: metrics that favour systems agree, or disagree, with the ratings in all items at once.)
#
# At the global level items are permuted as well: a metric that predicts which items are hard agrees
# with the ratings there, which is not chance.
#
# If not every system was rated on every item, permuted ratings would fall on cells that were never
# rated, so only observed cells are permuted. At the system level these are the means of systems. At
# other levels, a rating is the sum of a system effect, an item effect and a remainder. Effects are
# permuted by system (and item). The remainder comes from the cell to which the permutation leads,
# or, if that was not observed, from the first observed cell to which repeating it leads. The order
# of these sums determines which of the observed ratings of an item (at the global level, of all
# cells) a cell receives, so ties and numbers of ratings are kept. Without missing cells, the result
# is that of permuting whole systems.
#
# Draws alternate between all metrics, so that the distribution is that of metrics like these.


NUMBERS_IN_MEMORY = 1_000_000  # numbers in memory at once


def chance_coefficients(
    grid: ScoreRatingGrid,
    level: str,
    names: Sequence[str],
    draws: int,
    seed: int,
    evaluate: Callable[[Floats, StudyDraws], Floats] | None = None,
) -> Floats:
    """Return coefficients of permuted ratings: coefficients × draws.

    ``evaluate`` returns coefficients × draws × metrics; by default it computes those of the level.
    """
    metrics, systems, items = grid.scores.shape
    rng = seeded_generator((seed, 9))
    orders = np.argsort(rng.random((draws, systems)), axis=1, kind="stable")
    columns = np.argsort(rng.random((draws, items)), axis=1, kind="stable")
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems * systems))
    coefficients = np.full((len(names), draws), np.nan)
    for metric, metric_scores in enumerate(grid.scores):
        is_known = ~np.isnan(metric_scores) & ~np.isnan(grid.people)
        scores, ratings = (
            np.where(is_known, side, np.nan) for side in (metric_scores, grid.people)
        )
        if level == "system" and not is_known.all():  # means of incomplete systems
            scores, ratings = (mean_of_defined(side, axis=1)[:, None] for side in (scores, ratings))
        for start in range(metric, draws, metrics * rows):
            block = np.arange(start, min(draws, start + metrics * rows), metrics)
            people = _permute_ratings(ratings, level, orders[block], columns[block])
            weights = [np.ones((len(block), size)) for size in ratings.shape]
            study_draws = StudyDraws(weights[0], weights[1], people)
            values = (
                evaluate(scores[None], study_draws)
                if evaluate
                else evaluate_draws(level, scores[None], study_draws, names)[0]
            )
            coefficients[:, block] = values[:, :, 0]
    return coefficients


def _permute_ratings(people: Floats, level: str, orders: Codes, columns: Codes) -> Floats:
    """Return ratings with systems (and at the global level items) permuted, in each draw."""
    if level == "global":
        orders, columns = np.argsort(orders, axis=1), np.argsort(columns, axis=1)
    else:
        columns = np.broadcast_to(np.arange(people.shape[1]), (len(orders), people.shape[1]))
    is_known = ~np.isnan(people)
    if is_known.all():
        return np.asarray(people[orders[:, :, None], columns[:, None, :]])
    orders = _permute_rated(orders, np.asarray(is_known.any(axis=1)))
    columns = _permute_rated(columns, np.asarray(is_known.any(axis=0)))
    item_effects = fit_item_effects(people)
    system_effects = mean_of_defined(people - item_effects, axis=1)
    remainders = people - system_effects[:, None] - item_effects
    systems, items = np.nonzero(is_known)
    groups = items if level == "item" else np.zeros_like(items)
    ascending = np.lexsort((people[is_known], groups))
    permuted = np.full((len(orders), *people.shape), np.nan)
    for draw, (order, column) in enumerate(zip(orders, columns, strict=True)):
        sums = system_effects[order[systems]] + item_effects[column[items]]
        sums += remainders[_first_known(is_known, systems, items, order, column)]
        assigned = np.empty(len(systems))
        assigned[np.lexsort((sums, groups))] = people[is_known][ascending]
        permuted[draw][is_known] = assigned
    return permuted


def _permute_rated(orders: Codes, is_rated: Bools) -> Codes:
    """Return permutations that only exchange rated systems or items."""
    permuted = np.broadcast_to(np.arange(orders.shape[1]), orders.shape).copy()
    permuted[:, is_rated] = orders[is_rated[orders]].reshape(len(orders), -1)
    return permuted


def _first_known(
    is_known: Bools, systems: Codes, items: Codes, order: Codes, column: Codes
) -> tuple[Codes, Codes]:
    """Return the first known cell to which repeated permutation leads, from each known cell."""
    systems, items = order[systems], column[items]
    missing = np.flatnonzero(~is_known[systems, items])
    while len(missing):
        systems[missing], items[missing] = order[systems[missing]], column[items[missing]]
        missing = missing[~is_known[systems[missing], items[missing]]]
    return systems, items
