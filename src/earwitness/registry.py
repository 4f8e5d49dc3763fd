"""Tables of all metrics and tasks by name, including those of plug-ins."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric
from earwitness.plugins import METRIC_GROUP, TASK_GROUP, PluginTable
from earwitness.task import Task

# One line per task, in the notation of entry points. The first task is the default if the task
# cannot be detected from the files.
BUILT_IN_TASKS: tuple[str, ...] = (
    "earwitness.chapters.task:CHAPTERS",
    "earwitness.summaries.task:SUMMARIES",
    "earwitness.summaries.task:TEXTS",
    "earwitness.skims.task:SKIMS",
)


def _check_metric(name: str, loaded: Any) -> str:
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        return "is not a subclass of earwitness.metric.Metric"
    return "" if loaded.name == name else f'is named "{loaded.name}", not like its entry point'


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


_tasks: list[Task] = [resolve_name(place) for place in BUILT_IN_TASKS]
METRICS: PluginTable[type[Metric]] = PluginTable(
    METRIC_GROUP, {kind.name: kind for task in _tasks for kind in task.metrics}, _check_metric
)
TASKS: PluginTable[Task] = PluginTable(
    TASK_GROUP, {task.name: task for task in _tasks}, _check_task
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
