"""What the listeners of a panel heard so far, so that the next one can make it even.

A listener's order depends on the listeners before in the same panel, never on those who come after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Trial

Ints = NDArray[np.int64]
RANKS, WAYS = 1, 2  # streams of chance


@dataclass
class Pool:
    """Counts of a panel, which grow; ``seed`` is that of the panel and block.

    Treatments are numbered as they come. ``counts`` say how often each came directly behind each
    other one; the last row and column of ``successions`` are rests before and after a session.
    """

    seed: tuple[int, ...] = (0,)
    counts: Ints = field(default_factory=lambda: np.zeros((1, 1), np.int64))
    numbers: dict[Hashable, int] = field(default_factory=dict)
    turns: Counter[Hashable] = field(default_factory=Counter)
    trials: dict[Hashable, Trial] = field(default_factory=dict)  # those that were made

    def successions(self, treatments: Sequence[Hashable]) -> Ints:
        """How often treatments followed each other, and rests, so far."""
        places = self._places(treatments)
        return self.counts[np.ix_(places, places)]

    def add(self, treatments: Sequence[Hashable], counts: Ints) -> None:
        """One more listener; counts are as ``successions`` gives them."""
        places = self._places(treatments)
        self.counts[np.ix_(places, places)] += counts

    def ranks(self, treatment: Hashable, items: int) -> list[int]:
        """A place for every item, drawn once for a panel and a treatment."""
        seed = [*self.seed, RANKS, self._places([treatment])[0]]
        return [int(rank) for rank in np.random.default_rng(seed).permutation(items)]

    def rng(self, treatment: Hashable, *more: int) -> np.random.Generator:
        """Chance for ways of presenting a treatment."""
        return np.random.default_rng([*self.seed, WAYS, self._places([treatment])[0], *more])

    def _places(self, treatments: Sequence[Hashable]) -> list[int]:
        for one in treatments:
            self.numbers.setdefault(one, len(self.numbers) + 1)
        short = len(self.numbers) + 1 - len(self.counts)
        if short > 0:
            self.counts = np.pad(self.counts, (0, short))
        return [*(self.numbers[one] for one in treatments), 0]
