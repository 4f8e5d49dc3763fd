"""Closest path of a word network to a summary, by edits or rate, and its alignment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, inf, log, nan
from typing import NamedTuple

from earwitness.core import Alignment, Case, WordPair
from earwitness.summaries.network import (
    FIXED_POINT_ONE,
    START,
    Network,
    Spelling,
    StepCosts,
    SummaryMatches,
    enough,
    split,
)
from earwitness.summaries.path_distances import (
    LIMIT_IN_64_BITS,
    Band,
    CellBlock,
    PathDistances,
    distances,
)

# --- Ties between closest paths ------------------------------------------------------------------
# Cells from which the end can be reached at the lowest cost are marked backwards from the end, each
# with the best sum of log counts from there on and with the marked cells that it leads to. Then one
# path is followed from the start: at every node to the smallest next node with the best sum.
#
# A path may be aligned with a summary in many ways at the same cost. Between two matches only one
# way is used: substitutions first, then insertions or deletions. The state of a cell says which
# steps may still precede it. Substitutions only, back to a match or the start, cost as much as the
# match plus a fixed cost per word: if no match fits, a cell is not marked in this state.
#
# If arcs have approximate gains by their log counts, paths may exceed the lowest cost by some
# ``slack``, and hardly any cell except those of the chosen path is marked.


SUM_TOLERANCE = round(1e-9 * FIXED_POINT_ONE)  # sums this close are equal
# steps before a cell: any; no deletion; no insertion; substitutions only
FREE_STATE, EXTRA_STATE, MISSING_STATE, WRONG_STATE = range(4)
STATE_COUNT = 4
STATES_BEFORE_MISSING = (FREE_STATE, MISSING_STATE)
NO_MATCH = (-1,)
Cells = dict[int, float]  # STATE_COUNT · place in the summary + state, and the best sum from there
Links = list[tuple[int, int]]  # cells of a node, and the cells of another node they lead to
Move = tuple[int, int, int, int]  # from a cell to an index and state, and the largest cost


@dataclass
class ClosestPathCells:
    """Cells on closest paths, by node; ``complete`` unless there are more than ``most``."""

    distances: PathDistances
    slack: int = 0
    most: float = inf
    complete: bool = True
    sums: dict[int, Cells] = field(default_factory=dict)
    left: dict[int, dict[int, int]] = field(default_factory=dict)  # slack, in cells that have any
    links: dict[int, dict[int, Links]] = field(default_factory=dict)  # by node, and nodes behind

    def __post_init__(self) -> None:
        self.end, self.gain = self.distances.network.end, self.distances.costs.gain
        self.origins = self._origins() if self.most == inf else set[int]()
        self._last_words()
        number = 1
        for block in reversed(self.distances.blocks):
            for node in reversed(block.nodes):
                if node in self.sums:
                    self._extra_words(node, block)
                    number += len(self.sums[node])
                    if number > self.most:
                        self.complete = False
                        return
                    self._words_before(node, block)

    def _origins(self) -> set[int]:
        """Return the diagonal distances of the start and of matches, where wrong words start."""
        origins, matches = {0}, self.distances.summary.matches
        for block in self.distances.blocks:
            for node in filter(matches.__contains__, block.nodes):
                inside = [p for p in matches[node] if block.start <= p < block.stop]
                origins |= {self._diagonal(block.cells[block.at[node] + p], p) for p in inside}
        return origins

    def _diagonal(self, value: int, place: int) -> int:
        """Return the distance without gains, minus the cost of wrong words up to there."""
        costs = self.distances.costs
        return -((-value - place * (costs.extra - costs.wrong)) // costs.times)

    def _last_words(self) -> None:
        """Mark the end, and cells from which it is reached at the lowest cost."""
        distances, place = self.distances, self.distances.summary.words
        cell, extra = STATE_COUNT * place + FREE_STATE, place * distances.costs.extra
        self.sums[self.end] = {cell: 0}
        move = cell, place, FREE_STATE, distances.least - extra + self.slack + self.gain
        for a in distances.network.before[self.end]:
            if (value := distances.at(a, place)) < inf:
                self._link(a, self.end, move, int(value) - extra)

    def _extra_words(self, node: int, block: CellBlock) -> None:
        """Mark cells of the same node from which insertions lead to a marked cell."""
        sums, row, at = self.sums[node], block.cells, block.at[node]
        left = self.left.setdefault(node, {}) if self.slack else {}
        for cell in sorted(sums, reverse=True):
            if cell % STATE_COUNT > EXTRA_STATE:
                continue
            place, best, slack = cell // STATE_COUNT, sums[cell], left.get(cell, 0)
            cost = row[at + place]
            while (loss := row[at + place - 1] - cost) <= slack:
                place -= 1
                before = STATE_COUNT * place + EXTRA_STATE
                if sums.get(before, nan) >= best and left.get(before, 0) >= slack - loss:
                    break
                sums[before] = max(best, sums.get(before, best))
                left[before] = max(slack - loss, left.get(before, 0))

    def _words_before(self, node: int, block: CellBlock) -> None:
        """Mark cells of the predecessors."""
        leading, row, start = self.distances.network.before[node], block.cells, block.at
        for move in self._moves(node, block):
            _, place, _, most = move
            for a in leading:
                if row[start[a] + place] <= most:
                    self._link(a, node, move, row[start[a] + place])

    def _moves(self, node: int, block: CellBlock) -> list[Move]:
        """Return the moves from marked cells to possible predecessors, with their cost limits."""
        row, at, left = block.cells, block.at[node], self.left.get(node)
        costs, summary = self.distances.costs, self.distances.summary
        firsts, first = summary.firsts, summary.matches.get(node, NO_MATCH)[0]
        moves = []
        for cell in self.sums[node]:
            place, state = cell // STATE_COUNT, cell % STATE_COUNT
            most = row[at + place] + self.gain
            if left:
                most += left.get(cell, 0)
            if state in STATES_BEFORE_MISSING:
                moves.append((cell, place, MISSING_STATE, most - costs.wrong))
            if firsts[place] == first:
                moves.append((cell, place - 1, FREE_STATE, most - costs.match + costs.extra))
            else:
                moves.append((cell, place - 1, WRONG_STATE, most - costs.wrong + costs.extra))
        return moves

    def _link(self, a: int, node: int, move: Move, value: int) -> None:
        """Mark the cell that a move leads to, if its cost with its gain is within the limit."""
        cell, place, state, most = move
        network, gains, slack = self.distances.network, self.distances.costs.gains, most - value
        if gains:
            slack += gains[network.counts[a, node]] - self.gain
        wrong = self.origins and state == WRONG_STATE
        if slack < 0 or (wrong and self._diagonal(value, place) not in self.origins):
            return
        before, total = STATE_COUNT * place + state, self.sums[node][cell] + network.exact[a, node]
        if a not in self.sums:
            self.sums[a], self.links[a] = {before: total}, {node: [(before, cell)]}
        else:
            sums = self.sums[a]
            if before not in sums or total > sums[before]:
                sums[before] = total
            self.links[a].setdefault(node, []).append((before, cell))
        if slack:
            left = self.left.setdefault(a, {})
            left[before] = max(slack, left.get(before, 0))

    def path(self) -> tuple[int, ...]:
        """Return the path with the best sum, and of these the smallest."""
        first, node, passed = self.sums[START], START, 0.0
        cells = {cell for cell in first if cell < STATE_COUNT}
        best = max(first[cell] for cell in cells)
        path = list[int]()
        while True:
            cells = self._with_extra_words(node, cells)
            node, cells, passed = self._next(node, cells, passed, best)
            if node == self.end:
                return tuple(path)
            path.append(node)

    def _next(
        self, node: int, cells: set[int], passed: float, best: float
    ) -> tuple[int, set[int], float]:
        """Return the smallest next node with the best sum, its cells, and the sum so far."""
        exact, links = self.distances.network.exact, self.links[node]
        for other in reversed(links):
            total = passed + exact[node, other]
            there = {cell for before, cell in links[other] if before in cells}
            if len(links) == 1:
                return other, there, total
            onward = max([self.sums[other][cell] for cell in there], default=nan)
            if total + onward >= best - SUM_TOLERANCE:
                return other, there, total
        raise AssertionError("the best sum leads on from every node on the way")

    def _with_extra_words(self, node: int, cells: set[int]) -> set[int]:
        """Return these cells and those of the same node that insertions lead to."""
        sums = self.sums[node]
        if len(cells) == len(sums):
            return cells
        reached, block, left = set(cells), self.distances.block[node], self.left.get(node, {})
        row, at = block.cells, block.at[node]
        for cell in sorted(sums):
            place, state = divmod(cell, STATE_COUNT)
            led = state <= EXTRA_STATE and STATE_COUNT * (place - 1) + EXTRA_STATE in reached
            if led and row[at + place - 1] - row[at + place] <= left.get(cell, 0):
                reached.add(cell)
        return reached


# --- Costs with support by people ----------------------------------------------------------------
# Costs of steps are multiplied to leave room for the log counts of all arcs of a path, rounded down
# to whole numbers. Paths with the best sum then have the lowest cost, except for rounding
# (``slack``).


@dataclass(frozen=True)
class SupportCosts:
    """Costs of a network without arcs that nobody took, and the same with gains."""

    network: Network
    summary: SummaryMatches
    plain: StepCosts

    @cached_property
    def arcs(self) -> int:
        """Largest number of arcs of a path."""
        return self.network.longest + 1

    @cached_property
    def log_unit(self) -> int:
        """Fixed-point unit of logarithms, as large as 64 bits allow."""
        room = LIMIT_IN_64_BITS // self.steps // (self.plain.most + 1) - 2
        return max(0, int((room / self.arcs - 4) / (log(max(self.network.counts.values())) + 0.01)))

    @property
    def steps(self) -> int:
        """Largest number of steps of an alignment."""
        return self.summary.words + len(self.network.before) + 2

    @property
    def fits(self) -> bool:
        """Whether 64 bits hold all costs."""
        return self.costs.most * self.steps < LIMIT_IN_64_BITS

    @cached_property
    def gains(self) -> dict[int, int]:
        """Logarithms of all counts, rounded down."""
        return {
            count: int(log(count) * self.log_unit) for count in set(self.network.counts.values())
        }

    @property
    def slack(self) -> int:
        """Largest rounding error of a path, plus the tolerance for equal sums."""
        return self.arcs + SUM_TOLERANCE * self.log_unit // FIXED_POINT_ONE + 2

    @cached_property
    def times(self) -> int:
        """Factor of costs, larger than all gains of a path plus the slack."""
        return self.arcs * max(self.gains.values()) + self.slack + 1

    @property
    def costs(self) -> StepCosts:
        """Costs with gains."""
        match, wrong, extra = self.plain.match, self.plain.wrong, self.plain.extra
        times = self.times
        return StepCosts(match * times, wrong * times, extra * times, self.gains, times)

    def cost(self, least: int) -> int:
        """Return the cost without gains of a path with the lowest cost including gains."""
        return -(-least // self.times)


# --- Edits per word ------------------------------------------------------------------------------


@dataclass(frozen=True)
class EditRate:
    """Edits per word of a path (``edits`` / ``length``), for a summary of ``words`` words.

    A path with E edits and L words is better if ``length · E − edits · L`` is below 0. Then
    ``|L − words| <= E`` bounds its number of words by ``shortest`` and ``longest``.
    """

    edits: int
    length: int
    words: int
    longest: int

    @property
    def shortest(self) -> int:
        """Smallest number of words of a path with this rate or a better one."""
        return max(1, -(-self.words * self.length // (self.length + self.edits)))

    @property
    def most(self) -> int:
        """Largest number of edits of a path with this rate or a better one."""
        most = self.edits * self.longest // self.length
        if self.edits >= self.length:
            return most
        return min(most, self.edits * self.words // (self.length - self.edits))

    @cached_property
    def lowest(self) -> tuple[int, int]:
        """Edits and words in lowest terms."""
        common = gcd(self.edits, self.length)
        return self.edits // common, self.length // common

    @cached_property
    def unit(self) -> int:
        """Factor of the difference that leaves room for the number of words, or 1.

        It is 1 if the difference determines the number of words.
        """
        spread = min(self.longest, self.words + self.most) - self.shortest
        return 1 if self.lowest[1] > spread else self.longest + 1

    @property
    def costs(self) -> StepCosts:
        """Costs that minimize the difference, then prefer the longest path."""
        edits, length = self.lowest
        per_edit, per_word = length * self.unit, edits * self.unit + (self.unit > 1)
        return StepCosts(-per_word, per_edit - per_word, per_edit)

    def better(self, least: int) -> EditRate:
        """Return the rate of a path with the lowest cost, which is not above 0."""
        edits, length = self.lowest
        if self.unit > 1:
            difference, words = split(least, self.unit)
        else:
            difference = least
            words = (-least * pow(edits, -1, length) - self.shortest) % length + self.shortest
        return EditRate((difference + edits * words) // length, words, self.words, self.longest)


# --- Closest path --------------------------------------------------------------------------------


# marked cells per node above which ties are too many to compare one by one
MAX_TIED_CELLS_PER_NODE = 8
NARROW_BAND_WORDS = 64  # width in words of the band of a first search for a better rate


@dataclass(frozen=True)
class ClosestPath:
    """A path, and the number of edits between it and the summary."""

    path: tuple[int, ...]
    edits: int

    @property
    def accuracy(self) -> float:
        """1 minus edits per word of the path; may be negative."""
        return (len(self.path) - self.edits) / len(self.path)


def closest(
    network: Network,
    labels: Sequence[Hashable],
    *,
    objective: str = "edits",
    words: Spelling = None,
) -> ClosestPath:
    """Return the path of a network that is closest to a summary.

    Labels are the positions of the summary's words (0 matches nothing), or their spelling if
    ``words`` has the word at every position. With the objective ``"edits"``, the fewest edits
    decide; with ``"accuracy"``, the fewest edits per word of the path. Ties are resolved by the
    longest path, then by the largest support (sum of log counts of arcs), then by the
    smallest positions.

    >>> people = ((7,), (1, 9), (7, 8), (2, 3, 4, 5, 6, 9), (7,))
    >>> closest(Network(9, people), (1, 5, 6, 7, 8, 9))
    ClosestPath(path=(7, 8), edits=4)
    >>> closest(Network(9, people), (1, 5, 6, 7, 8, 9), objective="accuracy")
    ClosestPath(path=(2, 3, 4, 5, 6, 9), edits=5)
    """
    summary = SummaryMatches.of(network, labels, words)
    search = (_least_rate if objective == "accuracy" else _fewest)(network, summary)
    return ClosestPath(_path(search), search.edits)


@dataclass(frozen=True)
class _PathSearch:
    """Distances to the closest paths; ``people`` is set if arcs have gains."""

    distances: PathDistances
    people: SupportCosts | None
    band: Band
    edits: int = 0

    @property
    def least(self) -> int:
        """Lowest cost without gains."""
        least = self.distances.least
        return self.people.cost(least) if self.people else least


def _look(network: Network, summary: SummaryMatches, costs: StepCosts, most: int) -> _PathSearch:
    """Return distances that are exact for paths with at most ``most`` edits.

    If few words match, ties are frequent, and arcs have gains from the start.
    """
    band = Band.of(summary, most)
    people = SupportCosts(network, summary, costs)
    if network.original or not summary.has_few_matches or not people.fits:
        return _PathSearch(distances(network, summary, costs, band), None, band)
    return _PathSearch(distances(network, summary, people.costs, band), people, band)


def _fewest(network: Network, summary: SummaryMatches) -> _PathSearch:
    """Search for the fewest edits, and the longest path with as many."""
    unit = network.longest + 1
    search = _look(network, summary, StepCosts.fewest(unit), min(enough(network, summary))[0])
    return replace(search, edits=split(search.least, unit)[0])


def _least_rate(network: Network, summary: SummaryMatches) -> _PathSearch:
    """Search for the fewest edits per word, improving the rate until it is best (Dinkelbach).

    The first search is in a narrow band, which gives a path but not always the best.
    """
    candidates = enough(network, summary)
    if not summary.by_position:
        unit = network.longest + 1
        good = distances(network, summary, StepCosts.fewest(unit), _narrow(summary))
        candidates.append(split(good.least, unit))
    rate = EditRate(
        *min(candidates, key=lambda path: Fraction(*path)), summary.words, network.longest
    )
    if not summary.has_few_matches:
        guess = distances(network, summary, rate.costs, _narrow(summary))
        rate = rate.better(guess.least) if guess.least < 0 else rate
    while True:
        search = _look(network, summary, rate.costs, rate.most)
        better = rate.better(search.least)
        if better.edits * rate.length == rate.edits * better.length:
            return replace(search, edits=better.edits)
        rate = better


def _narrow(summary: SummaryMatches) -> Band:
    """Return a band with the cells of most good paths; it is wider for comparison by spelling."""
    return Band(NARROW_BAND_WORDS if summary.by_position else 2 * NARROW_BAND_WORDS)


def _path(search: _PathSearch) -> tuple[int, ...]:
    """Return the closest path; if too many are equally close, search again with gains."""
    plain = search.distances
    if search.people:
        return ClosestPathCells(plain, search.people.slack).path()
    marked = ClosestPathCells(plain, most=MAX_TIED_CELLS_PER_NODE * len(plain.network.before))
    if marked.complete:
        return marked.path()
    people = SupportCosts(plain.network.observed, plain.summary, plain.costs)
    if people.fits:
        gained = distances(people.network, plain.summary, people.costs, search.band)
        if people.cost(gained.least) == plain.least:
            return ClosestPathCells(gained, people.slack).path()
    return ClosestPathCells(plain).path()


# --- Alignment with a path -----------------------------------------------------------------------


class AlignmentStep(NamedTuple):
    """Position of a word of the path and index (from 0) of a word of the summary, or one of them.

    ``right`` is set if both are the same word.
    """

    position: int | None
    place: int | None
    right: bool

    @property
    def mark(self) -> str:
        """S for a substitution, D for a deletion, I for an insertion, empty if correct."""
        if self.position is None or self.place is None:
            return "I" if self.position is None else "D"
        return "" if self.right else "S"


def alignment(
    labels: Sequence[Hashable], path: Sequence[int], words: Spelling = None
) -> list[AlignmentStep]:
    """Align a summary with a path: fewest edits, then most correct words.

    Insertions and deletions come after substitutions.
    """
    network = Network(max(path), (tuple(path),))
    summary, large = SummaryMatches.of(network, labels, words), len(path) + 1
    costs, matches = StepCosts(-1, large, large), summary.matches
    band = Band.of(summary, min(enough(network, summary))[0])
    table = distances(network, summary, costs, band)
    node, place = len(path), summary.words
    nodes = [START, *path]

    def cell(index: int, at: int) -> float:
        return table.at(nodes[index], at)

    steps = list[AlignmentStep]()
    while node or place:
        cost = cell(node, place)
        right = bool(node and place) and place in matches.get(nodes[node], ())
        if right and cost == cell(node - 1, place - 1) + costs.match:
            steps.append(AlignmentStep(nodes[node], place - 1, True))
            node, place = node - 1, place - 1
        elif place and cost == cell(node, place - 1) + costs.extra:
            steps.append(AlignmentStep(None, place - 1, False))
            place -= 1
        elif node and cost == cell(node - 1, place) + costs.wrong:
            steps.append(AlignmentStep(nodes[node], None, False))
            node -= 1
        else:
            steps.append(AlignmentStep(nodes[node], place - 1, False))
            node, place = node - 1, place - 1
    return steps[::-1]


# --- Alignments for display ----------------------------------------------------------------------


def shown_steps(
    case: Case, network: Network, target: ClosestPath, steps: Sequence[AlignmentStep]
) -> Alignment:
    """Return the alignment with S, D or I, and the number of people on each step of the path.

    The number after the last word is the number of people whose summary ended there.
    """
    came = dict(zip(target.path, pairwise((START, *target.path)), strict=True))
    pairs = []
    for step in steps:
        wanted = "" if step.position is None else case.item.words[step.position - 1]
        written = "" if step.place is None else case.output.words[step.place]
        positions = case.output.positions
        place = None if positions is None or step.place is None else positions[step.place]
        if place == 0:
            written += "?"
        elif place and step.mark == "S" and wanted == written:  # the same word elsewhere
            wanted, written = f"{wanted}[{step.position}]", f"{written}[{place}]"
        people = None if step.position is None else network.counts[came[step.position]]
        pairs.append(WordPair(wanted, written, step.mark, people))
    pairs.append(WordPair("</s>", "</s>", "", network.counts[target.path[-1], network.end]))
    kinds = [step.mark for step in steps]
    wrong = sum(label == 0 for label in case.output.positions or ())
    message = (
        f"accuracy {target.accuracy:.3f} = ({len(target.path)} - {target.edits}) / "
        f"{len(target.path)}: {kinds.count('S')} substituted, {kinds.count('D')} deleted, "
        f"{kinds.count('I')} inserted; {wrong} not said; {network.people} people"
    )
    return Alignment(tuple(pairs), "PATH", message)


# --- Edits between two position lists ------------------------------------------------------------


def edits_and_hits(labels: Sequence[int], path: Sequence[int]) -> tuple[int, int]:
    """Return the fewest edits, and the largest number of correct words with that many edits.

    >>> edits_and_hits((2, 3), (1, 2))
    (2, 1)
    >>> edits_and_hits((3, 4, 5), (1, 2, 3))
    (3, 0)
    """
    from rapidfuzz.distance import Levenshtein

    large = len(path) + 1  # cost of an edit; a wrong word of the path also loses a hit
    cost = Levenshtein.distance(path, labels, weights=(large, large + 1, large + 1)) - len(path)
    return split(cost, large)
