"""Lines of summaries: outputs and references that are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earwitness.data import Case, Cases, Item, Key, Summary
from earwitness.errors import UsageError
from earwitness.formats.check import Fault
from earwitness.formats.latin import NOT_LATIN, latin_notes, not_latin
from earwitness.formats.lines import Lines
from earwitness.formats.seen import hash_names
from earwitness.formats.summaries.contents import (
    FAILED,
    Reading,
    Resolved,
    item_of,
    of_person,
    of_system,
)
from earwitness.formats.summaries.layouts import OUTPUTS, REFERENCES, Content, Reference
from earwitness.metrics import Metric
from earwitness.metrics.cases import CaseList
from earwitness.text.words import tokeniser_signature

AMBIGUOUS = "ambiguous in "
LISTED = 5  # items that a note names


@dataclass(frozen=True)
class SummaryLines(Lines):
    """Read in one way."""

    reading: Reading = field(default_factory=Reading)

    outputs = OUTPUTS
    references = REFERENCES
    failed = FAILED
    nothing = {"positions": []}  # noqa: RUF012
    if_nothing = "write an empty list if it kept nothing"
    baselines = ("lead", "random")

    @property
    def signature(self) -> str:
        name = self.reading.tokenise
        return "" if name == "blanks" else f"|tokenise={tokeniser_signature(name)}"

    def output(self, record: Content, cases: Cases, row: int) -> Resolved | list[Fault]:
        return of_system(record, cases[row].item, self.reading, "output")

    def reference(self, record: Reference, names: Sequence[str]) -> tuple[list[Any], list[Fault]]:
        """What was said, then every summary of it."""
        del names
        item = item_of(record, self.reading)
        if isinstance(item, list):
            return [], item
        resolved, faults = list[Any](), list[Fault]()
        for n, one in enumerate(record.references):
            found = of_person(one, item, self.reading, f"references[{n}]")
            if isinstance(found, Resolved):
                resolved.append(found)
            else:
                faults += found
        return [item, *resolved], faults

    def of_references(
        self, records: Sequence[Reference], resolved: Sequence[list[Any]]
    ) -> CaseList:
        pairs = zip(records, resolved, strict=True)
        return CaseList(
            Case(
                Key(str(record.item), ""),
                item,
                FAILED.summary,
                tuple(one.summary for one in people),
            )
            for record, (item, *people) in pairs
        )

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Resolved]) -> CaseList:
        rows = zip(cases, systems, outputs, strict=True)
        return CaseList(
            Case(Key(case.key.item, system), case.item, output.summary, case.references)
            for case, system, output in rows
        )

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        item: Item = case[row].item
        known = {} if np.isnan(item.duration) else {"duration": item.duration}
        return known | {"words": len(item.words)}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """Texts that fit what was said in several ways."""
        if not references:
            names = list(cases.items)
            found = list(resolved)
        else:
            names = [case.key.item for case in cases for _ in case.references]
            found = [one for one in resolved if isinstance(one, Resolved)]
        side = "references" if references else "outputs"
        pairs = zip(names, found, strict=True)
        odd = Counter(f"{AMBIGUOUS}{side} {name}" for name, one in pairs if one.ways > 1)
        if references:
            odd[NOT_LATIN] = sum(not_latin(one.summary.text) for one in found)
        return +odd

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        yield from latin_notes(remarks[NOT_LATIN], metrics)
        for side in ("references", "outputs"):
            start = f"{AMBIGUOUS}{side} "
            items = {n.removeprefix(start): c for n, c in remarks.items() if n.startswith(start)}
            if items:
                names = ", ".join(list(items)[:LISTED]) + ", …" * (len(items) > LISTED)
                number = sum(items.values())
                what = "summary" if number == 1 else "summaries"
                yield (
                    f"{number:,} {what} among the {side} may have been taken from what was said in "
                    "several ways; most neighbours kept together, then the earliest words, were "
                    f"chosen: {names}"
                )

    def baseline(self, name: str, cases: Cases, seed: int) -> list[Resolved]:
        """As many words as people keep on average: the first ones, or any."""
        if name not in self.baselines:
            return super().baseline(name, cases, seed)
        silent = [case.key.item for case in cases if not case.item.words]
        if silent:
            told = f"baseline {name}: needs what was said, which {len(silent):,} items lack"
            raise UsageError(f"{told} — give their words or a transcript: {silent[0]} …")
        hashes = hash_names(list(cases.items)).tolist()
        return [_baseline(name, case, [seed, h]) for case, h in zip(cases, hashes, strict=True)]


def _baseline(name: str, case: Case, seed: list[int]) -> Resolved:
    words = case.item.words
    size = round(sum(len(one.words) for one in case.references) / len(case.references))
    size = min(max(size, 1), len(words))
    positions = list(range(1, size + 1))
    if name == "random":
        drawn = np.random.default_rng(seed).choice(len(words), size, replace=False)
        positions = sorted((drawn + 1).tolist())
    kept = tuple(words[position - 1] for position in positions)
    return Resolved(Summary(" ".join(kept), kept, tuple(positions)))
