"""Texts and error messages of workbooks in the languages of a study."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from earwitness.errors import Problem
from earwitness.ratings.rubric import Dimension
from earwitness.studies.wording import PLACEHOLDER, wording

# --- Texts by language ---------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkbookWording:
    """Texts of workbooks in one language."""

    language: str
    said: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.said[name]

    def of(self, name: str, dimension: Dimension) -> str:
        """Return a text with the range of a dimension filled in.

        >>> from earwitness.ratings.rubric import thumbs
        >>> load_wording("fr").of("range", thumbs("fr").dimensions[2])
        'de −2 à 0 par pas de 0,1'
        """
        return PLACEHOLDER.sub(lambda place: self.number(getattr(dimension, place[1])), self[name])

    def number(self, value: float) -> str:
        """Return a number as it is written in this language."""
        return wording(self.language).number(value).replace("-", "−")


@cache
def load_wording(language: str) -> WorkbookWording:
    """Return the texts of a language."""
    wording(language)  # raises an error if the language is unknown
    place = files(__package__).joinpath("wordings", f"{language}.json")
    return WorkbookWording(language, json.loads(place.read_text(encoding="utf-8")))


# --- Translated error messages -------------------------------------------------------------------
# Messages are created in English, with their values filled in. For other languages, a JSON file
# maps English templates with placeholders to translations; a message that matches a template is
# translated.


NUMBER_FIELDS = {"low", "high", "step", "number"}  # placeholders whose decimal mark is translated


def translate_problem(language: str, problem: Problem) -> Problem:
    """Return a problem in a language; a text without a translation stays in English.

    >>> problem = Problem("a.xlsx", 2, "A!E2", "must be a number", "write the number itself")
    >>> translate_problem("fr", problem)
    Problem(source='a.xlsx', line=2, field='A!E2', message='must be a number', \
remedy='écrivez le nombre lui-même', item='', more=0)
    """
    message, remedy = (_translate(language, text) for text in (problem.message, problem.remedy))
    return replace(problem, message=message, remedy=remedy)


def _translate(language: str, text: str) -> str:
    for form, said in _message_patterns(language):
        if match := form.fullmatch(text):
            values = {
                name: _translate_value(language, name, value)
                for name, value in match.groupdict().items()
            }
            return PLACEHOLDER.sub(lambda place, values=values: values[place[1]], said)  # type: ignore[misc]
    return text


def _translate_value(language: str, name: str, value: str) -> str:
    decimal = wording(language).pages["decimal"]
    return value.replace(".", decimal) if name in NUMBER_FIELDS else value


@cache
def _message_patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return pairs of message pattern and translation; none for English."""
    place = files(__package__).joinpath("wordings", f"faults.{language}.json")
    if not place.is_file():
        return []
    messages = json.loads(place.read_text(encoding="utf-8"))
    return [(_message_pattern(english), said) for english, said in messages.items()]


def _message_pattern(english: str) -> re.Pattern[str]:
    parts = PLACEHOLDER.split(english)  # text, place, text, …
    patterns = [f"(?P<{part}>.+?)" if n % 2 else re.escape(part) for n, part in enumerate(parts)]
    return re.compile("".join(patterns), re.DOTALL)
