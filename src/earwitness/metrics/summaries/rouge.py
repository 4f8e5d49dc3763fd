"""ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words, and the longest common subsequence.

For summaries in words of their own; extracted ones too. Words are cut and stemmed as `rouge_score`
does it (`latin`), or in any script (`unicode`).

Without `_micro` a value is the mean of the cases' own; with it, strings are summed over all cases
first. Of several manual summaries of an item, strings of the output, of the manual summary and
shared ones are each their mean over all (or those of the best), so that every item counts once.
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
from earwitness.text.rouge import shared_order, shared_strings

KINDS = {"rouge_1": "words", "rouge_2": "pairs of words", "rouge_l": "words in order"}
PARTS = {
    "precision": "shared, of the output",
    "recall": "shared, of the manual summary",
    "f1": "both",
}
WAYS = {"": "mean", "_micro": "over all cases"}


@dataclass(frozen=True)
class Rouge(SummaryPairs):
    """ROUGE of texts."""

    words: str = field(default="latin", metadata=CUT)

    name = "rouge"
    title = "ROUGE"
    values = tuple(
        Value(f"{kind}_{part}{way}", "high", 0, 1, f"{what}: {told}; {how}")
        for way, how in WAYS.items()
        for kind, what in KINDS.items()
        for part, told in PARTS.items()
    )
    headline = "rouge_l_f1"
    needs = "text"
    width = 19
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0; micro precision counts no word",
        "reference empty": "refused: a manual summary has words",
        "no string of two words": "rouge_2 0; micro counts no string",
    }
    references = ("Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(CUT["choices"], "words", self.words)

    def pair(self, case: Case) -> Sequence[float]:
        """Own rates, then strings: for each kind shared ones and those of each side; one case."""
        mine, theirs = case.output.text, case.references[0].text
        found = [shared_strings(mine, theirs, n, self.words) for n in (1, 2)]
        found.append(shared_order(mine, theirs, self.words))
        rates = [rate for one in found for rate in one.overlap]
        return [*rates, *(number for one in found for number in one), 1]

    def score(self, statistics: Floats) -> Floats:
        rates, strings = np.split(statistics[..., :-1], 2, axis=-1)
        shared, mine, theirs = (strings[..., side::3] for side in range(3))
        pooled = np.stack(
            [
                ratio(shared, mine, np.nan),
                ratio(shared, theirs, np.nan),
                ratio(2 * shared, mine + theirs, np.nan),
            ],
            axis=-1,
        ).reshape(rates.shape)
        return np.concatenate([ratio(rates, statistics[..., -1:], np.nan), pooled], axis=-1)
