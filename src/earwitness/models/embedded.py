"""What an embedder gives: a vector a block, and classes if it knows any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
COLUMNS = 16  # at a time: a week of blocks takes little room
STILL = 1e-6  # a spread that rounding makes


class Embedded(NamedTuple):
    """Rows of vectors; rows of classes from 0 to 1 and their names, or none of either."""

    vectors: Floats
    classes: Floats | None = None
    class_names: tuple[str, ...] = ()


def standardise(vectors: Floats) -> None:
    """Make columns with a mean of 0 and a spread of 1, in place; one that never changes is 0."""
    if not len(vectors):
        return
    for first in range(0, vectors.shape[1], COLUMNS):
        part = vectors[:, first : first + COLUMNS].astype(np.float64)
        middle, spread = part.mean(axis=0), part.std(axis=0)
        still = spread <= STILL * (1 + abs(middle))
        vectors[:, first : first + COLUMNS] = (part - middle) / np.where(still, np.inf, spread)
