"""Scores beside people, as they are compared at each level, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from earwitness.concordance.joined import Joined
from earwitness.concordance.people import Abilities, means
from earwitness.concordance.settings import Settings
from earwitness.data import Figure
from earwitness.stats.bootstrap import FEWEST
from earwitness.stats.concord.adjusted import complete, item_effects, joint, without_items
from earwitness.stats.concord.between import between
from earwitness.stats.concord.draws import OVER, Interval, drawn_values, interval
from earwitness.stats.concord.levels import Grid
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

LEAST = {"systems": 6, "items": FEWEST, "raters": FEWEST}  # that an interval needs


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
