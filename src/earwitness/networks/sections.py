"""Sections: nodes that share their cells, so that work on their rows needs few words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.networks.band import Band
from earwitness.networks.bounds import Bounds
from earwitness.networks.network import START, Network
from earwitness.networks.summary import Summary

Ints = NDArray[Any]
SECTION = 256  # nodes


class Section(NamedTuple):
    """Nodes with cells from ``start`` to ``stop``, and nodes before them that lead here."""

    nodes: list[int]
    led: list[int]
    start: int
    stop: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and cells, of which the first of a row is never reached."""
        return len(self.led) + len(self.nodes), self.stop - self.start + 1


def sections_of(network: Network, summary: Summary, band: Band | Bounds) -> list[Section]:
    """Sections with the cells of a band."""
    words, last = network.words, network.last
    starts, stops = band.cells(network, summary)
    firsts = range(0, len(words), SECTION)
    lows = np.minimum.reduceat(starts, firsts)
    lows = np.minimum.accumulate(lows[::-1])[::-1]
    highs = np.maximum.accumulate(np.maximum.reduceat(stops, firsts))
    found, led = list[Section](), [START]
    for first, low, high in zip(firsts, lows.tolist(), highs.tolist(), strict=True):
        nodes = words[first : first + SECTION]
        found.append(Section(nodes, led, low, max(high, low + 1)))
        led = [a for a in (*led, *nodes) if last[a] > nodes[-1]]
    return found


def blocks(sections: Sequence[Section], kind: type, *, keep: bool) -> Iterator[Ints]:
    """Memory for every section, from one piece; if it is not kept, two sections' in turns."""
    sizes = [rows * cells for rows, cells in (section.shape for section in sections)]
    most = max(sizes)
    memory: Ints = np.empty(sum(sizes) if keep else 2 * most, kind)
    begin = 0
    for index, (section, size) in enumerate(zip(sections, sizes, strict=True)):
        begin = begin if keep else index % 2 * most
        yield memory[begin : begin + size].reshape(section.shape)
        begin += size
