"""Options shared by several commands, and options of metrics and of input formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, get_args

import click

from earwitness.cli.output import (
    FIGURES_HELP,
    FOLDER,
    JOBS_OPTION,
    OUTPUT_OPTION,
    QUIET_OPTION,
    SEED_OPTION,
    add_options,
    choice_option,
    flag_option,
    format_option,
    list_option,
    option,
    print_message,
    text_option,
)
from earwitness.core import Map, OnError
from earwitness.errors import nearest
from earwitness.output_formats import FORMS, INTERVAL_FORMS, TABLES

# --- Types of options ----------------------------------------------------------------------------


class FloatList(click.ParamType[list[float]]):
    """One number, or several separated by commas."""

    name = "float,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float]:
        try:
            return [float(text) for text in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a number or a list such as 1,3,10", param, ctx)


class IntegerList(click.ParamType[list[int]]):
    """One whole number, or several separated by commas; none for an empty text."""

    name = "integer,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            return [int(text) for text in str(value).split(",")] if value != "" else []
        except ValueError:
            self.fail(f"{value!r} is not a whole number or a list such as 1,2,4", param, ctx)


# --- Options of metrics and of input formats -----------------------------------------------------


OPTION_NAMES = {  # clearer than the names of parameters
    "match": "word-match",
    "matching": "boundary-matching",
    "tokenise": "tokenize",
}


def option_flag(parameter: str) -> str:
    """Return the option that sets a parameter of a metric.

    >>> option_flag("chunk_size"), option_flag("match")
    ('--chunk-size', '--word-match')
    """
    return f"--{OPTION_NAMES.get(parameter, parameter.replace('_', '-'))}"


class Parameter(NamedTuple):
    """A parameter of metrics, or an option of the input formats of a task."""

    name: str
    type: click.ParamType[Any] = click.STRING
    is_list: bool = False
    is_flag: bool = False

    def convert(self, texts: Sequence[str]) -> Any:
        """Return the value from the texts of a command line."""
        if self.is_flag:
            return True
        try:
            values = [self.type.convert(text, None, None) for text in texts]
        except click.BadParameter as error:
            error.param_hint = f"'{option_flag(self.name)}'"
            raise
        if not self.is_list:
            return values[-1]
        return [one for value in values for one in (value if isinstance(value, list) else [value])]


@cache
def metric_parameters() -> Mapping[str, Parameter]:
    """Return all parameters of metrics and options of input formats, by flag."""
    from earwitness.registry import METRICS, TASKS

    types = {float: FloatList(), int: IntegerList(), str: click.STRING}
    own = [
        Parameter(name, types[type(default)], is_list=True)
        for kind in METRICS.values()
        for name, default in kind.parameters().items()
    ]
    own += [
        Parameter(
            one.name,
            click.Choice(one.choices) if one.choices else click.STRING,
            is_flag=one.is_flag,
        )
        for task in TASKS.values()
        for one in task.options
    ]
    return {option_flag(one.name): one for one in own}


class MetricCommand(click.Command):
    """A command that takes parameters of metrics and options of input formats as options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options of metrics out of the arguments."""
        own, given = list[str](), dict[str, list[str]]()
        options = {flag: one for one in self.get_params(ctx) for flag in one.opts}
        texts = iter(args)
        for text in texts:
            flag, equals, value = text.partition("=")
            known = options.get(flag)
            if known is not None or not flag.startswith("--") or flag == "--":
                takes_value = isinstance(known, click.Option) and not known.is_flag and not equals
                own += [text, *islice(texts, None if flag == "--" else int(takes_value))]
                continue
            parameters = metric_parameters()
            if flag not in parameters:
                remedy = nearest(flag, [*options, *parameters])
                raise click.UsageError(f"unknown option {flag} — {remedy}", ctx)
            values = given.setdefault(flag, [])
            if not parameters[flag].is_flag:
                values += [value] if equals else islice(texts, 1)
                if not values:
                    raise click.UsageError(f"{flag} needs a value", ctx)
        rest = super().parse_args(ctx, own)
        for flag, values in given.items():
            parameter = metric_parameters()[flag]
            ctx.params[parameter.name] = parameter.convert(values)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the options of metrics are listed."""
        del ctx
        formatter.write_paragraph()
        formatter.write_text(
            "Parameters of metrics and of input formats are options, too, such as --collar 1,3 or"
            " --preset youtube; earwitness metrics lists them."
        )


# --- Options of several commands -----------------------------------------------------------------


METRIC_OPTION = list_option(
    "--metric", "metrics", metavar="NAME", help="Metric (repeatable); see earwitness metrics."
)
WHERE_OPTION = list_option(
    "--where",
    metavar="CONDITION",
    help="Score items for which a field fulfils CONDITION, such as accuracy>=0.9 (repeatable).",
)
DRAWS_OPTION = option("--draws", default=1000, help="Number of bootstrap draws.")
LEVEL_OPTION = option("--level", default=0.95, help="Confidence level of intervals.")
report_options = add_options(
    format_option(FORMS),
    option(
        "--table",
        choices=TABLES,
        help="One table for a paper, or the full report.  [default: paper for latex, else full]",
    ),
    option(
        "--interval-form",
        choices=INTERVAL_FORMS,
        help="Confidence intervals in the table for a paper.  [default: brackets]",
    ),
    OUTPUT_OPTION,
    text_option("--title", metavar="TEXT", help="Title of the report."),
    option("--figures", type=FOLDER, help=FIGURES_HELP),
)
# of commands that score
scoring_options = add_options(
    METRIC_OPTION,
    list_option(
        "--value",
        "values",
        metavar="NAME",
        help="Value to show (repeatable).  [default: all; compare: one per metric]",
    ),
    WHERE_OPTION,
    DRAWS_OPTION,
    LEVEL_OPTION,
    SEED_OPTION,
    choice_option(
        "--on-error",
        choices=get_args(OnError),
        help="Invalid or missing samples: fail, skip, or score as empty.",
    ),
    JOBS_OPTION,
)
# of commands that score systems
system_options = add_options(
    list_option(
        "--by", metavar="FIELD[:CUT,...]", help="Group by a meta field, duration or annotator."
    ),
    option("--worst", type=int, help="Worst samples to show per system.  [default: 0; HTML: 5]"),
    option(
        "--worst-by",
        metavar="NAME",
        help="Value that ranks the worst samples.  [default: first shown]",
    ),
    list_option("--show", metavar="ITEM", help="Item to show in detail (repeatable)."),
    list_option(
        "--baseline",
        "baselines",
        metavar="NAME",
        help="Baseline to add, such as lead or random (repeatable).",
    ),
    flag_option(
        "--no-ceiling",
        "ceiling",
        callback=lambda _context, _option, value: not value,
        help="Omit the human ceiling (faster).",
    ),
    QUIET_OPTION,
)


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def choose_metric_map(jobs: int, metrics: Sequence[str]) -> Map:
    """Return the map for this number of processes; note metrics that use one process only."""
    from earwitness.engines.local import choose_map
    from earwitness.registry import METRICS

    single_process = [name for name in metrics if name in METRICS and METRICS[name].alone]
    if jobs > 1 and single_process:
        reason = "the model already uses all cores"
        print_message(f"note: --jobs does not apply to {', '.join(single_process)}: {reason}")
    return choose_map(jobs)
