"""Record structs of chapter files: outputs, references and chunkseg samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, structs

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


# --- Times in other units ------------------------------------------------------------------------


Content = TypeVar("Content", bound=ChapterContent)


def content_in_seconds(content: Content, unit: float) -> Content:
    """Return chapters with times in seconds; ``unit`` is the length of theirs."""
    if unit == 1:
        return content
    boundaries, titles = _moments(content.boundaries, unit), _titles(content.titles, unit)
    return structs.replace(content, boundaries=boundaries, titles=titles)


def sample_in_seconds(sample: ChunksegSample, units: Mapping[str, float]) -> ChunksegSample:
    """Return a sample with times in seconds; ``units`` are the lengths of theirs, by side."""
    own, reference, duration = (units[side] for side in ("outputs", "references", "durations"))
    if {own, reference, duration} == {1}:
        return sample
    hypothesis = sample.hypothesis
    return structs.replace(
        sample,
        hypothesis=hypothesis if isinstance(hypothesis, str) else _moments(hypothesis, own),
        hyp_titles=_titles(sample.hyp_titles, own),
        reference=_moments(sample.reference, reference),
        reference_titles=_titles(sample.reference_titles, reference),
        duration=in_seconds(sample.duration, duration),
    )


def in_seconds(time: float, unit: float) -> float:
    """Return a time in seconds; milliseconds are divided, which is exact.

    >>> in_seconds(61001, 0.001)
    61.001
    """
    return time * unit if unit >= 1 else time / round(1 / unit)


def _moments(times: Any, unit: float) -> Any:
    return times if times is UNSET else [in_seconds(time, unit) for time in times]


def _titles(titles: Any, unit: float) -> Any:
    return titles if titles is UNSET else [(text, in_seconds(time, unit)) for text, time in titles]
