"""Options shared by several commands, options of metrics, and help in sections by task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import click

from earwitness.cli.declarations import load_declarations
from earwitness.cli.output import (
    FIGURES_HELP,
    FILE,
    FOLDER,
    Command,
    CommandOption,
    add_options,
    check_seed,
    option,
    print_message,
)
from earwitness.core import Map, OnError
from earwitness.errors import PluginError, nearest
from earwitness.output_formats import FORMS, INTERVAL_FORMS, TABLES
from earwitness.plugins import package

DECLARED = load_declarations()


# --- Names and short descriptions of metric options ----------------------------------------------


OPTION_NAMES = {  # clearer than the names of parameters
    "match": "word-match",
    "matching": "boundary-matching",
    "tokenise": "tokenize",
}
ALL_TASKS, TEXT_TASK = "", "texts"
SECTION_TITLES = {TEXT_TASK: "titles, captions and other texts"}
# One line of `score --help` per option. `earwitness metrics` prints the full descriptions, and a
# plug-in's option is described by the start of its own.
BRIEF_HELP = {
    ALL_TASKS: {
        "against": "Several references: mean, or best match.",
    },
    "chapters": {
        "preset": "Chapter format; see gather --help.",
        "pattern": "Regular expression for custom and custom_ts.",
        "timestamp_format": "Time format for custom_ts, such as HH:MM:SS.",
        "tier": "Tier of TextGrid or JAMS: name or number.",
        "heading_level": "Level of headings (1: #, 2: ##), or each.",
        "aligner": "Align by pocketsphinx or mms_fa.",
        "language": "Language of the audio (ISO 639-3).",
        "force_alignment": "Align outputs even if they have times.",
        "unit": "Unit of times: ms, s, min, h; or outputs=ms.",
        "edge": "Ignore boundaries this near the ends (s).",
        "chunk_size": "Chunk length in seconds.",
        "collar": "Largest distance of a match in seconds.",
        "matching": "greedy: nearest pairs; optimal: most.",
        "frame": "Time between frames in seconds.",
        "of": "Sentences that boundaries snap to.",
        "tolerance": "Largest distance of titles in seconds.",
        "tm_rule": "Titles match by start, or by start_end.",
    },
    TEXT_TASK: {
        "words": "Words: a-z or any script.",
        "model": "minilm, a folder or Hugging Face name.",
        "layer": "Model layer; 0 is the recommended one.",
        "smooth": "BLEU smoothing: none, exp, floor, add-k.",
    },
    "summaries": {
        "tokenise": "Words: split at blanks, or japanese. [blanks]",
        "objective": "Closest path by edits, or by accuracy.",
        "arcs": "Word transitions of the network.",
        "boundary": "Arcs at the ends: include or exclude.",
        "match": "Equal words: by position, or surface.",
        "longest": "Longest word strings, 2 to 100 words.",
    },
    "skims": {
        "embedder": "codebook, log-mel, or a model's path.",
        "block": "Block length in seconds.",
        "period": "Period length in seconds.",
    },
}
FORMAT_OPTIONS = {"pattern", "timestamp_format", "tier"}  # which few formats need
SECTION_OF = {name: section for section, texts in BRIEF_HELP.items() for name in texts}


def option_flag(parameter: str) -> str:
    """Return the option that sets a parameter of a metric.

    >>> option_flag("chunk_size"), option_flag("match")
    ('--chunk-size', '--word-match')
    """
    return f"--{OPTION_NAMES.get(parameter, parameter.replace('_', '-'))}"


def _brief_help(parameter: str, text: str) -> str:
    """Return a description that fits on one line."""
    section = SECTION_OF.get(parameter)
    if section is not None:
        return BRIEF_HELP[section][parameter]
    sentence = text[:1].upper() + text[1:]
    return sentence if len(sentence) <= HELP_WIDTH else f"{sentence[: HELP_WIDTH - 1].rstrip()}…"


# --- Help in sections by task --------------------------------------------------------------------


FLAG_WIDTH = 26  # of the first column
HELP_WIDTH = 40  # of a description, without its default
CHOICE_METAVAR = "CHOICE"  # where choices do not fit; the description names them


class SectionOption(click.Option):
    """An option of a section of help, with a short description; ``further``: of --help-all."""

    def __init__(
        self,
        *arguments: Any,
        section: str = ALL_TASKS,
        brief: str = "",
        further: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.section, self.brief, self.further = section, brief or self.help or "", further

    def brief_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the names and the short description, one line each."""
        names = ", ".join(self.opts)
        if not self.is_flag:
            metavar = self.make_metavar(ctx)
            if isinstance(self.type, click.Choice) and len(f"{names} {metavar}") > FLAG_WIDTH:
                metavar = CHOICE_METAVAR
            names = f"{names} {metavar}"
        default = self.show_default if isinstance(self.show_default, str) else ""
        if self.show_default is True:
            default = str(self.default)
        return names, self.brief + f" [{default}]" * bool(default)


HELP_ALL = "--help-all"


def _show_all_help(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


class TaskCommand(click.Command):
    """A command whose help shows options of all tasks first, then those of each task.

    ``--help`` shows the usual options, ``--help-all`` all of them.
    """

    default_metrics = "defaults"

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(
            click.Option(
                [HELP_ALL],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all_help,
                help="Show all options.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per task, without blank lines between them."""
        tasks = (*BRIEF_HELP, *DECLARED[self.default_metrics])  # those of plug-ins are last
        sections: dict[str, list[SectionOption]] = {name: [] for name in tasks}
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, SectionOption):
                continue
            if HELP_ALL in ctx.meta or not parameter.further:
                sections.setdefault(parameter.section, []).append(parameter)
        formatter.write_paragraph()
        for section, options in sections.items():
            title = self._section_title(section)
            if not options:
                formatter.write(f"No further options for {title}.\n")
                continue
            formatter.write_heading(f"Options for {title}")
            rows = [option.brief_record(ctx) for option in sorted(options, key=_option_place)]
            with formatter.indentation():
                formatter.write_dl(
                    [(names.ljust(FLAG_WIDTH), text) for names, text in rows], FLAG_WIDTH
                )
        if HELP_ALL not in ctx.meta:
            formatter.write(f"{HELP_ALL} also shows options that are rarely needed.\n")

    def _section_title(self, section: str) -> str:
        if section == ALL_TASKS:
            return "all tasks (defaults in brackets)"
        title, metrics = SECTION_TITLES.get(section, section), DECLARED[self.default_metrics]
        names = metrics.get(section, ())
        if not names:
            return title
        return f"{title} (default metric{'s' * (len(names) > 1)}: {', '.join(names)})"


def _option_place(option: SectionOption) -> int:
    """Return where help shows an option; options of plug-ins are last."""
    known = option.name in ORDERED_NAMES
    return ORDERED_NAMES.index(str(option.name)) if known else len(ORDERED_NAMES)


class PeopleCommand(TaskCommand):
    """A command that scores annotators against each other."""

    default_metrics = "people"


# --- Option types --------------------------------------------------------------------------------


class NameChoice(click.Choice[str]):
    """One of several names; the message about an unknown name suggests the nearest one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name = str(value)
        if name not in self.choices:
            self.fail(f'unknown name "{name}" — {nearest(name.lower(), self.choices)}', param, ctx)
        return name


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


def _option_type(default: Any) -> Any:
    if isinstance(default, str):
        return str
    return FloatList() if isinstance(default, float) else IntegerList()


# --- Shared options ------------------------------------------------------------------------------


def section_option(*names: str, **settings: Any) -> CommandOption:
    """Return a decorator that adds an option with a section of help."""
    return option(*names, cls=SectionOption, **settings)


READING_METAVARS = {
    "pattern": "REGEX",
    "timestamp_format": "FORMAT",
    "tier": "NAME",
    "heading_level": "N",
    "language": "CODE",
}


def _reading_option(declared: dict[str, Any]) -> CommandOption:
    """Return an option that sets how the lines of a task are read."""
    name, choices = declared["name"], declared["choices"]
    return section_option(
        option_flag(name),
        name,
        choices=choices,
        metavar=READING_METAVARS.get(name),
        is_flag=declared["is_flag"],
        show_default=declared["default"] or None,
        help=declared["help"],
        further=name in FORMAT_OPTIONS,
        brief=_brief_help(name, declared["help"]),
        section=SECTION_OF.get(name, declared["task"]),
    )


SHARED_OPTIONS: dict[str, CommandOption] = {
    "metric": section_option(
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME",
        type=NameChoice(DECLARED["metrics"]),
        help="Metric (repeatable); see earwitness metrics.",
    ),
    "by": section_option(
        "--by",
        multiple=True,
        metavar="FIELD[:CUT,...]",
        help="Group by a meta field, duration or annotator.",
    ),
    "where": section_option(
        "--where",
        multiple=True,
        metavar="CONDITION",
        help="Score items for which a field fulfils CONDITION, such as accuracy>=0.9 (repeatable).",
        brief="Items to score, as in accuracy>=0.9.",
    ),
    "worst": section_option(
        "--worst",
        type=int,
        help="Worst samples to show per system.",
        show_default="0; HTML: 5",
    ),
    "worst_by": section_option(
        "--worst-by",
        metavar="NAME",
        help="Value that ranks the worst.",
        show_default="first shown",
    ),
    "show": section_option(
        "--show",
        multiple=True,
        metavar="ITEM",
        help="Item to show in detail (repeatable).",
    ),
    **{option["name"]: _reading_option(option) for option in DECLARED["options"]},
    "baseline": section_option(
        "--baseline",
        "baselines",
        multiple=True,
        metavar="NAME",
        choices=DECLARED["baselines"],
        help=f"Baseline to add (repeatable): {', '.join(DECLARED['baselines'])}.",
        brief="Baseline, such as lead or random (repeatable).",
    ),
    "ceiling": section_option(
        "--no-ceiling",
        "ceiling",
        is_flag=True,
        callback=lambda _context, _option, value: not value,
        help="Omit the human ceiling (faster).",
        further=True,
    ),
    "draws": section_option("--draws", default=1000, help="Number of bootstrap draws."),
    "level": section_option(
        "--level", type=float, default=0.95, help="Confidence level of intervals."
    ),
    "seed": section_option("--seed", default=0, callback=check_seed, help="Random seed."),
    "on_error": section_option(
        "--on-error",
        choices=get_args(OnError),
        default="fail",
        help="Invalid samples: fail, skip, or empty.",
    ),
    "to": section_option(
        "--to",
        metavar="FORMAT",
        choices=FORMS,
        help=f"{', '.join(FORMS[:-1])} or {FORMS[-1]}.",
        show_default="text",
    ),
    "table": section_option(
        "--table",
        choices=TABLES,
        help="Table for a paper, or full.",
        show_default="full; latex: paper",
    ),
    "interval_form": section_option(
        "--interval-form",
        choices=INTERVAL_FORMS,
        help="Paper intervals: brackets, plus-minus or none.",
        further=True,
    ),
    "output": section_option(
        "-o", "--output", type=FILE, help="Output file; its ending sets the format."
    ),
    "title": section_option("--title", default="", metavar="TEXT", help="Title of the report."),
    "figures": section_option("--figures", type=FOLDER, help=FIGURES_HELP),
    "jobs": section_option("--jobs", default=1, help="Number of worker processes."),
    "quiet": section_option("--quiet", is_flag=True, help="Hide the progress bar."),
}
SHARED_ORDER = (
    *("judgements", "reading_answers", "words_answers", "scale", "human"),
    *("sizes", "orders", "exact", "coefficients", "isolated_rule"),
    *("metrics", "values", "against", "alpha", "permutations", "baselines", "ceiling", "by"),
    *("where", "worst", "worst_by", "show", "draws", "level", "seed", "on_error", "system"),
    *("samples", "alignments", "fewer", "repeats", "jobs", "quiet", "to", "table"),
    *("interval_form", "output", "title", "figures", "points", "resume", "simulate"),
)
ORDERED_NAMES = list(dict.fromkeys((*SHARED_ORDER, *SECTION_OF)))
# for commands that have systems
SYSTEM_OPTIONS = {"baseline", "ceiling", "by", "worst", "worst_by", "show", "force_alignment"}


def value_option(default: str) -> CommandOption:
    """Return the option that selects the values to show."""
    return section_option(
        "--value",
        "values",
        multiple=True,
        metavar="NAME",
        show_default=default,
        help="Value to show (repeatable).",
    )


def shared_options(*, systems: bool = True) -> CommandOption:
    """Return a decorator that adds the options of all commands that score."""

    return add_options(
        metric_options,
        *(
            shared
            for name, shared in SHARED_OPTIONS.items()
            if systems or name not in SYSTEM_OPTIONS
        ),
    )


def metric_options(function: Command) -> Command:
    """Add an option for every parameter of every metric; several values are scored side by side."""
    options = [*getattr(function, "__click_params__", ())]
    taken = {option.name for option in options} | {flag for one in options for flag in one.opts}
    for declared in reversed(DECLARED["parameters"]):
        name, default, choices = declared["name"], declared["default"], declared["choices"]
        if {name, option_flag(name)} & taken:
            raise _taken_name(name, declared["metrics"][0])
        tasks = declared["tasks"]
        function = section_option(
            option_flag(name),
            name,
            type=_option_type(default),
            choices=choices,
            metavar="NAME" if isinstance(default, str) and not choices else None,
            multiple=True,
            help=declared["help"],
            brief=_brief_help(name, declared["help"]),
            section=SECTION_OF.get(name, tasks[0] if len(tasks) == 1 else ALL_TASKS),
            show_default=declared["shown_default"],
        )(function)
    return function


def _taken_name(parameter: str, metric: str) -> PluginError:
    """Return the error about a plug-in's parameter that has the name of another option."""
    from earwitness.registry import METRICS

    message = f'parameter "{parameter}" of "{metric}" has the name of a command-line option'
    return PluginError(package(METRICS.plugins[metric]), f"{message} — rename the parameter")


network_options = add_options(
    *(
        section_option(
            option_flag(declared["name"]),
            declared["name"],
            choices=declared["choices"],
            help=f"{declared['help'][:1].upper()}{declared['help'][1:]}"
            f"  [default: {declared['default']}]",
        )
        for declared in DECLARED["network"]
    )
)


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set; lists of lists become one list."""
    return {
        name: _flatten_lists(value) for name, value in options.items() if value not in (None, ())
    }


def _flatten_lists(value: Any) -> Any:
    if isinstance(value, tuple) and all(isinstance(inner, list) for inner in value):
        return [number for inner in value for number in inner]
    return value


def choose_metric_map(jobs: int, metrics: Sequence[str]) -> Map:
    """Return the map for this number of processes; note metrics that use one process only."""
    from earwitness.engines.local import choose_map
    from earwitness.registry import METRICS

    single_process = [name for name in metrics if METRICS[name].alone]
    if jobs > 1 and single_process:
        reason = "the model already uses all cores"
        print_message(f"note: --jobs does not apply to {', '.join(single_process)}: {reason}")
    return choose_map(jobs)
