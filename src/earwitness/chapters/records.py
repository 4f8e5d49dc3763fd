"""Record structs of chapter files: outputs, references and chunkseg samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.io.records import RecordType
from earwitness.io.schema import (
    WORD_PART_CHECKS,
    Fault,
    Field,
    Length,
    Moment,
    Name,
    Number,
    check_either,
    check_name,
    check_record,
    check_text,
    length,
    listed,
    mapping,
    moment,
    pair,
    show,
)

TIMES_FIELD = Field(listed(moment), required=True)
TitleList = list[tuple[str, Moment]]
TITLES_FIELD = Field(listed(pair(check_text, moment)))


class Word(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its start, and maybe its end and how sure a recogniser was."""

    word: str
    start: Moment
    end: Moment | UnsetType = UNSET
    confidence: Number | UnsetType = UNSET


class ChunksegSample(Struct, forbid_unknown_fields=True):
    """A line of chunkseg's: one output and its reference."""

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
    reference_words: list[Word] | UnsetType = UNSET
    hyp_words: list[Word] | UnsetType = UNSET


class ChapterContent(Struct, forbid_unknown_fields=True):
    """Chapters: boundaries, or a transcript that has them."""

    boundaries: list[Moment] | UnsetType = UNSET
    titles: TitleList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    preset: str | UnsetType = UNSET


class ChapterOutput(ChapterContent, forbid_unknown_fields=True):
    """Chapters as a system gave them, and what it heard."""

    sentences: TitleList | UnsetType = UNSET
    subtitles: str | UnsetType = UNSET
    words: list[Word] | UnsetType = UNSET


class ChapterAnnotation(ChapterContent, forbid_unknown_fields=True):
    """Chapters as a person gave them."""

    annotator: Name | UnsetType = UNSET


class ChapterOutputLine(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: ChapterOutput
    meta: dict[str, Any] | UnsetType = UNSET


class ChapterReferenceLine(Struct, forbid_unknown_fields=True):
    """A line of a references file."""

    item: Name
    duration: Length
    references: Annotated[list[ChapterAnnotation], Meta(min_length=1)]
    audio: str | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    sentences: TitleList | UnsetType = UNSET
    subtitles: str | UnsetType = UNSET
    words: list[Word] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


def word(value: Any, path: str) -> Iterator[Fault]:
    """A word with its times."""
    if not isinstance(value, list) or len(value) not in (2, 3, 4):
        remedy = 'write ["word", start] or ["word", start, end]'
        yield Fault(path, f"must be a word with its start, got {show(value)}", remedy)
        return
    for index, (part, check) in enumerate(zip(value, WORD_PART_CHECKS, strict=False)):
        yield from check(part, f"{path}[{index}]")


WORDS_FIELD = Field(listed(word))
SPEECH_FIELDS = {"sentences": TITLES_FIELD, "subtitles": Field(check_text), "words": WORDS_FIELD}
CONTENT_FIELDS = {
    "boundaries": Field(listed(moment)),
    "titles": TITLES_FIELD,
    "transcript": Field(check_text),
    "preset": Field(check_text),
}
CONTENT_EXAMPLE = '{"boundaries": [61.5, 120]}'
ANNOTATION_FIELDS = CONTENT_FIELDS | {"annotator": Field(check_name)}
ITEM_FIELDS = {"item": Field(check_name, required=True), "meta": Field(mapping)}
SAMPLES = RecordType(
    ChunksegSample,
    {
        "hypothesis": Field(check_either(str, check_text, listed(moment)), required=True),
        "reference": TIMES_FIELD,
        "duration": Field(length, required=True),
        "id": Field(check_name),
        "meta": Field(mapping),
        "audio": Field(check_text),
        "format": Field(check_text),
        "reference_transcript": Field(check_text),
        "reference_titles": TITLES_FIELD,
        "hyp_titles": TITLES_FIELD,
        "reference_sentences": TITLES_FIELD,
        "hyp_sentences": TITLES_FIELD,
        "reference_subtitles": Field(check_text),
        "hyp_subtitles": Field(check_text),
        "reference_words": WORDS_FIELD,
        "hyp_words": WORDS_FIELD,
    },
    output="hypothesis",
)
OUTPUTS = RecordType(
    ChapterOutputLine,
    ITEM_FIELDS
    | {
        "system": Field(check_name, required=True),
        "output": Field(
            check_record(CONTENT_FIELDS | SPEECH_FIELDS, CONTENT_EXAMPLE), required=True
        ),
    },
    output="output",
)
REFERENCES = RecordType(
    ChapterReferenceLine,
    ITEM_FIELDS
    | {
        "duration": Field(length, required=True),
        "references": Field(
            listed(check_record(ANNOTATION_FIELDS, CONTENT_EXAMPLE), least=1), required=True
        ),
        "audio": Field(check_text),
        "transcript": Field(check_text),
        **SPEECH_FIELDS,
    },
    inner="references[0]",
)
