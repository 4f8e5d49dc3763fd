"""``earwitness score``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.api import score
from earwitness.cli.options import Counts, engine, given, shared_options
from earwitness.cli.progress import bar
from earwitness.cli.target import Target


@click.command("score")
@click.argument("outputs")
@click.argument("references", required=False)
@shared_options()
@click.option("--system", help="Name of the system, where one file holds both sides.")
@click.option(
    "--samples",
    type=click.Path(path_type=Path),
    help="Also write every sample's values to this .csv or .jsonl file.",
)
@click.option(
    "--references",
    "fewer",
    type=Counts(),
    default="",
    metavar="N,…",
    help="Also score against so many references of each item, drawn anew (for --samples).",
)
@click.option(
    "--repeats", default=5, show_default=True, help="How often so many references are drawn."
)
@click.option(
    "--alignments",
    type=click.Path(path_type=Path),
    help="Also write every sample's words to this text file, output below reference.",
)
def command(
    outputs: str,
    references: str | None,
    to: str | None,
    output: Path | None,
    samples: Path | None,
    alignments: Path | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Score OUTPUTS against REFERENCES.

    OUTPUTS alone is a file of chunkseg's: JSON lines with hypothesis, reference and duration. With
    REFERENCES both are JSON lines joined by item, and OUTPUTS may hold several systems. Either may
    be - for standard input, and may end in .gz or .zst. A metric's option may have several
    values: --collar 1,3 scores with both.

    \b
    earwitness score samples.jsonl
    earwitness score outputs.jsonl references.jsonl --collar 5 --worst 3
    """
    target = Target(to, output, (outputs, references), samples, alignments)
    files = {"samples": samples, "alignments": alignments}
    work = {"map": engine(jobs, options["metrics"]), **files, **target.worst(given(options))}
    with bar(quiet=quiet) as progress:
        scores = score(outputs, references, progress=progress, **work)
    for path in filter(None, files.values()):
        click.echo(f"wrote {path}", err=True)
    target.write(scores)
