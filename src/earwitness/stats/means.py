"""System means and vote shares with naive, clustered and bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import (
    MIN_CASES_FOR_INTERVAL,
    listener_draws,
    percentile_interval,
    two_way_draws,
)
from earwitness.stats.significance import Moments, build_estimates, ratio
from earwitness.stats.votes import Codes, Votes

# --- System means --------------------------------------------------------------------------------
# The population that an interval refers to depends on what is considered random:
#
# - ``naive_t``: each vote, as if every vote came from a different listener. It is too narrow if
#   listeners give more than one vote, and is included for comparison.
# - ``cluster_t``: listeners. It refers to *these items* and other listeners of the same population,
#   and has correct coverage with few listeners.
# - ``cluster_bootstrap``: listeners, without assuming normal means. It also refers to these items;
#   with few listeners it is too narrow.
# - ``two_way_bootstrap``: listeners and items (pigeonhole bootstrap, Owen 2007). It refers to other
#   listeners *and other items*.
# - ``item_t``: items, each with one value per system, such as the mean over raters. Items are in
#   the place of listeners. It refers to these raters and other items.
#
# The estimate is the mean of listener means, each listener counting once; for ``naive_t`` and
# ``two_way_bootstrap`` it is the mean of votes. Intervals are not clipped to the scale. ``n``
# counts listeners who voted on the system (votes for ``naive_t``), ``undefined`` listeners who
# voted only on other systems. A single listener (or vote) has no interval.


CLUSTER_T = "cluster_t"
MIN_EQUAL_MEANS = 3  # fewer equal values have no interval
ITEM_ADJUSTED = "item_adjusted"
ITEM_T = "item_t"
CONNECTED_TOLERANCE = 1e-9  # smaller pivots, relative to the number of votes, are 0


class IntervalSettings(NamedTuple):
    """Settings of an interval; draws and seed apply to bootstrap methods only."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


def naive_t(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean of votes with a t interval that treats votes as independent."""
    return _t_estimates(vote_moments(votes), settings.level, 0.0, "naive_t")


def cluster_t(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean of listener means with a t interval over listeners."""
    moments = significance.column_moments(listener_means(votes))
    return _t_estimates(moments, settings.level, votes.size[2] - moments.n, CLUSTER_T)


def item_t(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean of items with a t interval over items, which are in place of listeners."""
    return [replace(estimate, method=ITEM_T) for estimate in cluster_t(votes, settings)]


def _t_estimates(
    moments: Moments, level: float, undefined: Floats | float, method: str
) -> list[Estimate]:
    """Return t intervals; two listeners (or votes) who agree do not show how much others differ."""
    low, high = significance.mean_interval(moments, level)
    low, high = (np.where(moments.is_constant, moments.mean, end) for end in (low, high))
    is_known = (moments.n >= MIN_EQUAL_MEANS) | (low != high)
    ends = np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)
    return build_estimates(moments.mean, ends, level, moments.n, undefined, method)


def cluster_bootstrap(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean of listener means with a percentile bootstrap interval over listeners.

    With fewer than five listeners there is no interval.
    """
    table = listener_means(votes)
    moments = significance.column_moments(table)
    draws = listener_draws(table, settings.draws, settings.seed)
    ends = percentile_ends(draws, settings.level, moments.n >= MIN_CASES_FOR_INTERVAL)
    methods = method_names("cluster_bootstrap", draws)
    undefined = votes.size[2] - moments.n
    return build_estimates(moments.mean, ends, settings.level, moments.n, undefined, methods)


def two_way_bootstrap(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean of votes with a percentile bootstrap interval over listeners and items.

    With fewer than five listeners or items there is no interval. Draws in which a system has no
    vote are skipped; ``method`` has their number.
    """
    draws = two_way_draws(votes, settings.draws, settings.seed)
    listeners, items = count_heard(votes)
    ends = percentile_ends(
        draws, settings.level, np.minimum(listeners, items) >= MIN_CASES_FOR_INTERVAL
    )
    methods = method_names("two_way_bootstrap", draws)
    value, undefined = vote_moments(votes).mean, votes.size[2] - listeners
    return build_estimates(value, ends, settings.level, listeners, undefined, methods)


def item_adjusted(votes: Votes, settings: IntervalSettings) -> list[Estimate]:
    """Return the mean that each system would have if all its votes were spread over all items.

    The mean is that of the additive model of systems and items fitted by least squares, with each
    item counting once, so that a system is not better because its items were easier. Its interval
    is a t interval over listeners by the jackknife: the model is fitted without each listener in
    turn. For complete designs, this is ``cluster_t``. Means are undefined if systems are not
    connected by common items; so is the interval if that happens without one listener.

    References
    ----------
    Efron and Stein (1981). The jackknife estimate of variance. Annals of Statistics 9.
    """
    from scipy.special import stdtrit

    counts = np.zeros(votes.size[:2])
    np.add.at(counts, (votes.systems, votes.items), 1)
    totals = np.zeros(votes.size[:2])
    np.add.at(totals, (votes.systems, votes.items), votes.values)
    means = _additive_means(counts, totals)
    listeners = count_heard(votes)[0]
    without = []
    for rows in np.split(
        np.argsort(votes.listeners, kind="stable"), np.cumsum(np.bincount(votes.listeners))[:-1]
    ):
        place = votes.systems[rows], votes.items[rows]
        counts[place] -= 1
        totals[place] -= votes.values[rows]
        without.append(_additive_means(counts, totals))
        counts[place] += 1
        totals[place] += votes.values[rows]
    drawn = np.array(without)
    count = len(drawn)
    squares = ((drawn - drawn.mean(axis=0)) ** 2).sum(axis=0) * (count - 1) / count
    freedom = np.where(listeners > 1, listeners - 1, np.nan)
    half_width = stdtrit(freedom, (1 + settings.level) / 2) * np.sqrt(squares)
    half_width = np.where((half_width == 0) & (listeners < MIN_EQUAL_MEANS), np.nan, half_width)
    ends = means - half_width, means + half_width
    undefined = votes.size[2] - listeners
    return build_estimates(means, ends, settings.level, listeners, undefined, ITEM_ADJUSTED)


def _additive_means(counts: Floats, totals: Floats) -> Floats:
    """Return system effects plus the mean item effect, by least squares; NaN if not connected.

    ``counts`` and ``totals`` have the number and the sum of votes by system and item. Item effects
    are eliminated first, so only a matrix of systems is factorized.
    """
    heard, has_votes = counts.sum(axis=0) > 0, counts.sum(axis=1) > 0
    counts, totals = counts[:, heard], totals[:, heard]
    means = np.full(len(counts), np.nan)
    if not has_votes.any():
        return means
    if has_votes.sum() == 1:
        item_means = totals[has_votes] / counts[has_votes]
        means[has_votes] = item_means.mean()
        return means
    share = counts / counts.sum(axis=0)
    normal = np.diag(counts.sum(axis=1)) - share @ counts.T
    right = totals.sum(axis=1) - share @ totals.sum(axis=0)
    normal, right, share = normal[np.ix_(has_votes, has_votes)], right[has_votes], share[has_votes]
    try:  # effects that sum to 0; singular if systems are not connected
        factor = np.linalg.cholesky(normal + normal.max() / len(normal))
    except np.linalg.LinAlgError:
        return means
    if np.diag(factor).min() ** 2 < CONNECTED_TOLERANCE * normal.max():
        return means
    effects = np.linalg.solve(factor.T, np.linalg.solve(factor, right))
    item_means = totals.sum(axis=0) / counts.sum(axis=0)
    means[has_votes] = effects + (item_means - effects @ share).mean()
    return means


Method = Callable[[Votes, IntervalSettings], list[Estimate]]
METHODS: dict[str, Method] = {
    "naive_t": naive_t,
    "cluster_t": cluster_t,
    "cluster_bootstrap": cluster_bootstrap,
    "two_way_bootstrap": two_way_bootstrap,
    ITEM_T: item_t,
}


def estimate_means(
    votes: Votes, method: str, *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> list[Estimate]:
    """Return one estimate per system, by one of ``METHODS`` or adjusted for items."""
    function = item_adjusted if method == ITEM_ADJUSTED else METHODS[method]
    return function(drop_unvoted(votes), IntervalSettings(level, draws, seed))


def drop_unvoted(votes: Votes) -> Votes:
    """Return the votes without listeners and items that have no vote."""
    distinct_items, items = np.unique(votes.items, return_inverse=True)
    distinct_listeners, listeners = np.unique(votes.listeners, return_inverse=True)
    size = votes.size[0], len(distinct_items), len(distinct_listeners)
    return replace(votes, items=items, listeners=listeners, size=size)


def listener_means(votes: Votes) -> Floats:
    """Return mean votes by listener and system, NaN without a vote."""
    return ratio(*votes.listener_sums())


def vote_moments(votes: Votes) -> Moments:
    """Return mean, standard deviation and number of votes by system."""
    systems, size = votes.systems, votes.size[0]
    n = np.bincount(systems, minlength=size).astype(np.float64)
    total = np.bincount(systems, votes.values, minlength=size).astype(np.float64)
    deviations = votes.values - ratio(total, n)[systems]
    squares = np.bincount(systems, deviations**2, minlength=size).astype(np.float64)
    return significance.moments_from_sums(total, squares, n)


def count_heard(votes: Votes) -> tuple[Floats, Floats]:
    """Return the number of listeners who voted on each system, and the number of items."""
    systems, size = votes.systems, votes.size[0]
    counts = []
    for codes in (votes.listeners, votes.items):
        pairs = np.unique(codes * size + systems) % size
        counts.append(np.bincount(pairs, minlength=size).astype(np.float64))
    return counts[0], counts[1]


def percentile_ends(draws: Floats, level: float, has_enough: Bools) -> tuple[Floats, Floats]:
    """Return both ends of percentile intervals, NaN without enough units."""
    low, high = percentile_interval(draws, level)
    return np.where(has_enough, low, np.nan), np.where(has_enough, high, np.nan)


def method_names(method: str, draws: Floats) -> list[str]:
    """Return the method of each system, with the number of skipped draws, if any."""
    skipped = np.isnan(draws).sum(axis=0).tolist()
    return [f"{method}, draws skipped: {count}" if count else method for count in skipped]


class TestedMeans(NamedTuple):
    """Means or differences, standard errors, degrees of freedom, and numbers of listeners."""

    value: Floats
    error: Floats
    freedom: Floats
    listeners: Floats | Codes

    def estimates(
        self, level: float, method: str, undefined: Floats | float = 0.0
    ) -> list[Estimate]:
        """Return estimates with t intervals."""
        from scipy.special import stdtrit

        half_width = stdtrit(self.freedom, (1 + level) / 2) * self.error
        ends = self.value - half_width, self.value + half_width
        return build_estimates(self.value, ends, level, self.listeners, undefined, method)

    def p_values(self) -> Floats:
        """Return two-sided p of a value of 0."""
        return 2 * self._chance_below(-np.abs(self.value))

    def equivalence_p_values(self, margin: float) -> Floats:
        """Return p of a value beyond a margin on either side."""
        below, above = -(self.value + margin), self.value - margin
        return np.maximum(self._chance_below(below), self._chance_below(above))

    def _chance_below(self, distance: Floats) -> Floats:
        from scipy.special import stdtr

        error = np.where(self.error > 0, self.error, np.nan)
        return np.asarray(stdtr(self.freedom, distance / error))


# --- Means over listeners ------------------------------------------------------------------------


SPREAD_TOLERANCE = 1e-9  # smaller standard deviations, relative to the mean, are 0


def mean_over_listeners(
    values: Floats, level: float, *, expected: float = 0.0, wider: float = 1.0, upper: bool = False
) -> tuple[Estimate, float]:
    """Return the mean of one value per listener, and p of the test against ``expected``.

    Missing values are NaN. ``wider`` multiplies the standard error. ``upper`` requests a one-sided
    p for larger means. With one listener, or without spread, the interval and p are NaN.
    """
    defined = values[~np.isnan(values)]
    n, undefined = len(defined), len(values) - len(defined)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, undefined, CLUSTER_T), math.nan
    mean = float(defined.mean())
    spread = float(defined.std(ddof=1)) if n > 1 else 0.0
    error = (
        wider * spread / math.sqrt(n)
        if spread > SPREAD_TOLERANCE * max(1.0, abs(mean))
        else math.nan
    )
    low, high, p = t_interval(mean, error, n - 1, level, expected=expected, upper=upper)
    return Estimate(mean, low, high, level, n, undefined, CLUSTER_T), p


def t_interval(
    value: float,
    error: float,
    freedom: float,
    level: float,
    *,
    expected: float = 0.0,
    upper: bool = False,
) -> tuple[float, float, float]:
    """Return both ends of a t interval and p; NaN without an error or degrees of freedom."""
    from scipy.special import stdtr, stdtrit

    if not (error > 0 and freedom > 0):
        return math.nan, math.nan, math.nan
    half_width = float(stdtrit(freedom, (1 + level) / 2)) * error
    t = (value - expected) / error
    p = float(stdtr(freedom, -t)) if upper else 2 * float(stdtr(freedom, -abs(t)))
    return value - half_width, value + half_width, p


def group_difference(
    values: Floats, first: Bools, strata: Codes, level: float
) -> tuple[Estimate, float]:
    """Return the difference between the means of two groups of listeners within strata, and p.

    ``values`` has one value per listener; listeners of different strata are not compared. With one
    stratum this is Welch's test, with several the test in a linear model with one mean per stratum.
    NaN if no stratum has both groups, or without residual degrees of freedom.
    """
    distinct = {*strata.tolist()}
    if len(distinct) == 1:
        return _welch(values[first], values[~first], level)
    centred, indicator = values.copy(), first.astype(np.float64)
    for stratum in distinct:
        is_inside = strata == stratum
        centred[is_inside] -= centred[is_inside].mean()
        indicator[is_inside] -= indicator[is_inside].mean()
    weight = float(indicator @ indicator)
    freedom = len(values) - len(distinct) - 1
    value = float(indicator @ centred) / weight if weight > SPREAD_TOLERANCE else math.nan
    residual_squares = float(((centred - value * indicator) ** 2).sum())
    rounding = (SPREAD_TOLERANCE * max(1.0, float(np.abs(values).max(initial=0)))) ** 2 * len(
        values
    )
    error = (
        math.sqrt(residual_squares / freedom / weight)
        if freedom > 0 and weight > SPREAD_TOLERANCE and residual_squares > rounding
        else math.nan
    )
    return _t_estimate(value, error, freedom, level, len(values), "t_between")


def _welch(a: Floats, b: Floats, level: float) -> tuple[Estimate, float]:
    n = len(a) + len(b)
    value = float(a.mean() - b.mean()) if len(a) and len(b) else math.nan
    error, freedom = math.nan, 0.0
    if min(len(a), len(b)) > 1:
        parts = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
        largest = max(1.0, abs(float(a.mean())), abs(float(b.mean())))
        if (total := sum(parts)) > (SPREAD_TOLERANCE * largest) ** 2:
            freedom = total**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
            error = math.sqrt(total)
    return _t_estimate(value, error, freedom, level, n, "welch")


def _t_estimate(
    value: float, error: float, freedom: float, level: float, n: int, method: str
) -> tuple[Estimate, float]:
    low, high, p = t_interval(value, error, freedom, level)
    return Estimate(value, low, high, level, n, 0, method), p


# --- Vote shares ---------------------------------------------------------------------------------


def vote_shares(
    votes: Votes, *, at_least: float = -math.inf, at_most: float = math.inf, level: float = 0.95
) -> list[Estimate]:
    """Return the share of votes within these limits, one estimate per system.

    It is the mean of listeners' shares with a t interval over listeners, clipped to 0 and 1. It
    refers to these items and other listeners.
    """
    within = (votes.values >= at_least) & (votes.values <= at_most)
    indicators = replace(votes, values=within.astype(np.float64))
    return [
        _clip_share(estimate) for estimate in estimate_means(indicators, "cluster_t", level=level)
    ]


def _clip_share(share: Estimate) -> Estimate:
    """Return the interval clipped to 0 and 1, or NaN if all listeners agree."""
    if share.low == share.high:
        return replace(share, low=math.nan, high=math.nan)
    low, high = np.clip([share.low, share.high], 0, 1).tolist()
    return replace(share, low=low, high=high)
