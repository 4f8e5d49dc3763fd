"""Agreement results as JSON and as one long CSV table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from earwitness.core import Estimate
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MetricDifference,
    MetricFigures,
    SampleSizeCurve,
    ScaleConcordance,
)
from earwitness.report.export import csv_table, dump

# --- Rows of the long table ----------------------------------------------------------------------


ESTIMATE_COLUMNS = ("value", "low", "high", "confidence", "n", "undefined", "method")
COLUMNS = (
    *("scale", "metric", "role", "level", "coefficient", *ESTIMATE_COLUMNS),
    *("group", "against", "p_inputs", "p_systems", "p_both", "p_williams", "p_corrected"),
    *("mapping", "by", "count", "system"),
)
ERROR_FIELDS = ("pearson", "rmse", "rmse_star", "outliers")
Row = dict[str, Any]


def scale_rows(scale: ScaleConcordance) -> Iterator[Row]:
    """All numbers of a scale; what does not speak of a column leaves it out."""
    for metric in scale.metrics:
        yield from _figures(scale, metric)
    for figure, own in scale.chance.items():
        yield _row("chance", own, figure)
    for one in scale.ceilings:
        yield _row("rater", one.rater, one.figure)
        yield _row("halves", one.halves, one.figure)
        if one.stepped == one.stepped:
            yield _of(one.figure) | {"role": "panels", "value": one.stepped}
    yield from map(_difference, scale.apart)
    for metric in scale.metrics:
        yield from _errors(metric)
    for curve in scale.curves:
        yield from _curve(curve)
    yield from _means(scale)


def _row(role: str, own: Estimate, figure: Figure | None = None, **more: Any) -> Row:
    numbers = dict(zip(ESTIMATE_COLUMNS, asdict(own).values(), strict=True))
    return (_of(figure) if figure else {}) | {"role": role} | numbers | more


def _of(figure: Figure) -> Row:
    return {"level": figure.level, "coefficient": figure.coefficient}


def _figures(scale: ScaleConcordance, metric: MetricFigures) -> Iterator[Row]:
    """Coefficients, with the group of a metric where it is ranked, and margins of ties."""
    groups = {
        one.figure: number
        for one in scale.ranked
        for number, names in enumerate(one.groups, 1)
        if metric.metric in names
    }
    role = "baseline" if metric.baseline else "metric"
    for figure, own in metric.figures.items():
        yield _row(role, own, figure, metric=metric.metric, group=groups.get(figure, ""))
    for level, margin in metric.margins.items():
        yield {"role": "margin", "metric": metric.metric, "level": level, "value": margin}


def _difference(one: MetricDifference) -> Row:
    """A metric less another, with p of every test."""
    p = {f"p_{what}": value for what, value in one.p.items()}
    tests = p | {"p_williams": one.williams, "p_corrected": one.corrected}
    return _row("difference", one.difference, one.figure, metric=one.a, against=one.b, **tests)


def _errors(metric: MetricFigures) -> Iterator[Row]:
    for one in metric.mapped:
        for name in ERROR_FIELDS:
            figure = Figure(one.level, name)
            own: Estimate = getattr(one, name)
            yield _row("error", own, figure, metric=metric.metric, mapping=one.used)


def _curve(curve: SampleSizeCurve) -> Iterator[Row]:
    """A point a count and a metric, and the least count that is enough (0: more than there are)."""
    for count, row in curve.points:
        for name, own in row.items():
            yield _row("curve", own, curve.figure, metric=name, by=curve.what, count=count)
    for name, least in curve.enough.items():
        said = {"role": "enough", "metric": name, "by": curve.what, "value": least}
        yield _of(curve.figure) | said


def _means(scale: ScaleConcordance) -> Iterator[Row]:
    """What people say of every system, and what metrics do."""
    for system, own in scale.people.items():
        yield _row("people", own, system=system)
    for metric in scale.metrics:
        for system, own in metric.systems.items():
            yield _row("mean", own, metric=metric.metric, system=system)
        for system, own in metric.people.items():
            yield _row("people", own, metric=metric.metric, system=system)


# --- JSON and CSV --------------------------------------------------------------------------------


def concordance_json(found: Concordance) -> str:
    """All of it; figures are called by level and coefficient."""
    return dump(_plain(found))


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def concordance_csv(found: Concordance) -> str:
    """A line a number; ``role`` says which."""
    return csv_table(
        [*COLUMNS, "signature"],
        (
            [*(row.get(name, "") for name in COLUMNS), found.signature]
            for scale in found.scales
            for row in (one | {"scale": scale.scale.name} for one in scale_rows(scale))
        ),
    )
