"""Chapters in discretised time, as chunkseg counts them.

Time is cut into chunks of equal length; a chunk is 1 if a boundary lies in it. What does not fill a
whole chunk at the end is cut off. Boundaries at or before 0 are no boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, harmonic, ratio
from earwitness.metrics.chapters.chunked import ChunkedMetric
from earwitness.timeline import (
    ChapterCases,
    Events,
    Grid,
    boundary_similarity,
    generalised_hamming,
    window_errors,
)

MEANS = 10  # statistics 1 … 10 are per-case values whose mean is wanted, in the order of `values`
INF = float("inf")


@dataclass(frozen=True)
class Chunks(ChunkedMetric):
    """Precision, recall, Pk, WindowDiff, boundary similarity and GHD over chunks of time."""

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
        grid = Grid.of(pairs.duration, self.chunk_size)
        events = Events.of(grid, pairs.output, pairs.reference)
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
        means = ratio(statistics[..., 1 : MEANS + 2], count[..., None], np.nan)
        f1 = harmonic(means[..., 0], means[..., 1])
        f1_micro = ratio(statistics[..., MEANS + 2], statistics[..., MEANS + 3], 0.0)
        f1_micro = np.where(count > 0, f1_micro, np.nan)
        extra = np.stack([f1, f1_micro, means[..., MEANS]], axis=-1)
        return np.concatenate([means[..., :MEANS], extra], axis=-1)
