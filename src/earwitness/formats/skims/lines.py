"""Lines of skims: outputs, joined with the recordings that they are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.data import Case, Cases, Dial, Item, Key, Pick, Recording, Skim
from earwitness.formats.check import Fault
from earwitness.formats.lines import Lines
from earwitness.formats.seen import hash_names
from earwitness.formats.skims.contents import recorded, skim_of, sound_of
from earwitness.formats.skims.dials import dial_of
from earwitness.formats.skims.layouts import OUTPUTS, REFERENCES, Content, Line, Output
from earwitness.formats.skims.remarks import MADE, few_blocks, made_otherwise, made_with
from earwitness.formats.skims.sounds import Resolved, skims_of_sound
from earwitness.metrics import Metric
from earwitness.metrics.cases import CaseList
from earwitness.metrics.skims.days import Recorded, Reference, day_of, embedded
from earwitness.stats.skims.day import Day, Ints
from earwitness.stats.skims.measures import calibration_sd, calibration_tc
from earwitness.summarizers.skims import Plan, pick

OWN_BLOCKS = "blocks of their own"
Rows = Callable[[Day, Plan], Ints | tuple[int, ...]]
BASELINES: Mapping[str, Rows] = {
    "downsampling": lambda day, plan: pick(day, plan, "downsampling").rows,
    "random": lambda day, plan: pick(day, plan, "random").rows,
    "calibration_tc": lambda day, plan: calibration_tc(day, plan.picks),
    "calibration_sd": lambda day, plan: calibration_sd(day, plan.picks),
}


@dataclass(frozen=True)
class SkimLines(Lines):
    """Paths are seen from the files that name them; baselines hear through an embedder."""

    outputs_in: Path | None = None
    references_in: Path | None = None
    embedder: str = "codebook"
    block: float = 8.0

    outputs = OUTPUTS
    references = REFERENCES
    failed = Resolved(Skim(()))
    nothing = {"picks": []}  # noqa: RUF012
    if_nothing = "write an empty list if it has no picks"
    baselines = tuple(BASELINES)

    @property
    def signature(self) -> str:
        return ""

    def output(self, record: Content, cases: Cases, row: int) -> Resolved | list[Fault]:
        return skim_of(record, cases[row].references[0], self.outputs_in, self._real)

    def outputs_of(
        self, records: Sequence[Content], cases: Cases, rows: Sequence[int]
    ) -> list[Resolved | list[Fault]]:
        """Sounds of one recording are looked for together."""
        found: dict[int, Resolved | list[Fault]] = {}
        sounds: dict[int, dict[int, Path]] = {}
        for number, (record, row) in enumerate(zip(records, rows, strict=True)):
            if (path := sound_of(record, self.outputs_in)) is None:
                found[number] = self.output(record, cases, row)
            else:
                sounds.setdefault(row, {})[number] = path
        for row, paths in sounds.items():
            of = cases[row].references[0]
            skims = skims_of_sound(list(paths.values()), of, self._real)
            found.update(zip(paths, skims, strict=True))
        return [found[number] for number in range(len(records))]

    def _real(self, of: Recorded) -> Recording:
        return embedded(of, self.embedder, self.block).real

    def reference(self, record: Line, names: Sequence[str]) -> tuple[list[Any], list[Fault]]:
        """The recording; it must be there, but is not decoded yet."""
        del names
        found = recorded(record, self.references_in)
        return ([], found) if isinstance(found, list) else ([found], [])

    def of_references(self, records: Sequence[Line], resolved: Sequence[list[Any]]) -> CaseList:
        return CaseList(
            Case(Key(str(record.item), ""), Item(_length(one)), self.failed.skim, (one,))
            for record, (one,) in zip(records, resolved, strict=True)
        )

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Resolved]) -> CaseList:
        rows = zip(cases, systems, outputs, strict=True)
        return CaseList(
            Case(Key(case.key.item, system), case.item, output.skim, case.references)
            for case, system, output in rows
        )

    def dials(self, records: Sequence[Output]) -> list[Dial | None]:
        return [dial_of(record) for record in records]

    def made(self, records: Sequence[Output]) -> Counter[str]:
        return made_with(records)

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        return {"duration": case[row].item.duration}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """What was said about recordings, and about skims that were found in them."""
        del cases
        if not references:
            return Counter(told for one in resolved for told in one.told)
        known = [one.recording for one in resolved if isinstance(one, Recorded)]
        said = Counter(note for one in known for note in one.notes)
        said[OWN_BLOCKS] = sum(isinstance(one, Day) for one in resolved)
        said.update(few_blocks(known, self.embedder, self.block))
        return +said

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        for said, number in remarks.items():
            if said.startswith(MADE):
                yield from made_otherwise(said, number, metrics)
            elif said == OWN_BLOCKS:
                items = "item has" if number == 1 else "items have"
                yield f"{number:,} {items} {OWN_BLOCKS}, for which embedder and block say nothing"
            else:
                yield said

    def baseline(self, name: str, cases: Cases, seed: int) -> list[Resolved]:
        """Twelve picks of every item, as published."""
        if name not in self.baselines:
            return list(super().baseline(name, cases, seed))
        hashes = hash_names(list(cases.items)).tolist()
        return [
            self._baseline(name, case, [seed, one]) for case, one in zip(cases, hashes, strict=True)
        ]

    def _baseline(self, name: str, case: Case, seeds: list[int]) -> Resolved:
        day = day_of(case.references[0], self.embedder, self.block)
        seed = int(np.random.SeedSequence(seeds).generate_state(1)[0])
        rows = BASELINES[name](day, Plan(block=day.seconds, overlap=0.0, seed=seed))
        starts = day.starts[np.asarray(rows, np.int64)].tolist()
        return Resolved(Skim(tuple(Pick(start, day.seconds) for start in starts)))


def _length(one: Reference) -> float:
    return one.length if isinstance(one, Day) else one.recording.seconds
