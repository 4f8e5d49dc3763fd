"""What a metric's number is called and how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Value:
    """A number that a metric gives: its name, its range and which end is good."""

    name: str
    best: Literal["high", "low", "none"]
    low: float
    high: float
    doc: str
