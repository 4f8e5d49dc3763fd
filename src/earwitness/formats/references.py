"""A references file, to which outputs are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.data import Cases, Key
from earwitness.errors import InputError, Problem
from earwitness.formats.check import Fault
from earwitness.formats.lines import Lines
from earwitness.formats.mistaken import refuse_other_files
from earwitness.formats.parsed import Hashes, Parsed, given, item_name
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import Seen, hash_names
from earwitness.formats.slices import Labels, Slicing
from earwitness.formats.source import Block, Source


@dataclass
class References:
    """References by item: ``cases`` are those of nobody, with empty outputs.

    ``annotators`` names the references of every case; ``metas`` are the items' metas if slices are
    wanted; ``bad`` are the items whose references cannot be used.
    """

    lines: Lines
    rows: dict[str, int]
    cases: Cases
    annotators: list[list[str]]
    hashes: Hashes
    audio: dict[str, str]
    metas: list[dict[str, Any]]
    by: tuple[Slicing, ...]
    bad: dict[str, str]
    remarks: Counter[str]

    def join(self, items: list[str], systems: list[str], outputs: list[Any]) -> Parsed:
        """Cases of outputs for these items."""
        rows = np.array([self.rows[item] for item in items], np.int64)
        cases = self.lines.join(self.cases.take(rows), systems, outputs)
        answered = list(zip(systems, rows.tolist(), strict=True))
        lines = np.zeros(len(items), np.int64)
        remarks = self.lines.remarks(cases, outputs, references=False)
        return Parsed(cases, lines, self.hashes[rows], Findings(), remarks, answered)

    def names(self, items: Iterable[str]) -> list[str]:
        """Who made each of the references of these items."""
        return [name for item in items for name in self.annotators[self.rows[item]]]

    def labels(self, parsed: Parsed, metas: list[dict[str, Any]]) -> Labels:
        """Groups of cases: the item's meta decides, then the output's."""
        if not self.by:
            return Labels()
        rows = [row for _, row in parsed.answered]
        found = enumerate(zip(rows, metas, strict=True))
        fields = ((self.metas[r], m, self.lines.fields(parsed.cases, i)) for i, (r, m) in found)
        return Labels.of(self.by, fields)


def read_references(
    source: Source, lines: Lines, on_error: OnError, by: tuple[Slicing, ...] = ()
) -> tuple[References, Findings]:
    """A whole references file; it must fit into memory."""
    findings, seen = Findings(on_error), Seen()
    bad: dict[str, str] = {}
    kept: list[Good] = []
    for block in source.blocks():
        refuse_other_files("references", block, on_error)
        taken, numbers = list[Good](), list[int]()
        for line, found in lines.references.read(block):
            good = _good(block, line, found, findings, bad, lines)
            if good is not None:
                taken.append(good)
                numbers.append(line)
        hashes = hash_names([str(good.record.item) for good in taken])
        earlier = seen.add(hashes, np.array(numbers, np.int64)).tolist()
        for good, line, first in zip(taken, numbers, earlier, strict=True):
            if first:
                item = str(good.record.item)
                fault = Fault("item", f'"{item}" is also on line {first}', "keep one")
                findings.bad(source.name, line, Key(item, ""), [fault])
            else:
                kept.append(good)
    if not kept and not bad:
        raise InputError([Problem(source.name, 0, "", "no reference in it")])
    return _columns(kept, bad, by, lines), findings


class Good(NamedTuple):
    """A reference record with what each of its references is, and who made it."""

    record: Any
    resolved: list[Any]
    annotators: list[str]


def _columns(
    kept: list[Good], bad: dict[str, str], by: tuple[Slicing, ...], lines: Lines
) -> References:
    records = [good.record for good in kept]
    items = [str(record.item) for record in records]
    cases = lines.of_references(records, [good.resolved for good in kept])
    named = zip(items, records, strict=True)
    every = [one for good in kept for one in good.resolved]
    return References(
        lines,
        {item: row for row, item in enumerate(items)},
        cases,
        [good.annotators for good in kept],
        hash_names(items),
        {item: record.audio for item, record in named if record.audio is not UNSET},
        [given(record.meta) for record in records] if by else [],
        by,
        bad,
        lines.remarks(cases, every, references=True),
    )


def _annotators(reference: Any) -> list[str]:
    """Who made each reference of an item; who is not named is numbered."""
    given_ = [one.annotator for one in reference.references]
    return [f"reference {n}" if a is UNSET else str(a) for n, a in enumerate(given_, 1)]


def _good(
    block: Block, line: int, found: Any, findings: Findings, bad: dict[str, str], lines: Lines
) -> Good | None:
    if isinstance(found, bytes):
        value, faults = lines.references.faults(found)
        item = value.get("item")
        if (rest := lines.references.mended(value, faults)) is not None:
            faults += lines.reference(rest, _annotators(rest))[1] + _repeated(_annotators(rest))
    else:
        names = _annotators(found)
        resolved, faults = lines.reference(found, names)
        faults += _repeated(names)
        if not faults:
            return Good(found, resolved, names)
        item = found.item
    named = item_name(item, line)
    bad[named] = "; ".join(fault.message for fault in faults)
    findings.bad(block.source, line, Key(named, ""), faults)
    return None


def _repeated(names: list[str]) -> list[Fault]:
    return [
        Fault(f"references[{n}].annotator", f'"{name}" is also references[{names.index(name)}]')
        for n, name in enumerate(names)
        if names.index(name) < n
    ]
