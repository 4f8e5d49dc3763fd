"""Chapters in continuous time: boundaries matched one to one within a collar.

Boundaries at or before 0 are no boundaries; repeated ones and ones past the duration count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.metrics.base import Floats, Metric, at_least, harmonic, ratio
from earwitness.timeline import ChapterCases, greedy_matches


@dataclass(frozen=True)
class Collar(Metric):
    """Precision, recall and F1 of boundaries that lie within a collar of each other."""

    collar: float = field(default=3.0, metadata={"help": "largest distance of a match, in seconds"})

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
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "collar", at_least(0, "collar", self.collar))

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        columns = ChapterCases.of(cases)
        output = columns.output.where(columns.output.values > 0)
        reference = columns.reference.where(columns.reference.values > 0)
        n_output, n_reference = output.lengths, reference.lengths
        matches = greedy_matches(output, reference, self.collar)
        both_empty = (n_output == 0) & (n_reference == 0)
        precision = np.where(both_empty, 1.0, ratio(matches, n_output, 0.0))
        recall = np.where(both_empty, 1.0, ratio(matches, n_reference, 0.0))
        return np.stack(
            [np.ones(len(columns)), precision, recall, harmonic(precision, recall)], axis=1
        )

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 1:], statistics[..., :1], np.nan)
