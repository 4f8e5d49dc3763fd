"""ROUGE-N and ROUGE-L for Latin script or any script.

Texts are split into words as in `rouge_score` (letters a to z and digits, stemmed), or in any
script: runs of letters and digits, and single characters in scripts without spaces between words.

Reference: Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from earwitness.text.words import UNSPACED_SCRIPTS, word_ngrams

LATIN_WORD = re.compile(r"[a-z0-9]+")
UNICODE_WORD = rf"[{UNSPACED_SCRIPTS}]\p{{M}}*|(?:(?![{UNSPACED_SCRIPTS}])[\p{{L}}\p{{M}}\p{{N}}])+"
MIN_STEMMED_LETTERS = 4  # number of letters from which a word is stemmed


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


class OverlapCounts(NamedTuple):
    """Number of n-grams that two texts share, and number of each text."""

    shared: int
    mine: int
    theirs: int

    @property
    def overlap(self) -> Overlap:
        """Precision, recall and F1; 0 without n-grams."""
        precision = self.shared / max(self.mine, 1)
        recall = self.shared / max(self.theirs, 1)
        f1 = 2 * precision * recall / (precision + recall) if self.shared else 0.0
        return Overlap(precision, recall, f1)


def rouge_l(output: str, reference: str, words: str = "latin") -> Overlap:
    """Return ROUGE-L: the longest common subsequence of words, relative to either text.

    >>> rouge_l("the cat sat", "the cat is sitting down")
    Overlap(precision=0.6666666666666666, recall=0.4, f1=0.5)
    """
    return count_common_subsequence(output, reference, words).overlap


def count_common_subsequence(output: str, reference: str, words: str = "latin") -> OverlapCounts:
    """Return the length of the longest common subsequence, and the words of either text."""
    from rapidfuzz.distance import LCSseq

    mine, theirs = WORD_SPLITTERS[words](output), WORD_SPLITTERS[words](reference)
    return OverlapCounts(LCSseq.similarity(mine, theirs), len(mine), len(theirs))


def count_common_ngrams(output: str, reference: str, n: int, words: str = "latin") -> OverlapCounts:
    """Return the number of common n-grams, and the n-grams of either text."""
    mine, theirs = (
        Counter(word_ngrams(WORD_SPLITTERS[words](text), n)) for text in (output, reference)
    )
    return OverlapCounts((mine & theirs).total(), mine.total(), theirs.total())


@lru_cache(maxsize=65536)
def split_latin_words(text: str) -> tuple[str, ...]:
    """Split and stem words as in `rouge_score`."""
    return tuple(_stem(word) for word in LATIN_WORD.findall(text.lower()))


@lru_cache(maxsize=65536)
def split_any_words(text: str) -> tuple[str, ...]:
    """Split words of any script; Latin words are stemmed.

    >>> split_any_words("Größere Wälder 東京へ")
    ('grössere', 'wälder', '東', '京', 'へ')
    """
    import regex  # imported late because the import is slow

    tokens: list[str] = regex.findall(UNICODE_WORD, unicodedata.normalize("NFKC", text).casefold())
    return tuple(_stem(word) if LATIN_WORD.fullmatch(word) else word for word in tokens)


WORD_SPLITTERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "latin": split_latin_words,
    "unicode": split_any_words,
}


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return word if len(word) < MIN_STEMMED_LETTERS else str(_load_stemmer()(word))


@cache
def _load_stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


WORDS_OPTION = {"choices": WORD_SPLITTERS}
