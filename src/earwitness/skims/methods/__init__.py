"""Methods that pick the blocks of a skim, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from earwitness.errors import UsageError, nearest
from earwitness.skims.day import Day, Ints
from earwitness.skims.methods.pareto import SkimArchive, archive_of
from earwitness.skims.methods.plan import (
    BlockSelection,
    Reasons,
    SkimPlan,
    downsampled,
    drawn,
    fitting,
    picked,
)
from earwitness.skims.methods.tailleur import MainEvents, events_of, sequence

METHODS = {
    "pareto": "the best trade between the day's course and the coverage of its classes",
    "published": "main events of every period in sequence, as published",
    "downsampling": "a block at random from each equal part of the day",
    "random": "blocks at random, in the order of time",
}
BASELINES = {"downsampling": downsampled, "random": drawn}


class Picker:
    """Skims of one day for any method and any z."""

    def __init__(
        self, day: Day, plan: SkimPlan, make: Callable[[Day, SkimPlan], SkimArchive] = archive_of
    ) -> None:
        self.day, self.plan, self.make = day, plan, make
        self.count = min(plan.picks, int(day.allowed.sum()))

    @cached_property
    def archive(self) -> SkimArchive:
        """Skims of our method."""
        return self.make(self.day, self.plan)

    @cached_property
    def events(self) -> MainEvents:
        """Main events of the published method."""
        return events_of(self.day, self._fitting[0], self.plan.seed)

    @cached_property
    def _fitting(self) -> Any:
        return fitting(self.day, self.plan)

    def pick(self, method: str = "pareto", z: float = 0.5) -> BlockSelection:
        """Picks with their terms and reasons."""
        if method not in METHODS:
            raise UsageError(f'there is no method "{method}" — {nearest(method, METHODS)}')
        if not 0 <= z <= 1:
            raise UsageError(f"z must be from 0 (TC) to 1 (SD), got {z}")
        if self.count < self.plan.picks or not self.count:
            return self._all()
        rows, more = self._rows(method, z)
        return self.told(rows, more)

    def baseline(self, method: str) -> Ints:
        """Rows of a method that draws, without terms and reasons, which take longer."""
        if self.count < self.plan.picks or not self.count:
            return np.flatnonzero(self.day.allowed)
        return BASELINES[method](self.day, self.plan)

    def told(self, rows: Any, more: list[Reasons] | None = None) -> BlockSelection:
        """Any rows with their terms and reasons."""
        known, seconds = self._fitting
        return picked(self.day, known, seconds, rows, more or [{} for _ in rows])

    def _rows(self, method: str, z: float) -> tuple[Any, list[Reasons]]:
        if method == "published":
            return self._published(z)
        if method == "pareto":
            rows: Any = self.archive.rows(z)
        else:
            rows = BASELINES[method](self.day, self.plan)
        return rows, [{} for _ in rows]

    def _published(self, z: float) -> tuple[Any, list[Reasons]]:
        events = self.events
        taken = sequence(events, self.plan.picks, z)
        more: list[Reasons] = [
            {
                "period": float(self._fitting[0].starts[events.periods[one]]),
                "cluster": float(events.sizes[one]),
                "scarcity": float(events.scarcity[one]),
            }
            for one in taken
        ]
        return events.rows[taken], more

    def _all(self) -> BlockSelection:
        """All blocks that may be picked, where there are not enough."""
        rows = np.flatnonzero(self.day.allowed)
        blocks = "1 block" if len(rows) == 1 else f"{len(rows)} blocks"
        note = f"only {blocks} may be picked, fewer than {self.plan.picks}: all are"
        found = self.told(rows)
        return BlockSelection(found.rows, found.tc_term, found.sd_term, found.why, (note,))


def pick(day: Day, plan: SkimPlan, method: str = "pareto", z: float = 0.5) -> BlockSelection:
    """Picks of one day; for several z, a Picker does the work once."""
    return Picker(day, plan).pick(method, z)
