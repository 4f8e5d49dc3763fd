"""Accuracy on pairs: tie calibration, and soft pairwise accuracy of systems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    evaluate_grid,
    group_by_known_cells,
)
from earwitness.metaeval.resampling import RESAMPLED_AXES, RaterResampler, study_draws
from earwitness.stats.arrays import Bools, Floats, seeded_generator
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes, Votes

# --- Tie calibration -----------------------------------------------------------------------------
# Metrics with many decimals rarely tie, whereas raters often do. Calibration (Deutsch, Foster and
# Freitag 2023, Ties matter: Meta-evaluating modern metrics with pairwise accuracy and tie
# calibration, EMNLP) chooses the margin with the highest acc_23 among all margins that change a
# pair; of equally good margins the smallest. A margin that is chosen and evaluated on the same
# items is biased upwards, so items are split into folds, and each fold is evaluated with the margin
# chosen on the other folds.
#
# The accuracy is averaged over items. There is no calibration at other levels: pairs of systems are
# too few and depend on each other, and most pairs of cells belong to two items, which may lie in
# two folds. Accuracy over pairs within folds differs from acc_23 over all pairs, so the two could
# not be compared, and too little would be left to choose the margin on.


SHARE_TOLERANCE = 1e-12  # shares within this tolerance are equal
FOLDS = 5


class TieCalibration(NamedTuple):
    """acc_23 by metric with cross-validated margins, margins (folds × metrics) and margins of
    all items.

    It is not possible with fewer than two items.
    """

    value: Floats
    margins: Floats
    margin: Floats
    folds: Codes
    is_possible: bool = True

    @property
    def by_item(self) -> Floats:
        """Margin with which each item is evaluated: metrics × items."""
        return self.margins[self.folds].T


def calibrate_ties(grid: ScoreRatingGrid, *, folds: int = FOLDS, seed: int = 0) -> TieCalibration:
    """Return acc_23 of all metrics within items, with cross-validated margins."""
    metrics, _, items = grid.scores.shape
    count = min(folds, items)
    if count < 2:
        undefined, nowhere = np.full(metrics, np.nan), np.zeros(0, np.int64)
        return TieCalibration(undefined, undefined[None], undefined, nowhere, False)
    rng = seeded_generator((seed, 0))
    fold = rng.permutation(items) % count
    margins = np.empty((count + 1, metrics))
    for metric, scores in enumerate(grid.scores):
        margins[:, metric] = _best_margins(scores, grid.people, fold, count)
    # the mean over items, each with the margin of its fold
    accuracies = evaluate_grid(grid, "item", ["acc_23"], np.nan_to_num(margins[fold].T)).value[0]
    value = np.where(np.isnan(margins[:-1]).any(axis=0), np.nan, accuracies)
    return TieCalibration(value, margins[:-1], margins[-1], fold)


def _best_margins(scores: Floats, people: Floats, fold: Codes, count: int) -> Floats:
    """Return the best margin without each fold, and the best of all; NaN if there is no pair.

    Pairs are those of systems within items; all items have the same weight.
    """
    first, second = np.triu_indices(len(people), 1)
    is_known = ~np.isnan(scores) & ~np.isnan(people)
    is_pair = is_known[first] & is_known[second]
    sizes = is_pair.sum(axis=0).astype(np.float64)
    weight = np.broadcast_to(ratio(np.ones_like(sizes), sizes), is_pair.shape)[is_pair]
    differences = (scores[second] - scores[first])[is_pair]
    people_differences = (people[second] - people[first])[is_pair]
    # When the margin reaches a pair, the pair becomes correct if the ratings tie it, and incorrect
    # if it was in order.
    tied, in_order = people_differences == 0, differences * np.sign(people_differences) > 0
    gains = weight * (tied.astype(np.float64) - in_order)
    size = np.abs(differences)
    order = np.argsort(size, kind="stable")
    size, gains = size[order], gains[order]
    pair_folds = np.broadcast_to(fold, is_pair.shape)[is_pair][order]
    kept = [pair_folds != number for number in range(count)]
    return np.array(
        [_best_margin(size, gains, which) for which in [*kept, np.ones(len(size), bool)]]
    )


def _best_margin(size: Floats, gains: Floats, kept: Bools) -> float:
    """Return the smallest margin with the largest cumulative gain, among 0 and all differences."""
    if not kept.any():
        return float("nan")
    size, sums = size[kept], np.cumsum(gains[kept])
    last = np.append(size[1:] > size[:-1], True)
    margins, sums = size[last], sums[last]
    if margins[0] > 0:
        margins, sums = np.append(0.0, margins), np.append(0.0, sums)
    return float(margins[np.argmax(sums >= sums.max() - SHARE_TOLERANCE * max(1.0, len(gains)))])


# --- Soft pairwise accuracy ----------------------------------------------------------------------
# For two systems, p is the one-sided p-value of a paired permutation test over items that the first
# is better: the share of random sign changes of the differences with a larger sum, sums that are
# equal counting half. Soft pairwise accuracy is the mean of 1 − |p of the ratings − p of the
# metric| over pairs of systems (Thompson, Mathur, Deutsch and Khayrallah 2024, Improving
# statistical significance in human evaluation of automatic metrics via soft pairwise accuracy,
# WMT). The sign changes are the same for all pairs, metrics and ratings.
#
# In bootstrap draws, p is that of a normal distribution with the mean and the variance of the
# permuted sums, 0 and the sum of squared differences. Differences are squared and summed for all
# pairs in each draw, so there are fewer draws of many systems and items.


SOFT_ACCURACY_PRODUCTS = 1_000_000_000  # products per analysis that bootstrap draws may take
MIN_SOFT_ACCURACY_DRAWS = 50
SUM_TOLERANCE = 1e-12  # sums within this share of the sum of absolute values are equal


def soft_pairwise_accuracy(grid: ScoreRatingGrid, *, permutations: int, seed: int) -> Floats:
    """Return the soft pairwise accuracy of each metric; NaN if no two systems share an item."""
    signs = item_signs(grid.people.shape[1], permutations, seed)
    accuracy = np.full(len(grid.scores), np.nan)
    for metrics, is_scored in group_by_known_cells(grid.scores):
        is_known = is_scored & ~np.isnan(grid.people)
        is_pair = np.triu(is_known @ is_known.T, 1)
        if is_pair.any():
            people_p = _p_between(grid.people, grid.people, is_known, signs)
            for metric in metrics:
                p = _p_between(grid.scores[metric], grid.scores[metric], is_known, signs)
                accuracy[metric] = 1 - np.abs(p - people_p)[is_pair].mean()
    return accuracy


def item_signs(items: int, permutations: int, seed: int) -> Floats:
    """Return the random signs of items in each permutation."""
    rng = seeded_generator((seed, 11))
    return np.where(rng.integers(0, 2, (permutations, items)), 1.0, -1.0)


def soft_contributions(grid: ScoreRatingGrid, pairs: Codes, signs: Floats) -> Floats:
    """Return the contributions of systems to differences of metrics: pairs × systems.

    Swapping the scores of a system changes the sign of its contribution, as for coefficients that
    count pairs: soft pairwise accuracy is a mean over pairs of systems, too.
    """
    is_known = ~np.isnan(grid.people)
    is_pair = is_known @ is_known.T & ~np.eye(len(is_known), dtype=bool)
    people = _p_between(grid.people, grid.people, is_known, signs)

    def agree(first: int, second: int) -> Floats:
        p = _p_between(grid.scores[first], grid.scores[second], is_known, signs)
        return np.where(is_pair, 1 - np.abs(p - people), 0)

    own = {metric: agree(metric, metric).sum(axis=1) for metric in np.unique(pairs).tolist()}
    sums = []
    for first, second in pairs.tolist():
        crossed = agree(first, second)  # its transpose compares the other way round
        sums.append(own[first] - own[second] + crossed.sum(axis=1) - crossed.sum(axis=0))
    count = is_pair.sum() / 2
    return np.array(sums).reshape(-1, len(is_pair)) / (2 * count if count else np.nan)


def _p_between(first: Floats, second: Floats, is_known: Bools, signs: Floats) -> Floats:
    """Return p that each system by the first table is better than each by the second."""
    p = np.empty((len(is_known), len(is_known)))
    sides = [np.where(is_known, table, 0) for table in (first, second)]
    sizes = [np.abs(table).sum(axis=1) for table in sides]
    turned = [signs @ table.T for table in sides]
    is_complete = is_known.all()
    for system, row in enumerate(sides[0]):
        differences = np.where(is_known & is_known[system], row - sides[1], 0)
        sums = turned[0][:, [system]] - turned[1] if is_complete else signs @ differences.T
        beyond = sums - differences.sum(axis=1)
        tolerance = SUM_TOLERANCE * (sizes[0][system] + sizes[1])
        larger = (beyond > tolerance).sum(axis=0) + (beyond >= -tolerance).sum(axis=0)
        p[system] = larger / (2 * len(signs))
    return p


def soft_accuracy_of_tables(tables: Floats, people: Floats, is_known: Bools) -> Floats:
    """Return the soft pairwise accuracy of each of several tables, by its normal approximation.

    Tables are tables × systems × items; unknown cells of tables and ratings are 0.
    """
    is_pair = np.triu(is_known @ is_known.T, 1)
    difference = np.abs(_normal_p_between(tables, is_known) - _normal_p_between(people, is_known))
    agreed = np.where(is_pair, 1 - difference, 0).sum(axis=(1, 2))
    return ratio(agreed, np.full(len(tables), float(is_pair.sum())))


def _normal_p_between(tables: Floats, is_known: Bools) -> Floats:
    """Return p of all pairs of systems, from sums and squares over the items that they share."""
    from scipy.special import ndtr

    known = is_known.T.astype(np.float64)
    sums, squares = tables @ known, tables**2 @ known
    squares = squares + squares.swapaxes(-1, -2) - 2 * tables @ tables.swapaxes(-1, -2)
    spread = np.sqrt(np.maximum(0, squares))
    return np.asarray(ndtr(-np.nan_to_num(ratio(sums - sums.swapaxes(-1, -2), spread))))


def _pair_differences(table: Floats, is_known: Bools, pairs: Codes) -> Floats:
    """Return first minus second system as pairs × items, 0 for items that they do not share."""
    first, second = pairs
    filled = np.where(is_known, table, 0)
    return np.where(is_known[first] & is_known[second], filled[first] - filled[second], 0)


def soft_accuracy_draws(scores: Floats, draws: StudyDraws) -> Floats:
    """Return soft pairwise accuracy as draws × metrics, with p by a normal approximation.

    Items without a rating in a draw count as equal for the ratings.
    """
    accuracy = np.full((len(draws.systems), len(scores)), np.nan)
    rated = ~np.isnan(draws.people_table)
    for metrics, is_scored in group_by_known_cells(scores):
        is_known = is_scored & rated.any(axis=0)
        pairs = np.argwhere(np.triu(is_known @ is_known.T, 1)).T
        weights = draws.systems[:, pairs[0]] * draws.systems[:, pairs[1]]
        people = [
            _normal_p(row_weights, _pair_differences(people, is_known & is_rated, pairs))
            for people, is_rated, row_weights in zip(
                draws.people_table,
                rated,
                [draws.items] if len(rated) == 1 else draws.items[:, None],
                strict=True,
            )
        ]
        people_p = np.concatenate([np.empty((0, len(pairs[0]))), *people])
        for metric in metrics:
            p = _normal_p(draws.items, _pair_differences(scores[metric], is_known, pairs))
            agreed = (weights * (1 - np.abs(p - people_p))).sum(axis=1)
            accuracy[:, metric] = ratio(agreed, weights.sum(axis=1))
    return accuracy


def _normal_p(items: Floats, differences: Floats) -> Floats:
    """Return p as draws × pairs, from differences as pairs × items."""
    from scipy.special import ndtr

    largest = np.abs(differences).max(initial=0)
    single = (differences.T / (largest or 1)).astype(np.float32)
    weights = items.astype(np.float32)
    sums, squares = weights @ single, weights @ single**2
    return np.asarray(
        ndtr(-np.nan_to_num(ratio(sums.astype(np.float64), np.sqrt(squares.astype(np.float64)))))
    )


def resample_soft_accuracy(
    scores: Floats,
    votes: Votes | RaterResampler,
    *,
    over: str = "all",
    draws: int = 1000,
    seed: int = 0,
) -> Floats:
    """Return bootstrap draws of soft pairwise accuracy (draws × metrics), of large tables fewer."""
    products = max(1, int(scores.size) * (scores.shape[1] - 1))
    draws = min(draws, max(MIN_SOFT_ACCURACY_DRAWS, SOFT_ACCURACY_PRODUCTS // products))
    blocks = study_draws(scores, votes, RESAMPLED_AXES[over], draws, seed)
    accuracy = [soft_accuracy_draws(scores, block) for block in blocks]
    return np.concatenate([np.empty((0, len(scores))), *accuracy])
