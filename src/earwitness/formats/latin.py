"""Texts that metrics of Latin words cannot see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import name

from earwitness.metrics import Metric
from earwitness.text.rouge import LATIN

NOT_LATIN, UNSPACED = "not latin", "unspaced"
SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")  # without blanks
ENGLISH = "minilm"  # the model that was trained on English


def not_latin(text: str) -> bool:
    """Whether a text has letters, but no word of Latin letters or digits."""
    return any(letter.isalpha() for letter in text) and not LATIN.search(text.lower())


def unspaced(text: str) -> bool:
    """Whether most letters of a text are of a script that puts no blanks between words."""
    letters = [letter for letter in text if letter.isalpha()]
    own = sum(name(letter, "").startswith(SCRIPTS) for letter in letters)
    return 2 * own > len(letters)


def latin_notes(count: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """A warning, if a metric looks for such words."""
    blind = [metric.name for metric in metrics if getattr(metric, "words", "") == "latin"]
    if count and blind:
        what = "text of the references has" if count == 1 else "texts of the references have"
        yield f"{count:,} {what} no word in Latin letters: {blind[0]} needs --words unicode"
    model = [metric.name for metric in metrics if getattr(metric, "model", "") == ENGLISH]
    if count and model:
        told = f"{count:,} texts of the references have no word in Latin letters"
        yield f"{told}: {ENGLISH} knows English, so {model[0]} says little — name another --model"
