"""A result for programs: JSON with everything in it, CSV with a line an estimate."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isfinite, isnan
from typing import Any

from earwitness.data import Comparison, Contrast, Estimates, GroupContrasts, Left, People, Scores

COLUMNS = ("system", "name", "value", "low", "high", "level", "n", "undefined", "method")
TESTED = ("p", "p_corrected", "better")


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
        "systems": _systems(scores.systems),
        "slices": [
            {
                "field": one.field,
                "groups": {group: _systems(systems) for group, systems in one.groups.items()},
            }
            for one in scores.slices
        ],
        "people": _people(scores.people),
        "sweeps": [asdict(sweep) for sweep in scores.sweeps],
        "courses": [asdict(course) for course in scores.courses],
        "skipped": [_left(one) for one in scores.skipped],
        "emptied": [_left(one) for one in scores.emptied],
        "worst_by": scores.worst_by if scores.worst else None,
        "worst": [{**asdict(one.key), "values": dict(one.values)} for one in scores.worst],
        "notes": list(scores.notes),
    }


def comparison_json(comparison: Comparison) -> str:
    """All of it; undefined numbers are null."""
    return dump(
        {
            "signature": comparison.signature,
            "items": comparison.items,
            "alpha": comparison.alpha,
            "systems": _systems(comparison.systems),
            "contrasts": [_contrast(one) for one in comparison.contrasts],
            "groups": [
                {**asdict(group), "contrasts": [_contrast(one) for one in group.contrasts]}
                for group in comparison.groups
            ],
            "scores": scores_record(comparison.scores),
        }
    )


def _contrast(contrast: Contrast) -> dict[str, Any]:
    """Without the size of an effect, which comparisons do not have."""
    return {name: value for name, value in asdict(contrast).items() if name != "effect"}


def to_csv(scores: Scores) -> str:
    """A line an estimate, each with signature and provenance; undefined numbers are empty."""
    made = json.dumps(asdict(scores.provenance), ensure_ascii=False)
    return csv_table(
        [*COLUMNS, "field", "group", "signature", "provenance"],
        (
            [system, name, *asdict(estimate).values(), field, group, scores.signature, made]
            for field, group, systems in _parts(scores)
            for system, estimates in systems.items()
            for name, estimate in estimates.items()
        ),
    )


def _parts(scores: Scores) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
    """All estimates: the whole, groups, courses over z, and people beside systems."""
    yield "", "", scores.systems
    for one in scores.slices:
        for group, systems in one.groups.items():
            yield one.field, group, systems
    for course in scores.courses:
        yield "(z)", course.family, {course.method: course.estimates}
    if scores.people is not None:
        yield "(people)", "ceiling", {"": scores.people.ceiling}
        yield "(people)", "systems", scores.people.systems
        yield "(people)", "annotators", scores.people.annotators


def comparison_csv(comparison: Comparison) -> str:
    """A line a contrast; undefined numbers are empty."""
    whole = GroupContrasts("", "", comparison.items, comparison.contrasts)
    return csv_table(
        ["name", "a", "b", *COLUMNS[2:], *TESTED, "field", "group", "items", "alpha", "signature"],
        (
            [
                c.value,
                c.a,
                c.b,
                *asdict(c.difference).values(),
                c.p,
                c.p_corrected,
                c.better,
                *where,
            ]
            for of in (whole, *comparison.groups)
            for where in [(of.field, of.group, of.items, comparison.alpha, comparison.signature)]
            for c in of.contrasts
        ),
    )


def csv_table(header: list[str], rows: Iterable[list[Any]]) -> str:
    """Lines with a header; undefined numbers are empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if isinstance(x, float) and isnan(x) else x for x in row])
    return stream.getvalue()


def _systems(systems: Mapping[str, Estimates]) -> dict[str, dict[str, Any]]:
    return {system: _estimates(estimates) for system, estimates in systems.items()}


def _estimates(estimates: Estimates) -> dict[str, Any]:
    return {name: asdict(estimate) for name, estimate in estimates.items()}


def _people(people: People | None) -> dict[str, Any] | None:
    if people is None:
        return None
    return {
        "items": people.items,
        "ceiling": _estimates(people.ceiling),
        "systems": _systems(people.systems),
        "annotators": _systems(people.annotators),
    }


def _left(left: Left) -> dict[str, Any]:
    return {**asdict(left.key), "line": left.line or None, "reason": left.reason}


def _defined(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _defined(inner) for key, inner in value.items()}
    return [_defined(inner) for inner in value] if isinstance(value, list | tuple) else value
