"""The command study analyse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.analysis.plan import AnalysisBlock
from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.settings import AnalysisSettings
from earwitness.cli.options import drop_unset, report_options
from earwitness.cli.output import (
    ANSWERS_DB_OPTION,
    FILE_PATH,
    QUIET_OPTION,
    OutputTarget,
    print_message,
    progress_bar,
    split_study_file,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.io.atomic import AtomicFolder
from earwitness.studies.analyse import results_write, settings_of, study_analyse

SETTINGS_OF_STUDY = ("plan", "screening", "scales", "reference", "anchor", "anchors", "rubric")


@click.command("analyse")
@click.argument("files", nargs=-1, type=FILE_PATH, required=True)
@ANSWERS_DB_OPTION
@signature_options(TableOptions, "scales", "metrics", "where")
@signature_options(AnalysisBlock, "scales", "anchors")
@signature_options(settings_of, "generalize", "means")
@signature_options(study_analyse, only=("where",))
@signature_options(
    AnalysisSettings,
    *SETTINGS_OF_STUDY,
    "doubled",
    "low_is_good",
    "version",
    "where",
    mixed="Fit no mixed models.",
)
@QUIET_OPTION
@report_options
def analyse_command(files: tuple[Path, ...], **options: Any) -> None:
    """Analyse ratings: means, differences, agreement, screening.

    FILES are a study file and its answers, or tables of ratings. With a study file, the analysis
    planned in it is run; options override it, and its keys have the same names and defaults. An
    output without an ending is a new folder for the report, all tables and the methods text.

    \b
    earwitness study analyse study.yaml answers.jsonl
    earwitness study analyse study.yaml --db study.db
    earwitness study analyse ratings.csv -o report.html
    earwitness study analyse ratings.csv -o results
    earwitness study analyse captions.csv --rubric thumbs --by dataset --margin total=0.5
    earwitness study analyse effort.csv --test wilcoxon --low-is-good EFFORT --anchor noisy
    earwitness study analyse published.csv --layout means --constant raters=8
    """
    study, ratings = split_study_file(files)
    output = options["output"]
    is_table = any(options[name] is not None for name in ("to", "table", "interval_form"))
    is_file = output is None or output.suffix or (output.exists() and not output.is_dir())
    folder = None if is_table or is_file else output
    if folder is not None:
        AtomicFolder(folder)  # refuses an existing one before any work
        options["output"] = None
    target = OutputTarget.of(options, files, folder)
    with warnings_as_notes(), progress_bar(unit="steps") as progress:
        results = study_analyse(ratings, study=study, progress=progress, **drop_unset(options))
    if folder is None:
        target.write(results)
    else:
        written = results_write(results, folder, title=target.title)
        print_message(f"wrote {len(written)} files into {folder}")
        target.write_figures(results)
