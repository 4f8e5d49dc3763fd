"""What a line of each file holds; entered in docs/formats.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.formats.chapters.layouts import Length, Moment, Name
from earwitness.formats.check import (
    LONGEST,
    Fault,
    Field,
    either,
    length,
    listed,
    mapping,
    moment,
    name,
    pair,
    record,
    show,
    text,
)
from earwitness.formats.records import Layout

Seconds = Annotated[float, Meta(gt=0, le=LONGEST)]
Path = Annotated[str, Meta(min_length=1)]


class Content(Struct, forbid_unknown_fields=True):
    """A skim: picks with start and seconds, or starts of equal blocks, or a sound file."""

    picks: list[tuple[Moment, Seconds]] | UnsetType = UNSET
    times: list[Moment] | UnsetType = UNSET
    block: Seconds | UnsetType = UNSET
    audio: Path | UnsetType = UNSET


class Output(Struct, forbid_unknown_fields=True):
    """A line of an outputs file."""

    item: Name
    system: Name
    output: Content
    meta: dict[str, Any] | UnsetType = UNSET


class Whole(Struct):
    """The recording as the one reference of an item, which nobody made."""

    annotator: str | UnsetType = UNSET


class Line(Struct, forbid_unknown_fields=True):
    """A line of a references file: where a recording is and when it began, or blocks of one."""

    item: Name
    recording: Path | Annotated[list[Path], Meta(min_length=1)] | UnsetType = UNSET
    start: str | UnsetType = UNSET
    zone: str | UnsetType = UNSET
    hour_gap: Length | UnsetType = UNSET
    day: str | UnsetType = UNSET
    blocks: Path | UnsetType = UNSET
    audio: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET

    @property
    def references(self) -> list[Whole]:
        """One: the recording itself."""
        return [Whole()]


def seconds(value: Any, at: str) -> Iterator[Fault]:
    """A length of more than nothing."""
    found = list(length(value, at))
    yield from found
    if not found and value == 0:
        yield Fault(at, f"must be more than 0 s, got {show(value)}")


def path(value: Any, at: str) -> Iterator[Fault]:
    """The name of a file or folder."""
    found = list(text(value, at))
    yield from found
    if not found and not value:
        yield Fault(at, "must not be empty", "name a file or a folder")


LIKE = '{"picks": [[3600, 8], [7200, 8]]}'
CONTENT = {
    "picks": Field(listed(pair(moment, seconds))),
    "times": Field(listed(moment)),
    "block": Field(seconds),
    "audio": Field(path),
}
ITEM = {"item": Field(name, required=True), "meta": Field(mapping)}
OUTPUTS = Layout(
    Output,
    ITEM
    | {"system": Field(name, required=True), "output": Field(record(CONTENT, LIKE), required=True)},
    output="output",
)
REFERENCES = Layout(
    Line,
    ITEM
    | {
        "recording": Field(either(list, listed(path, least=1), path)),
        "start": Field(text),
        "zone": Field(text),
        "hour_gap": Field(length),
        "day": Field(text),
        "blocks": Field(path),
        "audio": Field(text),
    },
)
