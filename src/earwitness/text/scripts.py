"""Scripts of texts: words in Latin letters, and scripts without spaces between words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unicodedata import name

from earwitness.text.rouge import LATIN_WORD

NOT_LATIN_REMARK, UNSPACED_REMARK = "not latin", "unspaced"
# scripts without spaces between words
UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
ENGLISH_MODEL = "minilm"  # model trained on English


def has_no_latin(text: str) -> bool:
    """Whether a text has letters, but no word in Latin letters or digits."""
    return any(letter.isalpha() for letter in text) and not LATIN_WORD.search(text.lower())


def is_unspaced(text: str) -> bool:
    """Whether most letters of a text belong to a script without spaces between words."""
    letters = [letter for letter in text if letter.isalpha()]
    count = sum(name(letter, "").startswith(UNSPACED_SCRIPTS) for letter in letters)
    return 2 * count > len(letters)


def latin_notes(count: int, metrics: Sequence[Any]) -> Iterator[str]:
    """Yield warnings about ``count`` texts without Latin words, for metrics that need these.

    ``metrics`` have a ``name``; those that need Latin words have ``words="latin"``, those with a
    text encoder a ``model``.
    """
    blind = [metric.name for metric in metrics if getattr(metric, "words", "") == "latin"]
    if count and blind:
        what = "reference text has" if count == 1 else "reference texts have"
        yield f"{count:,} {what} no word in Latin letters: {blind[0]} requires --words unicode"
    english = [metric.name for metric in metrics if getattr(metric, "model", "") == ENGLISH_MODEL]
    if count and english:
        message = f"{count:,} reference texts have no word in Latin letters"
        why = f"{ENGLISH_MODEL} was trained on English, so {english[0]} is not reliable"
        yield f"{message}: {why} — set another --model"
