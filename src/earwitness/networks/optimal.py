"""Which of the closest paths is taken: the one most people stand behind, then the smallest.

Cells from which the end can be reached at the least cost are marked from the end backwards, each
with the best sum of log counts from there on. Then one path is walked from the start: at every node
to the smallest next one that still has the best sum.

One path may be laid beside a summary in many ways at the same cost. Between two matches only one of
them is looked at: words that are wrong first, then what one side has too much. What may still
come before a cell is its state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import nan

from earwitness.networks.distances import Distances
from earwitness.networks.network import START, WHOLE

SAME = round(1e-9 * WHOLE)  # sums this close are the same
FREE, EXTRA, MISSING, WRONG = range(4)  # anything; no missing word; no extra word; wrong ones only
STATES = 4
Cells = dict[int, float]  # STATES · place in the summary + state, and the best sum from there


@dataclass
class Optimal:
    """Cells on closest paths, by node."""

    found: Distances
    marked: dict[int, Cells] = field(default_factory=dict)

    def __post_init__(self) -> None:
        network = self.found.network
        self.marked[network.end] = {STATES * self.found.summary.words + FREE: 0}
        for node in reversed(network.before):
            if node in self.marked:
                if node != network.end:
                    self._extra_words(node)
                self._words_before(node)

    def _extra_words(self, node: int) -> None:
        """Mark cells of the same node from which extra words lead to a marked one."""
        cells = self.marked[node]
        for cell in sorted(cells, reverse=True):
            if cell % STATES in (FREE, EXTRA):
                here, best = cell, cells[cell]
                while self._extra(node, here):
                    here = here - here % STATES - STATES + EXTRA
                    if here in cells and cells[here] >= best:
                        break
                    cells[here] = best

    def _extra(self, node: int, cell: int) -> bool:
        """Whether the word at a cell can be an extra one."""
        row = self.found.rows[node]
        at = cell // STATES - row.start
        return at > 0 and row.cells.item(at - 1) + self.found.costs.extra == row.cells.item(at)

    def _words_before(self, node: int) -> None:
        """Mark cells of the nodes that lead here."""
        sums = self.marked[node]
        moves = list(self._moves(node))
        for a in self.found.network.before[node]:
            row, one = self.found.rows[a], self.found.network.exact[a, node]
            start, stop, item = row.start, row.start + len(row.cells), row.cells.item
            into = self.marked.get(a, {})
            for cell, before, wanted in moves:
                place = before // STATES
                if start <= place < stop and item(place - start) == wanted:
                    total = sums[cell] + one
                    if before not in into or into[before] < total:
                        into[before] = total
            if into:
                self.marked[a] = into

    def _moves(self, node: int) -> Iterator[tuple[int, int, int]]:
        """From every marked cell to those that may come before it, with the distance they need."""
        found, row = self.found, self.found.rows[node]
        costs, matches = found.costs, found.summary.matches.get(node, ())
        for cell in self.marked[node]:
            place, state = divmod(cell, STATES)
            distance = row.cells.item(place - row.start)
            if node == found.network.end:
                yield cell, STATES * place + FREE, distance
                continue
            if state in (FREE, MISSING):
                yield cell, STATES * place + MISSING, distance - costs.wrong
            if place and place in matches:
                yield cell, STATES * (place - 1) + FREE, distance - costs.match
            elif place:
                yield cell, STATES * (place - 1) + WRONG, distance - costs.wrong

    def path(self) -> tuple[int, ...]:
        """The path with the best sum, and of those the smallest."""
        network, marked = self.found.network, self.marked
        here = {cell for cell in marked[START] if cell < STATES}
        best = max(marked[START][cell] for cell in here)
        node = START
        passed: float = 0
        path: list[int] = []
        while True:
            here = self._with_extra_words(node, here)
            for other in network.behind[node]:
                total = passed + network.exact[node, other]
                there = self._onward(node, here, other) if other in marked else set()
                rest = max((marked[other][cell] for cell in there), default=nan)
                if total + rest >= best - SAME:
                    break
            else:
                raise AssertionError("the best sum leads on from every node on the way")
            node, here, passed = other, there, total
            if node == network.end:
                return tuple(path)
            path.append(node)

    def _with_extra_words(self, node: int, here: set[int]) -> set[int]:
        """These cells and those of the same node that extra words lead to."""
        if len(here) == len(self.marked[node]):
            return here
        found = set(here)
        for cell in sorted(self.marked[node]):
            place, state = divmod(cell, STATES)
            before = STATES * (place - 1) + EXTRA
            if state in (FREE, EXTRA) and before in found and self._extra(node, cell):
                found.add(cell)
        return found

    def _onward(self, node: int, here: set[int], other: int) -> set[int]:
        """Marked cells of another node that these lead to."""
        row = self.found.rows[node]
        return {
            cell
            for cell, before, wanted in self._moves(other)
            if before in here and row.cells.item(before // STATES - row.start) == wanted
        }
