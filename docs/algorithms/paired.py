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
