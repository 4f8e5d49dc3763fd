"""Lines of chapters: outputs and references that are joined, or chunkseg's with both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from msgspec import UNSET

from earwitness.data import Cases
from earwitness.formats.chapters.contents import (
    FAILED,
    Reading,
    Resolved,
    given_text,
    resolve,
    resolve_output,
    with_sentences,
)
from earwitness.formats.chapters.layouts import OUTPUTS, REFERENCES, Reference
from earwitness.formats.chapters.remarks import boundary_remarks, chapter_notes, text_remarks
from earwitness.formats.chapters.samples import parse_samples
from earwitness.formats.chapters.spoken import spoken
from earwitness.formats.check import Fault
from earwitness.formats.latin import NOT_LATIN, latin_notes
from earwitness.formats.lines import Lines
from earwitness.formats.parsed import Parsed
from earwitness.formats.records import OnError
from earwitness.formats.slices import Slicing
from earwitness.formats.source import Block
from earwitness.metrics import Metric
from earwitness.timeline import ChapterCases, Ragged, Texts, spans_of


@dataclass(frozen=True)
class ChapterLines(Lines):
    """Read in one way."""

    reading: Reading = field(default_factory=Reading)

    outputs = OUTPUTS
    references = REFERENCES
    failed = FAILED
    nothing = {"boundaries": []}  # noqa: RUF012
    if_nothing = "write an empty list if it found no chapters"

    @property
    def signature(self) -> str:
        return self.reading.signature

    def output(self, record: Any, cases: Cases, row: int) -> Resolved | list[Fault]:
        del cases, row
        return resolve_output(record, self.reading, "output")

    def reference(
        self, record: Reference, names: Sequence[str]
    ) -> tuple[list[Resolved], list[Fault]]:
        """What was said, then the chapters of each reference; and all that is wrong with them."""
        del names
        said = with_sentences(Resolved(()), spoken(record))
        resolved = [said] if isinstance(said, Resolved) else []
        faults = said if isinstance(said, list) else []
        for n, one in enumerate(record.references):
            found = resolve(one, self.reading, f"references[{n}]")
            blank = one.transcript is not UNSET and not one.transcript.strip()
            if one.boundaries is UNSET and blank:
                remedy = "give boundaries, or a text"
                found = [Fault(f"references[{n}].transcript", "is blank", remedy)]
            if isinstance(found, Resolved):
                resolved.append(found)
            else:
                faults += found
        return resolved, faults

    def of_references(
        self, records: Sequence[Reference], resolved: Sequence[list[Resolved]]
    ) -> ChapterCases:
        items = [str(record.item) for record in records]
        every = [one for _, *own in resolved for one in own]
        nobody = [Resolved(()).texts] * len(items)
        pairs = zip(records, resolved, strict=True)
        said = [(given_text(record.transcript), item.sentences) for record, (item, *_) in pairs]
        return ChapterCases(
            items,
            [""] * len(items),
            np.array([record.duration for record in records], np.float64),
            Ragged.of([] for _ in items),
            Ragged.of(one.boundaries for one in every),
            spans_of([len(record.references) for record in records]),
            Texts.of(nobody, [one.titles for one in every], said),
        )

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Resolved]) -> ChapterCases:
        assert isinstance(cases, ChapterCases)
        texts = Texts.of(
            [output.texts for output in outputs],
            [None] * len(cases.reference) if cases.texts is None else cases.texts.reference_titles,
            [(None, None)] * len(cases)
            if cases.texts is None
            else list(zip(cases.texts.transcripts, cases.texts.sentences, strict=True)),
        )
        boundaries = Ragged.of([output.boundaries for output in outputs])
        return replace(cases, systems=systems, output=boundaries, texts=texts)

    def samples(
        self, block: Block, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> Parsed:
        return parse_samples(block, system, on_error, by, self.reading)

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        assert isinstance(case, ChapterCases)
        return {"duration": float(case.duration[row])}

    def remarks(
        self, cases: Cases, resolved: Sequence[Resolved], *, references: bool
    ) -> Counter[str]:
        assert isinstance(cases, ChapterCases)
        found = boundary_remarks(cases, references=references)
        if not references:
            found.update(text_remarks(cases))
        found["loose"] += sum(one.loose for one in resolved)
        return +found

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        yield from chapter_notes(remarks, {metric.name for metric in metrics})
        yield from latin_notes(remarks[NOT_LATIN], metrics)
