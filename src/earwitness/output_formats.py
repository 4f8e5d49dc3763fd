"""The function render: results as text, Markdown, HTML, LaTeX, JSON or CSV, by their type."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from earwitness.core import StrPath, is_address
from earwitness.errors import UsageError, nearest
from earwitness.plugins import RESULT_GROUP, PluginTable
from earwitness.report import apply_renderer

if TYPE_CHECKING:
    from earwitness.report.paper import IntervalForm
    from earwitness.report.parts import Report
    from earwitness.report.result import Result

# --- Output media --------------------------------------------------------------------------------
# For people, a result has a report, which has sections of parts; each output format shows all kinds
# of parts. For programs, a result has JSON and CSV. Modules are imported when a result needs them,
# so that the command line starts fast.


FORMS = ("text", "json", "csv", "md", "html", "latex")
TABLES = ("paper", "full")
INTERVAL_FORMS = ("brackets", "plus-minus", "none")


def _find_medium(form: str) -> Callable[[Report], str]:
    if form == "html":
        from earwitness.report.html.page import render_html

        return render_html
    if form == "latex":
        from earwitness.report.latex import render_latex

        return render_latex
    from earwitness.report.markdown import render_markdown

    return render_markdown


# --- Renderers by type of result -----------------------------------------------------------------


class Renderer(NamedTuple):
    """Functions of one type of result, in the notation of entry points (``module:function``).

    Attributes
    ----------
    report
        Returns the report.
    tables
        Returns all tables by name, the main table first.
    paper_table
        Returns the table for a paper; by default there is none.
    json
        Returns JSON; by default the tables, as lists of records.
    csv
        Returns CSV; by default the main table.
    """

    report: str
    tables: str
    paper_table: str = "earwitness.report.result:refuse_paper_table"
    json: str = "earwitness.report.result:tables_json"
    csv: str = "earwitness.report.result:main_table_csv"


def _check_renderer(_name: str, loaded: Any) -> str:
    return "" if isinstance(loaded, Renderer) else "is not an instance of Renderer"


RENDERERS: PluginTable[Renderer] = PluginTable(
    RESULT_GROUP,
    {
        "earwitness.scoring.results.Scores": Renderer(
            report="earwitness.scoring.report:scores_report",
            tables="earwitness.scoring.records:scores_tables",
            paper_table="earwitness.scoring.report:scores_table",
            json="earwitness.scoring.records:to_json",
            csv="earwitness.scoring.records:to_csv",
        ),
        "earwitness.scoring.results.Comparison": Renderer(
            report="earwitness.scoring.report:comparison_report",
            tables="earwitness.scoring.records:comparison_tables",
            paper_table="earwitness.scoring.report:comparison_table",
            json="earwitness.scoring.records:comparison_json",
        ),
        "earwitness.word_networks.NetworkResult": Renderer(
            report="earwitness.word_networks:network_report",
            tables="earwitness.word_networks:network_tables",
        ),
        "earwitness.skims.types.SkimRun": Renderer(
            report="earwitness.skims.report:skimming_report",
            tables="earwitness.skims.report:skimming_tables",
        ),
        "earwitness.studies.study.Design": Renderer(
            report="earwitness.studies.design.report:design_report",
            tables="earwitness.studies.file.listener_rows:design_tables",
        ),
        "earwitness.studies.simulate.SimulatedStudy": Renderer(
            report="earwitness.studies.simulate:simulation_report",
            tables="earwitness.studies.simulate:simulation_tables",
        ),
        "earwitness.analysis.power.PowerPlan": Renderer(
            report="earwitness.analysis.power:power_report",
            tables="earwitness.analysis.power:power_tables",
            paper_table="earwitness.analysis.power:power_table",
            json="earwitness.analysis.power:power_json",
        ),
        "earwitness.analysis.results.Results": Renderer(
            report="earwitness.analysis.report:results_report",
            tables="earwitness.analysis.report.export:results_tables",
            paper_table="earwitness.analysis.report:results_table",
            json="earwitness.analysis.report.export:results_json",
            csv="earwitness.analysis.report.export:results_csv",
        ),
        "earwitness.metaeval.results.Concordance": Renderer(
            report="earwitness.metaeval.report:concordance_report",
            tables="earwitness.metaeval.records:concordance_tables",
            paper_table="earwitness.metaeval.report:concordance_table",
            json="earwitness.metaeval.records:concordance_json",
        ),
        "earwitness.experiments.results.ReferencesExperiment": Renderer(
            report="earwitness.experiments.report:experiment_report",
            tables="earwitness.experiments.results:experiment_tables",
            paper_table="earwitness.experiments.report:experiment_paper_table",
        ),
    },
    _check_renderer,
)


# --- Rendering a result --------------------------------------------------------------------------


def render(
    result: Result,
    to: str = "text",
    *,
    table: str | None = None,
    interval_form: str | None = None,
    width: int = 100,
    folder: StrPath | None = None,
    title: str = "",
) -> str:
    """Convert a result to text in one of several formats.

    Parameters
    ----------
    result
        Result of ``score``, ``people``, ``compare`` or of another analysis.
    to
        Output format: ``"text"`` (tables for a terminal), ``"json"``, ``"csv"``, ``"md"``
        (Markdown), ``"html"`` (one page with figures) or ``"latex"``.
    table
        ``"paper"`` for one table with the main values, best values in bold and significance marks,
        or ``"full"`` for everything. By default ``"paper"`` for LaTeX, else ``"full"``.
    interval_form
        How the table for a paper shows confidence intervals: ``"brackets"`` (default),
        ``"plus-minus"`` or ``"none"``. ± is half the width of an interval; columns with intervals
        that are not symmetric have brackets.
    width
        Width of ``"text"`` in characters.
    folder
        Folder in which an ``"html"`` page will be saved; links to audio files are relative to it.
    title
        Title of the report, instead of the default one. ``"text"`` has a title only if it is set;
        ``"json"`` and ``"csv"`` have none.

    Returns
    -------
    str
        The result in the chosen format.

    Raises
    ------
    UsageError
        If the format or the table is unknown, or if they do not go together.

    Examples
    --------
    >>> from earwitness import score
    >>> scores = score([{"hypothesis": [61], "reference": [60], "duration": 180}])
    >>> render(scores, "csv").splitlines()[1][:17]
    'system,name,value'
    """
    if to not in FORMS:
        raise UsageError(f'unknown output format "{to}" — {nearest(to, FORMS)}')
    if choose_table(to, table, interval_form) == "paper":
        from earwitness.report.paper import render_paper_table

        form = cast("IntervalForm", interval_form or INTERVAL_FORMS[0])
        return render_paper_table(apply_renderer(result, "paper_table"), to, form, width)
    if to == "text":
        from earwitness.report.text import render_text

        text = render_text(apply_renderer(result, "report"), width)
        return f"{title}\n\n{text}" if title else text
    if to in ("json", "csv"):
        written: str = apply_renderer(result, to)
        return written
    if to == "html":
        result = _with_relative_audio(result, folder)
    report: Report = apply_renderer(result, "report")
    return _find_medium(to)(replace(report, title=title or report.title))


def choose_table(to: str, table: str | None = None, interval_form: str | None = None) -> str:
    """Return the table to write: by default one for a paper as LaTeX, else the full report."""
    for what, name, names in (
        ("table", table, TABLES),
        ("form of intervals", interval_form, INTERVAL_FORMS),
    ):
        if name is not None and name not in names:
            raise UsageError(f'unknown {what} "{name}" — {nearest(name, names)}')
    chosen = table or ("paper" if to == "latex" else "full")
    if chosen == "paper" and to == "json":
        raise UsageError("the table for a paper is not available as JSON — use csv")
    if chosen == "full" and interval_form is not None:
        raise UsageError("interval_form requires the table for a paper — set --table paper")
    return chosen


def write_figures(result: Result, folder: StrPath) -> list[Path]:
    """Save all figures of the report of a result as SVG, PDF and PNG.

    Parameters
    ----------
    result
        Result of ``score``, ``people``, ``compare`` or of another analysis.
    folder
        Folder to create; it must not exist.

    Returns
    -------
    list of Path
        Paths of the files, in the order of the report.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    UsageError
        If the folder exists.
    """
    from earwitness.report.figures import save_figures

    return save_figures(apply_renderer(result, "report"), folder)


def _with_relative_audio(result: Result, folder: StrPath | None) -> Result:
    """Return the result with paths of audio files relative to a folder, or absolute without one."""
    from earwitness.scoring.results import Comparison, Scores

    if isinstance(result, Comparison):
        scores = _with_relative_audio(result.scores, folder)
        assert isinstance(scores, Scores)
        return replace(result, scores=scores)
    if isinstance(result, Scores):
        examples = [
            replace(example, audio=_relative_audio_path(example.audio, folder))
            for example in result.shown
        ]
        return replace(result, shown=tuple(examples))
    return result  # has no audio files


def _relative_audio_path(audio: str, folder: StrPath | None) -> str:
    if not audio or is_address(audio):
        return audio
    if folder is None:
        return Path(audio).absolute().as_posix()
    return Path(os.path.relpath(audio, folder)).as_posix()
