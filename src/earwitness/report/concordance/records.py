"""Concordance for programs."""

from __future__ import annotations

from typing import Any

from earwitness.data import Concordance, Figure
from earwitness.report.concordance.rows import COLUMNS, scale_rows
from earwitness.report.records import csv_table, dump


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
