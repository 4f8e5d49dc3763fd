"""Tasks by name: what is scored by default, and how its lines are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from earwitness.api.family import Chosen, Families
from earwitness.errors import UsageError, nearest
from earwitness.formats import chapters, skims, summaries
from earwitness.formats.lines import Lines
from earwitness.formats.source import Source
from earwitness.metrics import METRICS
from earwitness.metrics.skims import SkimMeasures
from earwitness.text.presets import PRESETS, Options
from earwitness.text.words import TOKENISERS

KEPT = {"positions", "text", "words", "ctm"}  # fields that tell summaries
CUT = {"boundaries", "titles", "transcript", "preset", "sentences", "subtitles"}  # and chapters
SAID = {"words", "transcript", "ctm"}
PICKED = {"picks", "times", "block", "audio"}  # and skims
RECORDED = {"recording", "blocks"}


class Folders(NamedTuple):
    """Where the files of outputs and of references are, if they are files."""

    outputs: Path | None
    references: Path | None


@dataclass(frozen=True)
class Task:
    """What is scored if nobody asks for more, also among people alone; and what its lines hold."""

    name: str
    defaults: tuple[str, ...]
    people: tuple[str, ...]
    lines: Callable[[Families, dict[str, str], Folders], Lines]


def _chapter_lines(families: Families, options: dict[str, str], folders: Folders) -> Lines:
    del families, folders
    preset = options.pop("preset", "")
    if preset and preset not in PRESETS:
        raise UsageError(f'there is no preset "{preset}" — {nearest(preset, PRESETS)}')
    given = Options(options.pop("pattern", ""), options.pop("timestamp_format", ""))
    given.check()
    return chapters.ChapterLines(chapters.Reading(preset, given))


def _summary_lines(families: Families, options: dict[str, str], folders: Folders) -> Lines:
    del folders
    tokenise = options.pop("tokenise", "blanks")
    if tokenise not in TOKENISERS:
        raise UsageError(f'there is no tokeniser "{tokenise}" — {nearest(tokenise, TOKENISERS)}')
    strict = [metric for metric in families.metrics if metric.needs == "positions"]
    free = all(getattr(metric, "match", "position") == "surface" for metric in strict)
    return summaries.SummaryLines(summaries.Reading(not free, bool(strict), tokenise))


def _skim_lines(families: Families, options: dict[str, str], folders: Folders) -> Lines:
    del options
    first = next(metric for metric in families.metrics if isinstance(metric, SkimMeasures))
    return skims.SkimLines(folders.outputs, folders.references, first.embedder, first.block)


TASKS = {
    "chapters": Task(
        "chapters", ("chunks", "collar"), ("agreement", "chunks", "collar"), _chapter_lines
    ),
    "summaries": Task(
        "summaries",
        ("sumaccy", "weighted_precision", "kept"),
        ("sumaccy", "weighted_precision", "kept"),
        _summary_lines,
    ),
    "texts": Task("summaries", ("rouge",), ("rouge",), _summary_lines),
    "skims": Task("skims", ("skims",), ("skims",), _skim_lines),
}


def task_of(outputs: Source | None, references: Source | None) -> Task | None:
    """Told from the first lines: what only one of the tasks has."""
    first = references.first() if references is not None else {}
    line = outputs.first() if outputs is not None else {}
    contents = {*_mapping(line.get("output")), *_first(first.get("references"))}
    if contents & PICKED or first.keys() & RECORDED:
        return TASKS["skims"]
    kept = bool(contents & KEPT or first.keys() & {"words", "ctm"})
    cut = bool(contents & CUT or "hypothesis" in line)
    if kept == cut:
        return None
    if cut:
        return TASKS["chapters"]
    return TASKS["summaries" if SAID & first.keys() else "texts"]


def setting(
    outputs: Source | None,
    references: Source | None,
    metrics: Chosen | None,
    parameters: dict[str, Any],
    reading: dict[str, str],
) -> tuple[Families, Lines]:
    """Metrics, those of the task if none are named, and how its lines are read."""
    task = task_of(outputs, references)
    if metrics is None:
        task = task or TASKS["chapters"]
        metrics = task.defaults if outputs is not None else task.people
    families = Families.of(metrics, parameters)
    if task is not None and task.name != families.task:
        known = ", ".join(name for name, kind in METRICS.items() if kind.task == task.name)
        told = f"{families.metrics[0].name} is for {families.task}, but these are {task.name}"
        raise UsageError(f"{told} — choose among {known}")
    if families.task not in TASKS:
        raise UsageError(f'there is no task "{families.task}" — {nearest(families.task, TASKS)}')
    rest = {name: value for name, value in reading.items() if value}
    folders = Folders(*(None if one is None else one.folder for one in (outputs, references)))
    lines = TASKS[families.task].lines(families, rest, folders)
    if rest:
        told = ", ".join(sorted(rest))
        raise UsageError(f"{told}: not for {families.task}, which the chosen metrics score")
    return families, lines


def _first(value: Any) -> dict[str, Any]:
    return _mapping(value[0]) if isinstance(value, list) and value else {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
