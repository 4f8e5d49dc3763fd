"""Two clips one after the other, either first: how does the second compare with the first?

The sign is turned before a rating is stored, so that a number always says how much better one named
system is than another; which of them came first is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.listening.kinds.base import PLAYS, Rate, Values
from earwitness.listening.kinds.pair import PairKind
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person


@dataclass(frozen=True)
class CCR(PairKind):
    """Comparison category rating."""

    plays: int = field(default=1, metadata=PLAYS)

    name = "ccr"
    title = "Comparison category rating (P.800)"
    fixed = (Scale("COMPARISON", 3, -3),)
    references = ("ITU-T P.800 (1996), annex E",)

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        system, against = self.rated_one(trial)
        sign = 1 if trial.systems[1] == system else -1
        yield rate(system, "COMPARISON", sign * values["COMPARISON"], against)

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        first, second = (person.hears(trial.item, s, "COMPARISON", rng) for s in trial.systems)
        return {"COMPARISON": self.scales[0].at((1 + second - first) / 2)}
