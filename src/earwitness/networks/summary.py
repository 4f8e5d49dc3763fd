"""A summary beside a network: which of its words match which nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from earwitness.networks.network import START, Network


@dataclass(frozen=True)
class Summary:
    """A summary beside a network: its length, and for nodes the words, from 1, that match."""

    words: int
    matches: Mapping[int, Sequence[int]]
    by_position: bool

    @classmethod
    def of(
        cls, network: Network, labels: Sequence[Hashable], words: Mapping[int, Hashable] | None
    ) -> Summary:
        """Labels that match positions, or what stands there; 0 and the empty word match nothing."""
        found: dict[Hashable, list[int]] = {}
        for place, label in enumerate(labels, 1):
            if label:
                found.setdefault(label, []).append(place)
        if words is None:
            matches = {node: found[node] for node in network.words if node in found}
        else:
            matches = {n: found[words[n]] for n in network.words if words[n] in found}
        return cls(len(labels), matches, words is None or not matches)

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """For every place how many words up to there can match."""
        found = np.zeros(self.words + 1, np.int64)
        found[[place for places in self.matches.values() for place in places]] = 1
        return np.cumsum(found)

    @property
    def few(self) -> bool:
        """Whether most words match nothing."""
        return 2 * self.known.item(-1) < self.words

    def places(self, network: Network) -> list[int]:
        """For every word of a network its own place, or that of the last one that has any.

        Where words are compared, one in proportion.
        """
        if not self.by_position:
            return [self.words * node // network.end for node in network.words]
        found, place = list[int](), 0
        for node in network.words:
            if node in self.matches:
                place = self.matches[node][0]
            found.append(place)
        return found


def enough(network: Network, summary: Summary) -> list[tuple[int, int]]:
    """Edits that are enough for some paths, and their words.

    They are the longest and the shortest path, and the one with the fewest words that are on one
    side only.
    """
    size = summary.words
    found = [(max(size, length), length) for length in (network.longest, network.shortest)]
    if summary.by_position and not summary.few:
        labels = [0] * size
        for node, places in summary.matches.items():
            for place in places:
                labels[place - 1] = node
        path = _fewest_alone(network, summary)
        found.append((Levenshtein.distance(labels, path), len(path)))
    return found


def _fewest_alone(network: Network, summary: Summary) -> list[int]:
    """The path with the fewest words that are on one side only."""
    matches, before = summary.matches, network.before
    best = {START: 0}
    for node, leading in before.items():
        if node != START:
            best[node] = min([best[a] for a in leading]) + (-1 if node in matches else 1)
    path, node = list[int](), network.end
    while node != START:
        path.append(node)
        node = min(before[node], key=best.__getitem__)
    return path[:0:-1]


def split(least: int, longest: int) -> tuple[int, int]:
    """Both parts of ``first · longest − second``, where the second is from 1 to ``longest - 1``."""
    first = -(-least // longest)
    return first, first * longest - least
