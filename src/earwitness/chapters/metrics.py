"""Chapter metrics of time: chunks, collar, R-value, deviation, segments, agreement."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

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
from earwitness.chapters.matching import MATCHINGS, Partition, median_distance, undivided
from earwitness.core import Case, Value
from earwitness.metric import (
    PairMetric,
    harmonic,
    mean_pool,
    mean_statistics,
    mean_values,
    ratio,
)
from earwitness.stats.arrays import Bools, Floats, Ints, same_rows

# --- Base of chapter metrics ---------------------------------------------------------------------


@dataclass(frozen=True)
class ChapterMetric(PairMetric):
    """Base class of chapter metrics.

    Parameters
    ----------
    edge
        Distance from the start and the end, in seconds, within which boundaries are ignored on
        both sides.
    """

    task = "chapters"
    edge: float = field(default=0.0, kw_only=True, metadata={"least": 0})

    @abstractmethod
    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Compute the statistics of pairs of an output and one reference."""

    def columns(self, cases: Sequence[Case]) -> ChapterCases:
        return ChapterCases.of(cases)

    def pairs(self, columns: ChapterCases) -> ChapterCases:
        return columns.each().without_edges(self.edge)

    def same(self, pairs: ChapterCases) -> Bools:
        return same_rows(*pairs.positive())


@dataclass(frozen=True)
class ChapterMeans(ChapterMetric):
    """Base class of metrics whose values are means over outputs; NaN is left out of the mean."""

    @abstractmethod
    def pair_values(self, pairs: ChapterCases) -> Floats:
        """Return one row per pair and one column per value; NaN if undefined."""

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        return mean_statistics(self.pair_values(pairs))

    def score(self, statistics: Floats) -> Floats:
        return mean_values(statistics)

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        return mean_pool(statistics, counts)


# --- Base of chunk metrics -----------------------------------------------------------------------


MIN_SECONDS = 0.001  # thirty years have few enough chunks of this length to count


@dataclass(frozen=True)
class ChunkedMetric(ChapterMetric):
    """Base class of metrics on chunks of equal length.

    Parameters
    ----------
    chunk_size
        Length of a chunk, in seconds.
    """

    chunk_size: float = field(default=6.0, metadata={"least": MIN_SECONDS})

    def events(self, pairs: ChapterCases) -> tuple[ChunkGrid, BoundaryEvents]:
        """Return the chunks of pairs, and the boundaries in them."""
        grid = ChunkGrid.of(pairs.duration, self.chunk_size)
        return grid, BoundaryEvents.of(grid, pairs.output, pairs.reference)


# --- Chunks of time ------------------------------------------------------------------------------


# statistics 1 … 10 are the values of single cases that are averaged, in the order of `values`
MEAN_VALUE_COUNT = 10
INF = float("inf")


@dataclass(frozen=True)
class Chunks(ChunkedMetric):
    """Boundaries in discrete time, as in chunkseg.

    Time is divided into chunks of equal length; a chunk is positive if it contains a boundary. An
    incomplete chunk at the end is dropped. Boundaries at or before 0 are ignored.

    Examples
    --------
    >>> from earwitness import score
    >>> scores = score([{"hypothesis": [61], "reference": [60], "duration": 180}], metrics="chunks")
    >>> scores.systems["outputs"]["boundary_similarity"].value
    1.0

    References
    ----------
    Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering;
    Beeferman, Berger and Lafferty (1999) for Pk; Pevzner and Hearst (2002) for WindowDiff; Fournier
    (2013) for boundary similarity; Bookstein, Kulyukin and Raita (2002) for the generalized
    Hamming distance.
    """

    name = "chunks"
    title = "Boundaries in discrete time"
    values = (
        Value.share("precision", "share of output boundary chunks in the reference"),
        Value.share("recall", "share of reference boundary chunks in the output"),
        Value.share("accuracy", "share of chunks on which output and reference agree"),
        Value.share("specificity", "share of chunks without boundary that are correct"),
        Value("pk", "low", 0, 1, "Pk: windows where only one side has a boundary"),
        Value("window_diff", "low", 0, 1, "WindowDiff: windows with unequal boundary counts"),
        Value.share("boundary_similarity", "Fournier's B; near misses are one chunk off"),
        Value("ghd", "low", 0, INF, "generalized Hamming distance; insertion, deletion 2, shift 1"),
        Value("num_segments", "none", 0, INF, "number of boundary chunks in the output"),
        Value("reference/num_segments", "none", 0, INF, "number of boundary chunks, reference"),
        Value.share("f1", "harmonic mean of mean precision and mean recall"),
        Value.share("f1_micro", "F1 of the counts summed over all outputs"),
        Value.share("f1_sample", "mean of the F1 of each output"),
    )
    headline = "boundary_similarity"
    empty_cells = {
        "both empty": "precision, recall, f1 0; pk, window_diff, ghd 0; boundary_similarity 1",
        "output empty": "precision, recall, f1 0; boundary_similarity 0; ghd 2 per boundary",
        "reference empty": "precision, recall, f1 0; boundary_similarity 0; ghd 2 per boundary",
        "shorter than one chunk": "every value undefined, counted",
        "boundaries only after the end": "every value undefined, counted",
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
        grid, events = self.events(pairs)
        is_defined = (grid.chunks > 0) & ~(events.none & pairs.has_later)
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
        return np.where(is_defined, np.array(rows, np.float64), 0.0).T

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


@dataclass(frozen=True)
class MatchedMetric(ChapterMeans):
    """Base class of metrics from the numbers of matched, output and reference boundaries.

    Parameters
    ----------
    collar
        Largest distance between matched boundaries, in seconds.
    boundary_matching
        Closest pairs first (``greedy``), or as many pairs as possible (``optimal``).
    """

    collar: float = field(default=3.0, metadata={"least": 0})
    boundary_matching: str = field(default="greedy", metadata={"choices": MATCHINGS})

    def counts(self, pairs: ChapterCases) -> tuple[Ints, Ints, Ints]:
        """Return the numbers of matches, of output boundaries and of reference boundaries."""
        return _counts(pairs, self.collar, self.boundary_matching)


@lru_cache(maxsize=16)
def _counts(pairs: ChapterCases, collar: float, matching: str) -> tuple[Ints, Ints, Ints]:
    """Return the counts; cached, since several metrics need the same counts in turn."""
    output, reference = pairs.positive()
    matches = MATCHINGS[matching](output, reference, collar)
    return matches, output.lengths, reference.lengths


# --- Boundaries within a collar ------------------------------------------------------------------


@dataclass(frozen=True)
class Collar(MatchedMetric):
    """Boundaries in continuous time, matched one to one within a collar.

    Boundaries at or before 0 are ignored; repeated boundaries and boundaries after the end count.
    Greedy matching takes the closest pairs first, as in chunkseg; optimal matching finds as many
    pairs as possible, as in mir_eval.

    Examples
    --------
    >>> from earwitness import score
    >>> scores = score([{"hypothesis": [61], "reference": [60], "duration": 180}], metrics="collar")
    >>> scores.systems["outputs"]["collar_f1"].value
    1.0

    References
    ----------
    Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering; Raffel
    et al. (2014), mir_eval: A Transparent Implementation of Common MIR Metrics.
    """

    name = "collar"
    title = "Boundaries in continuous time"
    values = (
        Value.share("collar_precision", "share of output boundaries that are matched"),
        Value.share("collar_recall", "share of reference boundaries that are matched"),
        Value.share("collar_f1", "mean of the F1 of each output"),
    )
    headline = "collar_f1"
    empty_cells = {
        "both empty": "1, 1, 1",
        "output empty": "0, 0, 0",
        "reference empty": "0, 0, 0",
        "shorter than one chunk": "defined: the duration is not used",
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
    """R-value: hit rate corrected for over-segmentation, which inflates recall.

    With hit rate HR (the recall within the collar) and over-segmentation OS (number of output
    boundaries per reference boundary − 1): R = 1 − (√((1 − HR)² + OS²) + |HR − 1 − OS| / √2) / 2.

    References
    ----------
    Räsänen, Laine and Altosaar (2009), An Improved Speech Segmentation Quality Measure:
    the R-value.
    """

    name = "r_value"
    title = "R-value"
    values = (
        Value("r_value", "high", -INF, 1, "1 if all boundaries are found and none is inserted"),
        Value("over_segmentation", "none", -1, INF, "surplus boundaries per reference boundary"),
    )
    headline = "r_value"
    empty_cells = {
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
    """Median distance of boundaries to the nearest boundary of the other side.

    Boundaries at or before 0 are ignored. If output or reference has no boundary, the distance
    is undefined.

    References
    ----------
    Turnbull et al. (2007), A Supervised Approach for Detecting Boundaries in Music; Raffel et al.
    (2014), mir_eval: A Transparent Implementation of Common MIR Metrics.
    """

    name = "deviation"
    title = "Distance to the nearest boundary"
    values = (
        Value(
            "deviation_of_reference",
            "low",
            0,
            INF,
            "median distance of reference boundaries to the nearest output boundary, in seconds",
            "s",
        ),
        Value(
            "deviation_of_output",
            "low",
            0,
            INF,
            "median distance of output boundaries to the nearest reference boundary, in seconds",
            "s",
        ),
    )
    headline = "deviation_of_reference"
    empty_cells = {
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
    """Segmentation similarity S: the share of potential boundaries that need no edit.

    Time is divided into chunks as in `chunks`; a boundary that is off by one chunk counts as half
    an edit.

    References
    ----------
    Fournier and Inkpen (2012), Segmentation Similarity and Agreement; Fournier (2013), Evaluating
    Text Segmentation using Boundary Edit Distance.
    """

    name = "similarity"
    title = "Segmentation similarity"
    values = (Value.share("segmentation_similarity", "share of chunks that need no edit"),)
    headline = "segmentation_similarity"
    empty_cells = {
        "both empty": "1",
        "output empty": "1 minus the share of chunks with a reference boundary",
        "reference empty": "1 minus the share of chunks with an output boundary",
        "shorter than one chunk, or boundaries only after the end": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        grid, events = self.events(pairs)
        additions, swaps = edits(events)
        share = ratio(additions + swaps / 2, grid.chunks, np.nan)
        share[events.none & pairs.has_later] = np.nan
        return np.asarray(1 - share[:, None])


# --- Segments as partitions ----------------------------------------------------------------------


@dataclass(frozen=True)
class Segments(ChapterMeans):
    """Chapters as partitions of time.

    Boundaries strictly between 0 and the duration divide the recording into segments. Purity and
    coverage are computed from exact durations. V-measure, adjusted Rand index and pairwise values
    are computed from frames, which are `frame` seconds apart. The run time depends on the number of
    boundaries, not on the duration.

    Parameters
    ----------
    frame
        Distance between frames, in seconds.

    References
    ----------
    Bredin (2017), pyannote.metrics: A Toolkit for Reproducible Evaluation; Rosenberg and Hirschberg
    (2007), V-Measure; Hubert and Arabie (1985), Comparing Partitions; Levy and Sandler (2008),
    Structural Segmentation of Musical Audio.
    """

    frame: float = field(default=0.1, metadata={"least": MIN_SECONDS})

    name = "segments"
    title = "Chapters as partitions of time"
    values = (
        Value.share("purity", "time in the main reference segment of output segments"),
        Value.share("coverage", "time in the main output segment of reference segments"),
        Value.share("purity_coverage_f", "harmonic mean of purity and coverage per output"),
        Value.share("homogeneity", "reference entropy explained by the output"),
        Value.share("completeness", "output entropy explained by the reference"),
        Value.share("v_measure", "harmonic mean of homogeneity and completeness"),
        Value("adjusted_rand", "high", -1, 1, "chance-corrected agreement of pairs of frames"),
        Value.share("pairwise_precision", "share of the output's pairs that are correct"),
        Value.share("pairwise_recall", "share of the reference's pairs that are found"),
        Value.share("pairwise_f", "harmonic mean of pairwise values per output"),
    )
    headline = "v_measure"
    empty_cells = {
        "both empty": "1: a single segment on both sides",
        "output empty": "completeness 1, adjusted_rand and homogeneity 0",
        "reference empty": "homogeneity 1, adjusted_rand and completeness 0",
        "shorter than two frames": "pairwise values and adjusted_rand undefined",
        "shorter than one frame": "homogeneity, completeness and v_measure also undefined",
        "no pair of frames joined": "precision 1 if the output joins no pair, recall 1 likewise",
        "no duration, or boundaries only after it": "every value undefined",
    }
    references = (
        "Bredin (2017), pyannote.metrics: A Toolkit for Reproducible Evaluation",
        "Rosenberg and Hirschberg (2007), V-Measure",
        "Hubert and Arabie (1985), Comparing Partitions",
        "Levy and Sandler (2008), Structural Segmentation of Musical Audio",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        partition = Partition.of(pairs, self.frame)
        purity, coverage = partition.purity()
        homogeneity, completeness = partition.homogeneity()
        both, of_output, of_reference, all_pairs = partition.pairs()
        chance = ratio(of_output * of_reference, all_pairs, np.nan)
        most = (of_output + of_reference) / 2
        rand = ratio(both - chance, most - chance, 1.0)
        defined = np.where(all_pairs > 0, 1.0, np.nan)  # no pair joined: no pair is wrong
        precision, recall = (ratio(both, of, 1.0) * defined for of in (of_output, of_reference))
        columns = [purity, coverage, harmonic(purity, coverage)]
        columns += [homogeneity, completeness, harmonic(homogeneity, completeness)]
        columns += [np.where(all_pairs > 0, rand, np.nan)]
        columns += [precision, recall, harmonic(precision, recall)]
        return np.where(undivided(pairs)[:, None], np.nan, np.stack(columns, axis=1))


# --- Agreement beyond chance ---------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement(ChunkedMetric):
    """Chance-corrected agreement: boundary similarity of all cases, corrected for chance.

    Time is divided into chunks as in `chunks`. The observed agreement A is Fournier's B over the
    edits of all cases. The expected agreement E is the square of the mean share of chunks with a
    boundary. π = (A − E) / (1 − E) is Scott's π for two annotators and Fleiss' π for more, as
    defined in segeval; it is the usual measure of inter-annotator agreement.

    References
    ----------
    Fournier and Inkpen (2012), Segmentation Similarity and Agreement; Artstein and Poesio (2008),
    Inter-Coder Agreement for Computational Linguistics.
    """

    name = "agreement"
    title = "Chance-corrected agreement"
    values = (
        Value.share("agreement", "Fournier's B over the edits of all outputs"),
        Value("pi", "high", -INF, 1, "chance-corrected agreement: 1 perfect, 0 at chance level"),
    )
    headline = "pi"
    empty_cells = {
        "both empty": "undefined for a single output",
        "output empty": "agreement 0, pi below 0",
        "reference empty": "agreement 0, pi below 0",
        "shorter than one chunk": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Artstein and Poesio (2008), Inter-Coder Agreement for Computational Linguistics",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        grid, events = self.events(pairs)
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
