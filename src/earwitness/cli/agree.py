"""The command agree: metrics compared with human ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.analysis.rating_set import TableOptions
from earwitness.cli.output import (
    FILE_PATH,
    SEED_OPTION,
    OutputTarget,
    progress_bar,
    split_study_file,
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
    report_options,
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
@click.option(
    "--with",
    "more",
    multiple=True,
    type=FILE_PATH,
    metavar="FILE",
    help="Scores of further metrics (repeatable).",
)
@ANSWERS_DB_OPTION
@click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar="NAME[=LOW:HIGH]",
    help="Rating scale, with its range if needed (repeatable).  [default: all]",
)
@LOW_IS_GOOD_OPTION
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="COLUMN",
    help="Column of SCORES that is a metric (repeatable).  [default: all]",
)
@click.option(
    "--low",
    multiple=True,
    metavar="COLUMN",
    help="Metric for which lower is better (repeatable).",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="COLUMN",
    help="Column of SCORES that is a baseline, not a metric (repeatable).",
)
@click.option(
    "--outputs",
    type=FILE_PATH,
    metavar="FILE",
    help="System outputs; adds their length as a baseline.",
)
@click.option(
    "--score-pattern",
    default="",
    metavar="PATTERN",
    help=f"Pattern of sample names in SCORES, {PATTERN_EXAMPLE}",
)
@click.option(
    "--score-sample", default="", metavar="COLUMN", help="Column of SCORES with sample names."
)
@click.option(
    "--score-column",
    "score_columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="Rename a column of SCORES (repeatable).",
)
@click.option(
    "--pattern",
    default="",
    metavar="PATTERN",
    help=f"Pattern of sample names in the ratings table, {PATTERN_EXAMPLE}",
)
@click.option(
    "--sample", default="", metavar="COLUMN", help="Column of the ratings table with sample names."
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="Rename a column of the ratings table (repeatable).",
)
@click.option(
    "--given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Constant for a column the ratings table lacks, e.g. scale=MOS (repeatable).",
)
@LAYOUT_OPTION
@FAULTS_OPTION
@SCREEN_OPTION
@REFERENCE_OPTION
@ANCHOR_OPTION
@click.option(
    "--rank",
    "coefficient",
    type=click.Choice(RANKING_COEFFICIENTS),
    default=DEFAULT_SETTINGS.coefficient,
    show_default=True,
    help="Coefficient that ranks metrics.",
)
@click.option(
    "--at",
    "levels",
    multiple=True,
    type=click.Choice(LEVELS),
    help="Level at which scores and ratings are compared (repeatable).  [default: system, item]",
)
@click.option(
    "--generalize",
    type=click.Choice(list(POPULATIONS)),
    default=DEFAULT_SETTINGS.generalize,
    show_default=True,
    help="What results hold for: other systems, items and raters; other items and raters on these "
    "systems; or other listeners of these items.",
)
@click.option(
    "--mapping",
    type=click.Choice(list(MAPPING_ORDERS)),
    default=DEFAULT_SETTINGS.mapping,
    show_default=True,
    help="Mapping of scores to the rating scale before errors are computed.",
)
@click.option(
    "--adjust",
    type=click.Choice(ADJUSTMENTS),
    default=DEFAULT_SETTINGS.adjust,
    show_default=True,
    help="Adjustment of system means if systems have different items.",
)
@click.option(
    "--aggregate",
    type=click.Choice(AGGREGATES),
    default=DEFAULT_SETTINGS.aggregate,
    show_default=True,
    help="Rating of an output: mean or median of its votes, or mean of votes normalized per rater.",
)
@click.option(
    "--partial",
    multiple=True,
    metavar="COLUMN",
    help="Column of SCORES to control for in partial correlations, or length of --outputs "
    "(repeatable).",
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Report agreement by a field of items or raters, such as dataset or jury (repeatable).",
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Use items or raters for which a column fulfils CONDITION, such as accuracy>=0.9 "
    "(repeatable).",
)
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default=DEFAULT_SETTINGS.correction,
    show_default=True,
    help="Correction for multiple comparisons.",
)
@click.option(
    "--level",
    default=DEFAULT_SETTINGS.level,
    show_default=True,
    help="Confidence level of intervals.",
)
@click.option("--draws", default=DEFAULT_SETTINGS.draws, show_default=True, help=DRAWS_HELP)
@click.option(
    "--permutations",
    default=DEFAULT_SETTINGS.permutations,
    show_default=True,
    help="Number of permutations.",
)
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
    inputs = [str(one) for one in (*score_files, *ratings)]
    target = OutputTarget.of(options, inputs)
    scoring = ScoreOptions(
        options.pop("score_pattern"),
        options.pop("score_sample"),
        tuple(split_pairs(options.pop("score_columns"), "=")),
        options.pop("metrics"),
        options.pop("low"),
        options.pop("baselines"),
        "" if outputs is None else str(outputs),
    )
    reading = TableOptions(
        pattern=options.pop("pattern"),
        column=options.pop("sample"),
        columns=dict(split_pairs(options.pop("columns"), "=")),
        constants=dict(split_pairs(options.pop("given"), "=")),
        layout=options.pop("layout"),
        faults=options.pop("faults"),
    )
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
