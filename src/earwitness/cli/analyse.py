"""``earwitness study analyse``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from earwitness.api.analysing import results_write, study_analyse
from earwitness.api.rated import FAULTS, Reading
from earwitness.cli.notes import notes
from earwitness.cli.progress import bar
from earwitness.cli.target import Target, check_results
from earwitness.errors import UsageError, nearest
from earwitness.listening.analysis.doubled import RULES
from earwitness.listening.planned import CORRECTIONS, INTERVALS
from earwitness.listening.rubrics import BLANKS, BUILT_IN
from earwitness.listening.screening import SCREENS
from earwitness.report import FORMS

FILE = click.Path(path_type=Path)
STUDIES = (".yaml", ".yml")
SCREEN = click.option(
    "--screen",
    "screening",
    multiple=True,
    type=click.Choice([*SCREENS, "none"]),
    help="A rule with its usual limits.  [default: as planned]",
)
BY = "Divide results by a field of items or listeners, such as dataset or jury; or none."
RUBRIC = f"What captions were judged by: {', '.join(BUILT_IN)}, or none.  [default: what fits]"
REFERENCE = click.option("--reference", default="", help="The system that is the hidden reference.")
ANCHOR = click.option("--anchor", default="", help="The system that is the middle anchor.")


@click.command("analyse")
@click.argument("files", nargs=-1, type=FILE, required=True)
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
@click.option("--interval", type=click.Choice(INTERVALS), help="[default: as planned, cluster_t]")
@click.option("--level", type=float, help="Level of intervals.  [default: as planned, 0.95]")
@click.option("--correction", type=click.Choice(CORRECTIONS), help="[default: as planned, holm]")
@click.option("--contrast", "contrasts", multiple=True, metavar="A:B", help="Else all pairs.")
@click.option("--by", multiple=True, metavar="FIELD", help=BY)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="SCALE=NUMBER",
    help="Test whether systems differ by less than this on a scale.",
)
@click.option("--rubric", default="", metavar="NAME", help=RUBRIC)
@click.option(
    "--blank",
    type=click.Choice(BLANKS),
    help="What a blank is in totals of a rubric.  [default: as planned, drop]",
)
@click.option(
    "--faults",
    type=click.Choice(FAULTS),
    default=FAULTS[0],
    show_default=True,
    help="Refuse votes that are off their scale, or take them for blanks and list them.",
)
@SCREEN
@REFERENCE
@ANCHOR
@click.option("--doubled", type=click.Choice(RULES), default=RULES[0], show_default=True)
@click.option("--draws", default=2000, show_default=True, help="Bootstrap draws.")
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option("--mixed/--no-mixed", default=True, show_default=True, help="Fit mixed models.")
@click.option("--to", type=click.Choice(FORMS), help="Form.  [default: what --output ends in]")
@click.option("-o", "--output", type=FILE, help="Write here, not to stdout.")
@click.option("--folder", type=FILE, help="Write report, tables and methods into a new folder.")
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
    study, ratings = parted(files)
    target = Target(to, output, [str(one) for one in files])
    check_results([str(one) for one in files], [folder])
    reading = Reading(
        pattern=options.pop("pattern"),
        column=options.pop("sample"),
        columns=dict(pairs(options.pop("columns"), "=")),
        given=dict(pairs(options.pop("given"), "=")),
        rubric=rubric_named(options.pop("rubric")),
        faults=options.pop("faults"),
    )
    contrasts = pairs(options.pop("contrasts"), ":")
    screening = screening_of(options.pop("screening"))
    margins = pairs(options.pop("margins"), "=")
    given = {name: value for name, value in options.items() if value is not None}
    with notes(), bar(unit="scales") as progress:
        results = study_analyse(
            ratings,
            study=study,
            reading=reading,
            contrasts=contrasts,
            margins=margins,
            screening=screening,
            progress=progress,
            **given,
        )
    if folder is not None:
        written = results_write(results, folder)
        click.echo(f"wrote {len(written)} files into {folder}", err=True)
    if folder is None or output is not None or to is not None:
        target.write(results)


def parted(files: Sequence[Path]) -> tuple[Path | None, list[Path]]:
    """The study file, if one is named, and the others."""
    studies = [path for path in files if path.suffix.lower() in STUDIES]
    if len(studies) > 1:
        raise UsageError(f"name one study file, got {', '.join(map(str, studies))}")
    return (studies[0] if studies else None), [path for path in files if path not in studies]


def pairs(given: Sequence[str], mark: str) -> list[tuple[str, str]]:
    found = []
    for one in given:
        a, _, b = one.partition(mark)
        if not a or not b:
            raise UsageError(f'"{one}": must have a "{mark}" between two names')
        found.append((a, b))
    return found


def rubric_named(name: str) -> str:
    """A rubric that there is, nothing, or none."""
    if name and name not in (*BUILT_IN, "none"):
        raise UsageError(f'--rubric: there is no "{name}" — {nearest(name, [*BUILT_IN, "none"])}')
    return name


def screening_of(given: tuple[str, ...]) -> list[str] | None:
    """Rules by name; ``none`` is no rule, nothing is what was planned."""
    return [name for name in given if name != "none"] if given else None
