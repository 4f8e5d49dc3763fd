"""Rubrics: what a description is judged by, and totals of what raters wrote."""

from __future__ import annotations

from earwitness.listening.rubrics.defined import BUILT_IN, defined
from earwitness.listening.rubrics.rubric import TOTAL, Anchor, Dimension, Rubric, Worked
from earwitness.listening.rubrics.thumbs import thumbs
from earwitness.listening.rubrics.totals import BLANKS, Blank, Cell, Judged, means, ratings, total

__all__ = [
    "BLANKS",
    "BUILT_IN",
    "TOTAL",
    "Anchor",
    "Blank",
    "Cell",
    "Dimension",
    "Judged",
    "Rubric",
    "Worked",
    "defined",
    "means",
    "ratings",
    "thumbs",
    "total",
]
