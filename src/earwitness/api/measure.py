"""What a worker does: parse, check, join and measure a block of lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.api.collect import Hashes
from earwitness.api.family import Families, Floats
from earwitness.formats.chapters import Parsed, References, parse_outputs, parse_samples
from earwitness.formats.records import Findings, OnError
from earwitness.formats.source import Block
from earwitness.timeline import ChapterCases


@dataclass(frozen=True)
class Measured:
    """What becomes of a block: its good cases measured, and what was found wrong."""

    items: list[str]
    systems: list[str]
    lines: NDArray[np.int64]
    hashes: Hashes
    statistics: list[Floats]
    findings: Findings
    later: Counter[str]
    answered: list[tuple[str, int]]
    remarks: Counter[str]
    done: int

    @classmethod
    def of(cls, families: Families, parsed: Parsed, done: int = 0) -> Measured:
        """Measure cases that were parsed."""
        return cls(
            list(parsed.cases.items),
            list(parsed.cases.systems),
            parsed.lines,
            parsed.hashes,
            families.measure(parsed.cases),
            parsed.findings,
            parsed.later,
            parsed.answered,
            _remarks(parsed.cases),
            done,
        )


@dataclass(frozen=True)
class MeasureBlock:
    """Parse, check, join and measure a block; sent to the workers once."""

    families: Families
    on_error: OnError
    system: str
    references: References | None

    def __call__(self, block: Block) -> Measured:
        if self.references is None:
            parsed = parse_samples(block, self.system, self.on_error)
        else:
            parsed = parse_outputs(block, self.references, self.on_error)
        return Measured.of(self.families, parsed, block.done)


def _remarks(cases: ChapterCases) -> Counter[str]:
    """Boundaries that are allowed but look like another unit or a slip."""
    found: Counter[str] = Counter()
    for side in (cases.output, cases.reference):
        found["past the duration"] += int((side.values > cases.duration[side.rows]).sum())
        found["before 0"] += int((side.values < 0).sum())
    return +found
