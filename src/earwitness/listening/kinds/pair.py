"""Kinds that show two sounds of one item beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np

from earwitness.data import Trial
from earwitness.errors import UsageError
from earwitness.listening.kinds.base import Ask, Kind, Load, Treatment, Way

ALL, REFERENCE = "all", "reference"
PAIRS = {"help": "all: every two systems; reference: each beside the reference"}


@dataclass(frozen=True)
class PairKind(Kind):
    """A trial is one item as two systems; either comes first equally often."""

    pairs: str = field(default=ALL, metadata=PAIRS)

    compared: ClassVar[str] = "pair"
    shown: ClassVar[int] = 2  # sounds of a trial

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs not in (ALL, REFERENCE):
            raise UsageError(f"pairs must be one of all, reference, got {self.pairs!r}")

    @property
    def needs_reference(self) -> bool:
        return self.pairs == REFERENCE

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        if self.pairs == REFERENCE:
            return [(reference, system) for system in systems]
        return list(combinations(systems, 2))

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        del rng
        return [(treatment, 0), (treatment[::-1], 0)]

    def against(self, treatment: Treatment) -> str:
        return treatment[0]

    def asks(self, trial: Trial) -> list[Ask]:
        del trial
        return [Ask(scale.name, scale, 1) for scale in self.scales]

    def rated_one(self, trial: Trial) -> tuple[str, str]:
        """Which system the rating is about, and which it is rated against, wherever they stand.

        That is the reference, or the one that the study names first; by name if nothing is said.
        """
        against = trial.against or trial.treatment[0]
        [system] = (one for one in trial.systems if one != against)
        return system, against

    def heard(
        self, item: str, shown: tuple[str, ...], systems: Sequence[str], reference: str
    ) -> Trial:
        pair = shown[:2]
        known = [one for one in self.treatments(systems, reference) if set(one) == set(pair)]
        target = pair.index(shown[2]) if self.unknown and shown[2] in pair else 0
        against = known[0][0] if known else pair[0]
        return Trial(item, pair, self.scale_orders[0], target=target, against=against)

    def load(self, systems: int) -> Load:
        pairs = systems if self.pairs == REFERENCE else systems * (systems - 1) // 2
        return Load(pairs, pairs * self.shown, pairs, f"{pairs} pairs × {self.shown} sounds")
