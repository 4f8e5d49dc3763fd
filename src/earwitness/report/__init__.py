"""A result as something to read: ``FORMS`` lists the ways.

A result becomes a report, sections of parts; each medium shows all kinds of parts. Programs get
records instead.
"""

from __future__ import annotations

from collections.abc import Callable

from earwitness.data import Comparison, Concordance, PowerPlan, Results, Scores
from earwitness.report.comparison import comparison_report
from earwitness.report.concordance import (
    concordance_csv,
    concordance_json,
    concordance_report,
)
from earwitness.report.html import html
from earwitness.report.latex import latex
from earwitness.report.markdown import markdown
from earwitness.report.parts import Report
from earwitness.report.power import power_csv, power_json, power_report
from earwitness.report.records import comparison_csv, comparison_json, to_csv, to_json
from earwitness.report.results import results_csv, results_json, results_report, tables_csv
from earwitness.report.scores import scores_report
from earwitness.report.text import text

Result = Scores | Comparison | Results | PowerPlan | Concordance
MEDIA: dict[str, Callable[[Report], str]] = {
    "text": text,
    "md": markdown,
    "html": html,
    "latex": latex,
}
FORMS = ("text", "json", "csv", "md", "html", "latex")


def report_of(result: Result) -> Report:
    """A result as a report."""
    match result:
        case Results():
            return results_report(result)
        case PowerPlan():
            return power_report(result)
        case Comparison():
            return comparison_report(result)
        case Scores():
            return scores_report(result)
        case Concordance():
            return concordance_report(result)


def written(result: Result, form: str) -> str:
    """A result in a form."""
    if form == "json":
        return _json(result)
    return _csv(result) if form == "csv" else MEDIA[form](report_of(result))


def _json(result: Result) -> str:
    match result:
        case Results():
            return results_json(result)
        case PowerPlan():
            return power_json(result)
        case Comparison():
            return comparison_json(result)
        case Scores():
            return to_json(result)
        case Concordance():
            return concordance_json(result)


def _csv(result: Result) -> str:
    match result:
        case Results():
            return results_csv(result)
        case PowerPlan():
            return power_csv(result)
        case Comparison():
            return comparison_csv(result)
        case Scores():
            return to_csv(result)
        case Concordance():
            return concordance_csv(result)


__all__ = ["FORMS", "MEDIA", "Result", "report_of", "tables_csv", "text", "written"]
