"""Differences of two metrics as sums of contributions of systems, items or outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.metaeval.coefficients import PAIR_DENOMINATORS, ScoreRatingSample
from earwitness.metaeval.levels import ScoreRatingGrid, known_means
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Swaps as sums of contributions --------------------------------------------------------------
# For coefficients that count pairs, the difference of two metrics is linear in the swaps. Let e be
# −1 for swapped units and 1 for others, and k(a_s, b_t) the contribution of a pair of units, one
# with its score by metric a and one with its score by metric b. The difference is then the sum of
# e_s c_s with
#
#   c_s = ½ Σ_t [k(a_s, a_t) − k(b_s, b_t) + k(a_s, b_t) − k(b_s, a_t)].
#
# This is exact unless scores are tied, because ties change the denominators of τ-b and τ-c. In that
# case each swap is evaluated if there are few terms; otherwise denominators are those of the
# observed scores (and their geometric mean for scores of both metrics).


PAIR_COEFFICIENTS = tuple(PAIR_DENOMINATORS)
MAX_TERMS_ONE_BY_ONE = 200_000_000  # terms up to which swaps of tied scores are evaluated
MAX_UNITS_ALL_PAIRS = 700  # largest group whose pairs are all enumerated
SIGNS_IN_MEMORY = 4_000_000  # signs of pairs in memory at once


def count_swapped_units(shape: tuple[int, int], unit: str) -> int:
    """Return the number of swapped units in a table of systems × items."""
    return {"systems": shape[0], "items": shape[1], "outputs": shape[0] * shape[1]}[unit]


class _Units(NamedTuple):
    """Ratings of the compared units (groups × units), which are known, and levels if many."""

    people: Floats
    present: Bools
    levels: RatingLevels | None


class _Scores(NamedTuple):
    """Scores of a metric (groups × units), also in ascending order if there are many units.

    Differences of at most the margin of a group count as ties.
    """

    table: Floats
    ascending: UnitsByScore | None
    margins: Floats


class _OwnPairs(NamedTuple):
    """A metric's scores, its sums over pairs of units, their weights by group, and its ties."""

    scores: _Scores
    sums: Floats
    weights: Floats
    is_tied: bool


def swap_contributions(
    grid: ScoreRatingGrid,
    pairs: Codes,
    level: str,
    unit: str,
    name: str,
    swaps: int,
    margins: Floats | None = None,
) -> Floats:
    """Return contributions (pairs × swapped units); NaN where swaps must be evaluated.

    ``margins`` (metrics × items) are those of calibrated ties at the item level. Scores of two
    metrics are tied by the mean of their margins.
    """
    is_known = ~np.isnan(grid.people)
    contributions = np.full((len(pairs), count_swapped_units(is_known.shape, unit)), np.nan)
    if name not in PAIR_COEFFICIENTS or (level == "system" and unit != "systems"):
        return contributions
    people, present = _by_group(grid.people, is_known, level)
    is_large = level == "global" and people.shape[1] > MAX_UNITS_ALL_PAIRS
    units = _Units(people, present, rating_levels(people[0]) if is_large else None)
    terms = 4.0 * swaps * len(pairs) * units.people.size * units.people.shape[1]
    own: dict[int, _OwnPairs] = {}
    for row, pair in enumerate(pairs.tolist()):
        for metric in pair:
            if metric not in own:
                table, _ = _by_group(grid.scores[metric], is_known, level)
                ascending = sort_units(table[0], units.levels) if units.levels else None
                limits = np.zeros(len(table)) if margins is None else margins[metric]
                own[metric] = _own_pairs(_Scores(table, ascending, limits), units, name)
        first, second = own[pair[0]], own[pair[1]]
        crossed = [
            _pair_sums(a.scores, b.scores, units, name)
            for a, b in ((first, second), (second, first))
        ]
        is_tied = first.is_tied or second.is_tied or crossed[0][1] or crossed[1][1]
        if is_tied and name.startswith("kendall") and terms <= MAX_TERMS_ONE_BY_ONE:
            continue
        sums = (
            first.weights[:, None] * first.sums
            - second.weights[:, None] * second.sums
            + np.sqrt(first.weights * second.weights)[:, None] * (crossed[0][0] - crossed[1][0])
        )
        if level == "system":
            contributions[row] = sums[0] / 2
            continue
        table = np.zeros(is_known.shape)
        table[is_known] = (sums.T[is_known] if level == "item" else sums[0]) / 2
        axis = {"systems": 1, "items": 0}.get(unit)
        contributions[row] = table.ravel() if axis is None else table.sum(axis=axis)
    return contributions


def _by_group(table: Floats, is_known: Bools, level: str) -> tuple[Floats, Bools]:
    """Return values as groups × units, and which are known: systems, items × systems, or cells."""
    cells = np.where(is_known, table, 0)
    if level == "item":
        return cells.T, is_known.T
    if level == "global":
        return cells[is_known][None], np.ones((1, int(is_known.sum())), bool)
    means = np.nan_to_num(known_means(table, is_known))
    return means[None], np.any(is_known, axis=1, keepdims=True).T


def _own_pairs(scores: _Scores, units: _Units, name: str) -> _OwnPairs:
    """Return the sums and weights of a metric: the coefficient is their product over all pairs."""
    weights = units.present[:, None].astype(np.float64)
    sample = ScoreRatingSample(scores.table[:, None], units.people[:, None], weights)
    size = PAIR_DENOMINATORS[name](sample)[:, 0, 0]
    groups = max(1, int(np.count_nonzero(size)))
    sums, is_tied = _pair_sums(scores, scores, units, name)
    return _OwnPairs(scores, sums, np.nan_to_num(ratio(np.ones_like(size), size)) / groups, is_tied)


def _pair_sums(first: _Scores, second: _Scores, units: _Units, name: str) -> tuple[Floats, bool]:
    """Return, for each unit's score in ``first``, the sum over pairs with scores in ``second``.

    Also returns whether any of these scores are tied.
    """
    if units.levels and second.ascending:
        counts = count_unit_pairs(first.table[0], second.ascending, units.levels)[:, None]
    else:
        limits = (first.margins + second.margins) / 2
        counts = _count_unit_pairs(first.table, second.table, units, limits)
    concordant, discordant, tied_metric, tied_people, tied_both = counts
    is_tied = bool(tied_metric.any() or tied_both.any())
    if name.startswith("kendall"):
        return concordant - discordant, is_tied
    if name == "pairwise_accuracy":
        return concordant, is_tied
    right = concordant + tied_both
    wrong = discordant + tied_metric + tied_people
    return (right if name == "acc_23" else right - wrong), is_tied


def _count_unit_pairs(first: Floats, second: Floats, units: _Units, margins: Floats) -> Floats:
    """Return the five kinds of pairs of each unit (kinds × groups × units), all enumerated."""
    groups, things = first.shape
    counts = np.empty((5, groups, things))
    rows = max(1, SIGNS_IN_MEMORY // max(1, things * things))
    is_other = ~np.eye(things, dtype=bool)
    for start in range(0, groups, rows):
        block = slice(start, start + rows)
        present, people = units.present[block], units.people[block]
        is_pair = present[:, :, None] & present[:, None, :] & is_other
        scores = _signs(first[block], second[block])
        if margins[block].any():
            apart = np.abs(first[block][:, :, None] - second[block][:, None, :])
            scores *= apart > margins[block][:, None, None]
        ratings = _signs(people, people)
        product, is_tied, is_level = scores * ratings, scores == 0, ratings == 0
        kinds = (
            product > 0,
            product < 0,
            is_tied & ~is_level,
            is_level & ~is_tied,
            is_tied & is_level,
        )
        for number, kind in enumerate(kinds):
            counts[number, block] = (kind & is_pair).sum(axis=2)
    return counts


def _signs(first: Floats, second: Floats) -> NDArray[np.int8]:
    """Return 1 where a value of the first row is above one of the second, −1 where below."""
    above = (first[:, :, None] > second[:, None, :]).view(np.int8)
    return above - (first[:, :, None] < second[:, None, :]).view(np.int8)


# --- Pairs of each unit --------------------------------------------------------------------------
# Counts of the pairs of one unit with each other unit, where the others have the scores of another
# metric. Units are sorted by that metric, so those with a lower score come first. How many of the
# first units have a lower rating is looked up in a table by position and bucket of ratings; only
# units in the same bucket are compared one by one.


RATING_BUCKETS = 64


@dataclass(frozen=True)
class RatingLevels:
    """Ratings of units as levels from 0, in buckets with about the same number of units.

    ``mixed`` has, for buckets with several levels, their units and whether each has a lower level
    than each other.
    """

    levels: Codes
    sizes: Codes
    buckets: Codes
    mixed: tuple[tuple[Codes, Bools], ...]


def rating_levels(people: Floats) -> RatingLevels:
    """Return the levels of ratings, in buckets."""
    levels = np.unique(people, return_inverse=True)[1].ravel().astype(np.int64)
    sizes = np.bincount(levels)
    share = max(1, len(levels) // RATING_BUCKETS)
    part, is_large = (np.cumsum(sizes) - sizes) // share, sizes > share
    is_new = np.ones(len(sizes), bool)
    is_new[1:] = (np.diff(part) > 0) | is_large[1:] | is_large[:-1]
    buckets = np.cumsum(is_new) - 1
    members = [np.flatnonzero(buckets[levels] == bucket) for bucket in np.unique(buckets)]
    mixed = tuple(
        (units, levels[units][None, :] < levels[units][:, None])
        for units in members
        if len(np.unique(levels[units])) > 1
    )
    return RatingLevels(levels, sizes, buckets, mixed)


class UnitsByScore(NamedTuple):
    """Scores in ascending order, each unit's position in it, and units by position and bucket."""

    scores: Floats
    positions: Codes
    table: NDArray[np.int32]


def sort_units(scores: Floats, ratings: RatingLevels) -> UnitsByScore:
    """Return the units sorted by a metric, and how many of the first are in lower buckets."""
    n, order = len(scores), np.argsort(scores, kind="stable")
    positions = np.empty(n, np.int64)
    positions[order] = np.arange(n)
    table = np.zeros((n + 1, int(ratings.buckets[-1]) + 2), np.int32)
    table[np.arange(1, n + 1), ratings.buckets[ratings.levels[order]] + 1] = 1
    np.cumsum(table, axis=0, out=table)
    np.cumsum(table, axis=1, out=table)
    return UnitsByScore(scores[order], positions, table)


def count_unit_pairs(first: Floats, second: UnitsByScore, ratings: RatingLevels) -> Floats:
    """Return kinds × units: pairs of each unit's score in ``first`` with others in ``second``.

    The kinds are those of ``PairCounts``.

    >>> scores, ratings = np.array([1.0, 2.0, 2.0]), rating_levels(np.array([3.0, 5.0, 4.0]))
    >>> count_unit_pairs(scores, sort_units(scores, ratings), ratings).sum(axis=1).tolist()
    [4.0, 0.0, 2.0, 0.0, 0.0]
    """
    levels = ratings.levels
    lower = np.searchsorted(second.scores, first)
    up_to = np.searchsorted(second.scores, first, side="right")
    not_better = np.cumsum(ratings.sizes)[levels]
    worse = not_better - ratings.sizes[levels]
    # Numbers of others with a lower (or a lower or equal) score, by rating.
    lower_worse, lower_level = _count_first(lower, second, ratings)
    to_worse, to_level = lower_worse, lower_level
    if (up_to > lower).any():
        to_worse, to_level = _count_first(up_to, second, ratings)
    higher_better = len(levels) - up_to - not_better + to_worse + to_level
    tied_both = to_level - lower_level
    is_tied_with_itself = first == second.scores[second.positions]
    counts = [
        lower_worse + higher_better,
        (lower - lower_worse - lower_level) + (worse - to_worse),
        up_to - lower - tied_both,
        ratings.sizes[levels] - tied_both - ~is_tied_with_itself,
        tied_both - is_tied_with_itself,
    ]
    return np.array(counts, np.float64)


def _count_first(counts: Codes, units: UnitsByScore, ratings: RatingLevels) -> tuple[Codes, Codes]:
    """Return how many of the first units have a lower rating than a unit, and how many the same."""
    buckets = ratings.buckets[ratings.levels]
    worse = units.table[counts, buckets].astype(np.int64)
    same = units.table[counts, buckets + 1] - worse
    for members, is_lower in ratings.mixed:
        is_first = units.positions[members][None, :] < counts[members][:, None]
        below = (is_first & is_lower).sum(axis=1)
        above = (is_first & is_lower.T).sum(axis=1)
        worse[members] += below
        same[members] -= below + above
    return worse, same
