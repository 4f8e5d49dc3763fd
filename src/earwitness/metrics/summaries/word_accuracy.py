"""Word accuracy against one manual summary at a time, as for recognition.

WACC counts replaced, missing and superfluous words against the words of the manual summary;
`correct` leaves superfluous ones out (the paper calls it word precision; it is a recall). Words are
the same if they stand at the same position. Of alignments with equally few edits the one with most
right words counts.

Without `_micro` a value is the mean of the cases' own; with it, words are summed over all cases
first. Of several manual summaries of an item, words are their mean over all (or those of the best).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.summaries.base import SummaryPairs, positions
from earwitness.networks import edits_and_hits


@dataclass(frozen=True)
class WordAccuracy(SummaryPairs):
    """WACC and the share of right words."""

    name = "word_accuracy"
    title = "Word accuracy"
    values = (
        Value("wacc", "high", -inf, 1, "words less edits, per word of the manual summary; mean"),
        Value("wacc_micro", "high", -inf, 1, "the same over all words"),
        Value("correct", "high", 0, 1, "words of the manual summary that are right; mean"),
        Value("correct_micro", "high", 0, 1, "the same over all words"),
    )
    headline = "wacc"
    width = 6
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0",
        "reference empty": "refused: a manual summary has words",
    }
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    )

    def pair(self, case: Case) -> Sequence[float]:
        """Words less edits, right words, words; the pair's own rates, and that it has some."""
        reference = positions(case.references[0])
        length = len(reference)
        edits, hits = edits_and_hits(positions(case.output), reference)
        return [length - edits, hits, length, (length - edits) / length, hits / length, 1]

    def score(self, statistics: Floats) -> Floats:
        left, hits, words, own, right, count = np.moveaxis(statistics, -1, 0)
        pairs = (own, count), (left, words), (right, count), (hits, words)
        return np.stack([ratio(top, bottom, np.nan) for top, bottom in pairs], axis=-1)
