"""The command group study: new, check, design, take, ratings, power and others."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import Termination
from earwitness.cli.output import OutputTarget, progress_bar, warnings_as_notes
from earwitness.cli.study_analyse import FILE_PATH, analyse
from earwitness.cli.study_store import STUDY_ARGUMENT, export, links, status
from earwitness.cli.study_take import Terminal, parse_player
from earwitness.cli.study_workbooks import export_xlsx, import_xlsx
from earwitness.errors import UsageError
from earwitness.output_formats import FORMS
from earwitness.studies.design.plan import max_clips
from earwitness.studies.design.report import study_design, study_render, study_write
from earwitness.studies.file.reader import read_study, with_digest
from earwitness.studies.population import Population, Qualities
from earwitness.studies.power import COMPONENT_NAMES, study_power
from earwitness.studies.prepare import starting_file, study_anchors, study_import
from earwitness.studies.ratings.from_answers import rating_records, study_ratings
from earwitness.studies.simulate import simulated_write, study_simulate
from earwitness.studies.study import Study
from earwitness.studies.take import Addresses, study_take
from earwitness.studies.trials import KINDS, block_kind
from earwitness.studies.wording import wording

# --- Command study power -------------------------------------------------------------------------


@click.command("power")
@click.argument("study", type=FILE_PATH)
@click.option(
    "--pilot",
    multiple=True,
    type=FILE_PATH,
    help="Answers or a table that variances are taken from.",
)
@click.option(
    "--sd",
    "components",
    multiple=True,
    metavar="NAME=POINTS",
    help=f"Instead of what is assumed: {', '.join(COMPONENT_NAMES)}.",
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
@click.option("-o", "--output", type=FILE_PATH, help="Write here, not to stdout.")
def power(
    study: Path,
    pilot: tuple[Path, ...],
    components: tuple[str, ...],
    to: str | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Say which differences STUDY can find, with how many listeners, and what that costs."""
    target = OutputTarget(to, output, [str(study), *map(str, pilot)])
    standard_deviations = dict(_parse_component(one) for one in components)
    target.write(study_power(study, pilot=pilot, components=standard_deviations, **options))


def _parse_component(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise UsageError(f'--sd must be like residual=0.7, got "{text}"') from None


# --- Command study simulate ----------------------------------------------------------------------


SCALE_SHARE = "share of the scale"
POPULATION_HELP = {
    "bias": f"Between listeners (SD, {SCALE_SHARE}).",
    "taste": f"Of a listener for a system (SD, {SCALE_SHARE}).",
    "items": f"Between items (SD, {SCALE_SHARE}).",
    "mixture": f"Of an item with a system (SD, {SCALE_SHARE}).",
    "inconsistency": f"Of a listener with themselves (SD, {SCALE_SHARE}).",
    "fatigue": f"What is heard less at the end of a session ({SCALE_SHARE}).",
}


def population_options(function: Any) -> Any:
    """An option for every number of a population."""
    for name, help_text in reversed(POPULATION_HELP.items()):
        default = getattr(Population(), name)
        option = click.option(f"--{name}", default=default, show_default=True, help=help_text)
        function = option(function)
    return function


@click.command("simulate")
@click.argument("study", type=FILE_PATH)
@click.option("-o", "--output", type=FILE_PATH, required=True, help="A new folder.")
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
    population = Population(**numbers, qualities=_parse_qualities(qualities))
    written = simulated_write(study_simulate(study, population, seed=seed), output)
    click.echo(f"wrote {len(written)} files into {output}", err=True)


def _parse_qualities(texts: Sequence[str]) -> Qualities:
    qualities = {}
    for text in texts:
        name, _, number = text.partition("=")
        system, _, scale = name.partition(":")
        try:
            quality = float(number)
            if not (system and 0 <= quality <= 1):
                raise ValueError
        except ValueError:
            raise UsageError(f'quality must be like C1=0.6 or C1:SIG=0.6, got "{text}"') from None
        qualities[system, scale] = quality
    return qualities


# --- Command group study -------------------------------------------------------------------------


MINUTES_OPTION = click.option(
    "--minutes", type=float, help="Find the clips for so many minutes a listener."
)


@click.group("study")
def study_command() -> None:
    """Plan a study with listeners, and take part in it."""


@study_command.command("new")
@click.option(
    "--protocol", type=click.Choice(list(KINDS)), default="p835", show_default=True, help="Kind."
)
def new(protocol: str) -> None:
    """Write a commented study file to standard output.

    \b
    earwitness study new --protocol p835 > study.yaml
    """
    sys.stdout.write(starting_file(protocol))


@study_command.command("check")
@STUDY_ARGUMENT
@MINUTES_OPTION
@click.option("--to", type=click.Choice(["text", "html"]), default="text", help="Form.")
def check(study: Path, minutes: float | None, to: str) -> None:
    """Print the plan of STUDY, the minutes of a listener, and the proof of balance."""
    plan = _read_plan(study, minutes)
    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(study_render(study_design(plan), to, width=width))


def _read_plan(study: Path, minutes: float | None) -> Study:
    plan = read_study(study, practice=minutes is None)
    return plan if minutes is None else _fit_minutes(plan, minutes)


def _fit_minutes(plan: Study, minutes: float) -> Study:
    """With as many clips in the first block as fit into so many minutes."""
    first, *others = plan.blocks
    if not 0 < minutes < 1e6:
        raise UsageError(f"minutes must be a number above 0, got {minutes:g}")
    if plan.plans:
        raise UsageError("rows say what is heard — leave out --minutes")
    available_clips = min(
        len(plan.material) // plan.panels, len(plan.material) - _count_reserved_clips(plan)
    )
    clips = min(fitting_clips := max_clips(plan, minutes), available_clips)
    if fitting_clips > available_clips:
        message = (
            f"{fitting_clips} clips would fit, the material has {available_clips} for a listener"
        )
        click.echo(f"note: {message}", err=True)
    if clips < first.sessions:
        raise UsageError(f"{minutes:g} minutes: too short for {first.sessions} sessions")
    return with_digest(replace(plan, blocks=(replace(first, clips=clips), *others)))


def _count_reserved_clips(plan: Study) -> int:
    """Clips that the first block leaves to others and to practice."""
    if not plan.training:
        return 0
    first, *others = plan.blocks
    each = block_kind(first).load(first.heard).trials
    return -(-plan.training // each) + sum(block.clips for block in others)


@study_command.command("design")
@STUDY_ARGUMENT
@click.option("-o", "--output", type=FILE_PATH, required=True, help="A new folder.")
@MINUTES_OPTION
def design(study: Path, output: Path, minutes: float | None) -> None:
    """Write what every listener of STUDY hears, and the proof of balance, into a new folder."""
    written = study_write(study_design(_read_plan(study, minutes)), output)
    click.echo(f"wrote {len(written)} files into {output}", err=True)


@study_command.command("take")
@STUDY_ARGUMENT
@click.option("--listener", type=int, required=True, help="Whose trials; the first is 1.")
@click.option(
    "-o", "--output", type=FILE_PATH, required=True, help="A file that answers are added to."
)
@click.option(
    "--player", "player_command", default="", help="A command that plays a file, such as aplay."
)
def take(study: Path, listener: int, output: Path, player_command: str) -> None:
    """Take part in STUDY in this terminal.

    Answers are JSON lines, each on disk before the next page; run it again to go on where one
    stopped.
    """
    audio_player, plan = parse_player(player_command), read_study(study)
    words = wording(plan.language, plan.wordings)
    terminal = Terminal(words, audio_player, study.parent)
    try:
        with warnings_as_notes():
            _run_pages(plan, listener, output, terminal)
    except (KeyboardInterrupt, click.Abort, Termination) as stop:
        click.echo("\n" + words.page("stopped", count=terminal.answered), err=True)
        raise click.exceptions.Exit(143 if isinstance(stop, Termination) else 130) from None
    click.echo(words.page("answered", count=terminal.answered), err=True)


def _run_pages(plan: Study, listener: int, output: Path, terminal: Terminal) -> None:
    if not terminal.player.command:
        click.echo(terminal.words.page("silence"), err=True)
    study_take(
        plan,
        listener,
        output,
        respond=terminal,
        addresses=lambda listener_plan: Addresses(listener_plan, terminal.files),
        refused=terminal.refused,
        stored=terminal.stored,
        meanwhile=terminal.meanwhile,
    )


@study_command.command("anchors")
@STUDY_ARGUMENT
def anchors(study: Path) -> None:
    """Make the low-pass anchors of a MUSHRA study of its references, where they are not there."""
    with progress_bar(unit="files") as progress:
        written = study_anchors(study, progress=progress)
    click.echo(f"wrote {len(written)} files", err=True)


@study_command.command("import")
@click.argument("config", type=FILE_PATH)
@click.option("-o", "--output", type=FILE_PATH, required=True, help="A new folder.")
@click.option("--root", type=FILE_PATH, help="The folder that paths of CONFIG start from.")
@click.option("--listeners", type=click.IntRange(1), default=20, show_default=True, help="Planned.")
def import_(config: Path, output: Path, root: Path | None, listeners: int) -> None:
    """Write the trials of CONFIG, a YAML file of webMUSHRA, as a study into a new folder."""
    for note in study_import(config, output, root=root, listeners=listeners):
        click.echo(f"note: {note}", err=True)
    click.echo(f"wrote {output}", err=True)


@study_command.command("ratings")
@STUDY_ARGUMENT
@click.argument("answers", type=FILE_PATH)
@click.option("--to", type=click.Choice(["jsonl", "csv"]), default="jsonl", help="Form.")
def ratings(study: Path, answers: Path, to: str) -> None:
    """Print the ratings that follow from ANSWERS to STUDY, a line each."""
    if not answers.exists():
        raise UsageError(f"{answers}: there is no such file")
    with warnings_as_notes():
        records = rating_records(study_ratings(study, answers))
    if to == "jsonl":
        sys.stdout.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    elif records:
        writer = csv.DictWriter(sys.stdout, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


study_command.add_command(export_xlsx)
study_command.add_command(import_xlsx)
study_command.add_command(links)
study_command.add_command(status)
study_command.add_command(export)
study_command.add_command(analyse)
study_command.add_command(simulate)
study_command.add_command(power)
