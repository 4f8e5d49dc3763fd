"""Rubrics: what a description is judged by, and totals of what raters wrote."""

from __future__ import annotations

from collections.abc import Callable

from earwitness.errors import UsageError, nearest
from earwitness.listening.rubrics.rubric import TOTAL, Anchor, Dimension, Rubric, Worked
from earwitness.listening.rubrics.thumbs import thumbs
from earwitness.listening.rubrics.totals import BLANKS, Blank, Cell, Judged, means, ratings, total

RUBRICS: dict[str, Callable[[str], Rubric]] = {"thumbs": thumbs}


def rubric(name: str = "thumbs", language: str = "en") -> Rubric:
    """A built-in rubric with its words in a language."""
    if name not in RUBRICS:
        raise UsageError(f'there is no rubric "{name}" — {nearest(name, RUBRICS)}')
    return RUBRICS[name](language)


__all__ = [
    "BLANKS",
    "RUBRICS",
    "TOTAL",
    "Anchor",
    "Blank",
    "Cell",
    "Dimension",
    "Judged",
    "Rubric",
    "Worked",
    "means",
    "ratings",
    "rubric",
    "thumbs",
    "total",
]
