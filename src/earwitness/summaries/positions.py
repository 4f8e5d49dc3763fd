"""Positions of the words of a summary or of a recognizer in the transcript."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np

from earwitness.core import group_values
from earwitness.stats.arrays import Ints
from earwitness.text.words import normalise_word

# --- Positions of extracted words ----------------------------------------------------------------
# Placing every word as early as possible, and then as late as possible, shows whether a solution
# exists and the range of positions of each word. Words whose range is one position are settled;
# only the stretches between them are searched, backwards row by row, with few rows in memory.


MAX_WAYS = 10**9  # largest number of ways that is counted
CELLS_IN_MEMORY = 500_000  # cells of a search kept in memory; of larger searches only some rows


class Extraction(NamedTuple):
    """Positions of the words of a summary, from 1, and the number of equally good ways."""

    positions: tuple[int, ...]
    ways: int


class NoExtraction(NamedTuple):
    """Index of the first word of a summary, from 0, that cannot be located."""

    place: int


def extraction(summary: Sequence[str], transcript: Sequence[str]) -> Extraction | NoExtraction:
    """Return the positions with most neighbouring words, and of these the earliest.

    Words are compared without case and surrounding punctuation.

    >>> said = "the beautiful cherry blossoms in Japan bloom in spring".split()
    >>> extraction("blossoms bloom in spring".split(), said)
    Extraction(positions=(4, 7, 8, 9), ways=1)
    >>> extraction("blossoms in".split(), "in blossoms".split())
    NoExtraction(place=1)
    """
    where = group_values(
        (normalise_word(word), position) for position, word in enumerate(transcript, 1)
    )
    words = [normalise_word(word) for word in summary]
    places = [where.get(word, []) for word in words]
    first = _earliest(places)
    if len(first) < len(words):
        return NoExtraction(len(first))
    last = _latest(places)

    @cache
    def array(word: str) -> Ints:
        return np.array(where[word], np.int64)

    path, ways = first.copy(), 1
    for start, end in _open(first, last):
        rows = [
            array(words[i])[bisect_left(places[i], first[i]) : bisect_right(places[i], last[i])]
            for i in range(start, end)
        ]
        path[start:end], number = _search(rows)
        ways = min(MAX_WAYS, ways * number)
    return Extraction(tuple(path), ways)


def _earliest(places: Sequence[Sequence[int]]) -> list[int]:
    """Return the earliest position of every word, up to the first that cannot be located."""
    earliest, now = list[int](), 0
    for word_places in places:
        index = bisect_right(word_places, now)
        if index == len(word_places):
            break
        now = word_places[index]
        earliest.append(now)
    return earliest


def _latest(places: Sequence[Sequence[int]]) -> list[int]:
    """Return the latest position of every word; a solution must exist."""
    latest = list[int]()
    for word_places in reversed(places):
        index = bisect_left(word_places, latest[-1]) if latest else len(word_places)
        latest.append(word_places[index - 1])
    return latest[::-1]


def _open(first: Sequence[int], last: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of words that are not settled, each with its settled neighbours."""
    pairs = enumerate(zip(first, last, strict=True))
    settled = [place for place, (low, high) in pairs if low == high]
    for before, behind in pairwise([-1, *settled, len(first)]):
        if behind - before > 1:
            yield max(before, 0), min(behind + 1, len(first))


class _Row(NamedTuple):
    """Largest number of neighbours from every position of a word on, and the number of ways."""

    most: Ints
    ways: Ints


def _search(places: Sequence[Ints]) -> tuple[list[int], int]:
    """Return the best and earliest positions of a stretch, and the number of equally good ones."""
    path, target, ways = list[int](), 0, 1
    for word_places, row in zip(places, _rows(places), strict=True):
        if not path:
            target = int(row.most.max())
            ways = min(MAX_WAYS, int(row.ways[row.most == target].sum()))
            chosen = int(np.argmax(row.most == target))
        else:
            chosen = int(np.searchsorted(word_places, path[-1] + 1))
            beside = word_places[chosen] == path[-1] + 1 and row.most[chosen] + 1 == target
            if not beside:
                chosen += int(np.argmax(row.most[chosen:] == target))
        path.append(int(word_places[chosen]))
        target = int(row.most[chosen])
    return path, ways


def _rows(places: Sequence[Ints]) -> Iterator[_Row]:
    """Yield rows from the first word on; they are computed backwards, most of them twice."""
    cells = sum(map(len, places))
    stride = 1 if cells <= CELLS_IN_MEMORY else isqrt(len(places)) + 1
    end = len(places) - 1
    kept = dict[int, _Row]()
    for place, row in _backwards(places, 0, end, None):
        if place % stride == 0 or place == end:
            kept[place] = row
    for start in range(0, len(places), stride):
        stop = min(start + stride, end)
        again = list(_backwards(places, start + 1, stop - 1, kept[stop])) if stop > start else []
        yield kept.pop(start)
        yield from (row for _, row in reversed(again))
    if end % stride:
        yield kept[end]


def _backwards(
    places: Sequence[Ints], start: int, end: int, row: _Row | None
) -> Iterator[tuple[int, _Row]]:
    """Yield rows from the end to the start, given the row after the end."""
    for place in range(end, start - 1, -1):
        size = len(places[place])
        if row is None:
            row = _Row(np.zeros(size, np.int64), np.ones(size, np.int64))
        else:
            row = _before(places[place], places[place + 1], row)
        yield place, row


def _before(word_places: Ints, after: Ints, row: _Row) -> _Row:
    """Return the row of a word from that of the next; every position has a later one there."""
    best = np.maximum.accumulate(row.most[::-1])[::-1]  # from this position on
    sums = np.append(np.where(row.most == best, row.ways, 0)[::-1].cumsum()[::-1], 0)
    ends = len(best) - np.searchsorted(best[::-1], best)  # where the best value decreases
    number = sums[:-1] - sums[ends]
    onward = np.searchsorted(after, word_places + 1)
    most, ways = best[onward], number[onward]
    gained = np.where(after[onward] == word_places + 1, row.most[onward] + 1, -1)
    beside = row.ways[onward]
    ways = np.where(gained > most, beside, ways + np.where(gained == most, beside, 0))
    return _Row(np.maximum(most, gained), np.minimum(ways, MAX_WAYS))


# --- Positions of recognized words ---------------------------------------------------------------
# An alignment is determined by its correct words: between two of them, the longer side has as many
# words as edits are needed. For every pair of equal words, the cost of the best alignment that ends
# with this pair is computed from the start, and of the best that begins with it from the end. Their
# sum shows whether a best alignment has the pair; if there are more such pairs than correct words,
# several alignments are equally good.


Spans = Sequence[tuple[float, float]]
# units per second in which times are compared, fewer if times are very long
TICKS_PER_SECOND = 1000
MAX_TOTAL_COST = 2**61  # largest sum of all costs


class Recognition(NamedTuple):
    """Positions of recognized words, from 1, or 0; and whether others are equally good."""

    positions: tuple[int, ...]
    ambiguous: bool


def recognised(
    words: Sequence[str], said: Sequence[str], times: tuple[Spans, Spans] | None = None
) -> Recognition:
    """Return the position of every recognized word in the transcript, from 1, or 0.

    Of all alignments, the one with the fewest edits is used, then with most correct words, then
    with the longest overlap of correct words in time (``times`` of both sides), then with most
    correct words that are neighbours on both sides, then the earliest.

    >>> said = "the beautiful cherry blossoms in Japan bloom in spring".split()
    >>> recognised("cherry blossoms in".split(), said)
    Recognition(positions=(3, 4, 5), ambiguous=False)
    >>> recognised("in".split(), said)
    Recognition(positions=(5,), ambiguous=True)
    """
    mine, theirs = ([normalise_word(word) for word in side] for side in (words, said))
    where = group_values((word, place) for place, word in enumerate(mine, 1))
    array = {word: np.array(where.get(word, ()), np.int64) for word in theirs}
    places = [array[word] for word in theirs]
    costs = _Costs(len(words), len(said), times)
    gains = [costs.gain(row, position) for position, row in enumerate(places)]
    size, positions = len(words), [0] * len(words)
    upto, least = _pair_costs(places, gains, size, costs.edit)
    backwards = [size + 1 - row[::-1] for row in reversed(places)]
    onward, _ = _pair_costs(backwards, [row[::-1] for row in reversed(gains)], size, costs.edit)
    best = [row + other[::-1] for row, other in zip(upto, reversed(onward), strict=True)]
    best = [np.flatnonzero(row + gain == least) for row, gain in zip(best, gains, strict=True)]
    place, position, cost = 0, 0, 0
    for number, index in enumerate(best, 1):  # the earliest position that continues a best way
        row, value = places[number - 1][index], upto[number - 1][index]
        apart = np.maximum(row - place, number - position) - 1
        beside = (apart == 0) & (row - place == number - position) & (place > 0)
        reached = cost + apart * costs.edit - gains[number - 1][index] - beside
        continuing = np.flatnonzero((row > place) & (reached == value))
        if len(continuing):
            chosen = continuing[0]
            place, position, cost = int(row[chosen]), number, int(value[chosen])
            positions[place - 1] = number
    return Recognition(tuple(positions), sum(map(len, best)) > sum(map(bool, positions)))


def word_accuracy(positions: Sequence[int], said: int) -> float:
    """Return the word accuracy of recognized words: 1 − edits per word of the transcript.

    ``positions`` are those of ``recognised``, ``said`` is the number of words of the transcript.

    >>> word_accuracy([1, 0, 3], 4)
    0.5
    """
    edits, place, last = 0, 0, 0
    for index, position in enumerate([*positions, said + 1], 1):
        if position:
            edits += max(index - place, position - last) - 1
            place, last = index, position
    return 1 - edits / said


class _Costs:
    """Costs of edits and gains of correct words, as whole numbers that rank the criteria.

    Neighbours gain 1, a unit of time more than all neighbours, a correct word more than all time.
    """

    def __init__(self, words: int, said: int, times: tuple[Spans, Spans] | None) -> None:
        self._times, self._tick = times, float(TICKS_PER_SECOND)
        self._unit, most = min(words, said) + 1, 0
        if times is not None:
            self._mine, self._theirs = (np.asarray(side, float).reshape(-1, 2) for side in times)
            spoken = float(np.maximum(self._mine[:, 1] - self._mine[:, 0], 0).sum())
            room = MAX_TOTAL_COST // ((words + said + 2) * self._unit**2) - words - 1
            self._tick = min(self._tick, room / spoken) if spoken else self._tick
            most = int(spoken * self._tick) + words
        self.right = (most + 1) * self._unit
        self.edit = self.right * self._unit

    def gain(self, places: Ints, position: int) -> Ints:
        """Return the gains of correct words at these indices."""
        if self._times is None:
            return np.full(len(places), self.right)
        starts, stops = self._mine[places - 1].T
        start, stop = self._theirs[position]
        overlap = np.minimum(stops, stop) - np.maximum(starts, start)
        ticks: Ints = np.rint(np.maximum(overlap, 0) * self._tick).astype(np.int64)
        return ticks * self._unit + self.right


def _pair_costs(
    places: Sequence[Ints], gains: Sequence[Ints], size: int, edit: int
) -> tuple[list[Ints], int]:
    """Return the lowest cost of alignments up to every pair of equal words, and of all words.

    ``places`` has the indices, from 1, of the words that equal each word of the transcript.
    """
    ramp = np.arange(size + 1, dtype=np.int64) * edit
    row, never = ramp, np.full(size + 1, MAX_TOTAL_COST, np.int64)
    paired, pair_costs = never, list[Ints]()
    for here, gain in zip(places, gains, strict=True):
        costs = np.minimum(row[here - 1], paired[here - 1] - 1) - gain
        row = np.minimum(row, np.append(MAX_TOTAL_COST, row[:-1])) + edit
        paired = never
        if len(here):
            paired = never.copy()
            paired[here] = costs
            row = np.minimum.accumulate(np.minimum(row, paired) - ramp) + ramp
        pair_costs.append(costs)
    return pair_costs, int(row[-1])
