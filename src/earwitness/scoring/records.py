"""Scores and comparisons as JSON and CSV; files of samples and alignments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from earwitness.core import Contrast, Estimates, FaultyCase, Key
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFiles, AtomicWriter
from earwitness.io.tables import comment_line, csv_text
from earwitness.registry import BUILT_IN_TASKS
from earwitness.report.columns import TableRows, record_rows, table_csv
from earwitness.report.result import json_text
from earwitness.report.tables import contrast_cells, contrast_columns
from earwitness.scoring.results import (
    KEY_COLUMNS,
    REFERENCE_COLUMNS,
    Comparison,
    GroupContrasts,
    Scores,
)

# --- JSON and CSV --------------------------------------------------------------------------------


ESTIMATE_COLUMNS = ("system", "name", "value", "low", "high", "level", "n", "undefined", "method")


def to_json(scores: Scores) -> str:
    """Return scores as JSON; undefined numbers are null."""
    return json_text(scores_record(scores))


def scores_record(scores: Scores) -> dict[str, Any]:
    """Return scores as a record; parts of other built-in tasks than that of the run are empty."""
    parts: dict[str, Any] = {name: [] for task in BUILT_IN_TASKS.values() for name in task.parts}
    return {
        "signature": scores.signature,
        "provenance": scores.provenance,
        "systems": scores.systems,
        "slices": scores.slices,
        "people": scores.people,
        "sweeps": scores.sweeps,
        **(parts | {part.name: part.record() for part in scores.parts}),
        "skipped": [_left(case) for case in scores.skipped],
        "emptied": [_left(case) for case in scores.emptied],
        "worst_by": scores.worst_by if scores.worst else None,
        "worst": [{**asdict(case.key), "values": case.values} for case in scores.worst],
        "notes": scores.notes,
    }


def comparison_json(comparison: Comparison) -> str:
    """Return a comparison as JSON; undefined numbers are null."""
    return json_text(
        {
            "signature": comparison.signature,
            "items": comparison.items,
            "alpha": comparison.alpha,
            "systems": comparison.systems,
            "contrasts": [_contrast(contrast) for contrast in comparison.contrasts],
            "groups": [
                {
                    **asdict(group),
                    "contrasts": [_contrast(contrast) for contrast in group.contrasts],
                }
                for group in comparison.groups
            ],
            "scores": scores_record(comparison.scores),
        }
    )


def _contrast(contrast: Contrast) -> dict[str, Any]:
    """Return a contrast without its effect size, which comparisons do not have."""
    return {name: value for name, value in asdict(contrast).items() if name != "effect"}


def to_csv(scores: Scores) -> str:
    """Return one line per estimate below a comment with the provenance."""
    return table_csv(_estimate_rows(scores), provenance=asdict(scores.provenance))


def scores_tables(scores: Scores) -> dict[str, TableRows]:
    """Return the tables of scores by name: estimates, and the values of cases if they were kept."""
    tables: dict[str, TableRows] = {"scores": _estimate_rows(scores)}
    if scores.samples is not None:
        tables["samples"] = TableRows(scores.samples.columns, scores.samples.rows)
    return tables


def _estimate_rows(scores: Scores) -> TableRows:
    rows = (
        [system, name, *asdict(estimate).values(), field, group]
        for field, group, systems in _parts(scores)
        for system, estimates in systems.items()
        for name, estimate in estimates.items()
    )
    return TableRows((*ESTIMATE_COLUMNS, "field", "group"), rows, scores.signature)


def _parts(scores: Scores) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
    """Yield all estimates: overall, groups, parts of the task, and annotators with systems."""
    yield "", "", scores.systems
    for slicing in scores.slices:
        for group, systems in slicing.groups.items():
            yield slicing.field, group, systems
    for part in scores.parts:
        yield from part.estimates()
    if scores.people is not None:
        yield "(people)", "ceiling", {"": scores.people.ceiling}
        yield "(people)", "systems", scores.people.systems
        yield "(people)", "annotators", scores.people.annotators


def comparison_tables(comparison: Comparison) -> dict[str, TableRows]:
    """Return the tables of a comparison by name: contrasts, systems on common items, scores."""
    systems = (
        [system, name, *asdict(estimate).values()]
        for system, estimates in comparison.systems.items()
        for name, estimate in estimates.items()
    )
    whole = GroupContrasts("", "", comparison.items, comparison.contrasts)
    contrasts = (
        (c.value, *contrast_cells(c), of.field, of.group, of.items, comparison.alpha)
        for of in (whole, *comparison.groups)
        for c in of.contrasts
    )
    columns = ("name", *contrast_columns((), "holm"), "field", "group", "items", "alpha")
    return {
        "contrasts": record_rows(columns, contrasts, comparison.signature),
        "systems": TableRows(ESTIMATE_COLUMNS, systems, comparison.signature),
        **scores_tables(comparison.scores),
    }


def _left(left: FaultyCase) -> dict[str, Any]:
    return {**asdict(left.key), "line": left.line or None, "reason": left.reason}


# --- Table of values per case --------------------------------------------------------------------


SAMPLE_TABLE_SUFFIXES = (".csv", ".jsonl")


class SampleTable(AtomicWriter):
    """Writer of rows ``item, system, value …`` as .csv or .jsonl, with the signature.

    Undefined values are empty or null. If references are ``drawn``, rows also have the number of
    references and the number of the draw.
    """

    def __init__(
        self,
        path: str | Path,
        names: Sequence[str],
        signature: str,
        files: AtomicFiles | None = None,
        *,
        drawn: bool = False,
    ) -> None:
        self._path, self._names, self._signature = Path(path), tuple(names), signature
        self._more = REFERENCE_COLUMNS if drawn else ()
        if self._path.suffix not in SAMPLE_TABLE_SUFFIXES:
            raise UsageError(
                f"{self._path}: unknown format of the sample table — use .csv or .jsonl"
            )
        super().__init__(self._path, files)

    def _begin(self) -> None:
        if self._path.suffix == ".csv":
            header = csv_text([(*KEY_COLUMNS, *self._more, *self._names)])
            self._stream.write(comment_line(signature=self._signature) + header)

    def write(
        self,
        keys: Sequence[Key],
        values: Sequence[Sequence[float]],
        references: tuple[int, int] = (0, 0),
    ) -> None:
        """Write cases with their values, and the number of references and of the draw."""
        more = dict(zip(self._more, references, strict=False))
        rows = zip(keys, values, strict=True)
        if self._path.suffix == ".csv":
            cells = ((key.item, key.system, *more.values(), *row) for key, row in rows)
            self._stream.write(csv_text(cells))
            return
        for key, row in rows:  # msgspec writes NaN as null
            record = {
                "item": key.item,
                "system": key.system,
                **more,
                "values": dict(zip(self._names, row, strict=True)),
                "signature": self._signature,
            }
            self._stream.write(msgspec.json.encode(record).decode() + "\n")


# --- File of word alignments ---------------------------------------------------------------------


class AlignmentFile(AtomicWriter):
    """Writer of alignments: one heading per case, its alignment, and a blank line."""

    def write(self, keys: Sequence[Key], alignments: Sequence[str]) -> None:
        """Write cases with their alignments, or "(no words)"."""
        for key, text in zip(keys, alignments, strict=True):
            self._stream.write(f"## {key.item}, {key.system}\n\n{text or '(no words)'}\n\n")
