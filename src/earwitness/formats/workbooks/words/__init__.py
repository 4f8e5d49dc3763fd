"""Words of workbooks, by language: a JSON file each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from earwitness.listening.rubrics import Dimension
from earwitness.listening.wordings import PLACE, wording


@dataclass(frozen=True)
class Words:
    """What workbooks say in a language."""

    language: str
    said: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.said[name]

    def of(self, name: str, dimension: Dimension) -> str:
        """Words about the numbers of a dimension.

        >>> from earwitness.listening.rubrics import thumbs
        >>> words("fr").of("range", thumbs("fr").dimensions[2])
        'de −2 à 0 par pas de 0,1'
        """
        return PLACE.sub(lambda place: self.number(getattr(dimension, place[1])), self[name])

    def number(self, value: float) -> str:
        """A number as people of the language write it."""
        return wording(self.language).number(value).replace("-", "−")


@cache
def words(language: str) -> Words:
    """The words of a language."""
    wording(language)  # refuses one that is not there
    place = files(__package__).joinpath(f"{language}.json")
    return Words(language, json.loads(place.read_text(encoding="utf-8")))
