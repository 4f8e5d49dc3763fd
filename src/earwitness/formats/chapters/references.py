"""A references file as columns, to which outputs are joined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.data import Key
from earwitness.errors import InputError, Problem
from earwitness.formats.chapters.contents import Reading, Resolved, resolve, starts_of
from earwitness.formats.chapters.layouts import (
    REFERENCES,
    Reference,
    refuse_other_files,
)
from earwitness.formats.chapters.parsed import Hashes, Parsed, given, item_name
from earwitness.formats.check import Fault
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import Seen, hash_names
from earwitness.formats.slices import Labels, Slicing
from earwitness.formats.source import Block, Source
from earwitness.timeline import ChapterCases, Ragged, Texts, spans_of
from earwitness.timeline.ragged import bounds, pick


@dataclass
class References:
    """References by item, in columns: ``cases`` are those of nobody, with empty outputs.

    ``annotators`` names all references in order; ``metas`` are the items' metas if slices are
    wanted; ``bad`` are the items whose references cannot be used.
    """

    rows: dict[str, int]
    cases: ChapterCases
    annotators: list[str]
    hashes: Hashes
    audio: dict[str, str]
    metas: list[dict[str, Any]]
    by: tuple[Slicing, ...]
    reading: Reading
    bad: dict[str, str]
    loose: int

    def join(self, items: list[str], systems: list[str], outputs: list[Resolved]) -> Parsed:
        """Cases of outputs for these items."""
        rows = np.array([self.rows[item] for item in items], np.int64)
        cases = self.cases.take(rows)
        texts = Texts.of(
            [output.texts for output in outputs],
            [None] * len(cases.reference) if cases.texts is None else cases.texts.reference_titles,
            [(None, None)] * len(rows)
            if cases.texts is None
            else list(zip(cases.texts.transcripts, cases.texts.sentences, strict=True)),
        )
        boundaries = Ragged.of([output.boundaries for output in outputs])
        cases = replace(cases, systems=systems, output=boundaries, texts=texts)
        answered = list(zip(systems, rows.tolist(), strict=True))
        lines = np.zeros(len(items), np.int64)
        loose = sum(output.loose for output in outputs)
        return Parsed(cases, lines, self.hashes[rows], Findings(), loose, answered)

    def names(self, items: Iterable[str]) -> list[str]:
        """Who made each of the references of these items."""
        rows = np.array([self.rows[item] for item in items], np.int64)
        places = pick(bounds(self.cases.counts), rows)[0]
        return [self.annotators[place] for place in places.tolist()]

    def labels(self, parsed: Parsed, metas: list[dict[str, Any]]) -> Labels:
        """Groups of cases: the item's meta decides, then the output's."""
        if not self.by:
            return Labels()
        rows = [row for _, row in parsed.answered]
        durations = parsed.cases.duration.tolist()
        found = zip(rows, metas, durations, strict=True)
        return Labels.of(self.by, ((self.metas[r], m, {"duration": d}) for r, m, d in found))


def read_references(
    source: Source,
    on_error: OnError,
    by: tuple[Slicing, ...] = (),
    reading: Reading | None = None,
) -> tuple[References, Findings]:
    """A whole references file; it must fit into memory."""
    findings, seen = Findings(on_error), Seen()
    reading = reading or Reading()
    bad: dict[str, str] = {}
    kept: list[Good] = []
    for block in source.blocks():
        refuse_other_files("references", block, on_error)
        taken, lines = list[Good](), list[int]()
        for line, found in REFERENCES.read(block):
            good = _good_reference(block, line, found, findings, bad, reading)
            if good is not None:
                taken.append(good)
                lines.append(line)
        hashes = hash_names([str(good.record.item) for good in taken])
        earlier = seen.add(hashes, np.array(lines, np.int64)).tolist()
        for good, line, first in zip(taken, lines, earlier, strict=True):
            if first:
                item = str(good.record.item)
                fault = Fault("item", f'"{item}" is also on line {first}', "keep one")
                findings.bad(source.name, line, Key(item, ""), [fault])
            else:
                kept.append(good)
    if not kept and not bad:
        raise InputError([Problem(source.name, 0, "", "no reference in it")])
    return _columns(kept, bad, by, reading), findings


class Good(NamedTuple):
    """A reference record with the chapters of each of its references."""

    record: Reference
    resolved: list[Resolved]


def _columns(
    kept: list[Good], bad: dict[str, str], by: tuple[Slicing, ...], reading: Reading
) -> References:
    records = [good.record for good in kept]
    items = [str(record.item) for record in records]
    every = [one for good in kept for one in good.resolved]
    nobody = [Resolved(()).texts] * len(items)
    said = [
        (None if record.transcript is UNSET else record.transcript, starts_of(record.sentences))
        for record in records
    ]
    named = zip(items, records, strict=True)
    return References(
        {item: row for row, item in enumerate(items)},
        ChapterCases(
            items,
            [""] * len(items),
            np.array([record.duration for record in records], np.float64),
            Ragged.of([] for _ in items),
            Ragged.of(one.boundaries for one in every),
            spans_of([len(record.references) for record in records]),
            Texts.of(nobody, [one.titles for one in every], said),
        ),
        [name for record in records for name in _annotators(record)],
        hash_names(items),
        {item: record.audio for item, record in named if record.audio is not UNSET},
        [given(record.meta) for record in records] if by else [],
        by,
        reading,
        bad,
        sum(one.loose for one in every),
    )


def _annotators(reference: Reference) -> list[str]:
    """Who made each reference of an item; who is not named is numbered."""
    given_ = [one.annotator for one in reference.references]
    return [f"reference {n}" if a is UNSET else str(a) for n, a in enumerate(given_, 1)]


def _good_reference(
    block: Block,
    line: int,
    found: Reference | bytes,
    findings: Findings,
    bad: dict[str, str],
    reading: Reading,
) -> Good | None:
    if isinstance(found, Reference):
        resolved, faults = _chapters(found, reading)
        if not faults:
            return Good(found, resolved)
        item: Any = found.item
    else:
        value, faults = REFERENCES.faults(found)
        item = value.get("item")
    named = item_name(item, line)
    bad[named] = "; ".join(fault.message for fault in faults)
    findings.bad(block.source, line, Key(named, ""), faults)
    return None


def _chapters(record: Reference, reading: Reading) -> tuple[list[Resolved], list[Fault]]:
    """The chapters of each reference, and all that is wrong with them."""
    resolved, faults = list[Resolved](), list[Fault]()
    names = _annotators(record)
    for n, one in enumerate(record.references):
        found = resolve(one, reading, f"references[{n}]")
        if one.boundaries is UNSET and one.transcript is not UNSET and not one.transcript.strip():
            found = [Fault(f"references[{n}].transcript", "is blank", "give boundaries, or a text")]
        if isinstance(found, Resolved):
            resolved.append(found)
        else:
            faults += found
        if names.index(names[n]) < n:
            told = f'"{names[n]}" is also references[{names.index(names[n])}]'
            faults.append(Fault(f"references[{n}].annotator", told))
    return resolved, faults
