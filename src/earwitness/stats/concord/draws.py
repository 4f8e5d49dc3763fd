"""Concordance when systems, items or raters, or all of them, are drawn anew with replacement.

What is drawn says to what a value generalises: to other systems, to other items, to other raters of
the same kinds. All metrics share the draws, so differences between metrics can be taken draw by
draw. Each of the three has a stream of its own: the items of draw 7 are the same whether raters are
drawn too or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from earwitness.stats.bootstrap import percentile_interval
from earwitness.stats.concord.levels import Drawn, at, people
from earwitness.stats.exact import Floats
from earwitness.stats.resampling import blocks
from earwitness.stats.votes import Votes

HELD = 1_000_000  # numbers laid out at a time
OVER = {
    "systems": (True, False, False),
    "items": (False, True, False),
    "raters": (False, False, True),
    "all": (True, True, True),
}


class Moving(Protocol):
    """People of whom more than mean votes is known: what they say when some count more often."""

    @property
    def raters(self) -> int: ...

    def drawn(self, raters: Floats, items: Floats) -> Floats:
        """Draws × systems × items, from how often each rater and each item counts."""


class Interval(NamedTuple):
    """Coefficients × metrics: both ends, and in how many draws there was no value."""

    low: Floats
    high: Floats
    undefined: Floats


def drawn_values(
    scores: Floats,
    votes: Votes | Floats | Moving,
    level: str,
    names: Sequence[str],
    *,
    over: str = "all",
    draws: int = 1000,
    seed: int = 0,
    margins: Floats | float = 0.0,
) -> Floats:
    """Coefficients × draws × metrics.

    Instead of votes, people may be means (systems × items); raters can then not be drawn, and
    ``all`` draws systems and items. ``margins`` stay as they are in every draw.
    """
    if over == "raters" and isinstance(votes, np.ndarray):
        raise ValueError("raters can be drawn only where votes are known, not their means")
    found = [
        at(level, scores, some, names, margins)[0]
        for some in _drawn(scores, votes, OVER[over], draws, seed)
    ]
    return np.concatenate([np.empty((len(names), 0, len(scores))), *found], axis=1)


def _drawn(
    scores: Floats,
    votes: Votes | Floats | Moving,
    over: tuple[bool, bool, bool],
    draws: int,
    seed: int,
) -> Iterator[Drawn]:
    """Blocks of draws that fit into memory; what is not drawn has weights of 1."""
    _, systems, items = scores.shape
    raters = 0 if isinstance(votes, np.ndarray) else voters(votes)
    rows = max(1, HELD // max(1, items * max(systems, len(scores))))
    for whole in blocks((systems, items, raters), draws, seed):
        for start in range(0, len(whole[0]), rows):
            part = [weights[start : start + rows] for weights in whole]
            part = [w if yes else np.ones_like(w) for w, yes in zip(part, over, strict=True)]
            yield Drawn(part[0], part[1], said(votes, part[2], part[1], over))


def voters(votes: Votes | Moving) -> int:
    """How many raters there are."""
    return votes.size[2] if isinstance(votes, Votes) else votes.raters


def said(
    votes: Votes | Floats | Moving, raters: Floats, items: Floats, over: tuple[bool, bool, bool]
) -> Floats:
    """What people say in every draw; one row where that is the same in all."""
    if isinstance(votes, np.ndarray):
        return votes[None]
    if isinstance(votes, Votes):
        return people(votes, raters if over[2] else None)
    moves = over[1] or over[2]
    return votes.drawn(raters, items) if moves else votes.drawn(raters[:1], items[:1])


def interval(values: Floats, level: float = 0.95) -> Interval:
    """Percentiles over draws, of values (coefficients × draws × metrics) or of differences."""
    ends = [percentile_interval(one, level) for one in values]
    low, high = (np.stack([end[side] for end in ends]) for side in (0, 1))
    return Interval(low, high, np.isnan(values).sum(axis=1).astype(np.float64))
