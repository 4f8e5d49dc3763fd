"""One scoring run: blocks of lines go to workers, and measured batches to collectors."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Key, Map, Progress, Provenance, number_keys
from earwitness.engines.local import in_process
from earwitness.errors import (
    InputError,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
    whole_characters,
)
from earwitness.io.records import NULL_REMARK, Findings, KeyIndex, hash_keys, hash_names
from earwitness.io.schema import Fault, is_name
from earwitness.io.source import RecordSource
from earwitness.metric import CaseList
from earwitness.scoring.join import (
    UNREFERENCED_REMARK,
    FilteredItems,
    References,
    check_filter,
    empty_outputs,
    filter_notes,
    read_references,
)
from earwitness.scoring.measure import MeasureBlock, RunSettings
from earwitness.scoring.tally import PeopleTally, Tally
from earwitness.stats.arrays import Ints
from earwitness.task import (
    Collector,
    CollectorSettings,
    MeasuredBatch,
    ScoredBatch,
    Slicing,
)
from earwitness.version import __version__


class ScoringRun:
    """A run that reads, measures and collects all outputs, and the facts about the input."""

    def __init__(
        self,
        settings: RunSettings,
        collectors: Sequence[Collector],
        people: CollectorSettings,
    ) -> None:
        self.settings, self.collectors = settings, tuple(collectors)
        self.people = PeopleTally(Tally(people), Tally(people))
        self.baselines = tuple(dict.fromkeys(settings.baselines))
        for name in self.baselines:
            if name not in settings.reader.baselines:
                settings.reader.baseline(name, CaseList([]), 0)  # raises UsageError
        self.findings = Findings(settings.on_error)
        self.remarks: Counter[str] = Counter()
        self.filtered: Counter[str] = Counter()  # counts of outputs, by a filter
        self.sources: list[RecordSource] = []
        self.references: References | None = None
        self.systems: set[str] = set()
        self.cases = 0
        self._seen = KeyIndex()
        # rows of references that a system has lines for, valid or not
        self._answered: dict[str, array[int]] = defaultdict(lambda: array("q"))

    # --- Reading ---------------------------------------------------------------------------------

    def read(
        self,
        outputs: RecordSource,
        references: RecordSource | None,
        system: str | None,
        map_: Map,
        progress: Progress,
    ) -> None:
        """Read all input; raise InputError if it is invalid."""
        if references is not None and system is not None:
            raise UsageError("system can be set only if outputs and references are in one file")
        if system is not None and not is_name(system):
            raise UsageError(f"system must be printable text, got {system!r}")
        map_ = self._engine(map_)
        if map_ is in_process:
            reader = self.settings.reader.with_progress(progress)
            self.settings = replace(self.settings, reader=reader)
        if references is not None:
            self._read_references(references, self.settings.by)
            assert self.references is not None
            if self.settings.ceiling:
                self.people.read(self.references, map_)
            subsets = self.settings.subsets.among(self.references)
            self.settings = replace(self.settings, subsets=subsets)
        name = outputs.stem if system is None else whole_characters(system)
        worker = MeasureBlock(self.settings, name, self.references)
        for measured in map_(worker, outputs.blocks()):
            self._take(measured, outputs.name)
            progress(measured.done, outputs.total, self.cases)
        self._note_source(outputs, Findings())
        for baseline in self.baselines:
            self._add_baseline(baseline, worker)
        if self.references is not None:
            self._add_missing(self.references, outputs.name, worker)
        self._refuse(outputs.name)

    def read_people(self, references: RecordSource, map_: Map) -> None:
        """Read a references file without outputs."""
        self._read_references(references)
        assert self.references is not None
        self.remarks[NULL_REMARK] += self.references.remarks[NULL_REMARK]
        refuse_problems(self.findings.problems, count=self.findings.count)
        for condition in self.references.where.conditions:
            remedy = nearest(condition.field, self.references.filtered.field_names)
            raise UsageError(f'where: no item has a field "{condition.field}" — {remedy}')
        self.people.read(self.references, self._engine(map_))
        if not self.people.ceiling.systems:
            raise UsageError(
                f"{references.name}: no item has two references: agreement cannot be measured"
            )

    def _engine(self, map_: Map) -> Map:
        """Return the map function; metrics with a model run in this process and cache texts."""
        return in_process if self.settings.metrics.alone else map_

    def _read_references(self, source: RecordSource, by: tuple[Slicing, ...] = ()) -> None:
        settings = self.settings
        self.references, findings = read_references(
            source, settings.reader, settings.on_error, by, settings.where
        )
        self.references.is_partial = settings.is_partial
        self.remarks.update(self.references.remarks)
        check_filter(settings.where, self.references.filtered, Counter())
        self._note_source(source, findings)

    def _note_source(self, source: RecordSource, findings: Findings) -> None:
        self.sources.append(source)
        self.findings.merge(findings)

    # --- Collecting ------------------------------------------------------------------------------

    def _take(self, measured: MeasuredBatch, source: str) -> None:
        """Collect the new cases, in the order of their lines."""
        self.remarks.update(measured.remarks)
        self.filtered.update(measured.filtered)
        for system, row in measured.answered:
            self._answered[system].append(row)
        names = sorted(set(measured.systems))
        for name in names:
            if name.startswith("(") and name.endswith(")"):
                raise UsageError(
                    f'{source}: "{name}" cannot be the name of a system, since names in round '
                    "brackets are those of annotators and baselines in reports — rename it"
                )
        code = number_keys(names)
        codes = np.array([code[name] for name in measured.systems], np.int64)
        earlier = self._seen.add(
            hash_keys(measured.hashes, hash_names(names)[codes]), measured.lines
        )
        self._note_repeated(measured, earlier, source)
        self.findings.merge(measured.findings)
        self._collect(measured, names, np.where(earlier == 0, codes, -1))

    def _collect(
        self, measured: MeasuredBatch, names: list[str], codes: Ints, *, is_baseline: bool = False
    ) -> None:
        batch = ScoredBatch(
            measured=measured,
            systems=names,
            codes=codes,
            values=self.settings.metrics.score(measured.statistics),
            is_baseline=is_baseline,
        )
        self.cases += len(batch.counted)
        self.systems.update(names[code] for code in np.unique(codes[batch.counted]).tolist())
        for collector in self.collectors:
            collector.add(batch)

    def _note_repeated(
        self, measured: MeasuredBatch, earlier: NDArray[np.int64], source: str
    ) -> None:
        lines = measured.lines[earlier > 0].tolist()
        if not lines:
            return
        findings = measured.findings  # a line that is not scored is not counted as emptied
        findings.emptied = [left for left in findings.emptied if left.line not in {*lines}]
        for index in np.flatnonzero(earlier):
            key = Key(measured.items[index], measured.systems[index])
            message = f'"{key.item}" is also on line {earlier[index]}'
            fault = Fault("id" if self.references is None else "item", message, "keep one")
            findings.bad(source, int(measured.lines[index]), key, [fault])

    def _add_baseline(self, name: str, worker: MeasureBlock) -> None:
        """Score a baseline on all items."""
        if self.references is None:
            raise UsageError("baselines require a references file")
        system, items = f"({name})", list(self.references.rows)
        settings = self.settings
        outputs = settings.reader.baseline(name, self.references.cases, settings.seed)
        parsed = self.references.join(items, [system] * len(items), outputs)
        parsed.labels = self.references.labels(parsed, [{} for _ in items])
        parsed.answered = []
        codes = np.zeros(len(items), np.int64)
        self._collect(worker.measure(parsed), [system], codes, is_baseline=True)

    def _add_missing(self, joined: References, source: str, worker: MeasureBlock) -> None:
        """Handle the items that a system has no output for."""
        items, on_error = list(joined.rows), self.settings.on_error
        remedy = f"{self.settings.reader.if_nothing}, or set --on-error skip or empty"
        for name in sorted(self._answered):
            silent = np.ones(len(items), np.bool_)
            silent[self._answered[name]] = False
            missing = [items[row] for row in np.flatnonzero(silent)]
            missing = [item for item in missing if joined.others(item, name)]
            for item in missing:
                fault = Fault("", f'no output of system "{name}" for item "{item}"', remedy)
                self.findings.bad(source, 0, Key(item, name), [fault], skip=on_error != "empty")
            if on_error == "empty" and missing:
                measured = worker.measure(empty_outputs(joined, missing, name))
                self._collect(measured, [name], np.zeros(len(missing), np.int64))

    def _refuse(self, source: str) -> None:
        refuse_problems(self.findings.problems, count=self.findings.count)
        check_filter(self.settings.where, self._filtered_items, self.filtered)
        if not self.cases:
            skipped = len(self.findings.skipped)
            left = ""
            if skipped:
                first = self.findings.skipped[0].reason
                left = f"; all {skipped:,} were skipped (first reason: {first})"
            if self.unreferenced:
                left = "; no item has a reference"
            raise InputError([file_problem(source, f"no outputs to score{left}")])

    # --- Facts about the input -------------------------------------------------------------------

    @property
    def _filtered_items(self) -> FilteredItems:
        return FilteredItems() if self.references is None else self.references.filtered

    @property
    def unreferenced(self) -> list[str]:
        """Items without references whose outputs were left out."""
        start = UNREFERENCED_REMARK
        return [name.removeprefix(start) for name in self.remarks if name.startswith(start)]

    @property
    def provenance(self) -> Provenance:
        """Return the provenance of the numbers."""
        counts = np.ones(1, np.int64) if self.references is None else self.references.cases.counts
        return Provenance(
            __version__,
            np.__version__,
            self.settings.seed,
            tuple(source.read() for source in reversed(self.sources)),
            self.cases,
            len(self.findings.skipped),
            len(self.findings.emptied),
            (int(counts.min()), int(counts.max())),
        )

    def notes(self) -> Iterator[str]:
        """Yield the notes about the input and those of collectors."""
        lost = {left.key.system for left in self.findings.skipped} - {"", *self.systems}
        for name in sorted(lost):
            yield f'system "{name}" is not in the tables because all of its outputs were skipped'
        yield from filter_notes(self.settings.where, self._filtered_items, self.filtered)
        yield from self.settings.reader.notes(self.remarks, self.settings.metrics.metrics)
        if self.references is not None:
            if items := self.unreferenced:
                yield f"nobody has made a reference of {_shown_items(items)}: left out"
            yield from _reference_notes(self.references, self.systems)
            yield from self.settings.subsets.notes(self.references.cases.counts)
        for collector in self.collectors:
            yield from collector.notes()
        if nulls := self.remarks[NULL_REMARK]:
            what = "optional field is" if nulls == 1 else "optional fields are"
            yield f"{nulls:,} {what} null, which is read as missing"
        for source in self.sources:
            for problem in source.problems:
                yield f"{problem} (read anyway)"


SHOWN_ITEMS = 5  # items listed in a note


def _shown_items(items: Sequence[str]) -> str:
    return ", ".join(items[:SHOWN_ITEMS]) + (", …" if len(items) > SHOWN_ITEMS else "")


def _reference_notes(references: References, systems: set[str]) -> Iterator[str]:
    """Yield notes about references that are left out, and systems that are annotators."""
    if references.reduced:
        reasons = [
            reason for item_reasons in references.reduced.values() for reason in item_reasons
        ]
        items = list(references.reduced)
        yield (
            f"invalid references were left out of {len(items):,} "
            f"{'item' if len(items) == 1 else 'items'}, which have other references: "
            f"{_shown_items(items)} (first reason: {reasons[0]})"
        )
    for name in sorted(systems & references.people):
        yield f'"{name}" is also an annotator: the system is scored against the others only'
