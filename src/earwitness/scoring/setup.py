"""Choice of task, reader and metrics from names or the first lines of the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from earwitness.errors import UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricChoice, MetricSet
from earwitness.registry import BUILT_IN_TASKS, METRICS, OPTION_NAMES, TASKS
from earwitness.scoring.functions import load_metrics
from earwitness.task import FirstLines, Folders, Task, TaskFields, TaskReader


class Setup(NamedTuple):
    """Task, metrics and reader of a run."""

    task: Task
    metrics: MetricSet
    reader: TaskReader


def first_lines(outputs: RecordSource | None, references: RecordSource | None) -> FirstLines:
    """Return the field names of the first line of each file."""
    return FirstLines.of(
        {} if outputs is None else outputs.first(),
        {} if references is None else references.first(),
    )


def find_task(lines: FirstLines) -> Task | None:
    """Return the task that fits the first lines, or None if no task or several tasks fit.

    Tasks of plug-ins are tried only if no built-in task fits.
    """
    fitting = _leading({name: entry.fields for name, entry in BUILT_IN_TASKS.items()}, lines)
    if not fitting:
        plugins = TASKS.usable_plugins()
        fitting = _leading({name: task.fields for name, task in plugins.items()}, lines)
    return TASKS[fitting[0]] if len(fitting) == 1 else None


def _leading(tasks: Mapping[str, TaskFields], lines: FirstLines) -> list[str]:
    """Return the names of the fitting tasks with the highest precedence."""
    fitting = {name: fields.precedence for name, fields in tasks.items() if fields.fit(lines)}
    greatest = max(fitting.values(), default=0)
    return [name for name, precedence in fitting.items() if precedence == greatest]


def set_up(
    outputs: RecordSource | None,
    references: RecordSource | None,
    metrics: MetricChoice | None,
    parameters: dict[str, Any],
) -> Setup:
    """Return task, metrics and reader; without ``metrics``, the default metrics of the task.

    ``parameters`` are parameters of the metrics and options of the reader.
    """
    lines = first_lines(outputs, references)
    task = find_task(lines)
    name = task.name if task else next(iter(TASKS))
    if metrics is None:
        task = task or TASKS[next(iter(TASKS))]
        metrics = task.defaults if outputs is not None else task.people
    readers = TASKS.values() if parameters else ()
    names = {option.name for reader in readers for option in reader.options}
    options = {name: value for name, value in parameters.items() if name in names}
    left = {name: value for name, value in parameters.items() if name not in names}
    chosen = MetricSet.of(load_metrics(metrics, name), left, METRICS, OPTION_NAMES)
    # lines that fit a built-in task may also fit the task of a plug-in
    fits = chosen.task in TASKS.plugins and TASKS[chosen.task].fields.fit(lines)
    if task is not None and task.subject != chosen.task and not fits:
        others = ", ".join(name for name, kind in METRICS.items() if kind.task == task.subject)
        message = (
            f"{chosen.metrics[0].name} scores {chosen.task}, but the files contain {task.subject}"
        )
        raise UsageError(f"{message} — use one of {others}")
    if chosen.task not in TASKS:
        raise UsageError(f'unknown task "{chosen.task}" — {nearest(chosen.task, TASKS)}')
    task = TASKS[chosen.task]
    return Setup(task, chosen, _reader(task, chosen, options, outputs, references))


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
    reader = task.reader(metrics, left, folders)  # removes the options it uses
    if left:
        names = ", ".join(sorted(left))
        raise UsageError(
            f"{names}: not available for {task.subject}, the task of the chosen metrics"
        )
    return reader
