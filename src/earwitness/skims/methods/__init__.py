"""Methods that pick the blocks of a skim, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from earwitness.errors import UsageError, nearest
from earwitness.skims.day import Day, Ints, Periods
from earwitness.skims.measures import calibration_sd, calibration_tc
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
CALIBRATIONS = {"calibration_tc": calibration_tc, "calibration_sd": calibration_sd}


class Picker:
    """Skims of one day for any method and any z."""

    def __init__(
        self, day: Day, plan: SkimPlan, make: Callable[[Day, SkimPlan], SkimArchive] = make_archive
    ) -> None:
        self.day, self.plan, self.make = day, plan, make
        count = int(day.allowed.sum())
        self._has_too_few = count < plan.picks or not count

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
        if self._has_too_few:
            rows: Any = np.flatnonzero(self.day.allowed)
            blocks = "1 block" if len(rows) == 1 else f"{len(rows)} blocks"
            only = f"only {blocks} available for {self.plan.picks} picks"
            note = f"{only}: every available block is used"
            return replace(self.describe(rows), notes=(note,))
        if method == "published":
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
            return self.describe(events.rows[chosen], more)
        rows = self.archive.rows(z) if method == "pareto" else self.baseline(method)
        return self.describe(rows)

    def baseline(self, method: str) -> Ints:
        """Return the rows of a random method or a calibration, without terms and reasons."""
        if method in CALIBRATIONS:
            return CALIBRATIONS[method](self.day, self.plan.picks)
        if self._has_too_few:
            return np.flatnonzero(self.day.allowed)
        return BASELINES[method](self.day, self.plan)

    def describe(self, rows: Any, more: list[Reasons] | None = None) -> BlockSelection:
        """Return any rows with their terms and reasons."""
        day_periods, seconds = self._fitted_periods
        return describe_selection(self.day, day_periods, seconds, rows, more or [{} for _ in rows])


def pick(day: Day, plan: SkimPlan, method: str = "pareto", z: float = 0.5) -> BlockSelection:
    """Return picks of one day; for several values of z, a Picker does common work once."""
    return Picker(day, plan).pick(method, z)
