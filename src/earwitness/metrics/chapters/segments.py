"""Chapters as partitions of time: which moments belong together.

Boundaries strictly between 0 and the duration cut the recording into segments. Purity and coverage
weigh moments by time, exactly. V-measure, adjusted Rand index and pairs count frames, points in
time that lie `frame` apart; how many there are follows from the boundaries, so that the duration
costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, at_least, harmonic, ratio
from earwitness.metrics.chapters.pairs import ChapterMeans
from earwitness.timeline import ChapterCases, Partition


@dataclass(frozen=True)
class Segments(ChapterMeans):
    """Purity, coverage, V-measure, adjusted Rand index and pairwise F of segments."""

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
        both, of_output, of_reference, every = partition.pairs()
        chance = ratio(of_output * of_reference, every, np.nan)
        most = (of_output + of_reference) / 2
        rand = ratio(both - chance, most - chance, 1.0)
        some = np.where(every > 0, 1.0, np.nan)  # who joins nothing joins nothing wrongly
        precision, recall = (ratio(both, of, 1.0) * some for of in (of_output, of_reference))
        columns = [purity, coverage, harmonic(purity, coverage)]
        columns += [homogeneity, completeness, harmonic(homogeneity, completeness)]
        columns += [np.where(every > 0, rand, np.nan)]
        columns += [precision, recall, harmonic(precision, recall)]
        return np.stack(columns, axis=1)
