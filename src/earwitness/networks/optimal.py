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

from earwitness.networks.distances import Block, Distances
from earwitness.networks.network import START, WHOLE

SAME = round(1e-9 * WHOLE)  # sums this close are the same
FREE, EXTRA, MISSING, WRONG = range(4)  # anything; no missing word; no extra word; wrong ones only
STATES, MAY_MISS = 4, (FREE, MISSING)
NOWHERE = (-1,)
Cells = dict[int, float]  # STATES · place in the summary + state, and the best sum from there
Links = list[tuple[int, int]]  # cells of a node, and those of another that they lead to
Move = tuple[int, int, int, int]  # from a cell to a place and state, and the most it may cost


@dataclass
class Optimal:
    """Cells on closest paths, by node; ``complete`` unless there are more than ``most``."""

    found: Distances
    slack: int = 0
    most: float = inf
    complete: bool = True
    sums: dict[int, Cells] = field(default_factory=dict)
    left: dict[int, dict[int, int]] = field(default_factory=dict)  # slack, in cells that have any
    links: dict[int, dict[int, Links]] = field(default_factory=dict)  # by node, and nodes behind

    def __post_init__(self) -> None:
        self.end, self.gain = self.found.network.end, self.found.costs.gain
        self.origins = self._origins() if self.most == inf else set[int]()
        self._last_words()
        number = 1
        for block in reversed(self.found.blocks):
            for node in reversed(block.nodes):
                if node in self.sums:
                    self._extra_words(node, block)
                    number += len(self.sums[node])
                    if number > self.most:
                        self.complete = False
                        return
                    self._words_before(node, block)

    def _origins(self) -> set[int]:
        """What wrong words may begin with: distances of the start and of matches on a diagonal."""
        found, matches = {0}, self.found.summary.matches
        for block in self.found.blocks:
            for node in filter(matches.__contains__, block.nodes):
                inside = [p for p in matches[node] if block.start <= p < block.stop]
                found |= {self._diagonal(block.cells[block.at[node] + p], p) for p in inside}
        return found

    def _diagonal(self, value: int, place: int) -> int:
        """The distance in a cell without gains, less what wrong words up to there would cost."""
        costs = self.found.costs
        return -((-value - place * (costs.extra - costs.wrong)) // costs.times)

    def _last_words(self) -> None:
        """Mark the end, and cells from which it is reached at the least cost."""
        found, place = self.found, self.found.summary.words
        cell = STATES * place + FREE
        self.sums[self.end] = {cell: 0}
        extra = place * found.costs.extra
        move = (cell, place, FREE, found.least - extra + self.slack + found.costs.gain)
        for a in found.network.before[self.end]:
            if (value := found.at(a, place)) < inf:
                self._link(a, self.end, move, int(value) - extra)

    def _extra_words(self, node: int, block: Block) -> None:
        """Mark cells of the same node from which extra words lead to a marked one."""
        sums, row, at = self.sums[node], block.cells, block.at[node]
        left = self.left.setdefault(node, {}) if self.slack else {}
        for cell in sorted(sums, reverse=True) if len(sums) > 1 else list(sums):
            if cell % STATES > EXTRA:
                continue
            place, best, rest = cell // STATES, sums[cell], left.get(cell, 0)
            here = row[at + place]
            while (loss := row[at + place - 1] - here) <= rest:
                place -= 1
                before = STATES * place + EXTRA
                if sums.get(before, nan) >= best and left.get(before, 0) >= rest - loss:
                    break
                sums[before] = max(best, sums.get(before, best))
                left[before] = max(rest - loss, left.get(before, 0))

    def _words_before(self, node: int, block: Block) -> None:
        """Mark cells of the nodes that lead here."""
        leading, row, start = self.found.network.before[node], block.cells, block.at
        for move in self._moves(node, block):
            _, place, _, most = move
            for a in leading:
                if row[start[a] + place] <= most:
                    self._link(a, node, move, row[start[a] + place])

    def _moves(self, node: int, block: Block) -> list[Move]:
        """From marked cells to those that may come before, and the most that these may cost."""
        row, at, left = block.cells, block.at[node], self.left.get(node)
        costs, summary = self.found.costs, self.found.summary
        firsts, first = summary.firsts, summary.matches.get(node, NOWHERE)[0]
        moves = []
        for cell in self.sums[node]:
            place, state = cell // STATES, cell % STATES
            most = row[at + place] + self.gain
            if left:
                most += left.get(cell, 0)
            if state in MAY_MISS:
                moves.append((cell, place, MISSING, most - costs.wrong))
            if firsts[place] == first:
                moves.append((cell, place - 1, FREE, most - costs.match + costs.extra))
            else:
                moves.append((cell, place - 1, WRONG, most - costs.wrong + costs.extra))
        return moves

    def _link(self, a: int, node: int, move: Move, value: int) -> None:
        """Mark the cell of a node that a move leads to, if it costs no more with its own gain."""
        cell, place, state, most = move
        network, gains, rest = self.found.network, self.found.costs.gains, most - value
        if gains:
            rest += gains[network.counts[a, node]] - self.gain
        wrong = self.origins and state == WRONG
        if rest < 0 or (wrong and self._diagonal(value, place) not in self.origins):
            return
        before, total = STATES * place + state, self.sums[node][cell] + network.exact[a, node]
        if a not in self.sums:
            self.sums[a], self.links[a] = {before: total}, {node: [(before, cell)]}
        else:
            sums = self.sums[a]
            if before not in sums or total > sums[before]:
                sums[before] = total
            self.links[a].setdefault(node, []).append((before, cell))
        if rest:
            left = self.left.setdefault(a, {})
            left[before] = max(rest, left.get(before, 0))

    def path(self) -> tuple[int, ...]:
        """The path with the best sum, and of those the smallest."""
        first, node, passed = self.sums[START], START, 0.0
        here = {cell for cell in first if cell < STATES}
        best = max(first[cell] for cell in here)
        path: list[int] = []
        while True:
            here = self._with_extra_words(node, here)
            node, here, passed = self._next(node, here, passed, best)
            if node == self.end:
                return tuple(path)
            path.append(node)

    def _next(
        self, node: int, here: set[int], passed: float, best: float
    ) -> tuple[int, set[int], float]:
        """The smallest node from which the best sum can be reached, its cells, the sum so far."""
        exact, links = self.found.network.exact, self.links[node]
        for other in reversed(links):
            total = passed + exact[node, other]
            there = {cell for before, cell in links[other] if before in here}
            if len(links) == 1:
                return other, there, total
            rest = max([self.sums[other][cell] for cell in there], default=nan)
            if total + rest >= best - SAME:
                return other, there, total
        raise AssertionError("the best sum leads on from every node on the way")

    def _with_extra_words(self, node: int, here: set[int]) -> set[int]:
        """These cells and those of the same node that extra words lead to."""
        sums = self.sums[node]
        if len(here) == len(sums):
            return here
        found, block, left = set(here), self.found.block[node], self.left.get(node, {})
        row, at = block.cells, block.at[node]
        for cell in sorted(sums):
            place, state = divmod(cell, STATES)
            led = state <= EXTRA and STATES * (place - 1) + EXTRA in found
            if led and row[at + place - 1] - row[at + place] <= left.get(cell, 0):
                found.add(cell)
        return found
