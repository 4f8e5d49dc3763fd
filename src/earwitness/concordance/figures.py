"""Coefficients of every metric at every level, with intervals; what chance alone would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from earwitness.concordance.joined import Joined
from earwitness.concordance.people import Abilities, means
from earwitness.concordance.settings import CALIBRATED, Settings
from earwitness.data import Estimate, Figure
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.concord.adjusted import complete, item_effects, joint, without_items
from earwitness.stats.concord.between import between
from earwitness.stats.concord.calibration import calibrated
from earwitness.stats.concord.chance import dealt
from earwitness.stats.concord.draws import OVER, Interval, drawn_values, interval
from earwitness.stats.concord.levels import Grid, Value, value
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

LEAST = {"systems": 6, "items": FEWEST, "raters": FEWEST}  # that an interval needs
NOTHING = 1000  # metrics that know nothing
BY_CHANCE = "chance"


@dataclass
class Found:
    """Figures, and margins of calibrated ties by level, of one metric."""

    figures: dict[Figure, Estimate]
    margins: dict[str, float]


@dataclass(frozen=True)
class Asked:
    """Scores beside people, and how they are to be held against each other."""

    joined: Joined
    given: Votes | Abilities
    settings: Settings
    _drawn: dict[str, Floats] = field(default_factory=dict)

    @cached_property
    def grid(self) -> Grid:
        """Scores and means of people."""
        return Grid(self.joined.scores, means(self.given))

    def at(self, level: str) -> Asked:
        """What is compared at a level: over systems, cells without what is due to their items."""
        return self._adjusted if level == "system" else self

    @property
    def adjustable(self) -> bool:
        """Whether systems have different items, but hang together by those that they share."""
        people = ~np.isnan(self.grid.people)
        tables = [people, *(people & ~np.isnan(self.joined.scores))]
        return not all(complete(one) for one in tables) and joint(people)

    @cached_property
    def _adjusted(self) -> Asked:
        given = self.given
        asked = self.settings.adjust == "items" and isinstance(given, Votes)
        if not asked or not isinstance(given, Votes) or not self.adjustable:
            return self
        effects = item_effects(self.grid.people)
        scores = without_items(self.joined.scores, self.grid.people)
        return replace(
            self,
            joined=replace(self.joined, scores=scores),
            given=replace(given, values=given.values - effects[given.items]),
            settings=replace(self.settings, adjust="none"),  # nothing is left to adjust
        )

    @property
    def levels(self) -> list[str]:
        """Levels that ratings allow: choices between systems place systems alone."""
        return [one for one in self.settings.levels if one == "system" or not self.joined.paired]

    @property
    def drawable(self) -> bool:
        """Whether there are enough of all that is drawn anew to speak of a spread."""
        raters = self.given.size[2]
        sizes = len(self.joined.systems), len(self.joined.items), raters
        return all(
            size >= least or not drawn
            for size, least, drawn in zip(
                sizes, LEAST.values(), OVER[self.settings.over], strict=True
            )
        )

    def drawn(self, level: str) -> Floats:
        """Coefficients × draws × metrics, of all coefficients at a level; drawn once."""
        if level not in self._drawn:
            self._drawn[level] = self.drawn_with(level, self.settings.figures(level))
        return self._drawn[level]

    def drawn_by(self, figure: Figure) -> Floats:
        """Draws × metrics."""
        place = self.settings.figures(figure.level).index(figure.coefficient)
        return np.asarray(self.drawn(figure.level)[place])

    def drawn_with(self, level: str, names: list[str], margins: Floats | float = 0.0) -> Floats:
        """Coefficients × draws × metrics, where differences up to a margin are ties."""
        own, here = self.settings, self.at(level)
        return drawn_values(
            here.joined.scores,
            here.given,
            level,
            names,
            over=own.over,
            draws=own.draws,
            seed=own.seed,
            margins=margins,
        )

    def interval(self, points: Floats, drawn: Floats, names: list[str]) -> Interval:
        """Ends about values, unknown where too few were drawn from."""
        level = self.settings.level
        return self._known(interval(points, drawn, names, level=level, count=self._count))

    def between(self, points: Floats, figure: Figure, pairs: Sequence[tuple[int, int]]) -> Interval:
        """The same of differences between two metrics."""
        own, drawn = self.settings, self.drawn_by(figure)
        name, count = figure.coefficient, self._count
        return self._known(
            between(points, drawn, name, pairs, over=own.over, level=own.level, count=count)
        )

    @property
    def _count(self) -> int | None:
        """Of how many things draws are, where one kind is drawn."""
        sizes = len(self.joined.systems), len(self.joined.items), self.given.size[2]
        yes = [size for size, one in zip(sizes, OVER[self.settings.over], strict=True) if one]
        return yes[0] if len(yes) == 1 else None

    def _known(self, found: Interval) -> Interval:
        if self.drawable:
            return found
        nothing = np.full_like(found.low, np.nan)
        return Interval(nothing, nothing, found.undefined)


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
