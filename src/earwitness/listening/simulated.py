"""Simulated listeners: what they would hear, if qualities were known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

Quality = Callable[[str, str, str], float]  # of an item, a system and a scale: from 0 to 1


@dataclass(frozen=True)
class Person:
    """Hears every quality with a bias and some inconsistency; a careless one hears anything.

    By the end of a session a tired one hears ``fatigue`` less than at its start.
    """

    quality: Quality
    bias: float = 0.0
    inconsistency: float = 0.1
    careless: bool = False
    fatigue: float = 0.0

    def hears(self, item: str, system: str, scale: str, rng: np.random.Generator) -> float:
        """One impression, from 0 to 1."""
        if self.careless:
            return float(rng.random())
        heard = self.quality(item, system, scale) + self.bias
        return float(np.clip(heard + rng.normal(0, self.inconsistency), 0, 1))

    def after(self, share: float) -> Person:
        """The same person when this share of a session is behind them."""
        return replace(self, bias=self.bias - self.fatigue * share) if self.fatigue else self
