"""SkimMeasures: temporal consistency, source diversity and coverage as a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, nan
from typing import NamedTuple

import numpy as np

from earwitness.core import Case, Value, group_values
from earwitness.errors import UsageError
from earwitness.metric import CaseList, Metric, at_least, mean_pool, mean_statistics, mean_values
from earwitness.recordings.types import Recording
from earwitness.skims.day import PERIOD_SECONDS, Day, hear_picks
from earwitness.skims.measures import DayMeasures
from earwitness.skims.types import Skim
from earwitness.stats.arrays import Floats, Ints

# --- Days for the metric -------------------------------------------------------------------------
# Recordings are long, so the results for the last few are kept in memory. Embeddings are also in
# the cache on disk, which ``earwitness skim`` shares.


DAYS_IN_MEMORY = 4


class MarkedRecording(NamedTuple):
    """A recording, and the length of the silences in it that mark hours (0: no such silences)."""

    recording: Recording
    hour_gap: float = 0.0


SkimReference = MarkedRecording | Day


class EmbeddedDay(NamedTuple):
    """The blocks of a recording, and the recording after reading, with its true clock."""

    day: Day
    real: Recording


def embed_recording(reference: MarkedRecording, embedder: str, block: float) -> EmbeddedDay:
    """Return a recording embedded in blocks."""
    from earwitness.models.blocks import read_recording_blocks
    from earwitness.models.embedders import find_embedder

    recording, gap = reference
    blocks, real = read_recording_blocks(
        recording, find_embedder(embedder), block=block, hour_gap=gap
    )
    day = Day.of(blocks.starts, blocks.seconds, blocks.vectors, blocks.classes, real.seconds)
    return EmbeddedDay(day, real)


def embed_day(reference: SkimReference, embedder: str, block: float) -> Day:
    """Return the blocks of a recording; a Day is returned unchanged."""
    if isinstance(reference, Day):
        return reference
    return embed_recording(reference, embedder, block).day


@lru_cache(DAYS_IN_MEMORY)
def measure_day(
    reference: SkimReference, embedder: str, block: float, period: float
) -> DayMeasures:
    """Return a day's measures; what depends only on the day is computed once."""
    return DayMeasures(embed_day(reference, embedder, block), period)


# --- Skim metric ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SkimMeasures(Metric):
    """Temporal consistency (TC), source diversity (SD) and class coverage of skims.

    A recording is cut into blocks, and an embedder gives each block a vector and sound classes.
    TC is DTW(calibration) / DTW(skim), where DTW is the distance from the means of the day's
    periods; its calibration is the block nearest to the mean of each equal part of the day. SD is
    coverage(skim) / coverage(calibration), where coverage is the skim's share of the day's class
    maxima; its calibration is the blocks with the highest class values. Calibrations have as many
    picks as the skim. They are not optimal, so TC and SD may exceed 1. The published measures have
    periods of 900 s, and msIoU instead of coverage (sd_msiou). Picks count in playing order. A pick
    that is not a block of the grid has the mean of the blocks it overlaps. If an item has several
    recordings, values are averaged over them.

    Parameters
    ----------
    embedder
        ``codebook``, ``log-mel``, a YAMNet .tflite file, or a folder with a Hugging Face model.
    block
        Length of the blocks to embed, in seconds.
    period
        Length of the periods that a skim should follow, in seconds.
    """

    task = "skims"
    name = "skims"
    title = "Skims"
    values = (
        Value("tc", "high", 0, inf, "temporal consistency: DTW(calibration) / DTW(skim)"),
        Value("sd", "high", 0, inf, "source diversity: coverage(skim) / coverage(calibration)"),
        Value.share("class_coverage", "share of the day's class maxima in the skim"),
        Value("dtw", "low", 0, inf, "DTW(skim): distance from the course of the day"),
        Value.share("msiou", "msIoU(skim): agreement of its classes with the day's"),
        Value("sd_msiou", "high", 0, inf, "SD as published: msIoU(skim) / msIoU(calibration)"),
    )
    headline = "tc"
    also = ("sd",)
    alone = True
    empty_cells = {
        "both empty": "undefined",
        "output empty": "tc, sd, class_coverage, msiou and sd_msiou 0; dtw undefined",
        "reference empty": "undefined: the recording is shorter than one block",
        "recording that is silent or sounds the same throughout": "undefined",
        "pick without sound": "undefined: nothing was recorded at that time",
    }
    references = (
        "Tailleur, Lagrange, Aumond and Tourre (2025), audio summaries of day-long recordings",
    )

    embedder: str = field(default="codebook", kw_only=True)
    block: float = field(default=8.0, kw_only=True, metadata={"least": 0.32})
    period: float = field(default=PERIOD_SECONDS, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.embedder, str) or not self.embedder:
            message = "embedder must be codebook, log-mel, a .tflite file or a folder"
            raise UsageError(f"{message}, got {self.embedder!r}")
        super().__post_init__()
        object.__setattr__(self, "period", at_least(self.block, "period", self.period))

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        case_list = CaseList.of(cases)
        rows = [(case.output, reference) for case in case_list for reference in case.references]
        table = np.full((len(rows), len(self.values)), nan)
        order = group_values((reference, row) for row, (_, reference) in enumerate(rows))
        for reference, places in order.items():  # one day at a time
            for row in places:
                table[row] = self.measure_skim(rows[row][0], reference)
        return self.pool(mean_statistics(table), case_list.counts)

    def measure_skim(self, skim: Skim, reference: SkimReference) -> tuple[float, ...]:
        """Return the values of a skim of one recording."""
        day = measure_day(reference, self.embedder, self.block, self.period)
        picks = [(pick.start, pick.seconds) for pick in skim.picks]
        content = hear_picks(day.day, picks) if len(day.day) else None
        if content is None:
            return (nan,) * len(self.values)
        measures = (day.tc, day.sd, day.coverage, day.distance, day.agreement, day.sd_msiou)
        return tuple(measure(content) for measure in measures)

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        return mean_pool(statistics, counts) if len(counts) else statistics

    def score(self, statistics: Floats) -> Floats:
        return mean_values(statistics)
