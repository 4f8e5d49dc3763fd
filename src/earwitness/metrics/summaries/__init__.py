"""Metrics of summaries, a file a family."""

from earwitness.metrics.summaries.bertscore import SummaryBertScore
from earwitness.metrics.summaries.bleu import Bleu
from earwitness.metrics.summaries.kept import KeptWords
from earwitness.metrics.summaries.precision import WeightedPrecision, WordStrings
from earwitness.metrics.summaries.rouge import Rouge
from earwitness.metrics.summaries.sumaccy import SummarizationAccuracy
from earwitness.metrics.summaries.word_accuracy import WordAccuracy

__all__ = [
    "Bleu",
    "KeptWords",
    "Rouge",
    "SummarizationAccuracy",
    "SummaryBertScore",
    "WeightedPrecision",
    "WordAccuracy",
    "WordStrings",
]
