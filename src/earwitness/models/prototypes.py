"""Classes of sound that a recording itself has: how close a block is to each of its prototypes.

Prototypes are blocks that are as unlike each other as can be: the first is the one nearest to the
middle of all, and each that follows is the one that is farthest from those before it (Gonzalez
1985). So what sounds once in a day has a prototype of its own, as what sounds all day has. A block
at a distance d from a prototype has exp(−(d/s)²) of its class, where s is somewhat more than the
distance from a block to the nearest prototype (the median over all blocks).

There is no more than one prototype for every four blocks: if half of the blocks are prototypes,
that median is 0, every block is a class of its own, and all skims are equally diverse. With fewer
than four prototypes blocks have no classes, and what is made of them is undefined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
COUNT = 48
EACH = 4  # blocks for every prototype, or more
LEAST = 4  # prototypes; fewer are no classes
FEW = COUNT * EACH // 2  # blocks below which it is told that classes are few
REACH = 1.3  # of the median distance to the nearest prototype


class Prototypes(NamedTuple):
    """Rows of the blocks that are prototypes, and how much of each class every block has."""

    rows: tuple[int, ...]
    classes: Floats


def how_many(blocks: int) -> int:
    """Prototypes among so many blocks.

    >>> how_many(10_800), how_many(100), how_many(16), how_many(15)
    (48, 25, 4, 0)
    """
    count = min(COUNT, blocks // EACH)
    return count if count >= LEAST else 0


def few(blocks: int) -> str:
    """What is said about classes that are few, or none; nothing if there are enough."""
    if blocks >= FEW:
        return ""
    found = how_many(blocks)
    if not found:
        return f"{blocks} blocks are too few for classes of sound: sd and coverage are undefined"
    return f"{blocks} blocks give {found} classes of sound, not {COUNT}: sd and coverage tell less"


def prototypes(vectors: Floats, count: int) -> Prototypes:
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
