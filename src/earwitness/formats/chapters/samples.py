"""chunkseg's lines: an output and its reference together."""

from __future__ import annotations

import numpy as np
from msgspec import UNSET

from earwitness.data import Key
from earwitness.formats.chapters.contents import (
    FAILED,
    Reading,
    Resolved,
    given_titles,
    resolve,
    starts_of,
)
from earwitness.formats.chapters.layouts import SAMPLES, Content, Sample
from earwitness.formats.chapters.remarks import boundary_remarks, text_remarks
from earwitness.formats.check import Fault
from earwitness.formats.mistaken import refuse_other_files
from earwitness.formats.parsed import Parsed, given, item_name
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import hash_names
from earwitness.formats.slices import Labels, Slicing
from earwitness.formats.source import Block
from earwitness.timeline import ChapterCases, Ragged, Texts


def parse_samples(
    block: Block,
    system: str,
    on_error: OnError,
    by: tuple[Slicing, ...] = (),
    reading: Reading | None = None,
) -> Parsed:
    """Cases of chunkseg's lines, all of one system."""
    refuse_other_files("samples", block, on_error)
    findings, taken, lines = Findings(on_error), list[Sample](), list[int]()
    outputs: list[Resolved] = []
    for line, found in SAMPLES.read(block):
        sample: Sample | None
        output: Resolved | None = FAILED
        if isinstance(found, bytes):
            sample = _mend(block, line, found, system, findings)
        else:
            sample = found
            output = _output(block, line, sample, system, findings, reading or Reading())
        if sample is not None and output is not None:
            taken.append(sample)
            lines.append(line)
            outputs.append(output)
    named = zip(taken, lines, strict=True)
    items = [f"line {line}" if s.id is UNSET else str(s.id) for s, line in named]
    titles = [given_titles(sample.reference_titles) for sample in taken]
    said = [
        (
            None if sample.reference_transcript is UNSET else sample.reference_transcript,
            starts_of(sample.reference_sentences),
        )
        for sample in taken
    ]
    cases = ChapterCases(
        items,
        [system] * len(items),
        np.array([sample.duration for sample in taken], np.float64),
        Ragged.of([output.boundaries for output in outputs]),
        Ragged.of([sample.reference for sample in taken]),
        texts=Texts.of([output.texts for output in outputs], titles, said),
    )
    records = ((given(sample.meta), {"duration": sample.duration}) for sample in taken)
    sounds = reversed(list(zip(items, taken, strict=True)))  # of a repeated id the first counts
    audio = {item: sample.audio for item, sample in sounds if sample.audio is not UNSET}
    remarks = boundary_remarks(cases, references=False) + boundary_remarks(cases, references=True)
    remarks += text_remarks(cases)
    remarks["loose"] += sum(output.loose for output in outputs)
    return Parsed(
        cases,
        np.array(lines, np.int64),
        hash_names(items),
        findings,
        +remarks,
        labels=Labels.of(by, records),
        audio=audio,
    )


def _output(
    block: Block, line: int, sample: Sample, system: str, findings: Findings, reading: Reading
) -> Resolved | None:
    """The chapters of a sample, from its transcript if it is one."""
    if not isinstance(sample.hypothesis, str):
        starts = starts_of(sample.hyp_sentences)
        return Resolved(sample.hypothesis, given_titles(sample.hyp_titles), None, starts)
    content = Content(
        UNSET, sample.hyp_titles, sample.hypothesis, sample.format, sample.hyp_sentences
    )
    found = resolve(content, reading, "")
    if isinstance(found, Resolved):
        return found
    faults = [Fault("hypothesis", *fault[1:]) for fault in found]
    key = Key(item_name(None if sample.id is UNSET else sample.id, line), system)
    empty = findings.on_error == "empty"
    findings.bad(block.source, line, key, faults, skip=not empty)
    return FAILED if empty else None


def _mend(block: Block, line: int, text: bytes, system: str, findings: Findings) -> Sample | None:
    """What can be made of a bad line; it is noted."""
    value, faults = SAMPLES.faults(text)
    key = Key(item_name(value.get("id"), line), system)
    mended = SAMPLES.without_output(value, faults, []) if findings.on_error == "empty" else None
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended
