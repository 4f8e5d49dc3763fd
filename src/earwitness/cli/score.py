"""``earwitness score``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from earwitness.api import score
from earwitness.cli.progress import bar
from earwitness.engines import in_process, processes
from earwitness.errors import UsageError
from earwitness.formats.records import OnError
from earwitness.formats.whole import WholeFile
from earwitness.metrics import DEFAULTS, METRICS
from earwitness.report import MEDIA, text


def metric_options(function: Callable[..., Any]) -> Callable[..., Any]:
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


@click.command("score")
@click.argument("outputs")
@click.argument("references", required=False)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(list(METRICS)),
    help=f"Which metrics; may be given several times.  [default: {', '.join(DEFAULTS)}]",
)
@metric_options
@click.option("--system", help="Name of the system, where one file holds both sides.")
@click.option("--draws", default=1000, show_default=True, help="Bootstrap draws.")
@click.option("--level", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--on-error",
    type=click.Choice(get_args(OnError)),
    default="fail",
    show_default=True,
    help="What to do with a bad sample: refuse the file, leave it out, or score an empty output.",
)
@click.option(
    "--to",
    type=click.Choice(list(MEDIA)),
    help="Form of the result.  [default: what --output ends in, else text]",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write here, not to stdout.")
@click.option(
    "--samples",
    type=click.Path(path_type=Path),
    help="Also write every sample's values to this .csv or .jsonl file.",
)
@click.option("--worst", default=0, metavar="N", help="Also show the N worst samples.")
@click.option("--worst-by", help="Worst by which value.  [default: the first metric's headline]")
@click.option("--jobs", default=1, show_default=True, help="Processes that share the work.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def command(
    outputs: str,
    references: str | None,
    metrics: tuple[str, ...],
    to: str | None,
    output: Path | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Score OUTPUTS against REFERENCES.

    OUTPUTS alone is a file of chunkseg's: JSON lines with hypothesis, reference and duration. With
    REFERENCES both are JSON lines joined by item, and OUTPUTS may hold several systems. Either may
    be - for standard input, and may end in .gz or .zst. A metric's option may be given several
    times: --collar 1 --collar 3 scores with both.

    \b
    earwitness score samples.jsonl
    earwitness score outputs.jsonl references.jsonl --collar 5 --worst 3
    """
    target = None if output is None else WholeFile(output)
    _check_results((outputs, references), (output, options["samples"]))
    given = {name: value for name, value in options.items() if value not in (None, ())}
    with bar(quiet=quiet) as progress:
        scores = score(
            outputs,
            references,
            metrics=metrics or None,
            map=in_process if jobs == 1 else processes(jobs),
            progress=progress,
            **given,
        )
    if given.get("samples"):
        click.echo(f"wrote {given['samples']}", err=True)
    ending = "" if output is None else output.suffix.removeprefix(".")
    form = to or (ending if ending in MEDIA else "text")
    width = shutil.get_terminal_size((100, 24)).columns
    shown = text(scores, width) if form == "text" else MEDIA[form](scores)
    if target is None:
        sys.stdout.write(shown)
        return
    with target as file:
        file.write(shown)
    click.echo(f"wrote {output}", err=True)


def _check_results(inputs: tuple[str | None, ...], results: tuple[Path | None, ...]) -> None:
    """No file may be both read and written, or written twice."""
    taken = [Path(place).resolve() for place in inputs if place not in (None, "-")]
    for path in filter(None, results):
        if path.resolve() in taken and not path.is_char_device():
            raise UsageError(f"{path} is named twice — results need files of their own")
        taken.append(path.resolve())
