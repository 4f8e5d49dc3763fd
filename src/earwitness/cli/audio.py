"""The commands audio clips, select, normalize and conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from earwitness.audio.conditions import MNRU_BANDS_HZ
from earwitness.cli.main import SubcommandGroup
from earwitness.cli.output import (
    FILE,
    FILE_PATH,
    JOBS_OPTION,
    NEW_FOLDER_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SEED_OPTION,
    SOUND_UNIT,
    Integer,
    check_results,
    check_seed,
    choice_option,
    list_option,
    option,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    skip_option,
    warnings_as_notes,
)
from earwitness.engines.local import choose_jobs
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile
from earwitness.material.candidates import ClipRule
from earwitness.material.clips import GUARD_SECONDS, REVIEW_FILE, audio_clips, clips_report
from earwitness.material.reference_conditions import (
    CONDITION_KINDS,
    DEFAULT_QS_DB,
    audio_conditions,
    conditions_report,
)
from earwitness.material.selection import (
    SHARES,
    UNREVIEWED_CHOICES,
    audio_select,
    selection_report,
)
from earwitness.report.text import render_text


@click.group("audio", cls=SubcommandGroup)
def audio_command() -> None:
    """Prepare the audio files of a listening test.

    \b
    earwitness audio clips recordings -o clips
    earwitness audio normalize clips/audio -o normalized
    """


# --- Command audio clips -------------------------------------------------------------------------


DEFAULT_RULE = ClipRule()


class ColumnList(click.ParamType[tuple[str, ...]]):
    """Names of columns, separated by commas."""

    name = "name,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        del param, ctx
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(",") if name.strip())


@audio_command.command("clips")
@RECORDINGS_ARGUMENT
@NEW_FOLDER_OPTION
@list_option(
    "--annotation",
    type=FILE_PATH,
    help="File or folder with the times of speech (repeatable): CHiME JSON, RTTM, CTM, TextGrid, "
    "SRT, WebVTT, or CSV with recording, start and end.  [default: speech is detected]",
)
@option(
    "--detector",
    metavar="NAME|FILE",
    help="Speech detector: webrtc, or a Silero ONNX file. Default: the file of silero-vad if that "
    "package and onnxruntime are installed, else webrtc.",
)
@option(
    "--threshold",
    default=0.5,
    help="Probability of speech from which the detector starts a passage.",
)
@option(
    "--guard",
    default=GUARD_SECONDS,
    help="Time around detected speech, in addition to --margin, that detectors may miss.",
)
@option("--min-seconds", default=DEFAULT_RULE.min_seconds, help="Shortest duration of a clip.")
@option("--max-seconds", default=DEFAULT_RULE.max_seconds, help="Longest duration of a clip.")
@option(
    "--min-speech",
    default=DEFAULT_RULE.min_speech,
    help="Least duration of speech in a clip, in seconds.",
)
@option(
    "--margin",
    default=DEFAULT_RULE.margin,
    help="Time without speech at both ends of a clip, in seconds.",
)
@option(
    "--gap",
    default=DEFAULT_RULE.gap,
    help="Least time between two clips of a recording, in seconds.",
)
@option(
    "--max-per-recording",
    type=Integer(1),
    help="Largest number of clips per recording, spread evenly.  [default: all]",
)
@option(
    "--fields",
    metavar="PATTERN",
    help="Pattern of file names that gives covariates, such as {session}_{location}.",
)
@option("--covariates", type=FILE, help="CSV file of covariates, with a column recording.")
@option(
    "--speakers",
    type=FILE,
    help="CSV file of covariates of annotated speakers, with a column speaker.",
)
@option(
    "--count", type=Integer(1), help="Number of clips to select from those found.  [default: all]"
)
@option(
    "--balance",
    type=ColumnList(),
    default=(),
    help="Categorical columns in which the selection is balanced, separated by commas.",
)
@option(
    "--numbers",
    type=ColumnList(),
    default=(),
    help="Numeric columns whose means the selection keeps, such as snr.",
)
@skip_option("Recordings")
@JOBS_OPTION
@SEED_OPTION
@QUIET_OPTION
def clips_command(
    recordings: tuple[Path, ...],
    output: Path,
    annotation: tuple[Path, ...],
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Cut clips for a listening test out of long recordings.

    RECORDING is an audio file or a folder. A clip lasts 4 to 5 s and contains at least 3 s of
    speech, with 0.25 s without speech at both ends. The new folder has the clips (audio), the clip
    table of a study (clips.csv), and a page on which you listen to the clips and decide which ones
    to keep (review.html).

    \b
    earwitness audio clips recordings -o clips --fields "{session}_{location}"
    earwitness audio clips chime5/eval --annotation transcripts -o clips --speakers speakers.csv
    """
    with (
        warnings_as_notes(),
        progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress,
    ):
        run = audio_clips(
            recordings,
            output,
            annotation=annotation or None,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
            **options,
        )
    click.echo(render_text(clips_report(run)).rstrip("\n"))
    print_notes(run.skipped, "skipped")
    print_message(f"wrote {len(run.clips):,} clips into {output}")
    print_message(f"open {output / REVIEW_FILE} to review them")


# --- Command audio select ------------------------------------------------------------------------


@audio_command.command("select")
@click.argument("table", type=FILE_PATH, metavar="CLIPS.CSV")
@output_option("Clip table to write (CSV).", required=True)
@option("--review", type=FILE, help="Decisions exported from the review page (review.csv).")
@choice_option(
    "--unreviewed", choices=UNREVIEWED_CHOICES, help="Clips without a decision: fail, keep or drop."
)
@option("--count", type=Integer(1), help="Number of clips to select.  [default: all that are kept]")
@option(
    "--balance",
    type=ColumnList(),
    default=(),
    help="Categorical columns to balance, separated by commas.",
)
@option(
    "--numbers",
    type=ColumnList(),
    default=(),
    help="Numeric columns whose means the selection keeps, such as snr.",
)
@option(
    "--panels",
    type=Integer(1),
    default=1,
    help="Number of equivalent panels into which the selection can be divided.",
)
@choice_option(
    "--shares",
    choices=SHARES,
    help="Categories: proportional to the clips that are kept, or as equal as possible.",
)
@SEED_OPTION
def select_command(table: Path, output: Path, review: Path | None, **options: Any) -> None:
    """Select reviewed clips, balanced over covariates.

    Clips that the review dropped are left out. With --count, the other clips are selected so that
    the categories of --balance have the same proportions as before.

    \b
    earwitness audio select clips/clips.csv --review review.csv -o selected.csv
    earwitness audio select clips/clips.csv --review review.csv --count 128 --panels 4 \\
      --balance session,location,sex --numbers snr -o selected.csv
    """
    target = AtomicFile(output)
    check_results([table, review], [output])
    selected = audio_select(table, review=review, **options)
    with target as file:
        file.write(selected.text)
    click.echo(render_text(selection_report(selected)).rstrip("\n"))
    print_message(f"wrote {len(selected.rows):,} clips to {output}")


# --- Command audio normalize ---------------------------------------------------------------------


@audio_command.command("normalize")
@click.argument("source", type=FILE_PATH)
@NEW_FOLDER_OPTION
@option(
    "--target",
    type=float,
    default=-30.0,
    metavar="LEVEL",
    help="Level in LUFS, or in dBov for --measure active.",
)
@choice_option(
    "--measure",
    choices=["lufs", "active"],
    help="Integrated loudness (BS.1770-4), or active speech level (P.56).",
)
@option(
    "--peak",
    type=float,
    default=-1.0,
    metavar="DBTP",
    help="Largest true peak; all conditions of a clip that would exceed it are reduced equally.",
)
@option("--rate", type=int, metavar="HZ", help="Sample rate.  [default: as the source]")
@choice_option(
    "--channels",
    choices=["keep", "mono", "stereo"],
    help="mono: mean of the channels; stereo: mono files in both channels.",
)
@choice_option(
    "--length",
    choices=["keep", "pad", "trim"],
    help="Conditions of different lengths: pad with silence to the longest, or trim to the "
    "shortest, both at the end.",
)
@option(
    "--tolerance",
    type=float,
    default=0.1,
    metavar="SECONDS",
    help="Largest difference in length between conditions of a clip; a larger one is an error.",
)
@choice_option("--bits", choices=["16", "24", "float"], help="Bits per sample.")
@option(
    "--files",
    metavar="PATTERN",
    help='Paths in SOURCE, such as "{item}/{system}.wav".  '
    "[default: one subfolder per condition, or no subfolders]",
)
@list_option("--system", "systems", metavar="NAME", help="Condition to use (repeatable).")
@option(
    "--rename",
    metavar="PATTERN",
    help='Names in the output, such as "{item}_{system}" or "{system}/{number:03}".  '
    "[default: as in SOURCE]",
)
@skip_option("Clips")
@JOBS_OPTION
@QUIET_OPTION
def normalize_command(
    source: Path,
    output: Path,
    bits: str,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Bring audio files to the same loudness, without clipping.

    SOURCE is a folder with one subfolder per condition and the same file names in each, a folder of
    audio files, or an audio file; it is not changed. Every file gets the gain that brings it to the
    target. If a condition of a clip would exceed the true-peak limit, all conditions of this clip
    are reduced by the same amount. The new folder has WAV files, and levels.csv with gain, level,
    true peak and SHA-256 of every file.

    \b
    earwitness audio normalize data -o normalized
    earwitness audio normalize data -o normalized --rate 16000 --channels mono --length pad
    earwitness audio normalize data -o normalized --measure active --target -26
    """
    from earwitness.material.normalize import REPORT_FILE, audio_normalize

    depth: dict[str, Literal[16, 24, "float"]] = {"16": 16, "24": 24, "float": "float"}
    with progress_bar(quiet=quiet, unit="files") as progress:
        material = audio_normalize(
            source,
            output,
            bits=depth[bits],
            jobs=choose_jobs(jobs, source),
            progress=progress,
            **options,
        )
    for line in material.summary():
        click.echo(line)
    print_notes(material.notes)
    print_notes(material.skipped, "skipped")
    print_message(f"wrote {len(material.files):,} files and {REPORT_FILE} into {output}")


# --- Command audio conditions --------------------------------------------------------------------


@audio_command.command("conditions")
@click.argument("clips", nargs=-1, type=FILE_PATH, metavar="[CLIPS]...")
@option(
    "--kind",
    choices=CONDITION_KINDS,
    default="p835",
    help="Conditions to create: the twelve of P.835, low-pass anchors of MUSHRA, or MNRU.",
)
@list_option(
    "--talker",
    "talkers",
    metavar="NAME=FILE",
    help="Clip of a talker, such as f1=anna.wav (repeatable), instead of CLIPS.",
)
@option(
    "--noise",
    type=FILE,
    help="Noise of P.835.  [default: noise with the mean spectrum of the clips]",
)
@option(
    "--q",
    default=",".join(f"{q:g}" for q in DEFAULT_QS_DB),
    metavar="LIST",
    help="Values of Q of MNRU, in dB, separated by commas.",
)
@option(
    "--band",
    choices=MNRU_BANDS_HZ,
    default="full",
    help="Band of MNRU: 100–3400 Hz (narrow), 100–7000 Hz (wide), or all frequencies.",
)
@option("--seed", default=1, callback=check_seed, help="Random seed.")
@JOBS_OPTION
@NEW_FOLDER_OPTION
@QUIET_OPTION
def conditions_command(
    clips: tuple[Path, ...],
    talkers: tuple[str, ...],
    q: str,
    output: Path,
    jobs: int | None,
    quiet: bool,
    **options: Any,
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
    if bool(clips) == bool(talkers):
        raise UsageError("give either audio files or --talker NAME=FILE")
    with progress_bar(quiet=quiet, unit="clips") as progress:
        made = audio_conditions(
            _talker_files(talkers) if talkers else clips,
            output,
            q=_parse_qs(q),
            jobs=choose_jobs(jobs, *clips),
            progress=progress,
            **options,
        )
    click.echo(render_text(conditions_report(made)).rstrip())
    print_notes(made.notes)
    print_message(f"wrote {len(made.files)} files into {output}")


def _talker_files(talkers: tuple[str, ...]) -> dict[str, Path]:
    """Return the file of each talker."""
    files: dict[str, Path] = {}
    for talker in talkers:
        name, equals, file = talker.partition("=")
        if not (name and equals and file):
            raise UsageError(f'--talker must be NAME=FILE, got "{talker}"')
        if name in files:
            raise UsageError(f'--talker "{name}" is given twice')
        files[name] = Path(file)
    return files


def _parse_qs(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f'--q must be numbers separated by commas, got "{text}"') from None
