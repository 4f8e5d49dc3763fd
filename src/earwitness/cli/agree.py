"""The command agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import OutputTarget, progress_bar, warnings_as_notes
from earwitness.cli.study_analyse import (
    ANCHOR_OPTION,
    FILE_PATH,
    REFERENCE_OPTION,
    SCREEN_OPTION,
    parse_screening,
    split_pairs,
    split_study_file,
)
from earwitness.metaeval.agree import ScoreOptions, study_agree
from earwitness.metaeval.coefficients import COEFFICIENTS, LEVELS
from earwitness.metaeval.mapping import MAPPING_ORDERS
from earwitness.metaeval.resampling import RESAMPLED_AXES
from earwitness.metaeval.settings import ADJUSTMENTS, AgreementSettings
from earwitness.metaeval.significance import SWAP_UNITS
from earwitness.output_formats import FORMS
from earwitness.stats.significance import CORRECTIONS
from earwitness.studies.ratings.collect import TableOptions

DEFAULT_SETTINGS = AgreementSettings()


@click.command("agree")
@click.argument("scores", type=FILE_PATH)
@click.argument("ratings", nargs=-1, type=FILE_PATH)
@click.option(
    "--with", "more", multiple=True, type=FILE_PATH, help="More scores, of other metrics."
)
@click.option("--db", help="A store that has the answers, instead of files of them.")
@click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar="NAME[=LOW:HIGH]",
    help="A scale to look at, and how far it goes.  [default: all]",
)
@click.option(
    "--metric", "metrics", multiple=True, help="A column that is a metric.  [default: all]"
)
@click.option("--low", multiple=True, help="A metric of which low scores are good.")
@click.option("--baseline", "baselines", multiple=True, help="A column that is only to be beaten.")
@click.option("--outputs", type=FILE_PATH, help="Outputs, whose length is a baseline.")
@click.option("--score-pattern", default="", help="How names of scored samples are made.")
@click.option("--score-sample", default="", help="The column of scores that has names of samples.")
@click.option("--score-column", "score_columns", multiple=True, metavar="NAME=COLUMN")
@click.option("--pattern", default="", help="How names of rated samples are made.")
@click.option("--sample", default="", help="The column of ratings that has names of samples.")
@click.option("--column", "columns", multiple=True, metavar="NAME=COLUMN", help="Of ratings.")
@click.option("--given", multiple=True, metavar="NAME=VALUE", help="What ratings do not say.")
@SCREEN_OPTION
@REFERENCE_OPTION
@ANCHOR_OPTION
@click.option(
    "--rank",
    "coefficient",
    type=click.Choice(list(COEFFICIENTS)),
    default=DEFAULT_SETTINGS.coefficient,
    show_default=True,
    help="The coefficient that ranks metrics.",
)
@click.option("--at", "levels", multiple=True, type=click.Choice(LEVELS), help="[default: all]")
@click.option(
    "--over",
    type=click.Choice(list(RESAMPLED_AXES)),
    default=DEFAULT_SETTINGS.over,
    show_default=True,
    help="What intervals draw anew.",
)
@click.option(
    "--swap",
    type=click.Choice(SWAP_UNITS),
    default=DEFAULT_SETTINGS.swap,
    show_default=True,
    help="What the deciding test between metrics swaps.",
)
@click.option(
    "--mapping",
    type=click.Choice(list(MAPPING_ORDERS)),
    default=DEFAULT_SETTINGS.mapping,
    show_default=True,
)
@click.option(
    "--adjust",
    type=click.Choice(ADJUSTMENTS),
    default=DEFAULT_SETTINGS.adjust,
    show_default=True,
    help="What means of systems are adjusted for where systems have different items.",
)
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default=DEFAULT_SETTINGS.correction,
    show_default=True,
)
@click.option(
    "--level", default=DEFAULT_SETTINGS.level, show_default=True, help="Level of intervals."
)
@click.option("--draws", default=DEFAULT_SETTINGS.draws, show_default=True, help="Bootstrap draws.")
@click.option("--permutations", default=DEFAULT_SETTINGS.permutations, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--to", type=click.Choice(FORMS), help="Form.  [default: what --output ends in]")
@click.option("-o", "--output", type=FILE_PATH, help="Write here, not to stdout.")
def agree_command(
    scores: Path,
    ratings: tuple[Path, ...],
    to: str | None,
    output: Path | None,
    **options: Any,
) -> None:
    """How far metrics agree with people, and which one to trust.

    SCORES has what metrics say of outputs, a column each; RATINGS are a study file and answers to
    it, or tables of ratings.

    \b
    earwitness agree scores.csv ratings.csv
    earwitness agree samples.jsonl study.yaml answers.jsonl -o report.html
    earwitness agree scores.csv study.yaml --db study.db
    """
    study, files = split_study_file(ratings)
    score_files = [scores, *options.pop("more")]
    outputs = options.pop("outputs")
    target = OutputTarget(to, output, [str(one) for one in (*score_files, *ratings)], None)
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
    )
    scale_texts = options.pop("scales")
    options["scales"] = [one.partition("=")[0] for one in scale_texts]
    options["ends"] = [one for one in scale_texts if "=" in one]
    options["screening"] = parse_screening(options.pop("screening"))
    options["levels"] = options["levels"] or LEVELS
    with warnings_as_notes(), progress_bar(unit="steps") as progress:
        concordance = study_agree(
            score_files,
            files,
            study=study,
            scoring=scoring,
            reading=reading,
            progress=progress,
            **options,
        )
    target.write(concordance)
