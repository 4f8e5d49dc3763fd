"""Intraclass correlation, two-way random effects, absolute agreement: ICC(2,1) and ICC(2,k).

A table has a row a stimulus and a column a listener. Its sum of squares is taken apart into rows,
columns and the rest; both coefficients and their F-based intervals follow from the three mean
squares (Shrout & Fleiss 1979; McGraw & Wong 1996). Only rows without a gap count.

Over several panels, each with stimuli of its own, sums of squares and degrees of freedom are added.
What a mean square expects holds the number of listeners (rows) or of stimuli (columns): its place
is taken by their mean over panels, weighted with the degrees of freedom. For panels of one size the
interval has the very same derivation; for others it is close. Differences between the means of
panels count nowhere, since no listener bridges them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.bootstrap import FEWEST
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

NAMES = ("ICC(2,1)", "ICC(2,k)")
NOTHING = 1e-12  # a mean square below this part of the mean square of all is rounding


class Squares(NamedTuple):
    """Mean squares with degrees of freedom, and the rows and columns that they stand for."""

    rows: float
    columns: float
    rest: float
    df: tuple[float, float, float]
    n: float
    k: float
    used: int
    undefined: int


class _Sums(NamedTuple):
    squares: Floats  # of rows, columns, rest
    df: Floats
    shape: tuple[int, int]
    undefined: int


def icc(table: Floats, level: float = 0.95) -> dict[str, Estimate]:
    """Both coefficients of one table; n counts the stimuli that every listener voted on."""
    return _estimates([_sums(table)], level)


def pooled_icc(tables: Sequence[Floats], level: float = 0.95) -> dict[str, Estimate]:
    """Both coefficients over several panels, each with a table of its own."""
    return _estimates([_sums(table) for table in tables], level)


def panel_tables(votes: Votes) -> list[tuple[list[int], Floats]]:
    """The listeners of every panel, and their table with the stimuli that they voted on."""
    table = votes.table()
    found = []
    for panel in votes.panels():
        own = table[:, panel]
        found.append((panel, own[~np.isnan(own).all(axis=1)]))
    return found


def _sums(table: Floats) -> _Sums:
    whole = table[~np.isnan(table).any(axis=1)]
    left = len(table) - len(whole)
    n, k = whole.shape
    if n < (FEWEST if left else 2) or k < 2:
        return _Sums(np.zeros(3), np.zeros(3), (0, 0), len(table))
    moved = whole - whole.mean()
    rows, columns = moved.mean(axis=1), moved.mean(axis=0)
    rest = moved - rows[:, None] - columns
    squares = np.array([k * rows @ rows, n * columns @ columns, (rest**2).sum()])
    squares[squares <= NOTHING * (moved**2).sum()] = 0
    return _Sums(squares, np.array([n - 1, k - 1, (n - 1) * (k - 1)]), (n, k), left)


def _pooled(parts: Sequence[_Sums]) -> Squares | None:
    undefined = sum(part.undefined for part in parts)
    parts = [part for part in parts if part.shape[0]]
    if not parts:
        return None
    df = np.sum([part.df for part in parts], axis=0)
    rows, columns, rest = (np.sum([part.squares for part in parts], axis=0) / df).tolist()
    n = sum(part.shape[0] * part.df[1] for part in parts) / df[1]
    k = sum(part.shape[1] * part.df[0] for part in parts) / df[0]
    used = sum(part.shape[0] for part in parts)
    degrees = float(df[0]), float(df[1]), float(df[2])
    return Squares(rows, columns, rest, degrees, float(n), float(k), used, undefined)


def _estimates(parts: Sequence[_Sums], level: float) -> dict[str, Estimate]:
    found = _pooled(parts)
    method = "anova-f" if len(parts) < 2 else "anova-f-pooled"
    if found is None:
        nan, left = float("nan"), sum(part.undefined for part in parts)
        return {name: Estimate(nan, nan, nan, level, 0, left, method) for name in NAMES}
    single = _coefficient(found, found.k), *_interval(found, found.k, level)
    mean = _coefficient(found, 1), *_interval(found, 1, level)
    return {
        name: Estimate(*three, level, found.used, found.undefined, method)
        for name, three in zip(NAMES, (single, mean), strict=True)
    }


def _coefficient(squares: Squares, each: float) -> float:
    """With ``each`` = k that of one listener, with 1 that of the mean of k listeners."""
    spread = each * (squares.columns - squares.rest) / squares.n
    return _ratio(squares.rows - squares.rest, squares.rows + (each - 1) * squares.rest + spread)


def _interval(squares: Squares, each: float, level: float) -> tuple[float, float]:
    """McGraw & Wong's; for the mean it is that of one listener stepped up by Spearman–Brown."""
    from scipy.special import fdtri

    if not squares.columns and not squares.rest:  # all agree, whatever F is
        return (1.0, 1.0) if squares.rows else (float("nan"), float("nan"))
    df, chance = _satterthwaite(squares), (1 + level) / 2
    below = 1 / float(fdtri(squares.df[0], df, chance))
    above = float(fdtri(df, squares.df[0], chance))
    return _end(squares, each, below), _end(squares, each, above)


def _end(squares: Squares, each: float, factor: float) -> float:
    """The coefficient, were the mean square of rows so many times as large."""
    return _coefficient(squares._replace(rows=squares.rows * factor), each)


def _satterthwaite(squares: Squares) -> float:
    """Degrees of freedom of what rows are held against, a mixture of columns and rest."""
    value, n, k = _coefficient(squares, squares.k), squares.n, squares.k
    columns = k * value * squares.columns
    rest = (n * (1 - value) + k * value * (n - 1)) * squares.rest
    return _ratio((columns + rest) ** 2, columns**2 / squares.df[1] + rest**2 / squares.df[2])


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else float("nan")
