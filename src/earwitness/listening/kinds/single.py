"""Kinds that show one sound at a time, each rated on scales with labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.listening.kinds.base import Ask, Kind, Load, Rate, Treatment, Values, Way
from earwitness.listening.simulated import Person


@dataclass(frozen=True)
class SingleKind(Kind):
    """A trial is one item as one system."""

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        del reference
        return [(system,) for system in systems]

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        del rng
        return [(treatment, 0)]

    def asks(self, trial: Trial) -> list[Ask]:
        known = {scale.name: scale for scale in self.scales}
        return [Ask(name, known[name], int(self.open_reference)) for name in trial.scales]

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        for name in trial.scales:
            yield rate(trial.systems[0], name, values[name])

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        return {
            ask.name: ask.scale.at(person.hears(trial.item, trial.systems[0], ask.name, rng))
            for ask in self.asks(trial)
        }

    def load(self, systems: int) -> Load:
        scales = len(self.scales)
        questions = systems * scales
        how = f"{systems} systems × {scales} scale{'s' * (scales > 1)}"
        how += " × 2 sounds" * self.open_reference
        return Load(systems, questions * (1 + self.open_reference), questions, how)
