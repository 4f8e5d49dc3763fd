"""Edit distances from a summary to all paths of a network at once, in O(words · arcs).

The distance of the first i words of the summary to the best path that ends in a node is one cell in
the node's row. A row is the smallest of the rows before it, moved by a word or not, plus one error;
a word that matches the node costs no error. Words too much need no look: where the rows before a
node rise by at most one error a cell, so does its own, but behind a match, which is carried on to
the right until it gains nothing. Costs are whole numbers, several aims in one.

Where positions are compared, a cell k words off the node's own place in the summary has cost
k errors or will, so that few errors need few cells: ``width`` on either side.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.networks.network import START, Network

Ints = NDArray[Any]
CARRIED = 64  # cells that a match is carried at first
SMALL = 2**30  # numbers below this fit into 32 bits, and so does their sum with another


@dataclass(frozen=True)
class Costs:
    """What a word of the path costs if it matches, if it does not, and a word too much."""

    match: int
    wrong: int
    extra: int


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
        return cls(len(labels), matches, words is None)


class Row(NamedTuple):
    """Cells of a node from place ``start`` on; those from ``core`` on are words too much."""

    start: int
    core: int
    cells: Ints


@dataclass(frozen=True)
class Distances:
    """A row for every node of a network."""

    network: Network
    summary: Summary
    costs: Costs
    rows: dict[int, Row]

    @property
    def least(self) -> int:
        """That of the whole summary to the closest path."""
        return int(self.rows[self.network.end].cells[-1])


def distances(network: Network, summary: Summary, costs: Costs, width: int) -> Distances:
    """All rows; right for paths of at most ``width`` errors, and never too small."""
    rows = _windows(network, summary, costs, width)
    ramp = np.arange(summary.words + 1, dtype=rows[START].cells.dtype) * costs.extra
    rows[START].cells[:] = ramp[: len(rows[START].cells)]
    scratch, minimum, wrong = np.empty_like(ramp), np.minimum, costs.wrong
    matches = summary.matches
    for node in network.words:
        start, core, cells = rows[node]
        size = core - start
        least = _least(rows, network.before[node], start, core, scratch)
        cells[0] = least[0]
        minimum(least[1:], least[:-1], out=cells[1:size])
        cells[:size] += wrong
        for place in matches.get(node, ()):
            _carry(cells[:size], place - start, int(least[place - 1 - start]) + costs.match, ramp)
        if size < len(cells):
            cells[size:] = ramp[1 : len(cells) - size + 1] + cells[size - 1]
    start, core, cells = rows[network.end]
    cells[:] = _least(rows, network.before[network.end], start, core, scratch)
    return Distances(network, summary, costs, rows)


def _least(rows: dict[int, Row], leading: list[int], start: int, core: int, scratch: Ints) -> Ints:
    """The smallest of several rows, cell by cell, from start to core."""
    begin, _, cells = rows[leading[0]]
    least = cells[start - begin : core - begin]
    if len(leading) > 1:
        out = scratch[: core - start]
        for other in leading[1:]:
            begin, _, cells = rows[other]
            least = np.minimum(least, cells[start - begin : core - begin], out=out)
    return least


def enough(network: Network, summary: Summary) -> int:
    """Edits that are enough: the fewest words that are on one side only."""
    if not summary.by_position:
        return summary.words + len(network.words)
    best = {START: 0}
    for node, leading in network.before.items():
        if node != START:
            own = 0 if node == network.end else -1 if node in summary.matches else 1
            best[node] = min(best[a] for a in leading) + own
    return summary.words + best[network.end]


def _windows(network: Network, summary: Summary, costs: Costs, width: int) -> dict[int, Row]:
    """Rows without numbers yet: which cells every node has."""
    most = max(abs(costs.match), abs(costs.wrong), abs(costs.extra))
    kind = np.int32 if most * (summary.words + len(network.before) + 2) < SMALL else np.int64
    own, place = {}, 0
    for node in network.before:
        if summary.by_position:
            place = summary.matches.get(node, (place,))[0]
        own[node] = place
    own[network.end] = summary.words
    if not summary.by_position:
        width = summary.words
    core = {node: min(own[node] + width, summary.words) + 1 for node in own}
    last = {node: core[after[-1]] if after else 0 for node, after in network.behind.items()}
    rows = {}
    for node, place in own.items():
        start = max(0, place - width - 1)  # a match comes from the cell before
        rows[node] = Row(start, core[node], np.empty(max(core[node], last[node]) - start, kind))
    return rows


def _carry(row: Ints, place: int, value: int, ramp: Ints) -> None:
    """A match at a place, and words too much behind it, as far as they gain anything."""
    stop = min(place + CARRIED, len(row))
    if value + ramp[stop - 1 - place] < row[stop - 1]:
        stop = len(row)
    np.minimum(row[place:stop], ramp[: stop - place] + value, out=row[place:stop])
