"""The command study analyse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from earwitness.cli.output import OutputTarget, check_results, progress_bar, warnings_as_notes
from earwitness.errors import UsageError, nearest
from earwitness.output_formats import FORMS
from earwitness.studies.analyse import results_write, study_analyse
from earwitness.studies.analysis.prepare import REPEAT_RULES
from earwitness.studies.ratings.collect import FAULT_POLICIES, TableOptions
from earwitness.studies.rubric import BUILT_IN_RUBRICS
from earwitness.studies.rubric_totals import BLANK_POLICIES
from earwitness.studies.screening import SCREENS
from earwitness.studies.study import ANALYSIS_CORRECTIONS, ANALYSIS_INTERVALS

FILE_PATH = click.Path(path_type=Path)
STUDY_SUFFIXES = (".yaml", ".yml")
SCREEN_OPTION = click.option(
    "--screen",
    "screening",
    multiple=True,
    type=click.Choice([*SCREENS, "none"]),
    help="A rule with its usual limits.  [default: as planned]",
)
BY_HELP = "Divide results by a field of items or listeners, such as dataset or jury; or none."
RUBRIC_HELP = (
    f"What captions were judged by: {', '.join(BUILT_IN_RUBRICS)}, or none.  [default: what fits]"
)
REFERENCE_OPTION = click.option(
    "--reference", default="", help="The system that is the hidden reference."
)
ANCHOR_OPTION = click.option("--anchor", default="", help="The system that is the middle anchor.")


@click.command("analyse")
@click.argument("files", nargs=-1, type=FILE_PATH, required=True)
@click.option("--db", help="A store that has the answers, instead of files of them.")
@click.option("--pattern", default="", help="How names of samples are made: {system}/{item}.wav")
@click.option("--sample", default="", help="The column that has names of samples.")
@click.option(
    "--column", "columns", multiple=True, metavar="NAME=COLUMN", help="What a column is called."
)
@click.option(
    "--given", multiple=True, metavar="NAME=VALUE", help="What a table does not say: scale=MOS"
)
@click.option(
    "--scale", "scales", multiple=True, metavar="NAME=LOW:HIGH", help="How far a scale goes."
)
@click.option(
    "--interval", type=click.Choice(ANALYSIS_INTERVALS), help="[default: as planned, cluster_t]"
)
@click.option("--level", type=float, help="Level of intervals.  [default: as planned, 0.95]")
@click.option(
    "--correction", type=click.Choice(ANALYSIS_CORRECTIONS), help="[default: as planned, holm]"
)
@click.option("--contrast", "contrasts", multiple=True, metavar="A:B", help="Else all pairs.")
@click.option("--by", multiple=True, metavar="FIELD", help=BY_HELP)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="SCALE=NUMBER",
    help="Test whether systems differ by less than this on a scale.",
)
@click.option("--rubric", default="", metavar="NAME", help=RUBRIC_HELP)
@click.option(
    "--blank",
    type=click.Choice(BLANK_POLICIES),
    help="What a blank is in totals of a rubric.  [default: as planned, drop]",
)
@click.option(
    "--faults",
    type=click.Choice(FAULT_POLICIES),
    default=FAULT_POLICIES[0],
    show_default=True,
    help="Refuse votes that are off their scale, or take them for blanks and list them.",
)
@SCREEN_OPTION
@REFERENCE_OPTION
@ANCHOR_OPTION
@click.option(
    "--doubled", type=click.Choice(REPEAT_RULES), default=REPEAT_RULES[0], show_default=True
)
@click.option("--draws", default=2000, show_default=True, help="Bootstrap draws.")
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--mixed/--no-mixed", default=True, show_default=True, help="Fit mixed models.")
@click.option("--to", type=click.Choice(FORMS), help="Form.  [default: what --output ends in]")
@click.option("-o", "--output", type=FILE_PATH, help="Write here, not to stdout.")
@click.option(
    "--folder", type=FILE_PATH, help="Write report, tables and methods into a new folder."
)
def analyse(
    files: tuple[Path, ...],
    to: str | None,
    output: Path | None,
    folder: Path | None,
    **options: Any,
) -> None:
    """Results of ratings: means, differences, agreement, screening.

    FILES are a study file and answers to it, or tables of ratings.

    \b
    earwitness study analyse study.yaml answers.jsonl
    earwitness study analyse study.yaml --db study.db
    earwitness study analyse ratings.csv -o report.html
    earwitness study analyse captions.csv --rubric thumbs --by dataset --margin total=0.5
    """
    study, ratings = split_study_file(files)
    target = OutputTarget(to, output, [str(one) for one in files])
    check_results([str(one) for one in files], [folder])
    reading = TableOptions(
        pattern=options.pop("pattern"),
        column=options.pop("sample"),
        columns=dict(split_pairs(options.pop("columns"), "=")),
        constants=dict(split_pairs(options.pop("given"), "=")),
        rubric=check_rubric_name(options.pop("rubric")),
        faults=options.pop("faults"),
    )
    contrasts = split_pairs(options.pop("contrasts"), ":")
    screening = parse_screening(options.pop("screening"))
    margins = split_pairs(options.pop("margins"), "=")
    set_options = {name: value for name, value in options.items() if value is not None}
    with warnings_as_notes(), progress_bar(unit="scales") as progress:
        results = study_analyse(
            ratings,
            study=study,
            reading=reading,
            contrasts=contrasts,
            margins=margins,
            screening=screening,
            progress=progress,
            **set_options,
        )
    if folder is not None:
        written = results_write(results, folder)
        click.echo(f"wrote {len(written)} files into {folder}", err=True)
    if folder is None or output is not None or to is not None:
        target.write(results)


def split_study_file(files: Sequence[Path]) -> tuple[Path | None, list[Path]]:
    """The study file, if one is named, and the others."""
    studies = [path for path in files if path.suffix.lower() in STUDY_SUFFIXES]
    if len(studies) > 1:
        raise UsageError(f"name one study file, got {', '.join(map(str, studies))}")
    return (studies[0] if studies else None), [path for path in files if path not in studies]


def split_pairs(texts: Sequence[str], mark: str) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        a, _, b = text.partition(mark)
        if not a or not b:
            raise UsageError(f'"{text}": must have a "{mark}" between two names')
        pairs.append((a, b))
    return pairs


def check_rubric_name(name: str) -> str:
    """A rubric that there is, nothing, or none."""
    if name and name not in (*BUILT_IN_RUBRICS, "none"):
        raise UsageError(
            f'--rubric: there is no "{name}" — {nearest(name, [*BUILT_IN_RUBRICS, "none"])}'
        )
    return name


def parse_screening(names: tuple[str, ...]) -> list[str] | None:
    """Rules by name; ``none`` is no rule, nothing is what was planned."""
    return [name for name in names if name != "none"] if names else None
