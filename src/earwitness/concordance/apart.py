"""Differences between metrics, and which of them cannot be told apart."""

from __future__ import annotations

from itertools import combinations
from math import isnan

import numpy as np

from earwitness.concordance.figures import Asked
from earwitness.data import Apart, Estimate, Figure, Ranked
from earwitness.stats.concord.dependent import williams
from earwitness.stats.concord.levels import Grid, value
from earwitness.stats.concord.swaps import WHAT, swapped
from earwitness.stats.correction import CORRECTIONS
from earwitness.stats.exact import Floats

EVERY = 12  # metrics up to which all pairs are compared; beyond, each with the best ones
BEST = 3


def apart(asked: Asked, figure: Figure) -> list[Apart]:
    """Differences of metrics by a figure, with p corrected over all of them."""
    grid, settings, joined = asked.grid, asked.settings, asked.joined
    values = value(grid, figure.level, [figure.coefficient]).value[0]
    pairs = _pairs(values)
    drawn = asked.drawn_by(figure)
    first, second = (np.array(side, np.int64) for side in (np.array(pairs).reshape(-1, 2).T))
    ends = asked.interval(
        (values[first] - values[second])[None],
        (drawn[:, first] - drawn[:, second])[None],
        [figure.coefficient],
        difference=True,
    )
    p = {
        what: swapped(
            joined.scores,
            grid.people,
            pairs,
            figure.level,
            figure.coefficient,
            what,
            permutations=settings.permutations,
            seed=settings.seed,
        )
        for what in WHAT
    }
    corrected = CORRECTIONS[settings.correction](p[settings.swap].tolist())
    by_williams = (
        _williams(grid, pairs) if figure.level == "system" else [float("nan")] * len(pairs)
    )
    counts = len(joined.systems) if figure.level == "system" else len(joined.items)
    return [
        Apart(
            joined.metrics[a].name,
            joined.metrics[b].name,
            figure,
            Estimate(
                float(values[a] - values[b]),
                float(ends.low[0, n]),
                float(ends.high[0, n]),
                settings.level,
                counts,
                int(ends.undefined[0, n]),
                f"bootstrap over {settings.over}",
            ),
            {what: float(own[n]) for what, own in p.items()},
            corrected[n],
            by_williams[n],
            settings.alpha,
        )
        for n, (a, b) in enumerate(pairs)
    ]


def _pairs(values: Floats) -> list[tuple[int, int]]:
    """The better metric of each pair first; of very many metrics each beside the best ones."""
    known = [int(n) for n in np.argsort(-values, kind="stable") if not isnan(values[n])]
    pairs = list(combinations(known, 2))
    return pairs if len(known) <= EVERY else [one for one in pairs if one[0] in known[:BEST]]


def _williams(grid: Grid, pairs: list[tuple[int, int]]) -> list[float]:
    """Two-sided p of Williams' test on Pearson's correlations of systems' means."""
    found = []
    for a, b in pairs:
        known = ~(np.isnan(grid.scores[a]) | np.isnan(grid.scores[b]) | np.isnan(grid.people))
        both = np.where(known, grid.scores[[a, b]], np.nan)
        own = value(Grid(both, np.where(known, grid.people, np.nan)), "system", ["pearson"])
        first = np.nanmean(np.where(known.any(axis=1)[:, None], both[0], 0), axis=1)
        other = Grid(both[1:], np.repeat(first[:, None], known.shape[1], axis=1))
        between = value(other, "system", ["pearson"]).value[0, 0]
        n = int(own.n[0, 0])
        found.append(float(williams(own.value[0, 0], own.value[0, 1], between, n).p))
    return found


def ranked(asked: Asked, figure: Figure, differences: list[Apart]) -> Ranked:
    """Metrics by value; a group ends before the first that is told from the group's first."""
    grid, names = asked.grid, [one.name for one in asked.joined.metrics]
    values = value(grid, figure.level, [figure.coefficient]).value[0]
    order = [names[n] for n in np.argsort(-values, kind="stable") if not isnan(values[n])]
    known = {(one.a, one.b): one.corrected for one in differences}
    groups: list[list[str]] = []
    for name in order:
        if groups and not known.get((groups[-1][0], name), 1) < asked.settings.alpha:
            groups[-1].append(name)
        else:
            groups.append([name])
    return Ranked(figure, tuple(map(tuple, groups)))
