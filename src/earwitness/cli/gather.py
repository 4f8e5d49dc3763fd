"""``earwitness gather``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import click
import msgspec

from earwitness.api import gather
from earwitness.cli.options import SHARED
from earwitness.cli.target import check_results
from earwitness.errors import EarwitnessWarning
from earwitness.formats.whole import WholeFile


@click.command("gather")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--durations",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Make references: a CSV file with the columns item and duration (in seconds).",
)
@click.option("--system", help="Name of the system.  [default: a file's folder]")
@click.option(
    "--spoken",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Add what was said, for --metric sentences: files or folders of .srt, .vtt or .ctm.",
)
@SHARED["preset"]
@SHARED["pattern"]
@SHARED["timestamp_format"]
@SHARED["output"]
def command(files: tuple[Path, ...], output: Path | None, **options: Any) -> None:
    """Make JSON lines of FILES: subtitles and lists of chapters, a file an item.

    Without --durations they are outputs, and their folder is the system; with it they are
    references, and their folder is the annotator. A folder stands for the files in it that can be
    read. The preset follows from the ending (.srt, .vtt, .json, .ffmeta); --preset is for others,
    and for files that are named one by one. A .ctm file has recognised words of summaries, an item
    for every recording.

    \b
    earwitness gather careful/ eager/ > outputs.jsonl
    earwitness gather --durations durations.csv anna/ bert/ > references.jsonl
    earwitness gather --durations durations.csv anna/ --spoken subtitles/ > references.jsonl
    """
    target = None if output is None else WholeFile(output)
    read = [*files, *options["spoken"], *(path for path in [options.get("durations")] if path)]
    check_results(map(str, read), (output,))
    given = {name: value for name, value in options.items() if value not in (None, ())}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EarwitnessWarning)
        found = gather(files, **given)
    for warning in caught:
        click.echo(f"note: {warning.message}", err=True)
    lines = [msgspec.json.encode(one).decode() + "\n" for one in found]
    if target is None:
        sys.stdout.writelines(lines)
        return
    with target as file:
        file.writelines(lines)
    click.echo(f"wrote {output}", err=True)
