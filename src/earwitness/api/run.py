"""One run of scoring: blocks of lines out to workers, statistics back, estimates at the end."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness import __version__
from earwitness.api.collect import SystemScores, Worst
from earwitness.api.family import Families
from earwitness.api.measure import MeasureBlock, Measured
from earwitness.data import Key, Map, Progress, Provenance, Scores
from earwitness.errors import InputError, Problem, UsageError, whole_characters
from earwitness.formats.chapters import References, empty_outputs, read_references
from earwitness.formats.check import Fault, is_name
from earwitness.formats.records import Findings, OnError
from earwitness.formats.samples import SampleTable
from earwitness.formats.seen import Seen, hash_keys, hash_names
from earwitness.formats.source import Source
from earwitness.stats import MULTINOMIAL_UP_TO, Bootstrap


@dataclass
class Run:
    """Collects what the workers send."""

    families: Families
    draws: int
    seed: int
    on_error: OnError
    worst: Worst
    limit: int = field(default_factory=lambda: MULTINOMIAL_UP_TO)
    table: SampleTable | None = None
    systems: dict[str, SystemScores] = field(default_factory=dict)
    findings: Findings = field(init=False)
    later: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    seen: Seen = field(default_factory=Seen)
    answered: dict[str, array[int]] = field(default_factory=lambda: defaultdict(_rows))
    sources: list[Source] = field(default_factory=list)
    id_field: str = "id"
    cases: int = 0

    def __post_init__(self) -> None:
        self.findings = Findings(self.on_error)

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
        joined = None
        if references is not None:
            joined, found = read_references(references, self.on_error)
            self._found(references, found)
            self.later.update(joined.later)
        self.id_field = "id" if joined is None else "item"
        name = outputs.stem if system is None else whole_characters(system)
        work = MeasureBlock(self.families, self.on_error, name, joined)
        for measured in map_(work, outputs.blocks()):
            self._take(measured, outputs.name)
            progress(measured.done, outputs.total, self.cases)
        self._found(outputs, Findings())
        if joined is not None:
            self._missing(joined, outputs.name)
        self._refuse(outputs.name)

    def result(self, level: float) -> Scores:
        """Estimates of every system."""
        estimates, methods = {}, set()
        for name in sorted(self.systems):
            estimates[name], method = self.systems[name].estimates(level)
            methods.add(method)
        resampling = "+".join(sorted(methods))
        return Scores(
            signature=f"{self.families.signature}|{resampling}"
            f"(draws={self.draws},level={level},seed={self.seed})|on_error={self.on_error}",
            provenance=self._provenance(),
            families=self.families.named,
            systems=estimates,
            skipped=tuple(self.findings.skipped),
            emptied=tuple(self.findings.emptied),
            worst=self.worst.samples(),
            worst_by=self.worst.by,
            notes=tuple(self._notes()),
        )

    def _take(self, measured: Measured, source: str) -> None:
        """Cases that are new, in the order of their lines."""
        self.later.update(measured.later)
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
        self._add(measured, names, np.where(earlier == 0, codes, -1))

    def _repeated(self, measured: Measured, earlier: NDArray[np.int64], source: str) -> None:
        lines = measured.lines[earlier > 0].tolist()
        if not lines:
            return
        found = measured.findings  # a line that is not scored was not scored as empty either
        found.emptied = [left for left in found.emptied if left.line not in {*lines}]
        for index in np.flatnonzero(earlier):
            key = Key(measured.items[index], measured.systems[index])
            message = f'"{key.item}" is also on line {earlier[index]}'
            fault = Fault(self.id_field, message, "keep one")
            found.bad(source, int(measured.lines[index]), key, [fault])

    def _add(self, measured: Measured, names: list[str], codes: NDArray[np.int64]) -> None:
        """Cases whose code is the index of their system's name; -1 is left out."""
        values = self.families.score(measured.statistics)
        for code, name in enumerate(names):
            index = np.flatnonzero(codes == code)
            if not len(index):
                continue
            if name not in self.systems:
                empty = np.zeros(values.shape[1], np.int64)
                bootstrap = Bootstrap(self.draws, self.seed, self.limit)
                self.systems[name] = SystemScores(self.families, bootstrap, empty)
            statistics = [table[index] for table in measured.statistics]
            self.systems[name].add(measured.hashes[index], statistics, values[index])
        index = np.flatnonzero(codes >= 0)
        self.cases += len(index)
        if self.table is None and not self.worst.count:
            return
        keys = [Key(measured.items[i], measured.systems[i]) for i in index]
        self.worst.add(keys, values[index])
        if self.table is not None:
            self.table.write(keys, values[index].tolist())

    def _missing(self, joined: References, source: str) -> None:
        """Items that a system gave nothing for."""
        items = list(joined.rows)
        remedy = "write an empty list if it found no chapters"
        for name in sorted(self.answered):
            silent = np.ones(len(items), np.bool_)
            silent[self.answered[name]] = False
            gone = [items[row] for row in np.flatnonzero(silent)]
            for item in gone:
                fault = Fault("", f'no output of system "{name}" for item "{item}"', remedy)
                skip = self.on_error != "empty"
                self.findings.bad(source, 0, Key(item, name), [fault], skip=skip)
            if self.on_error == "empty" and gone:
                measured = Measured.of(self.families, empty_outputs(joined, gone, name))
                self._add(measured, [name], np.zeros(len(gone), np.int64))

    def _found(self, source: Source, findings: Findings) -> None:
        self.sources.append(source)
        self.findings.merge(findings)
        if self.on_error == "fail":  # marks at the ends of lines harm no sample
            for problem in source.problems:
                self.findings.add(problem)

    def _refuse(self, source: str) -> None:
        if self.findings.count:
            raise InputError(self.findings.problems, self.findings.count)
        if not self.cases:
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
            seed=self.seed,
            inputs=tuple(source.read() for source in reversed(self.sources)),
            cases=self.cases,
            skipped=len(self.findings.skipped),
            emptied=len(self.findings.emptied),
        )

    def _notes(self) -> Iterator[str]:
        lost = {left.key.system for left in self.findings.skipped} - {"", *self.systems}
        for name in sorted(lost):
            yield f'system "{name}" is not in the tables: all of its cases were skipped'
        for name, count in sorted(self.later.items()):
            yield f"{name}: given for {count:,} cases, not scored yet"
        for where, count in sorted(self.remarks.items()):
            what = "boundary lies" if count == 1 else "boundaries lie"
            yield f"{count:,} {what} {where} — are all times in seconds?"
        if len({(s.bootstrap.count, s.items) for s in self.systems.values()}) > 1:
            yield "not all systems were scored on the same items — compare them with care"
        if self.on_error != "fail":
            for source in self.sources:
                for problem in source.problems:
                    yield f"{problem} (read all the same)"


def _rows() -> array[int]:
    return array("q")
