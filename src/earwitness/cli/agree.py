"""The command agree: metrics compared with human ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.analysis.rating_set import TableOptions
from earwitness.cli.options import drop_unset, report_options
from earwitness.cli.output import (
    ANSWERS_DB_OPTION,
    FILE,
    FILE_PATH,
    QUIET_OPTION,
    OutputTarget,
    list_option,
    progress_bar,
    split_study_file,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.settings import AgreementSettings
from earwitness.studies.agree import agree

INTERNAL_SETTINGS = ("ranking", "splits", "folds", "gain", "spread", "version", "fixed")


@click.command("agree")
@click.argument("scores", type=FILE_PATH)
@click.argument("ratings", nargs=-1, type=FILE_PATH)
@list_option("--with", "more", type=FILE, help="Scores of further metrics (repeatable).")
@ANSWERS_DB_OPTION
@signature_options(ScoreOptions, "low", "system", "groups")
@signature_options(TableOptions, "scales", "metrics", "rubric", "where")
@signature_options(agree, "study", "db", "scoring", "reading")
@signature_options(AgreementSettings, *INTERNAL_SETTINGS)
@QUIET_OPTION
@report_options
def agree_command(
    scores: Path, ratings: tuple[Path, ...], more: tuple[Path, ...], **options: Any
) -> None:
    """Rank metrics by agreement with human ratings.

    SCORES is a table of scores per output, with one column per metric. RATINGS are a study file and
    its answers, or tables of ratings; leave them out if SCORES has a column of ratings as well.

    \b
    earwitness agree results.csv
    earwitness agree scores.csv ratings.csv
    earwitness agree samples.jsonl study.yaml answers.jsonl -o report.html
    earwitness agree scores.csv study.yaml --db study.db
    """
    study, files = split_study_file(ratings)
    score_files = [scores, *more]
    target = OutputTarget.of(options, (*score_files, *ratings))
    with warnings_as_notes(), progress_bar(unit="steps") as progress:
        concordance = agree(
            score_files, files, study=study, progress=progress, **drop_unset(options)
        )
    target.write(concordance)
