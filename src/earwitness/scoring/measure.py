"""Measurement of a block of lines by a worker, also with fewer references per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.core import Cases, OnError
from earwitness.errors import UsageError
from earwitness.io.source import LineBlock
from earwitness.metric_set import MetricSet
from earwitness.scoring.join import References, parse_outputs
from earwitness.stats.arrays import Hashes, Ints
from earwitness.stats.bootstrap import draw_rows
from earwitness.task import (
    ExtraStatistics,
    MeasuredBatch,
    ParsedBatch,
    ReferenceDraw,
    Slicing,
    TaskReader,
)
from earwitness.text.alignment import format_alignments

# --- Subsets of references -----------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceSubsets:
    """How many references of an item count, how often they are drawn, and from which seed.

    ``most`` is how many an item has at most.
    """

    counts: tuple[int, ...] = ()
    repeats: int = 5
    seed: int = 0
    most: int = 1

    def among(self, have: Ints) -> ReferenceSubsets:
        """The same, of items with so many references."""
        return replace(self, most=int(have.max(initial=1)))

    def values(self, families: MetricSet, cases: Cases, hashes: Hashes) -> Iterator[ReferenceDraw]:
        """Cases measured once more with every draw; as many as there are, or more, are no draw."""
        have = cases.counts
        for count in self.counts:
            for draw in range(1, self.repeats + 1) if count < self.most else ():
                rows = draw_rows(have, hashes, count, self.seed, draw)
                own = cases.keep(rows, np.minimum(have, count))
                yield ReferenceDraw(count, draw, families.score(families.measure(own)))

    @property
    def signature(self) -> str:
        """With a bar before it; nothing if nothing is drawn."""
        counts = "+".join(map(str, self.counts))
        how = f"fewer(references={counts},repeats={self.repeats},seed={self.seed})"
        return f"|{how}" if self.counts else ""

    def notes(self, have: Ints) -> Iterator[str]:
        """What could not be drawn."""
        for count in self.counts:
            short = int((have < count).sum())
            if count > self.most:
                yield f"no item has {count} references: there are no scores with so many"
            elif short:
                items = "item has" if short == 1 else "items have"
                yield f"{short:,} {items} fewer than {count} references; all of these count"


def fewer_of(
    counts: Sequence[int] | int, repeats: int, seed: int, *, joined: bool
) -> ReferenceSubsets:
    """What is asked for, in order; refused if it cannot be drawn or has nowhere to go."""
    given = [counts] if isinstance(counts, int) else list(counts)
    for count in given:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UsageError(f"fewer references: a whole number from 1 on, got {count!r}")
    if given and not joined:
        raise UsageError("fewer references need a references file")
    return ReferenceSubsets(tuple(sorted({*given})), repeats, seed)


# --- Measurement of a block ----------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureBlock:
    """Parse, check, join and measure a block; sent to the workers once.

    ``by`` are the slices of a file that holds both sides; references know theirs. ``whole`` keeps
    the cases themselves, ``aligned`` their words side by side.
    """

    families: MetricSet
    on_error: OnError
    system: str
    references: References | None
    by: tuple[Slicing, ...]
    by_annotator: bool
    whole: bool
    aligned: bool
    kind: TaskReader
    fewer: ReferenceSubsets

    def __call__(self, block: LineBlock) -> MeasuredBatch:
        if self.references is None:
            parsed = self.kind.samples(block, self.system, self.on_error, self.by)
        else:
            parsed = parse_outputs(block, self.references, self.on_error)
        return self.measure(parsed, block.done)

    def measure(self, parsed: ParsedBatch, done: int = 0) -> MeasuredBatch:
        """Measure cases that were parsed."""
        cases, each, left_out = parsed.cases, None, None
        if not cases.several and not self.by_annotator:
            statistics = self.families.measure(cases)
        else:
            views = self.families.views(cases, each=self.by_annotator)
            statistics = [view.whole for view in views]
            several = np.flatnonzero(cases.counts > 1)
            left_out = ExtraStatistics(several, [view.left_out for view in views], [])
            if self.by_annotator and self.references is not None:
                case = np.repeat(np.arange(len(cases)), cases.counts)
                names = self.references.names(cases.items)
                each = ExtraStatistics(case, [view.each for view in views], names)
        return MeasuredBatch(
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
            [format_alignments(self.families.alignments(case)) for case in cases]
            if self.aligned
            else [],
            parsed.audio if self.whole else {},
            parsed.dials,
            done,
        )
