"""Outputs and references in two files, joined by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Key
from earwitness.formats.chapters.layouts import LATER, OUTPUTS, REFERENCES, Output, Reference
from earwitness.formats.chapters.parsed import (
    Hashes,
    Ints,
    Parsed,
    count_later,
    is_name,
    item_name,
)
from earwitness.formats.check import Fault
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import Seen, hash_names
from earwitness.formats.source import Block, Source
from earwitness.timeline import ChapterCases, Ragged


@dataclass
class References:
    """References by item, in columns."""

    rows: dict[str, int]
    duration: NDArray[np.float64]
    boundaries: Ragged
    hashes: Hashes
    lines: Ints
    bad: dict[str, str]


def parse_outputs(block: Block, references: References, on_error: OnError) -> Parsed:
    """Cases of an outputs file, joined with their references by item."""
    findings = Findings(on_error)
    taken: list[Output] = []
    lines: list[int] = []
    for line, found in OUTPUTS.read(block):
        output = found if isinstance(found, Output) else _mend_output(block, line, found, findings)
        if output is not None and _has_reference(block, line, output, references, findings):
            taken.append(output)
            lines.append(line)
    items = [str(output.item) for output in taken]
    rows = np.array([references.rows[item] for item in items], np.int64)
    cases = ChapterCases(
        items,
        [str(output.system) for output in taken],
        references.duration[rows],
        Ragged.of([output.output.boundaries for output in taken]),
        references.boundaries.take(rows),
    )
    later = count_later([output.output for output in taken], LATER)
    return Parsed(cases, np.array(lines, np.int64), references.hashes[rows], findings, later)


def _mend_output(block: Block, line: int, text: bytes, findings: Findings) -> Output | None:
    value, faults = OUTPUTS.faults(text)
    item, system = value.get("item"), value.get("system")
    key = Key(item_name(item, line), str(system) if is_name(system) else "")
    empty: dict[str, Any] = {"boundaries": []}
    mended = OUTPUTS.without_output(value, faults, empty) if findings.on_error == "empty" else None
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended


def _has_reference(
    block: Block, line: int, output: Output, references: References, findings: Findings
) -> bool:
    item = str(output.item)
    if item in references.rows:
        return True
    reason = references.bad.get(item)
    if reason:
        fault = Fault("item", f"its reference is bad: {reason}")
    else:
        fault = Fault("item", f'no reference for "{item}"', "add one, or leave the item out")
    findings.bad(block.source, line, Key(item, str(output.system)), [fault])
    return False


def empty_outputs(references: References, items: list[str], system: str) -> Parsed:
    """Cases for items that a system said nothing about."""
    rows = np.array([references.rows[item] for item in items], np.int64)
    cases = ChapterCases(
        items,
        [system] * len(items),
        references.duration[rows],
        Ragged.of([[] for _ in items]),
        references.boundaries.take(rows),
    )
    return Parsed(cases, np.zeros(len(items), np.int64), references.hashes[rows], Findings())


def read_references(source: Source, on_error: OnError) -> tuple[References, Findings]:
    """A whole references file; it must fit into memory."""
    findings, seen = Findings(on_error), Seen()
    bad: dict[str, str] = {}
    taken: list[Reference] = []
    lines: list[int] = []
    for block in source.blocks():
        part = Findings(on_error)
        for line, found in REFERENCES.read(block):
            reference = _good_reference(block, line, found, part, bad)
            if reference is not None:
                taken.append(reference)
                lines.append(line)
        findings.merge(part)
    items = [str(reference.item) for reference in taken]
    numbers, hashes = np.array(lines, np.int64), hash_names(items)
    rows: dict[str, int] = {}
    for row, (item, line, first) in enumerate(
        zip(items, lines, seen.add(hashes, numbers).tolist(), strict=True)
    ):
        if first:
            fault = Fault("item", f'"{item}" is also on line {first}', "keep one")
            findings.bad(source.name, line, Key(item, ""), [fault])
        else:
            rows[item] = row
    columns = References(
        rows,
        np.array([reference.duration for reference in taken], np.float64),
        Ragged.of([reference.references[0].boundaries for reference in taken]),
        hashes,
        numbers,
        bad,
    )
    return columns, findings


def _good_reference(
    block: Block, line: int, found: Reference | bytes, findings: Findings, bad: dict[str, str]
) -> Reference | None:
    if isinstance(found, Reference):
        if len(found.references) == 1:
            return found
        item: Any = found.item
        many = f"{len(found.references)} references"
        faults = [Fault("references", f"{many}; one per item is scored for now", "keep one")]
    else:
        value, faults = REFERENCES.faults(found)
        item = value.get("item")
    named = item_name(item, line)
    bad[named] = "; ".join(fault.message for fault in faults)
    findings.bad(block.source, line, Key(named, ""), faults)
    return None
