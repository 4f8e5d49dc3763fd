"""``earwitness study power``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.api.powering import NAMES, study_power
from earwitness.cli.target import Target
from earwitness.errors import UsageError
from earwitness.report import FORMS

FILE = click.Path(path_type=Path)


@click.command("power")
@click.argument("study", type=FILE)
@click.option(
    "--pilot", multiple=True, type=FILE, help="Answers or a table that variances are taken from."
)
@click.option(
    "--sd",
    "components",
    multiple=True,
    metavar="NAME=POINTS",
    help=f"Instead of what is assumed: {', '.join(NAMES)}.",
)
@click.option("--scale", default="", help="[default: the first of the study]")
@click.option(
    "--difference", "differences", multiple=True, type=float, help="In points of the scale."
)
@click.option("--listeners", multiple=True, type=int, help="[default: half to thrice the planned]")
@click.option("--power", "wanted", default=0.8, show_default=True, help="That is wanted.")
@click.option("--runs", default=2000, show_default=True, help="Simulated studies.")
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--to", type=click.Choice(FORMS), help="Form.  [default: what --output ends in]")
@click.option("-o", "--output", type=FILE, help="Write here, not to stdout.")
def power(
    study: Path,
    pilot: tuple[Path, ...],
    components: tuple[str, ...],
    to: str | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Say which differences STUDY can find, with how many listeners, and what that costs."""
    target = Target(to, output, [str(study), *map(str, pilot)])
    said = dict(_component(one) for one in components)
    target.write(study_power(study, pilot=pilot, components=said, **options))


def _component(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise UsageError(f'--sd must be like residual=0.7, got "{text}"') from None
