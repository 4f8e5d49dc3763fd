"""Rows of pandas and polars data frames as records, without importing either library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

OUTPUT_LEVEL = ("item", "system", "output", "meta")  # columns outside the object ``output``
REFERENCE_FIELDS = ("annotator", "boundaries", "positions", "preset", "text", "titles")
WHOLE_RECORD_COLUMNS = {"output", "references", "hypothesis", "hyp_words", "hyp_sentences"}
META_PREFIX = "meta."


@runtime_checkable
class DataFrame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""


def is_frame(data: object) -> TypeGuard[DataFrame]:
    """Return whether data is a pandas or polars data frame."""
    return hasattr(data, "columns") and (hasattr(data, "to_dicts") or hasattr(data, "to_dict"))


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """Return one record per row; missing cells are omitted.

    Named index levels of a pandas frame are columns; an unnamed index is ignored.
    """
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    else:
        named = any(name is not None for name in frame.index.names)
        rows = (frame.reset_index() if named else frame).to_dict("records")
    return [
        {str(name): cell for name, cell in row.items() if not _is_missing(cell)} for row in rows
    ]


def _is_missing(cell: Any) -> bool:
    """Return whether a cell has no value: None, NaN, or the missing value of pandas."""
    return cell is None or (
        not isinstance(cell, list | tuple | dict | str) and _differs_from_itself(cell)
    )


def _differs_from_itself(cell: Any) -> bool:
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):  # the missing value of pandas has no truth; arrays have many
        return type(cell).__name__ == "NAType"


def output_records(frame: DataFrame) -> list[dict[str, Any]]:
    """Return the outputs of a frame with one row per item and system.

    Columns other than ``item``, ``system`` and ``meta.…`` are fields of the output, unless there is
    a column ``output`` with whole outputs.

    >>> class Rows:
    ...     columns = ("item", "system", "boundaries", "meta.kind")
    ...     def to_dicts(self):
    ...         return [{"item": "a", "system": "x", "boundaries": [61.0], "meta.kind": "talk"}]
    >>> output_records(Rows())
    [{'item': 'a', 'system': 'x', 'output': {'boundaries': [61.0]}, 'meta': {'kind': 'talk'}}]
    """
    records = [_gather_meta(record) for record in frame_records(frame)]
    if WHOLE_RECORD_COLUMNS & {*map(str, frame.columns)}:
        return records
    nested = list[dict[str, Any]]()
    for record in records:
        upper: dict[str, Any] = {
            name: record[name] for name in ("item", "system") if name in record
        }
        output = {name: cell for name, cell in record.items() if name not in OUTPUT_LEVEL}
        meta = {"meta": record["meta"]} if "meta" in record else {}
        nested.append({**upper, "output": output, **meta})
    return nested


def reference_records(frame: DataFrame) -> list[dict[str, Any]]:
    """Return the references of a frame with one row per item and annotator.

    ``boundaries``, ``titles``, ``positions``, ``text``, ``preset`` and ``annotator`` are fields of
    a reference; all other columns belong to the item, and are taken from its first row.
    """
    records = [_gather_meta(record) for record in frame_records(frame)]
    if WHOLE_RECORD_COLUMNS & {*map(str, frame.columns)}:
        return records
    items: dict[Any, dict[str, Any]] = {}
    for record in records:
        reference = {name: record.pop(name) for name in REFERENCE_FIELDS if name in record}
        item = items.setdefault(record.get("item"), {**record, "references": []})
        item["references"].append(reference)
    return list(items.values())


def _gather_meta(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose columns ``meta.…`` are fields of the object ``meta``."""
    inside = {
        name.removeprefix(META_PREFIX): cell
        for name, cell in record.items()
        if name.startswith(META_PREFIX)
    }
    outside = {name: cell for name, cell in record.items() if not name.startswith(META_PREFIX)}
    return {**outside, "meta": {**outside.get("meta", {}), **inside}} if inside else outside
