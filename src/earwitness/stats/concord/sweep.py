"""Pairs of very many things, counted without laying them out: n log n steps a draw and metric.

Things are gone through in the order of the metric. Each is *entered* at its place and *asks*, at
the place before which all others are lower by more than the margin, how much has been entered that
people put below it. Both kinds of events have a rank by people, a question before what it ties
with. Events are split by the upper and the lower half of ranks, again and again: what is entered
in the lower half ahead of a question in the upper half counts. All halves of a split are of one
length, so a split is one step for all of them, and for all metrics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

SHORT = 8  # events in a part that is no longer split


def counted(metrics: Floats, people: Floats, weights: Floats, margins: Floats) -> Floats:
    """The five kinds of pairs of one group × draws × metrics; see ``pairs``."""
    orders, bounds = _orders(metrics, margins)
    events = _events(orders, bounds)
    found = np.zeros((5, len(weights), len(metrics)))
    for draw, weigh in enumerate(weights):
        levels = np.unique(people[draw % len(people)], return_inverse=True)[1]
        apart = _apart(weigh, orders, bounds)
        found[:, draw] = _kinds(weigh, levels, events, apart)
    return found


def _kinds(weigh: Floats, levels: Codes, events: Codes, apart: Floats) -> Floats:
    """Counts of one draw, from the weight of pairs that each metric tells apart."""
    whole = _among(weigh)
    level = (np.bincount(levels, weigh) ** 2).sum() / 2 - (weigh**2).sum() / 2
    concordant = _below(weigh, levels, events, ties=False)
    tied_people = np.full(len(events), level)
    ties = apart < whole
    if level and ties.any():
        tied_people[ties] = _below(weigh, levels, events[ties], ties=True) - concordant[ties]
    both = level - tied_people
    discordant = apart - concordant - tied_people
    return np.stack([concordant, discordant, whole - apart - both, tied_people, both])


def _among(weigh: Floats) -> float:
    """The weight of all pairs."""
    return float((weigh.sum() ** 2 - (weigh**2).sum()) / 2)


def _orders(metrics: Floats, margins: Floats) -> tuple[Codes, Codes]:
    """Things by rising metric, and for each how many are lower by more than the margin."""
    orders = np.argsort(metrics, axis=1, kind="stable")
    rising = np.take_along_axis(metrics, orders, axis=1)
    found = [_bounds(row, margin) for row, margin in zip(rising, margins, strict=True)]
    return orders, np.array(found, np.int64).reshape(orders.shape)


def _bounds(rising: Floats, margin: float) -> Codes:
    """Differences decide, not sums: the guess is moved where rounding makes them disagree."""
    bounds = np.searchsorted(rising, rising - margin).astype(np.int64)
    while (more := rising - rising[np.minimum(bounds, len(rising) - 1)] > margin).any():
        bounds += more
    while (less := (bounds > 0) & ~(rising - rising[bounds - 1] > margin)).any():
        bounds -= less
    return bounds


def _events(orders: Codes, bounds: Codes) -> Codes:
    """Things as they are entered (their number, plus that of all) and as they ask, in turn."""
    things = orders.shape[1]
    places = np.concatenate([2 * bounds, np.arange(1, 2 * things, 2) + 0 * orders], axis=1)
    names = np.concatenate([orders, orders + things], axis=1)
    return np.take_along_axis(names, np.argsort(places, axis=1, kind="stable"), axis=1)


def _apart(weigh: Floats, orders: Codes, bounds: Codes) -> Floats:
    """The weight of pairs that each metric tells apart."""
    sorted_weights = weigh[orders]
    before = np.zeros((len(orders), orders.shape[1] + 1))
    np.cumsum(sorted_weights, axis=1, out=before[:, 1:])
    lower = np.take_along_axis(before, bounds, axis=1)
    return np.asarray((sorted_weights * lower).sum(axis=1))


def _below(weigh: Floats, levels: Codes, events: Codes, *, ties: bool) -> Floats:
    """The weight of pairs in which the lower in the metric is lower by people too, or tied."""
    things = len(weigh)
    kept = np.flatnonzero(np.tile(weigh > 0, 2))
    entered = kept >= things
    keys = 2 * np.tile(levels, 2)[kept] + (entered ^ ties)
    length = _length(len(kept))
    ranks = np.zeros(2 * things, np.int64)
    ranks[kept[np.argsort(keys, kind="stable")]] = np.arange(len(kept))
    signed = np.concatenate([-weigh, weigh])
    turns = events[(signed != 0)[events]].reshape(len(events), len(kept))
    rank = np.empty((len(events), length), np.uint16 if length < 2**16 else np.int64)
    rank[:, : len(kept)], rank[:, len(kept) :] = ranks[turns], np.arange(len(kept), length)
    value = np.zeros((len(events), length))
    value[:, : len(kept)] = signed[turns]
    return _split(rank[:, None], value[:, None])


def _length(events: int) -> int:
    """The next number that can be halved until parts are short."""
    step = 1
    while events > SHORT * step:
        step *= 2
    return -(-events // step) * step


def _split(rank: Codes, value: Floats) -> Floats:
    """Halve the parts (metrics × parts × events), counting between halves, until they are short."""
    rows, found = len(rank), np.zeros(len(rank))
    while (size := rank.shape[2]) > SHORT:
        upper = rank >= size // 2
        lower = ~upper
        ahead = np.cumsum(np.maximum(value * lower, 0), axis=2)
        asking = value[upper]
        found -= (np.minimum(asking, 0) * ahead[upper]).reshape(rows, -1).sum(axis=1)
        rank = _halves(rank[lower], rank[upper] - rank.dtype.type(size // 2), size, rows)
        value = _halves(value[lower], asking, size, rows)
    return found + _short(rank, value)


def _halves(lower: Any, upper: Any, size: int, rows: int) -> Any:
    """The halves of every part, one after the other."""
    parts = [half.reshape(rows, -1, 1, size // 2) for half in (lower, upper)]
    return np.concatenate(parts, axis=2).reshape(rows, -1, size // 2)


def _short(rank: Codes, value: Floats) -> Floats:
    """Between all events of each short part."""
    found = np.zeros(len(rank))
    for second in range(1, rank.shape[2]):
        asking = np.minimum(value[:, :, second], 0)
        for first in range(second):
            entered = np.maximum(value[:, :, first], 0)
            below: Bools = rank[:, :, first] < rank[:, :, second]
            found -= (entered * asking * below).sum(axis=1)
    return found
