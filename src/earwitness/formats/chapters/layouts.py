"""What a line of each file holds; entered in docs/formats.md."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.formats.check import (
    FARTHEST,
    LARGEST,
    LONGEST,
    NAME,
    Field,
    either,
    length,
    listed,
    mapping,
    moment,
    name,
    pair,
    record,
    text,
)
from earwitness.formats.records import Layout

Name = Annotated[str, Meta(pattern=NAME)] | Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Length = Annotated[float, Meta(ge=0, le=LONGEST)]
Moment = Annotated[float, Meta(ge=-FARTHEST, le=FARTHEST)]
TIMES = Field(listed(moment), required=True)
TitleList = list[tuple[str, Moment]]
TITLES = Field(listed(pair(text, moment)))


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


class Content(Struct, forbid_unknown_fields=True):
    """Chapters as a system gave them: boundaries, or a transcript that has them."""

    boundaries: list[Moment] | UnsetType = UNSET
    titles: TitleList | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    preset: str | UnsetType = UNSET
    sentences: TitleList | UnsetType = UNSET


class Annotation(Content, forbid_unknown_fields=True):
    """Chapters as a person gave them."""

    annotator: Name | UnsetType = UNSET


class Output(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: Content
    meta: dict[str, Any] | UnsetType = UNSET


class Reference(Struct, forbid_unknown_fields=True):
    """A line of a references file."""

    item: Name
    duration: Length
    references: Annotated[list[Annotation], Meta(min_length=1)]
    audio: str | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    sentences: TitleList | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


CONTENT = {
    "boundaries": Field(listed(moment)),
    "titles": TITLES,
    "transcript": Field(text),
    "preset": Field(text),
    "sentences": TITLES,
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
    },
    output="hypothesis",
)
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
        "duration": Field(length, required=True),
        "references": Field(listed(record(ANNOTATION, LIKE), least=1), required=True),
        "audio": Field(text),
        "transcript": Field(text),
        "sentences": TITLES,
    },
    inner="references[0]",
)
