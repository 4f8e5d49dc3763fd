"""Example items and spreads of values that are kept for reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Alignment, Case, Cases, Chapters, ExampleItem, Summary, is_address
from earwitness.metric_set import MetricSet
from earwitness.stats.arrays import Floats, Hashes, Ints

MAX_PLOTTED_CASES = 2000  # cases of a system whose values are kept: those with the smallest hashes
MAX_HELD_CASES = 20_000  # cases that are held in case one of them is wanted later


@dataclass
class CaseValueSpread:
    """Values of some cases: all, or as many as are drawn, the same items for everyone."""

    families: MetricSet
    kept: dict[str, tuple[Hashes, Floats]] = field(default_factory=dict)

    def add(self, names: Sequence[str], codes: Ints, hashes: Hashes, values: Floats) -> None:
        """Cases whose code is the index of their system's name; -1 is left out."""
        for code, name in enumerate(names):
            mine = codes == code
            old, rows = self.kept.get(name, (hashes[:0], values[:0]))
            joined, table = np.append(old, hashes[mine]), np.append(rows, values[mine], axis=0)
            order = np.argsort(joined, kind="stable")[:MAX_PLOTTED_CASES]
            self.kept[name] = joined[order], table[order]

    def values(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """By system and name of the value, without what is undefined."""
        names = [value.name for value in self.families.values]
        return {
            system: {
                name: tuple(column[~np.isnan(column)].tolist())
                for name, column in zip(names, table.T, strict=True)
            }
            for system, (_, table) in sorted(self.kept.items())
            if len(table)
        }


@dataclass
class Gallery:
    """Cases of items that may be shown: all while there are few, then only what is wanted."""

    families: MetricSet
    wanted: tuple[str, ...] = ()
    audio: dict[str, str] = field(default_factory=dict)
    pruned: bool = False
    _held: list[tuple[Cases, Floats]] = field(default_factory=list)

    def add(self, cases: Cases, index: Ints, values: Floats, audio: dict[str, str]) -> None:
        """Cases at these places."""
        self._held.append((cases.take(index), values[index]))
        self.audio.update(audio)

    def prune(self, wanted: Sequence[str]) -> None:
        """Forget what nobody wants now, if it has become too much."""
        if sum(len(cases) for cases, _ in self._held) <= MAX_HELD_CASES:
            return
        self.pruned = True
        chosen = {*self.wanted, *wanted}
        for place, (cases, values) in enumerate(self._held):
            index = np.array([i for i, name in enumerate(cases.items) if name in chosen], np.int64)
            self._held[place] = cases.take(index), values[index]
        self.audio = {item: path for item, path in self.audio.items() if item in chosen}

    def silent(self) -> list[tuple[str, str]]:
        """Items whose sound is not where it should be."""
        known = sorted(self.audio.items())
        return [one for one in known if not is_address(one[1]) and not _is_file(Path(one[1]))]

    @property
    def items(self) -> set[str]:
        """All items that are held."""
        return {item for cases, _ in self._held for item in cases.items}

    def shown(
        self, items: Sequence[str], annotators: dict[str, list[str]], why: dict[str, str]
    ) -> tuple[ExampleItem, ...]:
        """The items in this order, with every system's output that is held."""
        found: dict[str, list[tuple[int, Cases, NDArray[np.float64]]]] = {}
        wanted = {*items}
        for cases, values in self._held:
            for index, name in enumerate(cases.items):
                if name in wanted:
                    found.setdefault(name, []).append((index, cases, values[index]))
        return tuple(
            self._picture(item, found[item], annotators.get(item), why.get(item, ""))
            for item in items
            if item in found
        )

    def _picture(
        self,
        item: str,
        found: list[tuple[int, Cases, NDArray[np.float64]]],
        annotators: list[str] | None,
        why: str,
    ) -> ExampleItem:
        cases = {case.key.system: (case, row) for i, of, row in found for case in [of[i]]}
        first = next(iter(cases.values()))[0]
        people = dict(sorted(zip(annotators or ["reference"], first.references, strict=True)))
        names = [value.name for value in self.families.values]
        shown = ExampleItem(
            item,
            first.item.duration,
            self.audio.get(item, ""),
            {},
            {},
            {s: dict(zip(names, row.tolist(), strict=True)) for s, (_, row) in cases.items()},
            self.families.near,
            why,
            self._alignments([case for case, _ in cases.values()], people),
        )
        ordered = {system: case for system, (case, _) in sorted(cases.items())}
        if isinstance(first.output, Chapters):
            references = {name: one.boundaries for name, one in people.items()}
            outputs = {system: case.output.boundaries for system, case in ordered.items()}
            return replace(shown, references=references, outputs=outputs)
        return replace(shown, network=self.families.network(ordered, people))

    def _alignments(
        self, cases: list[Case], people: dict[str, Any]
    ) -> dict[str, tuple[Alignment, ...]]:
        """Word by word, if words are scored; else summaries below each other."""
        ordered = sorted(cases, key=lambda case: case.key)
        if isinstance(ordered[0].output, Summary) and not self.families.aligns:
            said = [f"{name}: {one.text}" for name, one in people.items()]
            texts = {c.key.system: [*said, f"OUT: {c.output.text}"] for c in ordered}
            return {name: (Alignment((), text="\n".join(text)),) for name, text in texts.items()}
        shown = {case.key.system: self.families.alignments(case) for case in ordered}
        return {system: found for system, found in shown.items() if found}


def found_sound(folder: Path | None, audio: str) -> str:
    """Where sound is: beside the file that names it, or as it says."""
    if folder is None or is_address(audio) or not _is_file(folder / audio):
        return audio
    return str(folder / audio)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False
