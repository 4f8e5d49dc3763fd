"""Which cells cheap paths can have, by what paths cost at least up to a node and behind it.

Beside the first i words of the summary, a path up to a node costs at least ``flat``, whatever i is,
and at least ``ramp`` and i words too much. Both follow from the least of the nodes before: a wrong
word adds what it costs, to ``ramp`` less a word too much, since it may stand beside one; a word
that matches has its place, and costs what is more there. From the end backwards it is the same,
with places counted from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.networks.band import Places
from earwitness.networks.costs import Costs
from earwitness.networks.network import START, Network
from earwitness.networks.summary import NEVER, Summary


class Least(NamedTuple):
    """What paths to every node cost at least: with the word of the node, and without it."""

    flat: list[int]
    ramp: list[int]
    flat_before: list[int]
    ramp_before: list[int]


@dataclass(frozen=True)
class Bounds:
    """Cells of paths that cost no more than ``most``, where positions are compared."""

    costs: Costs
    most: int

    def cells(self, network: Network, summary: Summary) -> tuple[Places, Places]:
        """For every word of a network its first cell, and the one behind its last."""
        size, extra, words = summary.words, self.costs.extra, network.words
        to = self._least([START, *words], network.before, summary.matches, 0)
        back = self._least(
            [network.end, *reversed(words)], network.behind, summary.matches, size + 1
        )
        least = [
            np.array(one)[words] for one in (to.flat, to.ramp, back.flat_before, back.ramp_before)
        ]
        flat, ramp, flat_behind, ramp_behind = least
        starts = size - (self.most - flat - ramp_behind) // extra
        stops = (self.most - ramp - flat_behind) // extra + 1
        some = starts < stops
        starts, stops = np.where(some, starts - 1, size), np.where(some, stops, 0)
        return np.clip(starts, 0, size), np.clip(stops, 1, size + 1)  # a match needs one before

    def _least(
        self,
        nodes: Sequence[int],
        leading: Mapping[int, Sequence[int]],
        matches: Mapping[int, Sequence[int]],
        last: int,
    ) -> Least:
        """From the first of the nodes on, with places counted from ``last``."""
        match, wrong, extra = self.costs.match, self.costs.wrong, self.costs.extra
        found = Least(*([0] * (max(nodes[0], nodes[-1]) + 1) for _ in range(4)))
        flats, ramps, flat_before, ramp_before = found
        miss = wrong - extra
        for node in nodes[1:]:
            low = rising = NEVER
            for a in leading[node]:
                if flats[a] < low:
                    low = flats[a]
                if ramps[a] < rising:
                    rising = ramps[a]
            flat_before[node], ramp_before[node] = low, rising
            flat, ramp = low + wrong, rising + miss
            if node in matches:
                for place in matches[node]:
                    upto = abs(last - place) * extra
                    cost = max(low, rising + upto - extra) + match
                    flat, ramp = min(flat, cost), min(ramp, cost - upto)
            flats[node], ramps[node] = flat, ramp
        return found
