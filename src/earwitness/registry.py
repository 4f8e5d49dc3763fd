"""Tables of all metrics and tasks by name, including those of plug-ins."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

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
