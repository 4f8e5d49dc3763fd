"""``earwitness soundscape``."""

from __future__ import annotations

from pathlib import Path

import click

from earwitness.api.soundscaping import FORMS, practice_write, soundscape, soundscape_write
from earwitness.cli.notes import notes
from earwitness.cli.progress import bar
from earwitness.errors import UsageError
from earwitness.formats.timetables import FOLDER, PRESETS
from earwitness.soundscapes import Scene

FILE = click.Path(path_type=Path)


@click.command("soundscape")
@click.argument("timetable", default=PRESETS[0])
@click.option("-o", "--output", type=FILE, help=f"The sound: {', '.join(FORMS)}.")
@click.option("--practice", type=FILE, help="A new folder: a day, and seven skims that teach.")
@click.option("--show", is_flag=True, help="Print a preset, to begin a timetable with.")
@click.option("--seed", type=int, help="Another seed, another day.  [default: the timetable's]")
@click.option("--hours", default=24, show_default=True, help="How many; it begins at midnight.")
@click.option("--rate", default=32_000, show_default=True, help="Samples a second.")
@click.option("--clips", type=FILE, help="Sounds of your own: a folder for every source.")
@click.option(
    "--hour-gap", default=0.0, show_default=True, help="Seconds of silence between hours."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
def command(
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
        _show(timetable)
        return
    if (output is None) == (practice is None):
        raise UsageError("say where the sound goes: -o day.flac, or --practice FOLDER")
    with notes():
        scene = soundscape(timetable, seed=seed, hours=hours, rate=rate, clips=clips)
    with bar(quiet=quiet, unit="s") as progress:
        if output is not None:
            written = soundscape_write(scene, output, hour_gap=hour_gap, progress=progress)
            told = f"wrote {', '.join(map(str, written))}"
        else:
            assert practice is not None
            practice_write(scene, practice, progress=progress)
            told = f"wrote a day and seven skims into {practice} — read reasons.md"
    click.echo(_summary(scene), err=True)
    click.echo(told, err=True)


def _show(name: str) -> None:
    if name not in PRESETS:
        raise UsageError(f"--show prints a preset: {', '.join(PRESETS)}")
    click.echo((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), nl=False)


def _summary(scene: Scene) -> str:
    sources = {event.source for event in scene.events}
    counts = ((len(scene.events), "event"), (len(sources), "source"))
    return f"{scene.name}: " + " of ".join(f"{n:,} {word}{'s' * (n != 1)}" for n, word in counts)
