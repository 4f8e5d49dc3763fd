"""One run of scoring: blocks of lines out to workers, statistics back, estimates at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness import __version__
from earwitness.api.collect import Hashes, SystemScores, Worst
from earwitness.api.family import Families
from earwitness.api.measure import MeasureBlock, Measured
from earwitness.data import Key, Map, Progress, Provenance, Scores
from earwitness.errors import InputError, Problem, UsageError
from earwitness.formats.chapters import References, empty_outputs, read_references
from earwitness.formats.check import Fault
from earwitness.formats.records import Findings, OnError
from earwitness.formats.samples import SampleTable
from earwitness.formats.seen import Seen, hash_keys, hash_names
from earwitness.formats.source import Source
from earwitness.stats import Bootstrap


@dataclass
class Run:
    """Collects what the workers send."""

    families: Families
    draws: int
    seed: int
    on_error: OnError
    worst: Worst
    table: SampleTable | None = None
    systems: dict[str, SystemScores] = field(default_factory=dict)
    findings: Findings = field(init=False)
    later: Counter[str] = field(default_factory=Counter)
    seen: Seen = field(default_factory=Seen)
    answered: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
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
        joined = None
        if references is not None:
            joined, found = read_references(references, self.on_error)
            self._found(references, found)
        self.id_field = "id" if joined is None else "item"
        work = MeasureBlock(self.families, self.on_error, system or outputs.stem, joined)
        for measured in map_(work, outputs.blocks()):
            self._take(measured, outputs.name, joined)
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
            families={metric.signature: metric.values for metric in self.families.metrics},
            systems=estimates,
            skipped=tuple(self.findings.skipped),
            emptied=tuple(self.findings.emptied),
            worst=self.worst.samples(),
            worst_by=self.worst.by,
            notes=tuple(self._notes()),
        )

    def _take(self, measured: Measured, source: str, joined: References | None) -> None:
        self.findings.merge(measured.findings)
        self.later.update(measured.later)
        names = sorted(set(measured.systems))
        code = {name: index for index, name in enumerate(names)}
        codes = np.array([code[name] for name in measured.systems], np.int64)
        fresh = self._fresh(measured, hash_names(names)[codes], source)
        if joined is not None:
            self._mark(measured, joined)
        for index, name in enumerate(names):
            chosen = np.flatnonzero(fresh & (codes == index))
            if len(chosen):
                self._add(name, chosen, measured)

    def _fresh(self, measured: Measured, systems: Hashes, source: str) -> NDArray[np.bool_]:
        earlier = self.seen.add(hash_keys(measured.hashes, systems), measured.lines)
        for index in np.flatnonzero(earlier):
            key = Key(measured.items[index], measured.systems[index])
            message = f'"{key.item}" is also on line {earlier[index]}'
            fault = Fault(self.id_field, message, "keep one")
            self.findings.bad(source, int(measured.lines[index]), key, [fault])
        fresh: NDArray[np.bool_] = earlier == 0
        return fresh

    def _mark(self, measured: Measured, joined: References) -> None:
        keys = [*zip(measured.items, measured.systems, strict=True)]
        keys += [(key.item, key.system) for key in measured.findings.keys if key.system]
        for item, system in keys:
            answered = self.answered.setdefault(system, np.zeros(len(joined.hashes), np.bool_))
            if item in joined.rows:
                answered[joined.rows[item]] = True

    def _add(self, name: str, index: NDArray[np.int64], measured: Measured) -> None:
        statistics = [table[index] for table in measured.statistics]
        items = [measured.items[i] for i in index]
        values = self.families.score(statistics)
        system = self.systems.get(name)
        if system is None:
            empty = np.zeros(values.shape[1], np.int64)
            system = SystemScores(self.families, Bootstrap(self.draws, self.seed), empty)
            self.systems[name] = system
        system.add(measured.hashes[index], statistics, values)
        self.worst.add(items, [name] * len(items), values)
        if self.table is not None:
            self.table.write(items, [name] * len(items), values.tolist())
        self.cases += len(items)

    def _missing(self, joined: References, source: str) -> None:
        """Items that a system gave nothing for."""
        items, rows = list(joined.rows), np.array(list(joined.rows.values()), np.int64)
        remedy = "write an empty list if it found no chapters"
        for name in sorted(self.answered):
            gone = [items[i] for i in np.flatnonzero(~self.answered[name][rows])]
            for item in gone:
                fault = Fault("", f'no output of system "{name}" for item "{item}"', remedy)
                skip = self.on_error != "empty"
                self.findings.bad(source, 0, Key(item, name), [fault], skip=skip)
            if self.on_error == "empty" and gone:
                measured = Measured.of(self.families, empty_outputs(joined, gone, name))
                self._add(name, np.arange(len(gone)), measured)

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
            left = f"; all {len(self.findings.skipped):,} were skipped" * bool(
                self.findings.skipped
            )
            raise InputError([Problem(source, 0, "", f"no sample to score{left}")])

    def _provenance(self) -> Provenance:
        return Provenance(
            version=__version__,
            numpy=np.__version__,
            seed=self.seed,
            inputs=tuple(source.read() for source in self.sources),
            cases=self.cases,
            skipped=len(self.findings.skipped),
            emptied=len(self.findings.emptied),
        )

    def _notes(self) -> Iterator[str]:
        for name, count in sorted(self.later.items()):
            yield f"{name}: given for {count:,} cases, not scored yet"
        if self.on_error != "fail":
            for source in self.sources:
                for problem in source.problems:
                    yield f"{problem} (read all the same)"
