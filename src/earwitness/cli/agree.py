"""The command agree: metrics compared with human ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.options import report_options
from earwitness.cli.output import (
    FILE,
    FILE_PATH,
    SEED_OPTION,
    OutputTarget,
    list_option,
    option,
    progress_bar,
    split_study_file,
    text_option,
    warnings_as_notes,
)
from earwitness.cli.study_analyse import (
    ANCHOR_OPTION,
    ANSWERS_DB_OPTION,
    DRAWS_HELP,
    FAULTS_OPTION,
    LAYOUT_OPTION,
    LOW_IS_GOOD_OPTION,
    PATTERN_EXAMPLE,
    REFERENCE_OPTION,
    SCREEN_OPTION,
    parse_screening,
    pop_table_options,
    split_pairs,
)
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.coefficients import LEVELS, RANKING_COEFFICIENTS
from earwitness.metaeval.mapping import MAPPING_ORDERS
from earwitness.metaeval.resampling import POPULATIONS
from earwitness.metaeval.settings import ADJUSTMENTS, AgreementSettings
from earwitness.metaeval.significance import CORRECTIONS
from earwitness.stats.votes import AGGREGATES
from earwitness.studies.agree import agree

DEFAULT_SETTINGS = AgreementSettings()


@click.command("agree")
@click.argument("scores", type=FILE_PATH)
@click.argument("ratings", nargs=-1, type=FILE_PATH)
@list_option("--with", "more", type=FILE, help="Scores of further metrics (repeatable).")
@ANSWERS_DB_OPTION
@list_option(
    "--scale",
    "scales",
    metavar="NAME[=LOW:HIGH]",
    help="Rating scale, with its range if needed (repeatable).  [default: all]",
)
@LOW_IS_GOOD_OPTION
@list_option(
    "--metric",
    "metrics",
    metavar="COLUMN",
    help="Column of SCORES that is a metric (repeatable).  [default: all]",
)
@list_option("--low", metavar="COLUMN", help="Metric for which lower is better (repeatable).")
@list_option(
    "--baseline",
    "baselines",
    metavar="COLUMN",
    help="Column of SCORES that is a baseline, not a metric (repeatable).",
)
@option("--outputs", type=FILE, help="System outputs; adds their length as a baseline.")
@text_option(
    "--score-pattern",
    metavar="PATTERN",
    help=f"Pattern of sample names in SCORES, {PATTERN_EXAMPLE}",
)
@text_option("--score-sample", metavar="COLUMN", help="Column of SCORES with sample names.")
@list_option(
    "--score-column",
    "score_columns",
    metavar="NAME=COLUMN",
    help="Rename a column of SCORES (repeatable).",
)
@text_option(
    "--pattern",
    metavar="PATTERN",
    help=f"Pattern of sample names in the ratings table, {PATTERN_EXAMPLE}",
)
@text_option("--sample", metavar="COLUMN", help="Column of the ratings table with sample names.")
@list_option(
    "--column",
    "columns",
    metavar="NAME=COLUMN",
    help="Rename a column of the ratings table (repeatable).",
)
@list_option(
    "--given",
    metavar="NAME=VALUE",
    help="Constant for a column the ratings table lacks, e.g. scale=MOS (repeatable).",
)
@LAYOUT_OPTION
@FAULTS_OPTION
@SCREEN_OPTION
@REFERENCE_OPTION
@ANCHOR_OPTION
@option(
    "--rank",
    "coefficient",
    choices=RANKING_COEFFICIENTS,
    default=DEFAULT_SETTINGS.coefficient,
    help="Coefficient that ranks metrics.",
)
@list_option(
    "--at",
    "levels",
    choices=LEVELS,
    help="Level at which scores and ratings are compared (repeatable).  [default: system, item]",
)
@option(
    "--generalize",
    choices=POPULATIONS,
    default=DEFAULT_SETTINGS.generalize,
    help="What results hold for: other systems, items and raters; other items and raters on these "
    "systems; or other listeners of these items.",
)
@option(
    "--mapping",
    choices=MAPPING_ORDERS,
    default=DEFAULT_SETTINGS.mapping,
    help="Mapping of scores to the rating scale before errors are computed.",
)
@option(
    "--adjust",
    choices=ADJUSTMENTS,
    default=DEFAULT_SETTINGS.adjust,
    help="Adjustment of system means if systems have different items.",
)
@option(
    "--aggregate",
    choices=AGGREGATES,
    default=DEFAULT_SETTINGS.aggregate,
    help="Rating of an output: mean or median of its votes, or mean of votes normalized per rater.",
)
@list_option(
    "--partial",
    metavar="COLUMN",
    help="Column of SCORES to control for in partial correlations, or length of --outputs "
    "(repeatable).",
)
@list_option(
    "--by",
    metavar="FIELD",
    help="Report agreement by a field of items or raters, such as dataset or jury (repeatable).",
)
@list_option(
    "--where",
    metavar="CONDITION",
    help="Use items or raters for which a column fulfils CONDITION, such as accuracy>=0.9 "
    "(repeatable).",
)
@option(
    "--correction",
    choices=CORRECTIONS,
    default=DEFAULT_SETTINGS.correction,
    help="Correction for multiple comparisons.",
)
@option("--level", default=DEFAULT_SETTINGS.level, help="Confidence level of intervals.")
@option("--draws", default=DEFAULT_SETTINGS.draws, help=DRAWS_HELP)
@option("--permutations", default=DEFAULT_SETTINGS.permutations, help="Number of permutations.")
@SEED_OPTION
@report_options
def agree_command(
    scores: Path,
    ratings: tuple[Path, ...],
    **options: Any,
) -> None:
    """Rank metrics by agreement with human ratings.

    SCORES is a table of scores per output, with one column per metric. RATINGS are a study file and
    its answers, or tables of ratings.

    \b
    earwitness agree scores.csv ratings.csv
    earwitness agree samples.jsonl study.yaml answers.jsonl -o report.html
    earwitness agree scores.csv study.yaml --db study.db
    """
    study, files = split_study_file(ratings)
    score_files = [scores, *options.pop("more")]
    outputs = options.pop("outputs")
    target = OutputTarget.of(options, (*score_files, *ratings))
    scoring = ScoreOptions(
        options.pop("score_pattern"),
        options.pop("score_sample"),
        tuple(split_pairs(options.pop("score_columns"), "=")),
        options.pop("metrics"),
        options.pop("low"),
        options.pop("baselines"),
        "" if outputs is None else str(outputs),
    )
    reading = pop_table_options(options)
    scale_texts = options.pop("scales")
    options["scales"] = [one.partition("=")[0] for one in scale_texts]
    options["ends"] = [one for one in scale_texts if "=" in one]
    options["screening"] = parse_screening(options.pop("screening"))
    options["levels"] = options["levels"] or DEFAULT_SETTINGS.levels
    with warnings_as_notes(), progress_bar(unit="steps") as progress:
        concordance = agree(
            score_files,
            files,
            study=study,
            scoring=scoring,
            reading=reading,
            progress=progress,
            **options,
        )
    target.write(concordance)
