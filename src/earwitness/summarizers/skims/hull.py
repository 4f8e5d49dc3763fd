"""Of many skims those that a z can ask for: the corners of the hull over cost and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Found = dict[tuple[int, ...], tuple[float, float]]  # what skims cost and cover


@dataclass(frozen=True)
class Archive:
    """Corners of the hull in the order of z: rows, costs, coverages, and z between them."""

    skims: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]
    coverages: tuple[float, ...]
    turns: tuple[float, ...]
    seen: int

    def rows(self, z: float) -> tuple[int, ...]:
        """The skim that a z asks for; where two are worth the same, that of the lower z."""
        return self.skims[int(np.searchsorted(self.turns, z, side="left"))]


class Corner(NamedTuple):
    """A skim with its terms."""

    cost: float
    cover: float
    rows: tuple[int, ...]


def hull(found: Found) -> Archive:
    """Corners from the lowest cost to the highest coverage."""
    kept: list[Corner] = []
    for corner in front(found):
        while len(kept) > 1 and not _above(kept[-2], kept[-1], corner):
            kept.pop()
        kept.append(corner)
    return Archive(
        tuple(one.rows for one in kept),
        tuple(one.cost for one in kept),
        tuple(one.cover for one in kept),
        _turns(kept),
        len(found),
    )


def front(found: Found) -> list[Corner]:
    """Skims than which none is both cheaper and wider, from the cheapest on."""
    corners = sorted(Corner(*terms, rows) for rows, terms in found.items())
    corners.sort(key=lambda one: (one.cost, -one.cover))
    kept: list[Corner] = []
    for corner in corners:
        if not kept or corner.cover > kept[-1].cover:
            kept.append(corner)
    return kept


def _above(first: Corner, middle: Corner, last: Corner) -> bool:
    """Whether the middle one lies above the line from the first to the last."""
    rise = (middle.cover - first.cover) * (last.cost - first.cost)
    return rise > (last.cover - first.cover) * (middle.cost - first.cost)


def _turns(kept: Sequence[Corner]) -> tuple[float, ...]:
    """The z at which two neighbours are worth the same, both terms scaled from 0 to 1."""
    cost, cover = kept[-1].cost - kept[0].cost, kept[-1].cover - kept[0].cover
    turns = [0.0]
    for one, other in pairwise(kept):
        dearer, wider = (other.cost - one.cost) / cost, (other.cover - one.cover) / cover
        turns.append(max(turns[-1], dearer / (dearer + wider)))
    return tuple(turns[1:])
