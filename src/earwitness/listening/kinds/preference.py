"""Two clips, with free switching between them: which is preferred, if any?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earwitness.data import Trial
from earwitness.listening.kinds.ab import AB
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person

ALIKE = 0.05  # impressions this close are no preference to simulated listeners


@dataclass(frozen=True)
class Preference(AB):
    """A, B or neither; 1 if the named system was preferred, −1 if the other, 0 if none."""

    name = "preference"
    title = "Preference with ties"
    fixed = (Scale("PREFERENCE", 1, -1),)
    references = ("Davidson (1970), On extending the Bradley–Terry model to accommodate ties",)

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        a, b = (person.hears(trial.item, system, "PREFERENCE", rng) for system in trial.systems)
        better = 0.0 if abs(a - b) < ALIKE else float(np.sign(a - b))
        return {"PREFERENCE": better}
