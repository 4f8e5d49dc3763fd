"""Chapters: where a long recording is cut into parts.

Times are seconds from the start. A value is undefined (NaN, counted) where its definition says
nothing; see each family's empty cells.
"""

from earwitness.metrics.chapters.agreement import Agreement
from earwitness.metrics.chapters.chunks import Chunks
from earwitness.metrics.chapters.collar import Collar
from earwitness.metrics.chapters.deviation import Deviation
from earwitness.metrics.chapters.r_value import RValue
from earwitness.metrics.chapters.segments import Segments
from earwitness.metrics.chapters.sentences import Sentences
from earwitness.metrics.chapters.similarity import Similarity
from earwitness.metrics.chapters.title_bertscore import TitleBertScore
from earwitness.metrics.chapters.titles import TitleOverlap
from earwitness.metrics.chapters.wer import WordErrorRate

__all__ = [
    "Agreement",
    "Chunks",
    "Collar",
    "Deviation",
    "RValue",
    "Segments",
    "Sentences",
    "Similarity",
    "TitleBertScore",
    "TitleOverlap",
    "WordErrorRate",
]
