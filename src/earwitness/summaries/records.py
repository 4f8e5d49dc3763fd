"""Record structs of summary files: outputs and references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.io.records import RecordType
from earwitness.io.schema import (
    MAX_INTEGER_NAME,
    WORD_PART_CHECKS,
    Fault,
    Field,
    Length,
    Moment,
    Name,
    Number,
    check_name,
    check_record,
    check_text,
    length,
    listed,
    mapping,
    show,
)

WholeNumber = Annotated[int, Meta(ge=-MAX_INTEGER_NAME, le=MAX_INTEGER_NAME)]


class RecognizedWord(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its times, and how sure a recogniser was."""

    word: str
    start: Moment
    end: Moment
    confidence: Number | UnsetType = UNSET


WordList = list[str | RecognizedWord]


class SummaryContent(Struct, forbid_unknown_fields=True):
    """A summary: positions, or a text, or words with times."""

    positions: list[WholeNumber] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    words: WordList | UnsetType = UNSET
    ctm: str | UnsetType = UNSET


class SummaryAnnotation(Struct, forbid_unknown_fields=True):
    """A summary that a person made."""

    positions: list[WholeNumber] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    annotator: Name | UnsetType = UNSET


class SummaryOutputLine(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: SummaryContent
    meta: dict[str, Any] | UnsetType = UNSET


class SummaryReferenceLine(Struct, forbid_unknown_fields=True):
    """A line of a references file: what was said, and what people made of it."""

    item: Name
    references: Annotated[list[SummaryAnnotation], Meta(min_length=1)]
    words: WordList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    ctm: str | UnsetType = UNSET
    duration: Length | UnsetType = UNSET
    audio: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


def whole(value: Any, path: str) -> Iterator[Fault]:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_INTEGER_NAME:
        yield Fault(path, f"must be a whole number, got {show(value)}", "the first word is 1")


def word(value: Any, path: str) -> Iterator[Fault]:
    """A word, or a word with its times."""
    if isinstance(value, str):
        return
    if not isinstance(value, list) or len(value) not in (3, 4):
        remedy = 'write "word", or ["word", start, end] or ["word", start, end, confidence]'
        yield Fault(path, f"must be a word, got {show(value)}", remedy)
        return
    for index, (part, check) in enumerate(zip(value, WORD_PART_CHECKS, strict=False)):
        yield from check(part, f"{path}[{index}]")


WORDS_FIELD = Field(listed(word))
SUMMARY_FIELDS = {"positions": Field(listed(whole)), "text": Field(check_text)}
CONTENT_FIELDS = SUMMARY_FIELDS | {"words": WORDS_FIELD, "ctm": Field(check_text)}
CONTENT_EXAMPLE = '{"positions": [1, 3, 4]}'
ANNOTATION_FIELDS = SUMMARY_FIELDS | {"annotator": Field(check_name)}
ITEM_FIELDS = {"item": Field(check_name, required=True), "meta": Field(mapping)}
OUTPUTS = RecordType(
    SummaryOutputLine,
    ITEM_FIELDS
    | {
        "system": Field(check_name, required=True),
        "output": Field(check_record(CONTENT_FIELDS, CONTENT_EXAMPLE), required=True),
    },
    output="output",
)
REFERENCES = RecordType(
    SummaryReferenceLine,
    ITEM_FIELDS
    | {
        "references": Field(
            listed(check_record(ANNOTATION_FIELDS, CONTENT_EXAMPLE), least=1), required=True
        ),
        "words": WORDS_FIELD,
        "transcript": Field(check_text),
        "ctm": Field(check_text),
        "duration": Field(length),
        "audio": Field(check_text),
    },
    inner="references[0]",
)
