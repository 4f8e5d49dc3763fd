"""Embedder without weights: k-means codes and prototypes learned from the recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, LOGMEL_FORMAT, MEL_BANDS, Bytes
from earwitness.models.base import (
    BLOCKS_PER_PORTION,
    BlockEmbeddings,
    FrameBlocks,
    standardise,
    unit,
)

# --- Spherical k-means ---------------------------------------------------------------------------


Floats = NDArray[np.float32]
KMEANS_ROUNDS = 30
VECTORS_PER_PORTION = 4096


def centres(vectors: Floats, count: int, rng: np.random.Generator) -> Floats:
    """So many directions, or as many as there are vectors; the same generator, the same ones.

    It starts with vectors drawn at random. A centre that no vector is nearest to moves to the
    vector that is farthest from its own.
    """
    count = min(count, len(vectors))
    found = vectors[np.sort(rng.choice(len(vectors), count, replace=False))]
    before = None
    for _ in range(KMEANS_ROUNDS):
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
    for at in range(0, len(vectors), VECTORS_PER_PORTION):
        cosines = vectors[at : at + VECTORS_PER_PORTION] @ found.T
        best = cosines.argmax(axis=1)
        own[at : at + VECTORS_PER_PORTION] = best
        near[at : at + VECTORS_PER_PORTION] = cosines[np.arange(len(best)), best]
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


# --- Prototype classes ---------------------------------------------------------------------------
# Prototypes are blocks that are as unlike each other as can be: the first is the one nearest to the
# middle of all, and each that follows is the one that is farthest from those before it (Gonzalez
# 1985). So what sounds once in a day has a prototype of its own, as what sounds all day has. A
# block at a distance d from a prototype has exp(−(d/s)²) of its class, where s is somewhat more
# than the distance from a block to the nearest prototype (the median over all blocks).
#
# There is no more than one prototype for every four blocks: if half of the blocks are prototypes,
# that median is 0, every block is a class of its own, and all skims are equally diverse. With fewer
# than four prototypes blocks have no classes, and what is made of them is undefined.


MAX_PROTOTYPES = 48
MIN_BLOCKS_PER_PROTOTYPE = 4  # blocks for every prototype, or more
MIN_PROTOTYPES = 4  # prototypes; fewer are no classes
# blocks below which it is told that classes are few
MIN_BLOCKS_WITHOUT_NOTE = MAX_PROTOTYPES * MIN_BLOCKS_PER_PROTOTYPE // 2
REACH_FACTOR = 1.3  # of the median distance to the nearest prototype


class Prototypes(NamedTuple):
    """Rows of the blocks that are prototypes, and how much of each class every block has."""

    rows: tuple[int, ...]
    classes: Floats


def how_many(blocks: int) -> int:
    """Prototypes among so many blocks.

    >>> how_many(10_800), how_many(100), how_many(16), how_many(15)
    (48, 25, 4, 0)
    """
    count = min(MAX_PROTOTYPES, blocks // MIN_BLOCKS_PER_PROTOTYPE)
    return count if count >= MIN_PROTOTYPES else 0


def few(blocks: int) -> str:
    """What is said about classes that are few, or none; nothing if there are enough."""
    if blocks >= MIN_BLOCKS_WITHOUT_NOTE:
        return ""
    found = how_many(blocks)
    if not found:
        return f"{blocks} blocks are too few for classes of sound: sd and coverage are undefined"
    told = f"{blocks} blocks give {found} classes of sound, not {MAX_PROTOTYPES}"
    return f"{told}: sd and coverage tell less"


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
    reach = REACH_FACTOR * float(np.sqrt(np.median(near)))
    return Prototypes(tuple(rows), np.exp(-away / max(reach**2, 1e-12)).astype(np.float32))


def _away(vectors: Floats, squares: NDArray[np.float64], one: Floats) -> NDArray[np.float64]:
    """Squares of distances to one vector; its own is 0."""
    own = float(np.einsum("i,i->", one, one, dtype=np.float64))
    found = np.maximum(squares + own - 2 * (vectors @ one).astype(np.float64), 0.0)
    return np.asarray(np.where(found < 1e-6 * (squares + own), 0.0, found))


# --- Codebook embedder ---------------------------------------------------------------------------
# Patches of 16 frames (0.32 s), their mean taken off so that loudness does not count, are whitened
# down to 60 dimensions and gathered around 400 directions, the codes. A block has of each code the
# mean and the most of max(0, cosine − 0.1) over its patches; both, standardised over the recording
# and the most at half its weight, are its vector. Classes are prototypes among the blocks. After
# Coates and Ng (2012), Learning feature representations with k-means.


PATCH_FRAMES = 16
STRIDE_FRAMES = 8  # frames from patch to patch: half of one
TRAINING_PATCHES = 20_000  # patches to learn from
WHITENED_DIMENSIONS = 60
DEFAULT_CODES = 400
CLASS_NAME_PREFIX = "like"  # the first word of the name of a class: like the block of that time
MIN_PATCHES_PER_CODE = 10  # patches a code: short recordings have fewer codes
CODE_THRESHOLD = np.float32(0.1)
MAXIMUM_WEIGHT = np.float32(0.5)  # weight of the most beside the mean
MIN_RELATIVE_VARIANCE = 1e-5  # variance of a dimension beside that of the first, and in all


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
        codes = np.maximum(unit(patches) @ self.directions.T - CODE_THRESHOLD, 0)
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
    codes: int = DEFAULT_CODES
    name: ClassVar[str] = "codebook"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All that the result depends on."""
        return (
            f"codebook/3,{LOGMEL_FORMAT},patch={PATCH_FRAMES},stride={STRIDE_FRAMES},patches={TRAINING_PATCHES},"
            f"dimensions={WHITENED_DIMENSIONS},codes={self.codes},threshold={CODE_THRESHOLD:g},most={MAXIMUM_WEIGHT:g},"
            f"prototypes={MIN_PROTOTYPES}-{MAX_PROTOTYPES}/{MIN_BLOCKS_PER_PROTOTYPE},reach={REACH_FACTOR:g},seed={self.seed}"
        )

    def embed(self, day: FrameBlocks) -> BlockEmbeddings:
        """Learn from the blocks and describe them."""
        vectors = self.coded(day)
        standardise(vectors)
        vectors[:, vectors.shape[1] // 2 :] *= MAXIMUM_WEIGHT
        known = prototypes(vectors, how_many(len(vectors)))
        names = tuple(f"{CLASS_NAME_PREFIX} {day.places[row].start:.0f} s" for row in known.rows)
        return BlockEmbeddings(vectors, known.classes, names)

    def coded(self, day: FrameBlocks) -> Floats:
        """Mean of every code, then the most of every code, a row a block."""
        learnt = learn(day, self.codes, np.random.default_rng(self.seed))
        width = len(learnt.directions)
        found = np.zeros((len(day), 2 * width), np.float32)
        for number, portion in enumerate(day.portions()):
            rows = slice(number * BLOCKS_PER_PORTION, number * BLOCKS_PER_PORTION + len(portion))
            found[rows, :width], found[rows, width:] = learnt.pooled(portion)
        return found


def learn(day: FrameBlocks, codes: int, rng: np.random.Generator) -> Codes:
    """Codes of a recording, from some of its patches; none without any."""
    patches = drawn(day, rng)
    patches -= patches.mean(axis=1, keepdims=True)
    middle = (
        patches.mean(axis=0) if len(patches) else np.zeros(PATCH_FRAMES * MEL_BANDS, np.float32)
    )
    patches -= middle
    way = _whitening(patches)
    count = min(codes, -(-len(patches) // MIN_PATCHES_PER_CODE))
    directions = centres(unit(patches @ way), count, rng)
    half = len(way) // 2
    level = way - way.mean(axis=0)  # takes the mean of a patch off on the way
    return Codes(np.concatenate([level[:half], level[half:]], axis=1), middle @ way, directions)


def _whitening(centred: Floats) -> Floats:
    """The way from patches to their main dimensions, each with a variance of 1."""
    variances, axes = np.linalg.eigh(centred.T @ centred / np.float32(max(1, len(centred))))
    variances, axes = variances[::-1][:WHITENED_DIMENSIONS], axes[:, ::-1][:, :WHITENED_DIMENSIONS]
    there = variances > MIN_RELATIVE_VARIANCE * max(1.0, float(variances[0]))
    return np.asarray(axes[:, there] / np.sqrt(variances[there]), np.float32)


def drawn(day: FrameBlocks, rng: np.random.Generator) -> Floats:
    """Patches drawn at random from all that are whole, in their order, a row each."""
    none = np.zeros((0, 2), np.intp)
    wholes = (np.add(np.argwhere(there), (at, 0)) for at, there in _wholes(day))
    places = np.concatenate([none, *wholes])
    if len(places) > TRAINING_PATCHES:
        places = places[np.sort(rng.choice(len(places), TRAINING_PATCHES, replace=False))]
    found = np.empty((len(places), 2, PATCH_FRAMES * MEL_BANDS // 2), np.float32)
    for number, portion in enumerate(day.portions()):
        here = places[:, 0] // BLOCKS_PER_PORTION == number
        blocks, patches = (places[here] - (number * BLOCKS_PER_PORTION, 0)).T
        halves = _halves(portion)
        found[here, 0], found[here, 1] = halves[blocks, patches], halves[blocks, patches + 1]
    return found.reshape(len(places), PATCH_FRAMES * MEL_BANDS)


def _wholes(day: FrameBlocks) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    for number, portion in enumerate(day.portions()):
        yield number * BLOCKS_PER_PORTION, whole_patches(portion)


def whole_patches(portion: Bytes) -> NDArray[np.bool_]:
    """Which patches have all of their frames: block × patch."""
    halves = portion[:, : portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES, 0].reshape(
        len(portion), -1, STRIDE_FRAMES
    )
    there = (halves != ABSENT_BYTE).all(axis=2)
    return np.asarray(there[:, :-1] & there[:, 1:])


def _halves(portion: Bytes) -> Bytes:
    """Half patches in a row each: block × half × values."""
    frames = portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES
    return np.ascontiguousarray(portion[:, :frames]).reshape(
        len(portion), -1, STRIDE_FRAMES * MEL_BANDS
    )
