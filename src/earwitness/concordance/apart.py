"""Differences between metrics, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import isnan, nan

import numpy as np

from earwitness.concordance.asked import Asked
from earwitness.data import Apart, Estimate, Figure, Ranked
from earwitness.stats.concord.dependent import williams
from earwitness.stats.concord.levels import Grid, Value, value
from earwitness.stats.concord.swaps import WHAT, swapped
from earwitness.stats.correction import CORRECTIONS
from earwitness.stats.exact import Floats

EVERY = 12  # metrics up to which all pairs are compared
HALF = 0.5  # of what a value may rest on: with less, a metric has no place
THINGS = {"system": "systems", "item": "items", "global": "outputs"}
Pair = tuple[int, int]


def apart(asked: Asked, figure: Figure) -> tuple[list[Apart], Ranked]:
    """Metrics by a figure: who is told from whom, and groups.

    Up to ``EVERY`` metrics all pairs are compared; beyond, the first of every group with all that
    rank below it, and every metric with every baseline. p is corrected over all comparisons of a
    metric with those that rank below it. Metrics whose value rests on too little have no place.
    """
    asked = asked.at(figure.level)
    whole = value(asked.grid, figure.level, [figure.coefficient])
    values, aside = whole.value[0], _aside(asked, figure, whole)
    order = [int(n) for n in np.argsort(-values, kind="stable") if n not in aside]
    pairs = list(combinations(order, 2))
    if len(order) > EVERY:
        trivial = {n for n in order if asked.joined.metrics[n].baseline}
        pairs = [pair for pair in pairs if pair[0] == order[0] or trivial & {*pair}]
    found = _tested(asked, figure, values, pairs)
    groups: list[list[int]] = []
    for place, number in enumerate(order):
        if groups and not found[groups[-1][0], number].told:
            groups[-1].append(number)
            continue
        groups.append([number])
        below = [(number, other) for other in order[place + 1 :]]
        if any(pair not in found for pair in below):
            found |= _tested(asked, figure, values, below)
    names = [one.name for one in asked.joined.metrics]
    placed = tuple(tuple(names[n] for n in group) for group in groups)
    ranked = Ranked(figure, placed, {names[n]: reason for n, reason in aside.items()})
    return list(found.values()), ranked


def _aside(asked: Asked, figure: Figure, found: Value) -> dict[int, str]:
    """Metrics without a place, by number, and why.

    A metric that says the same of all outputs of most items has a value on the few others alone,
    which may be high by chance, or because these are easy. What a value could rest on is what that
    of people beside themselves rests on.
    """
    people = asked.grid.people
    could = value(Grid(people[None], people), figure.level, [figure.coefficient]).n[0, 0]
    aside = {}
    for place, own in enumerate(found.n[0]):
        if isnan(found.value[0, place]):
            aside[place] = "it has no value"
        elif own < HALF * could:
            aside[place] = f"its value rests on {own:,.0f} of {could:,.0f} {THINGS[figure.level]}"
    return aside


def _tested(
    asked: Asked, figure: Figure, values: Floats, pairs: Sequence[Pair]
) -> dict[Pair, Apart]:
    """Differences of pairs, the better metric first."""
    if not pairs:
        return {}
    settings, names = asked.settings, [one.name for one in asked.joined.metrics]
    differences = _differences(asked, figure, values, pairs)
    p = {what: _swapped(asked, figure, what, pairs) for what in WHAT}
    corrected = _corrected(p[settings.swap], pairs, CORRECTIONS[settings.correction])
    own = _williams(asked.grid, pairs) if figure.level == "system" else [nan] * len(pairs)
    return {
        (a, b): Apart(
            names[a],
            names[b],
            figure,
            differences[n],
            {what: float(one[n]) for what, one in p.items()},
            corrected[n],
            own[n],
            settings.alpha,
        )
        for n, (a, b) in enumerate(pairs)
    }


def _differences(
    asked: Asked, figure: Figure, values: Floats, pairs: Sequence[Pair]
) -> list[Estimate]:
    ends = asked.between(values, figure, pairs)
    joined = asked.joined
    count = len(joined.systems) if figure.level == "system" else len(joined.items)
    return [
        Estimate(
            float(values[a] - values[b]),
            float(ends.low[n]),
            float(ends.high[n]),
            asked.settings.level,
            count,
            int(ends.undefined[n]),
            f"bootstrap over {asked.settings.over}",
        )
        for n, (a, b) in enumerate(pairs)
    ]


def _swapped(asked: Asked, figure: Figure, what: str, pairs: Sequence[Pair]) -> Floats:
    return swapped(
        asked.joined.scores,
        asked.grid.people,
        pairs,
        figure.level,
        figure.coefficient,
        what,
        permutations=asked.settings.permutations,
        seed=asked.settings.seed,
    )


def _corrected(
    p: Floats, pairs: Sequence[Pair], correct: Callable[[Sequence[float]], list[float]]
) -> list[float]:
    """Over all comparisons of a metric with those that rank below it."""
    found = [nan] * len(pairs)
    for first in dict.fromkeys(pair[0] for pair in pairs):
        own = [n for n, pair in enumerate(pairs) if pair[0] == first]
        for n, one in zip(own, correct([float(p[n]) for n in own]), strict=True):
            found[n] = one
    return found


def _williams(grid: Grid, pairs: Sequence[Pair]) -> list[float]:
    """Two-sided p of Williams' test on Pearson's correlations of systems' means."""
    return list(map(float, _each_williams(grid, pairs)))


def _each_williams(grid: Grid, pairs: Sequence[Pair]) -> Iterator[float]:
    for a, b in pairs:
        known = ~(np.isnan(grid.scores[a]) | np.isnan(grid.scores[b]) | np.isnan(grid.people))
        both = np.where(known, grid.scores[[a, b]], np.nan)
        own = value(Grid(both, np.where(known, grid.people, np.nan)), "system", ["pearson"])
        sums, counts = np.where(known, both[0], 0).sum(axis=1), known.sum(axis=1)
        first = sums / np.maximum(counts, 1)
        other = Grid(both[1:], np.repeat(first[:, None], known.shape[1], axis=1))
        between = value(other, "system", ["pearson"]).value[0, 0]
        yield float(williams(own.value[0, 0], own.value[0, 1], between, int(own.n[0, 0])).p)
