"""Two clips and an unknown one that is either, with free switching: which is it?

Which of the two is X, and which is A, is balanced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.listening.kinds.base import Ask, Rate, Treatment, Values, Way
from earwitness.listening.kinds.pair import PairKind
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person
from earwitness.listening.wordings import Wording


@dataclass(frozen=True)
class ABX(PairKind):
    """Whether X was known: 1 if the answer is right, 0 if not."""

    name = "abx"
    title = "ABX: which of two is a third"
    fixed = (Scale("SAME", 1, -1, 2),)
    switching = True
    unknown = True
    shown: ClassVar[int] = 3
    references = ("Munson and Gardner (1950), Standardizing auditory tests",)

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        del rng
        return [(pair, target) for target in (0, 1) for pair in (treatment, treatment[::-1])]

    def asks(self, trial: Trial) -> list[Ask]:
        del trial
        return [Ask("SAME", self.scales[0], 2)]

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        system, against = self.rated_one(trial)
        right = values["SAME"] == (1, -1)[trial.target]
        yield rate(system, "SAME", float(right), against)

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        shown = (*trial.systems, trial.systems[trial.target])
        a, b, x = (person.hears(trial.item, system, "SAME", rng) for system in shown)
        return {"SAME": 1.0 if abs(a - x) <= abs(b - x) else -1.0}

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        known = super().presented(trial, words, reference)
        return [*known, (trial.systems[trial.target], "X")]
