"""Choice of task, reader and metrics from names or the first lines of the files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricChoice, MetricSet
from earwitness.registry import METRICS, TASKS
from earwitness.task import FirstLines, Folders, Task, TaskReader


class Setup(NamedTuple):
    """The task of a run, its metrics, and how its lines are read."""

    task: Task
    metrics: MetricSet
    reader: TaskReader


def first_lines(outputs: RecordSource | None, references: RecordSource | None) -> FirstLines:
    """The fields of the first line of each file that there is."""
    return FirstLines.of(
        {} if outputs is None else outputs.first(),
        {} if references is None else references.first(),
    )


def find_task(lines: FirstLines) -> Task | None:
    """The task that first lines tell; nothing where they fit no task, or several alike.

    Tasks of plug-ins are asked only where no built-in task fits.
    """
    fitting = _leading(TASKS.built_in.values(), lines)
    if not fitting:
        plugins = [task for name, task in TASKS.items() if name in TASKS.plugins]
        fitting = _leading(plugins, lines)
    return fitting[0] if len(fitting) == 1 else None


def _leading(tasks: Iterable[Task], lines: FirstLines) -> list[Task]:
    """Tasks that fit, of the greatest precedence among them."""
    fitting = [task for task in tasks if task.fields.fit(lines)]
    greatest = max((task.fields.precedence for task in fitting), default=0)
    return [task for task in fitting if task.fields.precedence == greatest]


def set_up(
    outputs: RecordSource | None,
    references: RecordSource | None,
    metrics: MetricChoice | None,
    parameters: dict[str, Any],
) -> Setup:
    """Metrics, those of the task if none are named, and how its lines are read.

    ``parameters`` are those of the metrics, and options of how lines are read.
    """
    lines = first_lines(outputs, references)
    task = find_task(lines)
    if metrics is None:
        task = task or next(iter(TASKS.built_in.values()))
        metrics = task.defaults if outputs is not None else task.people
    options, metric_parameters = _split(parameters)
    chosen = MetricSet.of(metrics, metric_parameters, METRICS)
    if task is not None and task.subject != chosen.task and not _fits_plugin(chosen.task, lines):
        names = ", ".join(name for name, kind in METRICS.items() if kind.task == task.subject)
        message = f"{chosen.metrics[0].name} is for {chosen.task}, but these are {task.subject}"
        raise UsageError(f"{message} — choose among {names}")
    if chosen.task not in TASKS:
        raise UsageError(f'there is no task "{chosen.task}" — {nearest(chosen.task, TASKS)}')
    task = TASKS[chosen.task]
    return Setup(task, chosen, _reader(task, chosen, options, outputs, references))


def _split(parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of readers, and parameters of metrics."""
    if not parameters:
        return {}, {}
    names = {option.name for task in TASKS.values() for option in task.options}
    options = {name: value for name, value in parameters.items() if name in names}
    return options, {name: value for name, value in parameters.items() if name not in names}


def _fits_plugin(name: str, lines: FirstLines) -> bool:
    """Whether lines that look like a built-in task's also fit the plug-in's task of this name."""
    return name in TASKS.plugins and TASKS[name].fields.fit(lines)


def _reader(
    task: Task,
    metrics: MetricSet,
    options: dict[str, Any],
    outputs: RecordSource | None,
    references: RecordSource | None,
) -> TaskReader:
    left = {name: value for name, value in options.items() if value}
    folders = Folders(
        None if outputs is None else outputs.folder,
        None if references is None else references.folder,
    )
    reader = task.reader(metrics, left, folders)  # takes its options out
    if left:
        names = ", ".join(sorted(left))
        raise UsageError(f"{names}: not for {task.subject}, which the chosen metrics score")
    return reader
