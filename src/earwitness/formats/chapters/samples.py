"""chunkseg's lines: an output and its reference together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.data import Key
from earwitness.formats.chapters.contents import (
    FAILED,
    Reading,
    Resolved,
    given_text,
    given_titles,
    resolve,
    with_sentences,
)
from earwitness.formats.chapters.layouts import SAMPLES, Content, Sample
from earwitness.formats.chapters.remarks import boundary_remarks, text_remarks
from earwitness.formats.chapters.spoken import KINDS, Starts, spoken_of
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
    findings, taken, lines = Findings(on_error), list[_Taken](), list[int]()
    for line, found in SAMPLES.read(block):
        if isinstance(found, bytes):
            one = _mend(block, line, found, system, findings)
        else:
            one = _take(block, line, found, system, findings, reading or Reading())
        if one is not None:
            taken.append(one)
            lines.append(line)
    samples, outputs = [one.sample for one in taken], [one.output for one in taken]
    named = zip(samples, lines, strict=True)
    items = [f"line {line}" if s.id is UNSET else str(s.id) for s, line in named]
    titles = [given_titles(sample.reference_titles) for sample in samples]
    transcripts = [given_text(sample.reference_transcript) for sample in samples]
    said = list(zip(transcripts, [one.starts for one in taken], strict=True))
    cases = ChapterCases(
        items,
        [system] * len(items),
        np.array([sample.duration for sample in samples], np.float64),
        Ragged.of([output.boundaries for output in outputs]),
        Ragged.of([sample.reference for sample in samples]),
        texts=Texts.of([output.texts for output in outputs], titles, said),
    )
    records = ((given(sample.meta), {"duration": sample.duration}) for sample in samples)
    sounds = reversed(list(zip(items, samples, strict=True)))  # of a repeated id the first counts
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


class _Taken(NamedTuple):
    """A sample with its output, and when the sentences of the reference begin."""

    sample: Sample
    output: Resolved
    starts: Starts | None


def _take(
    block: Block, line: int, sample: Sample, system: str, findings: Findings, reading: Reading
) -> _Taken | None:
    """A sample whose line is good, if its texts are good too."""
    output = _output(sample, reading)
    own, said = _spoken(sample, "hyp"), _spoken(sample, "reference")
    found = with_sentences(output, own)
    faults = [fault for part in (found, said) if isinstance(part, list) for fault in part]
    empty = findings.on_error == "empty" and not isinstance(own, list)
    if faults:
        key = Key(item_name(None if sample.id is UNSET else sample.id, line), system)
        skip = not empty or isinstance(said, list)
        findings.bad(block.source, line, key, faults, skip=skip)
    if isinstance(said, list) or (isinstance(found, list) and not empty):
        return None
    return _Taken(sample, FAILED if isinstance(found, list) else found, said)


def _output(sample: Sample, reading: Reading) -> Resolved | list[Fault]:
    """The chapters of a sample, from its transcript if it is one."""
    if not isinstance(sample.hypothesis, str):
        return Resolved(sample.hypothesis, given_titles(sample.hyp_titles))
    content = Content(UNSET, sample.hyp_titles, sample.hypothesis, sample.format)
    found = resolve(content, reading, "")
    return found if isinstance(found, Resolved) else [Fault("hypothesis", *f[1:]) for f in found]


def _spoken(sample: Sample, side: str) -> Starts | list[Fault] | None:
    names = [f"{side}_{kind}" for kind in KINDS]
    return spoken_of({name: getattr(sample, name) for name in names})


def _mend(block: Block, line: int, text: bytes, system: str, findings: Findings) -> _Taken | None:
    """What can be made of a bad line; it is noted."""
    value, faults = SAMPLES.faults(text)
    key = Key(item_name(value.get("id"), line), system)
    mended = SAMPLES.without_output(value, faults, []) if findings.on_error == "empty" else None
    said = None if mended is None else _spoken(mended, "reference")
    if isinstance(said, list):
        mended, faults = None, faults + said
    findings.bad(block.source, line, key, faults, skip=mended is None)
    if mended is None or isinstance(said, list):
        return None
    return _Taken(mended, FAILED, said)
