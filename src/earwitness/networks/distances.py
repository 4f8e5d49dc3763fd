"""Edit distances from a summary to all paths of a network at once, in O(words · arcs).

The distance of the first i words of the summary to the best path that ends in a node is one cell in
the node's row. A row is the smallest of the rows before it, moved by a word or not, plus one error;
a word that matches the node costs no error. Costs are whole numbers, several aims in one.

Rows hold distances less what i words too much cost, so that words too much cost nothing there and a
row never rises.

Nodes are taken in sections that share their cells, those of a band, with the few rows before them
that still lead into the section.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from earwitness.networks.band import Band
from earwitness.networks.bounds import Bounds
from earwitness.networks.costs import Costs
from earwitness.networks.network import START, Network
from earwitness.networks.rows import Rows
from earwitness.networks.sections import Ints, blocks, sections_of
from earwitness.networks.summary import Summary

SMALL = 2**30  # numbers below this fit into 32 bits, and so does their sum with another
LARGE = 2**62  # the same for 64 bits


class Block(NamedTuple):
    """Rows of nodes that share their cells, from place ``start`` on, and of nodes that lead there.

    ``cells[at[node] + place]`` is one, less what words too much up to there cost. The one before
    ``start`` is larger than any distance.
    """

    nodes: Sequence[int]
    start: int
    stop: int
    cells: memoryview
    at: dict[int, int]

    @classmethod
    def of(cls, nodes: Sequence[int], led: Sequence[int], start: int, rows: Ints) -> Block:
        """Rows of the nodes that lead there, then of the nodes."""
        number, size = rows.shape
        at = dict(
            zip((*led, *nodes), range(1 - start, number * size + 1 - start, size), strict=True)
        )
        return cls(nodes, start, start + size - 1, rows.reshape(-1).data, at)


@dataclass(frozen=True)
class Distances:
    """Blocks with a row for every node of a network."""

    network: Network
    summary: Summary
    costs: Costs
    least: int  # that of the whole summary to the closest path
    blocks: list[Block]

    @cached_property
    def block(self) -> dict[int, Block]:
        """The block of every node."""
        return {node: block for block in self.blocks for node in block.nodes}

    def at(self, node: int, place: int) -> float:
        """That of the words up to a place to the best path that ends in a node."""
        _, start, stop, cells, at = self.block[node]
        inside = start <= place < stop
        return cells[at[node] + place] + place * self.costs.extra if inside else inf


def distances(
    network: Network, summary: Summary, costs: Costs, band: Band | Bounds, *, keep: bool = True
) -> Distances:
    """All rows; right for paths in cells of the band, and never too small.

    Without ``keep`` only the least can be looked at afterwards.
    """
    small = costs.most * (summary.words + len(network.before) + 2) < SMALL
    kind, never = (np.int32, SMALL) if small else (np.int64, LARGE)
    first: Ints = np.zeros((1, summary.words + 2), kind)
    first[0, 0] = never
    found, views, start = [Block.of([START], [], 0, first)], {START: first[0]}, 0
    sections = sections_of(network, summary, band)
    least = LARGE
    for section, block in zip(sections, blocks(sections, kind, keep=keep), strict=True):
        block[:, 0] = never
        earlier, views = views, dict(zip((*section.led, *section.nodes), block, strict=True))
        for a in section.led:
            _move(earlier[a][1:], section.start - start, views[a][1:])
        rows = Rows(network, summary, costs, section, block, views)
        rows.fill()
        start, least = section.start, min(least, rows.least(LARGE))
        if keep:
            found.append(Block.of(section.nodes, section.led, start, block))
    return Distances(network, summary, costs, least + summary.words * costs.extra, found)


def _move(row: Ints, by: int, into: Ints) -> None:
    """A row of an earlier section in a later one; what it has not are words too much."""
    kept = row[by : by + len(into)]
    into[: len(kept)] = kept
    into[len(kept) :] = row[-1]
