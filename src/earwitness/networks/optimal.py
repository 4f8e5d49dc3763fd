"""Which of the closest paths is taken: the one most people stand behind, then the smallest.

Cells from which the end can be reached at the least cost are marked from the end backwards, each
with the best sum of log counts from there on and with the marked cells that it leads to. Then one
path is walked from the start: at every node to the smallest next one that still has the best sum.

One path may be laid beside a summary in many ways at the same cost. Between two matches only one of
them is looked at: words that are wrong first, then what one side has too much. What may still
come before a cell is its state. Wrong words only, back to a match or the start, cost what the match
has cost and so much a word: where no match fits, a cell is not marked in this state.

Where arcs gain by their log counts, roughly, paths may cost more than the least by some ``slack``,
and hardly any cell but those of the path taken is marked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, nan
from typing import NamedTuple

from earwitness.networks.distances import Distances
from earwitness.networks.network import START, WHOLE

SAME = round(1e-9 * WHOLE)  # sums this close are the same
FREE, EXTRA, MISSING, WRONG = range(4)  # anything; no missing word; no extra word; wrong ones only
STATES = 4
Cells = dict[int, float]  # STATES · place in the summary + state, and the best sum from there
Links = list[tuple[int, int, int]]  # cells of a node, those of another that they lead to, slack


class Marked(NamedTuple):
    """Marked cells of a node with the best sums, the slack left, and links by nodes behind."""

    sums: Cells
    left: dict[int, int]
    links: dict[int, Links]


@dataclass
class Optimal:
    """Cells on closest paths, by node; ``complete`` unless there are more than ``most``."""

    found: Distances
    slack: int = 0
    most: float = inf
    marked: dict[int, Marked] = field(default_factory=dict)
    complete: bool = True

    def __post_init__(self) -> None:
        self.origins = self._origins() if self.most == inf else None
        network, end = self.found.network, STATES * self.found.summary.words + FREE
        self.end = network.end
        self.marked[self.end] = Marked({end: 0}, {end: self.slack}, {})
        number = 0
        for node in reversed(network.before):
            if node in self.marked:
                if node != self.end:
                    self._extra_words(node)
                number += len(self.marked[node].sums)
                if number > self.most:
                    self.complete = False
                    return
                self._words_before(node)

    def _origins(self) -> set[int]:
        """What wrong words may begin with: distances of the start and of matches on a diagonal."""
        rows, found = self.found.rows, {0}
        for node, places in self.found.summary.matches.items():
            if node in rows:
                start, row = rows[node]
                inside = (place for place in places if 0 <= place - start < len(row))
                found |= {self._diagonal(row.item(at - start), STATES * at) for at in inside}
        return found

    def _diagonal(self, value: int, cell: int) -> int:
        """The distance in a cell without gains, less what wrong words up to there would cost."""
        costs = self.found.costs
        return -((-value - cell // STATES * (costs.extra - costs.wrong)) // costs.times)

    def _extra_words(self, node: int) -> None:
        """Mark cells of the same node from which extra words lead to a marked one."""
        (cells, left, _), (start, row) = self.marked[node], self.found.rows[node]
        for cell in sorted(cells, reverse=True):
            at = cell // STATES - start
            if cell % STATES in (FREE, EXTRA) and at > 0:
                best, here, rest = cells[cell], row.item(at), left[cell]
                while at > 0 and (loss := row.item(at - 1) - here) <= rest:
                    at -= 1
                    before = STATES * (at + start) + EXTRA
                    if cells.get(before, nan) >= best and left[before] >= rest - loss:
                        break
                    cells[before] = max(best, cells.get(before, best))
                    left[before] = max(rest - loss, left.get(before, 0))

    def _words_before(self, node: int) -> None:
        """Mark cells of the nodes that lead here."""
        rows, gains, origins = self.found.rows, self.found.costs.gains, self.origins
        moves, counts = self._moves(node), self.found.network.counts
        for a in self.found.network.before[node]:
            start, row = rows[a]
            gain, size, item = gains[counts[a, node]] if gains else 0, len(row), row.item
            links = []
            for cell, before, wanted, rest in moves:
                at = before // STATES - start
                if 0 <= at < size and (loss := item(at) - wanted - gain) <= rest:
                    wrong = before % STATES == WRONG
                    if not (origins and wrong) or self._diagonal(item(at), before) in origins:
                        links.append((before, cell, rest - loss))
            if links:
                self._mark(a, node, links)

    def _mark(self, a: int, node: int, links: Links) -> None:
        """Mark cells of a node that lead to cells of another, with the slack that is left."""
        one, sums = self.found.network.exact[a, node], self.marked[node].sums
        if a not in self.marked:
            self.marked[a] = Marked({}, {}, {})
        into, left, behind = self.marked[a]
        for before, cell, rest in links:
            total = sums[cell] + one
            if before not in into or total > into[before]:
                into[before] = total
            if rest >= left.get(before, 0):
                left[before] = rest
        behind[node] = links

    def _moves(self, node: int) -> list[tuple[int, int, int, int]]:
        """From marked cells to those that may come before, their distances, and slack left."""
        found, (start, row) = self.found, self.found.rows[node]
        costs, matches = found.costs, found.summary.matches.get(node, ())
        moves = []
        for cell, rest in self.marked[node].left.items():
            place, state = divmod(cell, STATES)
            distance = row.item(place - start)
            if node == self.end:
                moves.append((cell, STATES * place + FREE, distance, rest))
                continue
            if state in (FREE, MISSING):
                moves.append((cell, STATES * place + MISSING, distance - costs.wrong, rest))
            cost, kind = (costs.match, FREE) if place in matches else (costs.wrong, WRONG)
            if place:
                before = STATES * (place - 1) + kind
                moves.append((cell, before, distance - cost + costs.extra, rest))
        return moves

    def path(self) -> tuple[int, ...]:
        """The path with the best sum, and of those the smallest."""
        network, marked = self.found.network, self.marked
        here = {cell for cell in marked[START].sums if cell < STATES}
        best = max(marked[START].sums[cell] for cell in here)
        node = START
        passed: float = 0
        path: list[int] = []
        while True:
            here = self._with_extra_words(node, here)
            for other, links in reversed(marked[node].links.items()):
                total = passed + network.exact[node, other]
                there = {cell for before, cell, _ in links if before in here}
                rest = max([marked[other].sums[cell] for cell in there], default=nan)
                if total + rest >= best - SAME:
                    break
            else:
                raise AssertionError("the best sum leads on from every node on the way")
            node, here, passed = other, there, total
            if node == self.end:
                return tuple(path)
            path.append(node)

    def _with_extra_words(self, node: int, here: set[int]) -> set[int]:
        """These cells and those of the same node that extra words lead to."""
        (cells, left, _), (start, row) = self.marked[node], self.found.rows[node]
        if len(here) == len(cells):
            return here
        found = set(here)
        for cell in sorted(cells):
            place, state = divmod(cell, STATES)
            if state in (FREE, EXTRA) and STATES * (place - 1) + EXTRA in found:
                loss = row.item(place - start - 1) - row.item(place - start)
                if loss <= left[cell]:
                    found.add(cell)
        return found
