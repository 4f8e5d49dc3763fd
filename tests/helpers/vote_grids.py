"""Scores and votes for tests, with gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes

SIZE = 5, 6, 4  # systems, items, listeners


def scores_of(seed: int, metrics: int = 3, size: Sequence[int] = SIZE) -> Floats:
    """Scores with few decimals, so that there are ties; the last metric has gaps of its own."""
    rng = np.random.default_rng((seed, 1))
    scores = rng.normal(size=(metrics, size[0], size[1])).round(int(rng.choice([0, 1, 9])))
    scores[-1][rng.random(size[:2]) < 0.3] = np.nan
    return scores


def votes_of(seed: int, share: float = 0.6, size: tuple[int, int, int] = SIZE) -> Votes:
    """Votes from 1 to 5; some listeners missed some stimuli."""
    rng = np.random.default_rng((seed, 2))
    systems, items, listeners = np.nonzero(rng.random(size) < share)
    values = rng.integers(1, 6, len(systems)).astype(np.float64)
    return Votes(values, systems, items, listeners, size)


def rows_of(votes: Votes) -> list[tuple[int, int, int, float]]:
    columns = votes.systems, votes.items, votes.listeners, votes.values
    return list(zip(*(column.tolist() for column in columns), strict=True))
