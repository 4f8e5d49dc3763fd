"""Skims: condensing a day-long recording into about a minute, and measuring the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from earwitness.core import StrPath

if TYPE_CHECKING:
    from earwitness.skims.day import Day

__all__ = ["tc_sd"]


def tc_sd(
    picks: Sequence[tuple[float, float]],
    recording: StrPath | Sequence[StrPath] | Day,
    *,
    embedder: str = "codebook",
    block: float = 8.0,
    period: float = 3600.0,
    hour_gap: float = 0.0,
) -> dict[str, float]:
    """Compute temporal consistency (TC) and source diversity (SD) of a skim.

    Parameters
    ----------
    picks
        Start and length of each pick in seconds, in playing order.
    recording
        Recording: an audio file, a folder or a list of consecutive files, or embedded blocks.
    embedder
        codebook, log-mel, a YAMNet .tflite file, or a folder with a Hugging Face model.
    block
        Length of the blocks to embed, in seconds.
    period
        Length of the periods that a skim should follow, in seconds.
    hour_gap
        Length of silences that mark hours, in seconds; 0 if there are none.

    Returns
    -------
    dict
        tc, sd, class_coverage, dtw, msiou and sd_msiou; NaN where undefined.

    Raises
    ------
    InputError
        If the recording cannot be read.
    UsageError
        If an argument is invalid.
    """
    from earwitness.core import Case, Item, Key
    from earwitness.skims.day import Day
    from earwitness.skims.metrics import MarkedRecording, SkimMeasures
    from earwitness.skims.types import Pick, Skim

    metric = SkimMeasures(embedder=embedder, block=block, period=period)
    if isinstance(recording, Day):
        reference: Day | MarkedRecording = recording
    else:
        from earwitness.recordings.recording import list_paths, open_recording

        reference = MarkedRecording(open_recording(list_paths(recording)), hour_gap)
    skim = Skim(tuple(Pick(float(start), float(seconds)) for start, seconds in picks))
    case = Case(Key("item", "system"), Item(float("nan")), skim, (reference,))
    return metric.values_of(case)
