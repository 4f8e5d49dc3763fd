"""Results as JSON, as CSV tables in a folder, and as a methods paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from earwitness.analysis.report import (
    agreement,
    choices,
    differences,
    equivalence,
    groups,
    listeners,
    means,
    plane,
    rubric,
    screening,
)
from earwitness.analysis.report.choices import choice_rows
from earwitness.analysis.report.means import MEAN_COLUMNS, mean_rows
from earwitness.analysis.report.wording import name_people
from earwitness.analysis.results import Results
from earwitness.report.columns import TableRows, record_rows, table_csv
from earwitness.report.result import json_text

# --- Methods paragraph ---------------------------------------------------------------------------
# Every sentence is derived from the results. Analyses that were not run are not mentioned, nor are
# figures that are all undefined.


UNKNOWN_PROCEDURE = (
    "Protocol, design, order and playback are not part of the ratings and must be added by the "
    "authors."
)


METHODS = (  # in the order of the paragraph
    screening,
    rubric,
    means,
    differences,
    equivalence,
    plane,
    groups,
    choices,
    agreement,
)


def methods_paragraph(results: Results) -> str:
    """Return the methods paragraph of results, to copy into a paper."""
    program = f"All analyses were computed with Earwitness {results.version}".rstrip()
    program = f"{program} ({results.signature})." if results.signature else f"{program}."
    sentences = (name_people(results, sentence) for sentence in _methods_sentences(results))
    return " ".join([*sentences, program])


def _methods_sentences(results: Results) -> Iterator[str]:
    if results.simulated:
        yield "All listeners were simulated."
    if procedure := results.procedure:
        yield from (procedure.protocol, procedure.design, procedure.order)
        if not results.simulated:  # simulated listeners play no sounds
            yield procedure.playback
    else:
        yield UNKNOWN_PROCEDURE
    for topic in METHODS:
        yield from topic.methods(results)
    for change in results.changed:
        yield f"Deviation from the planned analysis: {change.rstrip('.')}."


# --- CSV tables ----------------------------------------------------------------------------------


TABLES = (
    means,
    differences,
    choices,
    listeners,
    screening,
    agreement,
    equivalence,
    groups,
    rubric,
    plane,
)


def results_tables(results: Results) -> dict[str, TableRows]:
    """Return all tables by name; empty tables are omitted."""
    return {
        name: table
        for topic in TABLES
        for name, table in topic.tables(results).items()
        if table.rows
    }


def tables_csv(results: Results) -> dict[str, str]:
    """Return CSV tables by file name; empty tables are omitted."""
    return {f"{name}.csv": table_csv(table) for name, table in results_tables(results).items()}


def results_csv(results: Results) -> str:
    """Return one CSV table with one line per estimate; undefined numbers are empty."""
    rows = (row for scale in results.scales for row in (*mean_rows(scale), *choice_rows(scale)))
    return table_csv(record_rows(MEAN_COLUMNS, rows, results.signature))


# --- JSON ----------------------------------------------------------------------------------------


# Mappings whose keys are listeners rather than names of systems, methods or figures.
LISTENER_KEYED_FIELDS = ("biases", "inconsistencies", "listeners", "people")
CHOICE_COLUMNS = ("wins", "losses", "ties", "p")


def results_json(results: Results) -> str:
    """Return results and the methods paragraph as JSON; undefined numbers are null."""
    return json_text(_plain_value(results) | {"methods": methods_paragraph(results)})


def _plain_value(value: Any, name: str = "") -> Any:
    """Return dataclasses as objects, and mappings whose keys are not names as lists."""
    if isinstance(value, Mapping):
        return _plain_mapping(value, name)
    if is_dataclass(value):
        record = {field.name: getattr(value, field.name) for field in fields(value)}
        key = record.pop("key", None)
        return (_plain_value(key) if key else {}) | {
            n: _plain_value(x, n) for n, x in record.items()
        }
    return [_plain_value(inner) for inner in value] if isinstance(value, list | tuple) else value


def _plain_mapping(value: Mapping[Any, Any], name: str) -> Any:
    if name == "counts":
        return [{"value": vote, "votes": votes} for vote, votes in value.items()]
    if name == "raters":
        return [_plain_value(key) | {"raters": count} for key, count in value.items()]
    if name == "qualities":
        return [_plain_value(key) | _plain_value(quality) for key, quality in value.items()]
    if name in LISTENER_KEYED_FIELDS:
        return [{"listener": who} | _listener_record(figures) for who, figures in value.items()]
    return {str(key): _plain_value(inner) for key, inner in value.items()}


def _listener_record(figures: Any) -> dict[str, Any]:
    if isinstance(figures, tuple):
        return dict(zip(CHOICE_COLUMNS, figures, strict=True))
    record: dict[str, Any] = _plain_value(figures)
    return record
