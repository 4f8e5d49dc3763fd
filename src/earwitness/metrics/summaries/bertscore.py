"""BERTScore of summaries: close in meaning, not only in words.

The model `minilm` comes as a package; any BERT-like model in a folder or in the Hugging Face cache
may be named, with its layer. Model, layer, hash of the weights and versions of the libraries are in
the signature. Needs the extra `bert`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.cases import CaseList
from earwitness.metrics.encoded import EncodedMetric
from earwitness.metrics.summaries.base import SummaryPairs
from earwitness.models import bertscore


@dataclass(frozen=True)
class SummaryBertScore(EncodedMetric, SummaryPairs):
    """Summaries that are close in meaning."""

    name = "bertscore"
    title = "BERTScore"
    values = (
        Value("bertscore_precision", "high", -1, 1, "seen from the output's tokens; mean"),
        Value("bertscore_recall", "high", -1, 1, "seen from the manual summary's tokens; mean"),
        Value("bertscore_f1", "high", -1, 1, "mean of each pair's F1"),
    )
    headline = "bertscore_f1"
    needs = "text"
    width = 4
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0",
        "reference empty": "refused: a manual summary has words",
    }
    references = ("Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT",)

    def pair(self, case: Case) -> Sequence[float]:
        return [float(number) for number in self.measure_pairs(CaseList([case]))[0]]

    def measure_pairs(self, pairs: CaseList) -> Floats:
        """Precision, recall, F1, and one case; every text is encoded once."""
        mine = [case.output.text for case in pairs]
        theirs = [case.references[0].text for case in pairs]
        scores = bertscore(mine, theirs, self.encoder)
        return np.concatenate([scores, np.ones((len(mine), 1))], axis=1)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., :-1], statistics[..., -1:], np.nan)
