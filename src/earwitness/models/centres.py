"""K-means on the sphere: directions around which vectors of length 1 gather."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earwitness.models.unit import unit

Floats = NDArray[np.float32]
ROUNDS = 30
PORTION = 4096  # vectors at a time


def centres(vectors: Floats, count: int, rng: np.random.Generator) -> Floats:
    """So many directions, or as many as there are vectors; the same generator, the same ones.

    It starts with vectors drawn at random. A centre that no vector is nearest to moves to the
    vector that is farthest from its own.
    """
    count = min(count, len(vectors))
    found = vectors[np.sort(rng.choice(len(vectors), count, replace=False))]
    before = None
    for _ in range(ROUNDS):
        own, near = assigned(vectors, found)
        if before is not None and np.array_equal(own, before):
            break
        before = own
        found = unit(_sums(vectors, own, near, count))
    return found


def assigned(vectors: Floats, found: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Of every vector the nearest centre, and the cosine of the angle between them."""
    own = np.empty(len(vectors), np.intp)
    near = np.empty(len(vectors), np.float32)
    for at in range(0, len(vectors), PORTION):
        cosines = vectors[at : at + PORTION] @ found.T
        best = cosines.argmax(axis=1)
        own[at : at + PORTION] = best
        near[at : at + PORTION] = cosines[np.arange(len(best)), best]
    return own, near


def _sums(vectors: Floats, own: NDArray[np.intp], near: Floats, count: int) -> Floats:
    """The sum of the vectors of each centre; one without any gets a far vector."""
    order = np.argsort(own, kind="stable")
    firsts = np.searchsorted(own[order], np.arange(count))
    sizes = np.bincount(own, minlength=count)
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    there = np.flatnonzero(sizes)
    sums[there] = np.add.reduceat(vectors[order], firsts[there], axis=0)
    empty = np.flatnonzero(sizes == 0)
    sums[empty] = vectors[np.argsort(near, kind="stable")[: len(empty)]]
    return sums
