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
    unit_vectors,
)

# --- Spherical k-means ---------------------------------------------------------------------------


Floats = NDArray[np.float32]
KMEANS_ROUNDS = 30
VECTORS_PER_PORTION = 4096


def fit_spherical_kmeans(vectors: Floats, count: int, rng: np.random.Generator) -> Floats:
    """So many directions, or as many as there are vectors; the same generator, the same ones.

    It starts with vectors drawn at random. A centre that no vector is nearest to moves to the
    vector that is farthest from its own.
    """
    count = min(count, len(vectors))
    centres = vectors[np.sort(rng.choice(len(vectors), count, replace=False))]
    previous = None
    for _ in range(KMEANS_ROUNDS):
        nearest, cosines = assign_nearest(vectors, centres)
        if previous is not None and np.array_equal(nearest, previous):
            break
        previous = nearest
        centres = unit_vectors(_sum_by_centre(vectors, nearest, cosines, count))
    return centres


def assign_nearest(vectors: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Of every vector the nearest centre, and the cosine of the angle between them."""
    nearest = np.empty(len(vectors), np.intp)
    nearest_cosines = np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), VECTORS_PER_PORTION):
        cosines = vectors[first : first + VECTORS_PER_PORTION] @ centres.T
        best = cosines.argmax(axis=1)
        nearest[first : first + VECTORS_PER_PORTION] = best
        nearest_cosines[first : first + VECTORS_PER_PORTION] = cosines[np.arange(len(best)), best]
    return nearest, nearest_cosines


def _sum_by_centre(
    vectors: Floats, nearest: NDArray[np.intp], cosines: Floats, count: int
) -> Floats:
    """The sum of the vectors of each centre; one without any gets a far vector."""
    order = np.argsort(nearest, kind="stable")
    firsts = np.searchsorted(nearest[order], np.arange(count))
    sizes = np.bincount(nearest, minlength=count)
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    nonempty = np.flatnonzero(sizes)
    sums[nonempty] = np.add.reduceat(vectors[order], firsts[nonempty], axis=0)
    empty = np.flatnonzero(sizes == 0)
    sums[empty] = vectors[np.argsort(cosines, kind="stable")[: len(empty)]]
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


def prototype_count(blocks: int) -> int:
    """Prototypes among so many blocks.

    >>> prototype_count(10_800), prototype_count(100), prototype_count(16), prototype_count(15)
    (48, 25, 4, 0)
    """
    count = min(MAX_PROTOTYPES, blocks // MIN_BLOCKS_PER_PROTOTYPE)
    return count if count >= MIN_PROTOTYPES else 0


def few_classes_note(blocks: int) -> str:
    """What is said about classes that are few, or none; nothing if there are enough."""
    if blocks >= MIN_BLOCKS_WITHOUT_NOTE:
        return ""
    count = prototype_count(blocks)
    if not count:
        return f"{blocks} blocks are too few for classes of sound: sd and coverage are undefined"
    message = f"{blocks} blocks give {count} classes of sound, not {MAX_PROTOTYPES}"
    return f"{message}: sd and coverage tell less"


def find_prototypes(vectors: Floats, count: int) -> Prototypes:
    """So many prototypes; fewer if no more blocks differ."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    rows: list[int] = []
    columns: list[NDArray[np.float64]] = []
    nearest_squares = (
        _squared_distances(vectors, squares, vectors.mean(axis=0)) if len(vectors) else np.zeros(0)
    )
    while len(rows) < min(count, len(vectors)):
        row = int(np.argmax(nearest_squares) if rows else np.argmin(nearest_squares))
        if rows and nearest_squares[row] <= 1e-6 * squares.max():
            break  # all that are left are like one of them
        rows.append(row)
        columns.append(_squared_distances(vectors, squares, vectors[row]))
        nearest_squares = np.minimum(nearest_squares, columns[-1]) if len(rows) > 1 else columns[-1]
    if not rows:
        return Prototypes((), np.zeros((len(vectors), 0), np.float32))
    squared_distances = np.stack(columns, axis=1)
    reach = REACH_FACTOR * float(np.sqrt(np.median(nearest_squares)))
    return Prototypes(
        tuple(rows), np.exp(-squared_distances / max(reach**2, 1e-12)).astype(np.float32)
    )


def _squared_distances(
    vectors: Floats, squares: NDArray[np.float64], vector: Floats
) -> NDArray[np.float64]:
    """Squares of distances to one vector; its own is 0."""
    vector_square = float(np.einsum("i,i->", vector, vector, dtype=np.float64))
    distances = np.maximum(squares + vector_square - 2 * (vectors @ vector).astype(np.float64), 0.0)
    return np.asarray(np.where(distances < 1e-6 * (squares + vector_square), 0.0, distances))


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

    half_projections: Floats  # half a patch × dimensions for it as the first and as the second half
    projected_mean: Floats
    directions: Floats

    def pool(self, portion: Bytes) -> tuple[Floats, Floats]:
        """Mean and most of every code, a row a block."""
        is_whole = find_whole_patches(portion)
        all_patches = self.whiten(portion).reshape(is_whole.size, -1) if is_whole.all() else None
        patches = self._whiten_present(portion, is_whole) if all_patches is None else all_patches
        codes = np.maximum(unit_vectors(patches) @ self.directions.T - CODE_THRESHOLD, 0)
        counts = is_whole.sum(axis=1)
        has_patches, firsts = counts > 0, np.cumsum(counts) - counts
        means, maxima = (np.zeros((len(is_whole), codes.shape[1]), np.float32) for _ in range(2))
        if has_patches.any():
            means[has_patches] = np.add.reduceat(codes, firsts[has_patches], axis=0)
            maxima[has_patches] = np.maximum.reduceat(codes, firsts[has_patches], axis=0)
        return means / np.maximum(1, counts).astype(np.float32)[:, None], maxima

    def _whiten_present(self, portion: Bytes, is_whole: NDArray[np.bool_]) -> Floats:
        """Only patches that are there, in their dimensions, a row each."""
        halves, size = _half_patches(portion), len(self.projected_mean)
        first, second = (
            part[is_whole].astype(np.float32) for part in (halves[:, :-1], halves[:, 1:])
        )
        whitened = (
            first @ self.half_projections[:, :size]
            + second @ self.half_projections[:, size:]
            - self.projected_mean
        )
        return np.asarray(whitened, np.float32)

    def whiten(self, portion: Bytes) -> Floats:
        """Every patch in its dimensions: block × patch × dimension.

        Patches overlap by half, so each half is carried over once, for both of its patches.
        """
        halves = _half_patches(portion).astype(np.float32) @ self.half_projections
        size = len(self.projected_mean)
        return np.asarray(halves[:, :-1, :size] + halves[:, 1:, size:] - self.projected_mean)


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
        vectors = self.encode(day)
        standardise(vectors)
        vectors[:, vectors.shape[1] // 2 :] *= MAXIMUM_WEIGHT
        prototypes = find_prototypes(vectors, prototype_count(len(vectors)))
        names = tuple(
            f"{CLASS_NAME_PREFIX} {day.places[row].start:.0f} s" for row in prototypes.rows
        )
        return BlockEmbeddings(vectors, prototypes.classes, names)

    def encode(self, day: FrameBlocks) -> Floats:
        """Mean of every code, then the most of every code, a row a block."""
        codes = learn_codes(day, self.codes, np.random.default_rng(self.seed))
        width = len(codes.directions)
        vectors = np.zeros((len(day), 2 * width), np.float32)
        for number, portion in enumerate(day.portions()):
            rows = slice(number * BLOCKS_PER_PORTION, number * BLOCKS_PER_PORTION + len(portion))
            vectors[rows, :width], vectors[rows, width:] = codes.pool(portion)
        return vectors


def learn_codes(day: FrameBlocks, codes: int, rng: np.random.Generator) -> Codes:
    """Codes of a recording, from some of its patches; none without any."""
    patches = draw_patches(day, rng)
    patches -= patches.mean(axis=1, keepdims=True)
    mean_patch = (
        patches.mean(axis=0) if len(patches) else np.zeros(PATCH_FRAMES * MEL_BANDS, np.float32)
    )
    patches -= mean_patch
    whitening = _fit_whitening(patches)
    count = min(codes, -(-len(patches) // MIN_PATCHES_PER_CODE))
    directions = fit_spherical_kmeans(unit_vectors(patches @ whitening), count, rng)
    half = len(whitening) // 2
    # so that whitening also takes the mean of a patch off
    centred_whitening = whitening - whitening.mean(axis=0)
    return Codes(
        np.concatenate([centred_whitening[:half], centred_whitening[half:]], axis=1),
        mean_patch @ whitening,
        directions,
    )


def _fit_whitening(centred: Floats) -> Floats:
    """The way from patches to their main dimensions, each with a variance of 1."""
    variances, axes = np.linalg.eigh(centred.T @ centred / np.float32(max(1, len(centred))))
    variances, axes = variances[::-1][:WHITENED_DIMENSIONS], axes[:, ::-1][:, :WHITENED_DIMENSIONS]
    is_kept = variances > MIN_RELATIVE_VARIANCE * max(1.0, float(variances[0]))
    return np.asarray(axes[:, is_kept] / np.sqrt(variances[is_kept]), np.float32)


def draw_patches(day: FrameBlocks, rng: np.random.Generator) -> Floats:
    """Patches drawn at random from all that are whole, in their order, a row each."""
    no_places = np.zeros((0, 2), np.intp)
    portion_places = (
        np.add(np.argwhere(is_whole), (first_block, 0))
        for first_block, is_whole in _iterate_whole_patches(day)
    )
    places = np.concatenate([no_places, *portion_places])
    if len(places) > TRAINING_PATCHES:
        places = places[np.sort(rng.choice(len(places), TRAINING_PATCHES, replace=False))]
    drawn = np.empty((len(places), 2, PATCH_FRAMES * MEL_BANDS // 2), np.float32)
    for number, portion in enumerate(day.portions()):
        in_portion = places[:, 0] // BLOCKS_PER_PORTION == number
        blocks, patches = (places[in_portion] - (number * BLOCKS_PER_PORTION, 0)).T
        halves = _half_patches(portion)
        drawn[in_portion, 0] = halves[blocks, patches]
        drawn[in_portion, 1] = halves[blocks, patches + 1]
    return drawn.reshape(len(places), PATCH_FRAMES * MEL_BANDS)


def _iterate_whole_patches(day: FrameBlocks) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    for number, portion in enumerate(day.portions()):
        yield number * BLOCKS_PER_PORTION, find_whole_patches(portion)


def find_whole_patches(portion: Bytes) -> NDArray[np.bool_]:
    """Which patches have all of their frames: block × patch."""
    halves = portion[:, : portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES, 0].reshape(
        len(portion), -1, STRIDE_FRAMES
    )
    is_present = (halves != ABSENT_BYTE).all(axis=2)
    return np.asarray(is_present[:, :-1] & is_present[:, 1:])


def _half_patches(portion: Bytes) -> Bytes:
    """Half patches in a row each: block × half × values."""
    frames = portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES
    return np.ascontiguousarray(portion[:, :frames]).reshape(
        len(portion), -1, STRIDE_FRAMES * MEL_BANDS
    )
