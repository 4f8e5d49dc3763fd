"""A summary beside a path, word by word."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from earwitness.networks.band import Band
from earwitness.networks.costs import Costs
from earwitness.networks.distances import Distances, distances
from earwitness.networks.network import START, Network
from earwitness.networks.summary import Summary, enough


class Step(NamedTuple):
    """A word of the path (its position) and a word of the summary (from 0), or one of them.

    ``right`` if both are the same word.
    """

    position: int | None
    place: int | None
    right: bool

    @property
    def mark(self) -> str:
        """S for replaced, D for missing, I for too much, nothing for right."""
        if self.position is None or self.place is None:
            return "I" if self.position is None else "D"
        return "" if self.right else "S"


def _beside(
    labels: Sequence[Hashable], path: Sequence[int], words: Mapping[int, Hashable] | None
) -> Distances:
    """Distances to a single path: edits first, then right words."""
    network = Network(max(path), (tuple(path),))
    summary, large = Summary.of(network, labels, words), len(path) + 1
    band = Band.of(summary, min(enough(network, summary))[0])
    return distances(network, summary, Costs(-1, large, large), band)


def alignment(
    labels: Sequence[Hashable],
    path: Sequence[int],
    words: Mapping[int, Hashable] | None = None,
) -> list[Step]:
    """The fewest edits, then the most right words; what is too much or missing comes last."""
    found = _beside(labels, path, words)
    costs, matches = found.costs, found.summary.matches
    node, place = len(path), found.summary.words
    nodes = [START, *path]

    def cell(index: int, at: int) -> float:
        return found.at(nodes[index], at)

    steps: list[Step] = []
    while node or place:
        here = cell(node, place)
        right = bool(node and place) and place in matches.get(nodes[node], ())
        if right and here == cell(node - 1, place - 1) + costs.match:
            steps.append(Step(nodes[node], place - 1, True))
            node, place = node - 1, place - 1
        elif place and here == cell(node, place - 1) + costs.extra:
            steps.append(Step(None, place - 1, False))
            place -= 1
        elif node and here == cell(node - 1, place) + costs.wrong:
            steps.append(Step(nodes[node], None, False))
            node -= 1
        else:
            steps.append(Step(nodes[node], place - 1, False))
            node, place = node - 1, place - 1
    return steps[::-1]
