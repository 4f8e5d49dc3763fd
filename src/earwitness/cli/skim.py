"""The commands skim and soundscape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    FILE_PATH,
    FOLDER,
    JOBS_OPTION,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SOUND_UNIT,
    STUDY_SUFFIXES,
    TextTarget,
    note_on_interruption,
    option,
    output_option,
    print_message,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.core import count_text
from earwitness.engines.local import choose_jobs
from earwitness.errors import UsageError
from earwitness.report.text import render_text
from earwitness.skims.files import REPORT_FILE
from earwitness.skims.options import ENDINGS, SkimOptions
from earwitness.skims.report import skimming_report
from earwitness.skims.run import skim
from earwitness.skims.types import SkimRun
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.timetable import PRESET_FOLDER, TIMETABLE_PRESETS
from earwitness.soundscapes.write import SOUND_FORMATS, practice_write, soundscape, soundscape_write

# --- Command skim --------------------------------------------------------------------------------


INTERRUPTED_NOTE = "finished skims and hours already read are kept — run it again to resume"


@click.command("skim")
@RECORDINGS_ARGUMENT
@output_option(
    f"Audio file of the skim ({', '.join(ENDINGS)}), or a folder for several skims.",
    required=True,
    type=FILE_PATH,
)
@signature_options(SkimOptions, "again")
@signature_options(skim)
@JOBS_OPTION
@QUIET_OPTION
def skim_command(
    recordings: tuple[Path, ...],
    output: Path,
    jobs: int | None,
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
    with (
        warnings_as_notes(),
        note_on_interruption(INTERRUPTED_NOTE),
        progress_bar(unit=SOUND_UNIT) as progress,
    ):
        run = skim(
            recordings,
            output,
            jobs=choose_jobs(jobs, *recordings),
            progress=progress,
            **drop_unset(options),
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
        yield f"{count_text(count, 'problem')}; all other recordings and files were used"


def _written_lines(run: SkimRun, output: Path) -> Iterator[str]:
    """Yield the names of the files written for one skim, or a summary for several."""
    if run.kept:
        kept = count_text(len(run.kept), "skim")
        exist, them = ("exists", "it") if len(run.kept) == 1 else ("exist", "them")
        remedy = f"delete {them} to recreate {them}"
        yield f"note: {kept} with the same settings already {exist} — {remedy}"
    if not output.is_dir():
        yield from (f"wrote {path}" for path in run.written)
        return
    written = [path for path in run.written if Path(path).name != REPORT_FILE]
    *skim_files, outputs, recordings = written
    if skim_files:
        skims = count_text(len(skim_files), "skim")
        yield f"wrote {skims} into {output}, with audio, picks and further files"
    yield f"wrote {outputs} and {recordings}, for earwitness score"
    yield from (f"wrote {path}, a report on all skims" for path in run.written[len(written) :])


# --- Command soundscape --------------------------------------------------------------------------


@click.command("soundscape")
@click.argument("timetable", default=TIMETABLE_PRESETS[0])
@output_option(
    f"Audio file ({', '.join(SOUND_FORMATS)}), or .yaml: the preset, to make your own timetable of."
)
@option(
    "--practice",
    type=FOLDER,
    help="Folder to create with a day and seven example skims for raters.",
)
@signature_options(soundscape)
@QUIET_OPTION
def soundscape_command(
    timetable: str,
    output: Path | None,
    practice: Path | None,
    hour_gap: float | None,
    **options: Any,
) -> None:
    """Synthesize a day-long recording with known sources.

    TIMETABLE is a YAML file, or a preset: village (default), city or forest. Next to the audio
    file, the command writes labels (start and end of every sound) and the true content of
    each hour.

    \b
    earwitness soundscape village -o day.flac
    earwitness soundscape village -o timetable.yaml
    """
    if output is not None and output.suffix in STUDY_SUFFIXES:
        TextTarget(output, (timetable,)).write(_preset_text(timetable))
        return
    if output is None and practice is None:
        raise UsageError("no output — set --output FILE or --practice FOLDER")
    if output is not None and practice is not None:
        raise UsageError("--output and --practice cannot be combined — set one of them")
    with warnings_as_notes():
        scene = soundscape(timetable, **drop_unset(options))
    with progress_bar(unit="s") as progress:
        if output is not None:
            written = soundscape_write(scene, output, hour_gap=hour_gap or 0.0, progress=progress)
            message = f"wrote {', '.join(map(str, written))}"
        else:
            assert practice is not None
            practice_write(scene, practice, progress=progress)
            message = f"wrote a day and seven skims into {practice}; reasons.md explains them"
    print_message(_scene_summary(scene))
    print_message(message)


def _preset_text(name: str) -> str:
    """Return the timetable of a preset."""
    if name not in TIMETABLE_PRESETS:
        raise UsageError(f"only presets can be written: {', '.join(TIMETABLE_PRESETS)}")
    return (PRESET_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def _scene_summary(scene: Scene) -> str:
    sources = {event.source for event in scene.events}
    counts = ((len(scene.events), "event"), (len(sources), "source"))
    return f"{scene.name}: " + " of ".join(count_text(n, word) for n, word in counts)
