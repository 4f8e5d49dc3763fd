"""The task of chapters: metrics, reader, options, fields, and example items in reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from earwitness.chapters.cases import UNIT_SECONDS
from earwitness.chapters.gather import gather
from earwitness.chapters.metrics import (
    Agreement,
    Chunks,
    Collar,
    Deviation,
    RValue,
    Segments,
    Similarity,
)
from earwitness.chapters.presets import (
    DEFAULT_LANGUAGE,
    PRESETS,
    ChapterOptions,
    PresetOptions,
)
from earwitness.chapters.text_metrics import Sentences, TitleBertScore, TitleOverlap, WordErrorRate
from earwitness.core import ExampleItem, TitlePair, Value
from earwitness.docstrings import describe_parameters
from earwitness.metric_set import MetricSet
from earwitness.report.numbers import clock, number
from earwitness.report.parts import Section, Table, Timeline
from earwitness.speech import ALIGNERS
from earwitness.task import Folders, Task, TaskOption, TaskReader


def chapter_reader(_metrics: MetricSet, options: dict[str, str], folders: Folders) -> TaskReader:
    """Return a reader with these options."""
    from earwitness.chapters.reader import ChapterReader

    marks = PresetOptions(
        options.pop("custom_pattern", ""),
        options.pop("timestamp_format", ""),
        options.pop("tier", ""),
        str(options.pop("heading_level", "")),
    )
    reading = ChapterOptions(
        options.pop("preset", ""),
        marks,
        options.pop("aligner", ""),
        options.pop("language", DEFAULT_LANGUAGE),
        bool(options.pop("force_alignment", False)),
        options.pop("unit", ""),
    )
    reading.check()
    return ChapterReader(reading, folders.outputs, folders.references)


# --- Example items in reports --------------------------------------------------------------------


TITLE_SCORE = Value.share("title score", "")
NO_TITLE = "–"


def chapter_sections(
    shown: Sequence[ExampleItem], values: Sequence[Value], _worst: Mapping[str, str]
) -> Iterator[Section]:
    """Yield the timelines of items, with their titles."""
    drawn = [example for example in shown if example.outputs]
    if drawn:
        asked = any(not example.why for example in shown)
        lines = tuple(_timeline(example, values) for example in drawn)
        yield Section("Timelines", lines, place="everywhere" if asked else "pages")


def _timeline(example: ExampleItem, values: Sequence[Value]) -> Timeline:
    """Return a timeline with the matches of the first value that counts matches, if any."""
    counted = next((value for value in values if value.name in example.matches), None)
    matching = example.matches[counted.name if counted else ""]
    first = [counted] if counted else []
    others = [value for value in values if value != counted]
    return Timeline(
        example.item, example, (*first, *others), matching, tuple(_title_tables(example))
    )


def _title_tables(example: ExampleItem) -> Iterator[Table]:
    """Yield one table of titles per annotator: one row per title, one column per system."""
    annotators = dict.fromkeys(p.annotator for pairs in example.titles.values() for p in pairs)
    for annotator in annotators:
        rows = dict[tuple[float, str, bool], dict[str, str]]()
        for system, pairs in example.titles.items():
            for pair in pairs:
                if pair.annotator == annotator:
                    title = pair.reference or pair.output
                    assert title is not None
                    text, time = title
                    place = (time if time == time else float("inf")), text, pair.reference is None
                    rows.setdefault(place, {})[system] = _title_cell(pair)
        score = f", {example.title_score}" if example.title_score else ""
        of = f" of {annotator}" if len(annotators) > 1 else ""
        yield Table(
            f"{example.item}: titles{of} and matched titles of systems (start{score})",
            ("start", "reference", *example.titles),
            tuple(
                (
                    clock(time) if time < float("inf") else NO_TITLE,
                    NO_TITLE if is_extra else text,
                    *(cells.get(system, NO_TITLE) for system in example.titles),
                )
                for (time, text, is_extra), cells in sorted(rows.items())
            ),
            names=2 + len(example.titles),
        )


def _title_cell(pair: TitlePair) -> str:
    """Return the title of a system with its start time and score."""
    if pair.output is None:
        return NO_TITLE
    text, time = pair.output
    details = [clock(time)] if time == time else []
    details += [number(pair.score, TITLE_SCORE)] if pair.score == pair.score else []
    return f"{text} ({', '.join(details)})" if details else text


# --- The task ------------------------------------------------------------------------------------


CHAPTERS = Task(
    name="chapters",
    metrics=(
        Agreement,
        Chunks,
        Collar,
        Deviation,
        RValue,
        Segments,
        Sentences,
        Similarity,
        TitleBertScore,
        TitleOverlap,
        WordErrorRate,
    ),
    defaults=("chunks", "collar"),
    people=("agreement", "chunks", "collar"),
    reader=chapter_reader,
    options=(
        TaskOption(
            "preset",
            "Chapter format of transcripts, unless a line sets its own.",
            tuple(PRESETS),
        ),
        *(
            TaskOption(name, describe_parameters(gather)[name])
            for name in ("custom_pattern", "timestamp_format", "tier")
        ),
        TaskOption(
            "heading_level",
            "Level of headings that are chapters (1 for #, 2 for ##), or each to score every level"
            " separately as well.",
        ),
        TaskOption(
            "aligner",
            "Forced aligner of transcripts without times: pocketsphinx (English), or mms_fa (many"
            " languages, with your weights).",
            ALIGNERS,
            default="by language",
        ),
        TaskOption(
            "language",
            "Language of the audio, such as en or eng, for transcripts without times.",
            default=DEFAULT_LANGUAGE,
        ),
        TaskOption(
            "force_alignment",
            "Align outputs with the audio even if their transcripts have times.",
            is_flag=True,
        ),
        TaskOption(
            "unit",
            f"Unit of boundaries, titles and durations ({', '.join(UNIT_SECONDS)}), or of one of"
            " them, e.g. outputs=ms,durations=min.",
            default="s",
        ),
    ),
    example_sections=chapter_sections,
)
