"""The tables of metrics and tasks that Earwitness knows by name, with those of plug-ins."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from earwitness.metric import Metric
from earwitness.plugins import METRIC_GROUP, TASK_GROUP, PluginTable
from earwitness.task import Task

# A line per task, in the notation of entry points; the first is scored where files tell none.
BUILT_IN_TASKS: tuple[str, ...] = (
    "earwitness.chapters.task:CHAPTERS",
    "earwitness.summaries.task:SUMMARIES",
    "earwitness.summaries.task:TEXTS",
    "earwitness.skims.task:SKIMS",
)


def _check_metric(name: str, loaded: Any) -> str:
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        return "is no subclass of earwitness.metric.Metric"
    return "" if loaded.name == name else f'is called "{loaded.name}", unlike its entry point'


def _check_task(name: str, loaded: Any) -> str:
    if not isinstance(loaded, Task):
        return "is no earwitness.task.Task"
    if loaded.name != name:
        return f'is called "{loaded.name}", unlike its entry point'
    names = [*loaded.defaults, *loaded.people, *(kind.name for kind in loaded.metrics)]
    unlisted = [metric for metric in names if metric not in METRICS]
    if unlisted:
        return f'has a metric "{unlisted[0]}", which is no entry point of {METRIC_GROUP}'
    return ""


_tasks: list[Task] = [resolve_name(place) for place in BUILT_IN_TASKS]
METRICS: PluginTable[type[Metric]] = PluginTable(
    METRIC_GROUP, {kind.name: kind for task in _tasks for kind in task.metrics}, _check_metric
)
TASKS: PluginTable[Task] = PluginTable(
    TASK_GROUP, {task.name: task for task in _tasks}, _check_task
)
