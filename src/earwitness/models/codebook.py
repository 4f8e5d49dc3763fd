"""Embedder without model file: k-means codes and prototypes learnt from the recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from earwitness.audio.logmel import (
    ABSENT_BYTE,
    FRAMES_PER_SECOND,
    LOGMEL_FORMAT,
    MEL_BANDS,
    Bytes,
)
from earwitness.models.base import (
    BLOCKS_PER_PORTION,
    BlockEmbeddings,
    FrameBlocks,
    standardise,
)
from earwitness.stats.arrays import Bools

# --- Spherical k-means ---------------------------------------------------------------------------
# Processors sum products in different orders. So that codes and classes do not depend on this, they
# are computed in double precision, unit vectors are rounded so far that their products and sums are
# exact, and distances so far that equal ones stay equal.


Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
KMEANS_ROUNDS = 30
VECTORS_PER_PORTION = 4096
UNIT_STEPS = 2.0**24  # per 1, of the components of unit vectors
DISTANCE_DIGITS = 9  # of squared distances


def unit_vectors(vectors: Doubles) -> Doubles:
    """Return rows divided by their norm and rounded; rows of zeros are unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.rint(vectors * (UNIT_STEPS / np.where(lengths, lengths, 1))) / UNIT_STEPS)


def fit_spherical_kmeans(vectors: Doubles, count: int, rng: Generator) -> Doubles:
    """Return ``count`` centres (unit vectors), or as many as there are vectors.

    Starts from randomly drawn vectors. A centre without vectors moves to the vector that is
    farthest from its own centre.
    """
    count = min(count, len(vectors))
    centres = vectors[np.sort(rng.choice(len(vectors), count, replace=False))]
    previous = np.zeros(0, np.intp)
    for _ in range(KMEANS_ROUNDS):
        nearest, cosines = assign_nearest(vectors, centres)
        if np.array_equal(nearest, previous):
            break
        previous = nearest
        centres = unit_vectors(_sum_by_centre(vectors, nearest, cosines, count))
    return centres


def assign_nearest(vectors: Doubles, centres: Doubles) -> tuple[NDArray[np.intp], Doubles]:
    """Return the nearest centre of every vector, and the cosine between them."""
    nearest, nearest_cosines = np.empty(len(vectors), np.intp), np.empty(len(vectors))
    for first in range(0, len(vectors), VECTORS_PER_PORTION):
        portion = slice(first, first + VECTORS_PER_PORTION)
        cosines = vectors[portion] @ centres.T
        nearest[portion] = best = cosines.argmax(axis=1)
        nearest_cosines[portion] = cosines[np.arange(len(best)), best]
    return nearest, nearest_cosines


def _sum_by_centre(
    vectors: Doubles, nearest: NDArray[np.intp], cosines: Doubles, count: int
) -> Doubles:
    """Return the sum of the vectors of each centre; empty centres get a distant vector."""
    order = np.argsort(nearest, kind="stable")
    firsts = np.searchsorted(nearest[order], np.arange(count))
    sizes = np.bincount(nearest, minlength=count)
    sums = np.zeros((count, vectors.shape[1]))
    nonempty = np.flatnonzero(sizes)
    sums[nonempty] = np.add.reduceat(vectors[order], firsts[nonempty], axis=0)
    empty = np.flatnonzero(sizes == 0)
    sums[empty] = vectors[np.argsort(cosines, kind="stable")[: len(empty)]]
    return sums


# --- Segments ------------------------------------------------------------------------------------
# A block of several seconds may contain several sources, so classes are those of segments of 1 s.
# For every band, a segment has the mean and the maximum of the level, and its mean change over 20
# and over 100 ms; levels are relative to the mean of all bands, so loudness does not matter. These
# values, standardized, are projected to their principal dimensions, each divided by the square root
# of its standard deviation: halfway between plain and whitened. The vector of a segment is the mean
# over it and its neighbours, up to 5 s within its block: a source is rarely the same every second.


SEGMENT_FRAMES = 50  # 1 s
CHANGE_FRAMES = (1, 5)  # 20 and 100 ms
SEGMENT_DIMENSIONS = 30
NEIGHBOUR_SEGMENTS = 2  # on each side
TRAINING_BLOCKS = 2_500  # at most, to fit the projection


class SegmentProjection(NamedTuple):
    """Means and scales of the values of segments, and their projection."""

    means: Doubles
    projection: Doubles


def describe_segments(portion: Bytes, frames: int) -> tuple[Floats, Bools]:
    """Return values of every segment (block × segment × value), and which are complete."""
    count = portion.shape[1] // frames
    cut = portion[:, : count * frames].reshape(len(portion), count, frames, MEL_BANDS)
    is_whole = (cut[..., 0] != ABSENT_BYTE).all(axis=2)
    levels = cut.astype(np.float32)
    levels -= (levels @ np.ones(MEL_BANDS, np.float32) / MEL_BANDS)[..., None]
    parts = [levels.mean(axis=2), levels.max(axis=2)]
    for step in CHANGE_FRAMES:
        steps = frames // step
        if steps < 2:
            parts.append(np.zeros_like(parts[0]))
            continue
        averaged = levels
        if step > 1:
            kept = levels[:, :, : steps * step]
            averaged = kept.reshape(len(kept), count, steps, step, MEL_BANDS).mean(axis=3)
        changes = averaged[:, :, 1:] - averaged[:, :, :-1]
        parts.append(np.abs(changes, out=changes).mean(axis=2))
    return np.concatenate(parts, axis=2), is_whole


def fit_segment_projection(values: Floats) -> SegmentProjection:
    """Return the projection that is learnt from the values of segments, one row each."""
    means, spreads = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64)
    scales = 1 / np.where(spreads > MIN_SEGMENT_SPREAD, spreads, np.inf)
    scaled = (values - means) * scales
    variances, axes = _find_main_axes(scaled, SEGMENT_DIMENSIONS)
    return SegmentProjection(means, scales[:, None] * axes / variances**0.25)


def _find_main_axes(centred: Doubles, count: int) -> tuple[Doubles, Doubles]:
    """Return the largest variances that are not 0, and their axes as columns."""
    variances, axes = np.linalg.eigh(centred.T @ centred / max(1, len(centred)))
    variances, axes = variances[::-1][:count], axes[:, ::-1][:, :count]
    is_kept = variances > MIN_RELATIVE_VARIANCE * max(1.0, float(variances[0]))
    return variances[is_kept], axes[:, is_kept]


class SoundSegments(NamedTuple):
    """Vectors of all complete segments, with their block and position in it."""

    vectors: Doubles
    block: NDArray[np.int64]
    position: NDArray[np.int64]


def find_segments(day: FrameBlocks) -> SoundSegments:
    """Return the segments of all blocks; a block shorter than a segment is one segment."""
    frames = min(SEGMENT_FRAMES, day.rows)
    step = -(-len(day) // TRAINING_BLOCKS)
    rows = [np.zeros((0, (2 + len(CHANGE_FRAMES)) * MEL_BANDS), np.float32)]
    for first in range(0, len(day), step * BLOCKS_PER_PORTION):
        places = range(first, min(len(day), first + step * BLOCKS_PER_PORTION), step)
        portion = np.concatenate([day.portion(place, place + 1) for place in places])
        values, is_whole = describe_segments(portion, frames)
        rows.append(values[is_whole])
    fitted = fit_segment_projection(np.concatenate(rows))
    vectors = [np.zeros((0, fitted.projection.shape[1]))]
    found = [np.zeros((0, 2), np.int64)]
    for number, portion in enumerate(day.portions()):
        values, is_whole = describe_segments(portion, frames)
        projected = (values - fitted.means) @ fitted.projection
        vectors.append(average_neighbours(projected, is_whole)[is_whole])
        found.append(np.add(np.argwhere(is_whole), (number * BLOCKS_PER_PORTION, 0)))
    places_found = np.concatenate(found)
    return SoundSegments(np.concatenate(vectors), places_found[:, 0], places_found[:, 1])


def average_neighbours(vectors: Doubles, is_whole: Bools) -> Doubles:
    """Return means of each segment and its neighbours (block × segment × dimension).

    Neighbours are up to two complete segments before and after it in the same block.
    """
    complete = np.where(is_whole[..., None], vectors, 0)
    sums, counts = complete.copy(), is_whole.astype(np.float64)
    for step in range(1, min(NEIGHBOUR_SEGMENTS, is_whole.shape[1] - 1) + 1):
        sums[:, step:] += complete[:, :-step]
        sums[:, :-step] += complete[:, step:]
        counts[:, step:] += is_whole[:, :-step]
        counts[:, :-step] += is_whole[:, step:]
    return np.asarray(sums / np.maximum(counts, 1)[..., None])


# --- Prototype classes ---------------------------------------------------------------------------
# Prototypes are segments that differ as much as possible: the first is nearest to the mean of all,
# each further one is farthest from the previous ones (Gonzalez 1985) among those with support: at
# least three other segments are nearer to it than half that distance. So a sound that occurs once a
# day has a prototype, as a sound that lasts all day has, but a chance mixture of sounds has none.
# How far a prototype is from the previous ones is its separation s, and its weight is (s / S)²,
# where S is the largest separation. A block whose nearest segment is at distance d has the class
# value weight × max(0, 1 − d / s). Classes of sounds that differ clearly from all others therefore
# count more than those of similar sounds.
#
# If all segments are alike, as in silence, there are no classes, and measures based on them are
# undefined; the same holds for recordings of few blocks. The first and the last block may differ,
# since a constant signal has an edge there.


MAX_PROTOTYPES = 128
MIN_SEGMENTS_PER_PROTOTYPE = 4
MIN_SUPPORT_SEGMENTS = 3  # other segments that resemble a prototype
MIN_BLOCKS_WITH_CLASSES = 16  # with fewer, there are no classes
MIN_BLOCKS_WITHOUT_NOTE = 96  # with fewer, a note says that classes are less reliable
MIN_RELATIVE_SEPARATION = 1e-3  # segments nearer than this are alike
MIN_SEGMENT_SPREAD = 1e-3  # half decibels; values that vary less are constant
ALIKE_NOTE = "the recording sounds the same throughout: tc, sd and coverage are undefined"


class Prototypes(NamedTuple):
    """Rows of the prototype segments, and how far each is from the previous ones."""

    rows: tuple[int, ...]
    separations: tuple[float, ...]


def few_classes_note(blocks: int, classes: int = MAX_PROTOTYPES) -> str:
    """Return a note if there are no sound classes or few blocks, else an empty string."""
    if blocks < MIN_BLOCKS_WITH_CLASSES:
        return f"{blocks} blocks are too few to define sound classes: sd and coverage are undefined"
    if not classes:
        return ALIKE_NOTE
    if blocks >= MIN_BLOCKS_WITHOUT_NOTE:
        return ""
    message = f"sound classes are defined by only {blocks} blocks"
    return f"{message}: sd and coverage are less reliable"


def find_prototypes(
    vectors: Doubles, count: int, support: int = MIN_SUPPORT_SEGMENTS
) -> Prototypes:
    """Return up to ``count`` prototypes; none if there are fewer than two distinct vectors.

    Each but the first has at least ``support`` other vectors nearer to it than half its separation.
    """
    if not len(vectors):
        return Prototypes((), ())
    squares = np.einsum("ij,ij->i", vectors, vectors)
    to_mean = _squared_distances(vectors, squares, vectors.mean(axis=0))
    rows, separations = [int(np.argmin(to_mean))], list[float]()
    # squared distances to the nearest prototype; 0 for vectors without support
    candidate_squares = _squared_distances(vectors, squares, vectors[rows[0]])
    while len(rows) < min(count, len(vectors)):
        row = int(np.argmax(candidate_squares))
        separation = float(np.sqrt(candidate_squares[row]))
        if separation <= MIN_RELATIVE_SEPARATION * max([1.0, *separations[:1]]):
            break  # all other vectors are alike one of the prototypes, or have no support
        distances = _squared_distances(vectors, squares, vectors[row])
        if np.count_nonzero(distances < candidate_squares[row] / 4) <= support:  # itself included
            candidate_squares[row] = 0.0  # separations only shrink, so it never gains support
            continue
        rows.append(row)
        separations.append(separation)
        candidate_squares = np.minimum(candidate_squares, distances)
    if not separations:
        return Prototypes((), ())
    return Prototypes(tuple(rows), (separations[0], *separations))


def measure_classes(segments: SoundSegments, prototypes: Prototypes, blocks: int) -> Floats:
    """Return the class values of every block."""
    classes = np.zeros((blocks, len(prototypes.rows)), np.float32)
    if not prototypes.rows:
        return classes
    exact, vectors = np.array(prototypes.separations), segments.vectors
    weights = np.asarray((exact / exact.max(initial=1e-12)) ** 2, np.float32)
    separations = exact.astype(np.float32)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    firsts = np.flatnonzero(np.diff(segments.block, prepend=-1))  # first segment of each block
    for column, row in enumerate(prototypes.rows):
        distances = np.sqrt(_squared_distances(vectors, squares, vectors[row]))
        values = weights[column] * np.maximum(0, 1 - distances / separations[column])
        classes[segments.block[firsts], column] = np.maximum.reduceat(values, firsts)
    return classes


def _squared_distances(vectors: Doubles, squares: Doubles, vector: Doubles) -> Doubles:
    """Return squared distances to one vector; exactly 0 for itself."""
    sums = squares + np.einsum("i,i->", vector, vector)
    distances = np.round(np.maximum(sums - 2 * (vectors @ vector), 0.0), DISTANCE_DIGITS)
    return np.asarray(np.where(distances < 1e-6 * sums, 0.0, distances))


# --- Codebook embedder ---------------------------------------------------------------------------
# Patches of 16 frames (0.32 s), with their mean subtracted to ignore loudness, are whitened to 60
# dimensions and clustered around 400 directions, the codes. For each code, a block has the mean and
# the maximum of max(0, cosine − 0.1) over its patches; both, standardized over the recording, with
# the maximum at half weight, are its vector. Classes are prototypes among the segments. After
# Coates and Ng (2012), Learning feature representations with k-means.


PATCH_FRAMES = 16
STRIDE_FRAMES = 8  # half a patch
TRAINING_PATCHES = 20_000  # training patches
WHITENED_DIMENSIONS = 60
DEFAULT_CODES = 400
CLASS_NAME_PREFIX = "like"  # class names: like the block at that time
MIN_PATCHES_PER_CODE = 10  # short recordings have fewer codes
CODE_THRESHOLD = np.float32(0.1)
MAXIMUM_WEIGHT = np.float32(0.5)  # weight of the maximum relative to the mean
MIN_RELATIVE_VARIANCE = 1e-5  # smallest relative variance of a dimension


@dataclass(frozen=True, slots=True)
class Codes:
    """Learnt projection from patches to whitened dimensions, and the codes."""

    half_projections: Doubles  # half patch × (dimensions as first half, as second half)
    projected_mean: Doubles
    directions: Doubles

    def pool(self, portion: Bytes) -> tuple[Floats, Floats]:
        """Return mean and maximum of every code, one row per block."""
        is_whole = find_whole_patches(portion)
        patches = (
            self.whiten(portion).reshape(is_whole.size, -1)
            if is_whole.all()
            else self._whiten_present(portion, is_whole)
        )
        codes = (unit_vectors(patches) @ self.directions.T).astype(np.float32)
        codes -= CODE_THRESHOLD
        np.maximum(codes, 0, out=codes)
        counts = is_whole.sum(axis=1)
        has_patches, firsts = counts > 0, np.cumsum(counts) - counts
        means, maxima = (np.zeros((len(is_whole), codes.shape[1]), np.float32) for _ in range(2))
        if has_patches.any():
            means[has_patches] = np.add.reduceat(codes, firsts[has_patches], axis=0)
            maxima[has_patches] = np.maximum.reduceat(codes, firsts[has_patches], axis=0)
        return means / np.maximum(1, counts).astype(np.float32)[:, None], maxima

    def _whiten_present(self, portion: Bytes, is_whole: Bools) -> Doubles:
        """Return only the complete patches, whitened, one row each."""
        halves, size = _half_patches(portion), len(self.projected_mean)
        parts = (halves[:, :-1], halves[:, 1:])
        first, second = (part[is_whole].astype(np.float64) for part in parts)
        whitened = first @ self.half_projections[:, :size]
        whitened += second @ self.half_projections[:, size:]
        return np.asarray(whitened - self.projected_mean)

    def whiten(self, portion: Bytes) -> Doubles:
        """Return all patches, whitened: block × patch × dimension.

        Patches overlap by half, so each half is projected once, for both of its patches.
        """
        rows, size = _half_patches(portion).astype(np.float64), len(self.projected_mean)
        # one large product: many small ones keep the threads of a matrix library waiting
        flat = rows.reshape(-1, rows.shape[2]) @ self.half_projections
        halves = flat.reshape(*rows.shape[:2], -1)
        return np.asarray(halves[:, :-1, :size] + halves[:, 1:, size:] - self.projected_mean)


@dataclass(frozen=True, slots=True)
class Codebook:
    """The codebook embedder; the seed sets the training patches and the start of k-means."""

    seed: int = 0
    codes: int = DEFAULT_CODES
    name: ClassVar[str] = "codebook"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All settings that determine the result."""
        return (
            f"codebook/6,{LOGMEL_FORMAT},patch={PATCH_FRAMES},stride={STRIDE_FRAMES},patches={TRAINING_PATCHES},"
            f"dimensions={WHITENED_DIMENSIONS},codes={self.codes},threshold={CODE_THRESHOLD:g},most={MAXIMUM_WEIGHT:g},"
            f"segment={SEGMENT_FRAMES},neighbours={NEIGHBOUR_SEGMENTS},prototypes={MAX_PROTOTYPES},"
            f"support={MIN_SUPPORT_SEGMENTS},weights=squares,seed={self.seed}"
        )

    def embed(self, day: FrameBlocks) -> BlockEmbeddings:
        """Learn codes and classes from the blocks and embed them."""
        classes = learn_classes(day)  # first, so that memory never holds segments and vectors
        vectors = self.encode(day)
        standardise(vectors)
        vectors[:, vectors.shape[1] // 2 :] *= MAXIMUM_WEIGHT
        return BlockEmbeddings(vectors, *classes)

    def encode(self, day: FrameBlocks) -> Floats:
        """Return the mean of every code, then the maximum of every code, one row per block."""
        codes = learn_codes(day, self.codes, np.random.default_rng(self.seed))
        width = len(codes.directions)
        vectors = np.zeros((len(day), 2 * width), np.float32)
        for number, portion in enumerate(day.portions()):
            rows = slice(number * BLOCKS_PER_PORTION, number * BLOCKS_PER_PORTION + len(portion))
            vectors[rows, :width], vectors[rows, width:] = codes.pool(portion)
        return vectors


def learn_classes(day: FrameBlocks) -> tuple[Floats, tuple[str, ...]]:
    """Return the class values of every block, and the names of the classes."""
    if len(day) < MIN_BLOCKS_WITH_CLASSES:
        return np.zeros((len(day), 0), np.float32), ()
    segments = find_segments(day)
    is_inner = (segments.block > 0) & (segments.block < len(day) - 1)  # not at an edge of the sound
    if not np.ptp(segments.vectors[is_inner], axis=0).any():
        return np.zeros((len(day), 0), np.float32), ()
    count = min(MAX_PROTOTYPES, len(segments.vectors) // MIN_SEGMENTS_PER_PROTOTYPE)
    prototypes = find_prototypes(segments.vectors, count)
    if not prototypes.rows:  # in a short recording, no two segments may be alike
        prototypes = find_prototypes(segments.vectors, count, support=0)
    seconds = min(SEGMENT_FRAMES, day.rows) / FRAMES_PER_SECOND
    names = tuple(
        f"{CLASS_NAME_PREFIX} {day.places[segments.block[row]].start + at:.0f} s"
        for row in prototypes.rows
        for at in (seconds * segments.position[row],)
    )
    return measure_classes(segments, prototypes, len(day)), names


def learn_codes(day: FrameBlocks, codes: int, rng: Generator) -> Codes:
    """Learn the codes of a recording from some of its patches; no codes without patches."""
    patches = draw_patches(day, rng).astype(np.float64)
    patches -= patches.mean(axis=1, keepdims=True)
    mean_patch = patches.mean(axis=0) if len(patches) else np.zeros(PATCH_FRAMES * MEL_BANDS)
    patches -= mean_patch
    variances, axes = _find_main_axes(patches, WHITENED_DIMENSIONS)
    whitening = axes / np.sqrt(variances)
    count = min(codes, -(-len(patches) // MIN_PATCHES_PER_CODE))
    directions = fit_spherical_kmeans(unit_vectors(patches @ whitening), count, rng)
    half = len(whitening) // 2
    # so that whitening also subtracts the mean of a patch
    centred_whitening = whitening - whitening.mean(axis=0)
    return Codes(
        np.concatenate([centred_whitening[:half], centred_whitening[half:]], axis=1),
        mean_patch @ whitening,
        directions,
    )


def draw_patches(day: FrameBlocks, rng: Generator) -> Floats:
    """Return randomly drawn complete patches in order, one row each."""
    no_places = np.zeros((0, 2), np.intp)
    portion_places = (
        np.add(np.argwhere(find_whole_patches(portion)), (number * BLOCKS_PER_PORTION, 0))
        for number, portion in enumerate(day.portions())
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


def find_whole_patches(portion: Bytes) -> Bools:
    """Return which patches have all their frames: block × patch."""
    frames = portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES
    halves = portion[:, :frames, 0].reshape(len(portion), -1, STRIDE_FRAMES)
    is_present = (halves != ABSENT_BYTE).all(axis=2)
    return np.asarray(is_present[:, :-1] & is_present[:, 1:])


def _half_patches(portion: Bytes) -> Bytes:
    """Return half patches, one row each: block × half × values."""
    frames = portion.shape[1] // STRIDE_FRAMES * STRIDE_FRAMES
    return np.ascontiguousarray(portion[:, :frames]).reshape(
        len(portion), -1, STRIDE_FRAMES * MEL_BANDS
    )
