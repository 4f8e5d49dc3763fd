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
from earwitness.metrics.skims import SkimMeasures
from earwitness.metrics.summaries import (
    Bleu,
    KeptWords,
    Rouge,
    SummarizationAccuracy,
    SummaryBertScore,
    WeightedPrecision,
    WordAccuracy,
    WordStrings,
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
    "sumaccy": SummarizationAccuracy,
    "word_accuracy": WordAccuracy,
    "word_strings": WordStrings,
    "weighted_precision": WeightedPrecision,
    "kept": KeptWords,
    "bleu": Bleu,
    "rouge": Rouge,
    "bertscore": SummaryBertScore,
    "skims": SkimMeasures,
}

__all__ = ["METRICS", "Metric", "Views", "find"]
