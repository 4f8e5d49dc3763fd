"""The function render: results as text, Markdown, HTML, LaTeX, JSON or CSV."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from earwitness.core import is_address
from earwitness.errors import UsageError, nearest

if TYPE_CHECKING:
    from earwitness.metaeval.results import Concordance
    from earwitness.report.parts import Report
    from earwitness.scoring.results import Comparison, Scores
    from earwitness.studies.power import PowerPlan
    from earwitness.studies.results import Results

    Result = Scores | Comparison | Results | PowerPlan | Concordance

# --- Output media --------------------------------------------------------------------------------
# For people, a result becomes a report, which has sections of parts; each output format shows all
# kinds of parts. For programs, a result becomes records. Modules are imported when a result needs
# them, so that the command line starts fast.


FORMS = ("text", "json", "csv", "md", "html", "latex")


class ResultWriters(NamedTuple):
    """The functions that write one type of result."""

    report: Callable[[Any], Report]
    json: Callable[[Any], str]
    csv: Callable[[Any], str]


def _find_writers(result: Result) -> ResultWriters:
    from earwitness.scoring.results import Comparison, Scores

    if isinstance(result, Scores | Comparison):
        from earwitness.scoring import records, report

        if isinstance(result, Scores):
            return ResultWriters(report.scores_report, records.to_json, records.to_csv)
        return ResultWriters(
            report.comparison_report, records.comparison_json, records.comparison_csv
        )
    from earwitness.metaeval.results import Concordance

    if isinstance(result, Concordance):
        from earwitness.metaeval.records import concordance_csv, concordance_json
        from earwitness.metaeval.report import concordance_report

        return ResultWriters(concordance_report, concordance_json, concordance_csv)
    from earwitness.studies.results import Results

    if isinstance(result, Results):
        from earwitness.studies.report import results_report
        from earwitness.studies.report.export import results_csv, results_json

        return ResultWriters(results_report, results_json, results_csv)
    from earwitness.studies.power import power_csv, power_json, power_report

    return ResultWriters(power_report, power_json, power_csv)


def _find_medium(form: str) -> Callable[[Report], str]:
    if form == "html":
        from earwitness.report.html.page import render_html

        return render_html
    if form == "latex":
        from earwitness.report.latex import render_latex

        return render_latex
    from earwitness.report.markdown import render_markdown

    return render_markdown


def make_report(result: Result) -> Report:
    """Return the report of a result."""
    return _find_writers(result).report(result)


# --- Rendering a result --------------------------------------------------------------------------


def render(
    result: Result,
    to: str = "text",
    *,
    width: int = 100,
    folder: str | PathLike[str] | None = None,
) -> str:
    """Convert a result to text in one of several formats.

    Parameters
    ----------
    result
        Result of ``score``, ``people``, ``compare`` or of another analysis.
    to
        Output format: ``"text"`` (tables for a terminal), ``"json"``, ``"csv"``, ``"md"``
        (Markdown), ``"html"`` (one page with figures) or ``"latex"``.
    width
        Width of ``"text"`` in characters.
    folder
        Folder in which an ``"html"`` page will be saved; links to audio files are relative to it.

    Returns
    -------
    str
        The result in the chosen format.

    Raises
    ------
    UsageError
        If the format is unknown.

    Examples
    --------
    >>> from earwitness import score
    >>> scores = score([{"hypothesis": [61], "reference": [60], "duration": 180}])
    >>> render(scores, "csv").splitlines()[0][:17]
    'system,name,value'
    """
    if to not in FORMS:
        raise UsageError(f'unknown output format "{to}" — {nearest(to, FORMS)}')
    if to == "text":
        from earwitness.report.text import render_text

        return render_text(make_report(result), width)
    if to in ("json", "csv"):
        writers = _find_writers(result)
        return (writers.json if to == "json" else writers.csv)(result)
    if to == "html":
        result = _with_relative_audio(result, folder)
    return _find_medium(to)(make_report(result))


def _with_relative_audio(result: Result, folder: str | PathLike[str] | None) -> Result:
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


def _relative_audio_path(audio: str, folder: str | PathLike[str] | None) -> str:
    if not audio or is_address(audio):
        return audio
    if folder is None:
        return Path(audio).absolute().as_posix()
    return Path(os.path.relpath(audio, folder)).as_posix()
