"""An embedder without weights: classes of sound that are learnt from the recording itself.

Patches of 16 frames (0.32 s), their mean taken off so that loudness does not count, are whitened
down to 60 dimensions and gathered around 400 directions, the codes. A block has of each code the
mean and the most of max(0, cosine − 0.1) over its patches; both, standardised over the recording
and the most at half its weight, are its vector. Classes are prototypes among the blocks. After
Coates and Ng (2012), Learning feature representations with k-means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT, BANDS, FORM, Bytes
from earwitness.models.centres import centres
from earwitness.models.embedded import Embedded, standardise
from earwitness.models.grid import PORTION, FrameBlocks
from earwitness.models.prototypes import COUNT, EACH, LEAST, REACH, how_many, prototypes
from earwitness.models.unit import unit

Floats = NDArray[np.float32]
PATCH = 16  # frames
STRIDE = 8  # frames from patch to patch: half of one
LEARNT = 20_000  # patches to learn from
DIMENSIONS = 60
CODES = 400
LIKE = "like"  # the first word of the name of a class: like the block of that time
FEWEST = 10  # patches a code: short recordings have fewer codes
THRESHOLD = np.float32(0.1)
MOST = np.float32(0.5)  # weight of the most beside the mean
SLIGHT = 1e-5  # variance of a dimension beside that of the first, and in all


@dataclass(frozen=True, slots=True)
class Codes:
    """What was learnt: the way from a patch to its dimensions, and the directions there."""

    ways: Floats  # half a patch × dimensions for it as the first and as the second half
    middle: Floats
    directions: Floats

    def pooled(self, portion: Bytes) -> tuple[Floats, Floats]:
        """Mean and most of every code, a row a block."""
        there = whole_patches(portion)
        flat = self.whitened(portion).reshape(there.size, -1) if there.all() else None
        patches = self._some(portion, there) if flat is None else flat
        codes = np.maximum(unit(patches) @ self.directions.T - THRESHOLD, 0)
        counts = there.sum(axis=1)
        known, firsts = counts > 0, np.cumsum(counts) - counts
        means, most = (np.zeros((len(there), codes.shape[1]), np.float32) for _ in range(2))
        if known.any():
            means[known] = np.add.reduceat(codes, firsts[known], axis=0)
            most[known] = np.maximum.reduceat(codes, firsts[known], axis=0)
        return means / np.maximum(1, counts).astype(np.float32)[:, None], most

    def _some(self, portion: Bytes, there: NDArray[np.bool_]) -> Floats:
        """Only patches that are there, in their dimensions, a row each."""
        halves, size = _halves(portion), len(self.middle)
        first, second = (part[there].astype(np.float32) for part in (halves[:, :-1], halves[:, 1:]))
        found = first @ self.ways[:, :size] + second @ self.ways[:, size:] - self.middle
        return np.asarray(found, np.float32)

    def whitened(self, portion: Bytes) -> Floats:
        """Every patch in its dimensions: block × patch × dimension.

        Patches overlap by half, so each half is carried over once, for both of its patches.
        """
        halves = _halves(portion).astype(np.float32) @ self.ways
        size = len(self.middle)
        return np.asarray(halves[:, :-1, :size] + halves[:, 1:, size:] - self.middle)


@dataclass(frozen=True, slots=True)
class Codebook:
    """The embedder; the seed is for the patches it learns from and for where K-means starts."""

    seed: int = 0
    codes: int = CODES
    name: ClassVar[str] = "codebook"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All that the result depends on."""
        return (
            f"codebook/3,{FORM},patch={PATCH},stride={STRIDE},patches={LEARNT},"
            f"dimensions={DIMENSIONS},codes={self.codes},threshold={THRESHOLD:g},most={MOST:g},"
            f"prototypes={LEAST}-{COUNT}/{EACH},reach={REACH:g},seed={self.seed}"
        )

    def embed(self, day: FrameBlocks) -> Embedded:
        """Learn from the blocks and describe them."""
        vectors = self.coded(day)
        standardise(vectors)
        vectors[:, vectors.shape[1] // 2 :] *= MOST
        known = prototypes(vectors, how_many(len(vectors)))
        names = tuple(f"{LIKE} {day.places[row].start:.0f} s" for row in known.rows)
        return Embedded(vectors, known.classes, names)

    def coded(self, day: FrameBlocks) -> Floats:
        """Mean of every code, then the most of every code, a row a block."""
        learnt = learn(day, self.codes, np.random.default_rng(self.seed))
        width = len(learnt.directions)
        found = np.zeros((len(day), 2 * width), np.float32)
        for number, portion in enumerate(day.portions()):
            rows = slice(number * PORTION, number * PORTION + len(portion))
            found[rows, :width], found[rows, width:] = learnt.pooled(portion)
        return found


def learn(day: FrameBlocks, codes: int, rng: np.random.Generator) -> Codes:
    """Codes of a recording, from some of its patches; none without any."""
    patches = drawn(day, rng)
    patches -= patches.mean(axis=1, keepdims=True)
    middle = patches.mean(axis=0) if len(patches) else np.zeros(PATCH * BANDS, np.float32)
    patches -= middle
    way = _whitening(patches)
    count = min(codes, -(-len(patches) // FEWEST))
    directions = centres(unit(patches @ way), count, rng)
    half = len(way) // 2
    level = way - way.mean(axis=0)  # takes the mean of a patch off on the way
    return Codes(np.concatenate([level[:half], level[half:]], axis=1), middle @ way, directions)


def _whitening(centred: Floats) -> Floats:
    """The way from patches to their main dimensions, each with a variance of 1."""
    variances, axes = np.linalg.eigh(centred.T @ centred / np.float32(max(1, len(centred))))
    variances, axes = variances[::-1][:DIMENSIONS], axes[:, ::-1][:, :DIMENSIONS]
    there = variances > SLIGHT * max(1.0, float(variances[0]))
    return np.asarray(axes[:, there] / np.sqrt(variances[there]), np.float32)


def drawn(day: FrameBlocks, rng: np.random.Generator) -> Floats:
    """Patches drawn at random from all that are whole, in their order, a row each."""
    none = np.zeros((0, 2), np.intp)
    wholes = (np.add(np.argwhere(there), (at, 0)) for at, there in _wholes(day))
    places = np.concatenate([none, *wholes])
    if len(places) > LEARNT:
        places = places[np.sort(rng.choice(len(places), LEARNT, replace=False))]
    found = np.empty((len(places), 2, PATCH * BANDS // 2), np.float32)
    for number, portion in enumerate(day.portions()):
        here = places[:, 0] // PORTION == number
        blocks, patches = (places[here] - (number * PORTION, 0)).T
        halves = _halves(portion)
        found[here, 0], found[here, 1] = halves[blocks, patches], halves[blocks, patches + 1]
    return found.reshape(len(places), PATCH * BANDS)


def _wholes(day: FrameBlocks) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    for number, portion in enumerate(day.portions()):
        yield number * PORTION, whole_patches(portion)


def whole_patches(portion: Bytes) -> NDArray[np.bool_]:
    """Which patches have all of their frames: block × patch."""
    halves = portion[:, : portion.shape[1] // STRIDE * STRIDE, 0].reshape(len(portion), -1, STRIDE)
    there = (halves != ABSENT).all(axis=2)
    return np.asarray(there[:, :-1] & there[:, 1:])


def _halves(portion: Bytes) -> Bytes:
    """Half patches in a row each: block × half × values."""
    frames = portion.shape[1] // STRIDE * STRIDE
    return np.ascontiguousarray(portion[:, :frames]).reshape(len(portion), -1, STRIDE * BANDS)
