"""Chapters in text: boundaries as places between sentences, as text segmentation counts them.

A boundary lies before the sentence of the reference transcript whose start is nearest to it. With
`of` reference, boundaries of the output are put there directly; with `of` output they are first
moved to the nearest sentence of the system's own transcript, which shows what a recognised
transcript costs. Beside `chunks` this shows the effect of scoring in text. Needs sentences with
their start times, or subtitles or words with times to make them of: of the item, and of the output
for `of` output. The first sentence begins the first chapter and is no boundary.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from earwitness.metrics.base import Floats, one_of
from earwitness.metrics.chapters.chunks import MEANS, Chunks
from earwitness.metrics.chapters.pairs import ChapterMetric
from earwitness.timeline import ChapterCases, Ragged
from earwitness.timeline.ragged import Ints

OF = {
    "help": "whose sentences boundaries of the output are moved to first",
    "choices": ("reference", "output"),
}
PER_UNIT = Chunks(chunk_size=1.0)  # a sentence is a unit of time
KEPT = [0, 1, *range(4, 8), *range(MEANS, MEANS + 3)]  # of its values


@dataclass(frozen=True)
class Sentences(ChapterMetric):
    """Precision, recall, Pk, WindowDiff, boundary similarity and GHD over sentences."""

    of: str = field(default="reference", metadata=OF)

    name = "sentences"
    title = "Chapters in text"
    values = tuple(
        replace(value, name=f"sentence_{value.name}", doc=value.doc.replace("chunk", "sentence"))
        for value in (PER_UNIT.values[index] for index in KEPT)
    )
    headline = "sentence_boundary_similarity"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "as chunks",
        "output empty": "as chunks",
        "reference empty": "as chunks",
        "no sentences": "every value undefined",
        "a single sentence": "every value undefined: there is no place for a boundary",
    }
    references = (
        "Retkowski et al. (2026), Beyond Transcripts: A Renewed Perspective on Audio Chaptering",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(OF["choices"], "of", self.of)

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Statistics of `chunks` on a line where every place between sentences is a unit."""
        texts = pairs.texts
        starts = [None] * len(pairs) if texts is None else list(texts.sentences)
        own = [None] * len(pairs) if texts is None else list(texts.own_sentences)
        if self.of == "output":
            starts = [None if own[i] is None else starts[i] for i in range(len(pairs))]
        grid = Ragged.of([sorted(times or ()) for times in starts])
        output, reference = pairs.positive()
        if self.of == "output":
            output = _moved(output, Ragged.of([sorted(times or ()) for times in own]))
        units = replace(
            pairs,
            duration=np.maximum(grid.lengths - 1, 0).astype(np.float64),
            output=_places(output, grid),
            reference=_places(reference, grid),
            texts=None,
        )
        return PER_UNIT.measure_pairs(units)

    def score(self, statistics: Floats) -> Floats:
        return PER_UNIT.score(statistics)[..., KEPT]


def _nearest(times: Ragged, grid: Ragged) -> Ints:
    """For every time the index, in its row, of the nearest point; the first of equals."""
    places = np.zeros(len(times.values), np.int64)
    for row in range(len(times)):  # sorted points: the nearest is just before or just behind
        points, own = grid.row(row), slice(times.offsets[row], times.offsets[row + 1])
        if len(points):
            behind = np.searchsorted(points, times.values[own])
            before = np.maximum(behind - 1, 0)
            behind = np.minimum(behind, len(points) - 1)
            closer = times.values[own] - points[before] <= points[behind] - times.values[own]
            places[own] = np.where(closer, before, behind)
    return places


def _places(times: Ragged, grid: Ragged) -> Ragged:
    """Times as places between sentences: before sentence 1 is the first unit."""
    places = _nearest(times, grid)
    return Ragged(places.astype(np.float64) - 0.5, times.offsets).where(places > 0)


def _moved(times: Ragged, grid: Ragged) -> Ragged:
    """Times moved to the nearest point; rows without points stay as they are."""
    places, rows = _nearest(times, grid), times.rows
    some = grid.lengths[rows] > 0
    moved = times.values.copy()
    moved[some] = grid.values[(grid.offsets[rows] + places)[some]]
    return Ragged(moved, times.offsets)
