"""Sums that do not depend on the order of the addends.

A number is split into a coarse part, a multiple of 2⁻²⁶, and a fine part, a multiple of 2⁻⁵⁴. Sums
of either, with small whole weights, are exact in double precision while the coarse sum stays below
2²⁷ (2⁵³ where all addends are whole) and there are fewer than 2²⁶ addends. So any split of the work
gives the same bits. What is lost is at most 2⁻⁵⁵ per addend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

COARSE = 2.0**26
FINE = 2.0**54


class Parts(NamedTuple):
    """Numbers taken apart: columns of whole numbers have no fine part, and none is kept."""

    coarse: Floats
    fine: Floats
    inexact: Bools


def split(values: Floats) -> Parts:
    """Take the rows of a table apart."""
    coarse = np.rint(values * COARSE) / COARSE
    fine = np.rint((values - coarse) * FINE) / FINE
    inexact = np.asarray(fine.any(axis=0))
    return Parts(coarse, fine[:, inexact], inexact)


def weighted_sums(weights: Floats, parts: Parts) -> Floats:
    """``weights @ values`` for whole weights, coarse and fine sums that add up in any order."""
    sums = np.zeros((2, len(weights), parts.coarse.shape[1]))
    np.matmul(weights, parts.coarse, out=sums[0])
    sums[1][:, parts.inexact] = weights @ parts.fine
    return sums
