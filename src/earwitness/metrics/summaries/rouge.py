"""ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words, and the longest common subsequence.

For summaries in words of their own; extracted ones too. Words are cut and stemmed as `rouge_score`
does it (`latin`), or in any script (`unicode`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.metrics.base import Floats, one_of, ratio
from earwitness.metrics.chapters.titles import CUT
from earwitness.metrics.summaries.base import SummaryPairs
from earwitness.text.rouge import rouge_l, rouge_n

KINDS = {"rouge_1": "words", "rouge_2": "pairs of words", "rouge_l": "words in order"}


@dataclass(frozen=True)
class Rouge(SummaryPairs):
    """ROUGE of texts."""

    words: str = field(default="latin", metadata=CUT)

    name = "rouge"
    title = "ROUGE"
    values = tuple(
        Value(f"{kind}_{part}", "high", 0, 1, f"{what}: {told}; mean")
        for kind, what in KINDS.items()
        for part, told in (
            ("precision", "shared, of the output"),
            ("recall", "shared, of the manual summary"),
            ("f1", "both"),
        )
    )
    headline = "rouge_l_f1"
    needs = "text"
    width = 10
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0",
        "reference empty": "refused: a manual summary has words",
    }
    references = ("Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(CUT["choices"], "words", self.words)

    def pair(self, case: Case) -> Sequence[float]:
        """Nine numbers, and one case."""
        mine, theirs = case.output.text, case.references[0].text
        parts = [rouge_n(mine, theirs, n, self.words) for n in (1, 2)]
        parts.append(rouge_l(mine, theirs, self.words))
        return [*(number for part in parts for number in part), 1]

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., :-1], statistics[..., -1:], np.nan)
