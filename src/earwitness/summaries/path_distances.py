"""Edit distances from a summary to all paths of a word network at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import exp, inf, log
from operator import sub
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Bools, Floats
from earwitness.summaries.network import (
    CELLS_AT_ONCE,
    START,
    Counts,
    ItemCases,
    Network,
    StepCosts,
    SummaryMatches,
    ceilings,
    first_before,
    log_table,
)

# --- Band of cells -------------------------------------------------------------------------------
# If words are compared by position, a cell k words away from the node's own index in the summary
# has cost k errors or will cost them, in addition to words that match no node and are errors
# anyway. If most words match nothing, the words of the path that match nothing give tighter bounds.
# If no word matches, the cells of a path lie between those of the shortest and the longest path to
# a node.


Places = NDArray[np.int64]


@dataclass(frozen=True)
class Band:
    """Cells at most ``reach`` matching words away from a node's own index.

    With ``edits``, cells that no path with at most this many edits can use are also left out.
    """

    reach: int
    edits: int | None = None

    @classmethod
    def of(cls, summary: SummaryMatches, edits: int) -> Band:
        """Return the band of all cells of paths with at most this many edits."""
        if not summary.by_position:
            return cls(summary.words)
        alone = summary.words - summary.matchable_counts.item(-1)
        return cls(edits - alone, edits if summary.has_few_matches else None)

    def cells(self, network: Network, summary: SummaryMatches) -> tuple[Places, Places]:
        """For every word of a network its first cell, and the one behind its last."""
        matchable = summary.matchable_counts
        node_counts = matchable[summary.places(network)]
        # a match comes from the cell before
        starts = matchable.searchsorted(node_counts - self.reach) - 1
        stops = matchable.searchsorted(node_counts + self.reach, "right")
        if self.edits is not None:
            before, after = _alone(network, summary.matches)
            unknown = summary.words - matchable.item(-1)
            starts = np.maximum(starts, before + unknown + node_counts - self.edits - 1)
            stops = np.minimum(stops, self.edits - after + node_counts + 1)
            if not summary.matches:
                starts = np.maximum(starts, np.minimum(before, summary.words) - 1)
                # as many words as possible are wrong; after a last word, all others are
                longest = [
                    summary.words if node in network.last_words else network.lengths[node]
                    for node in network.words
                ]
                stops = np.minimum(stops, np.array(longest) + 1)
        size = summary.words
        return np.clip(starts, 0, size), np.clip(stops, 1, size + 1)


def _alone(network: Network, matches: Mapping[int, object]) -> tuple[Places, Places]:
    """Return the fewest words that match nothing on paths up to each word, and after it."""
    before, after = {START: 0}, dict.fromkeys(network.before, len(network.before))
    for node in network.words:
        before[node] = min([before[a] for a in network.before[node]]) + (node not in matches)
    after[network.end] = 0
    for node in reversed(network.before):
        wrong = node != network.end and node not in matches
        for a in network.before[node]:
            after[a] = min(after[a], after[node] + wrong)
    first, second = ([fewest[node] for node in network.words] for fewest in (before, after))
    return np.array(first), np.array(second)


# --- Sections of nodes ---------------------------------------------------------------------------


Ints = NDArray[Any]
SECTION_NODES = 256


class NodeSection(NamedTuple):
    """Nodes with cells from ``start`` to ``stop``, and their predecessors in earlier sections."""

    nodes: list[int]
    led: list[int]
    start: int
    stop: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of cells; the first cell of a row is never reached."""
        return len(self.led) + len(self.nodes), self.stop - self.start + 1


def sections_of(network: Network, summary: SummaryMatches, band: Band) -> list[NodeSection]:
    """Return the sections with the cells of a band."""
    words, last = network.words, network.last
    starts, stops = band.cells(network, summary)
    firsts = range(0, len(words), SECTION_NODES)
    lows = np.minimum.reduceat(starts, firsts)
    lows = np.minimum.accumulate(lows[::-1])[::-1]
    highs = np.maximum.accumulate(np.maximum.reduceat(stops, firsts))
    sections, led = list[NodeSection](), [START]
    for first, low, high in zip(firsts, lows.tolist(), highs.tolist(), strict=True):
        nodes = words[first : first + SECTION_NODES]
        sections.append(NodeSection(nodes, led, low, max(high, low + 1)))
        led = [a for a in (*led, *nodes) if last[a] > nodes[-1]]
    return sections


# --- Rows of a section ---------------------------------------------------------------------------
# After a match, its value is carried to the right until a cell is not larger, mostly to the end of
# the row.


MAX_MATCHES_CARRIED_SINGLY = 6  # number of matches up to which they are carried one by one


class SectionRows:
    """Rows of one section; ``whole`` rows include the cell that is never reached."""

    def __init__(
        self,
        network: Network,
        summary: SummaryMatches,
        costs: StepCosts,
        section: NodeSection,
        block: Ints,
        whole: dict[int, Ints],
    ) -> None:
        self.network, self.summary, self.costs, self.section = network, summary, costs, section
        self.whole, self.tails = whole, dict(zip(whole, block[:, 1:], strict=True))
        width, kind = section.stop - section.start, block.dtype
        self.scratch, self.spare = np.empty(width + 1, kind), np.empty(width + 1, kind)
        self.missing = np.array(costs.wrong, kind)
        self.wrong = np.array(costs.wrong - costs.extra, kind)
        gains = costs.gains or {}
        self.gains = {count: np.array(gain, kind) for count, gain in gains.items()}
        self.masks = dict[int, Ints]()

    def least(self, most: int) -> int:
        """Return the smallest distance to the end from this section, or ``most``."""
        network, gains = self.network, self.costs.gains
        at = min(self.summary.words + 1, self.section.stop) - self.section.start - 1
        leading = [a for a in self.section.nodes if a in network.last_words]
        totals = [self.tails[a].item(at) for a in leading]
        if gains:
            arcs = (gains[network.counts[a, network.end]] for a in leading)
            totals = list(map(sub, totals, arcs))
        return min(totals, default=most)

    def fill(self) -> None:
        """Fill all rows, each from its predecessors."""
        before, matches, gained = self.network.before, self.summary.matches, self.costs.gains
        whole, tails = self.whole, self.tails
        scratch, other, missing, wrong = self.scratch, self.spare[1:], self.missing, self.wrong
        low, high, add, minimum = scratch[:-1], scratch[1:], np.add, np.minimum
        for node in self.section.nodes:
            first, *leading = before[node]
            head, tail = low, high
            if gained is not None:
                self._gain(node)
            elif leading:
                minimum(whole[first], whole[leading[0]], out=scratch)
                for a in leading[1:]:
                    minimum(scratch, whole[a], out=scratch)
            else:
                head, tail = whole[first][:-1], tails[first]
            row, places = tails[node], matches.get(node, ())
            add(tail, missing, row)
            single = len(places) <= MAX_MATCHES_CARRIED_SINGLY
            add(head, wrong if single else self._mask(places), other)
            minimum(row, other, out=row)
            if places:
                self._match(head, row, places)

    def _gain(self, node: int) -> None:
        """Compute the minimum of the preceding rows, with the gains of their arcs."""
        gains, counts, whole = self.gains, self.network.counts, self.whole
        scratch, spare = self.scratch, self.spare
        first, *leading = self.network.before[node]
        np.subtract(whole[first], gains[counts[first, node]], scratch)
        for a in leading:
            if (count := counts[a, node]) > 1:
                np.subtract(whole[a], gains[count], spare)
                np.minimum(scratch, spare, out=scratch)
            else:
                np.minimum(scratch, whole[a], out=scratch)

    def _match(self, head: Ints, row: Ints, places: Sequence[int]) -> None:
        """Apply matches, and carry them to the right as far as they improve cells."""
        if len(places) > MAX_MATCHES_CARRIED_SINGLY:
            np.minimum.accumulate(row, out=row)
            return
        start, stop, costs = self.section.start, self.section.stop, self.costs
        for place in places:
            if start < place < stop:
                at = place - start
                value = head.item(at) + costs.match - costs.extra
                if value < row.item(-1):
                    row[at:] = value
                elif value < row.item(at):
                    row[at : len(row) - row[::-1].searchsorted(value, "right")] = value

    def _mask(self, places: Sequence[int]) -> Ints:
        """Return the cost of a word of the path in every cell, if it matches in many."""
        if places[0] not in self.masks:
            steps = np.full(self.summary.words + 1, self.wrong)
            steps[places] = self.costs.match - self.costs.extra
            self.masks[places[0]] = steps[self.section.start : self.section.stop]
        return self.masks[places[0]]


# --- Distances to all paths ----------------------------------------------------------------------
# The distance of the first i words of the summary to the best path that ends in a node is one cell
# in the node's row. A row is the minimum of the preceding rows, shifted by a word or not, plus one
# error; a word that matches the node costs no error. Costs are whole numbers that rank several
# criteria.
#
# Rows hold distances minus the cost of i insertions, so that insertions cost nothing there and a
# row never increases.
#
# Nodes are processed in sections that share the cells of a band, with the few preceding rows that
# lead into the section.


LIMIT_IN_32_BITS = 2**30  # numbers below this, and sums of two, fit into 32 bits
LIMIT_IN_64_BITS = 2**62  # numbers below this, and sums of two, fit into 64 bits


class CellBlock(NamedTuple):
    """Rows of nodes with the same cells, from index ``start`` on, and of their predecessors.

    ``cells[at[node] + place]`` is a distance minus the cost of insertions up to there. The cell
    before ``start`` is larger than any distance.
    """

    nodes: Sequence[int]
    start: int
    stop: int
    cells: memoryview
    at: dict[int, int]

    @classmethod
    def of(cls, nodes: Sequence[int], led: Sequence[int], start: int, rows: Ints) -> CellBlock:
        """Return a block with the rows of predecessors, then of the nodes."""
        number, size = rows.shape
        at = dict(
            zip((*led, *nodes), range(1 - start, number * size + 1 - start, size), strict=True)
        )
        return cls(nodes, start, start + size - 1, rows.reshape(-1).data, at)


@dataclass(frozen=True)
class PathDistances:
    """Distances of a summary to all paths: blocks with one row per node of a network."""

    network: Network
    summary: SummaryMatches
    costs: StepCosts
    least: int  # distance of the whole summary to the closest path
    blocks: list[CellBlock]

    @cached_property
    def block(self) -> dict[int, CellBlock]:
        """Block of every node."""
        return {node: block for block in self.blocks for node in block.nodes}

    def at(self, node: int, place: int) -> float:
        """Return the distance of the words up to an index to the best path that ends in a node."""
        _, start, stop, cells, at = self.block[node]
        inside = start <= place < stop
        return cells[at[node] + place] + place * self.costs.extra if inside else inf


def distances(
    network: Network, summary: SummaryMatches, costs: StepCosts, band: Band
) -> PathDistances:
    """Return all distances; exact for paths in cells of the band, and never too small."""
    small = costs.most * (summary.words + len(network.before) + 2) < LIMIT_IN_32_BITS
    kind, never = (np.int32, LIMIT_IN_32_BITS) if small else (np.int64, LIMIT_IN_64_BITS)
    first: Ints = np.zeros((1, summary.words + 2), kind)
    first[0, 0] = never
    cell_blocks, views, start = [CellBlock.of([START], [], 0, first)], {START: first[0]}, 0
    least = LIMIT_IN_64_BITS
    sections = sections_of(network, summary, band)
    sizes = [rows * cells for rows, cells in (section.shape for section in sections)]
    parts = np.split(np.empty(sum(sizes), kind), np.cumsum(sizes)[:-1])
    for section, part in zip(sections, parts, strict=True):
        block = part.reshape(section.shape)
        block[:, 0] = never
        earlier, views = views, dict(zip((*section.led, *section.nodes), block, strict=True))
        for a in section.led:
            _move(earlier[a][1:], section.start - start, views[a][1:])
        rows = SectionRows(network, summary, costs, section, block, views)
        rows.fill()
        start, least = section.start, min(least, rows.least(LIMIT_IN_64_BITS))
        cell_blocks.append(CellBlock.of(section.nodes, section.led, start, block))
    return PathDistances(network, summary, costs, least + summary.words * costs.extra, cell_blocks)


def _move(row: Ints, by: int, into: Ints) -> None:
    """Copy a row of an earlier section to a later one; its missing cells are insertions."""
    kept = row[by : by + len(into)]
    into[: len(kept)] = kept
    into[len(kept) :] = row[-1]


# --- Closest paths of many small networks --------------------------------------------------------
# All cases are computed at once, along the last axis of arrays. A cell is the cost from a node to
# the end for the number of words of the summary that are left, minus as many insertions. One number
# ranks the criteria: edits, then words of the path, then the sum of log counts in fixed point. The
# path is then found from the start: a node is taken if its cost does not exceed the lowest one.


UNREACHED_COST = 2**61  # cost of a cell that is not reached; sums of three fit into 64 bits
LIMIT_OF_SMALL = 2**60  # numbers below this are costs of paths
SUM_TOLERANCE = 1e-9  # sums of log counts this close are equal


def small_batches(items: Iterable[ItemCases]) -> Iterator[list[ItemCases]]:
    """Yield items of similar size, with so many cases that their cells fit into a cache."""
    batch, cases, longest = list[ItemCases](), 0, 0
    for item in sorted(items, key=lambda item: item.words):
        own, number = int(item.lengths.max()), len(item.rows)
        cases, longest = cases + number, max(longest, own)
        if batch and cases * (item.words + 2) * (longest + 1) > CELLS_AT_ONCE:
            yield batch
            batch, cases, longest = [], number, own
        batch.append(item)
    if batch:
        yield batch


class PathStatistics(NamedTuple):
    """Numbers of the closest path of every case, as ``SummarizationAccuracy`` needs them.

    Edits and words of the path, its weight and the ceiling, the sum of the logarithms of shares,
    the number of arcs, the number of those that nobody took, and whether all of this is certain
    (see ``SmallClosestPaths``).
    """

    edits: Ints
    words: Ints
    weights: Floats
    ceilings: Floats
    log_shares: Floats
    arcs: Ints
    empty_arcs: Ints
    certain: Bools

    def rows(self, some: Bools) -> Floats:
        """Return rows of statistics; ``some`` says whether the outputs have words."""
        accuracy = (self.words - self.edits) / self.words
        weighted, best = np.where(some, self.weights * accuracy, 0.0), self.ceilings
        normal = np.divide(weighted, best, out=np.full(weighted.shape, np.nan), where=best != 0)
        row = [self.words - self.edits, self.words, accuracy, np.ones(accuracy.shape)]
        for value in (weighted, best, normal):
            row += [np.where(np.isnan(value), 0.0, value), ~np.isnan(value)]
        row += [self.log_shares, self.arcs, self.empty_arcs]
        row += [np.where(np.isnan(normal), 0.0, value) for value in (weighted, best)]
        return np.stack([column.astype(np.float64) for column in row], axis=-1)


def measure_small(
    items: Sequence[ItemCases], *, boundary: bool, with_ceilings: bool = True
) -> PathStatistics:
    """Return the statistics of the closest paths of all cases, in the order of the items.

    Without ``with_ceilings``, ceilings are NaN.
    """
    end = max(item.words for item in items) + 1
    counts = np.concatenate([item.counts(end) for item in items], axis=2)
    people = np.concatenate([item.chosen.sum(axis=1) for item in items]).astype(np.int64)
    labels, words = _labels(items)
    closest = closest_of_small(counts, labels, words)
    columns, before = np.arange(len(words)), closest.before
    logs, shares = log_table(int(counts.max())), _share_table(people, int(counts.max()))
    totals, log_shares = np.zeros(len(words)), np.zeros(len(words))
    arcs = np.zeros(len(words), np.int64)
    for node in range(1, end + 1) if boundary else range(1, end):
        used = before[node] >= (START if boundary else START + 1)
        number = counts[node, before[node], columns]
        totals += np.where(used, logs[number], 0.0)
        log_shares += np.where(used, shares[people, number], 0.0)
        arcs += used
    means = np.divide(totals, arcs, out=np.full(len(words), np.nan), where=arcs > 0)
    weights = [exp(mean - log(n)) for mean, n in zip(means.tolist(), people.tolist(), strict=True)]
    best = np.full(len(words), np.nan)
    if with_ceilings:
        distinct, which = _distinct_networks(items)
        networks = counts[:, :, distinct]
        best = ceilings(networks, people[distinct], means[distinct], boundary=boundary)[which]
    lengths = (before[1:end] >= 0).sum(axis=0)
    return PathStatistics(
        closest.edits,
        lengths,
        np.array(weights),
        best,
        log_shares,
        arcs,
        np.zeros(len(words), np.int64),
        closest.certain,
    )


def _labels(items: Sequence[ItemCases]) -> tuple[Ints, Ints]:
    """Return the nodes of the words of all outputs, counted from the last word, and lengths."""
    words = np.concatenate([item.lengths for item in items])
    flat = [np.array(list(chain.from_iterable(item.outputs)), np.int64) for item in items]
    nodes = [item.nodes[positions] for item, positions in zip(items, flat, strict=True)]
    columns = np.repeat(np.arange(len(words)), words)
    places = np.repeat(np.cumsum(words), words) - 1 - np.arange(len(columns))
    labels = np.full((int(words.max(initial=0)), len(words)), -1)
    labels[places, columns] = np.where(np.concatenate(flat) > 0, np.concatenate(nodes), -1)
    return labels, words


def _share_table(people: Ints, most: int) -> Floats:
    """Return the logarithms of counts divided by numbers of people, by both."""
    table = np.zeros((int(people.max()) + 1, most + 1))
    for number in np.unique(people).tolist():
        table[number, 1:] = [log(count / number) for count in range(1, most + 1)]
    return table


def _distinct_networks(items: Sequence[ItemCases]) -> tuple[list[int], list[int]]:
    """Return the first case of every network, and the index of the network of every case."""
    distinct, which = list[int](), list[int]()
    for item in items:
        known = dict[bytes, int]()
        for chosen in item.chosen:
            key = chosen.tobytes()
            if key not in known:
                known[key] = len(distinct)
                distinct.append(len(which))
            which.append(known[key])
    return distinct, which


class SmallClosestPaths(NamedTuple):
    """Closest paths of many networks.

    ``edits`` has one number per case, and ``before`` the predecessor of every node on the path, or
    -1. The cases that are not ``certain`` have sums of log counts so close to the tolerance that
    their path must be computed with more digits.
    """

    edits: Ints
    before: Ints
    certain: Bools


def closest_of_small(counts: Counts, labels: Ints, words: Ints) -> SmallClosestPaths:
    """Return the closest paths of many small networks by fewest edits, as ``closest`` does.

    Parameters
    ----------
    counts
        Number of people on the arcs of every network, from the second to the first axis.
    labels
        Nodes of the words of the summaries, counted from the last word; -1 matches nothing.
    words
        Number of words of the summaries.
    """
    end, most, places = len(counts) - 1, int(counts.max()), len(labels) + 1
    highest = max(log_table(most)[-1], 1e-3)
    room = LIMIT_OF_SMALL // ((places + end + 2) * end)  # for the sums of log counts of a path
    unit = (room - end - 4) / (end * highest + SUM_TOLERANCE)
    tolerance, rounding = int(SUM_TOLERANCE * unit), end + 1
    gains = np.rint(log_table(most)[1:] * unit).astype(np.int64)
    word = end * int(gains[-1]) + tolerance + 2  # gain of a word of the path; an edit costs more
    costs = StepCosts(-word, (end - 1) * word, end * word)
    table, first = np.append(UNREACHED_COST, -gains), first_before(counts)
    cells = _cells_to_the_end(counts, labels, table, first, costs)
    columns = np.arange(len(words))
    least = cells[START, words, columns]
    before, doubtful = np.full((end + 1, len(words)), -1), np.zeros(len(words), np.bool_)
    now, passed = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    row = np.where(np.arange(places)[:, None] <= words, 0, UNREACHED_COST)
    for node in range(1, end):
        arc = table[counts[node, now, columns]]
        if not (arc < UNREACHED_COST).any():
            continue
        stepped = _step(row[::-1], labels[::-1] == node, costs)[::-1]
        above = (stepped + cells[node]).min(axis=0) + passed + arc - least - tolerance
        taken = above <= 0
        doubtful |= np.abs(above) <= rounding
        stepped = np.minimum.accumulate(stepped[::-1], axis=0)[::-1]
        row = np.where(taken, stepped, row)
        before[node] = np.where(taken, now, -1)
        passed, now = passed + np.where(taken, arc, 0), np.where(taken, node, now)
    before[end] = now
    words_and_edits = (-least - words * costs.extra) // word  # words minus edits times ``end``
    edits = -(words_and_edits // end)
    return SmallClosestPaths(edits, before, ~doubtful & (tolerance > 2 * rounding))


def _cells_to_the_end(
    counts: Counts, labels: Ints, table: Ints, first: Sequence[int], costs: StepCosts
) -> Ints:
    """Return the cells of all nodes but the end."""
    end = len(counts) - 1
    cells = np.repeat(table[counts[end, :end]][:, None], len(labels) + 1, axis=1)
    for node in range(end - 1, START, -1):
        row, leading = cells[node], slice(first[node], node)
        np.minimum.accumulate(row, axis=0, out=row)
        stepped = _step(row, labels == node, costs)
        ways = stepped + table[counts[node, leading]][:, None]
        np.minimum(cells[leading], ways, out=cells[leading])
    np.minimum.accumulate(cells[START], axis=0, out=cells[START])
    return cells


def _step(row: Ints, right: Bools, costs: StepCosts) -> Ints:
    """Return the costs with a word of the path, which is missing or takes a word of the summary."""
    stepped = row + costs.wrong
    taken = row[:-1] + np.where(right, costs.match - costs.extra, costs.wrong - costs.extra)
    np.minimum(stepped[1:], taken, out=stepped[1:])
    return stepped
