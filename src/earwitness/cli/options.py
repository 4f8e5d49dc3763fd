"""Options shared by several commands, and options of metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import click

from earwitness.chapters.presets import PRESETS
from earwitness.core import Map, OnError
from earwitness.errors import nearest
from earwitness.output_formats import FORMS
from earwitness.text.times import TIMESTAMP_FORMATS
from earwitness.text.words import TOKENIZERS

# Declarations of metrics as click needs them, so that help needs neither the metrics nor numpy;
# made by docs/generate.py from the metrics themselves.
METRIC_DECLARATIONS = json.loads(
    files("earwitness.cli").joinpath("metric_options.json").read_text(encoding="utf-8")
)
CommandFunction = Callable[..., Any]


class NameChoice(click.Choice[str]):
    """One of several names; a slip is told the nearest one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name = str(value)
        if name not in self.choices:
            self.fail(f'there is no "{name}" — {nearest(name.lower(), self.choices)}', param, ctx)
        return name


SHARED_OPTIONS = {
    "metric": click.option(
        "--metric",
        "metrics",
        multiple=True,
        type=NameChoice(METRIC_DECLARATIONS["metrics"]),
        help="Which metrics; may be given several times."
        f"  [default: {METRIC_DECLARATIONS['defaults']}]",
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
    "preset": click.option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        help="How transcripts mark their chapters, unless a line says it.",
    ),
    "pattern": click.option("--pattern", help="Expression of the presets custom and custom_ts."),
    "timestamp_format": click.option(
        "--timestamp-format",
        help=f"Of custom_ts: {', '.join(TIMESTAMP_FORMATS)}, or an expression with groups h, m, s.",
    ),
    "tokenise": click.option(
        "--tokenise",
        type=click.Choice(list(TOKENIZERS)),
        help="How texts of summaries become words.  [default: blanks]",
    ),
    "baseline": click.option(
        "--baseline",
        "baselines",
        multiple=True,
        type=click.Choice(METRIC_DECLARATIONS["baselines"]),
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


def shared_options(*, systems: bool = True) -> Callable[[CommandFunction], CommandFunction]:
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
    for declared in reversed(METRIC_DECLARATIONS["parameters"]):
        name, default, choices = declared["name"], declared["default"], declared["choices"]
        function = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=click.Choice(choices) if choices else _option_type(default),
            multiple=True,
            help=f"{', '.join(declared['metrics'])}: {declared['help']}  [default: {default}]",
        )(function)
    return function


def network_options(function: CommandFunction) -> CommandFunction:
    """An option for every parameter of the metric that looks at word networks."""
    for declared in reversed(METRIC_DECLARATIONS["network"]):
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
