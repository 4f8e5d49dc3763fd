"""Titles of chapters, compared by BERTScore: close in meaning, not only in words.

Pairs and joined titles are those of `titles`. The model `minilm` comes as a package, needs no
download and knows English; any BERT-like model in a folder or in the Hugging Face cache may be
named instead, with its layer. Model, layer, hash of the weights and versions of the libraries are
in the signature. Needs the extra `bert`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Titles, Value
from earwitness.metrics.base import Floats
from earwitness.metrics.chapters.titles import TitleMetric
from earwitness.metrics.encoded import EncodedMetric
from earwitness.models import bertscore
from earwitness.timeline import ChapterCases


@dataclass(frozen=True)
class TitleBertScore(EncodedMetric, TitleMetric):
    """Titles that are close in meaning."""

    name = "title_bertscore"
    title = "Titles by BERTScore"
    values = (
        Value("tm_bs_precision", "high", -1, 1, "matched titles, seen from the output's tokens"),
        Value("tm_bs_recall", "high", -1, 1, "matched titles, seen from the reference's tokens"),
        Value("tm_bs_f1", "high", -1, 1, "mean of matched titles' F1"),
        Value("tm_bs_f1_all", "high", -1, 1, "the same, titles without partner counting 0"),
        Value("gc_bs_precision", "high", -1, 1, "all titles joined, seen from the output's tokens"),
        Value("gc_bs_recall", "high", -1, 1, "all titles joined, seen from the reference's tokens"),
        Value("gc_bs_f1", "high", -1, 1, "F1 of all titles joined"),
    )
    headline = "tm_bs_f1_all"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "gc and tm_bs_f1_all 0; tm_bs undefined",
        "output empty": "gc and tm_bs_f1_all 0; tm_bs undefined",
        "reference empty": "tm_bs_f1_all 0; tm_bs and gc undefined",
        "no titles in the reference": "every value undefined",
    }
    references = (
        "Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT",
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        table = np.full((len(pairs), len(self.values)), np.nan)
        if pairs.texts is None:
            return table
        sides = zip(pairs.texts.titles, pairs.texts.reference_titles, pairs.duration, strict=True)
        plans = [
            None if reference is None else _Plan.of(self, output or (), reference, float(duration))
            for output, reference, duration in sides
        ]
        texts = [text for plan in plans if plan is not None for text in plan.texts]
        scores = bertscore([o for o, _ in texts], [r for _, r in texts], self.encoder)
        done = 0
        for row, plan in zip(table, plans, strict=True):
            if plan is not None:
                row[:] = plan.values(scores[done : done + len(plan.texts)])
                done += len(plan.texts)
        return table


@dataclass(frozen=True)
class _Plan:
    """What is to be compared for one case: its pairs of titles, then its titles joined."""

    texts: list[tuple[str, str]]
    pairs: int
    wanted: int
    empty: bool

    @classmethod
    def of(cls, metric: TitleMetric, output: Titles, reference: Titles, duration: float) -> _Plan:
        matched = metric.matched(output, reference, duration)
        mine, theirs = ("\n".join(text for text, _ in side) for side in (output, reference))
        joined = [(mine, theirs)] if mine and theirs else []
        return cls([*matched, *joined], len(matched), len(reference), not output)

    def values(self, scores: Floats) -> list[float]:
        """Means over pairs, with misses as 0, and of the joined titles."""
        means = scores[: self.pairs].mean(axis=0) if self.pairs else np.full(3, np.nan)
        every = self.pairs / self.wanted * means[2] if self.pairs else 0.0
        joined = np.full(3, 0.0 if self.empty else np.nan)
        if len(self.texts) > self.pairs:
            joined = scores[self.pairs]
        return [*means.tolist(), float(every), *joined.tolist()]
