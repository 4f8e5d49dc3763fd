"""Results of ratings as a report, and as records."""

from earwitness.report.results.folder import tables_csv
from earwitness.report.results.records import results_csv, results_json
from earwitness.report.results.whole import results_report

__all__ = ["results_csv", "results_json", "results_report", "tables_csv"]
