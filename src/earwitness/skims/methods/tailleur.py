"""Published skim method: main events of each period in sequence, by k-means.

References
----------
Tailleur, Lagrange, Aumond and Tourre (2025), audio summaries of day-long recordings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from earwitness.skims.day import (
    Day,
    Doubles,
    Ints,
    Periods,
    Singles,
    allowed_rows,
    euclidean_distances,
)

# --- K-means from inner products -----------------------------------------------------------------
# Cluster centres are never computed: distances to them follow from inner products of the points, so
# the time per round does not depend on the length of the vectors. Seeds are drawn as in k-means++;
# a cluster that loses all its points stays empty.


KMEANS_ROUNDS = 50


class Clusters(NamedTuple):
    """Cluster of every point, and medoid and size of each cluster."""

    of: Ints
    medoids: Ints
    sizes: Ints


def cluster_points(points: Singles, count: int, rng: Generator) -> Clusters:
    """Return ``count`` clusters, or fewer if there are fewer distinct points."""
    centred = points.astype(np.float64)
    centred -= centred.mean(axis=0)
    products = centred @ centred.T
    squared_norms = np.diag(products)
    of = np.argmin(_distances_to_points(products, _draw_seeds(products, count, rng)), axis=1)
    for _ in range(KMEANS_ROUNDS):
        away = _distances_to_centres(products, squared_norms, of, count)
        nearest = np.argmin(away, axis=1)
        if np.array_equal(nearest, of):
            break
        of = nearest
    away = _distances_to_centres(products, squared_norms, of, count)
    kept = np.unique(of)
    members = [np.flatnonzero(of == cluster) for cluster in kept]
    medoids = [m[np.argmin(away[m, c])] for c, m in zip(kept, members, strict=True)]
    sizes = [len(m) for m in members]
    return Clusters(of, np.array(medoids, np.int64), np.array(sizes, np.int64))


def _distances_to_points(products: Doubles, seeds: Ints) -> Doubles:
    """Return squared distances to some of the points."""
    squared_norms = np.diag(products)
    result: Doubles = np.maximum(
        squared_norms[:, None] + squared_norms[seeds][None] - 2 * products[:, seeds], 0.0
    )
    return result


def _distances_to_centres(
    products: Doubles, squared_norms: Doubles, of: Ints, count: int
) -> Doubles:
    """Return squared distances to the centres; infinite for empty clusters."""
    member = np.zeros((len(of), count))
    member[np.arange(len(of)), of] = 1.0
    sizes = member.sum(axis=0)
    share = member / np.maximum(sizes, 1.0)
    towards = products @ share
    centre = np.einsum("pc,pc->c", share, towards)
    away = squared_norms[:, None] - 2 * towards + centre[None]
    result: Doubles = np.where(sizes[None] > 0, np.maximum(away, 0.0), np.inf)
    return result


def _draw_seeds(products: Doubles, count: int, rng: Generator) -> Ints:
    seeds = [int(rng.integers(len(products)))]
    nearest = _distances_to_points(products, np.array(seeds))[:, 0]
    while len(seeds) < count and nearest.sum() > 0:
        seeds.append(int(rng.choice(len(products), p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, _distances_to_points(products, np.array(seeds[-1:]))[:, 0])
    return np.array(seeds, np.int64)


# --- Main events in sequence ---------------------------------------------------------------------
# Blocks of each period are clustered by k-means: 15 clusters per 100 blocks, at least two. The
# medoid of a cluster is an event; the smaller its cluster relative to the period's largest, the
# higher its scarcity. Events are selected greedily, at most one per period, so that neighbours in
# the sequence differ. z sets how much scarce events count and how far apart events still influence
# each other.


PUBLISHED_PERIOD_SECONDS = 900.0
CLUSTERS_PER_BLOCK = 0.15


class MainEvents(NamedTuple):
    """Medoids in chronological order: rows, periods, cluster sizes and scarcity."""

    rows: Ints
    periods: Ints
    sizes: Ints
    scarcity: Doubles
    vectors: Doubles


def find_events(day: Day, day_periods: Periods, seed: int) -> MainEvents:
    """Return the main events of every period, among the blocks that may be picked."""
    rows, lies, sizes, scarcity = list[int](), list[int](), list[int](), list[float]()
    for period in range(len(day_periods.means)):
        inside = allowed_rows(day, day_periods, period)
        if not len(inside):
            continue
        rng = np.random.default_rng([seed, period])
        count = min(len(inside), max(2, int(CLUSTERS_PER_BLOCK * len(inside))))
        period_clusters = cluster_points(day.vectors[inside], count, rng)
        rows += inside[period_clusters.medoids].tolist()
        lies += [period] * len(period_clusters.sizes)
        sizes += period_clusters.sizes.tolist()
        scarcity += (period_clusters.sizes.max() / period_clusters.sizes - 1).tolist()
    order = np.argsort(rows)
    index = np.array(rows, np.int64)[order]
    return MainEvents(
        index,
        np.array(lies, np.int64)[order],
        np.array(sizes, np.int64)[order],
        np.array(scarcity, np.float64)[order],
        day.vectors[index].astype(np.float64),
    )


def event_weights(scarcity: Doubles, z: float) -> Doubles:
    """Return event weights: all equal at z = 1, scarce events close to 0 at z = 0."""
    result: Doubles = 5.0 ** (-((1 - z) ** 6) * scarcity)
    return result


def neighbour_weights(count: int, z: float) -> Doubles:
    """Return the weight of each event (column) for another (row) in a sequence; rows sum to 1."""
    apart = np.abs(np.arange(count)[:, None] - np.arange(count)[None])
    theta = 10.0 ** (-((1 - z) ** 3) * apart) * (apart > 0)
    sums = theta.sum(axis=1, keepdims=True)
    result: Doubles = np.divide(theta, sums, out=np.zeros_like(theta), where=sums > 0)
    return result


def choose_sequence(events: MainEvents, picks: int, z: float) -> Ints:
    """Return the indices of the selected events, in chronological order."""
    beta = event_weights(events.scarcity, z)
    middle = beta @ events.vectors / beta.sum()
    first = int(np.argmax(beta * euclidean_distances(events.vectors, middle[None])[:, 0]))
    taken, away = [first], {first: _weigh_distances(events, beta, first)}
    while len(taken) < picks:
        gains = _sequence_gains(events, taken, away, z)
        best = int(np.argmax(gains))
        if gains[best] == -np.inf:
            break
        away[best] = _weigh_distances(events, beta, best)
        taken = sorted([*taken, best])
    return np.array(taken, np.int64)


def _weigh_distances(events: MainEvents, beta: Doubles, event: int) -> Doubles:
    """Return the distances of all events to one event, times both weights."""
    apart = euclidean_distances(events.vectors, events.vectors[event][None])[:, 0]
    result: Doubles = apart * beta * beta[event]
    return result


def _sequence_gains(
    events: MainEvents, taken: list[int], away: dict[int, Doubles], z: float
) -> Doubles:
    """Return the objective after inserting each event; -inf if its period is already used."""

    weights = neighbour_weights(len(taken) + 1, z)
    weights = weights + weights.T
    among = np.array([away[event][taken] for event in taken])
    each = np.array([away[event] for event in taken])
    slots = np.searchsorted(np.array(taken), np.arange(len(events.rows)))
    gains = np.full(len(events.rows), -np.inf)
    for slot in range(len(taken) + 1):
        others = [place for place in range(len(taken) + 1) if place != slot]
        fixed = float((among * weights[np.ix_(others, others)]).sum()) / 2
        inside = slots == slot
        gains[inside] = fixed + weights[slot, others] @ each[:, inside]
    gains[np.isin(events.periods, events.periods[taken])] = -np.inf
    return gains
