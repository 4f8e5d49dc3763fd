"""What votes differ by, as five standard deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earwitness.stats.mixed import Fitted


@dataclass(frozen=True, slots=True)
class Components:
    """Standard deviations of the parts of a vote, on its scale.

    ``listener``: some give high votes; ``item``: some recordings are better; ``listener_system``:
    some like a system better than others do; ``item_system``: a system does better on some items;
    ``residual``: all that a second vote on the same would not repeat.
    """

    listener: float
    item: float
    listener_system: float
    item_system: float
    residual: float

    @classmethod
    def of(cls, fitted: Fitted) -> Components:
        """As a pilot has them; 0 for what its votes could not tell apart."""
        names = ("listener", "item", "listener_system", "item_system", "residual")
        return cls(*(math.sqrt(fitted.variances.get(name, 0.0)) for name in names))
