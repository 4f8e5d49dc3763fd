"""``earwitness metrics``."""

from __future__ import annotations

import click

from earwitness.metrics import METRICS
from earwitness.report.numbers import ARROWS


@click.command("metrics")
def command() -> None:
    """List the metrics with their values and parameters."""
    for name, kind in METRICS.items():
        click.echo(f"{name} ({kind.task}): {kind.title}")
        for parameter, default in kind.parameters().items():
            click.echo(f"  --{parameter.replace('_', '-')} {default}: {kind.help(parameter)}")
        for value in kind.values:
            click.echo(f"  {value.name} {ARROWS[value.best]}".rstrip() + f": {value.doc}")
