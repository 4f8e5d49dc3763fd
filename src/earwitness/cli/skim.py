"""``earwitness skim``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from earwitness.api.skims import ENDINGS, EXTRAS, METHODS, SPEECH, Asked, skim
from earwitness.cli.notes import notes, remarked
from earwitness.cli.progress import SOUND, bar
from earwitness.data import Skimming
from earwitness.report import text
from earwitness.report.skimmed import skimming_report

PATH = click.Path(path_type=Path)
USUAL = Asked()
STOPPED = "skims that were made and hours that were read are kept — run it again to go on"


class Zs(click.ParamType[tuple[float, ...]]):
    """Numbers from 0 to 1, with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(float(text) for text in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no number, and no list such as 0,0.5,1", param, ctx)
        if not all(0 <= one <= 1 for one in found):
            self.fail(f"{value!r}: z lies between 0 (follow the day) and 1 (show all)", param, ctx)
        return found


@click.command("skim")
@click.argument("recordings", nargs=-1, required=True, type=PATH, metavar="RECORDING…")
@click.option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    help=f"The skim ({', '.join(ENDINGS)}), or a folder for several.",
)
@click.option(
    "--z",
    "zs",
    type=Zs(),
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
@click.option("--times", type=PATH, help="Of the method manual: a CSV with a column start.")
@click.option("--length", type=float, help="Seconds of the skim, in place of --picks.")
@click.option("--picks", type=click.IntRange(1), help=f"Blocks.  [default: {USUAL.plan.picks}]")
@click.option("--block", default=USUAL.plan.block, show_default=True, help="Seconds of a block.")
@click.option(
    "--overlap", default=USUAL.plan.overlap, show_default=True, help="Seconds of a cross-fade."
)
@click.option("--period", default=USUAL.plan.period, show_default=True, help="Seconds of a period.")
@click.option(
    "--embedder",
    default=USUAL.embedder,
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
    type=click.Choice(SPEECH),
    default=USUAL.speech,
    show_default=True,
    help="What becomes of blocks in which somebody speaks.",
)
@click.option(
    "--speech-model", type=PATH, help="Silero's ONNX file, in place of the detector inside."
)
@click.option("--sparse", is_flag=True, help="Look at 2 s of each 8 s only: faster.")
@click.option("--ending", default=ENDINGS[0], type=click.Choice(ENDINGS), show_default=True)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(EXTRAS),
    help="Do not write this beside the sound; may be given several times.",
)
@click.option("--cache", type=PATH, help="Folder for features.  [default: the user's cache]")
@click.option("--again", is_flag=True, help="Make skims that are there already anew.")
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def command(recordings: tuple[Path, ...], output: Path, quiet: bool, **options: Any) -> None:
    """Make a minute that stands for a day.

    RECORDING is a file or a folder of consecutive files; each RECORDING gets its own skim. Beside
    the sound stand the picks (JSON, CSV, Audacity labels, Raven table), a picture and a page that
    plays it.

    \b
    earwitness skim day.flac -o skim.flac --z 0.5
    earwitness skim site1/ site2/ -o skims/ --by-day --z 0,0.5,1 --zone Europe/Paris
    """
    asked = Asked.of(**options)
    with notes(), remarked(STOPPED), bar(quiet=quiet, unit=SOUND) as progress:
        found = skim(recordings, output, asked, progress=progress)
    click.echo(text(skimming_report(found)), nl=False)
    for line in (*(f"note: {note}" for note in found.notes), *_done(found, output)):
        click.echo(line, err=True)


def _done(found: Skimming, output: Path) -> Iterator[str]:
    """What was written: file by file for one skim, in short for many."""
    if found.kept:
        kept = "1 skim is" if len(found.kept) == 1 else f"{len(found.kept):,} skims are"
        yield f"note: {kept} there already, made in the same way — --again makes skims anew"
    if not output.is_dir():
        yield from (f"wrote {path}" for path in found.written)
        return
    *made, outputs, recordings = found.written
    if made:
        skims = "1 skim" if len(made) == 1 else f"{len(made):,} skims"
        each = "each " * (len(made) > 1)
        yield f"wrote {skims} into {output}, {each}with its sound, picks and more beside it"
    yield f"wrote {outputs} and {recordings}, which earwitness score reads"
