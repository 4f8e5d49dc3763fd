"""Tables of all metrics and tasks by name, including those of plug-ins."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, NamedTuple

from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric
from earwitness.plugins import METRIC_GROUP, TASK_GROUP, LazyTable, PluginTable
from earwitness.task import Task, TaskFields


class TaskEntry(NamedTuple):
    """A built-in task, which is imported when it or one of its metrics is used.

    Attributes
    ----------
    place
        Place of the task, in the notation of entry points.
    fields
        Fields by which the task is detected.
    metrics
        Names of the metrics of the task.
    parts
        Names of the parts of a result that only this task has.
    """

    place: str
    fields: TaskFields
    metrics: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


GATHER_PLACE = "earwitness.chapters.gather:gather"


def gather_folder(folder: str, *, references: bool) -> list[dict[str, Any]]:
    """Return the records of the chapter files and transcripts in a folder."""
    records: list[dict[str, Any]] = resolve_name(GATHER_PLACE)([folder], references=references)
    return records


TRANSCRIPT_FIELDS = frozenset({"words", "transcript", "ctm"})  # of a line of references
SUMMARY_FIELDS = TaskFields(
    content=frozenset({"positions", "text", "words", "ctm"}),
    reference_line=frozenset({"words", "ctm"}),
)
# The first task is the default if the task cannot be detected from the files.
BUILT_IN_TASKS: dict[str, TaskEntry] = {
    "chapters": TaskEntry(
        "earwitness.chapters.task:CHAPTERS",
        TaskFields(
            content=frozenset(
                {"boundaries", "titles", "transcript", "preset", "sentences", "subtitles"}
            ),
            output_line=frozenset({"hypothesis"}),
        ),
        (
            "agreement",
            "chunks",
            "collar",
            "deviation",
            "r_value",
            "segments",
            "sentences",
            "similarity",
            "title_bertscore",
            "titles",
            "wer",
        ),
    ),
    "summaries": TaskEntry(
        "earwitness.summaries.task:SUMMARIES",
        replace(SUMMARY_FIELDS, needed=TRANSCRIPT_FIELDS),
        (
            "sumaccy",
            "word_accuracy",
            "word_strings",
            "weighted_precision",
            "kept",
            "bleu",
            "rouge",
            "bertscore",
            "misrecognized",
        ),
    ),
    "texts": TaskEntry(
        "earwitness.summaries.task:TEXTS", replace(SUMMARY_FIELDS, absent=TRANSCRIPT_FIELDS)
    ),
    "skims": TaskEntry(
        "earwitness.skims.task:SKIMS",
        TaskFields(
            content=frozenset({"picks", "times", "block", "audio"}),
            reference_line=frozenset({"recording", "blocks"}),
            precedence=1,
        ),
        ("skims",),
        ("courses",),
    ),
}

# names of arguments and options of the functions that score, without those of metrics and readers
OPTION_NAMES = """
alignments baseline baselines by cache ceiling coefficient coefficients draws figures help human
interval_form isolated_rule item jobs judgements level leveling_tolerance map metric metrics
no_ceiling on_error orders output outputs permutations progress quiet reference_counts references
repeats samples scale seed show simulate simulated sizes system table title to value values where
worst worst_by
"""


def _check_metric(name: str, loaded: Any) -> str:
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        return "is not a subclass of earwitness.metric.Metric"
    if loaded.name != name:
        return f'is named "{loaded.name}", not like its entry point'
    types: dict[str, Any] = dict.fromkeys(OPTION_NAMES.split())  # None: not a parameter
    for task in TASKS.built_in.values():
        types |= dict.fromkeys(option.name for option in task.options)
    for kind in (*METRICS.built_in.values(), *METRICS.loaded.values()):
        types |= {parameter: type(default) for parameter, default in kind.parameters().items()}
    for parameter, default in loaded.parameters().items():
        about = f'has the parameter "{parameter}", which'
        if default is True or type(default) not in (bool, float, int, str):
            return f"{about} must have a number, a text or False as its default"
        if types.get(parameter, type(default)) is not type(default):
            return f"{about} is also an option or a parameter of another type — rename it"
    return ""


def _check_task(name: str, loaded: Any) -> str:
    if not isinstance(loaded, Task):
        return "is not an instance of earwitness.task.Task"
    if loaded.name != name:
        return f'is named "{loaded.name}", not like its entry point'
    names = [*loaded.defaults, *loaded.people, *(kind.name for kind in loaded.metrics)]
    unlisted = [metric for metric in names if metric not in METRICS]
    if unlisted:
        return f'has a metric "{unlisted[0]}" that is not an entry point of {METRIC_GROUP}'
    return ""


def _load_metric(name: str) -> type[Metric]:
    task = next(task for task, entry in BUILT_IN_TASKS.items() if name in entry.metrics)
    return next(kind for kind in TASKS[task].metrics if kind.name == name)


METRICS: PluginTable[type[Metric]] = PluginTable(
    METRIC_GROUP,
    LazyTable([name for entry in BUILT_IN_TASKS.values() for name in entry.metrics], _load_metric),
    _check_metric,
)
TASKS: PluginTable[Task] = PluginTable(
    TASK_GROUP,
    LazyTable(BUILT_IN_TASKS, lambda name: resolve_name(BUILT_IN_TASKS[name].place)),
    _check_task,
)


def metrics(task: str | None = None) -> list[dict[str, Any]]:
    """List all metrics with their values and parameters.

    Parameters
    ----------
    task
        Name of a task, such as ``"chapters"``. By default the metrics of all tasks.

    Returns
    -------
    list of dict
        ``name``, ``task``, ``title``, ``headline``, ``values`` (descriptions by name) and
        ``parameters`` (defaults by name) of every metric that can be used.

    Raises
    ------
    UsageError
        If the task is unknown.

    Examples
    --------
    >>> [metric["name"] for metric in metrics("skims")]
    ['skims']
    """
    if task is not None and task not in TASKS:
        raise UsageError(f'unknown task "{task}" — {nearest(task, TASKS)}')
    return [
        {
            "name": name,
            "task": kind.task,
            "title": kind.title,
            "headline": kind.headline,
            "values": {value.name: value.doc for value in kind.values},
            "parameters": kind.parameters(),
        }
        for name, kind in METRICS.usable().items()
        if task in (None, kind.task)
    ]
