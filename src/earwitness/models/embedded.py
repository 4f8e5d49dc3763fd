"""What an embedder gives: a vector a block, and classes if it knows any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Embedded(NamedTuple):
    """Rows of vectors; rows of classes from 0 to 1 and their names, or none of either."""

    vectors: Floats
    classes: Floats | None = None
    class_names: tuple[str, ...] = ()


def standardised(vectors: Floats) -> Floats:
    """Columns with a mean of 0 and a spread of 1; a column that never changes is 0."""
    if not len(vectors):
        return vectors
    middle = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    spread = vectors.std(axis=0, dtype=np.float64).astype(np.float32)
    still = spread <= 1e-6 * (1 + abs(middle))
    centred = vectors - middle
    centred /= np.where(still, 1, spread)
    centred[:, still] = 0
    return np.asarray(centred, np.float32)
