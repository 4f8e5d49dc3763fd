"""Compaction of speech by word extraction: utterances, scores of words, and summaries.

The score of a summary V = v_1 … v_M of an utterance is (Hori, Furui et al.)

    S(V) = Σ { λ_L L(v_m | v_{m−2} v_{m−1}) + λ_I I(v_m) + λ_C C(v_m) + λ_T T(v_{m−1}, v_m) }

with linguistic scores L of the words and of the end of the sentence, significance I, confidence C,
and concatenation T. All scores are natural logarithms or have their scale.

*Places* of an utterance with N words are 0 (the start of the sentence, ``<s>``), 1 to N (the words)
and N + 1 (its end, ``</s>``), so that the place of a word is its position in summary files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SpokenUtterance:
    """Words of an utterance, with the times and confidences of a recognizer where known.

    ``item`` is its name in summary files. Confidences are posterior probabilities.
    """

    words: tuple[str, ...]
    times: tuple[tuple[float, float], ...] | None = None
    confidences: tuple[float, ...] | None = None
    item: str = ""


class TrigramScores(Protocol):
    """Natural logarithms of P(next | before last), by arrays of places of equal shape.

    The first word of a sentence has ``before == last == 0``; its context is ``<s>`` alone.
    """

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats: ...


@dataclass(frozen=True)
class ScoreTables:
    """Unweighted scores of an utterance with N words.

    ``significance`` and ``confidence`` have one entry per word (index 0 is the word at place 1).
    ``concatenation`` is indexed by places: shape (N + 2, N + 2), 0 for the start and the end.
    A score that is not available is None.
    """

    size: int
    linguistic: TrigramScores | None = None
    significance: Floats | None = None
    confidence: Floats | None = None
    concatenation: Floats | None = None


@dataclass(frozen=True)
class ScoreWeights:
    """Weights λ of the scores; a weight of 0 switches a score off."""

    linguistic: float = 1.0
    significance: float = 1.0
    confidence: float = 1.0
    concatenation: float = 2.0


@dataclass(frozen=True)
class Compaction:
    """The summary of an utterance: kept positions (from 1), its score, and weighted parts of it."""

    utterance: SpokenUtterance
    positions: tuple[int, ...]
    score: float
    parts: Mapping[str, float]

    @property
    def words(self) -> tuple[str, ...]:
        """Words that are kept."""
        return tuple(self.utterance.words[position - 1] for position in self.positions)


@dataclass(frozen=True)
class SummarizedSpeech:
    """The summaries of the utterances of a recording or text.

    ``scope`` says what the ratio applies to: every ``"utterance"``, or the ``"speech"`` as a whole,
    in which case utterances may have no words left. ``oov_rate`` and ``perplexity`` are those of
    the language model on the input, NaN without one. ``signature`` has all settings and models.
    """

    name: str
    compactions: tuple[Compaction, ...]
    ratio: float
    scope: str
    weights: ScoreWeights
    signature: str
    oov_rate: float = nan
    perplexity: float = nan
    notes: tuple[str, ...] = ()

    @property
    def word_count(self) -> int:
        """Number of words of the input."""
        return sum(len(compaction.utterance.words) for compaction in self.compactions)

    @property
    def kept_count(self) -> int:
        """Number of words that are kept."""
        return sum(len(compaction.positions) for compaction in self.compactions)
