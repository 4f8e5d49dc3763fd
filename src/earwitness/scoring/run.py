"""One scoring run: blocks out to workers, statistics collected, results assembled."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Estimates, ExampleItem, Key, Map, OnError, Progress, Provenance
from earwitness.engines.local import in_process
from earwitness.errors import InputError, Problem, UsageError, nearest, whole_characters
from earwitness.io.records import Findings, KeyIndex, hash_keys, hash_names
from earwitness.io.schema import Fault, is_name
from earwitness.io.source import RecordSource
from earwitness.metric import CaseList
from earwitness.metric_set import MetricSet
from earwitness.scoring.gallery import CaseValueSpread, Gallery, found_sound
from earwitness.scoring.join import References, empty_outputs, read_references
from earwitness.scoring.measure import MeasureBlock, ReferenceSubsets
from earwitness.scoring.records import AlignmentFile, SampleTable
from earwitness.scoring.results import AnnotatorScores, Scores, Slice
from earwitness.scoring.tally import PeopleTally, Tally, WorstCases
from earwitness.skims.tradeoff import TradeoffCollector
from earwitness.stats.arrays import Ints
from earwitness.task import MISSING_GROUP, NO_NUMBER_GROUP, MeasuredBatch, Slicing, TaskReader
from earwitness.version import __version__

# --- Collectors of measured cases ----------------------------------------------------------------


MAX_GROUPS = 50
ANNOTATOR_FIELD = "annotator"


@dataclass
class CaseCollectors:
    """Takes cases block by block."""

    families: MetricSet
    draws: int
    seed: int
    limit: int
    worst: WorstCases
    by: tuple[Slicing, ...] = ()
    show: tuple[str, ...] = ()
    table: SampleTable | None = None
    alignments: AlignmentFile | None = None
    groups: dict[Slicing, dict[str, Tally]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    cases: int = 0
    fewer: ReferenceSubsets = field(default_factory=ReferenceSubsets)

    def __post_init__(self) -> None:
        self.whole, self.left_out = self.tally(), self.tally()
        self.spread = CaseValueSpread(self.families)
        self.gallery = Gallery(self.families, self.show)
        self.dialled = TradeoffCollector(self.families, self.draws, self.seed, self.limit)
        self.groups = {slicing: {} for slicing in self.by}

    @property
    def by_meta(self) -> tuple[Slicing, ...]:
        """Slices by what records say of themselves."""
        return tuple(slicing for slicing in self.by if slicing.field != ANNOTATOR_FIELD)

    @property
    def by_annotator(self) -> Slicing | None:
        """The slice by who made the reference, if it is wanted."""
        return next((slicing for slicing in self.by if slicing.field == ANNOTATOR_FIELD), None)

    @property
    def pictured(self) -> bool:
        """Whether cases themselves are needed."""
        return bool(self.show or self.worst.count)

    def tally(self) -> Tally:
        """An empty one."""
        return Tally(self.families, self.draws, self.seed, self.limit)

    def add(
        self, measured: MeasuredBatch, names: Sequence[str], codes: Ints, *, baseline: bool = False
    ) -> None:
        """Cases whose code is the index of their system's name; -1 is left out.

        A baseline is never among the worst.
        """
        values = self.whole.add(names, codes, measured.hashes, measured.statistics)
        self._slice(measured, names, codes)
        if (more := measured.left_out) is not None:
            self.left_out.add(names, codes[more.case], measured.hashes[more.case], more.statistics)
        self.spread.add(names, codes, measured.hashes, values)
        self.dialled.add(measured, codes, values)
        index = np.flatnonzero(codes >= 0)
        self.cases += len(index)
        if self.table is None and self.alignments is None and not self.pictured:
            return
        keys = [Key(measured.items[i], measured.systems[i]) for i in index]
        if not baseline:
            self.worst.add(keys, values[index])
        if self.table is not None:
            self.table.write(keys, values[index].tolist(), (self.fewer.most, 0))
            for one in measured.fewer:
                self.table.write(keys, one.values[index].tolist(), (one.references, one.draw))
        if self.alignments is not None:
            self.alignments.write(keys, [measured.alignments[i] for i in index])
        if measured.cases is not None:
            audio = {
                key.item: measured.audio[key.item] for key in keys if key.item in measured.audio
            }
            self.gallery.add(measured.cases, index, values, audio)
            self.gallery.prune(self.worst.items)

    def _slice(self, measured: MeasuredBatch, names: Sequence[str], codes: Ints) -> None:
        self.known |= measured.labels.known
        for slicing, labels in zip(self.by_meta, measured.labels.columns, strict=False):
            for label, mine in self._labelled(slicing, labels, codes):
                self._group(slicing, label).add(names, mine, measured.hashes, measured.statistics)
        if (more := measured.each) is not None and self.by_annotator is not None:
            hashes = measured.hashes[more.case]
            for label, mine in self._labelled(self.by_annotator, more.labels, codes[more.case]):
                self._group(self.by_annotator, label).add(names, mine, hashes, more.statistics)

    @staticmethod
    def _labelled(slicing: Slicing, labels: Sequence[str], codes: Ints) -> list[tuple[str, Ints]]:
        """For every label the codes of its cases, and -1 for all others."""
        distinct = sorted(set(labels), key=slicing.order)
        place = {label: index for index, label in enumerate(distinct)}
        which = np.array([place[label] for label in labels], np.int64)
        found = [(label, np.where(which == i, codes, -1)) for label, i in place.items()]
        return [(label, mine) for label, mine in found if (mine >= 0).any()]

    def _group(self, slicing: Slicing, label: str) -> Tally:
        groups = self.groups[slicing]
        if label not in groups:
            if len(groups) == MAX_GROUPS:
                remedy = f" — cut numbers into ranges, as in {slicing.field}:10,20"
                told = f'by "{slicing.field}": more than {MAX_GROUPS} groups'
                raise UsageError(told + remedy * (slicing.field != ANNOTATOR_FIELD))
            groups[label] = self.tally()
        return groups[label]

    def sorted_groups(self) -> list[tuple[str, list[tuple[str, Tally]]]]:
        """For every field its groups in order; refused if no case has the field."""
        found = []
        for slicing, groups in self.groups.items():
            filled = {label: tally for label, tally in groups.items() if tally.systems}
            if not filled or filled.keys() == {MISSING_GROUP}:
                if slicing.field == ANNOTATOR_FIELD:
                    raise UsageError("by annotator: needs a references file")
                remedy = nearest(slicing.field, {*self.known, ANNOTATOR_FIELD})
                raise UsageError(f'by: no case has a field "{slicing.field}" — {remedy}')
            if filled.keys() <= {MISSING_GROUP, NO_NUMBER_GROUP}:
                raise UsageError(f'by: no case has a number in "{slicing.field}" to cut')
            ordered = sorted(filled.items(), key=lambda pair: slicing.order(pair[0]))
            found.append((slicing.field, ordered))
        return found

    def slices(self, level: float) -> tuple[Slice, ...]:
        """Estimates of every group."""
        return tuple(
            Slice(name, {label: tally.estimates(level) for label, tally in groups})
            for name, groups in self.sorted_groups()
        )


# --- One scoring run -----------------------------------------------------------------------------


@dataclass
class ScoringRun:
    """Collects what the workers send."""

    collected: CaseCollectors
    on_error: OnError
    lines: TaskReader
    baselines: list[str] = field(default_factory=list)
    findings: Findings = field(init=False)
    remarks: Counter[str] = field(default_factory=Counter)
    seen: KeyIndex = field(default_factory=KeyIndex)
    answered: dict[str, array[int]] = field(default_factory=lambda: defaultdict(_rows))
    sources: list[RecordSource] = field(default_factory=list)
    references: References | None = None
    work: MeasureBlock = field(init=False)

    def __post_init__(self) -> None:
        self.baselines = list(dict.fromkeys(self.baselines))
        for name in self.baselines:
            if name not in self.lines.baselines:
                self.lines.baseline(name, CaseList([]), 0)  # refuses it
        self.findings = Findings(self.on_error)
        self.families = self.collected.families
        self.people = PeopleTally(self.collected.tally(), self.collected.tally())

    def read(
        self,
        outputs: RecordSource,
        references: RecordSource | None,
        system: str | None,
        map_: Map,
        progress: Progress,
    ) -> None:
        """Take all of the input in; raise if it is not good."""
        if references is not None and system is not None:
            raise UsageError("a system is named only where outputs and references are one file")
        if system is not None and not is_name(system):
            raise UsageError(f"system must be printable text, got {system!r}")
        kept = self.collected
        if references is not None:
            self.references, found = read_references(
                references, self.lines, self.on_error, kept.by_meta
            )
            self._found(references, found)
            self.remarks.update(self.references.remarks)
            self.people.read(self.references, self._spread(map_))
            kept.fewer = kept.fewer.among(self.references.cases.counts)
        name = outputs.stem if system is None else whole_characters(system)
        self.work = MeasureBlock(
            self.families,
            self.on_error,
            name,
            self.references,
            kept.by_meta,
            kept.by_annotator is not None,
            kept.pictured,
            kept.alignments is not None,
            self.lines,
            kept.fewer,
        )
        for measured in self._spread(map_)(self.work, outputs.blocks()):
            self._take(measured, outputs.name)
            progress(measured.done, outputs.total, kept.cases)
        self._found(outputs, Findings())
        for baseline in self.baselines:
            self._baseline(baseline)
        if self.references is not None:
            self._missing(self.references, outputs.name)
        self._refuse(outputs.name)
        self._check_shown()

    def _spread(self, map_: Map) -> Map:
        """How work is shared; a model does all of it here, where it knows what it has encoded."""
        return in_process if self.families.alone else map_

    def _baseline(self, name: str) -> None:
        """Score a system that is none, on all items."""
        if self.references is None:
            raise UsageError("baselines need a references file")
        system, items = f"({name})", list(self.references.rows)
        if system in self.collected.whole.systems:
            raise UsageError(f'a system is called "{system}", like the baseline')
        given = self.lines.baseline(name, self.references.cases, self.collected.seed)
        parsed = self.references.join(items, [system] * len(items), given)
        parsed.labels = self.references.labels(parsed, [{} for _ in items])
        parsed.answered = []
        codes = np.zeros(len(items), np.int64)
        self.collected.add(self.work.measure(parsed), [system], codes, baseline=True)

    def read_people(self, references: RecordSource, map_: Map) -> None:
        """Take a references file alone."""
        self.references, found = read_references(references, self.lines, self.on_error)
        self._found(references, found)
        if self.findings.count:
            raise InputError(self.findings.problems, self.findings.count)
        self.people.read(self.references, self._spread(map_))
        if not self.people.ceiling.systems:
            raise UsageError(f"{references.name}: no item has two references: nobody to agree with")

    def result(self, level: float) -> Scores:
        """Estimates of every system."""
        kept = self.collected
        estimates, people = kept.whole.estimates(level), self._people(level)
        known: list[Estimates] = [*estimates.values()] or ([people.ceiling] if people else [])
        made = f"|baselines={'+'.join(self.baselines)}" if self.baselines else ""
        methods = {estimate.method for own in known for estimate in own.values()}
        return Scores(
            signature=f"{self.families.signature}|{'+'.join(sorted(methods))}"
            f"(draws={kept.draws},level={level},seed={kept.seed})|on_error={self.on_error}"
            f"{self.lines.signature}{made}",
            provenance=self._provenance(),
            families=self.families.named,
            headlines=tuple(self.families.leading),
            systems=estimates,
            slices=kept.slices(level),
            people=people,
            sweeps=self.families.sweeps,
            courses=kept.dialled.courses(level),
            spread=kept.spread.values(),
            shown=self._shown(),
            skipped=tuple(self.findings.skipped),
            emptied=tuple(self.findings.emptied),
            worst=kept.worst.samples(),
            worst_by=kept.worst.by,
            notes=tuple(self._notes()),
        )

    def _people(self, level: float) -> AnnotatorScores | None:
        if not self.people.ceiling.systems:
            return None
        return AnnotatorScores(
            self.people.ceiling.items,
            self.people.estimates(level),
            self.collected.left_out.estimates(level),
            self.people.annotators.estimates(level),
        )

    def _shown(self) -> tuple[ExampleItem, ...]:
        gallery = self.collected.gallery
        items = list(dict.fromkeys([*self.collected.show, *self.collected.worst.items]))
        annotators: dict[str, list[str]] = {}
        if self.references is not None:
            annotators = {item: self.references.names([item]) for item in items}
            gallery.audio = self.references.audio
        folder = self.sources[0].folder
        gallery.audio = {
            item: found_sound(folder, gallery.audio[item])
            for item in items
            if gallery.audio.get(item)
        }
        why: dict[str, str] = {}
        for sample in self.collected.worst.samples():
            told = f"{sample.key.system} is among the worst by {self.collected.worst.by}"
            why[sample.key.item] = "; ".join(filter(None, [why.get(sample.key.item), told]))
        return gallery.shown(items, annotators, why)

    def _check_shown(self) -> None:
        """Items that are to be shown must be there."""
        here = self.collected.gallery.items
        for item in self.collected.show:
            if item not in here:
                raise UsageError(f'show: no item "{item}" was scored — {nearest(item, here)}')

    def _take(self, measured: MeasuredBatch, source: str) -> None:
        """Cases that are new, in the order of their lines."""
        self.remarks.update(measured.remarks)
        for system, row in measured.answered:
            self.answered[system].append(row)
        names = sorted(set(measured.systems))
        code = {name: index for index, name in enumerate(names)}
        codes = np.array([code[name] for name in measured.systems], np.int64)
        earlier = self.seen.add(
            hash_keys(measured.hashes, hash_names(names)[codes]), measured.lines
        )
        self._repeated(measured, earlier, source)
        self.findings.merge(measured.findings)
        self.collected.add(measured, names, np.where(earlier == 0, codes, -1))

    def _repeated(self, measured: MeasuredBatch, earlier: NDArray[np.int64], source: str) -> None:
        lines = measured.lines[earlier > 0].tolist()
        if not lines:
            return
        found = measured.findings  # a line that is not scored was not scored as empty either
        found.emptied = [left for left in found.emptied if left.line not in {*lines}]
        for index in np.flatnonzero(earlier):
            key = Key(measured.items[index], measured.systems[index])
            message = f'"{key.item}" is also on line {earlier[index]}'
            fault = Fault("id" if self.references is None else "item", message, "keep one")
            found.bad(source, int(measured.lines[index]), key, [fault])

    def _missing(self, joined: References, source: str) -> None:
        """Items that a system gave nothing for."""
        items = list(joined.rows)
        remedy = self.lines.if_nothing
        for name in sorted(self.answered):
            silent = np.ones(len(items), np.bool_)
            silent[self.answered[name]] = False
            gone = [items[row] for row in np.flatnonzero(silent)]
            for item in gone:
                fault = Fault("", f'no output of system "{name}" for item "{item}"', remedy)
                skip = self.on_error != "empty"
                self.findings.bad(source, 0, Key(item, name), [fault], skip=skip)
            if self.on_error == "empty" and gone:
                measured = self.work.measure(empty_outputs(joined, gone, name))
                self.collected.add(measured, [name], np.zeros(len(gone), np.int64))

    def _found(self, source: RecordSource, findings: Findings) -> None:
        self.sources.append(source)
        self.findings.merge(findings)
        if self.on_error == "fail":  # marks at the ends of lines harm no sample
            for problem in source.problems:
                self.findings.add(problem)

    def _refuse(self, source: str) -> None:
        if self.findings.count:
            raise InputError(self.findings.problems, self.findings.count)
        if not self.collected.cases:
            skipped = len(self.findings.skipped)
            left = ""
            if skipped:
                first = self.findings.skipped[0].reason
                left = f"; all {skipped:,} were skipped, the first because of {first}"
            raise InputError([Problem(source, 0, "", f"no sample to score{left}")])

    def _provenance(self) -> Provenance:
        return Provenance(
            version=__version__,
            numpy=np.__version__,
            seed=self.collected.seed,
            inputs=tuple(source.read() for source in reversed(self.sources)),
            cases=self.collected.cases,
            skipped=len(self.findings.skipped),
            emptied=len(self.findings.emptied),
            references=(1, 1) if self.references is None else _range(self.references.cases.counts),
        )

    def _notes(self) -> Iterator[str]:
        systems = self.collected.whole.systems
        lost = {left.key.system for left in self.findings.skipped} - {"", *systems}
        for name in sorted(lost):
            yield f'system "{name}" is not in the tables: all of its cases were skipped'
        yield from self.lines.notes(self.remarks, self.families.metrics)
        yield from self.collected.dialled.notes()
        if len({(s.bootstrap.count, s.items) for s in systems.values()}) > 1:
            yield "not all systems were scored on the same items — compare them with care"
        if self.references is not None:
            yield from self.collected.fewer.notes(self.references.cases.counts)
        if self.collected.gallery.pruned:
            yield "timelines of so many cases may lack the outputs of some systems"
        for item, audio in self.collected.gallery.silent():
            yield f'the sound of "{item}" is not there: {audio}'
        if self.on_error != "fail":
            for source in self.sources:
                for problem in source.problems:
                    yield f"{problem} (read all the same)"


def _rows() -> array[int]:
    return array("q")


def _range(numbers: NDArray[np.int64]) -> tuple[int, int]:
    return int(numbers.min()), int(numbers.max())
