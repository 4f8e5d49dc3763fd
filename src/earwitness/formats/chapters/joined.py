"""Outputs and references in two files, joined by item."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Key
from earwitness.errors import InputError, Problem, nearest
from earwitness.formats.chapters.layouts import (
    LATER,
    OUTPUTS,
    REFERENCES,
    Output,
    Reference,
    refuse_other_files,
)
from earwitness.formats.chapters.parsed import Hashes, Ints, Parsed, count_later, item_name
from earwitness.formats.check import Fault, is_name
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import Seen, hash_names
from earwitness.formats.source import Block, Source
from earwitness.timeline import ChapterCases, Ragged

FEW = 1000  # names among which a near one is looked for


@dataclass
class References:
    """References by item, in columns; ``bad`` are the items whose reference cannot be used."""

    rows: dict[str, int]
    duration: NDArray[np.float64]
    boundaries: Ragged
    hashes: Hashes
    bad: dict[str, str]
    later: Counter[str]

    def cases(
        self, items: list[str], systems: list[str], outputs: list[list[float]]
    ) -> tuple[ChapterCases, Ints]:
        """Cases of outputs for these items, and the rows of their references."""
        rows = np.array([self.rows[item] for item in items], np.int64)
        columns = ChapterCases(
            items,
            systems,
            self.duration[rows],
            Ragged.of(outputs),
            self.boundaries.take(rows),
        )
        return columns, rows


def parse_outputs(block: Block, references: References, on_error: OnError) -> Parsed:
    """Cases of an outputs file, joined with their references by item."""
    refuse_other_files("outputs", block, on_error)
    findings, taken, lines = Findings(on_error), list[Output](), list[int]()
    answered: list[tuple[str, int]] = []
    for line, found in OUTPUTS.read(block):
        if isinstance(found, Output) and str(found.item) in references.rows:
            output: Output | None = found
        else:
            output = _mend(block, line, found, references, findings, answered)
        if output is not None:
            taken.append(output)
            lines.append(line)
    items = [str(output.item) for output in taken]
    systems = [str(output.system) for output in taken]
    cases, rows = references.cases(items, systems, [o.output.boundaries for o in taken])
    answered += zip(systems, rows.tolist(), strict=True)
    later = count_later([output.output for output in taken], LATER)
    numbers = np.array(lines, np.int64)
    return Parsed(cases, numbers, references.hashes[rows], findings, later, answered)


def _mend(
    block: Block,
    line: int,
    found: Output | bytes,
    references: References,
    findings: Findings,
    answered: list[tuple[str, int]],
) -> Output | None:
    """What can be made of a line that is bad or has no reference; it is noted."""
    value: dict[str, Any]
    if isinstance(found, bytes):
        value, faults = OUTPUTS.faults(found)
    else:
        value, faults = {"item": found.item, "system": found.system}, []
    item, system = value.get("item"), value.get("system")
    key = Key(item_name(item, line), str(system) if is_name(system) else "")
    if is_name(item) and key.item not in references.rows:
        faults += _no_reference(key.item, references, findings.on_error)
    elif is_name(item) and key.system:
        answered.append((key.system, references.rows[key.item]))
    mended = None
    if findings.on_error == "empty":
        mended = OUTPUTS.without_output(value, faults, {"boundaries": []})
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended


def _no_reference(item: str, references: References, on_error: OnError) -> list[Fault]:
    reason = references.bad.get(item)
    if reason is None:
        few = references.rows if len(references.rows) <= FEW else ()
        remedy = nearest(item, few) if few else ""
        remedy = remedy if remedy.startswith("did") else "add one, or leave the item out"
        return [Fault("item", f'no reference for "{item}"', remedy)]
    if on_error == "fail":
        return []  # the references file has been blamed already
    return [Fault("item", f"its reference is bad: {reason}")]


def empty_outputs(references: References, items: list[str], system: str) -> Parsed:
    """Cases for items that a system said nothing about."""
    cases, rows = references.cases(items, [system] * len(items), [[] for _ in items])
    return Parsed(cases, np.zeros(len(items), np.int64), references.hashes[rows], Findings())


def read_references(source: Source, on_error: OnError) -> tuple[References, Findings]:
    """A whole references file; it must fit into memory."""
    findings, seen = Findings(on_error), Seen()
    bad: dict[str, str] = {}
    kept: list[Reference] = []
    for block in source.blocks():
        refuse_other_files("references", block, on_error)
        taken, lines = list[Reference](), list[int]()
        for line, found in REFERENCES.read(block):
            reference = _good_reference(block, line, found, findings, bad)
            if reference is not None:
                taken.append(reference)
                lines.append(line)
        hashes = hash_names([str(reference.item) for reference in taken])
        earlier = seen.add(hashes, np.array(lines, np.int64)).tolist()
        for reference, line, first in zip(taken, lines, earlier, strict=True):
            if first:
                fault = Fault("item", f'"{reference.item}" is also on line {first}', "keep one")
                findings.bad(source.name, line, Key(str(reference.item), ""), [fault])
            else:
                kept.append(reference)
    if not kept and not bad:
        raise InputError([Problem(source.name, 0, "", "no reference in it")])
    return _columns(kept, bad), findings


def _columns(kept: list[Reference], bad: dict[str, str]) -> References:
    items = [str(reference.item) for reference in kept]
    return References(
        {item: row for row, item in enumerate(items)},
        np.array([reference.duration for reference in kept], np.float64),
        Ragged.of([reference.references[0].boundaries for reference in kept]),
        hash_names(items),
        bad,
        count_later([reference.references[0] for reference in kept], LATER),
    )


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
