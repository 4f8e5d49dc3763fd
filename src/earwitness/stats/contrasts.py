"""Differences within listeners, group interactions, and equivalence tests (TOST)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, two_way_draws
from earwitness.stats.means import (
    CLUSTER_T,
    ITEM_T,
    METHODS,
    IntervalSettings,
    TestedMeans,
    count_heard,
    drop_unvoted,
    group_difference,
    listener_means,
    method_names,
    percentile_ends,
    vote_moments,
)
from earwitness.stats.mixed_model import (
    MixedModelFit,
    combine_means,
    fit_mixed_model,
)
from earwitness.stats.significance import SPREAD_TOLERANCE, build_estimates, ratio
from earwitness.stats.votes import (
    Codes,
    Differences,
    Pairs,
    Votes,
    vote_differences,
    votes_on_both_sides,
)

# --- Differences within listeners ----------------------------------------------------------------
# A listener's difference is the mean, over the items on which they rated both systems, of the vote
# on ``a`` minus the vote on ``b``; other items are not used. If a listener has no common item, it
# is the difference of their two means; ``method`` has the number of such listeners. Intervals are
# those of ``means``, computed from differences, and refer to the same populations.
#
# The two-way bootstrap needs the item of each difference. It excludes listeners without a common
# item if others have one; if no listener has one, it uses the difference of the system means in
# each draw, over listeners who rated both. ``method`` reports this.
#
# p is that of the paired t test over listeners, whatever the interval; only ``naive_t`` uses a test
# over single differences, and ``two_way_bootstrap`` its draws. If all differences are equal, p is 1
# if they are 0 and undefined otherwise. The effect size is Hedges' g_z of the listeners'
# differences.
#
# With ``test="wilcoxon"``, p is that of the signed-rank test of the same differences of listeners,
# and the effect size is the matched-pairs rank-biserial correlation, which has no interval.


DIFFERENCE_TOLERANCE = 1e-12  # smaller differences are rounding
T_TEST, WILCOXON = "t", "wilcoxon"
MIXED_MODEL, TWO_WAY_BOOTSTRAP, NAIVE_T = "mixed", "two_way_bootstrap", "naive_t"
RANK_BISERIAL = "rank_biserial"


class ContrastEstimate(NamedTuple):
    """Difference between two systems, p, and effect size.

    Effect sizes are in standard deviations of listeners, or rank-biserial correlations.
    """

    difference: Estimate
    p: float
    effect: Estimate


def estimate_contrasts(
    votes: Votes,
    pairs: Pairs,
    method: str = "cluster_t",
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    test: str = T_TEST,
) -> list[ContrastEstimate]:
    """Return one contrast per pair; all pairs share the draws and are independent of each other.

    ``test`` is ``t`` or ``wilcoxon``, which tests differences of listeners whatever the interval.
    """
    if not pairs:
        return []
    votes, settings = drop_unvoted(votes), IntervalSettings(level, draws, seed)
    rows = vote_differences(votes, pairs)
    differences = listener_means(rows.combined)
    by_listener = significance.column_moments(differences)
    n, undefined = by_listener.n, votes.size[2] - by_listener.n
    if method == TWO_WAY_BOOTSTRAP:
        # estimates and p are from the same draws: both refer to other listeners and items
        drawn = difference_draws(votes, pairs, rows, settings)
        methods = method_names(TWO_WAY_BOOTSTRAP, drawn.draws)
        estimates = drawn.estimates(level, votes.size[2], methods)
        estimates = _note_missing_common(estimates, rows, drawn.lacks_common.tolist())
        p = np.where(drawn.has_enough, _percentile_p(drawn.draws), np.nan).tolist()
    else:
        estimates = METHODS[method](rows.combined, settings)
        estimates = _note_missing_common(estimates, rows, [True] * len(pairs))
        moments = vote_moments(rows.combined) if method == NAIVE_T else by_listener
        p = significance.compute_t_p_values(moments).tolist()
    if test == WILCOXON:
        ranked = significance.signed_rank_tests(differences)
        unknown = np.full(len(n), np.nan)
        size, ends, name = ranked.correlation, (unknown, unknown), RANK_BISERIAL
        p = ranked.p.tolist()
    else:
        size, *ends_of_size = significance.effect_sizes(by_listener, level)
        ends, name = (ends_of_size[0], ends_of_size[1]), "hedges_g_z"
    effects = build_estimates(size, ends, level, n, undefined, name)
    return [ContrastEstimate(*row) for row in zip(estimates, p, effects, strict=True)]


def _note_missing_common(
    estimates: list[Estimate], rows: Differences, by_means: Sequence[bool]
) -> list[Estimate]:
    """Add to the method how listeners without a common item were handled, if there are any."""
    return [
        replace(
            estimate,
            method=f"{estimate.method}, listeners without a common item, "
            f"{'compared by means' if is_compared else 'excluded'}: {count}",
        )
        if count
        else estimate
        for estimate, count, is_compared in zip(
            estimates, rows.without_common, by_means, strict=True
        )
    ]


class ContrastDraws(NamedTuple):
    """Differences of pairs, one row per draw, with their sample sizes.

    ``lacks_common`` marks pairs for which no listener has a common item, ``has_enough`` pairs with
    enough listeners and items for an interval.
    """

    draws: Floats
    value: Floats
    listeners: Floats
    has_enough: Bools
    lacks_common: Bools

    def estimates(self, level: float, total: int, methods: Sequence[str] | str) -> list[Estimate]:
        """Return estimates with percentile intervals, given the number of all listeners."""
        ends = percentile_ends(self.draws, level, self.has_enough)
        undefined = total - self.listeners
        return build_estimates(self.value, ends, level, self.listeners, undefined, methods)


def difference_draws(
    votes: Votes, pairs: Pairs, rows: Differences, settings: IntervalSettings
) -> ContrastDraws:
    """Return differences of pairs with listeners and items resampled.

    Differences are those of common items if there are any, else those of the resampled means.
    """
    draws = two_way_draws(rows.common, settings.draws, settings.seed)
    value, (listeners, items) = vote_moments(rows.common).mean, count_heard(rows.common)
    lacks_common = items == 0
    if lacks_common.any():
        both_sides = votes_on_both_sides(votes, pairs, rows, lacks_common)
        draws[:, lacks_common] = _column_differences(
            two_way_draws(both_sides, settings.draws, settings.seed)
        )
        value[lacks_common] = _column_differences(vote_moments(both_sides).mean)
        listeners[lacks_common], items[lacks_common] = (
            counts.reshape(-1, 2).min(axis=1) for counts in count_heard(both_sides)
        )
    return ContrastDraws(
        draws,
        value,
        listeners,
        np.minimum(listeners, items) >= MIN_CASES_FOR_INTERVAL,
        lacks_common,
    )


def _percentile_p(draws: Floats) -> Floats:
    """Return twice the share of draws on the other side of 0, never 0: p of a percentile interval.

    If draws are constant but not 0, votes have no spread, and p is undefined.
    """
    is_defined = ~np.isnan(draws)
    lowest = np.where(is_defined, draws, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(is_defined, draws, -np.inf).max(axis=0, initial=-np.inf)
    is_constant = (highest - lowest <= DIFFERENCE_TOLERANCE) & (
        np.abs(highest) > DIFFERENCE_TOLERANCE
    )
    beyond = 1 + np.minimum(
        (draws <= DIFFERENCE_TOLERANCE).sum(axis=0), (draws >= -DIFFERENCE_TOLERANCE).sum(axis=0)
    )
    p = np.minimum(1.0, 2 * beyond / (is_defined.sum(axis=0) + 1))
    return np.where(is_constant, np.nan, p)


def _column_differences(columns: Floats) -> Floats:
    """Return the first minus the second of each pair of adjacent columns."""
    return np.asarray(columns[..., ::2] - columns[..., 1::2])


# --- Systems with different items ----------------------------------------------------------------
# A test within listeners says something about the items that were heard. If two systems were rated
# on different items, their difference is also one of items, and only a test in which items are
# random as well can tell the two apart: the difference of mean votes, with the two-way
# cluster-robust variance (Cameron, Gelbach and Miller 2011). It adds the variance over items to
# that over listeners, and subtracts that of single votes, which both contain. Items that both
# systems have cancel out as far as they are alike.
#
# - What is subtracted is the variance of all deviations from the system's mean, not that of
#   residuals: it has as many values as there are votes, so it is always well estimated. Residuals
#   after items and listeners may have one degree of freedom, or none.
# - The variance is never below that over items or that over listeners. If each listener has one
#   vote, it is that over items.
# - Degrees of freedom are those of the variance with the fewest clusters, so the interval is at
#   most the root of the sum of squares of both one-way intervals with that t. Satterthwaite's
#   formula (1946) is used only within a kind of cluster, for sets of two systems that differ in
#   size: it adds no negative part, so it is not below the degrees of freedom of the smaller set.
#
# The REML model is not used here: with few common items, it cannot distinguish items from items ×
# systems, and its tests have sizes of up to 13 % (see the decision on systems with different
# items).


TWO_WAY_T = "two_way_t"


class ClusteredDifferences(NamedTuple):
    """Variances of differences if clusters are drawn, degrees of freedom, clusters of a pair."""

    variance: Floats
    freedom: Floats
    clusters: Floats


def two_way_differences(votes: Votes, pairs: Pairs) -> TestedMeans:
    """Return differences of systems that generalize to other listeners and other items.

    Errors are NaN if a system has fewer than two items or listeners, or without spread.
    ``listeners`` counts those of either system.
    """
    votes = drop_unvoted(votes)
    mean = vote_moments(votes).mean
    a, b = np.array(list(pairs), np.int64).reshape(-1, 2).T
    single_votes = votes.listeners * votes.size[1] + votes.items
    items, listeners, both = (
        clustered_differences(votes, clusters, a, b)
        for clusters in (votes.items, votes.listeners, single_votes)
    )
    larger = np.maximum(items.variance, listeners.variance)
    variance = np.maximum(items.variance + listeners.variance - both.variance, larger)
    error = np.where(variance > 0, np.sqrt(variance), np.nan)
    freedom = np.minimum(items.freedom, listeners.freedom)
    return TestedMeans(mean[a] - mean[b], error, freedom, listeners.clusters)


def clustered_differences(
    votes: Votes, clusters: Codes, a: Codes, b: Codes
) -> ClusteredDifferences:
    """Return the variance of the mean of each system of ``a`` minus that of ``b``, over clusters.

    Variances are NaN if a system has a single cluster.
    """
    from scipy.sparse import csr_array

    systems, moments = votes.systems, vote_moments(votes)
    shares = (votes.values - moments.mean[systems]) / moments.n[systems]
    distinct, columns = np.unique(clusters, return_inverse=True)
    shape = votes.size[0], len(distinct)
    sums = csr_array((shares, (systems, columns)), shape=shape)
    rated = csr_array((np.ones(len(shares)), (systems, columns)), shape=shape)
    rated.data[:] = 1
    n = rated.sum(axis=1)
    unbiased = ratio(n, n - 1)
    own = (sums * sums).sum(axis=1) * unbiased
    shared = (sums[a] * sums[b]).sum(axis=1) * np.sqrt(unbiased[a] * unbiased[b])
    count = n[a] + n[b] - (rated[a] * rated[b]).sum(axis=1)
    bottom = ratio(own**2, n - 1)
    freedom = np.minimum(ratio((own[a] + own[b]) ** 2, bottom[a] + bottom[b]), count - 1)
    return ClusteredDifferences(own[a] + own[b] - 2 * shared, freedom, count)


def two_way_contrasts(
    votes: Votes, pairs: Pairs, *, level: float = 0.95
) -> list[tuple[Estimate, float]]:
    """Return differences of pairs with intervals and p, for other listeners and other items."""
    tested = two_way_differences(votes, pairs)
    return list(zip(tested.estimates(level, TWO_WAY_T), tested.p_values().tolist(), strict=True))


# --- Interactions with groups --------------------------------------------------------------------
# Rows are differences of two systems within a listener and an item, so effects that are equal for
# both systems cancel out. Groups consist of items or of listeners.
#
# With t over listeners, on these items: a listener's mean difference in one group of items minus
# that in another, or Welch's test between groups of listeners. The bootstrap over listeners uses
# the same t test; the two-way bootstrap compares groups of items by its draws, and groups of
# listeners by Welch's test.
#
# With the mixed model, for other listeners and items: groups take the role of systems, so
# listeners, items and their interactions with groups are random. Confounded effects, such as an
# item and an item within its only group, are one component.


EstimatesWithP = list[tuple[Estimate, float]]


def group_differences(
    votes: Votes, pair: tuple[int, int], groups: Codes, *, of_listeners: bool
) -> Votes:
    """Return differences of two systems, with groups in the role of systems.

    ``groups`` has the group of each item, or listener, by number; −1 for no group.
    """
    rows = vote_differences(votes, [pair]).common
    row_groups = groups[rows.listeners if of_listeners else rows.items]
    count = int(groups.max(initial=-1)) + 1
    grouped = rows.select(row_groups >= 0)
    return replace(grouped, systems=row_groups[row_groups >= 0], size=(count, *rows.size[1:]))


def group_contrasts(
    rows: Votes,
    pairs: Pairs,
    method: str = "cluster_t",
    *,
    of_listeners: bool,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> EstimatesWithP:
    """Return first minus second for pairs of groups, and p of no difference."""
    if of_listeners:
        means, contrasts = listener_means(rows), EstimatesWithP()
        for pair in pairs:
            sides = [means[~np.isnan(means[:, group]), group] for group in pair]
            first = np.repeat([True, False], [len(side) for side in sides])
            strata = np.zeros(len(first), np.int64)
            contrasts.append(group_difference(np.concatenate(sides), first, strata, level))
        return contrasts
    estimates = estimate_contrasts(rows, list(pairs), method, level=level, draws=draws, seed=seed)
    return [(replace(estimate.difference, method=method), estimate.p) for estimate in estimates]


# --- Equivalence tests (TOST) --------------------------------------------------------------------
# A nonsignificant difference is no evidence of equivalence. Two systems are equivalent if two
# one-sided tests both reject: that of a difference of at most −margin, and that of a difference of
# at least +margin. p is the larger of the two. This is the same as the confidence interval at 1 − 2
# alpha lying within the margin; the smallest such margin is reported whether or not a margin was
# set.
#
# Tests are those of ``estimate_contrasts``: t over listeners (also for the bootstrap over
# listeners), t over votes for ``naive_t``, draws for ``two_way_bootstrap``, the mixed model for
# ``mixed``. Without spread there is no test.


class EquivalenceTest(NamedTuple):
    """Difference with its interval at 1 − 2 alpha, and p of a difference beyond the margin."""

    difference: Estimate
    p: float

    @property
    def smallest_margin(self) -> float:
        """Smallest margin that contains the interval."""
        low, high = self.difference.low, self.difference.high
        return float("nan") if low != low or high != high else max(abs(low), abs(high))


def equivalence_tests(
    votes: Votes,
    pairs: Pairs,
    margin: float,
    method: str = CLUSTER_T,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    fitted: MixedModelFit | None = None,
) -> list[EquivalenceTest]:
    """Return one equivalence test per pair; p is NaN if ``margin`` is NaN.

    ``level`` is 1 − alpha of the test.
    """
    if not pairs:
        return []
    interval_level = round(2 * level - 1, 12)
    undefined: Floats | float = 0.0
    if method == MIXED_MODEL:
        tested = combine_means(votes, fitted or fit_mixed_model(votes), list(pairs))
    elif method == TWO_WAY_T:
        tested = two_way_differences(votes, pairs)
    elif method == TWO_WAY_BOOTSTRAP:
        settings = IntervalSettings(interval_level, draws, seed)
        return _bootstrap_equivalence_tests(drop_unvoted(votes), pairs, margin, settings)
    else:
        votes = drop_unvoted(votes)
        rows = vote_differences(votes, pairs).combined
        if method == NAIVE_T:
            moments = vote_moments(rows)
        else:
            moments = significance.column_moments(listener_means(rows))
            undefined, method = votes.size[2] - moments.n, ITEM_T if method == ITEM_T else CLUSTER_T
        error = np.where(moments.is_constant, np.nan, moments.sd) / moments.root_n
        tested = TestedMeans(moments.mean, error, moments.freedom, moments.n)
    estimates = tested.estimates(interval_level, method, undefined)
    p = tested.equivalence_p_values(margin).tolist()
    return list(starmap(EquivalenceTest, zip(estimates, p, strict=True)))


def _bootstrap_equivalence_tests(
    votes: Votes, pairs: Pairs, margin: float, settings: IntervalSettings
) -> list[EquivalenceTest]:
    """Return tests with p from the shares of draws beyond either margin, never 0."""
    drawn = difference_draws(votes, pairs, vote_differences(votes, pairs), settings)
    estimates = drawn.estimates(settings.level, votes.size[2], TWO_WAY_BOOTSTRAP)
    defined = (~np.isnan(drawn.draws)).sum(axis=0)
    beyond = np.maximum((drawn.draws <= -margin).sum(axis=0), (drawn.draws >= margin).sum(axis=0))
    ranges = drawn.draws.max(axis=0, initial=-np.inf) - drawn.draws.min(axis=0, initial=np.inf)
    is_testable = drawn.has_enough & (ranges > SPREAD_TOLERANCE) & (margin == margin)
    p = np.where(is_testable, (1 + beyond) / (defined + 1), np.nan)
    return list(starmap(EquivalenceTest, zip(estimates, p.tolist(), strict=True)))
