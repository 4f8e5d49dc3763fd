"""What a line of each file holds; entered in docs/formats.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.formats.chapters.layouts import PARTS, Length, Moment, Name, Number
from earwitness.formats.check import (
    LARGEST,
    Fault,
    Field,
    length,
    listed,
    mapping,
    name,
    record,
    show,
    text,
)
from earwitness.formats.records import Layout

Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]


class Timed(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its times, and how sure a recogniser was."""

    word: str
    start: Moment
    end: Moment
    confidence: Number | UnsetType = UNSET


Words = list[str | Timed]


class Content(Struct, forbid_unknown_fields=True):
    """A summary: positions, or a text, or words with times."""

    positions: list[Whole] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    words: Words | UnsetType = UNSET
    ctm: str | UnsetType = UNSET


class Annotation(Struct, forbid_unknown_fields=True):
    """A summary that a person made."""

    positions: list[Whole] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    annotator: Name | UnsetType = UNSET


class Output(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: Content
    meta: dict[str, Any] | UnsetType = UNSET


class Reference(Struct, forbid_unknown_fields=True):
    """A line of a references file: what was said, and what people made of it."""

    item: Name
    references: Annotated[list[Annotation], Meta(min_length=1)]
    words: Words | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    ctm: str | UnsetType = UNSET
    duration: Length | UnsetType = UNSET
    audio: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


def whole(value: Any, path: str) -> Iterator[Fault]:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        yield Fault(path, f"must be a whole number, got {show(value)}", "the first word is 1")


def word(value: Any, path: str) -> Iterator[Fault]:
    """A word, or a word with its times."""
    if isinstance(value, str):
        return
    if not isinstance(value, list) or len(value) not in (3, 4):
        remedy = 'write "word", or ["word", start, end] or ["word", start, end, confidence]'
        yield Fault(path, f"must be a word, got {show(value)}", remedy)
        return
    for index, (part, check) in enumerate(zip(value, PARTS, strict=False)):
        yield from check(part, f"{path}[{index}]")


WORDS = Field(listed(word))
SUMMARY = {"positions": Field(listed(whole)), "text": Field(text)}
CONTENT = SUMMARY | {"words": WORDS, "ctm": Field(text)}
LIKE = '{"positions": [1, 3, 4]}'
ANNOTATION = SUMMARY | {"annotator": Field(name)}
ITEM = {"item": Field(name, required=True), "meta": Field(mapping)}
OUTPUTS = Layout(
    Output,
    ITEM
    | {"system": Field(name, required=True), "output": Field(record(CONTENT, LIKE), required=True)},
    output="output",
)
REFERENCES = Layout(
    Reference,
    ITEM
    | {
        "references": Field(listed(record(ANNOTATION, LIKE), least=1), required=True),
        "words": WORDS,
        "transcript": Field(text),
        "ctm": Field(text),
        "duration": Field(length),
        "audio": Field(text),
    },
    inner="references[0]",
)
