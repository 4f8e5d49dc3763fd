"""Where one part of a skim fades into the next, once it is known which samples both come from.

In a fade the skim is the sum of both sounds with gains that follow a cosine and a sine. In steps of
10 ms, the power of what such gains leave unexplained needs only products of the three sounds, so
all begins and lengths of a fade are tried, first roughly and then finely.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEP = 0.01  # seconds in which gains hardly change
LONGEST = 8.0  # seconds of a fade
ROUGH, FINE = 0.05, 0.0025  # seconds between begins, and between lengths, that are tried
Floats = NDArray[np.float64]


class Seam(NamedTuple):
    """When the second sound sets in, and for how long both are heard."""

    start: float
    overlap: float


class Products(NamedTuple):
    """Sums over steps: powers of the skim and of both sounds, and their products."""

    skim: Floats
    old: Floats
    new: Floats
    both: Floats
    skim_old: Floats
    skim_new: Floats


def seam(
    skim: NDArray[Any],
    old: NDArray[Any],
    new: NDArray[Any],
    rate: int,
    overlap: float | None = None,
) -> Seam:
    """The fade in a part of a skim that begins with the old sound alone and ends with the new.

    All three are as long; times count from the first sample. A known ``overlap`` is kept.
    """
    sums = _products(skim, old, new, max(1, round(STEP * rate)))
    level = _level(sums)
    length = len(sums.skim) * STEP
    longest = min(LONGEST, length)
    starts = np.arange(0, length + ROUGH / 2, ROUGH)
    lengths = np.arange(0, longest + ROUGH / 2, ROUGH) if overlap is None else np.array([overlap])
    found = _best(sums, level, starts, lengths)
    near = np.arange(-2 * ROUGH, 2 * ROUGH + FINE / 2, FINE)
    tried = np.maximum(0, found.overlap + near) if overlap is None else lengths
    return _best(sums, level, found.start + near, tried)


def _products(old_skim: NDArray[Any], old: NDArray[Any], new: NDArray[Any], step: int) -> Products:
    count = len(old_skim) // step
    skim, first, second = (
        one[: count * step].astype(np.float64).reshape(count, step) for one in (old_skim, old, new)
    )
    pairs = [(skim, skim), (first, first), (second, second)]
    pairs += [(first, second), (skim, first), (skim, second)]
    return Products(*((a * b).sum(axis=1) for a, b in pairs))


def _level(sums: Products) -> tuple[float, float]:
    """How loud the old sound is in the first tenth of the part, and the new one in the last."""
    tenth = max(1, len(sums.skim) // 10)
    first, last = slice(0, tenth), slice(-tenth, None)
    return (
        float(sums.skim_old[first].sum() / max(sums.old[first].sum(), 1e-12)),
        float(sums.skim_new[last].sum() / max(sums.new[last].sum(), 1e-12)),
    )


def _best(sums: Products, level: tuple[float, float], starts: Floats, lengths: Floats) -> Seam:
    """The begin and the length that leave the least unexplained, loud and soft steps alike."""
    weight = 1 / (sums.skim + 1e-3 * sums.skim.mean() + 1e-12)
    middles = STEP * (np.arange(len(sums.skim)) + 0.5)
    found, least = Seam(0.0, 0.0), np.inf
    for length in lengths:
        share = np.clip((middles - starts[:, None]) / max(length, 1e-6), 0, 1) * np.pi / 2
        old, new = level[0] * np.cos(share), level[1] * np.sin(share)
        left = old * (old * sums.old + 2 * new * sums.both - 2 * sums.skim_old)
        left += new * (new * sums.new - 2 * sums.skim_new)
        rest = left @ weight
        if rest.min() < least:
            least = rest.min()
            found = Seam(float(starts[rest.argmin()]), float(length))
    return found
