"""Example items and spreads of values that are kept for reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.core import Cases, ExampleItem, is_address
from earwitness.errors import UsageError, nearest
from earwitness.metric_set import MetricSet
from earwitness.scoring.collectors import WorstCases
from earwitness.stats.arrays import Floats, Hashes, Ints
from earwitness.task import Collector, ScoredBatch, TaskReader

# --- Spread of values ----------------------------------------------------------------------------


MAX_PLOTTED_CASES = 2000  # kept cases per system: those with the smallest hashes


@dataclass
class CaseValueSpread(Collector):
    """Values of single cases for plots; if there are many, the same sample for all systems."""

    metrics: MetricSet
    _kept: dict[str, tuple[Hashes, Floats]] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)  # items by hash

    def add(self, batch: ScoredBatch) -> None:
        """Keep the cases with the smallest hashes."""
        hashes, values = batch.measured.hashes, batch.values
        for code, name in enumerate(batch.systems):
            mine = np.flatnonzero(batch.codes == code)
            old, rows = self._kept.get(name, (hashes[:0], values[:0]))
            joined, table = np.append(old, hashes[mine]), np.append(rows, values[mine], axis=0)
            order = np.argsort(joined, kind="stable")[:MAX_PLOTTED_CASES]
            self._kept[name] = joined[order], table[order]
            for place in mine[order[order >= len(old)] - len(old)].tolist():
                self._names[int(hashes[place])] = batch.measured.items[place]

    @property
    def items(self) -> dict[str, tuple[str, ...]]:
        """The items of the kept cases by system."""
        return {
            system: tuple(self._names[number] for number in hashes.tolist())
            for system, (hashes, _) in sorted(self._kept.items())
            if len(hashes)
        }

    def result(self, level: float) -> dict[str, dict[str, tuple[float, ...]]]:
        """Return the values by system and value name; NaN if undefined."""
        names = self.metrics.value_names
        return {
            system: {
                name: tuple(column.tolist()) for name, column in zip(names, table.T, strict=True)
            }
            for system, (_, table) in sorted(self._kept.items())
            if len(table)
        }


# --- Items to look at ----------------------------------------------------------------------------


MAX_HELD_CASES = 20_000  # cases kept in memory because they may be shown later


class HeldCases(NamedTuple):
    """Cases with their values, and the names of their annotators."""

    cases: Cases
    values: Floats
    annotators: list[list[str]]

    def take(self, index: Ints) -> HeldCases:
        """Return the cases at these indices."""
        annotators = [self.annotators[place] for place in index.tolist()]
        return HeldCases(self.cases.take(index), self.values[index], annotators)


@dataclass
class Gallery(Collector):
    """Cases of items that may be shown: all if there are few, else only those to be shown.

    The items to be shown are those of ``show`` and of the worst cases, which must be collected
    before. Audio files are searched in ``folder``.
    """

    metrics: MetricSet
    reader: TaskReader
    worst: WorstCases
    show: tuple[str, ...] = ()
    folder: Path | None = None
    _audio: dict[str, str] = field(default_factory=dict)
    _pruned: bool = False
    _held: list[HeldCases] = field(default_factory=list)

    @property
    def wanted(self) -> list[str]:
        """Return the items to be shown, in order."""
        return list(dict.fromkeys([*self.show, *self.worst.items]))

    def add(self, batch: ScoredBatch) -> None:
        """Keep cases; if there are too many, drop those that are not to be shown."""
        measured = batch.measured
        if measured.cases is None:
            return
        batch_cases = HeldCases(measured.cases, batch.values, measured.annotators)
        self._held.append(batch_cases.take(batch.counted))
        for key in batch.keys:
            if key.item in measured.audio:
                self._audio[key.item] = measured.audio[key.item]
        if sum(len(held.cases) for held in self._held) > MAX_HELD_CASES:
            self._prune()

    def _prune(self) -> None:
        self._pruned = True
        wanted = {*self.wanted}
        for place, held in enumerate(self._held):
            index = [i for i, item in enumerate(held.cases.items) if item in wanted]
            self._held[place] = held.take(np.array(index, np.int64))
        self._audio = {item: path for item, path in self._audio.items() if item in wanted}

    def result(self, level: float) -> tuple[ExampleItem, ...]:
        """Return the items in order, with the kept outputs of every system."""
        items = {item for held in self._held for item in held.cases.items}
        for item in self.show:
            if item not in items:
                raise UsageError(f'show: no item "{item}" was scored — {nearest(item, items)}')
        wanted = self.wanted
        self._audio = {
            item: find_sound(self.folder, self._audio[item])
            for item in wanted
            if self._audio.get(item)
        }
        places: dict[str, list[tuple[HeldCases, int]]] = {item: [] for item in wanted}
        for held in self._held:
            for index, item in enumerate(held.cases.items):
                if item in places:
                    places[item].append((held, index))
        reasons = self.worst.reasons()
        return tuple(
            self._example(item, places[item], reasons.get(item, ""))
            for item in wanted
            if places[item]
        )

    def _example(self, item: str, places: list[tuple[HeldCases, int]], why: str) -> ExampleItem:
        """Return an item with the outputs of all systems, as shown by its task."""
        cases, values, references = {}, {}, dict[str, Any]()
        names = self.metrics.value_names
        for held, index in places:
            case = held.cases[index]
            cases[case.key.system] = case
            references.update(zip(held.annotators[index], case.references, strict=True))
            values[case.key.system] = dict(zip(names, held.values[index].tolist(), strict=True))
        first = next(iter(cases.values()))
        audio = self._audio.get(item, "")
        example = ExampleItem(item, first.item.duration, audio, {}, {}, values, why)
        people = dict(sorted(references.items()))
        return self.reader.example(example, dict(sorted(cases.items())), people, self.metrics)

    def notes(self) -> Iterator[str]:
        """Yield notes about missing outputs and missing audio files of shown items."""
        if self._pruned:
            yield "with this many outputs, timelines may lack the outputs of some systems"
        for item, audio in sorted(self._audio.items()):
            if not is_address(audio) and not _is_file(Path(audio)):
                yield f'the audio file of "{item}" does not exist: {audio}'


def find_sound(folder: Path | None, audio: str) -> str:
    """Return the path of an audio file in the folder of the file that names it, or as given."""
    if folder is None or is_address(audio) or not _is_file(folder / audio):
        return audio
    return str(folder / audio)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False
