"""Options shared by several commands, and options of metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from earwitness.core import Map, OnError
from earwitness.errors import PluginError, nearest
from earwitness.output_formats import FORMS
from earwitness.plugins import METRIC_GROUP, TASK_GROUP, PluginTable, package

if TYPE_CHECKING:
    from earwitness.metric import Metric
    from earwitness.task import Task

CommandFunction = Callable[..., Any]
CommandOption = Callable[[CommandFunction], CommandFunction]


# --- Declarations of metrics and tasks -----------------------------------------------------------
# What click needs to know of built-in metrics and tasks is kept in a file that docs/generate.py
# makes from them, so that help needs neither the metrics nor numpy. Only where plug-ins are
# installed are the tables themselves imported.


def declare(metrics: PluginTable[type[Metric]], tasks: PluginTable[Task]) -> dict[str, Any]:
    """What the command line must know of metrics and tasks to show its help."""
    usable = metrics.usable()
    having = {name: kind for kind in metrics.built_in.values() for name in kind.parameters()}
    for kind in usable.values():
        for name in kind.parameters():
            having.setdefault(name, kind)
    return {
        "metrics": list(metrics),
        "defaults": "; ".join(f"{name}: {', '.join(t.defaults)}" for name, t in tasks.items()),
        "baselines": list(dict.fromkeys(name for t in tasks.values() for name in t.baselines)),
        "options": [option._asdict() for task in tasks.values() for option in task.options],
        "parameters": [_parameter(name, kind, usable) for name, kind in having.items()],
        "network": [
            _parameter(name, metrics["sumaccy"], usable) for name in metrics["sumaccy"].parameters()
        ],
    }


def _parameter(
    name: str, kind: type[Metric], metrics: Mapping[str, type[Metric]]
) -> dict[str, Any]:
    return {
        "name": name,
        "metrics": [key for key, other in metrics.items() if name in other.parameters()],
        "help": kind.help(name),
        "default": kind.parameters()[name],
        "choices": list(kind.choices(name) or ()),
    }


def _declared() -> dict[str, Any]:
    if {METRIC_GROUP, TASK_GROUP} & set(entry_points().groups):
        from earwitness.registry import METRICS, TASKS

        return declare(METRICS, TASKS)
    text = files("earwitness.cli").joinpath("metric_options.json").read_text(encoding="utf-8")
    declared: dict[str, Any] = json.loads(text)
    return declared


DECLARED = _declared()


# --- Shared options ------------------------------------------------------------------------------


class NameChoice(click.Choice[str]):
    """One of several names; a slip is told the nearest one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name = str(value)
        if name not in self.choices:
            self.fail(f'there is no "{name}" — {nearest(name.lower(), self.choices)}', param, ctx)
        return name


def _reading_option(declared: dict[str, Any]) -> CommandOption:
    """An option of how lines of a task are read."""
    return click.option(
        f"--{declared['name'].replace('_', '-')}",
        declared["name"],
        type=click.Choice(declared["choices"]) if declared["choices"] else None,
        help=declared["help"],
    )


SHARED_OPTIONS: dict[str, CommandOption] = {
    "metric": click.option(
        "--metric",
        "metrics",
        multiple=True,
        type=NameChoice(DECLARED["metrics"]),
        help=f"Which metrics; may be given several times.  [default: {DECLARED['defaults']}]",
    ),
    "by": click.option(
        "--by",
        multiple=True,
        metavar="FIELD[:CUT,…]",
        help="Also by groups of a meta field, duration or annotator; numbers may be cut.",
    ),
    "worst": click.option(
        "--worst",
        type=int,
        metavar="N",
        help="Also show the N worst samples.  [default: 5 with --worst-by, or on a page without "
        "--show; else 0]",
    ),
    "worst_by": click.option(
        "--worst-by", help="Worst by which value.  [default: the first metric's headline]"
    ),
    "show": click.option(
        "--show",
        multiple=True,
        metavar="ITEM",
        help="Also show this item, in time and in words.",
    ),
    **{option["name"]: _reading_option(option) for option in DECLARED["options"]},
    "baseline": click.option(
        "--baseline",
        "baselines",
        multiple=True,
        type=click.Choice(DECLARED["baselines"]),
        help="Also score this baseline (lead and random: summaries; all but lead: skims); may be "
        "given several times.",
    ),
    "draws": click.option("--draws", default=1000, show_default=True, help="Bootstrap draws."),
    "level": click.option(
        "--level", default=0.95, show_default=True, help="Level of the intervals."
    ),
    "seed": click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn."),
    "on_error": click.option(
        "--on-error",
        type=click.Choice(get_args(OnError)),
        default="fail",
        show_default=True,
        help="What to do with a bad sample: refuse the file, leave it out, score an empty output.",
    ),
    "to": click.option(
        "--to",
        type=click.Choice(FORMS),
        help="Form of the result.  [default: what --output ends in, else text]",
    ),
    "output": click.option(
        "-o", "--output", type=click.Path(path_type=Path), help="Write here, not to stdout."
    ),
    "jobs": click.option(
        "--jobs",
        default=1,
        show_default=True,
        help="Processes that share the work; metrics with a model need only one.",
    ),
    "quiet": click.option("--quiet", is_flag=True, help="No progress bar."),
}


# make no sense without systems
SYSTEM_OPTIONS = {"baseline", "by", "worst", "worst_by", "show"}


def shared_options(*, systems: bool = True) -> CommandOption:
    """What every verb that scores takes."""

    def decorate(function: CommandFunction) -> CommandFunction:
        for name, option in reversed(SHARED_OPTIONS.items()):
            if systems or name not in SYSTEM_OPTIONS:
                function = option(function)
        return metric_options(function)

    return decorate


class NumberList(click.ParamType[list[float]]):
    """One number, or several with commas between them."""

    name = "float"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float]:
        try:
            return [float(text) for text in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is no number, and no list such as 1,3,10", param, ctx)


class CountList(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between them; none if nothing is said."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        try:
            return tuple(int(text) for text in str(value).split(",")) if value else ()
        except ValueError:
            self.fail(f"{value!r} is no list of whole numbers such as 1,2,4", param, ctx)


def _option_type(default: Any) -> Any:
    return str if isinstance(default, str) else NumberList()


def metric_options(function: CommandFunction) -> CommandFunction:
    """An option for every parameter of every metric; several values are scored side by side."""
    taken = {parameter.name for parameter in getattr(function, "__click_params__", ())}
    for declared in reversed(DECLARED["parameters"]):
        name, default, choices = declared["name"], declared["default"], declared["choices"]
        if name in taken:
            raise _taken_name(name, declared["metrics"][0])
        function = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=click.Choice(choices) if choices else _option_type(default),
            multiple=True,
            help=f"{', '.join(declared['metrics'])}: {declared['help']}  [default: {default}]",
        )(function)
    return function


def _taken_name(parameter: str, metric: str) -> PluginError:
    """What is said of a plug-in's parameter with the name of an option that verbs have."""
    from earwitness.registry import METRICS

    message = f'parameter "{parameter}" of "{metric}" has the name of an option of the command line'
    return PluginError(package(METRICS.plugins[metric]), f"{message} — give it another name")


def network_options(function: CommandFunction) -> CommandFunction:
    """An option for every parameter of the metric that looks at word networks."""
    for declared in reversed(DECLARED["network"]):
        function = click.option(
            f"--{declared['name']}",
            type=click.Choice(declared["choices"]),
            help=f"{declared['help']}  [default: {declared['default']}]",
        )(function)
    return function


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Options that were given a value; lists of lists become one list."""
    return {
        name: _flatten_lists(value) for name, value in options.items() if value not in (None, ())
    }


def _flatten_lists(value: Any) -> Any:
    if isinstance(value, tuple) and all(isinstance(inner, list) for inner in value):
        return [number for inner in value for number in inner]
    return value


def choose_map(jobs: int, metrics: Sequence[str]) -> Map:
    """Who does the work; metrics that do theirs in one process are told."""
    from earwitness.engines.local import in_process, processes
    from earwitness.registry import METRICS

    single_process = [name for name in metrics if METRICS[name].alone]
    if jobs > 1 and single_process:
        reason = "its model uses all cores, and encodes every text once for all"
        click.echo(f"--jobs does not apply to {', '.join(single_process)}: {reason}", err=True)
    return in_process if jobs == 1 else processes(jobs)
