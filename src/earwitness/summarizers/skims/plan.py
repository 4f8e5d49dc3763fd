"""What a skim should be like: how many picks of which length, and the periods of the day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earwitness.errors import UsageError
from earwitness.stats.skims.day import PERIOD, Day, Periods, periods


@dataclass(frozen=True, slots=True)
class Plan:
    """As published: 12 picks of 8 s that overlap by 3 s, and periods of a quarter of an hour."""

    picks: int = 12
    block: float = 8.0
    overlap: float = 3.0
    period: float = PERIOD
    seed: int = 0

    def __post_init__(self) -> None:
        if self.picks < 1:
            raise UsageError(f"a skim has at least one pick, got {self.picks}")
        if not 0 < self.block < np.inf:
            raise UsageError(f"block must be a number of seconds over 0, got {self.block}")
        if not 0 <= self.overlap <= self.block / 2:
            told = f"overlap must be from 0 to half a block ({self.block / 2:g} s)"
            raise UsageError(f"{told}, got {self.overlap}")
        if not self.block <= self.period < np.inf:
            told = f"period must be at least a block ({self.block:g} s)"
            raise UsageError(f"{told}, got {self.period}")
        if self.seed < 0:
            raise UsageError(f"a seed must not be below 0, got {self.seed}")


def fitting(day: Day, plan: Plan) -> tuple[Periods, float]:
    """Periods of the day, halved until as many as picks have a block that may be picked."""
    seconds = plan.period
    while True:
        known = periods(day, seconds)
        if len(np.unique(known.of[day.allowed])) >= min(plan.picks, int(day.allowed.sum())):
            return known, seconds
        seconds /= 2
