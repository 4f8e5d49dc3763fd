"""Texts that metrics of Latin words cannot see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.metrics import Metric
from earwitness.text.rouge import LATIN

NOT_LATIN = "not latin"


def not_latin(text: str) -> bool:
    """Whether a text has letters, but no word of Latin letters or digits."""
    return any(letter.isalpha() for letter in text) and not LATIN.search(text.lower())


def latin_notes(count: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """A warning, if a metric looks for such words."""
    blind = [metric.name for metric in metrics if getattr(metric, "words", "") == "latin"]
    if count and blind:
        what = "text of the references has" if count == 1 else "texts of the references have"
        yield f"{count:,} {what} no word in Latin letters: {blind[0]} needs --words unicode"
