"""Options shared by several commands, and options of metrics and of input formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from earwitness.cli.output import (
    FIGURES_HELP,
    FOLDER,
    OUTPUT_OPTION,
    add_options,
    format_option,
    option,
    print_message,
    text_option,
)
from earwitness.cli.types import NumberList
from earwitness.errors import nearest
from earwitness.output_formats import FORMS, INTERVAL_FORMS, TABLES

# --- Options of metrics and of input formats -----------------------------------------------------


def option_flag(parameter: str) -> str:
    """Return the option that sets a parameter of a metric.

    >>> option_flag("chunk_size")
    '--chunk-size'
    """
    return f"--{parameter.replace('_', '-')}"


class Parameter(NamedTuple):
    """A parameter of metrics, or an option of the input formats of a task."""

    name: str
    type: click.ParamType[Any] = click.STRING
    is_list: bool = False
    is_flag: bool = False

    def convert(self, texts: Sequence[str], ctx: click.Context) -> Any:
        """Return the value from the texts of a command line."""
        if self.is_flag:
            return True
        try:
            values = [self.type.convert(text, None, ctx) for text in texts]
        except click.BadParameter as error:
            error.param_hint = f"'{option_flag(self.name)}'"
            raise
        if not self.is_list:
            return values[-1]
        return [
            part for value in values for part in (value if isinstance(value, list) else [value])
        ]


@cache
def metric_parameters() -> Mapping[str, Parameter]:
    """Return all parameters of metrics and options of input formats, by flag."""
    from earwitness.registry import METRICS, TASKS

    types = {float: NumberList(float), int: NumberList(int)}
    own = [
        Parameter(
            name, types.get(type(default), click.STRING), is_list=True, is_flag=default is False
        )
        for kind in METRICS.values()
        for name, default in kind.parameters().items()
    ]
    own += [
        Parameter(
            option.name,
            click.Choice(option.choices) if option.choices else click.STRING,
            is_flag=option.is_flag,
        )
        for task in TASKS.values()
        for option in task.options
    ]
    return {option_flag(parameter.name): parameter for parameter in own}


class MetricCommand(click.Command):
    """A command that takes parameters of metrics and options of input formats as options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options of metrics out of the arguments."""
        own, given = list[str](), dict[str, list[str]]()
        options = {flag: param for param in self.get_params(ctx) for flag in param.opts}
        texts = iter(args)
        for text in texts:
            flag, equals, value = text.partition("=")
            known = options.get(flag)
            if known is not None or not flag.startswith("--") or flag == "--":
                takes_value = isinstance(known, click.Option) and not known.is_flag and not equals
                own += [text, *islice(texts, None if flag == "--" else int(takes_value))]
                continue
            parameters = metric_parameters()
            if flag not in parameters and ctx.resilient_parsing:
                continue
            if flag not in parameters:
                remedy = nearest(flag, [*options, *parameters])
                message = f"unknown option {flag} — {remedy}"
                raise click.NoSuchOption(flag, message, ctx=ctx)
            values = given.setdefault(flag, [])
            if not parameters[flag].is_flag:
                values += [value] if equals else islice(texts, 1)
                if not values:
                    raise click.UsageError(f"{flag} needs a value", ctx)
        rest = super().parse_args(ctx, own)
        for flag, values in given.items():
            parameter = metric_parameters()[flag]
            ctx.params[parameter.name] = parameter.convert(values, ctx)
        return rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return completions, also of the options of metrics."""
        flags = metric_parameters() if incomplete.startswith("-") else ()
        items = [CompletionItem(flag) for flag in flags if flag.startswith(incomplete)]
        return super().shell_complete(ctx, incomplete) + items

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the options of metrics are listed."""
        formatter.write_paragraph()
        formatter.write_text(
            "Parameters of metrics and of input formats are options, too, such as --collar 1,3 or"
            " --preset youtube; earwitness metrics lists them."
        )


# --- Options of several commands -----------------------------------------------------------------


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


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def choose_metric_jobs(jobs: int | None, metrics: Sequence[str], *inputs: str | None) -> int:
    """Return the number of processes for files; note metrics that use one only, if there are."""
    from earwitness.engines.local import choose_jobs
    from earwitness.registry import METRICS

    single_process = [name for name in metrics if name in METRICS and METRICS[name].alone]
    if (jobs or 1) > 1 and single_process:
        reason = "the model already uses all cores"
        print_message(f"note: --jobs does not apply to {', '.join(single_process)}: {reason}")
    return 1 if single_process else choose_jobs(jobs, *inputs)
