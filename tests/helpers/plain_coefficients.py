"""Concordance the slow way: loops over indices, one metric and one draw at a time.

A draw is a list of indices, with repetitions. Two picks of the same index are one thing, and make
no pair: a system that was drawn twice is not a tie with itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from statistics import fmean

Number = float | Fraction
Values = Sequence[Number]
Table = Sequence[Values]  # systems × items, NaN where unknown


def kinds(x: Values, y: Values, picked: Sequence[int], margin: float = 0.0) -> list[int]:
    """Pairs: concordant, discordant, tied in the metric, in people, in both."""
    found = [0] * 5
    for a, b in combinations(picked, 2):
        if a != b:
            tied = abs(float(x[a] - x[b])) <= margin
            if y[a] == y[b]:
                found[4 if tied else 3] += 1
            elif tied:
                found[2] += 1
            else:
                found[0 if (x[a] < x[b]) == (y[a] < y[b]) else 1] += 1
    return found


def pearson(x: Values, y: Values) -> float:
    """NaN where either does not vary."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    x, y = [float(a) for a in x], [float(b) for b in y]
    mean_x, mean_y = fmean(x), fmean(y)
    shared = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread_x = math.fsum((a - mean_x) ** 2 for a in x)
    spread_y = math.fsum((b - mean_y) ** 2 for b in y)
    return shared / math.sqrt(spread_x) / math.sqrt(spread_y)


def midranks(values: Values) -> list[float]:
    """Ranks from 1; ties have the mean of theirs."""
    return [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]


def over(above: float, below: float) -> float:
    return above / below if below else math.nan


def coefficient(name: str, x: Values, y: Values, picked: Sequence[int], margin: float = 0) -> float:
    """One coefficient of the things that were picked."""
    xs, ys = [x[i] for i in picked], [y[i] for i in picked]
    if name == "pearson":
        return pearson(xs, ys)
    if name == "spearman":
        return pearson(midranks(xs), midranks(ys))
    c, d, tied_x, tied_y, both = kinds(x, y, picked, margin)
    if name == "kendall_b":
        return over(c - d, math.sqrt((c + d + tied_y) * (c + d + tied_x)))
    if name == "kendall_c":
        m = min(len(set(xs)), len(set(ys)))
        return over(2 * (c - d), len(picked) ** 2 * (m - 1) / m) if m else math.nan
    whole = c + d + tied_x + tied_y + both
    if name == "acc_23":
        return over(c + both, whole)
    if name == "tau_23":
        return over(c + both - d - tied_x - tied_y, whole)
    return over(c, c + d + tied_x)


def level_value(
    level: str,
    name: str,
    scores: Table,
    people: Table,
    systems: Sequence[int],
    items: Sequence[int],
    margins: Sequence[float] | None = None,
) -> float:
    """A coefficient at a level, of systems and items that were picked."""
    known = [
        [not math.isnan(a) and not math.isnan(b) for a, b in zip(*rows, strict=True)]
        for rows in zip(scores, people, strict=True)
    ]
    margins = margins or [0.0] * len(scores[0])
    if level == "system":
        chosen = [s for s in systems if any(known[s][i] for i in items)]
        mean = [
            [_mean(rows[s], known[s], items) for s in range(len(rows))] for rows in (scores, people)
        ]
        return coefficient(name, mean[0], mean[1], chosen, margins[0])
    if level == "item":
        found = []
        for i in items:
            chosen = [s for s in systems if known[s][i]]
            x, y = [row[i] for row in scores], [row[i] for row in people]
            found.append(coefficient(name, x, y, chosen, margins[i]))
        defined = [one for one in found if not math.isnan(one)]
        return fmean(defined) if defined else math.nan
    width = len(scores[0])
    cells = [s * width + i for s in systems for i in items if known[s][i]]
    flat = [[value for row in table for value in row] for table in (scores, people)]
    return coefficient(name, flat[0], flat[1], cells, margins[0])


def _mean(row: Values, known: Sequence[bool], items: Sequence[int]) -> Number:
    values = [row[i] for i in items if known[i]]
    return sum(map(exact, values)) / len(values) if values else math.nan


def exact(value: Number) -> Fraction:
    """The decimal number that a float is written as, so that no tie is lost to rounding."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def cell_means(
    votes: Sequence[tuple[int, int, int, float]], picked: Sequence[int], size: tuple[int, int, int]
) -> list[list[Number]]:
    """The mean vote by system and item, each listener as often as picked."""
    found: list[list[list[Fraction]]] = [[[] for _ in range(size[1])] for _ in range(size[0])]
    for system, item, listener, value in votes:
        found[system][item] += [exact(value)] * list(picked).count(listener)
    return [
        [sum(cell) / Fraction(len(cell)) if cell else math.nan for cell in row] for row in found
    ]


def best_margin(groups: Sequence[tuple[Values, Values]]) -> float:
    """The smallest margin with the highest mean of acc_23 over groups, of all differences."""
    tried = {0.0} | {abs(float(a - b)) for x, _ in groups for a, b in combinations(x, 2)}
    shares = {}
    for margin in sorted(tried):
        found = [coefficient("acc_23", x, y, range(len(x)), margin) for x, y in groups]
        defined = [one for one in found if not math.isnan(one)]
        shares[margin] = fmean(defined) if defined else math.nan
    best = max(shares.values())
    return min(margin for margin, share in shares.items() if share >= best - 1e-9)
