"""The command study plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import (
    FILE,
    FOLDER,
    HOUR_GAP_OPTION,
    JOBS_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SEED_OPTION,
    SOUND_UNIT,
    Integer,
    cache_option,
    clock_options,
    flag_option,
    list_option,
    option,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.skim import ZList
from earwitness.engines.local import choose_jobs
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
@RECORDINGS_ARGUMENT
@output_option("Folder of the study.", required=True, type=FOLDER)
@list_option(
    "--method",
    "methods",
    choices=[name for name in METHODS if name != MANUAL_METHOD],
    help=f"Method that picks blocks (repeatable).  [default: {', '.join(PLANE_METHODS)}]",
)
@option(
    "--z",
    "zs",
    type=ZList(),
    default=",".join(f"{z:g}" for z in PLANE_ZS),
    help="Values of z, from 0 (follow the course of the day) to 1 (cover all kinds of sound).",
)
@option(
    "--practice",
    type=FOLDER,
    help="Practice folder: of earwitness soundscape, or with a recording and skims.  "
    "[default: a new one in the study's folder]",
)
@flag_option("--no-practice", help="Make a study without examples and practice.")
@option(
    "--table",
    type=FILE,
    help="Table of skims in folders: folder, file or number, system (or method and z); for "
    "practice also tc, sd and reason.",
)
@flag_option(
    "--retest", help="Let each expert evaluate one of the recordings again, in a last session."
)
@option("--listeners", type=Integer(1), default=8, help="Planned number of experts.")
@option("--language", choices=LANGUAGES, default="en", help="Language.")
@option("--length", type=float, help="Length of each skim in seconds.  [default: 63]")
@option("--block", default=8.0, help="Length of a block in seconds.")
@option(
    "--period",
    default=3600.0,
    help="Length in seconds of the periods that the day is divided into.",
)
@option(
    "--embedder",
    default=DEFAULT_EMBEDDER,
    metavar="NAME|PATH",
    help="Embedder: codebook, log-mel, a YAMNet .tflite file, or a Hugging Face model folder.",
)
@clock_options
@HOUR_GAP_OPTION
@option(
    "--speech",
    choices=SPEECH_OF_SKIMS,
    default="keep",
    help="Speech: keep it; play it backwards; or mute it in recordings and avoid it in skims.",
)
@cache_option("cached features")
@JOBS_OPTION
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
    with warnings_as_notes(), progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress:
        notes = study_plane(
            recordings,
            output,
            methods=methods or PLANE_METHODS,
            practice=not no_practice if practice is None else practice,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
            **options,
        )
    print_notes(notes)
    print_message(f"wrote {output / 'study.yaml'}; next: earwitness study check, then serve")
