"""The command study import-xlsx.

Modules that plan a study or use a database are imported where they are needed, since workbooks
without a study file need neither.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    FILE,
    FILE_PATH,
    check_results,
    flag_option,
    option,
    output_option,
    print_message,
    print_notes,
    split_study_file,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import UsageError, printable
from earwitness.forms.workbooks.to_ratings import (
    ImportedRatings,
    comment_records,
    import_columns,
    import_ratings,
    import_records,
    is_filled,
)
from earwitness.io.atomic import AtomicFile
from earwitness.io.tables import csv_text
from earwitness.ratings.rubric_totals import BLANK_POLICIES, FAULT_POLICIES, Blank

if TYPE_CHECKING:
    from earwitness.forms.workbooks.to_answers import MatchedAnswers

STUDY_OPTIONS = ("key", "blank", "rubric")  # only without a study file


@click.command("import-xlsx")
@click.argument("files", nargs=-1, required=True, type=FILE_PATH)
@output_option("Output file for ratings or answers.  [default: standard output]")
@option(
    "--db",
    metavar="FILE|URL",
    help="Database for answers (SQLite file or postgresql://...); requires a study file.",
)
@flag_option("--replace", help="Also replace answers given in a browser.")
@signature_options(import_ratings)
@option(
    "--comments",
    type=FILE,
    help="Output file for comments and answers to further questions (JSON Lines).",
)
def import_xlsx_command(
    files: tuple[Path, ...], output: Path | None, db: str | None, replace: bool, **how: Any
) -> None:
    """Import completed rater workbooks.

    Workbooks are those of `export-xlsx`, or have the original layout of such studies. With a study
    file among FILES they are converted to answers, in a database or as JSON Lines. Without one they
    are converted to a table of ratings, in which each dimension and the total are scales. All
    errors are reported at once, by sheet and cell. Nothing is imported from raters whose workbooks
    have errors (exit status 2); the others are imported. Importing the same file again
    changes nothing.

    \b
    earwitness study import-xlsx study.yaml returned/*.xlsx --db study.db
    earwitness study analyse study.yaml --db study.db
    earwitness study import-xlsx returned/*.xlsx --key key.csv -o ratings.csv
    """
    study, books = split_study_file(files)
    check_results([*files, how["key"]], [output, how["comments"]])
    set_options = drop_unset(how)
    if study is None:
        if db is not None or replace:
            raise UsageError("--db and --replace require a study file — add it to FILES")
        _import_ratings(books, output, set_options)
    else:
        if refused := [name for name in STUDY_OPTIONS if name in set_options]:
            raise UsageError(
                f"--{refused[0]} cannot be used with a study file, which sets it — omit it"
            )
        _import_answers(study, books, output, db, replace=replace, **set_options)


def _import_answers(
    study: Path,
    books: Sequence[Path],
    output: Path | None,
    db: str | None,
    *,
    replace: bool,
    faults: str = FAULT_POLICIES[0],
    comments: Path | None = None,
) -> None:
    """Save answers in a database, or write them; write comments if requested."""
    from earwitness.forms.workbooks.to_answers import matched_comment_records

    if db is not None and output is not None:
        raise UsageError("--db and --output cannot be combined — use one of them")
    if db is None and replace:
        raise UsageError("--replace requires a database — set --db")
    target, remarks = (None if path is None else AtomicFile(path) for path in (output, comments))
    with warnings_as_notes():
        if db is None:
            matched_answers = _write_answers(study, books, output, target, faults)
            place = None if output is None else str(output)
        else:
            matched_answers = _enter_answers(study, books, db, replace=replace, faults=faults)
            place = f"--db {'…' if '://' in db else db}"  # it may contain a password
    if remarks is not None:
        _write_comments(remarks, matched_comment_records(matched_answers))
        print_message(f"wrote {comments}")
    if place is not None:
        print_message(f"next: earwitness study analyse {study} {place}")
    if matched_answers.rejection is not None:
        raise matched_answers.rejection


def _write_answers(
    study: Path, books: Sequence[Path], output: Path | None, target: AtomicFile | None, faults: str
) -> MatchedAnswers:
    """Write answers to a file, or print them."""
    from earwitness.forms.workbooks.to_answers import (
        check_new,
        study_import_answers,
    )

    matched_answers = study_import_answers(study, books, faults=faults)
    text = matched_answers.lines
    _print_matched(matched_answers)
    if output is None or target is None:
        sys.stdout.write(text)
    elif check_new(output, text):
        with target as file:
            file.write(text)
    return matched_answers


def _enter_answers(
    study: Path, books: Sequence[Path], db: str, *, replace: bool, faults: str
) -> MatchedAnswers:
    """Save answers in a database."""
    from earwitness.forms.workbooks.to_answers import enter_workbooks

    entered = enter_workbooks(study, books, db, replace=replace, faults=faults)
    _print_matched(entered.matched)
    counts = (
        f"{entered.new:,} new, {entered.corrected:,} corrected, {entered.unchanged:,} unchanged"
    )
    print_message(f"pages: {counts}")
    return entered.matched


def _write_comments(target: AtomicFile, records: Iterable[dict[str, Any]]) -> None:
    with target as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _print_matched(matched_answers: MatchedAnswers) -> None:
    print_notes(map(printable, map(str, (*matched_answers.findings, *matched_answers.notes))))
    pages = matched_answers.pages
    rows, raters = (
        sum(len(page.rows) for page in pages),
        len({page.answer.listener for page in pages}),
    )
    print_message(f"imported {rows:,} rows: {raters:,} raters, {len(pages):,} pages")


def _import_ratings(books: Sequence[Path], output: Path | None, how: dict[str, Any]) -> None:
    """Write a table of ratings, and comments if requested."""
    comments = how.pop("comments", None)
    targets = [None if path is None else AtomicFile(path) for path in (output, comments)]
    imported = import_ratings(books, **how)
    print_notes(map(printable, map(str, (*imported.findings, *imported.notes))))
    ratings, remarks = targets
    if ratings is None:
        _write_ratings(sys.stdout, imported)
    else:
        with ratings as file:
            _write_ratings(file, imported)
    if remarks is not None:
        _write_comments(remarks, comment_records(imported))
    for line in _import_summary(imported, output, comments, how.get("blank", BLANK_POLICIES[0])):
        print_message(line)
    if imported.rejection is not None:
        raise imported.rejection


def _write_ratings(file: IO[str], imported: ImportedRatings) -> None:
    rows = (record.values() for record in import_records(imported))
    file.write(csv_text((import_columns(imported), *rows)))


def _import_summary(
    imported: ImportedRatings, output: Path | None, comments: Path | None, blank: Blank
) -> Iterator[str]:
    rows = [row for row in imported.rows if is_filled(row.row)]
    raters, clips = {row.rater for row in rows}, {row.row.record for row in rows}
    yield f"imported {len(rows):,} rows: {len(raters):,} raters, {len(clips):,} clips"
    if comments is None and (said := sum(bool(row.row.comment) for row in imported.rows)):
        yield f"note: comments on {said:,} rows are only written with --comments"
    for path in (output, comments):
        if path is not None:
            yield f"wrote {path}"
    if output is not None and rows:
        by_option = " --by dataset" if "dataset" in import_columns(imported) else ""
        analyse_options = f"--rubric {imported.rubric.name} --blank {blank}{by_option}"
        yield f"next: earwitness study analyse {output} {analyse_options}"
