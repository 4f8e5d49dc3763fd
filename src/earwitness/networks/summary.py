"""A summary beside a network: which of its words match which nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earwitness.networks.network import START, Network

NEVER = 2**62  # more than any cost


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
    def firsts(self) -> list[int]:
        """For every place the first one with the same word, or 0 if nothing matches there."""
        found = [0] * (self.words + 1)
        for first, places in {places[0]: places for places in self.matches.values()}.items():
            for place in places:
                found[place] = first
        return found

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """For every place how many words up to there can match."""
        return np.cumsum(np.array(self.firsts) > 0)

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

    They are the longest and the shortest path, and a good one.
    """
    size = summary.words
    found = [(max(size, length), length) for length in (network.longest, network.shortest)]
    if summary.by_position and not summary.few:
        found.append(_good(network, summary))
    return found


def _good(network: Network, summary: Summary) -> tuple[int, int]:
    """Edits and words of a path, where of every node only one way there is looked at.

    Beside so many words, it costs ``flat``, or ``ramp`` and as many words too much if that is more.
    The way taken costs the least up to the last word before the node that can match.
    """
    before, matches, large = network.before, summary.matches, network.longest + 1
    flat, ramp, place = {START: 0}, {START: 0}, 0  # an edit costs ``large``, a word gains 1
    for node in network.words:
        if right := node in matches and matches[node][0] > place:
            place = matches[node][0]
        upto, best, way = (place - 1) * large, NEVER, START
        for a in before[node]:
            cost = ramp[a] + upto
            if cost < flat[a]:
                cost = flat[a]
            if cost < best:
                best, way = cost, a
        if right:
            flat[node], ramp[node] = best - 1, best - 1 - place * large
        else:
            flat[node], ramp[node] = flat[way] + large - 1, ramp[way] - 1
    upto = summary.words * large
    return split(min(max(flat[a], ramp[a] + upto) for a in before[network.end]), large)


def split(least: int, longest: int) -> tuple[int, int]:
    """Both parts of ``first · longest − second``, where the second is from 1 to ``longest - 1``."""
    first = -(-least // longest)
    return first, first * longest - least
