"""The path of a network that is closest to a summary."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from earwitness.networks.distances import Costs, Distances, Summary, distances, enough
from earwitness.networks.network import Network
from earwitness.networks.optimal import Optimal


@dataclass(frozen=True)
class Target:
    """A path, and how many edits turn it into the summary."""

    path: tuple[int, ...]
    edits: int

    @property
    def accuracy(self) -> float:
        """1 less errors per word of the path; may be negative."""
        return (len(self.path) - self.edits) / len(self.path)


def closest(
    network: Network,
    labels: Sequence[Hashable],
    *,
    objective: str = "edits",
    words: Mapping[int, Hashable] | None = None,
) -> Target:
    """The path that is closest to the summary with these labels; a label of 0 matches nothing.

    Labels are positions, or with ``words`` what stands at every position. By ``edits`` the fewest
    edits count, then the longest path; by ``accuracy`` the fewest edits per word of the path, then
    the longest path. Then the path that most people stand behind is taken (the largest sum of log
    counts of its arcs), then the smallest.

    >>> people = ((7,), (1, 9), (7, 8), (2, 3, 4, 5, 6, 9), (7,))
    >>> closest(Network(9, people), (1, 5, 6, 7, 8, 9))
    Target(path=(7, 8), edits=4)
    >>> closest(Network(9, people), (1, 5, 6, 7, 8, 9), objective="accuracy")
    Target(path=(2, 3, 4, 5, 6, 9), edits=5)
    """
    summary = Summary.of(network, labels, words)
    found, edits, length = _fewest(network, summary)
    if objective == "accuracy" and edits:
        found, edits = _least_rate(network, summary, edits, length)
    return Target(Optimal(found).path(), edits)


def _fewest(network: Network, summary: Summary) -> tuple[Distances, int, int]:
    """The fewest edits and the longest path that needs no more."""
    longest = network.longest + 1
    costs = Costs(-1, longest - 1, longest)
    found = distances(network, summary, costs, enough(network, summary))
    return found, *_split(found.least, longest)


def _least_rate(
    network: Network, summary: Summary, edits: int, length: int
) -> tuple[Distances, int]:
    """The fewest edits per word: better rates are looked for until there is none (Dinkelbach).

    A path of E edits and L words is better if ``length · E − edits · L`` is below 0.
    """
    longest = network.longest + 1
    width = edits * network.longest // length
    while True:
        per_edit, per_word = length * longest, edits * longest + 1
        costs = Costs(-per_word, per_edit - per_word, per_edit)
        found = distances(network, summary, costs, width)
        excess, better = _split(found.least, longest)
        other = (excess + edits * better) // length
        if not excess:
            return found, other
        edits, length = other, better


def _split(least: int, longest: int) -> tuple[int, int]:
    """Both parts of ``first · longest − second``, where the second is from 1 to ``longest - 1``."""
    first = -(-least // longest)
    return first, first * longest - least
