"""The commands skim and soundscape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import SOUND_UNIT, note_on_interruption, progress_bar, warnings_as_notes
from earwitness.errors import UsageError
from earwitness.report.text import render_text
from earwitness.skims.options import ENDINGS, EXTRAS, METHODS, SPEECH_CHOICES, SkimOptions
from earwitness.skims.report import skimming_report
from earwitness.skims.run import skim
from earwitness.skims.types import SkimRun
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.timetable import PRESET_FOLDER, TIMETABLE_PRESETS
from earwitness.soundscapes.write import SOUND_FORMATS, practice_write, soundscape, soundscape_write

FILE_PATH = click.Path(path_type=Path)


# --- Command skim --------------------------------------------------------------------------------


DEFAULT_OPTIONS = SkimOptions()
INTERRUPTED_NOTE = "skims that were made and hours that were read are kept — run it again to go on"


class ZList(click.ParamType[tuple[float, ...]]):
    """Numbers from 0 to 1, with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(float(text) for text in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no number, and no list such as 0,0.5,1", param, ctx)
        if not all(0 <= one <= 1 for one in numbers):
            self.fail(f"{value!r}: z lies between 0 (follow the day) and 1 (show all)", param, ctx)
        return numbers


@click.command("skim")
@click.argument("recordings", nargs=-1, required=True, type=FILE_PATH, metavar="RECORDING…")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE_PATH,
    help=f"The skim ({', '.join(ENDINGS)}), or a folder for several.",
)
@click.option(
    "--z",
    "zs",
    type=ZList(),
    default="0.5",
    show_default=True,
    help="From 0, follow the day, to 1, show all that occurs; several with commas.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(METHODS),
    help="How blocks are picked; may be given several times.  [default: pareto]",
)
@click.option("--times", type=FILE_PATH, help="Of the method manual: a CSV with a column start.")
@click.option("--length", type=float, help="Seconds of the skim, in place of --picks.")
@click.option(
    "--picks", type=click.IntRange(1), help=f"Blocks.  [default: {DEFAULT_OPTIONS.plan.picks}]"
)
@click.option(
    "--block", default=DEFAULT_OPTIONS.plan.block, show_default=True, help="Seconds of a block."
)
@click.option(
    "--overlap",
    default=DEFAULT_OPTIONS.plan.overlap,
    show_default=True,
    help="Seconds of a cross-fade.",
)
@click.option(
    "--period", default=DEFAULT_OPTIONS.plan.period, show_default=True, help="Seconds of a period."
)
@click.option(
    "--embedder",
    default=DEFAULT_OPTIONS.embedder,
    show_default=True,
    help="codebook, log-mel, a YAMNet .tflite file, or a folder with a Hugging Face model.",
)
@click.option("--start", help="When the first file began, whatever its name says (ISO 8601).")
@click.option("--zone", help="The zone of names and --start: Europe/Paris, UTC, +02:00.")
@click.option("--shown", help="The zone in which times are shown.  [default: that of --zone]")
@click.option(
    "--hour-gap", default=0.0, metavar="S", help="Silences of so many seconds that mark hours."
)
@click.option("--by-day", is_flag=True, help="A skim of every day, cut at midnight.")
@click.option(
    "--speech",
    type=click.Choice(SPEECH_CHOICES),
    default=DEFAULT_OPTIONS.speech,
    show_default=True,
    help="What becomes of blocks in which somebody speaks.",
)
@click.option(
    "--speech-model", type=FILE_PATH, help="Silero's ONNX file, in place of the detector inside."
)
@click.option("--sparse", is_flag=True, help="Look at 2 s of each 8 s only: faster.")
@click.option("--ending", default=ENDINGS[0], type=click.Choice(ENDINGS), show_default=True)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(EXTRAS),
    help="Do not write this beside the sound; may be given several times.",
)
@click.option("--cache", type=FILE_PATH, help="Folder for features.  [default: the user's cache]")
@click.option("--again", is_flag=True, help="Make skims that are there already anew.")
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def skim_command(recordings: tuple[Path, ...], output: Path, quiet: bool, **options: Any) -> None:
    """Make a minute that stands for a day.

    RECORDING is a file or a folder of consecutive files; each RECORDING gets its own skim. Beside
    the sound stand the picks (JSON, CSV, Audacity labels, Raven table), a picture and a page that
    plays it.

    \b
    earwitness skim day.flac -o skim.flac --z 0.5
    earwitness skim site1/ site2/ -o skims/ --by-day --z 0,0.5,1 --zone Europe/Paris
    """
    skim_options = SkimOptions.of(**options)
    with (
        warnings_as_notes(),
        note_on_interruption(INTERRUPTED_NOTE),
        progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress,
    ):
        run = skim(recordings, output, skim_options, progress=progress)
    click.echo(render_text(skimming_report(run)), nl=False)
    for line in (*(f"note: {note}" for note in run.notes), *_written_lines(run, output)):
        click.echo(line, err=True)


def _written_lines(run: SkimRun, output: Path) -> Iterator[str]:
    """What was written: file by file for one skim, in short for many."""
    if run.kept:
        kept = "1 skim is" if len(run.kept) == 1 else f"{len(run.kept):,} skims are"
        yield f"note: {kept} there already, made in the same way — --again makes skims anew"
    if not output.is_dir():
        yield from (f"wrote {path}" for path in run.written)
        return
    *skim_files, outputs, recordings = run.written
    if skim_files:
        skims = "1 skim" if len(skim_files) == 1 else f"{len(skim_files):,} skims"
        each = "each " * (len(skim_files) > 1)
        yield f"wrote {skims} into {output}, {each}with its sound, picks and more beside it"
    yield f"wrote {outputs} and {recordings}, which earwitness score reads"


# --- Command soundscape --------------------------------------------------------------------------


@click.command("soundscape")
@click.argument("timetable", default=TIMETABLE_PRESETS[0])
@click.option("-o", "--output", type=FILE_PATH, help=f"The sound: {', '.join(SOUND_FORMATS)}.")
@click.option("--practice", type=FILE_PATH, help="A new folder: a day, and seven skims that teach.")
@click.option("--show", is_flag=True, help="Print a preset, to begin a timetable with.")
@click.option("--seed", type=int, help="Another seed, another day.  [default: the timetable's]")
@click.option("--hours", default=24, show_default=True, help="How many; it begins at midnight.")
@click.option("--rate", default=32_000, show_default=True, help="Samples a second.")
@click.option("--clips", type=FILE_PATH, help="Sounds of your own: a folder for every source.")
@click.option(
    "--hour-gap", default=0.0, show_default=True, help="Seconds of silence between hours."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
def soundscape_command(
    timetable: str,
    output: Path | None,
    practice: Path | None,
    show: bool,
    seed: int | None,
    hours: int,
    rate: int,
    clips: Path | None,
    hour_gap: float,
    quiet: bool,
) -> None:
    """Make a day of sound by TIMETABLE: a file, or village, city or forest.

    Labels (when each source sounds) and the truth about every hour are written beside the sound.
    """
    if show:
        _print_preset(timetable)
        return
    if (output is None) == (practice is None):
        raise UsageError("say where the sound goes: -o day.flac, or --practice FOLDER")
    with warnings_as_notes():
        scene = soundscape(timetable, seed=seed, hours=hours, rate=rate, clips=clips)
    with progress_bar(quiet=quiet, unit="s") as progress:
        if output is not None:
            written = soundscape_write(scene, output, hour_gap=hour_gap, progress=progress)
            message = f"wrote {', '.join(map(str, written))}"
        else:
            assert practice is not None
            practice_write(scene, practice, progress=progress)
            message = f"wrote a day and seven skims into {practice} — read reasons.md"
    click.echo(_scene_summary(scene), err=True)
    click.echo(message, err=True)


def _print_preset(name: str) -> None:
    if name not in TIMETABLE_PRESETS:
        raise UsageError(f"--show prints a preset: {', '.join(TIMETABLE_PRESETS)}")
    click.echo((PRESET_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), nl=False)


def _scene_summary(scene: Scene) -> str:
    sources = {event.source for event in scene.events}
    counts = ((len(scene.events), "event"), (len(sources), "source"))
    return f"{scene.name}: " + " of ".join(f"{n:,} {word}{'s' * (n != 1)}" for n, word in counts)
