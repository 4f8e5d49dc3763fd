"""Titles of chapters, compared by ROUGE-L.

Temporally matched (tm): each title of the reference is paired with the nearest free title of the
output that starts within the tolerance (`start`), or starts and ends within it (`start_end`, as
chunkseg 0.4.0 does), and pairs are compared; `tm_rl_f1` is the mean over pairs, `tm_rl_f1_all`
counts titles of the reference without partner as 0. Global concatenation (gc): all titles of either
side are joined and compared as one text. An output without titles is one that found none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from earwitness.data import Titles, Value
from earwitness.metrics.base import Floats, at_least, one_of
from earwitness.metrics.chapters.pairs import ChapterMeans
from earwitness.text.rouge import WORDS, rouge_l
from earwitness.timeline import TM_RULES, ChapterCases
from earwitness.timeline.ragged import Bools

TOLERANCE = {"help": "largest distance in time of titles that match, in seconds"}
TM_RULE = {"help": "what must lie within the tolerance", "choices": tuple(TM_RULES)}
CUT = {"help": "a to z and digits as rouge_score, or any script", "choices": tuple(WORDS)}
NAN = float("nan")


@dataclass(frozen=True)
class TitleMetric(ChapterMeans):
    """What metrics of titles share: which titles are compared."""

    tolerance: float = field(default=5.0, metadata=TOLERANCE)
    tm_rule: str = field(default="start", metadata=TM_RULE)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tolerance", at_least(0, "tolerance", self.tolerance))
        one_of(TM_RULES, "tm_rule", self.tm_rule)

    def same(self, pairs: ChapterCases) -> Bools:
        return np.zeros(len(pairs), np.bool_)

    def matched(self, output: Titles, reference: Titles, duration: float) -> list[tuple[str, str]]:
        """Texts of titles that belong together."""
        pairs = TM_RULES[self.tm_rule](output, reference, self.tolerance, duration)
        return [(output[mine][0], reference[theirs][0]) for mine, theirs in pairs]


@dataclass(frozen=True)
class TitleOverlap(TitleMetric):
    """Words that titles have in common, in order."""

    words: str = field(default="latin", metadata=CUT)

    name = "titles"
    title = "Titles by ROUGE-L"
    values = (
        Value("tm_matched", "high", 0, 1, "titles of the reference that find a partner in time"),
        Value("tm_rl_precision", "high", 0, 1, "words of matched titles that the reference has"),
        Value("tm_rl_recall", "high", 0, 1, "words of matched reference titles that are found"),
        Value("tm_rl_f1", "high", 0, 1, "mean of matched titles' F1"),
        Value("tm_rl_f1_all", "high", 0, 1, "the same, titles without partner counting 0"),
        Value("gc_rl_precision", "high", 0, 1, "words of all titles that the reference has"),
        Value("gc_rl_recall", "high", 0, 1, "words of all reference titles that are found"),
        Value("gc_rl_f1", "high", 0, 1, "F1 of all titles joined"),
    )
    headline = "tm_rl_f1_all"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "tm_matched and gc 0; tm_rl undefined; tm_rl_f1_all 0",
        "output empty": "tm_matched, tm_rl_f1_all and gc 0; tm_rl undefined",
        "reference empty": "tm_matched and tm_rl_f1_all 0; tm_rl and gc undefined",
        "no titles in the reference": "every value undefined",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(WORDS, "words", self.words)

    def pair_values(self, pairs: ChapterCases) -> Floats:
        table = np.full((len(pairs), len(self.values)), np.nan)
        if pairs.texts is None:
            return table
        sides = zip(pairs.texts.titles, pairs.texts.reference_titles, pairs.duration, strict=True)
        for row, (output, reference, duration) in zip(table, sides, strict=True):
            if reference is not None:
                row[:] = self._values(output or (), reference, float(duration))
        return table

    def _values(self, output: Titles, reference: Titles, duration: float) -> list[float]:
        found = self.matched(output, reference, duration)
        scores = [rouge_l(mine, theirs, self.words) for mine, theirs in found]
        share = len(found) / len(reference) if reference else 0.0
        means = [sum(column) / len(scores) for column in zip(*scores, strict=True)] or [NAN] * 3
        every = share * means[2] if scores else 0.0
        return [share, *means, every, *self._joined(output, reference)]

    def _joined(self, output: Titles, reference: Titles) -> tuple[float, ...]:
        if not output:
            return (0.0, 0.0, 0.0)
        mine, theirs = ("\n".join(text for text, _ in side) for side in (output, reference))
        return rouge_l(mine, theirs, self.words) if mine and theirs else (NAN, NAN, NAN)
