"""The command study plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import (
    FILE_PATH,
    HOUR_GAP_OPTION,
    QUIET_OPTION,
    SEED_OPTION,
    SOUND_UNIT,
    cache_option,
    clock_options,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.skim import ZList
from earwitness.engines.local import count_cores, in_process, processes
from earwitness.errors import UsageError
from earwitness.models.embedders import DEFAULT_EMBEDDER
from earwitness.ratings.rubric import LANGUAGES
from earwitness.skims.options import MANUAL_METHOD, METHODS
from earwitness.studies.plane_study import (
    PLANE_METHODS,
    PLANE_ZS,
    SPEECH_OF_SKIMS,
    study_plane,
)


@click.command("plane")
@click.argument("recordings", nargs=-1, required=True, type=FILE_PATH, metavar="RECORDING…")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE_PATH,
    metavar="FOLDER",
    help="Folder of the study.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice([name for name in METHODS if name != MANUAL_METHOD]),
    help=f"Method that picks blocks (repeatable).  [default: {', '.join(PLANE_METHODS)}]",
)
@click.option(
    "--z",
    "zs",
    type=ZList(),
    default=",".join(f"{z:g}" for z in PLANE_ZS),
    show_default=True,
    help="Values of z, from 0 (follow the course of the day) to 1 (cover all kinds of sound).",
)
@click.option(
    "--practice",
    type=FILE_PATH,
    metavar="FOLDER",
    help="Practice folder: of earwitness soundscape, or with a recording and skims.  "
    "[default: a new one in the study's folder]",
)
@click.option("--no-practice", is_flag=True, help="Make a study without examples and practice.")
@click.option(
    "--table",
    type=FILE_PATH,
    metavar="FILE",
    help="Table of skims in folders: folder, file or number, system (or method and z); for "
    "practice also tc, sd and reason.",
)
@click.option(
    "--retest",
    is_flag=True,
    help="Let each expert evaluate one of the recordings again, in a last session.",
)
@click.option(
    "--listeners",
    type=click.IntRange(1),
    metavar="INTEGER",
    default=8,
    show_default=True,
    help="Planned number of experts.",
)
@click.option(
    "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language."
)
@click.option("--length", type=float, help="Length of each skim in seconds.  [default: 63]")
@click.option("--block", default=8.0, show_default=True, help="Length of a block in seconds.")
@click.option(
    "--period",
    default=3600.0,
    show_default=True,
    help="Length in seconds of the periods that the day is divided into.",
)
@click.option(
    "--embedder",
    default=DEFAULT_EMBEDDER,
    show_default=True,
    metavar="NAME|PATH",
    help="Embedder: codebook, log-mel, a YAMNet .tflite file, or a Hugging Face model folder.",
)
@clock_options
@HOUR_GAP_OPTION
@click.option(
    "--speech",
    type=click.Choice(list(SPEECH_OF_SKIMS)),
    default="keep",
    show_default=True,
    help="Speech: keep it; play it backwards; or mute it in recordings and avoid it in skims.",
)
@cache_option("cached features")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of worker processes that read long recordings.  [default: number of cores]",
)
@SEED_OPTION
@QUIET_OPTION
def plane_command(
    recordings: tuple[Path, ...],
    output: Path,
    methods: tuple[str, ...],
    practice: Path | None,
    no_practice: bool,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Make a study in which experts place skims on the TC/SD plane.

    RECORDING is an audio file, or a folder of consecutive files; eight skims are made of each. If
    you have skims, RECORDING is a folder with a file named full-length and the skims, as files or
    as one file in which silences of at least 30 s separate them; or a folder of earwitness skim.

    \b
    earwitness study plane a.flac b.flac c.flac d.flac -o planes/
    earwitness study plane A/ B/ C/ D/ -o planes/ --practice X/
    """
    if no_practice and practice is not None:
        raise UsageError("--practice and --no-practice cannot be combined — use one of them")
    jobs = jobs or count_cores()
    with warnings_as_notes(), progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress:
        notes = study_plane(
            recordings,
            output,
            methods=methods or PLANE_METHODS,
            practice=not no_practice if practice is None else practice,
            map=in_process if jobs == 1 else processes(jobs),
            progress=progress,
            **options,
        )
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"wrote {output / 'study.yaml'}; next: earwitness study check, then serve", err=True)
