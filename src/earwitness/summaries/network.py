"""Word networks of reference summaries, weights of paths and costs of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import exp, inf, log, nan

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Case, group_values
from earwitness.stats.arrays import Bools, Floats, Ints

# --- Word network --------------------------------------------------------------------------------


FIXED_POINT_ONE = 2**60  # the number 1 in fixed-point sums
START = 0  # node before the first word, which is at position 1

Arc = tuple[int, int]
Spelling = Mapping[int, Hashable] | None  # words by position; None compares positions


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
        ends = ((START, *summary, self.end) for summary in self.summaries)
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
        into = group_values((b, a) for a, b in sorted(self.counts))
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
        lengths = dict[int, int]()
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
    def of(cls, network: Network, labels: Sequence[Hashable], words: Spelling) -> SummaryMatches:
        """Match labels with positions, or with the words there; 0 and "" match nothing."""
        places_by_label = group_values(
            (label, place) for place, label in enumerate(labels, 1) if label
        )
        said = {node: node if words is None else words[node] for node in network.words}
        matches = {
            node: places_by_label[label] for node, label in said.items() if label in places_by_label
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
    def matchable_counts(self) -> Ints:
        """Number of words up to every index that can match."""
        return np.cumsum(np.array(self.firsts) > 0)

    @property
    def has_few_matches(self) -> bool:
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
    if summary.by_position and not summary.has_few_matches:
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
    heaviest = dict[int, tuple[float, float, int]]()
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


# number of positions of all summaries from which a network is not cached
MAX_CACHED_POSITIONS = 20_000


def cached_network(size: int, summaries: tuple[tuple[int, ...], ...], *, original: bool) -> Network:
    """Return a network, the same one as before if it is small."""
    is_small = sum(map(len, summaries)) < MAX_CACHED_POSITIONS
    return (_small_network if is_small else Network)(size, summaries, original)


def cached_ceiling(network: Network, *, boundary: bool) -> float:
    """Return the weight of the heaviest path, from a cache for small networks."""
    is_small = sum(map(len, network.summaries)) < MAX_CACHED_POSITIONS
    return (_small_ceiling if is_small else ceiling)(network, boundary=boundary)


_small_network, _small_ceiling = lru_cache(maxsize=256)(Network), lru_cache(maxsize=256)(ceiling)


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

    @property
    def most(self) -> int:
        """Largest cost or gain of a step."""
        return max(abs(self.match), abs(self.wrong), abs(self.extra)) + self.gain

    @property
    def gain(self) -> int:
        """Largest gain of an arc."""
        return max(self.gains.values(), default=0) if self.gains else 0


# --- Many small networks at once -----------------------------------------------------------------
# Cases of one item share most of their reference summaries, above all if each is left out in turn.
# Networks of several items have common node numbers: START, the words that anybody kept, and the
# end as the last node. ``counts[b, a]`` is the number of people on an arc from a to b, by case.


Counts = NDArray[np.int16]
Marks = NDArray[np.float32]  # 0 or 1, or sums of these


CASES_OF_ITEM = 64  # number of cases of an item that are computed at once
CELLS_AT_ONCE = 250_000  # number of cells that are computed at once, as many as a cache holds


@dataclass(frozen=True)
class ItemCases:
    """Cases of one item: their summaries, and the indices of their references among ``people``.

    ``rows`` are the indices of the cases in the list that they were taken from.
    """

    size: int
    people: list[tuple[int, ...]]
    rows: list[int] = field(default_factory=list)
    outputs: list[tuple[int, ...]] = field(default_factory=list)
    references: list[list[int]] = field(default_factory=list)

    @classmethod
    def group(cls, cases: Iterable[Case]) -> list[ItemCases]:
        """Return cases by item; all summaries must have positions."""
        groups, indices = list[ItemCases](), dict[int, tuple[ItemCases, dict[int, int]]]()
        for row, case in enumerate(cases):
            item, index = indices.get(id(case.item), (None, {}))
            if item is None or len(item.rows) >= CASES_OF_ITEM:
                item, index = cls(len(case.item.words), []), {}
                indices[id(case.item)] = item, index
                groups.append(item)
            people = list(map(id, case.references))
            if not index.keys() >= set(people):
                for key, person in zip(people, case.references, strict=True):
                    if key not in index:
                        index[key] = len(index)
                        item.people.append(person.positions)
            item.rows.append(row)
            item.outputs.append(case.output.positions)
            item.references.append([index[person] for person in people])
        return groups

    @classmethod
    def of_subsets(cls, cases: Sequence[Case], subsets: Bools) -> list[ItemCases]:
        """Return cases of one item with every subset of their references, subset by subset.

        All cases have the same references, and ``subsets`` has one column for each of them.
        """
        people = [reference.positions for reference in cases[0].references]
        outputs = [case.output.positions for case in cases]
        chosen = [np.flatnonzero(subset).tolist() for subset in subsets]
        nodes, longest = len({*chain.from_iterable(people)}) + 2, max(map(len, outputs)) + 1
        number, step = len(cases), max(1, CELLS_AT_ONCE // (len(cases) * nodes * longest))
        return [
            cls(
                len(cases[0].item.words),
                people,
                list(range(start * number, min(start + step, len(chosen)) * number)),
                outputs * len(chosen[start : start + step]),
                [subset for subset in chosen[start : start + step] for _ in cases],
            )
            for start in range(0, len(chosen), step)
        ]

    def left_out(self, starts: Sequence[int]) -> ItemCases:
        """Return the cases with each reference left out in turn, the last one first.

        ``starts`` has the row of the first of them for every case that has several references.
        """
        fewer = ItemCases(self.size, self.people)
        for row, output, reference in zip(self.rows, self.outputs, self.references, strict=True):
            if len(reference) > 1:
                fewer.rows.extend(range(starts[row], starts[row] + len(reference)))
                fewer.outputs.extend([output] * len(reference))
                fewer.references.extend(
                    reference[:left] + reference[left + 1 :]
                    for left in reversed(range(len(reference)))
                )
        return fewer

    @cached_property
    def lengths(self) -> Ints:
        """Number of words of every output."""
        return np.array(list(map(len, self.outputs)), np.int64)

    @property
    def longest(self) -> int:
        """Number of words that anybody kept or of the longest output, whichever is larger."""
        return max(self.words, int(self.lengths.max()))

    @cached_property
    def chosen(self) -> Marks:
        """1 for every reference of a case: one row per case, one column per person."""
        shape = len(self.references), len(self.people)
        people, rows = flatten(self.references)
        counts = np.bincount(rows * shape[1] + people, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float32)

    @cached_property
    def taken(self) -> Marks:
        """1 for every word of an output: one row per case, one column per position."""
        return kept_words(self.outputs, self.size)

    @cached_property
    def kept(self) -> Marks:
        """1 for every word that a person kept: one row per person, one column per position."""
        return kept_words(self.people, self.size)

    @cached_property
    def nodes(self) -> Ints:
        """Number of the node of every position, or -1; 0 is START, and the last entry the end."""
        is_node = np.asarray(self.kept.any(axis=0))
        numbers = np.cumsum(is_node)
        numbers[1:][~is_node[1:]] = -1
        return np.append(numbers, -1)

    @cached_property
    def words(self) -> int:
        """Number of words that anybody kept."""
        return int(self.kept.any(axis=0).sum())

    @cached_property
    def shared(self) -> Marks:
        """Number of words that every output shares with every person."""
        return self.taken @ self.kept.T

    @property
    def support(self) -> tuple[Floats, Floats]:
        """Sums of the people who kept each word of an output, and of as many most kept words."""
        counts = (self.chosen @ self.kept).astype(np.float64)
        most = np.cumsum(np.sort(counts, axis=1)[:, ::-1], axis=1)
        words = np.minimum(self.lengths, most.shape[1])
        top = np.where(words > 0, most[np.arange(len(words)), words - 1], 0)
        return (counts * self.taken).sum(axis=1), top

    def counts(self, end: int) -> Counts:
        """Return the counts of all arcs, with this number of the end."""
        path, person = flatten([(START, *person, self.size + 1) for person in self.people])
        nodes = self.nodes[path]
        nodes[nodes < 0] = end
        arcs = nodes[1:] * (end + 1) + nodes[:-1]
        used = np.zeros(((end + 1) ** 2, len(self.people)), np.float32)
        used[arcs[nodes[1:] > 0], person[1:][nodes[1:] > 0]] = 1
        return (used @ self.chosen.T).astype(np.int16).reshape(end + 1, end + 1, -1)


def flatten(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the numbers of all lists, and the index of the list of each."""
    rows = np.repeat(np.arange(len(lists)), np.array([len(numbers) for numbers in lists], np.int64))
    return np.array(list(chain.from_iterable(lists)), np.int64), rows


def kept_words(summaries: Sequence[tuple[int, ...]], size: int) -> Marks:
    """Return 1 for every position in a summary: one row per summary, columns from 0 to ``size``."""
    kept = np.zeros((len(summaries), size + 1), np.float32)
    positions, rows = flatten(summaries)
    kept[rows, positions] = 1
    kept[:, 0] = 0
    return kept


def first_before(counts: Counts) -> list[int]:
    """Return the first predecessor of every node in any network; its own number without any."""
    used = np.asarray(counts.any(axis=2))
    used[np.arange(len(used)), np.arange(len(used))] = True
    return list(map(int, np.argmax(used, axis=1)))


def log_table(most: int) -> Floats:
    """Return the logarithms of the counts up to ``most``; minus infinity for 0."""
    return np.array([-inf, *map(log, range(1, most + 1))])


def ceilings(counts: Counts, people: Ints, means: Floats, *, boundary: bool) -> Floats:
    """Return the ``ceiling`` of many networks, given the mean log count of any path or NaN."""
    end, logs, first = len(counts) - 1, log_table(int(counts.max())), first_before(counts)
    arcs = [logs[counts[node, first[node] : node]] for node in range(end + 1)]
    means = np.where(np.isnan(means), -1e6, means)
    found = np.zeros(len(people), np.bool_)
    for _ in range(MAX_SEARCH_ROUNDS):
        total, number = _heaviest_of_many(arcs, first, means, boundary=boundary)
        found = number > 0
        better = np.divide(total, number, out=np.full(len(people), -inf), where=found)
        if not (better > means).any():
            break
        means = np.maximum(better, means)
    weights = [exp(mean - log(n)) for mean, n in zip(means.tolist(), people.tolist(), strict=True)]
    return np.where(found, weights, nan)


def _heaviest_of_many(
    arcs: Sequence[Floats],
    first: Sequence[int],
    means: Floats,
    *,
    boundary: bool,
) -> tuple[Floats, Floats]:
    """Return what ``_heaviest`` returns for each of many networks.

    ``ways`` has the best way with arcs to every node: rows of excess, sum and number of arcs.
    ``onward`` has the way to continue from, which without ``boundary`` may have no arcs yet.
    """
    size, columns, end = len(arcs), np.arange(len(means)), len(arcs) - 1
    ways = np.zeros((3, size, len(means)))
    ways[0] = -inf
    onward = ways if boundary else ways.copy()
    if boundary:
        ways[0, START] = 0
    for node in range(1, size):
        start, counted = first[node], boundary or node < end
        steps = arcs[node] if counted else np.where(np.isinf(arcs[node]), -inf, 0.0)
        source = onward if counted else ways
        reached = source[0, start:node] + (steps - means if counted else steps)
        if not len(reached):
            continue
        best = reached.argmax(axis=0)
        way = source[:, best + start, columns]
        way[0] = reached[best, columns]
        way[1] += steps[best, columns]
        way[2] += counted
        way[1:, np.isinf(way[0])] = 0
        ways[:, node] = way
        if not boundary:
            onward[:, node] = way
            if start == START:
                onward[:, node, ~np.isinf(arcs[node][START]) & (way[0] < 0)] = 0
    return ways[1, end], ways[2, end]
