"""What a metric says of one output."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.data.case import Key


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a metric gives to one output; NaN where it gives none.

    ``references`` is how many references the output was compared with, 0 where that is not known;
    where these were drawn out of more, ``draw`` numbers the draws from 1.
    """

    key: Key
    metric: str
    value: float
    references: int = 0
    draw: int = 0
