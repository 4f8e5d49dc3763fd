"""Two clips, with free switching between them: which is better?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.listening.kinds.base import Rate, Values
from earwitness.listening.kinds.pair import PairKind
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person


@dataclass(frozen=True)
class AB(PairKind):
    """A or B; 1 if the named system was chosen, −1 if the other."""

    name = "ab"
    title = "AB: which of two is better"
    fixed = (Scale("BETTER", 1, -1, 2),)
    switching = True
    references = ("ITU-R BS.2132 (2019)",)

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        system, against = self.rated_one(trial)
        sign = 1 if trial.systems[0] == system else -1
        [scale] = self.scales
        yield rate(system, scale.name, sign * values[scale.name], against)

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        [scale] = self.scales
        a, b = (person.hears(trial.item, system, scale.name, rng) for system in trial.systems)
        return {scale.name: scale.at((1 + np.sign(a - b)) / 2 if a != b else rng.random())}
