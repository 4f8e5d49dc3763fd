"""The task of chapters: metrics, reader, options and fields."""

from __future__ import annotations

from earwitness.chapters.metrics import (
    Agreement,
    Chunks,
    Collar,
    Deviation,
    RValue,
    Segments,
    Similarity,
)
from earwitness.chapters.presets import PRESETS, PresetOptions
from earwitness.chapters.text_metrics import Sentences, TitleBertScore, TitleOverlap, WordErrorRate
from earwitness.errors import UsageError, nearest
from earwitness.metric_set import MetricSet
from earwitness.task import Folders, Task, TaskFields, TaskOption, TaskReader
from earwitness.text.times import TIMESTAMP_FORMATS


def chapter_reader(metrics: MetricSet, options: dict[str, str], folders: Folders) -> TaskReader:
    """Return a reader with these options."""
    from earwitness.chapters.reader import ChapterOptions, ChapterReader

    del metrics, folders
    preset = options.pop("preset", "")
    if preset and preset not in PRESETS:
        raise UsageError(f'unknown preset "{preset}" — {nearest(preset, PRESETS)}')
    marks = PresetOptions(options.pop("pattern", ""), options.pop("timestamp_format", ""))
    marks.check()
    return ChapterReader(ChapterOptions(preset, marks))


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
    fields=TaskFields(
        content=frozenset(
            {"boundaries", "titles", "transcript", "preset", "sentences", "subtitles"}
        ),
        output_line=frozenset({"hypothesis"}),
    ),
    options=(
        TaskOption(
            "preset",
            "Chapter format of transcripts, unless a line sets its own.",
            tuple(PRESETS),
        ),
        TaskOption("pattern", "Regular expression for the presets custom and custom_ts."),
        TaskOption(
            "timestamp_format",
            f"Time format for custom_ts: {', '.join(TIMESTAMP_FORMATS)}, or a regular expression"
            " with groups h, m, s.",
        ),
    ),
)
