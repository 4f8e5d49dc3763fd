"""Positions of the words of a summary or of a recognizer in the transcript."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.text.words import normalise_word

# --- Positions of extracted words ----------------------------------------------------------------
# Placing every word as early as possible, and then as late as possible, shows whether a solution
# exists and the range of positions of each word. Words whose range is one position are settled;
# only the stretches between them are searched, backwards row by row, with few rows in memory.


MAX_WAYS = 10**9  # largest number of ways that is counted
CELLS_IN_MEMORY = 500_000  # cells of a search kept in memory; of larger searches only some rows
Ints = NDArray[np.int64]


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
    where: dict[str, list[int]] = {}
    for position, word in enumerate(transcript, 1):
        where.setdefault(normalise_word(word), []).append(position)
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
    settled = [
        place for place, pair in enumerate(zip(first, last, strict=True)) if pair[0] == pair[1]
    ]
    edges = [-1, *settled, len(first)]
    for before, behind in pairwise(edges):
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
        word_places = places[place]
        if row is None:
            row = _Row(np.zeros(len(word_places), np.int64), np.ones(len(word_places), np.int64))
        else:
            row = _before(word_places, places[place + 1], row)
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


Spans = Sequence[tuple[float, float]]
AnyInts = NDArray[Any]
# units per second in which times are compared, fewer if times are very long
TICKS_PER_SECOND = 1000
MAX_TOTAL_COST = 2**61  # largest sum of all costs


def recognised(
    words: Sequence[str], said: Sequence[str], times: tuple[Spans, Spans] | None = None
) -> tuple[int, ...]:
    """Return the position of every recognized word in the transcript, from 1, or 0.

    Of all alignments, the one with the fewest edits is used, then with most correct words, then
    with the longest overlap of correct words in time (``times`` of both sides).

    >>> recognised("the in spring".split(), "in the spring in spring".split())
    (2, 4, 5)
    """
    costs = _Costs(len(words), len(said), times)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words, 1):
        places.setdefault(normalise_word(word), []).append(place)
    rows = [np.arange(len(words) + 1, dtype=np.int64) * costs.edit]
    for position, word in enumerate(said):
        rows.append(
            _row(
                rows[-1], np.array(places.get(normalise_word(word), []), np.int64), position, costs
            )
        )
    return _trace(rows, words, said, costs)


class _Costs:
    """Costs of edits and gains of correct words, as whole numbers that rank the criteria."""

    def __init__(self, words: int, said: int, times: tuple[Spans, Spans] | None) -> None:
        self._times, self._tick = times, float(TICKS_PER_SECOND)
        most = 0
        if times is not None:
            self._mine, self._theirs = (np.asarray(side, float).reshape(-1, 2) for side in times)
            spoken = float(np.maximum(self._mine[:, 1] - self._mine[:, 0], 0).sum())
            room = MAX_TOTAL_COST // ((words + said + 2) * (min(words, said) + 1)) - words - 1
            self._tick = min(self._tick, room / spoken) if spoken else self._tick
            most = int(spoken * self._tick) + words
        self.right = most + 1
        self.edit = self.right * (min(words, said) + 1)

    def gain(self, places: AnyInts, position: int) -> AnyInts:
        """Return the gains of correct words at these indices."""
        if self._times is None:
            return np.full(len(places), self.right)
        starts, stops = self._mine[places - 1].T
        start, stop = self._theirs[position]
        overlap = np.minimum(stops, stop) - np.maximum(starts, start)
        ticks: AnyInts = np.rint(np.maximum(overlap, 0) * self._tick).astype(np.int64)
        return ticks + self.right


def _row(before: AnyInts, places: AnyInts, position: int, costs: _Costs) -> AnyInts:
    """Return the distances of all prefixes of the words to the transcript up to a position."""
    row = before.copy()
    row[1:] = np.minimum(before[1:], before[:-1])
    row += costs.edit
    if len(places):
        gains = costs.gain(places, position)
        row[places] = np.minimum(row[places], before[places - 1] - gains)
        ramp = np.arange(len(row)) * costs.edit
        row = np.minimum.accumulate(row - ramp) + ramp
    return row


def _trace(
    rows: list[AnyInts], words: Sequence[str], said: Sequence[str], costs: _Costs
) -> tuple[int, ...]:
    """Trace back from the end: correct words first, then substitutions, then deletions."""
    labels = [0] * len(words)
    position, place = len(said), len(words)
    while position and place:
        cost, before = int(rows[position][place]), rows[position - 1]
        if normalise_word(words[place - 1]) == normalise_word(said[position - 1]):
            gain = int(costs.gain(np.array([place]), position - 1)[0])
            if cost == int(before[place - 1]) - gain:
                labels[place - 1] = position
                position, place = position - 1, place - 1
                continue
        if cost == int(before[place - 1]) + costs.edit:
            position, place = position - 1, place - 1
        elif cost == int(before[place]) + costs.edit:
            position -= 1
        else:
            place -= 1
    return tuple(labels)
