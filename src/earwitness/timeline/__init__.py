"""Boundaries in time: on a grid, under windows, as edits, matched, and as partitions."""

from earwitness.timeline.cases import ChapterCases, Texts, spans_of
from earwitness.timeline.edits import boundary_similarity, edits, generalised_hamming
from earwitness.timeline.grid import Events, Grid
from earwitness.timeline.matching import (
    MATCHINGS,
    greedy_matches,
    median_distance,
    optimal_matches,
)
from earwitness.timeline.partition import Partition
from earwitness.timeline.ragged import Ragged
from earwitness.timeline.titles import TM_RULES
from earwitness.timeline.windows import window_errors

__all__ = [
    "MATCHINGS",
    "TM_RULES",
    "ChapterCases",
    "Events",
    "Grid",
    "Partition",
    "Ragged",
    "Texts",
    "boundary_similarity",
    "edits",
    "generalised_hamming",
    "greedy_matches",
    "median_distance",
    "optimal_matches",
    "spans_of",
    "window_errors",
]
