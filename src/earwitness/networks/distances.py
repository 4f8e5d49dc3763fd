"""Edit distances from a summary to all paths of a network at once, in O(words · arcs).

The distance of the first i words of the summary to the best path that ends in a node is one cell in
the node's row. A row is the smallest of the rows before it, moved by a word or not, plus one error;
a word that matches the node costs no error. Costs are whole numbers, several aims in one.

Rows hold distances less what i words too much cost, so that words too much cost nothing there and a
row never rises: behind a match, its value is carried on to the right until a cell has no more.

Nodes are taken in sections that share their cells, those of a band, with the few rows before them
that still lead into the section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from earwitness.networks.band import Band
from earwitness.networks.network import START, Network
from earwitness.networks.sections import Ints, Section, blocks, sections_of
from earwitness.networks.summary import Summary

FEW = 6  # matches that are carried one by one
SMALL = 2**30  # numbers below this fit into 32 bits, and so does their sum with another
LARGE = 2**62  # the same for 64 bits


@dataclass(frozen=True)
class Costs:
    """What a word of the path costs if it matches, if it does not, and a word too much.

    ``gains`` is what arcs take off by their counts, where they do; costs are then ``times`` as
    large.
    """

    match: int
    wrong: int
    extra: int
    gains: Mapping[int, int] | None = None
    times: int = 1

    @property
    def most(self) -> int:
        """No step costs or gains more."""
        gain = max(self.gains.values(), default=0) if self.gains else 0
        return max(abs(self.match), abs(self.wrong), abs(self.extra)) + gain


class Row(NamedTuple):
    """Cells of a node from place ``start`` on, less what words too much up to there cost."""

    start: int
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
        return int(self.at(self.network.end, self.summary.words))

    def at(self, node: int, place: int) -> float:
        """That of the words up to a place to the best path that ends in a node."""
        start, cells = self.rows[node]
        if not 0 <= place - start < len(cells):
            return inf
        return int(cells[place - start]) + place * self.costs.extra


def distances(
    network: Network, summary: Summary, costs: Costs, band: Band, *, keep: bool = True
) -> Distances:
    """All rows; right for paths in cells of the band, and never too small.

    Without ``keep`` only the row of the end can be looked at afterwards.
    """
    small = costs.most * (summary.words + len(network.before) + 2) < SMALL
    kind = np.int32 if small else np.int64
    rows: dict[int, Row] = {START: Row(0, np.zeros(summary.words + 1, kind))}
    latest = dict(rows)
    sections = sections_of(network, summary, band)
    least = LARGE
    for section, block in zip(sections, blocks(sections, kind, keep=keep), strict=True):
        block[:, 0] = SMALL if small else LARGE
        views = dict(zip((*section.led, *section.nodes), block, strict=True))
        for a in section.led:
            _move(latest[a], section.start, views[a][1:])
        work = _Work(network, summary, costs, section, views)
        work.fill()
        latest = {node: Row(section.start, row) for node, row in work.tails.items()}
        if keep:
            rows.update((node, latest[node]) for node in section.nodes)
        least = min(least, work.least())
    rows[network.end] = Row(summary.words, np.array([least], kind))
    return Distances(network, summary, costs, rows)


def _move(row: Row, start: int, into: Ints) -> None:
    """A row of an earlier section in a later one; what it has not are words too much."""
    kept = row.cells[start - row.start : start - row.start + len(into)]
    into[: len(kept)] = kept
    into[len(kept) :] = row.cells[-1]


class _Work:
    """Work on the rows of one section."""

    def __init__(
        self,
        network: Network,
        summary: Summary,
        costs: Costs,
        section: Section,
        whole: dict[int, Ints],
    ) -> None:
        self.network, self.summary, self.costs, self.section = network, summary, costs, section
        self.whole = whole
        self.tails = {node: row[1:] for node, row in whole.items()}
        width, kind = section.stop - section.start, whole[section.nodes[0]].dtype
        self.scratch, self.spare = np.empty(width + 1, kind), np.empty(width + 1, kind)
        self.missing = np.array(costs.wrong, kind)
        self.wrong = np.array(costs.wrong - costs.extra, kind)
        gains = costs.gains or {}
        self.gains = {count: np.array(gain, kind) for count, gain in gains.items()}
        self.masks: dict[int, Ints] = {}

    def least(self) -> int:
        """The least distance to the end from this section."""
        network, gains = self.network, self.costs.gains
        at = min(self.summary.words + 1, self.section.stop) - self.section.start - 1
        leading = [a for a in self.section.nodes if a in network.last_words]
        found = [self.tails[a].item(at) for a in leading]
        if gains:
            arcs = [gains[network.counts[a, network.end]] for a in leading]
            found = [one - gain for one, gain in zip(found, arcs, strict=True)]
        return min(found, default=LARGE)

    def fill(self) -> None:
        """All rows, each from those before it."""
        before, matches, gained = self.network.before, self.summary.matches, self.costs.gains
        whole, tails = self.whole, self.tails
        scratch, other, missing, wrong = self.scratch, self.spare[1:], self.missing, self.wrong
        start, stop = self.section.start, self.section.stop
        low, high, add, minimum = scratch[:-1], scratch[1:], np.add, np.minimum
        for node in self.section.nodes:
            leading = before[node]
            head, tail = low, high
            if gained is not None:
                self._gain(node)
            elif len(leading) == 1:
                head, tail = whole[leading[0]][:-1], tails[leading[0]]
            else:
                minimum(whole[leading[0]], whole[leading[1]], out=scratch)
                for a in leading[2:]:
                    minimum(scratch, whole[a], out=scratch)
            row, places = tails[node], matches.get(node, ())
            add(tail, missing, out=row)
            add(head, wrong if len(places) <= FEW else self._mask(places), out=other)
            minimum(row, other, out=row)
            if len(places) > FEW:
                minimum.accumulate(row, out=row)
                continue
            for place in places:
                if start < place < stop:
                    self._match(head, row, place - start)

    def _gain(self, node: int) -> None:
        """The least of the rows before a node, with what their arcs take off."""
        gains, counts, whole = self.gains, self.network.counts, self.whole
        scratch, spare = self.scratch, self.spare
        first, *leading = self.network.before[node]
        np.subtract(whole[first], gains[counts[first, node]], out=scratch)
        for a in leading:
            if (count := counts[a, node]) > 1:
                np.subtract(whole[a], gains[count], out=spare)
                np.minimum(scratch, spare, out=scratch)
            else:
                np.minimum(scratch, whole[a], out=scratch)

    def _match(self, head: Ints, row: Ints, at: int) -> None:
        """A match in a cell, carried on to the right to where it gains nothing."""
        value = head.item(at) + self.costs.match - self.costs.extra
        if value < row.item(at):
            stop = len(row) - row[::-1].searchsorted(value, "right")
            row[at:stop] = value

    def _mask(self, places: Sequence[int]) -> Ints:
        """What a word of the path costs in every cell if it matches in many."""
        if places[0] not in self.masks:
            found = np.full(self.summary.words + 1, self.wrong)
            found[places] = self.costs.match - self.costs.extra
            self.masks[places[0]] = found[self.section.start : self.section.stop]
        return self.masks[places[0]]
