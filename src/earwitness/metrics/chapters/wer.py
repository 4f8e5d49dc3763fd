"""Word error rate of transcripts, where outputs have one and the item has a reference transcript.

Texts are normalised as chunkseg does it (small letters, English contractions written out, what
stands in brackets removed; punctuation is kept). Rates are per word of the reference, insertions
too; a transcript that could not be read and was scored as empty has all its words deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Alignment, Case, Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.chapters.pairs import ChapterMetric
from earwitness.text.wer import alignment, word_errors
from earwitness.timeline import ChapterCases

INF = float("inf")


@dataclass(frozen=True)
class WordErrorRate(ChapterMetric):
    """Errors per word, over the corpus and as a mean over cases."""

    name = "wer"
    title = "Word error rate"
    values = (
        Value("wer", "low", 0, INF, "errors of all cases per word of all references"),
        Value("wer_sample", "low", 0, INF, "mean of each case's errors per word"),
        Value("wer_substitutions", "low", 0, INF, "words replaced, per word"),
        Value("wer_deletions", "low", 0, INF, "words missing, per word"),
        Value("wer_insertions", "low", 0, INF, "words too many, per word"),
    )
    headline = "wer"
    aligns = True
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "1: every word is missing",
        "reference empty": "undefined alone; in a corpus its insertions count",
        "no transcript": "undefined",
    }
    references = (
        "Morris, Maier and Green (2004), From WER and RIL to MER and WIL",
        "jiwer, https://github.com/jitsi/jiwer",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Substitutions, deletions, insertions, words; the case's own rate, and if it has one."""
        table = np.zeros((len(pairs), 6))
        if pairs.texts is None:
            return table
        sides = zip(pairs.texts.said, pairs.texts.transcripts, strict=True)
        for row, (said, transcript) in zip(table, sides, strict=True):
            if said is not None and transcript is not None:
                found = word_errors(said, transcript)
                own = found.errors / found.words if found.words else 0.0
                row[:] = *found, own, float(found.words > 0)
        return table

    def alignment(self, case: Case) -> Alignment | None:
        said, transcript = case.output.text, case.item.transcript
        return None if said is None or transcript is None else alignment(said, transcript)

    def score(self, statistics: Floats) -> Floats:
        words, own, count = statistics[..., 3], statistics[..., 4], statistics[..., 5]
        kinds = [ratio(statistics[..., kind], words, np.nan) for kind in range(3)]
        whole = ratio(statistics[..., :3].sum(axis=-1), words, np.nan)
        return np.stack([whole, ratio(own, count, np.nan), *kinds], axis=-1)
