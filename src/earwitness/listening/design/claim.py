"""A property of a design, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
KEPT, MISSED, IMPOSSIBLE = "yes", "NO", "cannot be"


@dataclass(frozen=True)
class Claim:
    """A property of a design: what was counted, what the design has, what a plain shuffle has."""

    what: str
    found: str
    shuffled: str
    kept: str


def verdict(kept: bool) -> str:
    """Yes, or no."""
    return KEPT if kept else MISSED


def told(counts: Ints) -> str:
    """The least and the most of them."""
    if not counts.size:
        return "–"
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def within(counts: Ints, most: int) -> bool:
    """Whether no two of them differ by more."""
    return not counts.size or int(counts.max() - counts.min()) <= most
