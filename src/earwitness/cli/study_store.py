"""The commands study links, status and export.

What works on a store is imported where it is used: other verbs need no database.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import check_results, warnings_as_notes
from earwitness.cli.study_analyse import FILE_PATH
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile

STUDY_ARGUMENT = click.argument("study", type=FILE_PATH)
DB_OPTION = click.option("--db", help="Where answers are kept.  [default: study.db beside STUDY]")
TO_OPTION = click.option(
    "--to", type=click.Choice(["text", "csv", "json"]), default="text", help="Form."
)


@click.command("links")
@STUDY_ARGUMENT
@DB_OPTION
@click.option("--base", default="", help="What links begin with: https://listen.example.org")
@click.option(
    "--first",
    type=click.IntRange(1),
    metavar="N",
    help="Only for listeners 1 to N; the others are left for `serve --open`.",
)
@click.option(
    "--take-back",
    type=click.IntRange(1),
    metavar="N",
    help="Take back up to N links that nobody has used, the last ones first.",
)
@click.option("--unblock", type=int, metavar="N", help="Let listener N come in once more.")
@TO_OPTION
def links(study: Path, db: str | None, base: str, to: str, **which: int | None) -> None:
    """Print a link for every listener of STUDY; they are made once and stay the same.

    Who has a link can answer as that listener: send each to one person. Whoever has a link has no
    open place, and the other way round.
    """
    from earwitness.studies.admin import (
        has_store,
        store_address,
        study_links,
        study_unblock,
        study_uninvite,
    )

    address = store_address(study, db)
    if len([one for one in which.values() if one is not None]) > 1:
        raise UsageError("--first, --take-back and --unblock are said one at a time")
    with warnings_as_notes():
        if (blocked := which["unblock"]) is not None:
            study_unblock(study, address, blocked)
            click.echo(f"listener {blocked} may come in once more", err=True)
        elif (max_links := which["take_back"]) is not None:
            numbers = study_uninvite(study, address, max_links)
            taken_back = ", ".join(map(str, numbers)) or "nobody"
            click.echo(f"took back the links of: {taken_back}", err=True)
        else:
            new = not has_store(address)
            _print_table(
                study_links(study, address, base=base.rstrip("/"), first=which["first"]), to
            )
            if new and db is not None:
                click.echo(f"note: {db} was not there, and is a new store now", err=True)


@click.command("status")
@STUDY_ARGUMENT
@DB_OPTION
@TO_OPTION
def status(study: Path, db: str | None, to: str) -> None:
    """Print who is where: pages answered of all, when last heard of, finished, withdrawn.

    Beside it stand the id that another service gave, the completion code of who has finished, and
    in studies of captions who has sent back a workbook, with how many rows and blanks.
    """
    from earwitness.studies.admin import store_address, study_status

    with warnings_as_notes():
        _print_table(study_status(study, store_address(study, db)), to)


@click.command("export")
@STUDY_ARGUMENT
@DB_OPTION
@click.option("-o", "--output", type=FILE_PATH, help="Write here, not to stdout.")
@click.option("--all", "everything", is_flag=True, help="All that is kept: events, corrections, …")
def export(study: Path, db: str | None, output: Path | None, everything: bool) -> None:
    """Write the answers to STUDY as JSON lines, as `study take` writes them.

    \b
    earwitness study export study.yaml -o answers.jsonl
    earwitness study analyse study.yaml answers.jsonl
    """
    from earwitness.studies.admin import store_address

    address = store_address(study, db)
    target = None if output is None else AtomicFile(output)
    check_results([str(study), address], [output])
    with warnings_as_notes():
        text = _record_lines(study, address) if everything else _answer_lines(study, address)
    if not text:
        raise UsageError(
            f"{address}: nobody has answered this form of the study; nothing was written"
        )
    if target is None:
        sys.stdout.write(text)
        return
    with target as file:
        file.write(text)
    click.echo(f"wrote {text.count(chr(10))} lines to {output}", err=True)


def _answer_lines(study: Path, address: str) -> str:
    from earwitness.studies.admin import stored_answers

    return stored_answers(study, address).lines.decode()


def _record_lines(study: Path, address: str) -> str:
    from earwitness.studies.admin import study_records

    records = study_records(study, address)
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _print_table(records: Sequence[dict[str, Any]], to: str) -> None:
    """A table: columns of one width, CSV, or a list of JSON."""
    if not records:
        click.echo("there is nobody yet — earwitness study links makes links", err=True)
        return
    if to == "json":
        lines = (json.dumps(one, ensure_ascii=False, default=asdict) for one in records)
        sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")
        return
    cells = [list(records[0]), *(list(record.values()) for record in records)]
    rows = [["" if value is None else str(value) for value in row] for row in cells]
    if to == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")
