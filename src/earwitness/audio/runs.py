"""Which places follow each other: parts of a skim that run along with the recording.

If a skim has a part of a recording in it, times of both differ by the same number in all of that
part (or add to the same number, if it is played backwards). So places that agree are gathered, and
the best way through the skim is looked for that seldom changes from one part to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.audio.likeness import EVERY, HOP, SECOND, Place

LEAST = 0.3  # likeness from which on a place counts for, not against
UNSEEN = 0.15  # what a probe counts where its place is not among the likeliest
CHANGE = 0.3  # what it costs to go over to another part
AGREE = 0.05  # seconds


@dataclass(frozen=True, slots=True)
class Run:
    """Part of a skim that lies along the recording, and how sure that is.

    It is heard between ``first`` and ``last``, the middles of the first and the last probe. What
    is heard at x comes from ``offset`` + x, or from ``offset`` − x if it is turned.
    """

    offset: float
    turned: bool
    first: float
    last: float
    score: float

    @property
    def middle(self) -> float:
        """Where it is heard best."""
        return (self.first + self.last) / 2

    def time(self, heard: float) -> float:
        """When what is heard there was recorded."""
        return self.offset - heard if self.turned else self.offset + heard


def runs_of(forwards: Sequence[Place], backwards: Sequence[Place], probes: int) -> list[Run]:
    """Parts in the order in which they are heard; ``backwards`` are places of what is turned.

    There, ``time`` of the recording is heard at ``heard``, too, but what follows came before.
    """
    known = [(one.time - one.heard, False, one.probe, one.score) for one in forwards]
    known += [(one.time + one.heard, True, one.probe, one.score) for one in backwards]
    offsets = _agreed(known)
    if not offsets:
        return []
    scores = np.full((probes, len(offsets) + 1), UNSEEN - LEAST)
    scores[:, -1] = 0.0  # comes from nowhere
    for offset, turned, probe, score in known:
        for number, (other, way) in enumerate(offsets):
            if way == turned and abs(other - offset) <= AGREE:
                scores[probe, number] = max(scores[probe, number], score - LEAST)
    middles = [HOP * (EVERY * probe + SECOND / 2) for probe in range(probes)]
    return _runs(_way(scores), scores, offsets, middles)


def _agreed(known: Sequence[tuple[float, bool, int, float]]) -> list[tuple[float, bool]]:
    """Offsets that likely places have, one for all that agree."""
    found: list[tuple[float, bool]] = []
    for offset, turned, _, score in sorted(known, key=lambda one: -one[3]):
        near = any(way == turned and abs(other - offset) <= AGREE for other, way in found)
        if score >= LEAST and not near:
            found.append((offset, turned))
    return found


def _way(scores: np.ndarray[tuple[int, int]]) -> list[int]:
    """The part that each probe belongs to, such that the sum is most (Viterbi)."""
    total, back = scores[0], []
    for row in scores[1:]:
        best = int(total.argmax())
        stay = total >= total[best] - CHANGE
        back.append(np.where(stay, np.arange(len(row)), best))
        total = np.where(stay, total, total[best] - CHANGE) + row
    way = [int(total.argmax())]
    for step in reversed(back):
        way.append(int(step[way[-1]]))
    return way[::-1]


def _runs(
    way: Sequence[int],
    scores: np.ndarray[tuple[int, int]],
    offsets: Sequence[tuple[float, bool]],
    middles: Sequence[float],
) -> list[Run]:
    found, at = [], 0
    while at < len(way):
        end = at
        while end + 1 < len(way) and way[end + 1] == way[at]:
            end += 1
        if way[at] < len(offsets):
            score = float(scores[at : end + 1, way[at]].max()) + LEAST
            found.append(Run(*offsets[way[at]], middles[at], middles[end], score))
        at = end + 1
    return found
