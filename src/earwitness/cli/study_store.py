"""The commands study links, status, export, backup and restore.

Modules that use a database are imported where they are needed, since other commands need none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from earwitness.cli.output import (
    DB_OPTION,
    FILE_PATH,
    OUTPUT_OPTION,
    STUDY_ARGUMENT,
    FileName,
    TextTarget,
    choice_option,
    format_option,
    option,
    output_format,
    output_option,
    print_message,
    text_option,
    warnings_as_notes,
)
from earwitness.core import count_text
from earwitness.errors import UsageError, printable
from earwitness.io.tables import csv_text, records_csv

if TYPE_CHECKING:
    from earwitness.store.backup import BackupContent

TABLE_FORMATS = ("text", "csv", "json")
TO_OPTION = format_option(TABLE_FORMATS)


@click.command("links")
@STUDY_ARGUMENT
@DB_OPTION
@text_option("--base", metavar="URL", help="Start of the links, e.g. https://listen.example.org")
@text_option(
    "--listener",
    metavar="RANGES",
    help="Listeners by number, such as 1-16,20. By default all.",
)
@option(
    "--take-back",
    type=click.IntRange(1),
    metavar="N",
    help="Revoke up to N unused links, the last ones first.",
)
@option("--unblock", type=int, metavar="N", help="Let listener N enter once more.")
@TO_OPTION
@OUTPUT_OPTION
def links_command(
    study: Path,
    db: str | None,
    base: str,
    listener: str,
    to: str | None,
    output: Path | None,
    **which: int | None,
) -> None:
    """Create and list the personal links of listeners.

    Links do not change when the command is run again. Anyone with a link can answer as that
    listener, so send each link to one person only. Invited listeners do not use up places at /join,
    and vice versa. People who have joined at /join are listed with the participant ID that they
    passed. New links work at once, also while the study is being served.

    \b
    earwitness study links study.yaml --base https://listen.example.org -o links.csv
    """
    from earwitness.studies.admin import (
        has_store,
        store_address,
        study_links,
        study_unblock,
        study_uninvite,
    )

    address = store_address(study, db)
    if sum([bool(listener), *(number is not None for number in which.values())]) > 1:
        message = "--listener, --take-back and --unblock cannot be combined"
        raise UsageError(f"{message} — use one of them")
    table = TableTarget(to, output, [study, address])
    with warnings_as_notes():
        if (blocked := which["unblock"]) is not None:
            study_unblock(study, address, blocked)
            print_message(f"listener {blocked} may enter once more")
        elif (max_links := which["take_back"]) is not None:
            numbers = study_uninvite(study, address, max_links)
            revoked = ", ".join(map(str, numbers)) or "none"
            print_message(f"revoked links of listeners: {revoked}")
        else:
            new = not has_store(address)
            links = study_links(study, address, base=base, listener=listener)
            table.write(links)
            if new and db is not None:
                print_message(f"note: created database {db}")


@click.command("status")
@STUDY_ARGUMENT
@DB_OPTION
@TO_OPTION
@OUTPUT_OPTION
def status_command(study: Path, db: str | None, to: str | None, output: Path | None) -> None:
    """Show each listener's progress, last activity and status.

    The table also has the participant ID that was passed to /join, how often others tried to start
    with the same ID (repeats), and the completion code of listeners who have finished. In caption
    studies it has the rows and blanks of each returned workbook, and in plane studies the number of
    planes entered from paper; "on paper" is the status of a listener without missing planes. A
    listener whose place was given to another person has the status "lapsed".
    """
    from earwitness.studies.admin import store_address, study_status

    address = store_address(study, db)
    table = TableTarget(to, output, [study, address])
    with warnings_as_notes():
        table.write(study_status(study, address))


@click.command("export")
@STUDY_ARGUMENT
@DB_OPTION
@OUTPUT_OPTION
@choice_option(
    "--content",
    choices=("answers", "all", "positions"),
    help="Answers; all records of the study, including events and corrections; or a CSV table of "
    "positions on the TC/SD plane: number, system, TC, SD, comment.",
)
def export_command(study: Path, db: str | None, output: Path | None, content: str) -> None:
    """Export the answers to STUDY from the database as JSON Lines.

    Pages without questions, such as instructions, are left out; a note has their number, and
    --content all exports them.

    \b
    earwitness study export study.yaml -o answers.jsonl
    earwitness study analyse study.yaml answers.jsonl
    earwitness study export study.yaml --content positions -o positions.csv
    """
    from earwitness.studies.admin import store_address

    address = store_address(study, db)
    target = TextTarget(output, [study, address])
    with warnings_as_notes():
        text = CONTENTS[content](study, address)
    if not text:
        raise UsageError(f"{address}: no answers to this version of the study; nothing was written")
    target.write(text)


@click.command("backup")
@STUDY_ARGUMENT
@DB_OPTION
@output_option(
    "SQLite file to write. An older backup of the same study is replaced.", required=True
)
def backup_command(study: Path, db: str | None, output: Path) -> None:
    """Back up the database of STUDY, also while the study is being served.

    The backup has links, answers, events and drafts. Of a PostgreSQL database, it has the rows of
    this study only. A plain copy of a database that is in use may lack answers.

    \b
    earwitness study backup study.yaml -o backups/study.db
    earwitness study restore study.yaml backups/study.db --db new.db
    """
    from earwitness.studies.admin import study_backup

    with warnings_as_notes():
        content = study_backup(study, output, db)
    print_message(f"wrote {output}: {_content_text(content)}")


@click.command("restore")
@STUDY_ARGUMENT
@click.argument("backup", type=FILE_PATH)
@DB_OPTION
def restore_command(study: Path, backup: Path, db: str | None) -> None:
    """Restore STUDY from BACKUP, a file written by `study backup`.

    The database is created if needed, and must not have the study. Links, completion codes and
    unfinished sessions work as they did. People who withdrew after the backup are in it again:
    delete their data.

    \b
    earwitness study restore study.yaml backups/study.db
    """
    from earwitness.studies.admin import study_restore

    with warnings_as_notes():
        content = study_restore(study, backup, db)
    print_message(f"restored {_content_text(content)}")


def _content_text(content: BackupContent) -> str:
    last = f", last activity at {content.last[:16]}" if content.last else ""
    people = count_text(content.listeners, "listener")
    return f"{count_text(content.answers, 'answer')} from {people}{last}"


def _answer_lines(study: Path, address: str) -> str:
    from earwitness.studies.admin import stored_answers

    stored = stored_answers(study, address)
    if stored.skipped:
        what = f"{stored.skipped:,} pages without questions, such as instructions, were left out"
        print_message(f"note: {what} — export them with --content all")
    return stored.lines.decode()


def _position_rows(study: Path, address: str) -> str:
    from earwitness.forms.sheets.to_answers import position_records
    from earwitness.studies.admin import stored_answers

    records = [*position_records(stored_answers(study, address).answers)]
    return records_csv(records) if records else ""


def _record_lines(study: Path, address: str) -> str:
    from earwitness.studies.admin import study_records

    records = study_records(study, address)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


CONTENTS = {"answers": _answer_lines, "all": _record_lines, "positions": _position_rows}


class TableTarget:
    """Path and format of a table; invalid paths are refused before any work."""

    def __init__(self, to: str | None, output: Path | None, inputs: Sequence[FileName]) -> None:
        self._form = to or output_format(output, TABLE_FORMATS, {"txt": "text"})
        self._target = TextTarget(output, inputs)

    def write(self, records: Sequence[dict[str, Any]]) -> None:
        """Print or write a table with aligned columns, CSV, or a JSON list."""
        if not records:
            print_message("no listeners yet — create links with: earwitness study links")
            return
        self._target.write(_table_text(records, self._form))


def _table_text(records: Sequence[dict[str, Any]], form: str) -> str:
    if form == "json":
        lines = (json.dumps(record, ensure_ascii=False, default=asdict) for record in records)
        return "[\n" + ",\n".join(lines) + "\n]\n"
    cells = [list(records[0]), *(list(record.values()) for record in records)]
    rows = [["" if value is None else str(value) for value in row] for row in cells]
    if form == "csv":
        return csv_text(rows)
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"
