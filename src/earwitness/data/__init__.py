"""Frozen types that every other package speaks; nothing here needs a third-party library."""

from earwitness.data.alignment import Alignment, Pair
from earwitness.data.case import Case, Chapters, Item, Key, Summary, Titles
from earwitness.data.cases import Cases
from earwitness.data.comparison import Comparison, Contrast, GroupContrasts
from earwitness.data.estimate import Estimate
from earwitness.data.network import WordNetwork
from earwitness.data.rating import Answer, Rating
from earwitness.data.scores import (
    Estimates,
    Input,
    Left,
    People,
    Provenance,
    Sample,
    Scores,
    Shown,
    Slice,
    Sweep,
    is_address,
)
from earwitness.data.seams import Map, Progress, no_progress
from earwitness.data.study import (
    Analysis,
    Block,
    Clip,
    Design,
    Plan,
    Question,
    Rule,
    Session,
    Study,
    Trial,
)
from earwitness.data.value import Value

__all__ = [
    "Alignment",
    "Analysis",
    "Answer",
    "Block",
    "Case",
    "Cases",
    "Chapters",
    "Clip",
    "Comparison",
    "Contrast",
    "Design",
    "Estimate",
    "Estimates",
    "GroupContrasts",
    "Input",
    "Item",
    "Key",
    "Left",
    "Map",
    "Pair",
    "People",
    "Plan",
    "Progress",
    "Provenance",
    "Question",
    "Rating",
    "Rule",
    "Sample",
    "Scores",
    "Session",
    "Shown",
    "Slice",
    "Study",
    "Summary",
    "Sweep",
    "Titles",
    "Trial",
    "Value",
    "WordNetwork",
    "is_address",
    "no_progress",
]
