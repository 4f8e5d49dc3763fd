"""JSON and CSV export of records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from math import isfinite, isnan
from typing import Any


def json_text(record: Any) -> str:
    """Return a record as JSON, with undefined numbers as null."""
    return (
        json.dumps(_replace_undefined(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


def csv_table(header: list[str], rows: Iterable[list[Any]]) -> str:
    """Return a CSV table with a header; undefined numbers are empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if isinstance(x, float) and isnan(x) else x for x in row])
    return stream.getvalue()


def _replace_undefined(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _replace_undefined(inner) for key, inner in value.items()}
    return (
        [_replace_undefined(inner) for inner in value] if isinstance(value, list | tuple) else value
    )
