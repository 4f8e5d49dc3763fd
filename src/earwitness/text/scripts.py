"""Scripts of texts: words of Latin letters, and scripts without blanks between words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unicodedata import name

from earwitness.text.rouge import LATIN_WORD

NOT_LATIN_REMARK, UNSPACED_REMARK = "not latin", "unspaced"
# scripts that put no blanks between words
UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
ENGLISH_MODEL = "minilm"  # the model that was trained on English


def not_latin(text: str) -> bool:
    """Whether a text has letters, but no word of Latin letters or digits."""
    return any(letter.isalpha() for letter in text) and not LATIN_WORD.search(text.lower())


def unspaced(text: str) -> bool:
    """Whether most letters of a text are of a script that puts no blanks between words."""
    letters = [letter for letter in text if letter.isalpha()]
    count = sum(name(letter, "").startswith(UNSPACED_SCRIPTS) for letter in letters)
    return 2 * count > len(letters)


def latin_notes(count: int, metrics: Sequence[Any]) -> Iterator[str]:
    """Warnings about so many texts without Latin words, for metrics that see only these.

    ``metrics`` have a ``name``; those of Latin words say so in ``words``, those with a text encoder
    name it in ``model``.
    """
    blind = [metric.name for metric in metrics if getattr(metric, "words", "") == "latin"]
    if count and blind:
        what = "text of the references has" if count == 1 else "texts of the references have"
        yield f"{count:,} {what} no word in Latin letters: {blind[0]} needs --words unicode"
    english = [metric.name for metric in metrics if getattr(metric, "model", "") == ENGLISH_MODEL]
    if count and english:
        message = f"{count:,} texts of the references have no word in Latin letters"
        why = f"{ENGLISH_MODEL} knows English, so {english[0]} says little"
        yield f"{message}: {why} — name another --model"
