"""Record structs of chapter files: outputs, references and chunkseg samples."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.io.records import RecordType
from earwitness.io.schema import Length, Moment, Name, Number
from earwitness.task import ItemLine, OutputLine

TitleList = list[tuple[str, Moment]]


class Word(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its start, and optionally its end and the confidence of a recognizer."""

    word: str
    start: Moment
    end: Moment | UnsetType = UNSET
    confidence: Number | UnsetType = UNSET


WordList = list[
    Annotated[
        Word,
        Meta(
            extra={
                "message": "must be a word with its start",
                "remedy": 'write ["word", start] or ["word", start, end]',
            }
        ),
    ]
]


class ChunksegSample(Struct, forbid_unknown_fields=True):
    """A line in chunkseg's format: one output and its reference."""

    hypothesis: list[Moment] | str
    reference: list[Moment]
    duration: Length
    id: Name | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET
    audio: str | UnsetType = UNSET
    format: str | UnsetType = UNSET
    reference_transcript: str | UnsetType = UNSET
    reference_titles: TitleList | UnsetType = UNSET
    hyp_titles: TitleList | UnsetType = UNSET
    reference_sentences: TitleList | UnsetType = UNSET
    hyp_sentences: TitleList | UnsetType = UNSET
    reference_subtitles: str | UnsetType = UNSET
    hyp_subtitles: str | UnsetType = UNSET
    reference_words: WordList | UnsetType = UNSET
    hyp_words: WordList | UnsetType = UNSET


CONTENT_WORDING = Meta(extra={"remedy": 'write {"boundaries": [61.5, 120]}'})


class ChapterContent(Struct, forbid_unknown_fields=True):
    """Chapters: boundaries, or a transcript with chapter marks."""

    boundaries: list[Moment] | UnsetType = UNSET
    titles: TitleList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    preset: str | UnsetType = UNSET


class ChapterOutput(ChapterContent, forbid_unknown_fields=True):
    """Chapters of a system, and its own transcript."""

    sentences: TitleList | UnsetType = UNSET
    subtitles: str | UnsetType = UNSET
    words: WordList | UnsetType = UNSET


class ChapterAnnotation(ChapterContent, forbid_unknown_fields=True):
    """Chapters of an annotator."""

    annotator: Name | UnsetType = UNSET


class ChapterOutputLine(OutputLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file."""

    output: Annotated[ChapterOutput, CONTENT_WORDING]


class ChapterReferenceLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of a references file."""

    duration: Length
    references: Annotated[list[Annotated[ChapterAnnotation, CONTENT_WORDING]], Meta(min_length=1)]
    audio: str | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    sentences: TitleList | UnsetType = UNSET
    subtitles: str | UnsetType = UNSET
    words: WordList | UnsetType = UNSET


SAMPLES = RecordType(ChunksegSample, output="hypothesis")
OUTPUTS = RecordType(ChapterOutputLine, output="output")
REFERENCES = RecordType(ChapterReferenceLine)
