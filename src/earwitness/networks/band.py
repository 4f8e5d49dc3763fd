"""Which cells paths of few errors can have: few errors need few cells.

Where positions are compared, a cell k words off the node's own place in the summary has cost k
errors or will, beside words that match no node and are errors anyhow. Where most words match
nothing, words of the path that match nothing say more; and where nothing at all matches, a path
beside the summary from its start on has cells only between those of the shortest and the longest
path to a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.networks.network import START, Network
from earwitness.networks.summary import Summary

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Band:
    """Cells at most ``reach`` words that can match off a node's own place.

    With ``edits`` also without others that paths of so many edits cannot have.
    """

    reach: int
    edits: int | None = None

    @classmethod
    def of(cls, summary: Summary, edits: int) -> Band:
        """All cells of paths of at most so many edits."""
        if not summary.by_position:
            return cls(summary.words)
        alone = summary.words - summary.known.item(-1)
        return cls(edits - alone, edits if summary.few else None)

    def cells(self, network: Network, summary: Summary) -> tuple[Places, Places]:
        """For every word of a network its first cell, and the one behind its last."""
        known = summary.known
        own = known[summary.places(network)]
        starts = known.searchsorted(own - self.reach) - 1  # a match comes from the cell before
        stops = known.searchsorted(own + self.reach, "right")
        if self.edits is not None:
            before, after = _alone(network, summary.matches)
            unknown = summary.words - known.item(-1)
            starts = np.maximum(starts, before + unknown + own - self.edits - 1)
            stops = np.minimum(stops, self.edits - after + own + 1)
            if not summary.matches:
                starts = np.maximum(starts, np.minimum(before, summary.words) - 1)
                stops = np.minimum(stops, _furthest(network, summary.words) + 1)
        size = summary.words
        return np.clip(starts, 0, size), np.clip(stops, 1, size + 1)


def _alone(network: Network, matches: Mapping[int, object]) -> tuple[Places, Places]:
    """The fewest words of paths up to each word, and of those behind it, that match nothing."""
    before, within, after = {START: 0}, {network.end: 0}, list[int]()
    for node in network.words:
        before[node] = min([before[a] for a in network.before[node]]) + (node not in matches)
    for node in reversed(network.words):
        after.append(min([within[b] for b in network.behind[node]]))
        within[node] = after[-1] + (node not in matches)
    return np.array(list(before.values())[1:]), np.array(after[::-1])


def _furthest(network: Network, words: int) -> Places:
    """The last cell of each word if as many words as may be are wrong, and others come last."""
    lengths, last = network.lengths, network.last_words
    return np.array([words if node in last else lengths[node] for node in network.words])
