"""Boundaries in time: on a grid, under sliding windows, as edits, and matched one to one."""

from earwitness.timeline.cases import ChapterCases
from earwitness.timeline.edits import boundary_similarity, generalised_hamming
from earwitness.timeline.grid import Events, Grid
from earwitness.timeline.matching import greedy_matches
from earwitness.timeline.ragged import Ragged
from earwitness.timeline.windows import window_errors

__all__ = [
    "ChapterCases",
    "Events",
    "Grid",
    "Ragged",
    "boundary_similarity",
    "generalised_hamming",
    "greedy_matches",
    "window_errors",
]
