"""``earwitness study simulate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from earwitness.api.simulating import simulated_write, study_simulate
from earwitness.errors import UsageError
from earwitness.listening.population import Population, Qualities

SHARE = "share of the scale"
FILE = click.Path(path_type=Path)
HELP = {
    "bias": f"Between listeners (SD, {SHARE}).",
    "taste": f"Of a listener for a system (SD, {SHARE}).",
    "items": f"Between items (SD, {SHARE}).",
    "mixture": f"Of an item with a system (SD, {SHARE}).",
    "inconsistency": f"Of a listener with themselves (SD, {SHARE}).",
    "fatigue": f"What is heard less at the end of a session ({SHARE}).",
}


def population_options(function: Any) -> Any:
    """An option for every number of a population."""
    for name, told in reversed(HELP.items()):
        default = getattr(Population(), name)
        option = click.option(f"--{name}", default=default, show_default=True, help=told)
        function = option(function)
    return function


@click.command("simulate")
@click.argument("study", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="A new folder.")
@click.option("--seed", default=0, show_default=True, help="Another seed, other listeners.")
@click.option("--careless", default=0, show_default=True, help="So many answer anything.")
@click.option(
    "--quality",
    "qualities",
    multiple=True,
    metavar="SYSTEM[:SCALE]=Q",
    help="From 0 to 1.  [default: evenly, the last system best]",
)
@population_options
def simulate(
    study: Path, output: Path, seed: int, qualities: tuple[str, ...], **numbers: Any
) -> None:
    """Take STUDY with simulated listeners, and analyse what they answer.

    Answers, what is true, what the listeners are like, and all results go into a new folder.
    """
    population = Population(**numbers, qualities=_qualities(qualities))
    written = simulated_write(study_simulate(study, population, seed=seed), output)
    click.echo(f"wrote {len(written)} files into {output}", err=True)


def _qualities(given: Sequence[str]) -> Qualities:
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        system, _, scale = name.partition(":")
        try:
            quality = float(number)
            if not (system and 0 <= quality <= 1):
                raise ValueError
        except ValueError:
            raise UsageError(f'quality must be like C1=0.6 or C1:SIG=0.6, got "{one}"') from None
        found[system, scale] = quality
    return found
