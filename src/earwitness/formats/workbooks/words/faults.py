"""What is wrong with a workbook, in the language of a study.

Messages are made in English, with their values in them. A language has a JSON file of their forms,
with places in braces; a message that fits a form is said as the language says it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from importlib.resources import files

from earwitness.errors import Problem
from earwitness.listening.wordings import PLACE, wording

NUMBERS = {"low", "high", "step", "number"}  # places with numbers that are written otherwise


def told_in(language: str, problem: Problem) -> Problem:
    """A problem in a language; what has no words there stays as it is.

    >>> told_in("fr", Problem("a.xlsx", 2, "A!E2", 'must be a number', "write the number itself"))
    Problem(source='a.xlsx', line=2, field='A!E2', message='must be a number', \
remedy='écrivez le nombre lui-même', item='')
    """
    message, remedy = (_said(language, text) for text in (problem.message, problem.remedy))
    return replace(problem, message=message, remedy=remedy)


def _said(language: str, text: str) -> str:
    for form, said in _forms(language):
        if found := form.fullmatch(text):
            known = {name: _written(language, name, one) for name, one in found.groupdict().items()}
            return PLACE.sub(lambda place, known=known: known[place[1]], said)  # type: ignore[misc]
    return text


def _written(language: str, name: str, value: str) -> str:
    decimal = wording(language).pages["decimal"]
    return value.replace(".", decimal) if name in NUMBERS else value


@cache
def _forms(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Forms of messages, and how they are said; English needs none."""
    place = files(__package__).joinpath(f"faults.{language}.json")
    if not place.is_file():
        return []
    known = json.loads(place.read_text(encoding="utf-8"))
    return [(_form(english), said) for english, said in known.items()]


def _form(english: str) -> re.Pattern[str]:
    parts = PLACE.split(english)  # text, place, text, …
    made = [f"(?P<{one}>.+?)" if n % 2 else re.escape(one) for n, one in enumerate(parts)]
    return re.compile("".join(made), re.DOTALL)
