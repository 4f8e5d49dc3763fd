"""Classes of sound that a recording itself has: how close a block is to each of its prototypes.

Prototypes are blocks that are as unlike each other as can be: the first is the one nearest to the
middle of all, and each that follows is the one that is farthest from those before it (Gonzalez
1985). So what sounds once in a day has a prototype of its own, as what sounds all day has. A block
at a distance d from a prototype has exp(−(d/s)²) of its class, where s is somewhat more than the
distance from a block to the nearest prototype (the median over all blocks).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
COUNT = 48
REACH = 1.3  # of the median distance to the nearest prototype


class Prototypes(NamedTuple):
    """Rows of the blocks that are prototypes, and how much of each class every block has."""

    rows: tuple[int, ...]
    classes: Floats


def prototypes(vectors: Floats, count: int = COUNT) -> Prototypes:
    """So many prototypes; fewer if no more blocks differ."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    rows: list[int] = []
    columns: list[NDArray[np.float64]] = []
    near = _away(vectors, squares, vectors.mean(axis=0)) if len(vectors) else np.zeros(0)
    while len(rows) < min(count, len(vectors)):
        row = int(np.argmax(near) if rows else np.argmin(near))
        if rows and near[row] <= 1e-6 * squares.max():
            break  # all that are left are like one of them
        rows.append(row)
        columns.append(_away(vectors, squares, vectors[row]))
        near = np.minimum(near, columns[-1]) if len(rows) > 1 else columns[-1]
    if not rows:
        return Prototypes((), np.zeros((len(vectors), 0), np.float32))
    away = np.stack(columns, axis=1)
    reach = REACH * float(np.sqrt(np.median(near)))
    return Prototypes(tuple(rows), np.exp(-away / max(reach**2, 1e-12)).astype(np.float32))


def _away(vectors: Floats, squares: NDArray[np.float64], one: Floats) -> NDArray[np.float64]:
    """Squares of distances to one vector; its own is 0."""
    own = float(np.einsum("i,i->", one, one, dtype=np.float64))
    found = np.maximum(squares + own - 2 * (vectors @ one).astype(np.float64), 0.0)
    return np.asarray(np.where(found < 1e-6 * (squares + own), 0.0, found))
