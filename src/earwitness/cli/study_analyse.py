"""The command study analyse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from earwitness.analysis.plan import (
    ANALYSIS_ADJUSTMENTS,
    ANALYSIS_CORRECTIONS,
    ANALYSIS_INTERVALS,
    ANALYSIS_TESTS,
    POPULATIONS,
)
from earwitness.analysis.prepare import REPEAT_RULES
from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.screening import PRESETS, SCREENS
from earwitness.cli.options import report_options
from earwitness.cli.output import (
    FAULTS_HELP,
    FILE_PATH,
    FOLDER,
    SEED_OPTION,
    OutputTarget,
    add_options,
    choice_option,
    flag_option,
    list_option,
    option,
    print_message,
    progress_bar,
    split_study_file,
    text_option,
    warnings_as_notes,
)
from earwitness.errors import UsageError, nearest
from earwitness.ratings.columns import LAYOUTS
from earwitness.ratings.rubric import BUILT_IN_RUBRICS
from earwitness.ratings.rubric_totals import BLANK_POLICIES, FAULT_POLICIES
from earwitness.studies.analyse import results_write, study_analyse

SCREEN_OPTION = list_option(
    "--screen",
    "screening",
    choices=[*SCREENS, *PRESETS, "none"],
    help="Screening rule with its default limits, or none (repeatable).  [default: as planned]",
)
BY_HELP = (
    "Report results by a field of items or listeners, such as dataset or jury, or none "
    "(repeatable).  [default: as planned]"
)
RUBRIC_HELP = (
    f"Rubric of the captions: {', '.join(BUILT_IN_RUBRICS)}, or none.  [default: from the columns]"
)
REFERENCE_OPTION = text_option(
    "--reference",
    metavar="NAME",
    help="System that is the hidden reference.  [default: from the study]",
)
ANCHOR_OPTION = list_option(
    "--anchor",
    metavar="[SCALE=]NAME",
    help="System that is an anchor, on all scales or on one (repeatable).  "
    "[default: from the study]",
)
LOW_IS_GOOD_OPTION = list_option(
    "--low-is-good",
    metavar="SCALE",
    help="Rating scale where lower is better, such as annoyance (repeatable).",
)
ANSWERS_DB_OPTION = option(
    "--db",
    metavar="FILE|URL",
    help="Database with the answers (SQLite file or postgresql://...), instead of answer files.",
)
DRAWS_HELP = "Number of bootstrap draws."
PATTERN_EXAMPLE = "e.g. */{system}_{item}_*.wav (* is any text)."
# of commands that write a report
LAYOUT_OPTION = choice_option(
    "--layout",
    choices=LAYOUTS,
    help="Layout of ratings tables. auto: recognize tables of other tools; matrix: one column per "
    "listener; plain: only the documented columns.",
)
FAULTS_OPTION = choice_option("--faults", choices=FAULT_POLICIES, help=FAULTS_HELP)
# of commands that read tables of ratings
table_options = add_options(
    text_option("--pattern", metavar="PATTERN", help=f"Pattern of sample names, {PATTERN_EXAMPLE}"),
    text_option("--sample", metavar="COLUMN", help="Column with sample names."),
    list_option(
        "--column",
        "columns",
        metavar="NAME=COLUMN",
        help="Rename a column of the table, e.g. listener=worker (repeatable).",
    ),
    list_option(
        "--given",
        metavar="NAME=VALUE",
        help="Constant for a column the table lacks, e.g. scale=MOS (repeatable).",
    ),
    LAYOUT_OPTION,
    text_option("--rubric", metavar="NAME", help=RUBRIC_HELP),
    FAULTS_OPTION,
)


def pop_table_options(options: dict[str, Any]) -> TableOptions:
    """Remove the options of ``table_options`` and return how tables are read."""
    return TableOptions(
        pattern=options.pop("pattern"),
        column=options.pop("sample"),
        columns=dict(split_pairs(options.pop("columns"), "=")),
        constants=dict(split_pairs(options.pop("given"), "=")),
        layout=options.pop("layout"),
        rubric=check_rubric_name(options.pop("rubric", "")),
        faults=options.pop("faults"),
    )


@click.command("analyse")
@click.argument("files", nargs=-1, type=FILE_PATH, required=True)
@ANSWERS_DB_OPTION
@table_options
@list_option(
    "--scale",
    "scales",
    metavar="NAME=LOW:HIGH",
    help="Range of a scale, e.g. MOS=1:5 (repeatable).",
)
@LOW_IS_GOOD_OPTION
@flag_option(
    "--means",
    help="Read means over raters, one row per item and system, and compare systems over items. The "
    "number of raters is in a column raters or n, or set with --given raters=N.",
)
@option(
    "--interval",
    choices=ANALYSIS_INTERVALS,
    help="Method of confidence intervals.  [default: as planned, else cluster_t]",
)
@option(
    "--generalize",
    choices=POPULATIONS,
    help="Generalize to other listeners on these items, or to other items as well.  "
    "[default: as planned, else listeners]",
)
@option(
    "--level", type=float, help="Confidence level of intervals.  [default: as planned, else 0.95]"
)
@option(
    "--correction",
    choices=ANALYSIS_CORRECTIONS,
    help="Correction for multiple comparisons.  [default: as planned, else holm]",
)
@option(
    "--adjust",
    choices=ANALYSIS_ADJUSTMENTS,
    help="Adjust means for the items that systems were rated on.  [default: as planned, else none]",
)
@option(
    "--test",
    choices=ANALYSIS_TESTS,
    help="Test of pairs of systems; wilcoxon: by ranks, with a Friedman test of all systems.  "
    "[default: as planned, else t]",
)
@list_option(
    "--contrast",
    "contrasts",
    metavar="A:B",
    help="Pair of systems to compare (repeatable).  [default: as planned, else all pairs]",
)
@list_option("--by", metavar="FIELD", help=BY_HELP)
@list_option(
    "--margin",
    "margins",
    metavar="SCALE=FLOAT",
    help="Equivalence margin in points of a scale (repeatable).",
)
@option(
    "--blank",
    choices=BLANK_POLICIES,
    help="Handling of blank cells in totals of a rubric.  [default: as planned, else drop]",
)
@SCREEN_OPTION
@REFERENCE_OPTION
@ANCHOR_OPTION
@choice_option(
    "--doubled",
    choices=REPEAT_RULES,
    help="Handling of repeated ratings of a sample by a listener.",
)
@option("--draws", default=2000, help=DRAWS_HELP)
@SEED_OPTION
@option("--mixed/--no-mixed", default=True, help="Fit mixed models.")
@report_options
@option("--folder", type=FOLDER, help="Folder to create for the report, tables and methods text.")
def analyse_command(
    files: tuple[Path, ...],
    folder: Path | None,
    **options: Any,
) -> None:
    """Analyse ratings: means, differences, agreement, screening.

    FILES are a study file and its answers, or tables of ratings. With a study file, the analysis
    planned in it is run.

    \b
    earwitness study analyse study.yaml answers.jsonl
    earwitness study analyse study.yaml --db study.db
    earwitness study analyse ratings.csv -o report.html
    earwitness study analyse captions.csv --rubric thumbs --by dataset --margin total=0.5
    earwitness study analyse effort.csv --test wilcoxon --low-is-good EFFORT --anchor noisy
    earwitness study analyse published.csv --means --given raters=8
    """
    study, ratings = split_study_file(files)
    is_written = any(options[name] is not None for name in ("output", "to", "table"))
    target = OutputTarget.of(options, files, folder)
    reading = pop_table_options(options)
    contrasts = split_pairs(options.pop("contrasts"), ":")
    screening = parse_screening(options.pop("screening"))
    margins = split_pairs(options.pop("margins"), "=")
    set_options = {name: value for name, value in options.items() if value is not None}
    with warnings_as_notes(), progress_bar(unit="steps") as progress:
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
        written = results_write(results, folder, title=target.title)
        print_message(f"wrote {len(written)} files into {folder}")
    if folder is None or is_written:
        target.write(results)
    else:
        target.write_figures(results)


def split_pairs(texts: Sequence[str], mark: str) -> list[tuple[str, str]]:
    """Split texts such as ``a=b`` at the mark."""
    pairs = []
    for text in texts:
        a, _, b = text.partition(mark)
        if not a or not b:
            raise UsageError(f'"{text}": must be two names separated by "{mark}"')
        pairs.append((a, b))
    return pairs


def check_rubric_name(name: str) -> str:
    """Return the name of a rubric, ``none`` or an empty text; refuse unknown names."""
    if name and name not in (*BUILT_IN_RUBRICS, "none"):
        raise UsageError(
            f'--rubric: unknown rubric "{name}" — {nearest(name, [*BUILT_IN_RUBRICS, "none"])}'
        )
    return name


def parse_screening(names: tuple[str, ...]) -> list[str] | None:
    """Return names of rules: an empty list for ``none``, None for the planned rules."""
    return [name for name in names if name != "none"] if names else None
