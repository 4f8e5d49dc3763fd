"""By what captions were judged, and what was odd."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results, RubricResults
from earwitness.report.methods.words import ALL, several
from earwitness.report.sentences import listed

BLANKS = {
    "drop": "a rater with a blank is left out of the total of that caption, and of nothing else",
    "zero": "a blank penalty counts as 0 in totals, a blank score leaves the rater out",
    "refuse": "there are no blanks",
}
FAULTS = {
    "blank": ("blank", "blanks"),
    "duplicate": ("duplicate caption", "duplicate captions"),
    "positive penalty": ("positive penalty", "positive penalties"),
    "off scale": ("number off its scale", "numbers off their scales"),
    "other total": ("table of other totals", "tables of other totals"),
}


def faults_counted(results: Results) -> list[str]:
    """How many faults there are of each kind."""
    kinds: dict[str, int] = {}
    for one in results.faults:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return [several(count, *FAULTS[kind]) for kind, count in kinds.items()]


def judged_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    rubric = results.rubric
    if rubric is not None:
        yield _judged_by(rubric)
    if counts := faults_counted(results):
        yield f"Faults found: {listed(counts, ALL)}."
    if rubric is not None and rubric.correlations:
        yield (
            "Correlations of dimensions are Pearson's and Spearman's over captions, and Pearson's "
            "within raters, with intervals by a bootstrap over items."
        )


def _judged_by(rubric: RubricResults) -> str:
    return (
        f"Captions were judged by the rubric {rubric.name}. The total is {rubric.formula}, made "
        f"for each rater and then averaged; {BLANKS.get(rubric.blank, rubric.blank)}."
    )
