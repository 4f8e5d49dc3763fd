"""The commands study sheets and study enter: plane studies on paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    DB_OPTION,
    FILE_PATH,
    STUDY_ARGUMENT,
    check_results,
    flag_option,
    output_option,
    print_message,
    print_notes,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import UsageError, printable
from earwitness.forms.sheets.write import study_sheets
from earwitness.io.atomic import AtomicFile


@click.command("sheets")
@STUDY_ARGUMENT
@output_option("PDF file to write.", required=True)
@signature_options(study_sheets)
def sheets_command(study: Path, output: Path, **options: Any) -> None:
    """Write printable sheets of a plane study (PDF).

    The file has instructions, and for each listener and recording a plane with its dashed maxima,
    numbers to cut out, and room for comments. Numbers are those of the listener in the study. Type
    the values into the table of --template, or add crosses and numbers to the PDF file, and enter
    either with `study enter`.

    \b
    earwitness study sheets study.yaml -o sheets.pdf --template values.csv --sounds skims
    earwitness study enter study.yaml values.csv
    """
    check_results([study], [output, options["template"]])
    with warnings_as_notes():
        count = study_sheets(study, output, **drop_unset(options))
    places = [str(path) for path in (output, options["template"], options["sounds"]) if path]
    print_message(f"wrote {', '.join(places)}: {count:,} planes")


@click.command("enter")
@STUDY_ARGUMENT
@click.argument("files", nargs=-1, required=True, type=FILE_PATH)
@DB_OPTION
@output_option("File for answers (JSON Lines), or - for standard output, instead of a database.")
@flag_option("--replace", help="Also replace answers given in a browser.")
def enter_command(
    study: Path, files: tuple[Path, ...], db: str | None, output: Path | None, replace: bool
) -> None:
    """Enter values of the sheets of a plane study.

    FILES are tables of `study sheets`, filled in, or its PDF files with added marks: crosses drawn
    or typed, with the number of the skim close to each, or numbers alone. Annotations are read, and
    also marks that a program made part of the page. If there are errors, all of them are reported
    at once, and nothing is saved. Entering the same values again changes nothing; corrected values
    replace earlier ones.

    \b
    earwitness study enter study.yaml values.csv
    earwitness study enter study.yaml returned/*.pdf --db study.db
    """
    from earwitness.forms.sheets.to_answers import PaperAnswers, study_enter

    if output is not None and (db is not None or replace):
        raise UsageError("--output cannot be combined with --db or --replace — use one of them")
    address = None
    if output is None:
        from earwitness.studies.admin import store_address

        address = store_address(study, db)
    with warnings_as_notes():
        found = study_enter(study, files, db=address, replace=replace)
    entered = found if isinstance(found, PaperAnswers) else found.entered
    print_notes(map(printable, entered.notes))
    if isinstance(found, PaperAnswers):
        _write_answers(found, output)
    else:
        counts = f"{found.new:,} new, {found.corrected:,} corrected, {found.unchanged:,} unchanged"
        print_message(f"planes: {counts}")


def _write_answers(found: object, output: Path | None) -> None:
    from earwitness.forms.sheets.to_answers import PaperAnswers
    from earwitness.forms.workbooks.to_answers import check_new

    assert isinstance(found, PaperAnswers)
    if output is None or str(output) == "-":
        sys.stdout.write(found.lines)
    elif check_new(output, found.lines):
        with AtomicFile(output) as file:
            file.write(found.lines)
        print_message(f"wrote {output}: {len(found.pages):,} planes")
