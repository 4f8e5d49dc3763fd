"""Pairs of very many things, counted without laying them out; see ``ahead``.

Without a margin, things are put into the order of the metric, and ranked by people; ties are put
the other way round, so that none of them counts as concordant. With a margin, ties are no longer
transitive: each thing then stands twice in the sequence, where it is *entered* and where it *asks*,
the place before which all others are lower by more than the margin.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.concord.ahead import ahead
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Codes


def counted(metrics: Floats, people: Floats, weights: Floats, margins: Floats) -> Floats:
    """The five kinds of pairs of one group × draws × metrics; see ``pairs``."""
    found = np.zeros((5, len(weights), len(metrics)))
    plain = margins == 0
    codes = _coded(metrics[plain])
    orders, bounds = _orders(metrics[~plain], margins[~plain])
    for draw, weigh in enumerate(weights):
        kept = np.flatnonzero(weigh)
        levels = np.unique(people[draw % len(people)][kept], return_inverse=True)[1]
        found[:, draw, plain] = _without(weigh[kept], levels, codes[:, kept])
        found[:, draw, ~plain] = _with(weigh, kept, levels, orders, bounds)
    return found


def _among(weigh: Floats) -> Floats:
    """The weight of all pairs of each row."""
    return np.asarray((weigh.sum(axis=-1) ** 2 - (weigh**2).sum(axis=-1)) / 2)


def _level(levels: Codes, weigh: Floats) -> Floats:
    """The weight of pairs that people tie: all pairs less those between different levels."""
    heavy = np.bincount(levels, weigh).astype(np.float64)
    return np.asarray(_among(weigh) - _among(heavy))


def _coded(metrics: Floats) -> Codes:
    """Numbers in the order of values, equal where they are."""
    found = [np.unique(row, return_inverse=True)[1].ravel() for row in metrics]
    return np.array(found, np.int64).reshape(metrics.shape)


def _without(weigh: Floats, levels: Codes, codes: Codes) -> Floats:
    """Counts of one draw where only equal values are tied."""
    rows, things = codes.shape
    count = int(levels.max(initial=0)) + 1
    keys = codes * count + (count - 1 - levels)
    orders = np.argsort(keys, axis=1)
    sorted_weights, backwards = weigh[orders], np.arange(things)[::-1]
    turns = np.argsort(levels[orders] * things + backwards, axis=1)
    ranks = np.empty_like(turns)
    np.put_along_axis(ranks, turns, np.arange(things)[None], axis=1)
    concordant = ahead(ranks, sorted_weights, sorted_weights)
    level = np.full(rows, _level(levels, weigh))
    tied = _tied(np.take_along_axis(codes, orders, axis=1), sorted_weights)
    both = _tied(np.take_along_axis(keys, orders, axis=1), sorted_weights)
    return _kinds(_among(weigh), level, tied, both, concordant)


def _tied(rising: Codes, weigh: Floats) -> Floats:
    """The weight of pairs with equal keys; keys are sorted within rows."""
    rows, things = rising.shape
    first = np.ones(rising.shape, bool)
    first[:, 1:] = rising[:, 1:] > rising[:, :-1]
    if first.all():
        return np.zeros(rows)
    starts = np.flatnonzero(first)
    runs = np.add.reduceat(weigh.ravel(), starts) ** 2
    squares = np.bincount(starts // things, runs, minlength=rows)
    return np.asarray((squares - (weigh**2).sum(axis=1)) / 2)


def _kinds(whole: Floats, level: Floats, tied: Floats, both: Floats, concordant: Floats) -> Floats:
    """The five kinds, from all pairs, those tied by people, by the metric and by both."""
    discordant = whole - level - tied + both - concordant
    return np.stack([concordant, discordant, tied - both, level - both, both])


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


def _with(weigh: Floats, kept: Codes, levels: Codes, orders: Codes, bounds: Codes) -> Floats:
    """Counts of one draw where differences within a margin are ties."""
    rows, things = orders.shape
    of_people = np.zeros(things, np.int64)
    of_people[kept] = levels
    places = np.concatenate([2 * bounds, np.arange(1, 2 * things, 2) + 0 * orders], axis=1)
    turns = np.argsort(places, axis=1, kind="stable")
    who, entered = np.take_along_axis(np.tile(orders, 2), turns, axis=1), turns >= things
    brings, asks = weigh[who] * entered, weigh[who] * ~entered
    before = np.cumsum(brings, axis=1)
    apart = (before * asks).sum(axis=1)
    whole, level = _among(weigh), _level(levels, weigh[kept])
    concordant = ahead(_ranked(2 * of_people[who] + entered), brings, asks)
    upto = ahead(_ranked(2 * of_people[who] + ~entered), brings, asks)
    both = level - (upto - concordant)
    return _kinds(whole, np.full(rows, level), whole - apart, both, concordant)


def _ranked(keys: Codes) -> Codes:
    ranks = np.empty_like(keys)
    order = np.argsort(keys, axis=1, kind="stable")
    np.put_along_axis(ranks, order, np.arange(keys.shape[1])[None], axis=1)
    return ranks
