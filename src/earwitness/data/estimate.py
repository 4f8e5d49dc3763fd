"""A number one can publish: with its interval, its count and how it was made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over many cases.

    ``n`` counts the cases that the value rests on, ``undefined`` those for which it has no value.
    Where nothing can be said, ``value``, ``low`` and ``high`` are NaN.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    undefined: int
    method: str
