"""K-means of few points with many numbers each, from inner products alone.

A cluster's centre is never made: its distance to a point follows from the inner products of the
points, so a round takes the same time however long the vectors are. Seeds are drawn as in
k-means++, each far from those before; a cluster that loses all its points stays empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.skims.day import Floats, Ints, Singles

ROUNDS = 50


class Clusters(NamedTuple):
    """The cluster of every point, and of each cluster its medoid and how many points it has."""

    of: Ints
    medoids: Ints
    sizes: Ints


def clusters(points: Singles, count: int, rng: np.random.Generator) -> Clusters:
    """So many clusters of points, fewer if there are not so many different ones."""
    centred = points.astype(np.float64)
    centred -= centred.mean(axis=0)
    products = centred @ centred.T
    own = np.diag(products)
    of = np.argmin(_from_points(products, _seeds(products, count, rng)), axis=1)
    for _ in range(ROUNDS):
        away = _from_centres(products, own, of, count)
        nearest = np.argmin(away, axis=1)
        if np.array_equal(nearest, of):
            break
        of = nearest
    away = _from_centres(products, own, of, count)
    kept = np.unique(of)
    members = [np.flatnonzero(of == cluster) for cluster in kept]
    medoids = [m[np.argmin(away[m, c])] for c, m in zip(kept, members, strict=True)]
    sizes = [len(m) for m in members]
    return Clusters(of, np.array(medoids, np.int64), np.array(sizes, np.int64))


def _from_points(products: Floats, seeds: Ints) -> Floats:
    """Squares of distances to some of the points."""
    own = np.diag(products)
    result: Floats = np.maximum(own[:, None] + own[seeds][None] - 2 * products[:, seeds], 0.0)
    return result


def _from_centres(products: Floats, own: Floats, of: Ints, count: int) -> Floats:
    """Squares of distances to the centres; infinite for a cluster without points."""
    member = np.zeros((len(of), count))
    member[np.arange(len(of)), of] = 1.0
    sizes = member.sum(axis=0)
    share = member / np.maximum(sizes, 1.0)
    towards = products @ share
    centre = np.einsum("pc,pc->c", share, towards)
    away = own[:, None] - 2 * towards + centre[None]
    result: Floats = np.where(sizes[None] > 0, np.maximum(away, 0.0), np.inf)
    return result


def _seeds(products: Floats, count: int, rng: np.random.Generator) -> Ints:
    seeds = [int(rng.integers(len(products)))]
    nearest = _from_points(products, np.array(seeds))[:, 0]
    while len(seeds) < count and nearest.sum() > 0:
        seeds.append(int(rng.choice(len(products), p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, _from_points(products, np.array(seeds[-1:]))[:, 0])
    return np.array(seeds, np.int64)
