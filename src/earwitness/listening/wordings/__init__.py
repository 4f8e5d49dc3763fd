"""Words that listeners see, by language: a JSON file each, and a study may change any of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from earwitness.errors import UsageError, nearest

LANGUAGES = ("en", "fr")
PAGES, SCALES = "pages", "scales"
PROMPT, LABELS = "prompt", "labels"


@dataclass(frozen=True)
class Wording:
    """Titles and buttons of pages; for every scale its question and its labels, the best first."""

    pages: Mapping[str, str]
    scales: Mapping[str, Mapping[str, Any]]

    def prompt(self, scale: str) -> str:
        """The question."""
        return str(self.scales[scale][PROMPT])

    def labels(self, scale: str) -> list[str]:
        """The words of the answers."""
        return list(self.scales[scale][LABELS])


def wording(language: str = "en", own: Mapping[str, Any] | None = None) -> Wording:
    """The words of a language, with those of a study's own instead where it has any.

    >>> wording("fr").labels("OVRL")[0]
    'Excellente'
    >>> wording("en", {"scales": {"OVRL": {"prompt": "All in all:"}}}).prompt("OVRL")
    'All in all:'
    """
    if language not in LANGUAGES:
        raise UsageError(f'there is no language "{language}" — {nearest(language, LANGUAGES)}')
    known, own = _packaged(language), own or {}
    scales = {
        name: {**words, **own.get(SCALES, {}).get(name, {})}
        for name, words in known[SCALES].items()
    }
    return Wording({**known[PAGES], **own.get(PAGES, {})}, scales)


@cache
def _packaged(language: str) -> dict[str, Any]:
    text = files(__package__).joinpath(f"{language}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
