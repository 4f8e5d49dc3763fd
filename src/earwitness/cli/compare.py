"""``earwitness compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.api import compare
from earwitness.cli.options import engine, given, shared_options
from earwitness.cli.progress import bar
from earwitness.cli.target import Target


@click.command("compare")
@click.argument("outputs")
@click.argument("references")
@click.option(
    "--value",
    "values",
    multiple=True,
    help="Which values; may be given several times.  [default: each metric's headline]",
)
@click.option("--alpha", default=0.05, show_default=True, help="Below which p systems differ.")
@click.option("--permutations", default=10_000, show_default=True, help="Of the test.")
@shared_options()
def command(
    outputs: str,
    references: str,
    to: str | None,
    output: Path | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Say which systems in OUTPUTS can be told apart.

    All pairs of systems are compared on the items that every system answered: the difference with
    an interval (paired bootstrap), p by swapping outputs item by item (permutation test), and p
    corrected for all pairs (Holm).

    \b
    earwitness compare outputs.jsonl references.jsonl
    earwitness compare outputs.jsonl references.jsonl --metric chunks --value pk --value f1
    """
    target = Target(to, output, (outputs, references))
    with bar(quiet=quiet) as progress:
        found = compare(
            outputs,
            references,
            map=engine(jobs, options["metrics"]),
            progress=progress,
            **target.worst(given(options)),
        )
    target.write(found)
