"""``earwitness study export-xlsx`` and ``import-xlsx``: workbooks to raters and back."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import click

from earwitness.api.returning import (
    Imported,
    comment_records,
    import_columns,
    import_records,
    study_import_xlsx,
)
from earwitness.api.sending import LOCAL, study_export_xlsx
from earwitness.cli.target import check_results
from earwitness.formats.whole import WholeFile
from earwitness.formats.workbooks.sent import USUAL
from earwitness.listening.rubrics import BLANKS, BUILT_IN, Blank

FILE = click.Path(path_type=Path)


@click.command("export-xlsx")
@click.argument("study", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="A new folder.")
@click.option(
    "--local", default=LOCAL, show_default=True, help="The folder with clips; '' for no such files."
)
@click.option("--web", default="", help="Where clips are: https://example.org/{file}")
@click.option("--pattern", default=USUAL, show_default=True, help="Names of files.")
@click.option("--listeners", default="", metavar="1-16,20", help="Only for these.")
def export_xlsx(study: Path, output: Path, **how: str) -> None:
    """Write a workbook for every rater of STUDY, which is about captions, into a new folder.

    Two of them where --web is said: with links into a folder, and with links to an address. Clips
    and captions stand as the design has them; nothing says who wrote what.

    \b
    earwitness study export-xlsx study.yaml -o workbooks --web https://example.org/clips/{file}
    earwitness study import-xlsx study.yaml returned/*.xlsx --db study.db
    """
    written = study_export_xlsx(study, output, **how)
    click.echo(f"wrote {len(written)} workbooks into {output}", err=True)


@click.command("import-xlsx")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", type=FILE, help="Write ratings here, not to stdout.")
@click.option(
    "--key",
    type=FILE,
    help="Whose every caption is: a table with item, caption (or hash) and system.",
)
@click.option(
    "--blank",
    type=click.Choice(BLANKS),
    default=BLANKS[0],
    show_default=True,
    help="Leave a rater with a blank out of that total, take a blank penalty for 0, or refuse.",
)
@click.option(
    "--rubric",
    "rubric_name",
    type=click.Choice(list(BUILT_IN)),
    default="thumbs",
    show_default=True,
    help="What captions were judged by.",
)
@click.option("--comments", type=FILE, help="Also write comments here, as JSON lines.")
def import_xlsx(
    files: tuple[Path, ...],
    output: Path | None,
    key: Path | None,
    blank: Blank,
    rubric_name: str,
    comments: Path | None,
) -> None:
    """Make a table of ratings of FILES, workbooks that raters sent back.

    They are those that this program writes, or have the original layout of such studies. Every
    dimension is a scale, and so is the total of every rater. All faults of all files are told at
    once, by sheet and cell; then nothing is written. The same file twice changes nothing.

    \b
    earwitness study import-xlsx returned/*.xlsx --key key.csv -o ratings.csv
    earwitness study analyse ratings.csv
    """
    check_results([*map(str, files), None if key is None else str(key)], [output, comments])
    targets = [None if one is None else WholeFile(one) for one in (output, comments)]
    found = study_import_xlsx(files, rubric_name=rubric_name, blank=blank, key=key)
    for told in (*found.findings, *found.notes):
        click.echo(f"note: {told}", err=True)
    ratings, remarks = targets
    if ratings is None:
        _write(sys.stdout, found)
    else:
        with ratings as file:
            _write(file, found)
    if remarks is not None:
        with remarks as file:
            file.writelines(
                json.dumps(one, ensure_ascii=False) + "\n" for one in comment_records(found)
            )
    for line in _summary(found, output, comments, blank):
        click.echo(line, err=True)


def _write(file: IO[str], found: Imported) -> None:
    writer = csv.DictWriter(file, import_columns(found), lineterminator="\n")
    writer.writeheader()
    writer.writerows(import_records(found))


def _summary(
    found: Imported, output: Path | None, comments: Path | None, blank: Blank
) -> Iterator[str]:
    raters = {one.rater for one in found.rows}
    clips = {one.row.record for one in found.rows}
    yield f"{len(found.rows):,} rows of {len(raters):,} raters on {len(clips):,} clips"
    for path in (output, comments):
        if path is not None:
            yield f"wrote {path}"
    if output is not None:
        by = " --by dataset" * ("dataset" in import_columns(found))
        how = f"--rubric {found.rubric.name} --blank {blank}{by}"
        yield f"next: earwitness study analyse {output} {how}"
