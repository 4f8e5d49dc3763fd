"""The commands study new, check, design, power, simulate, anchors, import, ratings and others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from warnings import warn

import click

from earwitness.cli.options import drop_unset, report_options
from earwitness.cli.output import (
    EXISTING_FILE,
    FILE,
    FILE_PATH,
    JOBS_OPTION,
    NEW_FOLDER_OPTION,
    OUTPUT_OPTION,
    QUIET_OPTION,
    STUDY_ARGUMENT,
    OutputTarget,
    TextTarget,
    format_option,
    list_option,
    option,
    output_format,
    preview_message,
    print_message,
    print_notes,
    progress_bar,
    split_study_file,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.cli.types import Pair, collect_pairs
from earwitness.core import count_text
from earwitness.engines.local import count_cores
from earwitness.errors import EarwitnessError, EarwitnessWarning, UsageError, printable
from earwitness.forms.workbooks import DEFAULT_CLIPS_FOLDER
from earwitness.forms.workbooks.export import study_export_xlsx
from earwitness.forms.workbooks.votes import study_ratings_xlsx
from earwitness.io.tables import records_csv
from earwitness.studies.design.report import (
    study_check,
    study_design,
    study_render,
    study_write,
)
from earwitness.studies.from_answers import study_ratings, study_summaries
from earwitness.studies.population import Population
from earwitness.studies.power import PilotOptions, study_power
from earwitness.studies.prepare import study_anchors, study_import
from earwitness.studies.simulate import simulated_write, study_simulate
from earwitness.studies.study import STORE_FILE_NAME
from earwitness.studies.template import study_new
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.single import P835

# --- Command study power -------------------------------------------------------------------------


@click.command("power")
@STUDY_ARGUMENT
@list_option(
    "--pilot",
    type=FILE,
    help="Ratings of this or an earlier study, to estimate variances from: answers, with the file "
    "of their study if it is another one, or a table (repeatable).",
)
@signature_options(study_power, "pilot", "pilot_study", "reading", "runs")
@signature_options(PilotOptions, "scales", "metrics", "where")
@report_options
def power_command(study: Path, pilot: tuple[Path, ...], **options: Any) -> None:
    """Estimate which differences STUDY can detect.

    The report also has the number of listeners needed and their time in hours. Tables of a pilot
    are read as in `study analyse`.

    \b
    earwitness study power study.yaml
    earwitness study power study.yaml --pilot answers.jsonl --differences 0.3
    earwitness study power study.yaml --pilot votes.csv --column listener=worker
    """
    target = OutputTarget.of(options, (study, *pilot))
    pilot_study, ratings = split_study_file(pilot)
    with warnings_as_notes():
        power_plan = study_power(
            study, pilot=ratings, pilot_study=pilot_study, **drop_unset(options)
        )
    target.write(power_plan)


# --- Command study simulate ----------------------------------------------------------------------


@click.command("simulate")
@STUDY_ARGUMENT
@NEW_FOLDER_OPTION
@signature_options(study_simulate, only=("seed",))
@list_option(
    "--population",
    type=Pair(float),
    callback=collect_pairs,
    metavar="NAME=VALUE",
    help="Number of careless listeners, who answer at random; variation as a fraction of the scale "
    "(bias, taste, inconsistency and fatigue of listeners, items, mixture of items and systems); or"
    " true quality from 0 to 1 of SYSTEM or SYSTEM:SCALE (repeatable).",
)
def simulate_command(
    study: Path, output: Path, seed: int | None, population: Mapping[str, float]
) -> None:
    """Simulate the listeners of STUDY and analyse their answers.

    The new folder has the answers, the true values, the simulated listeners and all results.
    Qualities are evenly spaced by default, with the last system best.

    \b
    earwitness study simulate study.yaml -o simulated --population careless=2 --population C1=0.6
    """
    simulated = study_simulate(study, Population.of(population), seed=seed or 0)
    written = simulated_write(simulated, output)
    print_message(f"wrote {len(written)} files into {output}")


# --- Other commands ------------------------------------------------------------------------------


PLAN_FORMATS = ("text", "html")


@click.command("new")
@click.argument("protocol", type=click.Choice(tuple(KINDS)), default=P835.name)
@signature_options(study_new)
@OUTPUT_OPTION
def new_command(protocol: str, output: Path | None, **options: Any) -> None:
    """Write a commented study file to edit, with trials of the kind PROTOCOL.

    `earwitness study check` accepts the file as it is. With --files, the study has these audio
    files, and as many clips and sessions as suit a listener; a folder named reference, ref, clean
    or original has the references, if the protocol needs them. Without --files, it plans with
    example clips until the table of clips exists.

    \b
    earwitness study new p835 -o study.yaml
    earwitness study new acr --files "wavs/{system}/{item}.wav" -o study.yaml
    """
    with warnings_as_notes():
        text = study_new(protocol, output, **options)
    if output is None:
        click.echo(text, nl=False)
        return
    print_message(f"wrote {output}")
    if options["files"] is not None:
        print_message(f"next: earwitness study check {output}")


@click.command("check")
@STUDY_ARGUMENT
@format_option(PLAN_FORMATS)
@signature_options(study_check, audio="Do not measure the audio files, so that none is refused.")
@option(
    "--db",
    metavar="FILE|URL",
    help="Database in which to look for audio files that changed since the first answer.  "
    "[default: study.db next to STUDY, if it exists]",
)
@JOBS_OPTION
@QUIET_OPTION
@OUTPUT_OPTION
def check_command(
    study: Path,
    to: str | None,
    db: str | None,
    output: Path | None,
    jobs: int | None,
    **options: Any,
) -> None:
    """Check STUDY and show its plan, time per listener and balance.

    If the tables of clips or captions do not exist yet, the plan uses examples. Audio files that
    are missing, unreadable or silent are errors; differences in format, length and loudness,
    clipping and identical files are notes. The report also has what `earwitness serve` refuses; the
    exit status is then 2.

    \b
    earwitness study check study.yaml
    earwitness study check study.yaml --minutes 60
    """
    form = to or output_format(output, PLAN_FORMATS, {"htm": "html", "txt": "text"})
    target = TextTarget(output, [study])
    with warnings_as_notes(), progress_bar(unit="files") as progress:
        design = study_check(study, jobs=jobs or count_cores(), progress=progress, **options)
        if db is not None:
            _warn_of_changes(study, db)
        elif (study.parent / STORE_FILE_NAME).is_file():
            try:
                _warn_of_changes(study, study.parent / STORE_FILE_NAME)
            except EarwitnessError as error:  # the study can be checked without its database
                warn(f"changes of audio were not checked: {error}", EarwitnessWarning, stacklevel=1)
    width = shutil.get_terminal_size((100, 24)).columns
    target.write(study_render(design, form, width=width))
    if output is not None and design.audio is not None:
        print_notes(design.audio.notes)
    problems = design.page_checks.problems if design.page_checks is not None else ()
    if output is not None:
        print_notes(map(printable, map(str, problems)), "problem")
    if problems:
        raise click.exceptions.Exit(2)
    if design.audio is not None:
        print_message(preview_message(study))


def _warn_of_changes(study: Path, db: str | Path) -> None:
    """Warn of audio files that changed since the first answer; a file of SQLite is not changed."""
    from earwitness.store.backup import open_copy
    from earwitness.studies.admin import (
        load_study,
        open_store,
        other_form_notes,
    )
    from earwitness.studies.changes import changed_audio_notes

    plan, notes = load_study(study), list[str]()
    path = Path(str(db).removeprefix("sqlite:///"))
    with open_copy(path) if path.is_file() else open_store(plan, str(db)) as store:
        if path.is_file():
            notes += other_form_notes(store, plan)
        for note in notes + changed_audio_notes(store, plan, study.parent):
            warn(note, EarwitnessWarning, stacklevel=2)


@click.command("design")
@STUDY_ARGUMENT
@NEW_FOLDER_OPTION
@signature_options(study_design)
def design_command(study: Path, output: Path, minutes: float | None) -> None:
    """Write the playlist of each listener and the balance of the design.

    \b
    earwitness study design study.yaml -o design
    """
    with warnings_as_notes():
        written = study_write(study_design(study, minutes=minutes), output)
    print_message(f"wrote {len(written)} files into {output}")


@click.command("anchors")
@STUDY_ARGUMENT
@QUIET_OPTION
def anchors_command(study: Path) -> None:
    """Create any missing low-pass anchors of a MUSHRA study from its references."""
    with warnings_as_notes(), progress_bar(unit="files") as progress:
        written = study_anchors(study, progress=progress)
    print_message(f"wrote {len(written)} files")


@click.command("import")
@click.argument("config", type=FILE_PATH)
@NEW_FOLDER_OPTION
@signature_options(study_import)
def import_command(config: Path, output: Path, **options: Any) -> None:
    """Convert CONFIG, a webMUSHRA configuration (YAML), to a study."""
    print_notes(study_import(config, output, **drop_unset(options)))
    print_message(f"wrote {output}")


RATING_FORMATS = ("jsonl", "csv", "xlsx")
OTHER_WORKBOOK_ENDINGS = ("xls", "xlsm", "ods")


@click.command("ratings")
@STUDY_ARGUMENT
@click.argument("answers", type=EXISTING_FILE)
@format_option(RATING_FORMATS, "jsonl")
@OUTPUT_OPTION
def ratings_command(study: Path, answers: Path, to: str | None, output: Path | None) -> None:
    """Convert ANSWERS to STUDY to ratings, one line per rating.

    A workbook (xlsx) has one sheet per scale, with all votes and their mean per stimulus and
    system, and sheets with the means of systems, the votes on anchors, and all ratings.

    \b
    earwitness study ratings study.yaml answers.jsonl -o ratings.csv
    earwitness study ratings study.yaml answers.jsonl -o ratings.xlsx
    """
    target = TextTarget(output, [study, answers])
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    if to is None and ending in OTHER_WORKBOOK_ENDINGS:
        raise UsageError(f"{output}: workbooks are written as .xlsx")
    form = to or (ending if ending in RATING_FORMATS else "jsonl")
    if form == "xlsx":
        if output is None:
            raise UsageError("a workbook is not printed — set --output")
        with warnings_as_notes():
            study_ratings_xlsx(study, answers, output)
        print_message(f"wrote {output}")
        return
    with warnings_as_notes():
        records = study_ratings(study, answers)
    text = records_csv(records) if records else ""
    target.write(text if form == "csv" else _lines_text(records))


@click.command("export-xlsx")
@STUDY_ARGUMENT
@NEW_FOLDER_OPTION
@signature_options(study_export_xlsx)
def export_xlsx_command(study: Path, output: Path, **how: str | None) -> None:
    """Write a workbook for each rater of a caption study.

    With --web there are two workbooks per rater, one with links to local files and one with web
    links. Clips and captions are in the order of the design, without the names of systems.

    \b
    earwitness study export-xlsx study.yaml -o workbooks --web https://example.org/clips/{file}
    earwitness study import-xlsx study.yaml returned/*.xlsx --db study.db
    """
    with warnings_as_notes():
        written = study_export_xlsx(study, output, **drop_unset(how))
    print_message(f"wrote {count_text(len(written), 'workbook')} into {output}")
    clips = output / (DEFAULT_CLIPS_FOLDER if how["local"] is None else how["local"] or ".")
    if clips != output and clips.is_dir():
        print_message(f"send {clips} together with the workbooks: it has the clips")


@click.command("summaries")
@STUDY_ARGUMENT
@click.argument("answers", type=EXISTING_FILE)
@OUTPUT_OPTION
def summaries_command(study: Path, answers: Path, output: Path | None) -> None:
    """Convert ANSWERS to words trials of STUDY to a references file.

    The file has the transcripts and the words that each listener kept, as JSON Lines. It is read by
    `score`, `network` and `experiment references`.

    \b
    earwitness study summaries study.yaml answers.jsonl -o references.jsonl
    """
    target = TextTarget(output, [study, answers])
    with warnings_as_notes():
        records = study_summaries(study, answers)
    if not records:
        raise UsageError(f"{answers}: no summaries; nothing was written")
    target.write(_lines_text(records))


def _lines_text(records: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
