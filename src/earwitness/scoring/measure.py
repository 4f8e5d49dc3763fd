"""Measurement of a block of lines by a worker, also with fewer references per item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from earwitness.core import Cases, OnError, number_keys
from earwitness.errors import UsageError
from earwitness.io.source import LineBlock
from earwitness.metric_set import MetricSet
from earwitness.scoring.join import (
    NAME_COUNT,
    NO_FILTER,
    References,
    filter_records,
    parse_outputs,
)
from earwitness.stats.arrays import Floats, Ints, seeded_generator
from earwitness.task import (
    MISSING_GROUP,
    ExtraStatistics,
    Filter,
    GroupLabels,
    MeasuredBatch,
    ParsedBatch,
    ReferenceDraw,
    Slicing,
    TaskReader,
)
from earwitness.text.alignment import format_alignments

# --- Subsets of references -----------------------------------------------------------------------
# A draw is a random order of all annotators, the same for all items and numbers of references: an
# item is scored with the first of its annotators in this order. So a draw of one reference is what
# a study with one annotator would have had, wherever that person made a reference, and draws differ
# as much as annotators do. (If every item drew on its own, likings of annotators would cancel out
# over items.)
#
# Draws take turns, so that few draws use all annotators about equally often: as many successive
# draws as there are annotators are rotations of one random order. With fewer draws, their starts
# are spread over the order.


@dataclass(frozen=True)
class ReferenceSubsets:
    """Numbers of references to score with, number of draws of each, and seed.

    ``most`` is the largest number of references of an item; ``people`` numbers the annotators.
    """

    counts: tuple[int, ...] = ()
    repeats: int = 5
    seed: int = 0
    most: int = 1
    people: Mapping[str, int] = field(default_factory=dict)

    def among(self, references: References) -> ReferenceSubsets:
        """Return the same settings for the annotators and items of a references file."""
        most = int(references.cases.counts.max(initial=1))
        names = sorted({name for annotator in references.annotators for name in annotator})
        return replace(self, most=most, people=number_keys(names))

    def values(
        self, metrics: MetricSet, cases: Cases, annotators: Sequence[str]
    ) -> Iterator[ReferenceDraw]:
        """Yield the values of cases for every draw of fewer references than an item has.

        ``annotators`` has the names of the annotators of all references of the cases.
        """
        counts = cases.counts
        people = np.array([self.people[name] for name in annotators], np.int64)
        for count in self.counts:
            for draw in range(1, self.repeats + 1) if count < self.most else ():
                places = order_people(len(self.people), draw, self.repeats, self.seed)[people]
                smaller = cases.keep(first_rows(counts, places, count), np.minimum(counts, count))
                yield ReferenceDraw(count, draw, metrics.score(metrics.measure(smaller)))

    @property
    def signature(self) -> str:
        """Settings after a ``|``; empty if nothing is drawn."""
        counts = "+".join(map(str, self.counts))
        how = f"fewer(references={counts},repeats={self.repeats},seed={self.seed})"
        return f"|{how}" if self.counts else ""

    def notes(self, have: Ints) -> Iterator[str]:
        """Yield notes about numbers of references that items do not have."""
        for count in self.counts:
            short = int((have < count).sum())
            if count > self.most:
                yield f"no item has {count} references, so there are no scores with {count}"
            elif short:
                items = "item has" if short == 1 else "items have"
                message = f"{short:,} {items} fewer than {count} references"
                yield f"{message}; all of their references are used"


def order_people(people: int, draw: int, draws: int, seed: int) -> Ints:
    """Return the place of each person in the order of a draw, which is numbered from 1.

    >>> [order_people(3, draw, 5, seed=0).tolist() for draw in (1, 2, 3)]
    [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    """
    turns = max(1, min(draws, people))
    order, turn = divmod(draw - 1, turns)
    rng = seeded_generator((seed, order))
    places = np.argsort(rng.random(people), kind="stable")
    return (places - turn * people // turns) % max(1, people)


def first_rows(counts: Ints, places: Ints, limit: int) -> Ints:
    """Return indices of the ``limit`` rows of every run with the lowest places, in order.

    ``counts`` has the lengths of the runs; shorter runs are kept.

    >>> first_rows(np.array([3, 1]), np.array([2, 0, 1, 0]), 2).tolist()
    [1, 2, 3]
    """
    first = np.repeat(np.cumsum(counts) - counts, counts)
    order = np.lexsort((places, first))
    return np.sort(order[np.arange(len(first)) - first < limit])


def subsets_of(
    counts: Sequence[int] | int, repeats: int, seed: int, *, joined: bool
) -> ReferenceSubsets:
    """Return the numbers of references in order; raise UsageError if they are invalid."""
    numbers = [*counts] if isinstance(counts, Iterable) else [counts]
    for name, number in (("repeats", repeats), *(("reference_counts", count) for count in numbers)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise UsageError(f"{name} must be a whole number of at least 1, got {number!r}")
    if numbers and not joined:
        raise UsageError("reference_counts requires a references file")
    return ReferenceSubsets(tuple(sorted({*numbers})), repeats, seed)


# --- Measurement of a block ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Metrics, reader and settings of a run.

    ``by`` are the slicings by fields of records, ``where`` the filter. ``keep_cases`` and ``align``
    are set if collectors need the cases themselves, and their word alignments. With ``ceiling``,
    systems are also scored with each reference left out in turn. With ``is_partial``, outputs of
    items without references are left out instead of refused.
    """

    metrics: MetricSet
    reader: TaskReader
    on_error: OnError
    seed: int
    by: tuple[Slicing, ...] = ()
    by_annotator: bool = False
    keep_cases: bool = False
    align: bool = False
    subsets: ReferenceSubsets = field(default_factory=ReferenceSubsets)
    baselines: tuple[str, ...] = ()
    ceiling: bool = True
    where: Filter = NO_FILTER
    is_partial: bool = False


@dataclass(frozen=True)
class MeasureBlock:
    """Parse, check, join and measure a block of lines; sent to each worker once.

    ``by`` and ``where`` of the settings are those of a file with outputs and references; otherwise
    ``references`` has them.
    """

    settings: RunSettings
    system: str
    references: References | None

    def __call__(self, block: LineBlock) -> MeasuredBatch:
        settings = self.settings
        if self.references is None:
            names = dict.fromkeys(condition.field for condition in settings.where.conditions)
            fields = [Slicing(name) for name in names]
            by = (*settings.by, *fields)
            parsed = settings.reader.samples(block, self.system, settings.on_error, by)
            parsed = _filter_samples(parsed, settings.where, fields)
        else:
            parsed = parse_outputs(block, self.references, settings.on_error)
        return self.measure(parsed, block.done)

    def measure(self, parsed: ParsedBatch, done: int = 0) -> MeasuredBatch:
        """Measure parsed cases."""
        settings, metrics = self.settings, self.settings.metrics
        cases, each, left_out = parsed.cases, None, None
        with_each = settings.by_annotator and self.references is not None
        if not settings.ceiling or (not cases.has_several and not settings.by_annotator):
            statistics = metrics.measure(cases)
            if with_each:
                each = self._each(cases, metrics.measure(cases.each()))
        else:
            views = metrics.views(cases, each=settings.by_annotator)
            statistics = [view.whole for view in views]
            several = np.flatnonzero(cases.counts > 1)
            left_out = ExtraStatistics(several, [view.left_out for view in views], [])
            if with_each:
                each = self._each(cases, [view.each for view in views])
        fewer = list[ReferenceDraw]()
        if self.references is not None and settings.subsets.counts:
            names = self.references.names(cases.items, cases.systems)
            fewer += settings.subsets.values(metrics, cases, names)
        return MeasuredBatch(
            items=list(cases.items),
            systems=list(cases.systems),
            lines=parsed.lines,
            hashes=parsed.hashes,
            statistics=statistics,
            findings=parsed.findings,
            answered=parsed.answered,
            remarks=parsed.remarks,
            filtered=parsed.filtered,
            labels=parsed.labels,
            each=each,
            left_out=left_out,
            fewer=fewer,
            most_references=settings.subsets.most,
            cases=cases if settings.keep_cases else None,
            annotators=self._annotators(cases) if settings.keep_cases else [],
            alignments=[format_alignments(metrics.alignments(c)) for c in cases]
            if settings.align
            else [],
            audio=self._audio(parsed) if settings.keep_cases else {},
            details=parsed.details,
            done=done,
        )

    def _each(self, cases: Cases, statistics: list[Floats]) -> ExtraStatistics:
        """Return the statistics of every reference of the cases, with the annotators."""
        assert self.references is not None, "annotators are those of a references file"
        names = self.references.names(cases.items, cases.systems)
        return ExtraStatistics(np.repeat(np.arange(len(cases)), cases.counts), statistics, names)

    def _annotators(self, cases: Cases) -> list[list[str]]:
        """Return the annotators of each output; one without a name if there are no references."""
        if self.references is None:
            return [["reference"] for _ in cases.items]
        pairs = zip(cases.items, cases.systems, strict=True)
        return [self.references.others(item, system) for item, system in pairs]

    def _audio(self, parsed: ParsedBatch) -> dict[str, str]:
        """Return the audio of items, as given in the references if there are any."""
        if self.references is None:
            return parsed.audio
        audio = self.references.audio
        return {item: audio[item] for item in parsed.cases.items if item in audio}


def _filter_samples(parsed: ParsedBatch, where: Filter, fields: Sequence[Slicing]) -> ParsedBatch:
    """Return the cases that a filter keeps; the last labels are the values of its ``fields``."""
    if not fields:
        return parsed
    columns = parsed.labels.columns
    records = [
        {
            field.field: value
            for field, value in zip(fields, row, strict=True)
            if value != MISSING_GROUP
        }
        for row in zip(*columns[-len(fields) :], strict=True)
    ]
    kept, counts = filter_records(where, records)
    names = parsed.labels.field_names
    counts.update({f"{NAME_COUNT}{name}" for name in names})
    index = np.array(kept, np.int64)
    labels = [[column[place] for place in kept] for column in columns[: -len(fields)]]
    return replace(
        parsed,
        cases=parsed.cases.take(index),
        lines=parsed.lines[index],
        hashes=parsed.hashes[index],
        filtered=counts,
        labels=GroupLabels(labels, names),
        details=[parsed.details[place] for place in kept] if parsed.details else [],
    )
