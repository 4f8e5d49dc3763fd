"""What votes differ by, as five standard deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
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

    listener: float = 0.0
    item: float = 0.0
    listener_system: float = 0.0
    item_system: float = 0.0
    residual: float = 0.0

    @classmethod
    def of_variances(cls, *variances: float, **named: float) -> Components:
        """From variances instead of standard deviations."""
        return cls(
            *map(math.sqrt, variances), **{name: math.sqrt(one) for name, one in named.items()}
        )

    @classmethod
    def of(cls, fitted: Fitted) -> Components:
        """As a pilot has them; 0 for what its votes could not tell apart."""
        return cls.of_variances(**{f.name: fitted.variances.get(f.name, 0.0) for f in fields(cls)})

    @property
    def between_items(self) -> float:
        """Variance that items bring: the same for all listeners."""
        return self.item**2 + self.item_system**2

    @property
    def within_stimuli(self) -> float:
        """Variance of votes on one stimulus."""
        return self.listener**2 + self.listener_system**2 + self.residual**2
