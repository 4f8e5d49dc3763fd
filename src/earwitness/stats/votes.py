"""Votes on one scale, as arrays: who gave which number to which item of which system."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.exact import Bools, Floats

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """Four columns of equal length; systems, items and listeners are numbered from 0.

    ``size`` says how many systems, items and listeners are known; some may have no vote. A listener
    has one vote a stimulus (an item of a system): what is doubled was resolved before.
    """

    values: Floats
    systems: Codes
    items: Codes
    listeners: Codes
    size: tuple[int, int, int]

    def chosen(self, which: Bools | Codes) -> Votes:
        """Some of the votes; numbers of systems, items and listeners stay."""
        return replace(
            self,
            values=self.values[which],
            systems=self.systems[which],
            items=self.items[which],
            listeners=self.listeners[which],
        )

    @property
    def stimuli(self) -> Codes:
        """The number of each vote's stimulus: its item times the systems, plus its system."""
        return self.items * self.size[0] + self.systems

    def sums(self) -> tuple[Floats, Floats]:
        """By listener and system: the sum of votes, and how many they are."""
        shape = self.size[2], self.size[0]
        cells = self.listeners * shape[1] + self.systems
        count = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
        total = np.bincount(cells, self.values, minlength=shape[0] * shape[1])
        return total.astype(np.float64).reshape(shape), count.reshape(shape)

    def table(self) -> Floats:
        """Stimuli by listeners; NaN where there is no vote."""
        found = np.full((self.size[0] * self.size[1], self.size[2]), np.nan)
        found[self.stimuli, self.listeners] = self.values
        return found

    def panels(self) -> list[list[int]]:
        """Listeners who are linked by stimuli that both voted on, the first panel first.

        >>> zeros = np.zeros(3, np.int64)
        >>> votes = Votes(np.ones(3), zeros, np.array([0, 1, 0]), np.arange(3), (1, 2, 3))
        >>> votes.panels()
        [[0, 2], [1]]
        """
        parts = connected(~np.isnan(self.table()))
        return [np.flatnonzero(parts == n).tolist() for n in range(int(parts.max(initial=-1)) + 1)]


def connected(there: Bools) -> Codes:
    """The number of each listener's part: those linked by stimuli that both voted on.

    Rows are stimuli, columns listeners; those without a vote have -1.
    """
    shared = (there.T.astype(np.float64) @ there) > 0
    parts = np.full(there.shape[1], -1, np.int64)
    for listener in np.flatnonzero(there.any(axis=0)):
        if parts[listener] < 0:
            own = reached = shared[listener]
            while reached.any():
                reached = shared[reached].any(axis=0) & ~own
                own = own | reached
            parts[own] = parts.max() + 1
    return parts
