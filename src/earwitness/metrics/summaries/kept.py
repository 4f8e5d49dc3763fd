"""Kept words: which words of the transcript an output and a manual summary share, and how many.

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


@dataclass(frozen=True)
class KeptWords(SummaryPairs):
    """Precision, recall and F1 of kept words, and how much was kept."""

    name = "kept"
    title = "Kept words"
    values = (
        Value("kept_precision", "high", 0, 1, "words of the output that a person kept; mean"),
        Value("kept_recall", "high", 0, 1, "words a person kept that the output has; mean"),
        Value("kept_f1", "high", 0, 1, "mean of each pair's F1"),
        Value("kept_precision_micro", "high", 0, 1, "precision over all words of outputs"),
        Value("kept_recall_micro", "high", 0, 1, "recall over all words that people kept"),
        Value("kept_f1_micro", "high", 0, 1, "F1 over all words"),
        Value("compression", "none", 0, inf, "words of the output per word that was said; mean"),
        Value("compression_micro", "none", 0, inf, "the same over all words"),
        Value("compression_people", "none", 0, 1, "the same of manual summaries; mean"),
        Value("compression_people_micro", "none", 0, 1, "the same over all words"),
    )
    headline = "kept_f1"
    width = 10
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0; kept_precision_micro counts no word",
        "reference empty": "refused: a manual summary has words",
    }
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
        "Filippova et al. (2015), Sentence Compression by Deletion with LSTMs",
    )

    def pair(self, case: Case) -> Sequence[float]:
        """Shared words and words of each side; own rates; what was said; how many cases."""
        mine, theirs = positions(case.output), positions(case.references[0])
        shared, said = len(set(mine) & set(theirs)), len(case.item.words)
        rates = [
            shared / len(mine) if mine else 0,
            shared / len(theirs),
            2 * shared / (len(mine) + len(theirs)),
            len(mine) / said,
            len(theirs) / said,
        ]
        return [shared, len(mine), len(theirs), *rates, said, 1]

    def score(self, statistics: Floats) -> Floats:
        columns = np.moveaxis(statistics, -1, 0)
        shared, mine, theirs, precision, recall, f1, own, people, said, cases = columns
        pairs = (
            (precision, cases),
            (recall, cases),
            (f1, cases),
            (shared, mine),
            (shared, theirs),
            (2 * shared, mine + theirs),
            (own, cases),
            (mine, said),
            (people, cases),
            (theirs, said),
        )
        return np.stack([ratio(top, bottom, np.nan) for top, bottom in pairs], axis=-1)
