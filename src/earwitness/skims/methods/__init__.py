"""Methods that pick the blocks of a skim, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from earwitness.errors import UsageError, nearest
from earwitness.skims.day import Day, Ints, Periods
from earwitness.skims.methods.pareto import SkimArchive, make_archive
from earwitness.skims.methods.plan import (
    BlockSelection,
    Reasons,
    SkimPlan,
    describe_selection,
    downsample_blocks,
    draw_blocks,
    fit_periods,
)
from earwitness.skims.methods.tailleur import (
    PUBLISHED_PERIOD_SECONDS,
    MainEvents,
    choose_sequence,
    find_events,
)

METHODS = {
    "pareto": "best trade-off between following the day and covering its sound classes",
    "published": "main events of each period in sequence (Tailleur et al. 2025)",
    "downsampling": "one random block from each equal part of the day",
    "random": "random blocks in chronological order",
}
BASELINES = {"downsampling": downsample_blocks, "random": draw_blocks}


class Picker:
    """Skims of one day for any method and any z."""

    def __init__(
        self, day: Day, plan: SkimPlan, make: Callable[[Day, SkimPlan], SkimArchive] = make_archive
    ) -> None:
        self.day, self.plan, self.make = day, plan, make
        self.count = min(plan.picks, int(day.allowed.sum()))

    @cached_property
    def archive(self) -> SkimArchive:
        """Archive of skims of the Pareto method."""
        return self.make(self.day, self.plan)

    @cached_property
    def events(self) -> MainEvents:
        """Main events of the published method."""
        return find_events(self.day, self._event_periods, self.plan.seed)

    @cached_property
    def _event_periods(self) -> Periods:
        """Periods of the published method: 15 minutes, or shorter if the plan's are."""
        period = min(self.plan.period, PUBLISHED_PERIOD_SECONDS)
        return fit_periods(self.day, replace(self.plan, period=period))[0]

    @cached_property
    def _fitted_periods(self) -> Any:
        return fit_periods(self.day, self.plan)

    def pick(self, method: str = "pareto", z: float = 0.5) -> BlockSelection:
        """Return picks with their terms and reasons."""
        if method not in METHODS:
            raise UsageError(f'unknown method "{method}" — {nearest(method, METHODS)}')
        if not 0 <= z <= 1:
            raise UsageError(f"z must be from 0 (TC) to 1 (SD), got {z}")
        if self.count < self.plan.picks or not self.count:
            return self._take_all()
        rows, more = self._choose_rows(method, z)
        return self.describe(rows, more)

    def baseline(self, method: str) -> Ints:
        """Return the rows of a random method without terms and reasons, which take longer."""
        if self.count < self.plan.picks or not self.count:
            return np.flatnonzero(self.day.allowed)
        return BASELINES[method](self.day, self.plan)

    def describe(self, rows: Any, more: list[Reasons] | None = None) -> BlockSelection:
        """Return any rows with their terms and reasons."""
        day_periods, seconds = self._fitted_periods
        return describe_selection(self.day, day_periods, seconds, rows, more or [{} for _ in rows])

    def _choose_rows(self, method: str, z: float) -> tuple[Any, list[Reasons]]:
        if method == "published":
            return self._choose_events(z)
        if method == "pareto":
            rows: Any = self.archive.rows(z)
        else:
            rows = BASELINES[method](self.day, self.plan)
        return rows, [{} for _ in rows]

    def _choose_events(self, z: float) -> tuple[Any, list[Reasons]]:
        events = self.events
        chosen = choose_sequence(events, self.plan.picks, z)
        more: list[Reasons] = [
            {
                "period": float(self._event_periods.starts[events.periods[event]]),
                "cluster": float(events.sizes[event]),
                "scarcity": float(events.scarcity[event]),
            }
            for event in chosen
        ]
        return events.rows[chosen], more

    def _take_all(self) -> BlockSelection:
        """Return all blocks that may be picked, if there are fewer than requested."""
        rows = np.flatnonzero(self.day.allowed)
        blocks = "1 block" if len(rows) == 1 else f"{len(rows)} blocks"
        note = f"only {blocks} available for {self.plan.picks} picks: every available block is used"
        selection = self.describe(rows)
        return BlockSelection(
            selection.rows, selection.tc_term, selection.sd_term, selection.why, (note,)
        )


def pick(day: Day, plan: SkimPlan, method: str = "pareto", z: float = 0.5) -> BlockSelection:
    """Return picks of one day; for several values of z, a Picker does common work once."""
    return Picker(day, plan).pick(method, z)
