"""All systems of one item at once, beside a reference that is known, with free switching.

Among them are the reference itself, hidden, and low-pass anchors. Which letter stands for which
changes from item to item: each takes every place about equally often. Anchors are sounds of their
own, in folders beside those of the systems; `earwitness study anchors` makes them of references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from earwitness.data import Rating, Trial
from earwitness.errors import UsageError
from earwitness.listening.kinds.base import LETTERS, Ask, Kind, Load, Rate, Treatment, Values, Way
from earwitness.listening.scale import Scale
from earwitness.listening.simulated import Person

CUTOFFS = {"anchor35": 3500.0, "anchor70": 7000.0}  # Hz
ANCHORS = {"help": "folders of anchors: low-pass at 3.5 kHz and at 7 kHz"}
BASIC = Scale("BASIC", 100, 0, slider=True)


@dataclass(frozen=True)
class Mushra(Kind):
    """Multiple stimuli with hidden reference and anchors, from 0 to 100."""

    anchors: tuple[str, ...] = field(default=tuple(CUTOFFS), metadata=ANCHORS)

    name = "mushra"
    title = "MUSHRA (BS.1534-3)"
    fixed = (BASIC,)
    compared: ClassVar[str] = "set of systems"
    switching = True
    open_reference = True
    hidden_reference = True
    drawn = True
    references = ("ITU-R BS.1534-3 (2015)",)

    def __post_init__(self) -> None:
        super().__post_init__()
        anchors: object = self.anchors
        if not isinstance(anchors, list | tuple) or not all(
            isinstance(one, str) and one for one in anchors
        ):
            raise UsageError(f"anchors must be a list of folders, got {anchors!r}")
        if len(set(anchors)) < len(anchors):
            raise UsageError(f"anchors must be different folders, got {anchors!r}")
        object.__setattr__(self, "anchors", tuple(anchors))

    def extra(self, reference: str) -> tuple[str, ...]:
        return (reference, *self.anchors)

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        return [(*systems, reference, *self.anchors)]

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        order = [treatment[i] for i in rng.permutation(len(treatment))]
        return [(tuple(order[n:] + order[:n]), 0) for n in range(len(order))]

    def asks(self, trial: Trial) -> list[Ask]:
        return [Ask(LETTERS[n], BASIC, n + 1) for n in range(len(trial.systems))]

    def rated(self, trial: Trial, values: Values, rate: Rate) -> Iterator[Rating]:
        for letter, system in zip(LETTERS, trial.systems, strict=False):
            yield rate(system, BASIC.name, values[letter])

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        return {
            letter: BASIC.at(person.hears(trial.item, system, BASIC.name, rng))
            for letter, system in zip(LETTERS, trial.systems, strict=False)
        }

    def load(self, systems: int) -> Load:
        rated = systems + 1 + len(self.anchors)
        return Load(1, rated + 1, rated, f"{rated + 1} sounds, each once")
