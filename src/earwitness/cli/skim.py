"""The commands skim and soundscape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from earwitness.audio.encode import BIT_DEPTHS
from earwitness.cli.output import (
    FILE,
    FILE_PATH,
    FOLDER,
    HOUR_GAP_OPTION,
    JOBS_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SEED_OPTION,
    SHOWN_OPTION,
    SOUND_UNIT,
    Integer,
    cache_option,
    check_seed,
    choice_option,
    clock_options,
    flag_option,
    list_option,
    note_on_interruption,
    option,
    output_option,
    print_message,
    progress_bar,
    skip_option,
    warnings_as_notes,
)
from earwitness.engines.local import choose_jobs
from earwitness.errors import UsageError
from earwitness.report.text import render_text
from earwitness.skims.files import REPORT_FILE
from earwitness.skims.options import ENDINGS, EXTRAS, METHODS, SPEECH_CHOICES, SkimOptions
from earwitness.skims.report import skimming_report
from earwitness.skims.run import OnRecordingError, skim
from earwitness.skims.types import SkimRun
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.timetable import PRESET_FOLDER, TIMETABLE_PRESETS
from earwitness.soundscapes.write import SOUND_FORMATS, practice_write, soundscape, soundscape_write

# --- Command skim --------------------------------------------------------------------------------


DEFAULT_OPTIONS = SkimOptions()
INTERRUPTED_NOTE = "finished skims and hours already read are kept — run it again to resume"


class ZList(click.ParamType[tuple[float, ...]]):
    """Numbers from 0 to 1, separated by commas."""

    name = "float,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(float(text) for text in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a number or a list such as 0,0.5,1", param, ctx)
        if not all(0 <= one <= 1 for one in numbers):
            self.fail(f"{value!r}: z must be between 0 and 1", param, ctx)
        return numbers


@click.command("skim")
@RECORDINGS_ARGUMENT
@output_option(
    f"Audio file of the skim ({', '.join(ENDINGS)}), or a folder for several skims.",
    required=True,
    type=FILE_PATH,
)
@option(
    "--z",
    "zs",
    type=ZList(),
    default="0.5",
    help="Balance from 0 (follow the course of the day) to 1 (cover all kinds of sound).",
)
@list_option(
    "--method",
    "methods",
    choices=METHODS,
    help="Method that picks blocks (repeatable).  [default: pareto]",
)
@option("--times", type=FILE, help="CSV file with a column start, for the method manual.")
@option("--length", type=float, help="Length of the skim in seconds, instead of --picks.")
@option(
    "--picks", type=Integer(1), help=f"Number of blocks.  [default: {DEFAULT_OPTIONS.plan.picks}]"
)
@option("--block", default=DEFAULT_OPTIONS.plan.block, help="Block length in seconds.")
@option("--overlap", default=DEFAULT_OPTIONS.plan.overlap, help="Length of cross-fades in seconds.")
@option(
    "--period",
    default=DEFAULT_OPTIONS.plan.period,
    help="Length in seconds of the periods that the day is divided into.",
)
@option(
    "--embedder",
    default=DEFAULT_OPTIONS.embedder,
    metavar="NAME|PATH",
    help="Embedder: codebook, log-mel, a YAMNet .tflite file, or a Hugging Face model folder.",
)
@clock_options
@SHOWN_OPTION
@HOUR_GAP_OPTION
@flag_option("--by-day", help="Make one skim per day, divided at midnight.")
@option(
    "--speech",
    choices=SPEECH_CHOICES,
    default=DEFAULT_OPTIONS.speech,
    help="Blocks with speech: keep, avoid, or play backwards (reverse).",
)
@option(
    "--speech-model",
    type=FILE,
    help="Speech detector: a Silero ONNX file, or cues. Default: the file of silero-vad if that "
    "package and onnxruntime are installed, else the classes of YAMNet as the embedder, else cues.",
)
@flag_option("--sparse", help="Analyse only 2 s of every 8 s, which is faster.")
@choice_option("--ending", choices=ENDINGS, help="File format of skims in a folder.")
@option(
    "--bits",
    default=str(DEFAULT_OPTIONS.bits),
    choices=[str(bits) for bits in BIT_DEPTHS],
    help="Bits per sample of FLAC and WAV files.",
)
@flag_option(
    "--match-levels",
    help="Bring picks to their median level, by at most 12 dB and without clipping.",
)
@list_option("--without", choices=EXTRAS, help="Additional file not to write (repeatable).")
@cache_option("cached features")
@flag_option("--again", help="Recreate skims that already exist.")
@skip_option("Recordings and files")
@JOBS_OPTION
@SEED_OPTION
@QUIET_OPTION
def skim_command(
    recordings: tuple[Path, ...],
    output: Path,
    on_error: OnRecordingError,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Condense a day-long recording into about a minute.

    RECORDING is an audio file, or a folder of consecutive files; each RECORDING gets its own skim.
    Next to the audio file, the command writes the list of picks (JSON, CSV, Audacity labels, Raven
    table), a picture, and a web page that plays the skim.

    \b
    earwitness skim day.flac -o skim.flac --z 0.5
    earwitness skim site1/ site2/ -o skims/ --by-day --z 0,0.5,1 --zone Europe/Paris
    earwitness skim cards/* -o skims/ --on-error skip --jobs 4
    """
    skim_options = SkimOptions.of(**options | {"bits": int(options["bits"])})
    with (
        warnings_as_notes(),
        note_on_interruption(INTERRUPTED_NOTE),
        progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress,
    ):
        run = skim(
            recordings,
            output,
            skim_options,
            on_error=on_error,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
        )
    click.echo(render_text(skimming_report(run)), nl=False)
    notes = (f"note: {note}" for note in run.notes)
    for line in (*notes, *_written_lines(run, output), *_skipped_lines(run)):
        print_message(line)


def _skipped_lines(run: SkimRun) -> Iterator[str]:
    """Yield the problems of what was skipped, and their number."""
    yield from (f"skipped: {problem}" for problem in run.skipped)
    if run.skipped:
        count = len(run.skipped)
        yield f"{count:,} problem{'s' * (count != 1)}; all other recordings and files were used"


def _written_lines(run: SkimRun, output: Path) -> Iterator[str]:
    """Yield the names of the files written for one skim, or a summary for several."""
    if run.kept:
        kept = "1 skim" if len(run.kept) == 1 else f"{len(run.kept):,} skims"
        verb = "exists" if len(run.kept) == 1 else "exist"
        yield f"note: {kept} with the same settings already {verb} — use --again to recreate"
    if not output.is_dir():
        yield from (f"wrote {path}" for path in run.written)
        return
    written = [path for path in run.written if Path(path).name != REPORT_FILE]
    *skim_files, outputs, recordings = written
    if skim_files:
        skims = "1 skim" if len(skim_files) == 1 else f"{len(skim_files):,} skims"
        yield f"wrote {skims} into {output}, with audio, picks and further files"
    yield f"wrote {outputs} and {recordings}, for earwitness score"
    yield from (f"wrote {path}, a report on all skims" for path in run.written[len(written) :])


# --- Command soundscape --------------------------------------------------------------------------


@click.command("soundscape")
@click.argument("timetable", default=TIMETABLE_PRESETS[0])
@output_option(f"Audio file ({', '.join(SOUND_FORMATS)}).")
@option(
    "--practice",
    type=FOLDER,
    help="Folder to create with a day and seven example skims for raters.",
)
@flag_option("--show", help="Print a preset, as a start for your own timetable.")
@option(
    "--seed", type=int, callback=check_seed, help="Random seed.  [default: seed of the timetable]"
)
@option("--hours", default=24, help="Length in hours, from midnight.")
@option("--rate", default=32_000, help="Sampling rate in Hz.")
@option("--clips", type=FOLDER, help="Folder with your own sounds, one subfolder per source.")
@option("--hour-gap", default=0.0, help="Length of silences between hours, in seconds.")
@QUIET_OPTION
def soundscape_command(
    timetable: str,
    output: Path | None,
    practice: Path | None,
    show: bool,
    hour_gap: float,
    quiet: bool,
    **scene_options: Any,
) -> None:
    """Synthesize a day-long recording with known sources.

    TIMETABLE is a YAML file, or a preset: village (default), city or forest. Next to the audio
    file, the command writes labels (start and end of every sound) and the true content of each
    hour.

    \b
    earwitness soundscape village -o day.flac
    earwitness soundscape village --show > timetable.yaml
    """
    if show:
        _print_preset(timetable)
        return
    if (output is None) == (practice is None):
        raise UsageError("no output — set either --output FILE or --practice FOLDER")
    with warnings_as_notes():
        scene = soundscape(timetable, **scene_options)
    with progress_bar(quiet=quiet, unit="s") as progress:
        if output is not None:
            written = soundscape_write(scene, output, hour_gap=hour_gap, progress=progress)
            message = f"wrote {', '.join(map(str, written))}"
        else:
            assert practice is not None
            practice_write(scene, practice, progress=progress)
            message = f"wrote a day and seven skims into {practice}; reasons.md explains them"
    print_message(_scene_summary(scene))
    print_message(message)


def _print_preset(name: str) -> None:
    if name not in TIMETABLE_PRESETS:
        raise UsageError(f"--show requires a preset: {', '.join(TIMETABLE_PRESETS)}")
    click.echo((PRESET_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), nl=False)


def _scene_summary(scene: Scene) -> str:
    sources = {event.source for event in scene.events}
    counts = ((len(scene.events), "event"), (len(sources), "source"))
    return f"{scene.name}: " + " of ".join(f"{n:,} {word}{'s' * (n != 1)}" for n, word in counts)
