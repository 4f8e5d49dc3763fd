"""The path of a network that is closest to a summary."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from earwitness.networks.band import Band
from earwitness.networks.bounds import Bounds
from earwitness.networks.costs import Costs
from earwitness.networks.distances import Distances, distances
from earwitness.networks.network import Network
from earwitness.networks.optimal import Optimal
from earwitness.networks.people import People
from earwitness.networks.rate import Rate
from earwitness.networks.summary import Summary, enough, split

MANY = 8  # marked cells a node from which on ties are too many to look at one by one
NARROW = 64  # words off their places, for a first look for a better rate
WIDE = 512  # edits from which on it pays to look for cells that paths cannot have


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
    found = (_least_rate if objective == "accuracy" else _fewest)(network, summary)
    return Target(_path(found), found.edits)


@dataclass(frozen=True)
class _Found:
    """Distances to the closest paths; with ``people`` where arcs gain."""

    distances: Distances
    people: People | None
    band: Band | Bounds
    edits: int = 0

    @property
    def least(self) -> int:
        """The least cost without gains."""
        least = self.distances.least
        return self.people.cost(least) if self.people else least


def _look(
    network: Network, summary: Summary, costs: Costs, known: tuple[int, int], most: int
) -> _Found:
    """Distances, right for paths no worse than a known one: of so many edits at most.

    Where little matches, ties are many, and arcs gain at once.
    """
    band: Band | Bounds = Band.of(summary, most)
    if summary.by_position and not summary.few and most > WIDE:
        band = Bounds(costs, costs.path(*known))
    people = People(network, summary, costs)
    if network.original or not summary.few or not people.fits:
        return _Found(distances(network, summary, costs, band), None, band)
    return _Found(distances(network, summary, people.costs, band), people, band)


def _fewest(network: Network, summary: Summary) -> _Found:
    """The fewest edits, and the longest path that needs no more."""
    unit = network.longest + 1
    known = min(enough(network, summary))
    found = _look(network, summary, Costs.fewest(unit), known, known[0])
    return replace(found, edits=split(found.least, unit)[0])


def _least_rate(network: Network, summary: Summary) -> _Found:
    """The fewest edits per word: better rates are looked for until there is none (Dinkelbach).

    First among few cells, where what is found is a path but perhaps not the best.
    """
    rate = Rate.least(network, summary, _known(network, summary))
    if not summary.few:
        guess = distances(network, summary, rate.costs, _narrow(summary), keep=False)
        rate = rate.better(guess.least) if guess.least < 0 else rate
    while True:
        found = _look(network, summary, rate.costs, (rate.edits, rate.length), rate.most)
        better = rate.better(found.least)
        if better.edits * rate.length == rate.edits * better.length:
            return replace(found, edits=better.edits)
        rate = better


def _known(network: Network, summary: Summary) -> list[tuple[int, int]]:
    """Edits and words of some paths; where words are compared, also of a good one."""
    found = enough(network, summary)
    if not summary.by_position:
        unit = network.longest + 1
        good = distances(network, summary, Costs.fewest(unit), _narrow(summary), keep=False)
        found.append(split(good.least, unit))
    return found


def _narrow(summary: Summary) -> Band:
    """Cells of most good paths; where words are compared, places are known less well."""
    return Band(NARROW if summary.by_position else 2 * NARROW)


def _path(found: _Found) -> tuple[int, ...]:
    """The path taken; if too many are closest, with gains for arcs, if any of them is finite."""
    plain = found.distances
    if found.people:
        return Optimal(plain, found.people.slack).path()
    marked = Optimal(plain, most=MANY * len(plain.network.before))
    if marked.complete:
        return marked.path()
    people = People(plain.network.observed, plain.summary, plain.costs)
    if people.fits:
        gained = distances(people.network, plain.summary, people.costs, found.band)
        if people.cost(gained.least) == plain.least:
            return Optimal(gained, people.slack).path()
    return Optimal(plain).path()
