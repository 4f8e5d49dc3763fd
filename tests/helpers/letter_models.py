"""Models of summaries whose scores follow from the letters of words, for fast tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from earwitness.summaries.methods.compaction import (
    Floats,
    Ints,
    ScoreTables,
    ScoreWeights,
    SpokenUtterance,
)
from earwitness.summaries.methods.summarize import SummarizerModels


@dataclass(frozen=True)
class LetterTrigrams:
    """Scores of trigrams from the numbers of the letters of three words; counts its calls."""

    letters: Ints
    calls: list[int]

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        self.calls.append(before.size)
        a, b, c = self.letters[before], self.letters[last], self.letters[following]
        return np.asarray(-1.0 - (3 * a + 5 * b + 7 * c + a * b * c) % 11 / 3.0)


@dataclass(frozen=True)
class LetterModels(SummarizerModels):
    """Linguistic scores, significance by number of letters, and confidences where known."""

    linguistic: bool = True
    joined: bool = False

    def score(
        self,
        utterances: Sequence[SpokenUtterance],
        weights: ScoreWeights | None = None,
        *,
        separate: bool = False,
    ) -> list[ScoreTables]:
        del weights, separate
        return [self.make_table(one) for one in utterances]

    def make_table(self, utterance: SpokenUtterance) -> ScoreTables:
        """Return the scores of an utterance."""
        words, size = utterance.words, len(utterance.words)
        letters = np.array([1, *(sum(map(ord, word)) % 13 for word in words), 2], np.int64)
        table = ScoreTables(size, significance=np.array([float(len(word)) for word in words]))
        if self.linguistic:
            table = replace(table, linguistic=LetterTrigrams(letters, []))
        if utterance.confidences is not None:
            table = replace(table, confidence=np.log(np.array(utterance.confidences)))
        if self.joined:
            places = np.arange(size + 2)
            table = replace(table, concatenation=-np.abs(places[:, None] - places) / 3.0)
        return table


def letter_records(items: int, words: int = 9, seed: int = 0) -> list[dict[str, Any]]:
    """Return records of references: utterances of random words with three summaries each."""
    rng = np.random.default_rng(seed)
    records = list[dict[str, Any]]()
    for number in range(items):
        drawn = rng.integers(97, 110, (words, 6))
        spoken = ["".join(map(chr, row[: rng.integers(1, 7)])) for row in drawn.tolist()]
        kept = [sorted(rng.choice(words, 4, replace=False) + 1) for _ in range(3)]
        people = [
            {"annotator": f"p{n}", "positions": list(map(int, k))} for n, k in enumerate(kept)
        ]
        records.append({"item": f"u{number}", "words": spoken, "references": people})
    return records


def recognize_records(records: list[dict[str, Any]], seed: int = 0) -> list[dict[str, Any]]:
    """Return records with recognized words: some are wrong, and those have low confidences."""
    rng = np.random.default_rng(seed)
    heard = list[dict[str, Any]]()
    for record in records:
        wrong = rng.random(len(record["words"])) < 0.25
        words = [
            ["zzz" if bad else word, float(n), n + 0.5, 0.2 if bad else 0.9]
            for n, (word, bad) in enumerate(zip(record["words"], wrong, strict=True))
        ]
        heard.append({**record, "recognized": words})
    return heard
