"""The published method: main events of every period, put in sequence one by one.

Blocks of every period fall into clusters by K-means, 15 for 100 blocks and at least two; the
medoid of a cluster is an event, the scarcer the smaller its cluster is beside the period's largest.
Events are taken greedily, at most one a period, so that what stands near each other in the sequence
is different; z tells how much scarce events count and how far away another event still counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earwitness.stats.skims.clusters import clusters
from earwitness.stats.skims.day import Day, Floats, Ints, Periods
from earwitness.stats.skims.warping import distances

SHARE = 0.15


@dataclass(frozen=True)
class Events:
    """Medoids in the order of time: rows, periods, sizes of clusters and scarcity."""

    rows: Ints
    periods: Ints
    sizes: Ints
    scarcity: Floats
    vectors: Floats


def events_of(day: Day, known: Periods, seed: int) -> Events:
    """Main events of every period, among the blocks that may be picked."""
    rows, lies, sizes, scarcity = list[int](), list[int](), list[int](), list[float]()
    for period in range(len(known.means)):
        inside = np.arange(known.first[period], known.first[period + 1])
        inside = inside[day.allowed[inside]]
        if not len(inside):
            continue
        rng = np.random.default_rng([seed, period])
        count = min(len(inside), max(2, int(SHARE * len(inside))))
        found = clusters(day.vectors[inside], count, rng)
        rows += inside[found.medoids].tolist()
        lies += [period] * len(found.sizes)
        sizes += found.sizes.tolist()
        scarcity += (found.sizes.max() / found.sizes - 1).tolist()
    order = np.argsort(rows)
    index = np.array(rows, np.int64)[order]
    return Events(
        index,
        np.array(lies, np.int64)[order],
        np.array(sizes, np.int64)[order],
        np.array(scarcity, np.float64)[order],
        day.vectors[index].astype(np.float64),
    )


def betas(scarcity: Floats, z: float) -> Floats:
    """How much events count: at z = 1 all alike, at z = 0 scarce ones hardly."""
    result: Floats = 5.0 ** (-((1 - z) ** 6) * scarcity)
    return result


def nearness(count: int, z: float) -> Floats:
    """How much the event of a column counts for that of a row in a sequence; rows sum to 1."""
    apart = np.abs(np.arange(count)[:, None] - np.arange(count)[None])
    theta = 10.0 ** (-((1 - z) ** 3) * apart) * (apart > 0)
    sums = theta.sum(axis=1, keepdims=True)
    result: Floats = np.divide(theta, sums, out=np.zeros_like(theta), where=sums > 0)
    return result


def sequence(events: Events, picks: int, z: float) -> Ints:
    """Places of the events that are taken, in the order of time."""
    beta = betas(events.scarcity, z)
    middle = beta @ events.vectors / beta.sum()
    first = int(np.argmax(beta * distances(events.vectors, middle[None])[:, 0]))
    taken, away = [first], {first: _weighed(events, beta, first)}
    while len(taken) < picks:
        gains = _gains(events, taken, away, z)
        best = int(np.argmax(gains))
        if gains[best] == -np.inf:
            break
        away[best] = _weighed(events, beta, best)
        taken = sorted([*taken, best])
    return np.array(taken, np.int64)


def _weighed(events: Events, beta: Floats, one: int) -> Floats:
    """Distances of all events to one, times what both count."""
    apart = distances(events.vectors, events.vectors[one][None])[:, 0]
    result: Floats = apart * beta * beta[one]
    return result


def _gains(events: Events, taken: list[int], away: dict[int, Floats], z: float) -> Floats:
    """The objective with each of the events put where it belongs; none where its period is had."""
    weights = nearness(len(taken) + 1, z)
    weights = weights + weights.T
    among = np.array([away[one][taken] for one in taken])
    each = np.array([away[one] for one in taken])
    slots = np.searchsorted(np.array(taken), np.arange(len(events.rows)))
    gains = np.full(len(events.rows), -np.inf)
    for slot in range(len(taken) + 1):
        others = [place for place in range(len(taken) + 1) if place != slot]
        fixed = float((among * weights[np.ix_(others, others)]).sum()) / 2
        inside = slots == slot
        gains[inside] = fixed + weights[slot, others] @ each[:, inside]
    gains[np.isin(events.periods, events.periods[taken])] = -np.inf
    return gains
