"""A scale: the numbers that an answer may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scale:
    """Numbers that an answer may be, from ``high`` down to ``low``; a slider, or labels."""

    name: str
    high: float
    low: float
    step: float = 1.0
    slider: bool = False

    @property
    def values(self) -> list[float]:
        """All of them, the best first."""
        steps = round((self.high - self.low) / self.step)
        return [round(self.high - n * self.step, 6) for n in range(steps + 1)]

    def allows(self, value: Any) -> bool:
        """Whether a value is one of them."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return any(abs(value - one) < 1e-6 for one in self.values)

    def at(self, heard: float) -> float:
        """The value for an impression from 0 to 1."""
        return self.values[round((1 - heard) * (len(self.values) - 1))]
