"""Word network of reference summaries, weights of paths and costs of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from math import exp, inf, log, nan

import numpy as np
from numpy.typing import NDArray

# --- Word network --------------------------------------------------------------------------------


FIXED_POINT_ONE = 2**60  # the number 1 in fixed-point sums
START = 0  # node before the first word, which is at position 1

Arc = tuple[int, int]


@dataclass(frozen=True)
class Network:
    """Reference summaries as increasing positions of a transcript of ``size`` words.

    An arc leads from a to b if somebody kept both words and no word between them; START is before
    the first word and ``end`` after the last. With ``original`` there are also arcs between words
    that are neighbours in the transcript, and from every word to the end.

    >>> network = Network(4, ((1, 2), (1, 4)))
    >>> network.counts[START, 1], network.counts[1, 2], network.counts[4, network.end]
    (2, 1, 1)
    """

    size: int
    summaries: tuple[tuple[int, ...], ...]
    original: bool = False

    @property
    def end(self) -> int:
        """The node after the last word."""
        return self.size + 1

    @property
    def people(self) -> int:
        """Number of summaries."""
        return len(self.summaries)

    @cached_property
    def counts(self) -> dict[Arc, int]:
        """Number of people on every arc."""
        ends = ((START, *one, self.end) for one in self.summaries)
        counted = Counter(chain.from_iterable(map(pairwise, ends)))
        if self.original:
            beside = pairwise(range(1, self.end))
            last = ((node, self.end) for node in range(1, self.end))
            counted.update(dict.fromkeys(chain(beside, last), 0))
        return counted

    @cached_property
    def logs(self) -> dict[Arc, float]:
        """Logarithms of the counts; minus infinity for 0."""
        return {arc: log(count) if count else -inf for arc, count in self.counts.items()}

    @cached_property
    def exact(self) -> dict[Arc, float]:
        """Logarithms as whole numbers, so that sums do not depend on their order."""
        return {
            arc: log_share if log_share == -inf else round(log_share * FIXED_POINT_ONE)
            for arc, log_share in self.logs.items()
        }

    @cached_property
    def before(self) -> dict[int, list[int]]:
        """Predecessors of every node that can be reached from START, in order."""
        into: dict[int, list[int]] = {}
        for a, b in sorted(self.counts):
            into.setdefault(b, []).append(a)
        leading_nodes: dict[int, list[int]] = {START: []}
        for node in sorted(into):
            if leading := [a for a in into[node] if a in leading_nodes]:
                leading_nodes[node] = leading
        return leading_nodes

    @cached_property
    def words(self) -> list[int]:
        """All reachable nodes that are words."""
        return [node for node in self.before if node not in (START, self.end)]

    @cached_property
    def lengths(self) -> dict[int, int]:
        """Number of words of the longest path to every node, including its own word."""
        lengths: dict[int, int] = {}
        for node, leading in self.before.items():
            lengths[node] = 1 + max((lengths[a] for a in leading), default=-1)
        return lengths

    @property
    def longest(self) -> int:
        """Number of words of the longest path."""
        return self.lengths[self.end] - 1

    @cached_property
    def shortest(self) -> int:
        """Number of words of the shortest path."""
        lengths = {START: 0}
        for node, leading in self.before.items():
            if node != START:
                lengths[node] = 1 + min([lengths[a] for a in leading])
        return lengths[self.end] - 1

    @cached_property
    def behind(self) -> dict[int, list[int]]:
        """Successors of every node, in order."""
        following_nodes: dict[int, list[int]] = {node: [] for node in self.before}
        for node, leading in self.before.items():
            for a in leading:
                following_nodes[a].append(node)
        return following_nodes

    @cached_property
    def last(self) -> dict[int, int]:
        """Last word that every node leads to, or START."""
        last_nodes = dict.fromkeys(self.before, START)
        for node in self.words:
            for a in self.before[node]:
                last_nodes[a] = node
        return last_nodes

    @cached_property
    def observed(self) -> Network:
        """Return the network without arcs that nobody took."""
        return replace(self, original=False) if self.original else self

    @cached_property
    def last_words(self) -> frozenset[int]:
        """Nodes at which a path may end."""
        return frozenset(self.before[self.end])

    def arcs(self, path: Sequence[int], *, boundary: bool) -> list[Arc]:
        """Return the arcs of a path, with ``boundary`` also to its first and from its last word."""
        return list(pairwise((START, *path, self.end) if boundary else path))


# --- Matches of a summary ------------------------------------------------------------------------


UNREACHABLE_COST = 2**62  # larger than any cost


@dataclass(frozen=True)
class SummaryMatches:
    """Length of a summary, and the indices (from 1) of its words that match each node."""

    words: int
    matches: Mapping[int, Sequence[int]]
    by_position: bool

    @classmethod
    def of(
        cls, network: Network, labels: Sequence[Hashable], words: Mapping[int, Hashable] | None
    ) -> SummaryMatches:
        """Match labels with positions, or with the words there; 0 and "" match nothing."""
        places_by_label: dict[Hashable, list[int]] = {}
        for place, label in enumerate(labels, 1):
            if label:
                places_by_label.setdefault(label, []).append(place)
        if words is None:
            matches = {
                node: places_by_label[node] for node in network.words if node in places_by_label
            }
        else:
            matches = {
                n: places_by_label[words[n]] for n in network.words if words[n] in places_by_label
            }
        return cls(len(labels), matches, words is None or not matches)

    @cached_property
    def firsts(self) -> list[int]:
        """Index of the first equal word for every word, or 0 if it matches no node."""
        first_nodes = [0] * (self.words + 1)
        for first, places in {places[0]: places for places in self.matches.values()}.items():
            for place in places:
                first_nodes[place] = first
        return first_nodes

    @cached_property
    def matchable_counts(self) -> NDArray[np.int64]:
        """Number of words up to every index that can match."""
        return np.cumsum(np.array(self.firsts) > 0)

    @property
    def few(self) -> bool:
        """Whether most words match no node."""
        return 2 * self.matchable_counts.item(-1) < self.words

    def places(self, network: Network) -> list[int]:
        """Return the index of every word of a network in the summary, or of the last before it.

        If words are compared by spelling, the index is proportional.
        """
        if not self.by_position:
            return [self.words * node // network.end for node in network.words]
        node_places, place = list[int](), 0
        for node in network.words:
            if node in self.matches:
                place = self.matches[node][0]
            node_places.append(place)
        return node_places


def enough(network: Network, summary: SummaryMatches) -> list[tuple[int, int]]:
    """Return upper bounds of edits for the longest, the shortest and a good path, with words."""
    size = summary.words
    candidates = [(max(size, length), length) for length in (network.longest, network.shortest)]
    if summary.by_position and not summary.few:
        candidates.append(_good(network, summary))
    return candidates


def _good(network: Network, summary: SummaryMatches) -> tuple[int, int]:
    """Return edits and words of a good path, keeping only one way to every node.

    Against the first i words of the summary it costs ``flat``, or ``ramp`` plus i insertions if
    that is more. The way kept has the lowest cost up to the last matching word before the node.
    """
    before, matches, large = network.before, summary.matches, network.longest + 1
    flat, ramp, place = {START: 0}, {START: 0}, 0  # an edit costs ``large``, a word gains 1
    for node in network.words:
        if right := node in matches and matches[node][0] > place:
            place = matches[node][0]
        upto, best, way = (place - 1) * large, UNREACHABLE_COST, START
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
    """Split ``first · longest − second`` into both parts; second is 1 to ``longest - 1``."""
    first = -(-least // longest)
    return first, first * longest - least


# --- Weights of paths ----------------------------------------------------------------------------


MAX_SEARCH_ROUNDS = 100  # far more than the few that the search for the heaviest path needs


def weight(network: Network, path: Sequence[int], *, boundary: bool) -> float:
    """Return the geometric mean of C/H over the arcs of a path; NaN if it has no arcs.

    With ``boundary``, the arcs at both ends are included.
    """
    arcs = network.arcs(path, boundary=boundary)
    if not arcs:
        return nan
    total = sum(network.logs[arc] for arc in arcs)
    return exp(total / len(arcs) - log(network.people))


def ceiling(network: Network, *, boundary: bool) -> float:
    """Return the weight of the heaviest path, which is the largest possible WSumACCY.

    The largest mean per arc is found by searching for a path whose sum exceeds that of the best
    mean so far, until there is none.
    """
    mean = -inf
    for _ in range(MAX_SEARCH_ROUNDS):
        total, number = _heaviest(network, max(mean, -1e6), boundary=boundary)
        if not number:
            return nan
        better = total / number
        if not better > mean:
            break
        mean = better
    return exp(mean - log(network.people))


def _heaviest(network: Network, mean: float, *, boundary: bool) -> tuple[float, int]:
    """Return the sum of log counts and the number of arcs of the path that exceeds the mean most.

    For every node, the best way with arcs is kept, and the way that has no arcs yet.
    """
    nothing = (0.0, 0.0, 0)
    heaviest: dict[int, tuple[float, float, int]] = {}
    none = {START}
    for node, leading in network.before.items():
        extended = []
        for a in leading:
            ways = [way for way in (heaviest.get(a), nothing if a in none else None) if way]
            if not boundary and node == network.end:
                extended += [way for way in ways if way[2]]
            elif not boundary and a == START:
                none.add(node)
            else:
                log_share = network.logs[a, node]
                extended += [
                    (way[0] + log_share - mean, way[1] + log_share, way[2] + 1) for way in ways
                ]
        if extended:
            heaviest[node] = max(extended)
    _, total, number = heaviest.get(network.end, nothing)
    return total, number


# --- Costs of steps ------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepCosts:
    """Costs of a match, of a wrong word of the path, and of an inserted word.

    ``gains`` are reductions for arcs by their counts; costs are then multiplied by ``times``.
    """

    match: int
    wrong: int
    extra: int
    gains: Mapping[int, int] | None = None
    times: int = 1

    @classmethod
    def fewest(cls, unit: int) -> StepCosts:
        """Return costs that prefer the fewest edits, then the longest path below ``unit``."""
        return cls(-1, unit - 1, unit)

    def path(self, edits: int, words: int) -> int:
        """Return the cost of a path without gains."""
        return edits * self.extra + words * self.match

    @property
    def most(self) -> int:
        """Largest cost or gain of a step."""
        return max(abs(self.match), abs(self.wrong), abs(self.extra)) + self.gain

    @property
    def gain(self) -> int:
        """Largest gain of an arc."""
        return max(self.gains.values(), default=0) if self.gains else 0
