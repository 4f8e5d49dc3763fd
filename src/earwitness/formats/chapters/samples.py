"""chunkseg's lines: an output and its reference together."""

from __future__ import annotations

import numpy as np
from msgspec import UNSET

from earwitness.data import Key
from earwitness.formats.chapters.layouts import SAMPLE_LATER, SAMPLES, Sample, refuse_other_files
from earwitness.formats.chapters.parsed import Parsed, count_later, given, item_name
from earwitness.formats.check import Fault
from earwitness.formats.records import Findings, OnError
from earwitness.formats.seen import hash_names
from earwitness.formats.slices import Labels, Slicing
from earwitness.formats.source import Block
from earwitness.timeline import ChapterCases, Ragged


def parse_samples(
    block: Block, system: str, on_error: OnError, by: tuple[Slicing, ...] = ()
) -> Parsed:
    """Cases of chunkseg's lines, all of one system."""
    refuse_other_files("samples", block, on_error)
    findings, taken, lines = Findings(on_error), list[Sample](), list[int]()
    for line, found in SAMPLES.read(block):
        sample: Sample | bytes | None = found
        if isinstance(sample, bytes):
            sample = _mend(block, line, sample, system, findings)
        if sample is not None:
            taken.append(sample)
            lines.append(line)
    named = zip(taken, lines, strict=True)
    items = [f"line {line}" if s.id is UNSET else str(s.id) for s, line in named]
    cases = ChapterCases(
        items,
        [system] * len(items),
        np.array([sample.duration for sample in taken], np.float64),
        Ragged.of([sample.hypothesis for sample in taken]),
        Ragged.of([sample.reference for sample in taken]),
    )
    later = count_later(taken, SAMPLE_LATER)
    records = ((given(sample.meta), {"duration": sample.duration}) for sample in taken)
    audio = {i: s.audio for i, s in zip(items, taken, strict=True) if s.audio is not UNSET}
    return Parsed(
        cases,
        np.array(lines, np.int64),
        hash_names(items),
        findings,
        later,
        labels=Labels.of(by, records),
        audio=audio,
    )


def _mend(block: Block, line: int, text: bytes, system: str, findings: Findings) -> Sample | None:
    """What can be made of a bad line; it is noted."""
    value, faults = SAMPLES.faults(text)
    if isinstance(value.get("hypothesis"), str):
        faults = [fault for fault in faults if fault.field != "hypothesis"]
        faults.append(Fault("hypothesis", "transcripts are not read yet", "give boundary times"))
    key = Key(item_name(value.get("id"), line), system)
    mended = SAMPLES.without_output(value, faults, []) if findings.on_error == "empty" else None
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended
