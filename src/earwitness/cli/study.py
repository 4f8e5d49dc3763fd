"""``earwitness study``."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from earwitness.api.preparing import study_anchors, study_import
from earwitness.api.studies import study_design, study_render, study_write
from earwitness.api.taking import Addresses, rating_records, study_ratings, study_take
from earwitness.cli.analyse import analyse
from earwitness.cli.group import Terminated
from earwitness.cli.keep import export, links, status
from earwitness.cli.notes import notes
from earwitness.cli.player import player
from earwitness.cli.power import power
from earwitness.cli.progress import bar
from earwitness.cli.simulate import simulate
from earwitness.cli.take import Terminal
from earwitness.cli.workbooks import export_xlsx, import_xlsx
from earwitness.data import Study
from earwitness.errors import UsageError
from earwitness.formats.study import read_study
from earwitness.listening.design.minutes import clips_for
from earwitness.listening.digest import with_digest
from earwitness.listening.kinds import KINDS, block_kind
from earwitness.listening.start import starting_file
from earwitness.listening.wordings import wording

STUDY = click.argument("study", type=click.Path(path_type=Path))
FILE = click.Path(path_type=Path)
MINUTES = click.option(
    "--minutes", type=float, help="Find the clips for so many minutes a listener."
)


@click.group("study")
def command() -> None:
    """Plan a study with listeners, and take part in it."""


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
@STUDY
@MINUTES
@click.option("--to", type=click.Choice(["text", "html"]), default="text", help="Form.")
def check(study: Path, minutes: float | None, to: str) -> None:
    """Print the plan of STUDY, the minutes of a listener, and the proof of balance."""
    plan = _planned(study, minutes)
    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(study_render(study_design(plan), to, width=width))


def _planned(study: Path, minutes: float | None) -> Study:
    plan = read_study(study, practice=minutes is None)
    return plan if minutes is None else _fitted(plan, minutes)


def _fitted(plan: Study, minutes: float) -> Study:
    """With as many clips in the first block as fit into so many minutes."""
    first, *others = plan.blocks
    if not 0 < minutes < 1e6:
        raise UsageError(f"minutes must be a number above 0, got {minutes:g}")
    if plan.plans:
        raise UsageError("rows say what is heard — leave out --minutes")
    most = min(len(plan.material) // plan.panels, len(plan.material) - _set_aside(plan))
    clips = min(fits := clips_for(plan, minutes), most)
    if fits > most:
        told = f"{fits} clips would fit, the material has {most} for a listener"
        click.echo(f"note: {told}", err=True)
    if clips < first.sessions:
        raise UsageError(f"{minutes:g} minutes: too short for {first.sessions} sessions")
    return with_digest(replace(plan, blocks=(replace(first, clips=clips), *others)))


def _set_aside(plan: Study) -> int:
    """Clips that the first block leaves to others and to practice."""
    if not plan.training:
        return 0
    first, *others = plan.blocks
    each = block_kind(first).load(first.heard).trials
    return -(-plan.training // each) + sum(block.clips for block in others)


@command.command("design")
@STUDY
@click.option("-o", "--output", type=FILE, required=True, help="A new folder.")
@MINUTES
def design(study: Path, output: Path, minutes: float | None) -> None:
    """Write what every listener of STUDY hears, and the proof of balance, into a new folder."""
    written = study_write(study_design(_planned(study, minutes)), output)
    click.echo(f"wrote {len(written)} files into {output}", err=True)


@command.command("take")
@STUDY
@click.option("--listener", type=int, required=True, help="Whose trials; the first is 1.")
@click.option("-o", "--output", type=FILE, required=True, help="A file that answers are added to.")
@click.option(
    "--player", "player_command", default="", help="A command that plays a file, such as aplay."
)
def take(study: Path, listener: int, output: Path, player_command: str) -> None:
    """Take part in STUDY in this terminal.

    Answers are JSON lines, each on disk before the next page; run it again to go on where one
    stopped.
    """
    plays, plan = player(player_command), read_study(study)
    words = wording(plan.language, plan.wordings)
    terminal = Terminal(words, plays, study.parent)
    try:
        with notes():
            _take(plan, listener, output, terminal)
    except (KeyboardInterrupt, click.Abort, Terminated) as stop:
        click.echo("\n" + words.page("stopped", count=terminal.answered), err=True)
        raise click.exceptions.Exit(143 if isinstance(stop, Terminated) else 130) from None
    click.echo(words.page("answered", count=terminal.answered), err=True)


def _take(plan: Study, listener: int, output: Path, terminal: Terminal) -> None:
    if not terminal.player.command:
        click.echo(terminal.words.page("silence"), err=True)
    study_take(
        plan,
        listener,
        output,
        respond=terminal,
        addresses=lambda own: Addresses(own, terminal.files),
        refused=terminal.refused,
        stored=terminal.stored,
        meanwhile=terminal.meanwhile,
    )


@command.command("anchors")
@STUDY
def anchors(study: Path) -> None:
    """Make the low-pass anchors of a MUSHRA study of its references, where they are not there."""
    with bar(unit="files") as progress:
        written = study_anchors(study, progress=progress)
    click.echo(f"wrote {len(written)} files", err=True)


@command.command("import")
@click.argument("config", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="A new folder.")
@click.option("--root", type=FILE, help="The folder that paths of CONFIG start from.")
@click.option("--listeners", type=click.IntRange(1), default=20, show_default=True, help="Planned.")
def import_(config: Path, output: Path, root: Path | None, listeners: int) -> None:
    """Write the trials of CONFIG, a YAML file of webMUSHRA, as a study into a new folder."""
    for note in study_import(config, output, root=root, listeners=listeners):
        click.echo(f"note: {note}", err=True)
    click.echo(f"wrote {output}", err=True)


@command.command("ratings")
@STUDY
@click.argument("answers", type=FILE)
@click.option("--to", type=click.Choice(["jsonl", "csv"]), default="jsonl", help="Form.")
def ratings(study: Path, answers: Path, to: str) -> None:
    """Print the ratings that follow from ANSWERS to STUDY, a line each."""
    if not answers.exists():
        raise UsageError(f"{answers}: there is no such file")
    with notes():
        records = rating_records(study_ratings(study, answers))
    if to == "jsonl":
        sys.stdout.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    elif records:
        writer = csv.DictWriter(sys.stdout, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


command.add_command(export_xlsx)
command.add_command(import_xlsx)
command.add_command(links)
command.add_command(status)
command.add_command(export)
command.add_command(analyse)
command.add_command(simulate)
command.add_command(power)
