"""Paired tests between two systems, slow reference implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

Rows = Sequence[Sequence[float]]


def sums(rows: Rows) -> list[float]:
    """Return the column sums."""
    return [sum(column) for column in zip(*rows, strict=True)]


def exact_p(a: Rows, b: Rows, score: Callable[[list[float]], float]) -> float:
    """Return the share of all swaps of outputs with a difference at least as large as observed.

    >>> exact_p([[3], [5]], [[1], [2]], lambda s: s[0])  # differences 5, 1, -1, -5
    0.5
    """
    observed = abs(score(sums(a)) - score(sums(b)))
    ways = list(product([False, True], repeat=len(a)))
    extreme = 0
    for way in ways:
        mine = [y if swap else x for x, y, swap in zip(a, b, way, strict=True)]
        theirs = [x if swap else y for x, y, swap in zip(a, b, way, strict=True)]
        extreme += abs(score(sums(mine)) - score(sums(theirs))) >= observed - 1e-12
    return extreme / len(ways)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's method, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = []
    for mine in p:
        smaller = [x for x in p if x <= mine]
        steps = [(sum(y >= x for y in p)) * x for x in smaller]
        adjusted.append(min(1.0, max(steps)))
    return adjusted


def mid_ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1; ranks of ties are averaged.

    >>> mid_ranks([3, 1, 3])
    [2.5, 1.0, 2.5]
    """
    return [sum(x < y for x in values) + (sum(x == y for x in values) + 1) / 2 for y in values]


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return p of Wilcoxon's signed-rank test: the share of all signs that are as extreme.

    Differences of 0 have a rank, but no sign.

    >>> signed_rank_p([1, 2, 3])  # 6 of 6, or −6, of 8 ways
    0.25
    """
    ranks = mid_ranks([abs(x) for x in differences])
    signed = [(rank, x > 0) for rank, x in zip(ranks, differences, strict=True) if x != 0]
    observed = abs(sum(rank if positive else -rank for rank, positive in signed))
    ways = list(product([1, -1], repeat=len(signed)))
    extreme = [
        abs(sum(sign * rank for sign, (rank, _) in zip(way, signed, strict=True))) >= observed
        for way in ways
    ]
    return sum(extreme) / len(ways)


def friedman(rows: Rows) -> float:
    """Return Friedman's chi-square of columns, from the ranks within rows, corrected for ties.

    >>> round(friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3]]), 3)  # sums of ranks 3, 7 and 8
    4.667
    """
    n, k = len(rows), len(rows[0])
    ranks = [mid_ranks(row) for row in rows]
    squares = sum(sum(column) ** 2 for column in zip(*ranks, strict=True))
    ties = sum(row.count(x) ** 2 - 1 for row in rows for x in row)
    corrected = 1 - ties / (n * k * (k * k - 1))
    uncorrected = 12 / (n * k * (k + 1)) * squares - 3 * n * (k + 1)
    return uncorrected / corrected if corrected else 0.0
