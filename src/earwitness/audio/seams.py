"""Where one part of a skim fades into the next, once it is known which samples both come from.

In a fade the skim is the sum of both sounds with gains that follow a law, such as cosine and sine.
In steps of 10 ms, the power of what such gains leave unexplained needs only products of the three
sounds, so all begins and lengths of a fade are tried, first roughly and then finely.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.fades import EQUAL_POWER, LAWS, Law

STEP = 0.01  # seconds in which gains hardly change
LONGEST = 8.0  # seconds of a fade
STEPS = (0.1, 0.02, 0.004)  # seconds between begins and lengths that are tried, ever finer
MOST = 0.45  # share of begins that must fit
EVEN, SLACK = 0.05, 0.1  # seconds: what lengths are multiples of, and how far it may be off
Floats = NDArray[np.float64]


class Seam(NamedTuple):
    """When the second sound sets in, for how long both are heard, and the share that is left."""

    start: float
    overlap: float
    left: float = 0.0


class Products(NamedTuple):
    """Sums over steps: powers of the skim and of both sounds, and their products."""

    skim: Floats
    old: Floats
    new: Floats
    both: Floats
    skim_old: Floats
    skim_new: Floats


def seam(sums: Products, overlap: float | None = None, law: str = EQUAL_POWER) -> Seam:
    """The fade in a part of a skim that begins with the old sound alone and ends with the new.

    Times count from the first step. A known ``overlap`` is kept.
    """
    if not len(sums.skim):
        return Seam(0.0, overlap or 0.0)
    level = _level(sums)
    length = len(sums.skim) * STEP
    longest = min(LONGEST, length)
    starts, lengths = (np.arange(0, top + STEPS[0] / 2, STEPS[0]) for top in (length, longest))
    found = Seam(0.0, 0.0)
    for step, finer in zip(STEPS, (*STEPS[1:], 0.0), strict=True):
        tried = lengths if overlap is None else np.array([overlap])
        found = _best(sums, level, starts, tried, LAWS[law])
        near = np.arange(-step, step + finer / 2, finer) if finer else starts
        starts, lengths = found.start + near, np.maximum(0, found.overlap + near)
    return found


class Even(NamedTuple):
    """Parts that are all as long: how many, their length and overlap, in seconds."""

    parts: int
    length: float
    overlap: float

    @property
    def starts(self) -> list[float]:
        """When each begins."""
        return [n * (self.length - self.overlap) for n in range(self.parts)]


def evenly(starts: Sequence[float], overlap: float, whole: float) -> Even | None:
    """How a skim is divided if its parts are all as long; None if they are not.

    Skims are mostly made of blocks of one length, and the length of the whole tells it better than
    fades that were encoded: if round numbers (of 50 ms) fit most begins, they are it. A begin may
    be missing, and there may be one too many.
    """
    if len(starts) < 2:
        return None
    found = list[tuple[float, Even]]()
    apart, middle = float(np.median(np.diff(starts))), round(overlap / EVEN)
    likely = round((whole - overlap) / max(apart, EVEN))
    shares = [EVEN * n for n in range(max(0, middle - 2), middle + 3)]
    for shared, count in product(shares, range(max(2, likely - 1), max(2, likely + 1) + 1)):
        length = EVEN * round((whole + (count - 1) * shared) / count / EVEN)
        one = Even(count, length, shared)
        lasts = count * length - (count - 1) * shared
        off = [min(abs(start - own) for own in one.starts) for start in starts]
        fits = sum(away <= SLACK for away in off)
        few = fits < MOST * max(len(starts), count)
        if not few and length >= 2 * shared and abs(lasts - whole) <= SLACK:
            found.append((float(np.median(off)) + abs(lasts - whole), one))
    return min(found)[1] if found else None


def explained(skim: NDArray[Any], sounds: Sequence[NDArray[Any]], step: int) -> float:
    """The root of the share of power that sounds with gains of their own in each step explain."""
    count = len(skim) // step
    own = skim[: count * step].astype(np.float64).reshape(count, step, 1)
    if not sounds or not own.any():
        return 0.0
    parts = [one[: count * step].reshape(count, step) for one in sounds]
    made = np.stack(parts, axis=2).astype(np.float64)
    gains = np.linalg.pinv(made, rcond=1e-6) @ own
    return float(np.sqrt(max(0.0, 1 - np.square(own - made @ gains).sum() / np.square(own).sum())))


def products(skim: NDArray[Any], old: NDArray[Any], new: NDArray[Any], rate: int) -> Products:
    """Of three sounds that are as long."""
    step = max(1, round(STEP * rate))
    count = len(skim) // step
    whole, first, second = (
        one[: count * step].astype(np.float64).reshape(count, step) for one in (skim, old, new)
    )
    pairs = [(whole, whole), (first, first), (second, second)]
    pairs += [(first, second), (whole, first), (whole, second)]
    return Products(*((a * b).sum(axis=1) for a, b in pairs))


def _level(sums: Products) -> tuple[float, float]:
    """How loud the old sound is in the first tenth of the part, and the new one in the last."""
    tenth = max(1, len(sums.skim) // 10)
    first, last = slice(0, tenth), slice(-tenth, None)
    return (
        float(sums.skim_old[first].sum() / max(sums.old[first].sum(), 1e-12)),
        float(sums.skim_new[last].sum() / max(sums.new[last].sum(), 1e-12)),
    )


def _best(
    sums: Products, level: tuple[float, float], starts: Floats, lengths: Floats, law: Law
) -> Seam:
    """The begin and the length that leave the least unexplained, loud and soft steps alike."""
    weight = 1 / (sums.skim + 1e-3 * sums.skim.mean() + 1e-12)
    whole = max(float(sums.skim @ weight), 1e-12)
    middles = STEP * (np.arange(len(sums.skim)) + 0.5)
    found, least = Seam(0.0, 0.0), np.inf
    for length in lengths:
        share = np.clip((middles - starts[:, None]) / max(length, 1e-6), 0, 1)
        old, new = level[0] * law(1 - share), level[1] * law(share)
        left = old * (old * sums.old + 2 * new * sums.both - 2 * sums.skim_old)
        left += new * (new * sums.new - 2 * sums.skim_new)
        rest = left @ weight
        if rest.min() < least:
            least = float(rest.min())
            place = float(starts[rest.argmin()])
            found = Seam(place, float(length), max(0.0, 1 + least / whole))
    return found
