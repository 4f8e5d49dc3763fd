"""The network: positions of a transcript, and who went from which to which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from math import inf, log

WHOLE = 2**60  # what 1 is in sums of whole numbers
START = 0  # before the first word, which is at position 1

Arc = tuple[int, int]


@dataclass(frozen=True)
class Network:
    """Summaries of people as increasing positions of a transcript of ``size`` words.

    An arc leads from a to b if somebody kept both and nothing between them; START stands before
    the first word and ``end`` behind the last. With ``original`` there are also arcs between words
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
        """The node behind the last word."""
        return self.size + 1

    @property
    def people(self) -> int:
        """How many summaries there are."""
        return len(self.summaries)

    @cached_property
    def counts(self) -> dict[Arc, int]:
        """How many people went along every arc."""
        ends = ((START, *one, self.end) for one in self.summaries)
        counted = Counter(chain.from_iterable(map(pairwise, ends)))
        if self.original:
            beside = pairwise(range(1, self.end))
            last = ((node, self.end) for node in range(1, self.end))
            counted.update(dict.fromkeys(chain(beside, last), 0))
        return counted

    @cached_property
    def logs(self) -> dict[Arc, float]:
        """The logarithms of that; nobody is minus infinity."""
        return {arc: log(count) if count else -inf for arc, count in self.counts.items()}

    @cached_property
    def exact(self) -> dict[Arc, float]:
        """The same as whole numbers, so that sums are equal in whatever order they are made."""
        return {arc: one if one == -inf else round(one * WHOLE) for arc, one in self.logs.items()}

    @cached_property
    def before(self) -> dict[int, list[int]]:
        """For every node that can be reached from START, in order, the nodes that lead to it."""
        into: dict[int, list[int]] = {}
        for a, b in sorted(self.counts):
            into.setdefault(b, []).append(a)
        found: dict[int, list[int]] = {START: []}
        for node in sorted(into):
            if leading := [a for a in into[node] if a in found]:
                found[node] = leading
        return found

    @cached_property
    def words(self) -> list[int]:
        """All nodes that are words and can be reached."""
        return [node for node in self.before if node not in (START, self.end)]

    @cached_property
    def lengths(self) -> dict[int, int]:
        """For every node the words of the longest path to it, with its own."""
        lengths: dict[int, int] = {}
        for node, leading in self.before.items():
            lengths[node] = 1 + max((lengths[a] for a in leading), default=-1)
        return lengths

    @property
    def longest(self) -> int:
        """Words of the longest path."""
        return self.lengths[self.end] - 1

    @cached_property
    def shortest(self) -> int:
        """Words of the shortest path."""
        lengths = {START: 0}
        for node, leading in self.before.items():
            if node != START:
                lengths[node] = 1 + min([lengths[a] for a in leading])
        return lengths[self.end] - 1

    @cached_property
    def behind(self) -> dict[int, list[int]]:
        """For every node the nodes that it leads to, in order."""
        found: dict[int, list[int]] = {node: [] for node in self.before}
        for node, leading in self.before.items():
            for a in leading:
                found[a].append(node)
        return found

    @cached_property
    def last(self) -> dict[int, int]:
        """For every node the last word that it leads to, or START."""
        found = dict.fromkeys(self.before, START)
        for node in self.words:
            for a in self.before[node]:
                found[a] = node
        return found

    @cached_property
    def observed(self) -> Network:
        """The same without arcs that nobody took."""
        return replace(self, original=False) if self.original else self

    @cached_property
    def last_words(self) -> frozenset[int]:
        """Nodes in which a path may end."""
        return frozenset(self.before[self.end])

    def arcs(self, path: Sequence[int], *, boundary: bool) -> list[Arc]:
        """The arcs of a path; with ``boundary`` those to its first and from its last word too."""
        return list(pairwise((START, *path, self.end) if boundary else path))
