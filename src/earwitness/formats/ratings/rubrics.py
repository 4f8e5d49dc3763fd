"""Tables of ratings by a rubric: a column a dimension, or a row a rating.

Dimensions are known by their names and by their titles in every language, in capitals or not. Where
all dimensions of a rubric are there, the table is taken for one by that rubric, unless something
else is said.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from earwitness.formats.check import show
from earwitness.formats.ratings.known import Limit
from earwitness.formats.ratings.layout import HEAD
from earwitness.formats.ratings.options import LONG, Options
from earwitness.formats.ratings.table import Table
from earwitness.listening.rubrics import BUILT_IN, TOTAL, Rubric, defined
from earwitness.listening.wordings import LANGUAGES

NONE = "none"
CAPTION = "caption"
REMEDY = "write a number that is on it, or say --faults drop to take it for a blank"


def by_rubric(options: Options, table: Table, said: str = "") -> Options:
    """Options that hold for a table by a rubric: the one that was said, or that fits.

    Where scales are named already, nothing is guessed.
    """
    if said == NONE or (options.scales and not said):
        return options
    long = [role for role in LONG if options.name_of(role) in table.names]
    cells = table.cells(options.name_of("scale")) if "scale" in long else table.names
    written = [one for one in dict.fromkeys(cells) if isinstance(one, str)]
    for name in [said] if said else BUILT_IN:
        found = {one: own for one in written if (own := spellings(name).get(folded(one)))}
        lacking = [one for one in defined(name).names if one not in found.values()]
        if not lacking:
            return _fitted(options, defined(name), found, table, wide=not long)
        if said:
            _tell(table, defined(name), lacking)
    return options


def _fitted(
    options: Options, known: Rubric, found: Mapping[str, str], table: Table, *, wide: bool
) -> Options:
    limits = {name: Limit(one.low, one.high, one.step) for name, one in known.scales.items()}
    limits[TOTAL] = limits[TOTAL]._replace(step=0)  # totals are made again
    texts = [CAPTION] if CAPTION in table.names else []
    return replace(
        options,
        rubric=known.name,
        aliases=dict(found),
        limits={**limits, **options.limits} if options.limits else limits,
        scales=tuple(found) if wide else options.scales,
        apart=(*options.apart, *texts),
        remedy=REMEDY,
    )


def _tell(table: Table, known: Rubric, lacking: list[str]) -> None:
    """Which dimensions are not there."""
    has = ", ".join(show(name) for name in table.names if name)
    for name in lacking:
        told = f"{known.name} has {name}, the table does not"
        table.tell(HEAD, name, told, f"say --rubric {NONE} if it is no such table; it has {has}")


@cache
def spellings(name: str) -> Mapping[str, str]:
    """Dimensions and the total, by everything that they may be called."""
    return dict(_spelt(name))


def _spelt(name: str) -> Iterator[tuple[str, str]]:
    for language in LANGUAGES:
        for one in defined(name, language).dimensions:
            yield folded(one.shown), one.name
            yield folded(one.name), one.name
    yield TOTAL, TOTAL


def folded(text: str) -> str:
    """A name without capitals and odd blanks.

    >>> folded(" Hors_Sujet ")
    'hors sujet'
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("_", " ").split())
