"""Coefficients of every metric at every level, with intervals; what chance alone would give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from earwitness.concordance.asked import Asked
from earwitness.concordance.settings import CALIBRATED, Settings
from earwitness.data import Estimate, Figure
from earwitness.stats.bootstrap import percentile_interval
from earwitness.stats.concord.calibration import calibrated
from earwitness.stats.concord.chance import dealt
from earwitness.stats.concord.draws import Interval
from earwitness.stats.concord.levels import Grid, Value, value

NOTHING = 1000  # metrics that know nothing
BY_CHANCE = "chance"


@dataclass
class Found:
    """Figures, and margins of calibrated ties by level, of one metric."""

    figures: dict[Figure, Estimate]
    margins: dict[str, float]


def figures(asked: Asked) -> list[Found]:
    """All figures of every metric."""
    found = [Found({}, {}) for _ in asked.joined.metrics]
    for level in asked.levels:
        names, grid = asked.settings.figures(level), asked.at(level).grid
        point = value(grid, level, names)
        ends = asked.interval(point.value, asked.drawn(level), names)
        for metric, own in enumerate(found):
            for place, name in enumerate(names):
                one = _estimate(point, ends, place, metric, asked.settings)
                own.figures[Figure(level, name)] = one
        if level == "item":
            _calibrate(asked, grid, found)
    return found


def _estimate(
    point: Value, ends: Interval, place: int, metric: int, settings: Settings
) -> Estimate:
    return Estimate(
        float(point.value[place, metric]),
        float(ends.low[place, metric]),
        float(ends.high[place, metric]),
        settings.level,
        int(point.n[place, metric]),
        int(point.undefined[place, metric]),
        f"bootstrap over {settings.over}",
    )


def _calibrate(asked: Asked, grid: Grid, found: list[Found]) -> None:
    """acc_23 where differences of scores up to a margin, chosen on other items, are ties."""
    settings = asked.settings
    tied = calibrated(grid, folds=settings.folds, seed=settings.seed)
    if tied.reason:
        return
    drawn = asked.drawn_with("item", ["acc_23"], tied.by_item)
    ends = asked.interval(tied.value[None], drawn, ["acc_23"])
    point = value(grid, "item", ["acc_23"])
    for metric, own in enumerate(found):
        one = _estimate(point, ends, 0, metric, settings)
        own.figures[Figure("item", CALIBRATED)] = replace(one, value=float(tied.value[metric]))
        own.margins["item"] = float(tied.margin[metric])


def chance(asked: Asked) -> dict[Figure, Estimate]:
    """What metrics get that know nothing: their mean, and the range of most of them.

    They are the metrics themselves, whose systems (over all outputs at once: and items) were dealt
    anew among those that people rated. So they favour systems, tie, and lack outputs just as much
    as the metrics do. Noise that is new for every output would favour none, and its range over
    items would be too narrow.
    """
    found: dict[Figure, Estimate] = {}
    for level in asked.levels:
        names, grid = asked.settings.figures(level), asked.at(level).grid
        drawn = dealt(grid, level, names, NOTHING, asked.settings.seed)
        things = value(grid, level, names).n.max(axis=1)
        for place, name in enumerate(names):
            known = drawn[place][~np.isnan(drawn[place])]
            low, high = percentile_interval(drawn[place][:, None], asked.settings.level)
            found[Figure(level, name)] = Estimate(
                float(known.mean()) if len(known) else float("nan"),
                float(low[0]),
                float(high[0]),
                asked.settings.level,
                int(things[place]),
                NOTHING - len(known),
                BY_CHANCE,
            )
    return found
