"""``earwitness study``."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from earwitness.api.studies import study_design, study_render, study_write
from earwitness.errors import UsageError
from earwitness.formats.study import read_study
from earwitness.listening.design.minutes import clips_for
from earwitness.listening.kinds import KINDS
from earwitness.listening.start import starting_file


@click.group("study")
def command() -> None:
    """Plan a study with listeners."""


@command.command("new")
@click.option(
    "--protocol", type=click.Choice(list(KINDS)), default="p835", show_default=True, help="Kind."
)
def new(protocol: str) -> None:
    """Write a commented study file to standard output.

    \b
    earwitness study new --protocol p835 > study.yaml
    """
    sys.stdout.write(starting_file(protocol))


@command.command("check")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--minutes", type=float, help="Find the clips for so many minutes a listener.")
@click.option("--to", type=click.Choice(["text", "html"]), default="text", help="Form.")
def check(study: Path, minutes: float | None, to: str) -> None:
    """Print the plan of STUDY, the minutes of a listener, and the proof of balance."""
    plan = read_study(study)
    if minutes is not None:
        clips = min(clips_for(plan, minutes), len(plan.material) // plan.panels)
        if clips < plan.sessions:
            raise UsageError(f"{minutes:g} minutes: too short for {plan.sessions} sessions")
        plan = replace(plan, clips=clips)
    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(study_render(study_design(plan), to, width=width))


@command.command("design")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder."
)
def design(study: Path, output: Path) -> None:
    """Write what every listener of STUDY hears, and the proof of balance, into a new folder."""
    written = study_write(study_design(study), output)
    click.echo(f"wrote {len(written)} files into {output}", err=True)
