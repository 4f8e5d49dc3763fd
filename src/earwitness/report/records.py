"""A result for programs: JSON with everything in it, CSV with a line an estimate."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from math import isnan
from typing import Any

from earwitness.data import Left, Scores

COLUMNS = ("system", "name", "value", "low", "high", "level", "n", "undefined", "method")


def to_json(scores: Scores) -> str:
    """All of a result; undefined numbers are null."""
    return dump(scores_record(scores))


def dump(record: Any) -> str:
    """JSON in which undefined numbers are null."""
    return json.dumps(_defined(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def scores_record(scores: Scores) -> dict[str, Any]:
    """All of a result."""
    return {
        "signature": scores.signature,
        "provenance": asdict(scores.provenance),
        "systems": {
            system: {name: asdict(estimate) for name, estimate in estimates.items()}
            for system, estimates in scores.systems.items()
        },
        "skipped": [_left(one) for one in scores.skipped],
        "emptied": [_left(one) for one in scores.emptied],
        "worst_by": scores.worst_by if scores.worst else None,
        "worst": [{**asdict(one.key), "values": dict(one.values)} for one in scores.worst],
        "notes": list(scores.notes),
    }


def to_csv(scores: Scores) -> str:
    """A line an estimate, each with signature and provenance; undefined numbers are empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*COLUMNS, "signature", "provenance"])
    made = json.dumps(asdict(scores.provenance), ensure_ascii=False)
    for system, estimates in scores.systems.items():
        for name, estimate in estimates.items():
            row = [system, name, *asdict(estimate).values(), scores.signature, made]
            writer.writerow(["" if isinstance(x, float) and isnan(x) else x for x in row])
    return stream.getvalue()


def _left(left: Left) -> dict[str, Any]:
    return {**asdict(left.key), "line": left.line or None, "reason": left.reason}


def _defined(value: Any) -> Any:
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, dict):
        return {key: _defined(inner) for key, inner in value.items()}
    return [_defined(inner) for inner in value] if isinstance(value, list | tuple) else value
