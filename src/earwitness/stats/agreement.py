"""Agreement between raters: Krippendorff's alpha and intraclass correlation (ICC)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats import bootstrap
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.votes import Codes, Votes

# --- Krippendorff's alpha ------------------------------------------------------------------------
# Alpha is 1 − observed / expected disagreement: of pairs of votes on the same unit, and of pairs of
# all votes. On an interval scale disagreement is the squared difference, so sums over pairs follow
# from sums and sums of squares. On an ordinal scale it is the squared difference of mid-ranks,
# which equals Krippendorff's ordinal metric. On a nominal scale pairs of equal votes are counted.
# The cost therefore grows with the number of votes, not with the squared number of distinct values.
#
# The interval is a percentile bootstrap interval over units: each draw is the alpha of as many
# units drawn with replacement, with ranks computed within the draw.


Level = Literal["nominal", "ordinal", "interval"]
VOTES_IN_MEMORY = 2_000_000  # number of resampled votes in memory at once
COUNTS_IN_MEMORY = 1_000_000  # largest table of value counts by unit that is not sparse
MIN_EXPECTED_SHARE = 1e-12  # a smaller expected disagreement, relative to the squares, is rounding


@dataclass(frozen=True)
class Units:
    """Votes of units with two or more votes, ordered by unit; ``starts`` has the first of each."""

    votes: Floats
    sizes: Floats
    starts: Codes
    unpaired: int

    @cached_property
    def units(self) -> Codes:
        """Unit of each vote."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes.astype(np.int64))

    @cached_property
    def codes(self) -> Codes:
        """Index of the value of each vote, in ascending order of values."""
        return np.unique(self.votes, return_inverse=True)[1].reshape(-1)

    @cached_property
    def counts(self) -> Any:
        """Count of each value by unit, as a sparse table if it is large."""
        from scipy.sparse import csr_array

        counts = csr_array((np.ones(len(self.votes)), (self.units, self.codes)))
        is_large = counts.shape[0] * counts.shape[1] > COUNTS_IN_MEMORY
        return counts if is_large else counts.toarray()


def krippendorff_alpha(
    table: Floats,
    measured: Level = "ordinal",
    *,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Compute Krippendorff's alpha of a table.

    Parameters
    ----------
    table
        One row per unit and one column per rater; NaN for a missing vote.
    measured
        Level of measurement: ``nominal``, ``ordinal`` or ``interval``.
    draws, seed
        Number of bootstrap draws over units, and their seed.
    level
        Confidence level of the percentile bootstrap interval.

    Returns
    -------
    Estimate
        Alpha. ``n`` counts units with two or more votes, ``undefined`` the others. Alpha is NaN if
        all votes are equal, since no disagreement is expected then.

    References
    ----------
    Krippendorff (2011). Computing Krippendorff's alpha-reliability.
    """
    units = pairable_units(table)
    count, method = len(units.sizes), f"bootstrap-units-{draws}"
    nan = float("nan")
    if not count:
        return Estimate(nan, nan, nan, level, 0, units.unpaired, method)
    measure = MEASURES[measured]
    value = float(measure(units, np.ones((1, count)))[0])
    low = high = np.array([nan])
    if count >= MIN_CASES_FOR_INTERVAL and draws:
        step = max(1, VOTES_IN_MEMORY // len(units.votes))
        alphas = [
            measure(units, block[start : start + step])
            for block in bootstrap.multinomial_weights(count, draws, seed)
            for start in range(0, len(block), step)
        ]
        low, high = percentile_interval(np.concatenate(alphas)[:, None], level)
    return Estimate(value, float(low[0]), float(high[0]), level, count, units.unpaired, method)


def pairable_units(table: Floats) -> Units:
    """Return the votes of units with two or more votes."""
    has_vote = ~np.isnan(table)
    sizes = has_vote.sum(axis=1)
    has_pair = sizes >= 2
    sizes = sizes[has_pair]
    votes = table[has_pair][has_vote[has_pair]]
    return Units(votes, sizes.astype(np.float64), np.cumsum(sizes) - sizes, len(table) - len(sizes))


def _compute_interval_alpha(units: Units, draws: Floats) -> Floats:
    """Compute alpha from sums, sums of squares and squares about unit means."""
    centred = units.votes - units.votes.mean()
    sums = np.add.reduceat(centred, units.starts)
    squares = np.add.reduceat(centred**2, units.starts)
    deviations = centred - (sums / units.sizes)[units.units]
    inside = np.add.reduceat(deviations**2, units.starts) * units.sizes / (units.sizes - 1)
    n, total, square, within = (draws @ np.stack([units.sizes, sums, squares, inside], axis=1)).T
    return _alpha_from_disagreement(within, (n * square - total**2) / (n - 1), n * square)


def _compute_ordinal_alpha(units: Units, draws: Floats) -> Floats:
    """Compute alpha as on an interval scale, from mid-ranks within each draw."""
    counts = draws @ units.counts
    n = counts.sum(axis=1)
    ranks = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2  # about their mean
    sums, squares = ranks @ units.counts.T, ranks**2 @ units.counts.T
    inside = np.maximum(squares - sums**2 / units.sizes, 0) * (units.sizes / (units.sizes - 1))
    square = (counts * ranks**2).sum(axis=1)
    return _alpha_from_disagreement((draws * inside).sum(axis=1), n * square / (n - 1), n**3)


def _compute_nominal_alpha(units: Units, draws: Floats) -> Floats:
    """Compute alpha from the pairs of votes that differ: all pairs minus pairs of equal votes."""
    counts = draws @ units.counts
    n = counts.sum(axis=1)
    within = draws @ ((units.sizes**2 - (units.counts**2).sum(axis=1)) / (units.sizes - 1))
    return _alpha_from_disagreement(within, (n**2 - (counts**2).sum(axis=1)) / (n - 1), n)


def _alpha_from_disagreement(observed: Floats, expected: Floats, scale: Floats) -> Floats:
    """Return alpha; both disagreements are multiplied by the number of votes."""
    defined = expected > MIN_EXPECTED_SHARE * scale
    share: Floats = np.divide(observed, expected, np.full(len(observed), np.nan), where=defined)
    return 1 - share


Measure = Callable[[Units, Floats], Floats]
MEASURES: dict[Level, Measure] = {
    "nominal": _compute_nominal_alpha,
    "ordinal": _compute_ordinal_alpha,
    "interval": _compute_interval_alpha,
}


# --- Intraclass correlation ----------------------------------------------------------------------
# Two-way random effects, absolute agreement: ICC(2,1) and ICC(2,k). A table has one row per
# stimulus and one column per listener. Its sum of squares is decomposed into rows, columns and
# residual; both coefficients and their F-based confidence intervals follow from the three mean
# squares (Shrout & Fleiss 1979; McGraw & Wong 1996). Only complete rows are used.
#
# For several panels, each with its own stimuli, sums of squares and degrees of freedom are added.
# The expected mean squares contain the number of listeners (rows) or of stimuli (columns); these
# are replaced by their mean over panels, weighted by the degrees of freedom. For panels of equal
# size the derivation of the interval is exact; for others it is approximate. Differences between
# panel means are not used, since no listener belongs to two panels.


ICC_NAMES = ("ICC(2,1)", "ICC(2,k)")
ZERO_SQUARE_SHARE = 1e-12  # smaller sums of squares, relative to the total, are rounding


class Squares(NamedTuple):
    """Mean squares with degrees of freedom, and the effective numbers of rows and columns."""

    rows: float
    columns: float
    residual: float
    df: tuple[float, float, float]
    n: float
    k: float
    used: int
    undefined: int


class _Sums(NamedTuple):
    squares: Floats  # of rows, columns, residual
    df: Floats
    shape: tuple[int, int]
    undefined: int


def estimate_icc(table: Floats, level: float = 0.95) -> dict[str, Estimate]:
    """Compute ICC(2,1) and ICC(2,k) of one table.

    Parameters
    ----------
    table
        One row per stimulus and one column per listener; NaN for a missing vote.
    level
        Confidence level.

    Returns
    -------
    dict
        Estimates by name. ``n`` counts the stimuli that all listeners voted on.

    References
    ----------
    Shrout and Fleiss (1979); McGraw and Wong (1996).
    """
    return estimate_pooled_icc([table], level)


def estimate_pooled_icc(tables: Sequence[Floats], level: float = 0.95) -> dict[str, Estimate]:
    """Compute ICC(2,1) and ICC(2,k) pooled over several panels, each with its own table."""
    parts = [_sums_of_squares(table) for table in tables]
    squares = _pool_squares(parts)
    method = "anova-f" if len(parts) < 2 else "anova-f-pooled"
    if squares is None:
        nan, undefined = float("nan"), sum(part.undefined for part in parts)
        return {name: Estimate(nan, nan, nan, level, 0, undefined, method) for name in ICC_NAMES}
    return {
        name: Estimate(
            _icc_value(squares, k),
            *_compute_icc_interval(squares, k, level),
            level,
            squares.used,
            squares.undefined,
            method,
        )
        for name, k in zip(ICC_NAMES, (squares.k, 1), strict=True)
    }


def panel_tables(votes: Votes) -> list[tuple[list[int], Floats]]:
    """Return the listeners of each panel, with the table of stimuli that they voted on."""
    table = votes.table()
    tables = []
    for panel in votes.panels():
        panel_votes = table[:, panel]
        tables.append((panel, panel_votes[~np.isnan(panel_votes).all(axis=1)]))
    return tables


def _sums_of_squares(table: Floats) -> _Sums:
    complete = table[~np.isnan(table).any(axis=1)]
    incomplete = len(table) - len(complete)
    n, k = complete.shape
    if n < (MIN_CASES_FOR_INTERVAL if incomplete else 2) or k < 2:
        return _Sums(np.zeros(3), np.zeros(3), (0, 0), len(table))
    centred = complete - complete.mean()
    rows, columns = centred.mean(axis=1), centred.mean(axis=0)
    residual = centred - rows[:, None] - columns
    squares = np.array([k * rows @ rows, n * columns @ columns, (residual**2).sum()])
    squares[squares <= ZERO_SQUARE_SHARE * (centred**2).sum()] = 0
    return _Sums(squares, np.array([n - 1, k - 1, (n - 1) * (k - 1)]), (n, k), incomplete)


def _pool_squares(parts: Sequence[_Sums]) -> Squares | None:
    undefined = sum(part.undefined for part in parts)
    parts = [part for part in parts if part.shape[0]]
    if not parts:
        return None
    df = np.sum([part.df for part in parts], axis=0)
    rows, columns, residual = (np.sum([part.squares for part in parts], axis=0) / df).tolist()
    n = sum(part.shape[0] * part.df[1] for part in parts) / df[1]
    k = sum(part.shape[1] * part.df[0] for part in parts) / df[0]
    used = sum(part.shape[0] for part in parts)
    degrees = float(df[0]), float(df[1]), float(df[2])
    return Squares(rows, columns, residual, degrees, float(n), float(k), used, undefined)


def _icc_value(squares: Squares, k: float) -> float:
    """Return ICC(2,1) if ``k`` is the number of listeners, ICC(2,k) if it is 1."""
    spread = k * (squares.columns - squares.residual) / squares.n
    return _positive_ratio(
        squares.rows - squares.residual, squares.rows + (k - 1) * squares.residual + spread
    )


def _compute_icc_interval(squares: Squares, k: float, level: float) -> tuple[float, float]:
    """Return the interval of McGraw & Wong; for the mean it is stepped up by Spearman–Brown."""
    from scipy.special import fdtri

    if not squares.columns and not squares.residual:  # perfect agreement: F is infinite
        return (1.0, 1.0) if squares.rows else (float("nan"), float("nan"))
    df, chance = _satterthwaite_df(squares), (1 + level) / 2
    below = 1 / float(fdtri(squares.df[0], df, chance))
    above = float(fdtri(df, squares.df[0], chance))
    return _interval_end(squares, k, below), _interval_end(squares, k, above)


def _interval_end(squares: Squares, k: float, factor: float) -> float:
    """Return the coefficient with the mean square of rows multiplied by a factor."""
    return _icc_value(squares._replace(rows=squares.rows * factor), k)


def _satterthwaite_df(squares: Squares) -> float:
    """Return the degrees of freedom of the denominator, a mixture of columns and residual.

    A negative coefficient counts as 0: both parts would nearly cancel out, and with them the
    degrees of freedom.
    """
    value, n, k = max(0.0, _icc_value(squares, squares.k)), squares.n, squares.k
    columns = k * value * squares.columns
    residual = (n * (1 - value) + k * value * (n - 1)) * squares.residual
    return _positive_ratio(
        (columns + residual) ** 2, columns**2 / squares.df[1] + residual**2 / squares.df[2]
    )


def _positive_ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else float("nan")
