"""Chapters in continuous time: boundaries matched one to one within a collar.

Boundaries at or before 0 are no boundaries; repeated ones and ones past the duration count. Greedy
matching takes the closest pairs first, as chunkseg does; optimal matching makes as many pairs as
can be made, as mir_eval does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, harmonic, ratio
from earwitness.metrics.chapters.matched import MatchedMetric
from earwitness.timeline import ChapterCases


@dataclass(frozen=True)
class Collar(MatchedMetric):
    """Precision, recall and F1 of boundaries that lie within a collar of each other."""

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
