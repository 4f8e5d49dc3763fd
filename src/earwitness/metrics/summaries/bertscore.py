"""BERTScore of summaries: close in meaning, not only in words.

The model `minilm` comes as a package and knows English; any BERT-like model in a folder or in the
Hugging Face cache may be named, with its layer. Model, layer, hash of the weights and versions of
the libraries are in the signature. Needs the extra `bert`.

Without `_micro` a value is the mean of the cases' own; with it, similarities and tokens are summed
over all cases first, and F1 is that of both quotients. Of several manual summaries of an item, sums
are their mean over all (or those of the best), so that every item counts once.
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
from earwitness.models import bertscore_rates, bertscore_sums


@dataclass(frozen=True)
class SummaryBertScore(EncodedMetric, SummaryPairs):
    """Summaries that are close in meaning."""

    name = "bertscore"
    title = "BERTScore"
    values = (
        Value("bertscore_precision", "high", -1, 1, "seen from the output's tokens; mean"),
        Value("bertscore_recall", "high", -1, 1, "seen from the manual summary's tokens; mean"),
        Value("bertscore_f1", "high", -1, 1, "mean of each pair's F1"),
        Value("bertscore_precision_micro", "high", -1, 1, "over all tokens of outputs"),
        Value("bertscore_recall_micro", "high", -1, 1, "over all tokens of manual summaries"),
        Value("bertscore_f1_micro", "high", -1, 1, "F1 of both"),
    )
    headline = "bertscore_f1"
    needs = "text"
    width = 8
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0; bertscore_precision_micro counts no token",
        "reference empty": "refused: a manual summary has words",
    }
    references = ("Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT",)

    def pair(self, case: Case) -> Sequence[float]:
        return [float(number) for number in self.measure_pairs(CaseList([case]))[0]]

    def measure_pairs(self, pairs: CaseList) -> Floats:
        """Own precision, recall and F1, their sums, one case; every text is encoded once."""
        mine = [case.output.text for case in pairs]
        theirs = [case.references[0].text for case in pairs]
        sums = bertscore_sums(mine, theirs, self.encoder)
        return np.concatenate([bertscore_rates(sums), sums, np.ones((len(mine), 1))], axis=1)

    def score(self, statistics: Floats) -> Floats:
        rates, sums, cases = statistics[..., :3], statistics[..., 3:7], statistics[..., 7:]
        pooled = np.where(cases > 0, bertscore_rates(sums), np.nan)
        pooled[..., :2] = np.where(sums[..., 1::2] > 0, pooled[..., :2], np.nan)
        return np.concatenate([ratio(rates, cases, np.nan), pooled], axis=-1)
