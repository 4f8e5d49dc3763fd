"""Votes on one scale, as arrays: who gave which number to which item of which system."""

from __future__ import annotations

from collections import defaultdict
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
        """Listeners who voted on the very same stimuli, the first panel first.

        >>> zeros = np.zeros(3, np.int64)
        >>> votes = Votes(np.ones(3), zeros, np.array([0, 1, 0]), np.arange(3), (1, 2, 3))
        >>> votes.panels()
        [[0, 2], [1]]
        """
        heard = defaultdict[int, set[int]](set)
        for listener, stimulus in zip(self.listeners.tolist(), self.stimuli.tolist(), strict=True):
            heard[listener].add(stimulus)
        found = defaultdict[frozenset[int], list[int]](list)
        for listener in sorted(heard):
            found[frozenset(heard[listener])].append(listener)
        return list(found.values())
