"""Choice of task, reader and metrics from names or the first lines of the files."""

from __future__ import annotations

from typing import Any

from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricChoice, MetricSet
from earwitness.registry import METRICS, TASKS
from earwitness.task import Folders, Task, TaskReader

# Fields of an output or a reference that tell the task
SUMMARY_FIELDS = {"positions", "text", "words", "ctm"}
CHAPTER_FIELDS = {"boundaries", "titles", "transcript", "preset", "sentences", "subtitles"}
SKIM_FIELDS = {"picks", "times", "block", "audio"}

# Fields of a line of references that tell it
TRANSCRIPT_FIELDS = {"words", "transcript", "ctm"}
RECORDING_FIELDS = {"recording", "blocks"}


def task_of(outputs: RecordSource | None, references: RecordSource | None) -> Task | None:
    """Told from the first lines: what only one of the tasks has."""
    first = references.first() if references is not None else {}
    line = outputs.first() if outputs is not None else {}
    contents = {*_mapping(line.get("output")), *_first(first.get("references"))}
    if contents & SKIM_FIELDS or first.keys() & RECORDING_FIELDS:
        return TASKS["skims"]
    kept = bool(contents & SUMMARY_FIELDS or first.keys() & {"words", "ctm"})
    cut = bool(contents & CHAPTER_FIELDS or "hypothesis" in line)
    if kept == cut:
        return None
    if cut:
        return TASKS["chapters"]
    return TASKS["summaries" if TRANSCRIPT_FIELDS & first.keys() else "texts"]


def setting(
    outputs: RecordSource | None,
    references: RecordSource | None,
    metrics: MetricChoice | None,
    parameters: dict[str, Any],
    reading: dict[str, str],
) -> tuple[MetricSet, TaskReader]:
    """Metrics, those of the task if none are named, and how its lines are read."""
    task = task_of(outputs, references)
    if metrics is None:
        task = task or TASKS["chapters"]
        metrics = task.defaults if outputs is not None else task.people
    families = MetricSet.of(metrics, parameters, METRICS)
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
