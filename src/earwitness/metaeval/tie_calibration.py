"""Tie calibration of metrics.

Metrics with many decimals rarely tie, whereas raters often do. Calibration chooses the margin with
the highest acc_23 among all margins that change a pair; of equally good margins the smallest. A
margin that is chosen and evaluated on the same items is biased upwards, so items are split into
folds, and each fold is evaluated with the margin chosen on the other folds.

The accuracy is averaged over items. There is no calibration at other levels: pairs of systems are
too few and depend on each other, and most pairs of cells belong to two items, which may lie in two
folds. Accuracy over pairs within folds differs from acc_23 over all pairs, so the two could not be
compared, and too little would be left to choose the margin on.

References
----------
Deutsch, Foster and Freitag (2023). Ties matter: Meta-evaluating modern metrics with pairwise
accuracy and tie calibration. EMNLP.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.metaeval.levels import ScoreRatingGrid, evaluate_grid
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

SHARE_TOLERANCE = 1e-12  # shares within this tolerance are equal
FOLDS = 5


class TieCalibration(NamedTuple):
    """acc_23 by metric with cross-validated margins, margins (folds × metrics) and margins of all
    items.

    If no metric has a value, ``reason`` explains why.
    """

    value: Floats
    margins: Floats
    margin: Floats
    folds: Codes
    reason: str = ""

    @property
    def by_item(self) -> Floats:
        """Margin with which each item is evaluated: metrics × items."""
        return self.margins[self.folds].T


def calibrate_ties(grid: ScoreRatingGrid, *, folds: int = FOLDS, seed: int = 0) -> TieCalibration:
    """Return acc_23 of all metrics within items, with cross-validated margins."""
    metrics, _, items = grid.scores.shape
    count = min(folds, items)
    if count < 2:
        return _no_calibration(metrics, "tie calibration needs at least two items")
    rng = np.random.Generator(np.random.PCG64((seed, 0)))
    fold = rng.permutation(items) % count
    margins = np.empty((count + 1, metrics))
    for metric, scores in enumerate(grid.scores):
        pairs = _system_pairs(~np.isnan(scores) & ~np.isnan(grid.people))
        margins[:, metric] = _best_margins(scores, grid.people, fold, count, pairs)
    return TieCalibration(
        _calibrated_accuracy(grid, margins[:-1], fold), margins[:-1], margins[-1], fold
    )


def _no_calibration(metrics: int, reason: str) -> TieCalibration:
    undefined = np.full(metrics, np.nan)
    return TieCalibration(undefined, undefined[None], undefined, np.zeros(0, np.int64), reason)


class _Pairs(NamedTuple):
    """Pairs of cells (indices into systems × items) and their weights."""

    first: Codes
    second: Codes
    weight: Floats


def _system_pairs(is_known: Bools) -> _Pairs:
    """Return pairs of systems within items; all items have the same weight."""
    systems, items = is_known.shape
    first, second = np.triu_indices(systems, 1)
    is_known = is_known[first] & is_known[second]
    weight = np.broadcast_to(
        ratio(np.ones(items), is_known.sum(axis=0).astype(np.float64)), is_known.shape
    )
    places = [(side[:, None] * items + np.arange(items))[is_known] for side in (first, second)]
    return _Pairs(places[0], places[1], weight[is_known])


def _best_margins(scores: Floats, people: Floats, fold: Codes, count: int, pairs: _Pairs) -> Floats:
    """Return the best margin without each fold, and the best of all; NaN if there is no pair."""
    differences = scores.ravel()[pairs.second] - scores.ravel()[pairs.first]
    people_differences = people.ravel()[pairs.second] - people.ravel()[pairs.first]
    # When the margin reaches a pair, the pair becomes correct if the ratings tie it, and incorrect
    # if it was in order.
    tied, in_order = people_differences == 0, differences * np.sign(people_differences) > 0
    gains = pairs.weight * (tied.astype(np.float64) - in_order)
    size = np.abs(differences)
    order = np.argsort(size, kind="stable")
    size, gains = size[order], gains[order]
    pair_folds = fold[pairs.first[order] % len(fold)]
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


def _calibrated_accuracy(grid: ScoreRatingGrid, margins: Floats, fold: Codes) -> Floats:
    """Return the mean over items, each with the margin of its fold."""
    limits = margins[fold].T
    accuracies = evaluate_grid(grid, "item", ["acc_23"], np.nan_to_num(limits)).value[0]
    return np.where(np.isnan(margins).any(axis=0), np.nan, accuracies)
