"""The commands audio clips, select, normalize and conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import SubcommandGroup
from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    FILE_PATH,
    JOBS_OPTION,
    NEW_FOLDER_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SOUND_UNIT,
    check_results,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.engines.local import choose_jobs
from earwitness.io.atomic import AtomicFile
from earwitness.material.clips import REVIEW_FILE, ClipSettings, audio_clips, clips_report
from earwitness.material.normalize import REPORT_FILE, LevelSettings, audio_normalize
from earwitness.material.reference_conditions import audio_conditions, conditions_report
from earwitness.material.selection import audio_select, selection_report
from earwitness.report.text import render_text


@click.group("audio", cls=SubcommandGroup)
def audio_command() -> None:
    """Prepare the audio files of a listening test.

    \b
    earwitness audio clips recordings -o clips
    earwitness audio normalize clips/audio -o normalized
    """


# --- Command audio clips -------------------------------------------------------------------------


@audio_command.command("clips")
@RECORDINGS_ARGUMENT
@NEW_FOLDER_OPTION
@signature_options(ClipSettings, "gap", "guard", "max_per_recording", "min_speech", "threshold")
@JOBS_OPTION
@QUIET_OPTION
def clips_command(
    recordings: tuple[Path, ...],
    output: Path,
    jobs: int | None,
    **options: Any,
) -> None:
    """Cut clips for a listening test out of long recordings.

    RECORDING is an audio file or a folder. A clip lasts 4 to 5 s and contains at least 3 s of
    speech, with 0.25 s without speech at both ends. The new folder has the clips (audio), the clip
    table of a study (clips.csv), and a page on which you listen to the clips and decide which ones
    to keep (review.html).

    \b
    earwitness audio clips recordings -o clips --pattern "{session}_{location}"
    earwitness audio clips chime5/eval --annotation transcripts -o clips --covariate speakers.csv
    """
    with warnings_as_notes(), progress_bar(unit=SOUND_UNIT) as progress:
        run = audio_clips(
            recordings,
            output,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
            **drop_unset(options),
        )
    click.echo(render_text(clips_report(run)).rstrip("\n"))
    print_notes(run.skipped, "skipped")
    print_message(f"wrote {len(run.clips):,} clips into {output}")
    print_message(f"open {output / REVIEW_FILE} to review them")


# --- Command audio select ------------------------------------------------------------------------


@audio_command.command("select")
@click.argument("table", type=FILE_PATH, metavar="CLIPS.CSV")
@output_option("Clip table to write (CSV).", required=True)
@signature_options(audio_select, "shares")
def select_command(table: Path, output: Path, **options: Any) -> None:
    """Select reviewed clips, balanced over covariates.

    Clips that the review dropped are left out. With --count, the other clips are selected so that
    the categories of --balance have the same proportions as before.

    \b
    earwitness audio select clips/clips.csv --review review.csv -o selected.csv
    earwitness audio select clips/clips.csv --review review.csv --count 128 --panels 4 \\
      --balance session --balance location --balance sex --number snr -o selected.csv
    """
    target = AtomicFile(output)
    check_results([table, options["review"]], [output])
    selected = audio_select(table, **drop_unset(options))
    with target as file:
        file.write(selected.text)
    click.echo(render_text(selection_report(selected)).rstrip("\n"))
    print_message(f"wrote {len(selected.rows):,} clips to {output}")


# --- Command audio normalize ---------------------------------------------------------------------


@audio_command.command("normalize")
@click.argument("source", type=FILE_PATH)
@NEW_FOLDER_OPTION
@signature_options(LevelSettings)
@signature_options(audio_normalize)
@JOBS_OPTION
@QUIET_OPTION
def normalize_command(source: Path, output: Path, jobs: int | None, **options: Any) -> None:
    """Bring audio files to the same loudness, without clipping.

    SOURCE is a folder with one subfolder per condition and the same file names in each, a folder of
    audio files, or an audio file; it is not changed. Every file gets the gain that brings it to the
    target. If a condition of a clip would exceed the true-peak limit, all conditions of this clip
    are reduced by the same amount. The new folder has WAV files, and levels.csv with gain, level,
    true peak and SHA-256 of every file.

    \b
    earwitness audio normalize data -o normalized
    earwitness audio normalize data -o normalized --rate 16000 --channels mono --fit pad
    earwitness audio normalize data -o normalized --measure active --target -26
    """
    with progress_bar(unit="files") as progress:
        jobs = choose_jobs(jobs, source)
        material = audio_normalize(
            source, output, jobs=jobs, progress=progress, **drop_unset(options)
        )
    for line in material.summary():
        click.echo(line)
    print_notes(material.notes)
    print_notes(material.skipped, "skipped")
    print_message(f"wrote {len(material.files):,} files and {REPORT_FILE} into {output}")


# --- Command audio conditions --------------------------------------------------------------------


@audio_command.command("conditions")
@click.argument("clips", nargs=-1, required=True, type=FILE_PATH)
@signature_options(audio_conditions, "band")
@JOBS_OPTION
@NEW_FOLDER_OPTION
@QUIET_OPTION
def conditions_command(
    clips: tuple[Path, ...], output: Path, jobs: int | None, **options: Any
) -> None:
    """Create reference conditions from clean clips.

    CLIPS are audio files or folders. For P.835, the name of a file is the name of its talker, and
    twelve conditions are written for each: clean speech, noise at four levels, four degrees of
    noise-suppression distortion, and three combinations. The table conditions.csv has the measured
    values of each file.

    \b
    earwitness audio conditions f1.wav f2.wav m1.wav m2.wav -o conditions
    earwitness audio conditions --kind mushra references -o anchors
    earwitness audio conditions --kind mnru --q 10,20,30 clips -o mnru
    """
    with progress_bar(unit="clips") as progress:
        jobs = choose_jobs(jobs, *clips)
        made = audio_conditions(clips, output, jobs=jobs, progress=progress, **drop_unset(options))
    click.echo(render_text(conditions_report(made)).rstrip())
    print_notes(made.notes)
    print_message(f"wrote {len(made.files)} files into {output}")
