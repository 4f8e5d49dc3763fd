"""Frozen types that every other package speaks; nothing here needs a third-party library."""

from earwitness.data.case import Case, Chapters, Item, Key
from earwitness.data.comparison import Comparison, Contrast
from earwitness.data.estimate import Estimate
from earwitness.data.scores import Input, Left, Provenance, Sample, Scores
from earwitness.data.seams import Map, Progress, no_progress
from earwitness.data.value import Value

__all__ = [
    "Case",
    "Chapters",
    "Comparison",
    "Contrast",
    "Estimate",
    "Input",
    "Item",
    "Key",
    "Left",
    "Map",
    "Progress",
    "Provenance",
    "Sample",
    "Scores",
    "Value",
    "no_progress",
]
