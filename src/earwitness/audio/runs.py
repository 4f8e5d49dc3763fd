"""Which places follow each other: parts of a skim that run along with the recording.

If a skim has a part of a recording in it, places in both differ by the same number in all of that
part. So places that agree are gathered, and the best way through the skim is looked for that seldom
changes from one part to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.likeness import Places

LEAST = 0.3  # likeness from which on a place counts for, not against
UNSEEN = 0.15  # what a probe counts where it has no such place
CHANGE = 0.3  # what it costs to go over to another part
AGREE = 0.5  # low samples between offsets that are one
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """Part of a skim that lies along the recording, and how sure that is; all in samples.

    It is heard between ``first`` and ``last``, the middles of the first and the last probe. What
    is heard at x comes from ``offset`` + x, or from ``offset`` − x if it is turned.
    """

    offset: int
    turned: bool
    first: int
    last: int
    score: float

    @property
    def middle(self) -> int:
        """Where it is heard best."""
        return (self.first + self.last) // 2

    def place(self, heard: int) -> int:
        """Where in the recording that is which is heard there."""
        return self.offset - heard if self.turned else self.offset + heard


@dataclass(frozen=True, slots=True)
class Offset:
    """A number by which places of a skim and of the recording may differ, and which way."""

    place: float
    turned: bool


@dataclass(frozen=True)
class Ways:
    """All offsets of a skim, and how alike each probe is there: a row a probe, NaN if unknown."""

    offsets: tuple[Offset, ...]
    scores: Floats


def ways_of(forwards: Sequence[Places], backwards: Places | None, probes: int) -> Ways:
    """Places that agree, gathered; those of a turned skim are ``backwards``."""
    found = [(_both(forwards), False)]
    found += [] if backwards is None else [(backwards, True)]
    offsets, scores = list[Offset](), [np.zeros((probes, 0))]
    for places, turned in found:
        order = np.argsort(places.offsets, kind="stable")
        own = places.offsets[order]
        number = np.cumsum(np.diff(own, prepend=own[:1]) > AGREE)
        sizes = np.bincount(number)
        offsets += [Offset(float(mean), turned) for mean in np.bincount(number, own) / sizes]
        table = np.full((probes, len(sizes)), np.nan)
        np.fmax.at(table, (places.probes[order], number), places.scores[order])
        scores.append(table)
    return Ways(tuple(offsets), np.concatenate(scores, axis=1))


def _both(found: Sequence[Places]) -> Places:
    probes, offsets, scores = zip(*found, strict=True)
    return Places(np.concatenate(probes), np.concatenate(offsets), np.concatenate(scores))


def way_through(ways: Ways) -> list[tuple[int, int, int]]:
    """Parts in the order in which they are heard: an offset, the first and the last probe."""
    known = np.where(np.isnan(ways.scores), UNSEEN, ways.scores) - LEAST
    nowhere = np.zeros((len(known), 1))
    way = _way(np.concatenate([known, nowhere], axis=1)) if len(known) else []
    found, at = [], 0
    while at < len(way):
        end = at
        while end + 1 < len(way) and way[end + 1] == way[at]:
            end += 1
        if way[at] < len(ways.offsets):
            found.append((way[at], at, end))
        at = end + 1
    return found


def _way(scores: Floats) -> list[int]:
    """The part that each probe belongs to, such that the sum is most (Viterbi)."""
    total, back = scores[0], list[NDArray[np.int64]]()
    for row in scores[1:]:
        best = int(total.argmax())
        stay = total >= total[best] - CHANGE
        back.append(np.where(stay, np.arange(len(row)), best))
        total = np.where(stay, total, total[best] - CHANGE) + row
    way = [int(total.argmax())]
    for step in reversed(back):
        way.append(int(step[way[-1]]))
    return way[::-1]
