"""Options that several verbs share, and where their results go."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import click

from earwitness.api import render
from earwitness.data import Map
from earwitness.engines import in_process, processes
from earwitness.errors import UsageError
from earwitness.formats.records import OnError
from earwitness.formats.whole import WholeFile
from earwitness.metrics import DEFAULTS, METRICS
from earwitness.report import FORMS, Result

ENDINGS = {"tex": "latex", "htm": "html", "txt": "text", "markdown": "md"}
WORST = 5  # timelines of a page that was not told what to show
Decorated = Callable[..., Any]
SHARED = [
    click.option(
        "--metric",
        "metrics",
        multiple=True,
        type=click.Choice(list(METRICS)),
        help=f"Which metrics; may be given several times.  [default: {', '.join(DEFAULTS)}]",
    ),
    click.option(
        "--by",
        multiple=True,
        metavar="FIELD[:CUT,…]",
        help="Also by groups of a meta field, duration or annotator; numbers may be cut.",
    ),
    click.option("--worst", default=0, metavar="N", help="Also show the N worst samples."),
    click.option(
        "--worst-by", help="Worst by which value.  [default: the first metric's headline]"
    ),
    click.option(
        "--show", multiple=True, metavar="ITEM", help="Also draw this item's boundaries (HTML)."
    ),
    click.option("--draws", default=1000, show_default=True, help="Bootstrap draws."),
    click.option("--level", default=0.95, show_default=True, help="Level of the intervals."),
    click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn."),
    click.option(
        "--on-error",
        type=click.Choice(get_args(OnError)),
        default="fail",
        show_default=True,
        help="What to do with a bad sample: refuse the file, leave it out, score an empty output.",
    ),
    click.option(
        "--to",
        type=click.Choice(FORMS),
        help="Form of the result.  [default: what --output ends in, else text]",
    ),
    click.option(
        "-o", "--output", type=click.Path(path_type=Path), help="Write here, not to stdout."
    ),
    click.option("--jobs", default=1, show_default=True, help="Processes that share the work."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
]


def shared_options(function: Decorated) -> Decorated:
    """What every verb that scores takes."""
    for option in reversed(SHARED):
        function = option(function)
    return metric_options(function)


def metric_options(function: Decorated) -> Decorated:
    """An option for every parameter of every metric; several values are scored side by side."""
    parameters = {name: kind for kind in METRICS.values() for name in kind.parameters()}
    for name, kind in reversed(parameters.items()):
        default, choices = kind.parameters()[name], kind.choices(name)
        families = ", ".join(key for key, one in METRICS.items() if name in one.parameters())
        function = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=click.Choice(choices) if choices else type(default),
            multiple=True,
            help=f"{families}: {kind.help(name)}  [default: {default}]",
        )(function)
    return function


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Options that were given a value."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def engine(jobs: int) -> Map:
    """Who does the work."""
    return in_process if jobs == 1 else processes(jobs)


class Target:
    """Where a result goes and in what form; bad places are refused before any work."""

    def __init__(
        self,
        to: str | None,
        output: Path | None,
        inputs: Iterable[str | None],
        *others: Path | None,
    ) -> None:
        ending = "" if output is None else output.suffix.removeprefix(".")
        ending = ENDINGS.get(ending, ending)
        self.form = to or (ending if ending in FORMS else "text")
        self._output = output
        self._file = None if output is None else WholeFile(output)
        _check_results(inputs, (output, *others))

    def worst(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options; a page shows some of the worst samples if it is not told how many."""
        asked = options.get("worst") or options.get("show")
        return options if asked or self.form != "html" else {**options, "worst": WORST}

    def write(self, result: Result) -> None:
        """Print or write the result."""
        width = shutil.get_terminal_size((100, 24)).columns
        folder = Path() if self._output is None else self._output.parent
        text = render(result, self.form, width=width, folder=folder)
        if self._file is None:
            sys.stdout.write(text)
            return
        with self._file as file:
            file.write(text)
        click.echo(f"wrote {self._output}", err=True)


def _check_results(inputs: Iterable[str | None], results: Iterable[Path | None]) -> None:
    """No file may be both read and written, or written twice."""
    taken = [Path(place).resolve() for place in inputs if place not in (None, "-")]
    for path in filter(None, results):
        if path.resolve() in taken and not path.is_char_device():
            raise UsageError(f"{path} is named twice — results need files of their own")
        taken.append(path.resolve())
