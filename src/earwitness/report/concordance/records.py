"""Concordance for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from earwitness.data import Concordance, Estimate, Figure
from earwitness.report.records import csv_table, dump

COLUMNS = ("value", "low", "high", "confidence", "n", "undefined", "method")


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
    """A line a figure: metrics, chance, and people."""
    rows = []
    for scale in found.scales:
        name = scale.scale.name
        for metric in scale.metrics:
            role = "baseline" if metric.baseline else "metric"
            for figure, own in metric.figures.items():
                rows.append([name, metric.metric, role, *figure, *_numbers(own)])
        for figure, own in scale.chance.items():
            rows.append([name, "", "chance", *figure, *_numbers(own)])
        for one in scale.ceilings:
            rows.append([name, "", "rater", *one.figure, *_numbers(one.rater)])
            rows.append([name, "", "halves", *one.figure, *_numbers(one.halves)])
    header = ["scale", "metric", "role", "level", "coefficient", *COLUMNS, "signature"]
    return csv_table(header, [[*row, found.signature] for row in rows])


def _numbers(estimate: Estimate) -> list[Any]:
    return list(asdict(estimate).values())
