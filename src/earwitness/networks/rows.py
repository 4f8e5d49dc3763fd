"""Rows of a section of a network, each from those before it.

Behind a match, its value is carried on to the right until a cell has no more: mostly to the end of
the row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.networks.costs import Costs
from earwitness.networks.network import Network
from earwitness.networks.sections import Ints, Section
from earwitness.networks.summary import Summary

FEW = 6  # matches that are carried one by one


class Rows:
    """Work on the rows of one section: ``whole`` with the cell that is never reached."""

    def __init__(
        self,
        network: Network,
        summary: Summary,
        costs: Costs,
        section: Section,
        block: Ints,
        whole: dict[int, Ints],
    ) -> None:
        self.network, self.summary, self.costs, self.section = network, summary, costs, section
        self.whole, self.tails = whole, dict(zip(whole, block[:, 1:], strict=True))
        width, kind = section.stop - section.start, block.dtype
        self.scratch, self.spare = np.empty(width + 1, kind), np.empty(width + 1, kind)
        self.missing = np.array(costs.wrong, kind)
        self.wrong = np.array(costs.wrong - costs.extra, kind)
        gains = costs.gains or {}
        self.gains = {count: np.array(gain, kind) for count, gain in gains.items()}
        self.masks: dict[int, Ints] = {}

    def least(self, most: int) -> int:
        """The least distance to the end from this section, or ``most``."""
        network, gains = self.network, self.costs.gains
        at = min(self.summary.words + 1, self.section.stop) - self.section.start - 1
        leading = [a for a in self.section.nodes if a in network.last_words]
        found = [self.tails[a].item(at) for a in leading]
        if gains:
            arcs = [gains[network.counts[a, network.end]] for a in leading]
            found = [one - gain for one, gain in zip(found, arcs, strict=True)]
        return min(found, default=most)

    def fill(self) -> None:
        """All rows, each from those before it."""
        before, matches, gained = self.network.before, self.summary.matches, self.costs.gains
        whole, tails = self.whole, self.tails
        scratch, other, missing, wrong = self.scratch, self.spare[1:], self.missing, self.wrong
        low, high, add, minimum = scratch[:-1], scratch[1:], np.add, np.minimum
        for node in self.section.nodes:
            first, *leading = before[node]
            head, tail = low, high
            if gained is not None:
                self._gain(node)
            elif leading:
                minimum(whole[first], whole[leading[0]], out=scratch)
                for a in leading[1:]:
                    minimum(scratch, whole[a], out=scratch)
            else:
                head, tail = whole[first][:-1], tails[first]
            row, places = tails[node], matches.get(node, ())
            add(tail, missing, row)
            add(head, wrong if len(places) <= FEW else self._mask(places), other)
            minimum(row, other, out=row)
            if places:
                self._match(head, row, places)

    def _gain(self, node: int) -> None:
        """The least of the rows before a node, with what their arcs take off."""
        gains, counts, whole = self.gains, self.network.counts, self.whole
        scratch, spare = self.scratch, self.spare
        first, *leading = self.network.before[node]
        np.subtract(whole[first], gains[counts[first, node]], scratch)
        for a in leading:
            if (count := counts[a, node]) > 1:
                np.subtract(whole[a], gains[count], spare)
                np.minimum(scratch, spare, out=scratch)
            else:
                np.minimum(scratch, whole[a], out=scratch)

    def _match(self, head: Ints, row: Ints, places: Sequence[int]) -> None:
        """Matches, carried on to the right to where they gain nothing."""
        if len(places) > FEW:
            np.minimum.accumulate(row, out=row)
            return
        start, stop, costs = self.section.start, self.section.stop, self.costs
        for place in places:
            if start < place < stop:
                at = place - start
                value = head.item(at) + costs.match - costs.extra
                if value < row.item(-1):
                    row[at:] = value
                elif value < row.item(at):
                    row[at : len(row) - row[::-1].searchsorted(value, "right")] = value

    def _mask(self, places: Sequence[int]) -> Ints:
        """What a word of the path costs in every cell if it matches in many."""
        if places[0] not in self.masks:
            found = np.full(self.summary.words + 1, self.wrong)
            found[places] = self.costs.match - self.costs.extra
            self.masks[places[0]] = found[self.section.start : self.section.stop]
        return self.masks[places[0]]
