"""A result as something to read: ``FORMS`` lists the ways.

A result becomes a report, sections of parts; each medium shows all kinds of parts. Programs get
records instead.
"""

from __future__ import annotations

from collections.abc import Callable

from earwitness.data import Comparison, Scores
from earwitness.report.comparison import comparison_report
from earwitness.report.html import html
from earwitness.report.latex import latex
from earwitness.report.markdown import markdown
from earwitness.report.parts import Report
from earwitness.report.records import comparison_csv, comparison_json, to_csv, to_json
from earwitness.report.scores import scores_report
from earwitness.report.text import text

Result = Scores | Comparison
MEDIA: dict[str, Callable[[Report], str]] = {
    "text": text,
    "md": markdown,
    "html": html,
    "latex": latex,
}
FORMS = ("text", "json", "csv", "md", "html", "latex")


def report_of(result: Result) -> Report:
    """A result as a report."""
    return comparison_report(result) if isinstance(result, Comparison) else scores_report(result)


def written(result: Result, form: str) -> str:
    """A result in a form."""
    if form == "json":
        return comparison_json(result) if isinstance(result, Comparison) else to_json(result)
    if form == "csv":
        return comparison_csv(result) if isinstance(result, Comparison) else to_csv(result)
    return MEDIA[form](report_of(result))


__all__ = ["FORMS", "MEDIA", "Result", "report_of", "text", "written"]
