"""Chapter metrics of time: chunks, collar, R-value, deviation, segments, agreement."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from earwitness.chapters.boundaries import (
    BoundaryEvents,
    ChunkGrid,
    boundary_similarity,
    edits,
    generalised_hamming,
    window_errors,
)
from earwitness.chapters.cases import ChapterCases
from earwitness.chapters.matching import MATCHINGS, Partition, median_distance
from earwitness.core import Case, Value
from earwitness.metric import (
    PairMetric,
    at_least,
    harmonic,
    mean_pool,
    mean_statistics,
    mean_values,
    one_of,
    ratio,
)
from earwitness.stats.arrays import Bools, Floats, Ints, same_rows

# --- Base of chapter metrics ---------------------------------------------------------------------


EDGE_OPTION = {"help": "boundaries this close to start or end count on neither side, in seconds"}


@dataclass(frozen=True)
class ChapterMetric(PairMetric):
    """A family of chapter values; an edge of 0 leaves every boundary where its metric wants it."""

    task = "chapters"
    edge: float = field(default=0.0, kw_only=True, metadata=EDGE_OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "edge", at_least(0, "edge", self.edge))

    @abstractmethod
    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Statistics of outputs, each beside one reference."""

    def columns(self, cases: Sequence[Case]) -> ChapterCases:
        return ChapterCases.of(cases)

    def pairs(self, columns: ChapterCases) -> ChapterCases:
        return columns.each().without_edges(self.edge)

    def same(self, pairs: ChapterCases) -> Bools:
        return same_rows(*pairs.positive())


@dataclass(frozen=True)
class ChapterMeans(ChapterMetric):
    """Subclasses say what each value of a pair is; NaN leaves it out of that value's mean."""

    @abstractmethod
    def pair_values(self, pairs: ChapterCases) -> Floats:
        """A row a pair, a column a value."""

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        return mean_statistics(self.pair_values(pairs))

    def score(self, statistics: Floats) -> Floats:
        return mean_values(statistics)

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        return mean_pool(statistics, counts)


# --- Base of chunk metrics -----------------------------------------------------------------------


CHUNK_SIZE_OPTION = {"help": "length of a chunk, in seconds"}
MIN_CHUNK_SECONDS = 0.001  # thirty years of such chunks can still be counted


@dataclass(frozen=True)
class ChunkedMetric(ChapterMetric):
    """A family over chunks of time."""

    chunk_size: float = field(default=6.0, metadata=CHUNK_SIZE_OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "chunk_size", at_least(MIN_CHUNK_SECONDS, "chunk_size", self.chunk_size)
        )


# --- Chunks of time ------------------------------------------------------------------------------


# statistics 1 … 10 are per-case values whose mean is wanted, in the order of `values`
MEAN_VALUE_COUNT = 10
INF = float("inf")


@dataclass(frozen=True)
class Chunks(ChunkedMetric):
    """Chapters in discretised time, as chunkseg counts them.

    Time is cut into chunks of equal length; a chunk is 1 if a boundary lies in it. What does not
    fill a whole chunk at the end is cut off. Boundaries at or before 0 are no boundaries.
    """

    name = "chunks"
    title = "Chapters in discretised time"
    values = (
        Value("precision", "high", 0, 1, "boundary chunks of the output that the reference has"),
        Value("recall", "high", 0, 1, "boundary chunks of the reference that the output has"),
        Value("accuracy", "high", 0, 1, "chunks on which both sides agree"),
        Value("specificity", "high", 0, 1, "chunks without reference boundary left alone"),
        Value("pk", "low", 0, 1, "windows where exactly one side has a boundary"),
        Value("window_diff", "low", 0, 1, "windows with different numbers of boundaries"),
        Value("boundary_similarity", "high", 0, 1, "Fournier's B, near misses by one chunk"),
        Value("ghd", "low", 0, INF, "generalised Hamming distance, add or drop 2, shift 1"),
        Value("num_segments", "none", 0, INF, "boundary chunks of the output"),
        Value("reference/num_segments", "none", 0, INF, "boundary chunks of the reference"),
        Value("f1", "high", 0, 1, "harmonic mean of mean precision and mean recall"),
        Value("f1_micro", "high", 0, 1, "F1 of the counts of all cases together"),
        Value("f1_sample", "high", 0, 1, "mean of each case's own F1"),
    )
    headline = "boundary_similarity"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "precision, recall, f1 0; pk, window_diff, ghd 0; boundary_similarity 1",
        "output empty": "precision, recall, f1 0; boundary_similarity 0; ghd 2 per boundary",
        "reference empty": "precision, recall, f1 0; boundary_similarity 0; ghd 2 per boundary",
        "shorter than one chunk": "every value undefined, counted",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Beeferman, Berger and Lafferty (1999), Statistical Models for Text Segmentation",
        "Pevzner and Hearst (2002), A Critique and Improvement of an Evaluation Metric for Text "
        "Segmentation",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
        "Bookstein, Kulyukin and Raita (2002), Generalized Hamming Distance",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        grid = ChunkGrid.of(pairs.duration, self.chunk_size)
        events = BoundaryEvents.of(grid, pairs.output, pairs.reference)
        tp = events.both
        fp, fn = events.n_output - tp, events.n_reference - tp
        tn = grid.chunks - tp - fp - fn
        precision, recall = ratio(tp, tp + fp, 0.0), ratio(tp, tp + fn, 0.0)
        pk, window_diff = window_errors(grid, events)
        rows = [
            np.ones(len(pairs)),
            precision,
            recall,
            ratio(tp + tn, grid.chunks, 0.0),
            ratio(tn, tn + fp, 0.0),
            pk,
            window_diff,
            boundary_similarity(events),
            generalised_hamming(events),
            events.n_output,
            events.n_reference,
            harmonic(precision, recall),
            2 * tp,
            2 * tp + fp + fn,
        ]
        return np.where(grid.chunks > 0, np.array(rows, np.float64), 0.0).T

    def score(self, statistics: Floats) -> Floats:
        count = statistics[..., 0]
        means = ratio(statistics[..., 1 : MEAN_VALUE_COUNT + 2], count[..., None], np.nan)
        f1 = harmonic(means[..., 0], means[..., 1])
        f1_micro = ratio(
            statistics[..., MEAN_VALUE_COUNT + 2], statistics[..., MEAN_VALUE_COUNT + 3], 0.0
        )
        f1_micro = np.where(count > 0, f1_micro, np.nan)
        extra = np.stack([f1, f1_micro, means[..., MEAN_VALUE_COUNT]], axis=-1)
        return np.concatenate([means[..., :MEAN_VALUE_COUNT], extra], axis=-1)


# --- Base of matching metrics --------------------------------------------------------------------


COLLAR_OPTION = {"help": "largest distance of a match, in seconds"}
MATCHING_OPTION = {
    "help": "closest pairs first, or as many as possible",
    "choices": tuple(MATCHINGS),
}


@dataclass(frozen=True)
class MatchedMetric(ChapterMeans):
    """Values made of how many boundaries match, and how many there are on either side."""

    collar: float = field(default=3.0, metadata=COLLAR_OPTION)
    matching: str = field(default="greedy", metadata=MATCHING_OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "collar", at_least(0, "collar", self.collar))
        one_of(MATCHINGS, "matching", self.matching)

    def counts(self, pairs: ChapterCases) -> tuple[Ints, Ints, Ints]:
        """Matches, boundaries of the output, boundaries of the reference."""
        return _counts(pairs, self.collar, self.matching)


@lru_cache(maxsize=16)
def _counts(pairs: ChapterCases, collar: float, matching: str) -> tuple[Ints, Ints, Ints]:
    """Kept, since several families ask the same of the same cases one after the other."""
    output, reference = pairs.positive()
    matches = MATCHINGS[matching](output, reference, collar)
    return matches, output.lengths, reference.lengths


# --- Boundaries within a collar ------------------------------------------------------------------


@dataclass(frozen=True)
class Collar(MatchedMetric):
    """Chapters in continuous time: boundaries matched one to one within a collar.

    Boundaries at or before 0 are no boundaries; repeated ones and ones past the duration count.
    Greedy matching takes the closest pairs first, as chunkseg does; optimal matching makes as many
    pairs as can be made, as mir_eval does.
    """

    name = "collar"
    title = "Chapters in continuous time"
    values = (
        Value("collar_precision", "high", 0, 1, "boundaries of the output that find a partner"),
        Value("collar_recall", "high", 0, 1, "boundaries of the reference that find a partner"),
        Value("collar_f1", "high", 0, 1, "mean of each case's F1"),
    )
    headline = "collar_f1"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "1, 1, 1",
        "output empty": "0, 0, 0",
        "reference empty": "0, 0, 0",
        "shorter than one chunk": "defined: the collar does not look at the duration",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Raffel et al. (2014), mir_eval: A Transparent Implementation of Common MIR Metrics",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        matches, n_output, n_reference = self.counts(pairs)
        both_empty = (n_output == 0) & (n_reference == 0)
        precision = np.where(both_empty, 1.0, ratio(matches, n_output, 0.0))
        recall = np.where(both_empty, 1.0, ratio(matches, n_reference, 0.0))
        return np.stack([precision, recall, harmonic(precision, recall)], axis=1)


# --- R-value and over-segmentation ---------------------------------------------------------------


@dataclass(frozen=True)
class RValue(MatchedMetric):
    """The R-value: hits weighed against over-segmentation, which inflates recall.

    With hit rate HR (the recall within the collar) and over-segmentation OS = outputs per reference
    boundary − 1: R = 1 − (√((1 − HR)² + OS²) + |HR − 1 − OS| / √2) / 2.
    """

    name = "r_value"
    title = "Hits against over-segmentation"
    values = (
        Value("r_value", "high", -INF, 1, "1 if every boundary is hit and none is added"),
        Value("over_segmentation", "none", -1, INF, "boundaries too many per reference boundary"),
    )
    headline = "r_value"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "over_segmentation -1; r_value 1 - √2 / 2",
        "reference empty": "undefined",
    }
    references = (
        "Räsänen, Laine and Altosaar (2009), An Improved Speech Segmentation Quality Measure: "
        "the R-value",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        hits, n_output, n_reference = self.counts(pairs)
        hit_rate = ratio(hits, n_reference, np.nan)
        over = ratio(n_output, n_reference, np.nan) - 1
        from_target = np.sqrt((1 - hit_rate) ** 2 + over**2)
        from_line = np.abs(hit_rate - 1 - over) / np.sqrt(2)
        return np.stack([1 - (from_target + from_line) / 2, over], axis=1)


# --- Deviation in seconds ------------------------------------------------------------------------


@dataclass(frozen=True)
class Deviation(ChapterMeans):
    """How far off boundaries are: median distances to the nearest boundary of the other side.

    Boundaries at or before 0 are no boundaries. Without a boundary on either side there is no
    distance.
    """

    name = "deviation"
    title = "Distance to the nearest boundary"
    values = (
        Value("deviation_of_reference", "low", 0, INF, "from reference boundaries, in seconds"),
        Value("deviation_of_output", "low", 0, INF, "from output boundaries, in seconds"),
    )
    headline = "deviation_of_reference"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "undefined",
        "reference empty": "undefined",
    }
    references = (
        "Turnbull et al. (2007), A Supervised Approach for Detecting Boundaries in Music",
        "Raffel et al. (2014), mir_eval: A Transparent Implementation of Common MIR Metrics",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        output, reference = pairs.positive()
        return np.stack(
            [median_distance(reference, output), median_distance(output, reference)], axis=1
        )


# --- Segmentation similarity ---------------------------------------------------------------------


@dataclass(frozen=True)
class Similarity(ChapterMeans, ChunkedMetric):
    """Segmentation similarity S: the share of places between units at which no edit is needed.

    Time is cut into chunks as for `chunks`; a boundary that is off by one chunk is half an edit.
    """

    name = "similarity"
    title = "Segmentation similarity"
    values = (
        Value("segmentation_similarity", "high", 0, 1, "chunks at which nothing must be edited"),
    )
    headline = "segmentation_similarity"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "1",
        "output empty": "1 less the share of chunks with a reference boundary",
        "reference empty": "1 less the share of chunks with an output boundary",
        "shorter than one chunk": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        grid = ChunkGrid.of(pairs.duration, self.chunk_size)
        additions, swaps = edits(BoundaryEvents.of(grid, pairs.output, pairs.reference))
        share = ratio(additions + swaps / 2, grid.chunks, np.nan)
        return np.asarray(1 - share[:, None])


# --- Segments as partitions ----------------------------------------------------------------------


@dataclass(frozen=True)
class Segments(ChapterMeans):
    """Chapters as partitions of time: which moments belong together.

    Boundaries strictly between 0 and the duration cut the recording into segments. Purity and
    coverage weigh moments by time, exactly. V-measure, adjusted Rand index and pairs count frames,
    points in time that lie `frame` apart; how many there are follows from the boundaries, so that
    the duration costs nothing.
    """

    frame: float = field(default=0.1, metadata={"help": "distance of frames, in seconds"})

    name = "segments"
    title = "Chapters as partitions of time"
    values = (
        Value("purity", "high", 0, 1, "time in the main reference segment of an output segment"),
        Value("coverage", "high", 0, 1, "time in the main output segment of a reference segment"),
        Value("purity_coverage_f", "high", 0, 1, "harmonic mean of a case's purity and coverage"),
        Value("homogeneity", "high", 0, 1, "how much of the reference the output tells"),
        Value("completeness", "high", 0, 1, "how much of the output the reference tells"),
        Value("v_measure", "high", 0, 1, "harmonic mean of homogeneity and completeness"),
        Value("adjusted_rand", "high", -1, 1, "agreement of pairs of frames beyond chance"),
        Value("pairwise_precision", "high", 0, 1, "pairs joined by the output that belong"),
        Value("pairwise_recall", "high", 0, 1, "pairs that belong joined by the output"),
        Value("pairwise_f", "high", 0, 1, "harmonic mean of a case's pairwise values"),
    )
    headline = "v_measure"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "1: a single segment on both sides",
        "output empty": "completeness 1, adjusted_rand and homogeneity 0",
        "reference empty": "homogeneity 1, adjusted_rand and completeness 0",
        "shorter than two frames": "pairs and adjusted_rand undefined",
        "shorter than one frame": "homogeneity, completeness and v_measure undefined too",
        "no pair of frames joined": "precision 1 if the output joins none, recall 1 likewise",
        "no duration": "every value undefined",
    }
    references = (
        "Bredin (2017), pyannote.metrics: A Toolkit for Reproducible Evaluation",
        "Rosenberg and Hirschberg (2007), V-Measure",
        "Hubert and Arabie (1985), Comparing Partitions",
        "Levy and Sandler (2008), Structural Segmentation of Musical Audio",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "frame", at_least(0.001, "frame", self.frame))

    def pair_values(self, pairs: ChapterCases) -> Floats:
        partition = Partition.of(pairs, self.frame)
        purity, coverage = partition.purity()
        homogeneity, completeness = partition.homogeneity()
        both, of_output, of_reference, all_pairs = partition.pairs()
        chance = ratio(of_output * of_reference, all_pairs, np.nan)
        most = (of_output + of_reference) / 2
        rand = ratio(both - chance, most - chance, 1.0)
        defined = np.where(all_pairs > 0, 1.0, np.nan)  # who joins nothing joins nothing wrongly
        precision, recall = (ratio(both, of, 1.0) * defined for of in (of_output, of_reference))
        columns = [purity, coverage, harmonic(purity, coverage)]
        columns += [homogeneity, completeness, harmonic(homogeneity, completeness)]
        columns += [np.where(all_pairs > 0, rand, np.nan)]
        columns += [precision, recall, harmonic(precision, recall)]
        return np.stack(columns, axis=1)


# --- Agreement beyond chance ---------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement(ChunkedMetric):
    """Agreement beyond chance: boundary similarity of all cases together, less what chance gives.

    Time is cut into chunks as for `chunks`. The observed agreement A is Fournier's B over the edits
    of all cases; chance puts a boundary into a chunk as often as both sides do on average, and two
    of them into the same one with the square of that share, E. π = (A − E) / (1 − E) is Scott's π
    for two and Fleiss' for several people, as segeval defines it; it is the usual agreement between
    annotators.
    """

    name = "agreement"
    title = "Agreement beyond chance"
    values = (
        Value("agreement", "high", 0, 1, "B over the edits of all cases together"),
        Value("pi", "high", -INF, 1, "agreement beyond chance, 1 if perfect, 0 if by chance"),
    )
    headline = "pi"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined alone: there is nothing to agree on",
        "output empty": "0, and below 0",
        "reference empty": "0, and below 0",
        "shorter than one chunk": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Artstein and Poesio (2008), Inter-Coder Agreement for Computational Linguistics",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        grid = ChunkGrid.of(pairs.duration, self.chunk_size)
        events = BoundaryEvents.of(grid, pairs.output, pairs.reference)
        additions, swaps = edits(events)
        boundary_count = events.n_output + events.n_reference
        rows = [
            events.both + swaps / 2,
            events.both + swaps + additions,
            ratio(boundary_count, 2 * grid.chunks, 0.0),
            np.ones(len(pairs)),
        ]
        return np.where(grid.chunks > 0, np.array(rows, np.float64), 0.0).T

    def score(self, statistics: Floats) -> Floats:
        good, total, share, count = np.moveaxis(statistics, -1, 0)
        observed = ratio(good, total, np.nan)
        chance = ratio(share, count, np.nan) ** 2
        pi = ratio(observed - chance, 1 - chance, np.nan)
        return np.stack([observed, pi], axis=-1)
