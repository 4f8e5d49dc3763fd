"""Permutation tests between two metrics the slow way: every swap there is, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

from helpers.plain_coefficients import level_value

Rows = list[list[float]]


def standardised(scores: Rows) -> Rows:
    """Mean 0 and standard deviation 1 over known scores."""
    known = [one for row in scores for one in row if not math.isnan(one)]
    mean = fmean(known)
    sd = math.sqrt(fmean([(one - mean) ** 2 for one in known])) or 1.0
    return [[round((one - mean) / sd, 10) for one in row] for row in scores]


def masks(systems: int, items: int, what: str) -> Iterator[list[list[bool]]]:
    """All ways to swap items, systems, or outputs."""
    if what == "items":
        for turned in product([False, True], repeat=items):
            yield [list(turned)] * systems
    elif what == "systems":
        for turned in product([False, True], repeat=systems):
            yield [[one] * items for one in turned]
    else:
        for turned in product([False, True], repeat=systems * items):
            yield [list(turned[s * items : (s + 1) * items]) for s in range(systems)]


def swapped_p(first: Rows, second: Rows, people: Rows, level: str, name: str, what: str) -> float:
    """The share of all swaps with a difference at least as large; those without a value are."""
    first, second = standardised(first), standardised(second)
    pairs = (zip(*rows, strict=True) for rows in zip(first, second, strict=True))
    gaps = [[math.isnan(a + b) for a, b in row] for row in pairs]
    systems, items = len(people), len(people[0])

    def difference(turned: Sequence[Sequence[bool]]) -> float:
        found = []
        for one, other in ((first, second), (second, first)):
            rows = [
                [
                    math.nan if gaps[s][i] else (other if turned[s][i] else one)[s][i]
                    for i in range(items)
                ]
                for s in range(systems)
            ]
            found.append(level_value(level, name, rows, people, range(systems), range(items)))
        return abs(found[0] - found[1])

    observed = difference([[False] * items] * systems)
    every = [difference(mask) for mask in masks(systems, items, what)]
    return fmean([float(not one < observed - 1e-9) for one in every])


def step_down_p(swapped: list[list[float]]) -> list[float]:
    """Corrected p of columns whose first row is the observed one, by plain step-down loops."""
    squares = [fmean([x * x for x in column]) for column in swapped]
    weight = min(0.25, len(swapped) / len(swapped[0]))
    spread = [math.sqrt((1 - weight) * one + weight * fmean(squares)) for one in squares]
    sizes = [[abs(x) / unit for x in column] for column, unit in zip(swapped, spread, strict=True)]
    left = sorted(range(len(sizes)), key=lambda n: -sizes[n][0])
    corrected, so_far = [0.0] * len(sizes), 0.0
    while left:
        largest = [max(sizes[n][row] for n in left) for row in range(len(sizes[0]))]
        observed = sizes[left[0]][0]
        so_far = max(so_far, fmean([float(x >= observed - 1e-12) for x in largest]))
        corrected[left.pop(0)] = so_far
    return corrected
