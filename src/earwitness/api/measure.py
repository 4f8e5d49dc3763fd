"""What a worker does: parse, check, join and measure a block of lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.api.collect import Hashes
from earwitness.api.family import Families, Floats
from earwitness.api.fewer import Drawn, Fewer
from earwitness.data import Cases, Dial
from earwitness.formats.joined import parse_outputs
from earwitness.formats.lines import Lines
from earwitness.formats.parsed import Parsed
from earwitness.formats.records import Findings, OnError
from earwitness.formats.references import References
from earwitness.formats.slices import Labels, Slicing
from earwitness.formats.source import Block
from earwitness.text.aligned import aligned

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class More:
    """Cases of a block measured in another way: rows with the places of their cases."""

    case: Ints
    statistics: list[Floats]
    labels: list[str]


@dataclass(frozen=True)
class Measured:
    """What becomes of a block: its good cases measured, and what was found wrong.

    ``each`` has a row for every reference of every case, ``left_out`` a row for every case that has
    several references, as if each of them in turn did not exist, ``fewer`` all cases once more for
    every draw of their references.
    """

    items: list[str]
    systems: list[str]
    lines: Ints
    hashes: Hashes
    statistics: list[Floats]
    findings: Findings
    answered: list[tuple[str, int]]
    remarks: Counter[str]
    labels: Labels
    each: More | None
    left_out: More | None
    fewer: list[Drawn]
    cases: Cases | None
    alignments: list[str]
    audio: dict[str, str]
    dials: list[Dial | None]
    done: int


@dataclass(frozen=True)
class MeasureBlock:
    """Parse, check, join and measure a block; sent to the workers once.

    ``by`` are the slices of a file that holds both sides; references know theirs. ``whole`` keeps
    the cases themselves, ``aligned`` their words side by side.
    """

    families: Families
    on_error: OnError
    system: str
    references: References | None
    by: tuple[Slicing, ...]
    by_annotator: bool
    whole: bool
    aligned: bool
    kind: Lines
    fewer: Fewer

    def __call__(self, block: Block) -> Measured:
        if self.references is None:
            parsed = self.kind.samples(block, self.system, self.on_error, self.by)
        else:
            parsed = parse_outputs(block, self.references, self.on_error)
        return self.measure(parsed, block.done)

    def measure(self, parsed: Parsed, done: int = 0) -> Measured:
        """Measure cases that were parsed."""
        cases, each, left_out = parsed.cases, None, None
        if not cases.several and not self.by_annotator:
            statistics = self.families.measure(cases)
        else:
            views = self.families.views(cases, each=self.by_annotator)
            statistics = [view.whole for view in views]
            several = np.flatnonzero(cases.counts > 1)
            left_out = More(several, [view.left_out for view in views], [])
            if self.by_annotator and self.references is not None:
                case = np.repeat(np.arange(len(cases)), cases.counts)
                names = self.references.names(cases.items)
                each = More(case, [view.each for view in views], names)
        return Measured(
            list(cases.items),
            list(cases.systems),
            parsed.lines,
            parsed.hashes,
            statistics,
            parsed.findings,
            parsed.answered,
            parsed.remarks,
            parsed.labels,
            each,
            left_out,
            list(self.fewer.values(self.families, cases, parsed.hashes)),
            cases if self.whole else None,
            [aligned(self.families.alignments(case)) for case in cases] if self.aligned else [],
            parsed.audio if self.whole else {},
            parsed.dials,
            done,
        )
