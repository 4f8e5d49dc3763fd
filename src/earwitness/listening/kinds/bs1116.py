"""A reference that is known, and two sounds of which one is that reference, with free switching.

The one that is taken for the reference is rated 5.0. The difference grade is what the object was
given less what the hidden reference was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.listening.kinds.base import Ask, Kind, Load, Rate, Treatment, Values, Way
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person

IMPAIRMENT = Scale("IMPAIRMENT", 5, 1, 0.1, slider=True)
DIFFERENCE = "SDG"


@dataclass(frozen=True)
class BS1116(Kind):
    """Small impairments: ratings of both, and the subjective difference grade (SDG)."""

    name = "bs1116"
    title = "Small impairments (BS.1116-3)"
    fixed = (IMPAIRMENT,)
    switching = True
    open_reference = True
    hidden_reference = True
    compared: ClassVar[str] = "system"
    letters: ClassVar[str] = "BC"  # the known reference is A
    derived: ClassVar[tuple[str, ...]] = (DIFFERENCE,)
    references = ("ITU-R BS.1116-3 (2015)",)

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        return [(reference, system) for system in systems]

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        del rng
        return [(treatment, 0), (treatment[::-1], 1)]  # where the hidden reference stands

    def asks(self, trial: Trial) -> list[Ask]:
        return [Ask(self.letters[n], IMPAIRMENT, n + 1) for n in range(len(trial.systems))]

    def wrong(self, trial: Trial, values: Values) -> Iterator[str]:
        del trial
        if max(values.values()) < IMPAIRMENT.high:
            yield "one of the two is the reference — rate it 5.0"

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        given = dict(zip(trial.systems, (values["B"], values["C"]), strict=True))
        hidden = trial.systems[trial.target]
        system = trial.systems[1 - trial.target]
        for name, value in given.items():
            yield rate(name, IMPAIRMENT.name, value)
        yield rate(system, DIFFERENCE, round(given[system] - given[hidden], 6), hidden)

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        heard = [person.hears(trial.item, s, IMPAIRMENT.name, rng) for s in trial.systems]
        best = int(np.argmax(heard))
        return {
            self.letters[n]: IMPAIRMENT.high if n == best else IMPAIRMENT.at(value)
            for n, value in enumerate(heard)
        }

    def heard(
        self, item: str, shown: tuple[str, ...], systems: Sequence[str], reference: str
    ) -> Trial:
        del systems
        hidden = shown.index(reference) if reference in shown else 0
        return Trial(item, shown, self.scale_orders[0], target=hidden)

    def load(self, systems: int) -> Load:
        return Load(systems, 3 * systems, 2 * systems, f"{systems} systems × 3 sounds")
