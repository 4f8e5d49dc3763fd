"""``earwitness people``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.api import people
from earwitness.cli.options import engine, given, shared_options
from earwitness.cli.target import Target


@click.command("people")
@click.argument("references")
@shared_options(systems=False)
def command(
    references: str, to: str | None, output: Path | None, jobs: int, quiet: bool, **options: Any
) -> None:
    """Say how well the annotators of REFERENCES agree.

    Each annotator in turn is scored against the others of the same item: by default for agreement
    beyond chance, and by the metrics that systems are scored with, for which this is the ceiling.

    \b
    earwitness people references.jsonl
    """
    del quiet
    target = Target(to, output, (references,))
    target.write(people(references, map=engine(jobs, options["metrics"]), **given(options)))
