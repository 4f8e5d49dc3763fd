"""Metrics by name; the contract tests hold every entry of the table to the same promises."""

from earwitness.metrics.base import Metric, Views, find
from earwitness.metrics.chapters import (
    Agreement,
    Chunks,
    Collar,
    Deviation,
    RValue,
    Segments,
    Sentences,
    Similarity,
    TitleBertScore,
    TitleOverlap,
    WordErrorRate,
)

METRICS: dict[str, type[Metric]] = {
    "agreement": Agreement,
    "chunks": Chunks,
    "collar": Collar,
    "deviation": Deviation,
    "r_value": RValue,
    "segments": Segments,
    "sentences": Sentences,
    "similarity": Similarity,
    "title_bertscore": TitleBertScore,
    "titles": TitleOverlap,
    "wer": WordErrorRate,
}
DEFAULTS = ("chunks", "collar")  # what is scored if nobody asks for more

__all__ = ["DEFAULTS", "METRICS", "Metric", "Views", "find"]
