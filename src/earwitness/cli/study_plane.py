"""The command study plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    FOLDER,
    JOBS_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SOUND_UNIT,
    option,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.engines.local import choose_jobs
from earwitness.skims.options import SkimOptions
from earwitness.studies.plane_study import study_plane

CLOCK = ("start", "zone", "hour_gap")
SKIM_SETTINGS = ("length", "block", "period", "embedder", *CLOCK, "cache")


@click.command("plane")
@RECORDINGS_ARGUMENT
@output_option("Folder of the study.", required=True, type=FOLDER)
@signature_options(
    study_plane,
    "practice",
    "retest",
    "title",
    speech="Speech: keep it; play it backwards; or mute it in recordings and avoid it in skims.",
    skims="Table of skims in folders: folder, file or number, system (or method and z); for "
    "practice also tc, sd and reason.",
)
@option(
    "--practice",
    metavar="FOLDER|none",
    help="Practice folder: of earwitness soundscape, or with a recording and skims; none: a study "
    "without examples and practice.  [default: a new one in the study's folder]",
)
@signature_options(SkimOptions, only=SKIM_SETTINGS)
@JOBS_OPTION
@QUIET_OPTION
def plane_command(
    recordings: tuple[Path, ...],
    output: Path,
    practice: str | None,
    jobs: int | None,
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
    with warnings_as_notes(), progress_bar(unit=SOUND_UNIT) as progress:
        notes = study_plane(
            recordings,
            output,
            practice=True if practice is None else practice != "none" and practice,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
            **drop_unset(options),
        )
    print_notes(notes)
    print_message(f"wrote {output / 'study.yaml'}; next: earwitness study check, then serve")
