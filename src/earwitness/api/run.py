"""One run of scoring: blocks of lines out to workers, statistics back, estimates at the end."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness import __version__
from earwitness.api.ceiling import PeopleTally
from earwitness.api.collected import Collected
from earwitness.api.measure import MeasureBlock, Measured
from earwitness.api.pictures import found_sound
from earwitness.data import (
    Estimates,
    Key,
    Map,
    People,
    Progress,
    Provenance,
    Scores,
    Shown,
)
from earwitness.engines import in_process
from earwitness.errors import InputError, Problem, UsageError, nearest, whole_characters
from earwitness.formats.check import Fault, is_name
from earwitness.formats.joined import empty_outputs
from earwitness.formats.lines import Lines
from earwitness.formats.records import Findings, OnError
from earwitness.formats.references import References, read_references
from earwitness.formats.seen import Seen, hash_keys, hash_names
from earwitness.formats.source import Source
from earwitness.metrics.cases import CaseList


@dataclass
class Run:
    """Collects what the workers send."""

    collected: Collected
    on_error: OnError
    lines: Lines
    baselines: list[str] = field(default_factory=list)
    findings: Findings = field(init=False)
    remarks: Counter[str] = field(default_factory=Counter)
    seen: Seen = field(default_factory=Seen)
    answered: dict[str, array[int]] = field(default_factory=lambda: defaultdict(_rows))
    sources: list[Source] = field(default_factory=list)
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
        outputs: Source,
        references: Source | None,
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

    def read_people(self, references: Source, map_: Map) -> None:
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

    def _people(self, level: float) -> People | None:
        if not self.people.ceiling.systems:
            return None
        return People(
            self.people.ceiling.items,
            self.people.estimates(level),
            self.collected.left_out.estimates(level),
            self.people.annotators.estimates(level),
        )

    def _shown(self) -> tuple[Shown, ...]:
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

    def _take(self, measured: Measured, source: str) -> None:
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

    def _repeated(self, measured: Measured, earlier: NDArray[np.int64], source: str) -> None:
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

    def _found(self, source: Source, findings: Findings) -> None:
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
