"""Recognised words beside the words that were said: which are right, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.text.words import same

Spans = Sequence[tuple[float, float]]
Ints = NDArray[Any]
TICK = 1000  # parts of a second in which times are compared, or fewer if they are very long
LARGEST = 2**61  # of all costs together


def recognised(
    words: Sequence[str], said: Sequence[str], times: tuple[Spans, Spans] | None = None
) -> tuple[int, ...]:
    """For every recognised word its position among those that were said, from 1, or 0.

    The fewest edits decide, then the most right words, then how long right words overlap in time
    (``times`` of both sides).

    >>> recognised("the in spring".split(), "in the spring in spring".split())
    (2, 4, 5)
    """
    costs = _Costs(len(words), len(said), times)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words, 1):
        places.setdefault(same(word), []).append(place)
    rows = [np.arange(len(words) + 1, dtype=np.int64) * costs.edit]
    for position, word in enumerate(said):
        rows.append(_row(rows[-1], np.array(places.get(same(word), []), np.int64), position, costs))
    return _trace(rows, words, said, costs)


class _Costs:
    """What edits cost, and what right words gain: whole numbers, each aim above the next."""

    def __init__(self, words: int, said: int, times: tuple[Spans, Spans] | None) -> None:
        self._times, self._tick = times, float(TICK)
        most = 0
        if times is not None:
            self._mine, self._theirs = (np.asarray(side, float).reshape(-1, 2) for side in times)
            spoken = float(np.maximum(self._mine[:, 1] - self._mine[:, 0], 0).sum())
            room = LARGEST // ((words + said + 2) * (min(words, said) + 1)) - words - 1
            self._tick = min(self._tick, room / spoken) if spoken else self._tick
            most = int(spoken * self._tick) + words
        self.right = most + 1
        self.edit = self.right * (min(words, said) + 1)

    def gain(self, places: Ints, position: int) -> Ints:
        """Of right words at these places."""
        if self._times is None:
            return np.full(len(places), self.right)
        starts, stops = self._mine[places - 1].T
        start, stop = self._theirs[position]
        overlap = np.minimum(stops, stop) - np.maximum(starts, start)
        ticks: Ints = np.rint(np.maximum(overlap, 0) * self._tick).astype(np.int64)
        return ticks + self.right


def _row(before: Ints, places: Ints, position: int, costs: _Costs) -> Ints:
    """Distances of all beginnings of the words to what was said up to a position."""
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
    rows: list[Ints], words: Sequence[str], said: Sequence[str], costs: _Costs
) -> tuple[int, ...]:
    """From the end back: right words first, then wrong ones, then what was not recognised."""
    labels = [0] * len(words)
    position, place = len(said), len(words)
    while position and place:
        here, before = int(rows[position][place]), rows[position - 1]
        if same(words[place - 1]) == same(said[position - 1]):
            gain = int(costs.gain(np.array([place]), position - 1)[0])
            if here == int(before[place - 1]) - gain:
                labels[place - 1] = position
                position, place = position - 1, place - 1
                continue
        if here == int(before[place - 1]) + costs.edit:
            position, place = position - 1, place - 1
        elif here == int(before[place]) + costs.edit:
            position -= 1
        else:
            place -= 1
    return tuple(labels)
