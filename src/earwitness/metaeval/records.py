"""Agreement results as JSON and as one long CSV table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from earwitness.core import Estimate
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MetricFigures,
    SampleSizeCurve,
    ScaleConcordance,
)
from earwitness.report.columns import TableRows
from earwitness.report.result import json_text

# --- Rows of the long table ----------------------------------------------------------------------


ESTIMATE_COLUMNS = ("value", "low", "high", "level", "n", "undefined", "method")
COLUMNS = (
    *("scale", "metric", "role", "at", "coefficient", *ESTIMATE_COLUMNS),
    *("group", "against", "p_items", "p_systems", "p_outputs", "p_williams", "p_corrected"),
    *("mapping", "by", "count", "system", "by_group"),
)
ERROR_FIELDS = ("pearson", "rmse", "rmse_star", "outliers")
Row = dict[str, Any]


def scale_rows(scale: ScaleConcordance) -> Iterator[Row]:
    """Yield all results of a scale as rows; columns that do not apply are omitted."""
    for metric in scale.metrics:
        yield from _figure_rows(scale, metric)
    for figure, estimate in scale.chance.items():
        yield _estimate_row("chance", estimate, figure)
    for ceiling in scale.ceilings:
        yield _estimate_row("rater", ceiling.rater, ceiling.figure)
        yield _estimate_row("halves", ceiling.halves, ceiling.figure)
        if ceiling.stepped == ceiling.stepped:
            yield _figure_columns(ceiling.figure) | {"role": "panels", "value": ceiling.stepped}
    for pair in scale.apart:
        p = {f"p_{what}": value for what, value in pair.p.items()}
        p |= {"p_williams": pair.williams, "p_corrected": pair.corrected}
        yield _estimate_row(
            "difference", pair.difference, pair.figure, metric=pair.a, against=pair.b, **p
        )
    for metric in scale.metrics:
        for errors in metric.mapped:
            columns = {"metric": metric.metric, "mapping": errors.used}
            for name in ERROR_FIELDS:
                error = Figure(errors.level, name)
                yield _estimate_row("error", getattr(errors, name), error, **columns)
    for curve in scale.curves:
        yield from _curve_rows(curve)
    for system, estimate in scale.people.items():
        yield _estimate_row("people", estimate, system=system)
    for metric in scale.metrics:
        for system, estimate in metric.systems.items():
            yield _estimate_row("mean", estimate, metric=metric.metric, system=system)
        for system, estimate in metric.people.items():
            yield _estimate_row("people", estimate, metric=metric.metric, system=system)
    for group in scale.groups:  # ``by`` is the field and ``by_group`` its value
        for name, figures in group.figures.items():
            for figure, estimate in figures.items():
                columns = {"metric": name, "by": group.field, "by_group": group.group}
                yield _estimate_row("group", estimate, figure, **columns)


def _estimate_row(
    role: str, estimate: Estimate, figure: Figure | None = None, **columns: Any
) -> Row:
    numbers = dict(zip(ESTIMATE_COLUMNS, asdict(estimate).values(), strict=True))
    return (_figure_columns(figure) if figure else {}) | {"role": role} | numbers | columns


def _figure_columns(figure: Figure) -> Row:
    return {"at": figure.level, "coefficient": figure.coefficient}


def _figure_rows(scale: ScaleConcordance, metric: MetricFigures) -> Iterator[Row]:
    """Yield coefficients, with the group of a ranked metric, and margins of ties."""
    groups = {
        ranking.figure: number
        for ranking in scale.ranked
        for number, names in enumerate(ranking.groups, 1)
        if metric.metric in names
    }
    role = "baseline" if metric.baseline else "metric"
    for figure, estimate in metric.figures.items():
        yield _estimate_row(
            role, estimate, figure, metric=metric.metric, group=groups.get(figure, "")
        )
    for level, margin in metric.margins.items():
        yield {"role": "margin", "metric": metric.metric, "at": level, "value": margin}


def _curve_rows(curve: SampleSizeCurve) -> Iterator[Row]:
    """Yield a row per count and metric, and the smallest sufficient count.

    This count is 0 if more are needed, and empty without a range of draws.
    """
    for count, row in curve.points:
        for name, estimate in row.items():
            yield _estimate_row(
                "curve", estimate, curve.figure, metric=name, by=curve.what, count=count
            )
    for name, least in curve.enough.items():
        columns = {"role": "enough", "metric": name, "by": curve.what, "value": least}
        yield _figure_columns(curve.figure) | columns


# --- JSON and CSV --------------------------------------------------------------------------------


def concordance_json(concordance: Concordance) -> str:
    """Return the result as JSON; keys of figures are level and coefficient."""
    return json_text(concordance, Figure)


def concordance_tables(concordance: Concordance) -> dict[str, TableRows]:
    """Return the table ``figures``: one row per number, and ``role`` names its kind."""
    rows = (
        [row.get(name, "") for name in COLUMNS]
        for scale in concordance.scales
        for row in (scale_row | {"scale": scale.scale.name} for scale_row in scale_rows(scale))
    )
    return {"figures": TableRows(COLUMNS, rows, concordance.signature)}
