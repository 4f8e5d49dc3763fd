"""Texts and error messages of workbooks in the languages of a study."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from earwitness.errors import CodedFault, Problem
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


# --- Texts of faults -----------------------------------------------------------------------------
# A fault is a code and values; a JSON file per language has the message and the remedy of each code
# with placeholders for the values.


DECIMAL_FIELDS = {"low", "high", "step", "number"}  # placeholders of numbers


def fault(code: str, **values: object) -> CodedFault:
    """Return a fault with its values as texts."""
    return CodedFault(code, {name: str(value) for name, value in values.items()})


def fault_problem(fault: CodedFault, source: str, line: int = 0, field: str = "") -> Problem:
    """Return a fault as a problem of a file, in English.

    >>> print(fault_problem(fault("missing_column", name="Fluency", line=3), "a.xlsx", 3, "A!3"))
    a.xlsx:3: A!3: missing column "Fluency" in row 3 — check the spelling of its name
    """
    return Problem(source, line, field, *fault_texts(fault), fault=fault)


def fault_texts(fault: CodedFault, language: str = "en") -> tuple[str, str]:
    """Return the message and the remedy of a fault in a language.

    >>> fault_texts(fault("unpacked", number="1.5"), "fr")[0]
    'dépasse 1,5 Mo une fois décompressé'
    """
    decimal = wording(language).pages["decimal"]
    values = {
        name: value.replace(".", decimal) if name in DECIMAL_FIELDS else value
        for name, value in fault.values.items()
    }
    message, remedy = (
        PLACEHOLDER.sub(lambda place: values[place[1]], text)
        for text in load_faults(language)[fault.code]
    )
    return message, remedy


@cache
def load_faults(language: str) -> dict[str, tuple[str, str]]:
    """Return the messages and remedies of a language by code."""
    place = files(__package__).joinpath("wordings", f"faults.{language}.json")
    faults: dict[str, tuple[str, str]] = json.loads(place.read_text(encoding="utf-8"))
    return faults


def translate_problem(language: str, problem: Problem) -> Problem:
    """Return a problem in a language; a problem without a code stays in English.

    >>> problem = fault_problem(fault("missing_caption"), "a.xlsx", 2, "A!D2")
    >>> print(translate_problem("fr", problem))
    a.xlsx:2: A!D2: la description manque — rétablissez la description
    """
    if problem.fault is None:
        return problem
    message, remedy = fault_texts(problem.fault, language)
    return replace(problem, message=message, remedy=remedy)
