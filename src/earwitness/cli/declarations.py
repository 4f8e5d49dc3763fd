"""Declarations of metrics and tasks for the options of the command line.

docs/generate.py writes what the command line must know about built-in metrics and tasks to
metric_options.json, so that help imports neither the metrics nor numpy. The metrics themselves are
imported only if plug-ins are installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from earwitness.plugins import METRIC_GROUP, TASK_GROUP, PluginTable

if TYPE_CHECKING:
    from earwitness.metric import Metric
    from earwitness.task import Task


def declare(metrics: PluginTable[type[Metric]], tasks: PluginTable[Task]) -> dict[str, Any]:
    """Return what the command line must know about metrics and tasks to show its help."""
    usable = metrics.usable()
    having = {name: kind for kind in metrics.built_in.values() for name in kind.parameters()}
    for kind in usable.values():
        for name in kind.parameters():
            having.setdefault(name, kind)
    return {
        "metrics": list(metrics),
        "defaults": {name: list(task.defaults) for name, task in tasks.items()},
        "people": {name: list(task.people) for name, task in tasks.items()},
        "baselines": list(dict.fromkeys(name for t in tasks.values() for name in t.baselines)),
        "options": [
            {"task": task.name, **option._asdict()}
            for task in tasks.values()
            for option in task.options
        ],
        "parameters": [_parameter(name, kind, usable) for name, kind in having.items()],
        "network": [
            _parameter(name, metrics["sumaccy"], usable) for name in metrics["sumaccy"].parameters()
        ],
    }


def _parameter(
    name: str, kind: type[Metric], metrics: Mapping[str, type[Metric]]
) -> dict[str, Any]:
    using = {key: other for key, other in metrics.items() if name in other.parameters()}
    return {
        "name": name,
        "metrics": list(using),
        "tasks": list(dict.fromkeys(other.task for other in using.values())),
        "help": kind.help(name),
        "default": kind.parameters()[name],
        "shown_default": _shown_default(list(using.values()), name),
        "choices": list(kind.choices(name) or ()),
    }


def _shown_default(kinds: Sequence[type[Metric]], name: str) -> str:
    """Return the default of the first metric, and of other metrics if it differs."""
    first = str(kinds[0].parameters()[name])
    others = [kind for kind in kinds if str(kind.parameters()[name]) != first]
    return "; ".join([first, *(f"{kind.name} {kind.parameters()[name]}" for kind in others)])


def load_declarations() -> dict[str, Any]:
    """Return the declarations: from the file, or with those of installed plug-ins."""
    if {METRIC_GROUP, TASK_GROUP} & set(entry_points().groups):
        from earwitness.registry import METRICS, TASKS

        return declare(METRICS, TASKS)
    text = files("earwitness.cli").joinpath("metric_options.json").read_text(encoding="utf-8")
    declared: dict[str, Any] = json.loads(text)
    return declared
