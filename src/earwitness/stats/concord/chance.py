"""What metrics get that know nothing about which system is good.

The systems of people are dealt anew: what people said of one system, on all items, is held against
what the metric said of another. Whatever a metric favours, and however scores of a system hang
together, it is then by chance alone that it agrees. (Noise that is new for every cell would not
do over items: metrics that favour systems agree, or disagree, with people in all items at once.)

Over all cells at once items are dealt anew, too: a metric that knows which items are hard agrees
with people there, and knows something.

All metrics take turns, so that the values are those of metrics like these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.stats.concord.levels import Drawn, Grid, at
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Codes

HELD = 1_000_000  # numbers laid out at a time


def dealt(grid: Grid, level: str, names: Sequence[str], draws: int, seed: int) -> Floats:
    """Coefficients × draws."""
    metrics, systems, items = grid.scores.shape
    rng = np.random.Generator(np.random.PCG64((seed, 9)))
    orders = np.argsort(rng.random((draws, systems)), axis=1, kind="stable")
    columns = np.argsort(rng.random((draws, items)), axis=1, kind="stable")
    rows = max(1, HELD // max(1, items * systems * systems))
    found = np.full((len(names), draws), np.nan)
    for metric in range(metrics):
        own = np.arange(metric, draws, metrics)
        for start in range(0, len(own), rows):
            some = own[start : start + rows]
            if level == "global":
                found[:, some] = _moved(grid, metric, (orders[some], columns[some]), names)
                continue
            weights = np.ones((len(some), systems)), np.ones((len(some), items))
            drawn = Drawn(*weights, grid.people[orders[some]])
            found[:, some] = at(level, grid.scores[metric, None], drawn, names)[0][:, :, 0]
    return found


def _moved(grid: Grid, metric: int, orders: tuple[Codes, Codes], names: Sequence[str]) -> Floats:
    """Coefficients × draws over all cells: scores are dealt anew, so people are sorted but once."""
    _, systems, items = grid.scores.shape
    scores = grid.scores[metric][orders[0][:, :, None], orders[1][:, None, :]]
    once = Drawn(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    return at("global", scores, once, names)[0][:, 0]
