"""What a line of each file holds; entered in docs/formats.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.formats.check import (
    FARTHEST,
    LARGEST,
    LONGEST,
    NAME,
    Fault,
    Field,
    either,
    length,
    listed,
    mapping,
    moment,
    name,
    number,
    pair,
    record,
    show,
    text,
)
from earwitness.formats.records import Layout

Name = Annotated[str, Meta(pattern=NAME)] | Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Length = Annotated[float, Meta(ge=0, le=LONGEST)]
Moment = Annotated[float, Meta(ge=-FARTHEST, le=FARTHEST)]
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]
TIMES = Field(listed(moment), required=True)
TitleList = list[tuple[str, Moment]]
TITLES = Field(listed(pair(text, moment)))


class Word(Struct, array_like=True, forbid_unknown_fields=True):
    """A word with its start, and maybe its end and how sure a recogniser was."""

    word: str
    start: Moment
    end: Moment | UnsetType = UNSET
    confidence: Number | UnsetType = UNSET


class Sample(Struct, forbid_unknown_fields=True):
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


class Content(Struct, forbid_unknown_fields=True):
    """Chapters: boundaries, or a transcript that has them."""

    boundaries: list[Moment] | UnsetType = UNSET
    titles: TitleList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    preset: str | UnsetType = UNSET


class Found(Content, forbid_unknown_fields=True):
    """Chapters as a system gave them, and what it heard."""

    sentences: TitleList | UnsetType = UNSET
    subtitles: str | UnsetType = UNSET
    words: list[Word] | UnsetType = UNSET


class Annotation(Content, forbid_unknown_fields=True):
    """Chapters as a person gave them."""

    annotator: Name | UnsetType = UNSET


class Output(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: Found
    meta: dict[str, Any] | UnsetType = UNSET


class Reference(Struct, forbid_unknown_fields=True):
    """A line of a references file."""

    item: Name
    duration: Length
    references: Annotated[list[Annotation], Meta(min_length=1)]
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
    for index, (part, check) in enumerate(zip(value, PARTS, strict=False)):
        yield from check(part, f"{path}[{index}]")


PARTS = (text, moment, moment, number)
WORDS = Field(listed(word))
SPOKEN = {"sentences": TITLES, "subtitles": Field(text), "words": WORDS}
CONTENT = {
    "boundaries": Field(listed(moment)),
    "titles": TITLES,
    "transcript": Field(text),
    "preset": Field(text),
}
LIKE = '{"boundaries": [61.5, 120]}'
ANNOTATION = CONTENT | {"annotator": Field(name)}
ITEM = {"item": Field(name, required=True), "meta": Field(mapping)}
SAMPLES = Layout(
    Sample,
    {
        "hypothesis": Field(either(str, text, listed(moment)), required=True),
        "reference": TIMES,
        "duration": Field(length, required=True),
        "id": Field(name),
        "meta": Field(mapping),
        "audio": Field(text),
        "format": Field(text),
        "reference_transcript": Field(text),
        "reference_titles": TITLES,
        "hyp_titles": TITLES,
        "reference_sentences": TITLES,
        "hyp_sentences": TITLES,
        "reference_subtitles": Field(text),
        "hyp_subtitles": Field(text),
        "reference_words": WORDS,
        "hyp_words": WORDS,
    },
    output="hypothesis",
)
OUTPUTS = Layout(
    Output,
    ITEM
    | {
        "system": Field(name, required=True),
        "output": Field(record(CONTENT | SPOKEN, LIKE), required=True),
    },
    output="output",
)
REFERENCES = Layout(
    Reference,
    ITEM
    | {
        "duration": Field(length, required=True),
        "references": Field(listed(record(ANNOTATION, LIKE), least=1), required=True),
        "audio": Field(text),
        "transcript": Field(text),
        **SPOKEN,
    },
    inner="references[0]",
)
