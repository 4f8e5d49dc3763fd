"""THumBS, the transparent human benchmark for soundscapes: how good a description of a sound is.

Precision and recall from 1 to 5, and three penalties from −2 to 0: fluency, conciseness and
irrelevance, all in tenths. The total is the mean of precision and recall with the penalties added,
so it lies between −5 and 5. It goes back to THumB for images (Kasai et al., 2022); irrelevance is
that of Kreiss et al. (2022).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from earwitness.errors import UsageError, nearest
from earwitness.listening.rubrics.rubric import Anchor, Dimension, Role, Rubric, Worked
from earwitness.listening.wordings import LANGUAGES

NAME = "thumbs"
FORMULA = "(precision + recall)/2 + fluency + conciseness + irrelevance"
NUMBERS: dict[str, tuple[float, float, float, Role]] = {
    "precision": (1, 5, 0.1, "score"),
    "recall": (1, 5, 0.1, "score"),
    "fluency": (-2, 0, 0.1, "penalty"),
    "conciseness": (-2, 0, 0.1, "penalty"),
    "irrelevance": (-2, 0, 0.1, "penalty"),
}


@cache
def thumbs(language: str = "en") -> Rubric:
    """The rubric with its words in a language.

    >>> [one.shown for one in thumbs("fr").dimensions][:2]
    ['Précision', 'Rappel']
    """
    if language not in LANGUAGES:
        raise UsageError(f'there is no language "{language}" — {nearest(language, LANGUAGES)}')
    words = _words(language)
    dimensions = tuple(
        _dimension(name, numbers, words["dimensions"][name]) for name, numbers in NUMBERS.items()
    )
    examples = tuple(Worked(**one) for one in words["examples"])
    return Rubric(NAME, dimensions, FORMULA, words["title"], examples, language)


def _dimension(
    name: str, numbers: tuple[float, float, float, Role], words: dict[str, Any]
) -> Dimension:
    anchors = tuple(Anchor(float(value), text) for value, text in words["anchors"].items())
    return Dimension(name, *numbers, words["title"], words["help"], anchors)


def _words(language: str) -> dict[str, Any]:
    place = files(__package__).joinpath("words", f"{NAME}.{language}.json")
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found
