"""Record structs of summary files: outputs and references."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.io.records import RecordType
from earwitness.io.schema import Length, Moment, Name, Number, WholeNumber
from earwitness.task import ItemLine, OutputLine

WordPosition = Annotated[WholeNumber, Meta(extra={"remedy": "positions start at 1"})]


class RecognizedWord(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its times, and the confidence of a recognizer."""

    word: str
    start: Moment
    end: Moment
    confidence: Number | UnsetType = UNSET


WORD_WORDING = Meta(
    extra={
        "message": "must be a word",
        "remedy": 'write "word", or ["word", start, end] or ["word", start, end, confidence]',
    }
)
WordList = list[Annotated[RecognizedWord, WORD_WORDING] | str]
CONTENT_WORDING = Meta(extra={"remedy": 'write {"positions": [1, 3, 4]}'})


class SummaryContent(Struct, forbid_unknown_fields=True):
    """A summary: positions, or a text, or words with times."""

    positions: list[WordPosition] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    words: WordList | UnsetType = UNSET
    ctm: str | UnsetType = UNSET


class SummaryAnnotation(Struct, forbid_unknown_fields=True):
    """A summary of an annotator."""

    positions: list[WordPosition] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    annotator: Name | UnsetType = UNSET


class SummaryOutputLine(OutputLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file."""

    output: Annotated[SummaryContent, CONTENT_WORDING]


class SummaryItemLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of a file of items: the transcript, without summaries."""

    words: WordList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    ctm: str | UnsetType = UNSET
    recognized: WordList | str | UnsetType = UNSET
    duration: Length | UnsetType = UNSET
    audio: str | UnsetType = UNSET


class SummaryReferenceLine(SummaryItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of a references file: the transcript and its summaries."""

    references: Annotated[list[Annotated[SummaryAnnotation, CONTENT_WORDING]], Meta(min_length=1)]


ITEMS = RecordType(SummaryItemLine)
OUTPUTS = RecordType(SummaryOutputLine, output="output")
REFERENCES = RecordType(SummaryReferenceLine)
