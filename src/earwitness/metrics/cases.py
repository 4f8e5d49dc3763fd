"""Cases as they are, for tasks whose kernels look at one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Case, Cases, Key
from earwitness.errors import UsageError

Ints = NDArray[np.int64]


class CaseList(Cases):
    """A list of cases."""

    __slots__ = ("_cases", "items", "systems")

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = tuple(cases)
        self.items = [case.key.item for case in self._cases]
        self.systems = [case.key.system for case in self._cases]

    @classmethod
    def of(cls, cases: Sequence[Case]) -> CaseList:
        """Any cases; each needs a reference."""
        if isinstance(cases, CaseList):
            return cases
        if not all(case.references for case in cases):
            raise UsageError("a case needs at least one reference")
        return cls(cases)

    def __len__(self) -> int:
        return len(self._cases)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> CaseList: ...

    def __getitem__(self, index: int | slice) -> Case | CaseList:
        found = self._cases[index]
        return found if isinstance(found, Case) else CaseList(found)

    @property
    def counts(self) -> Ints:
        return np.array([len(case.references) for case in self._cases], np.int64)

    @property
    def several(self) -> bool:
        return any(len(case.references) > 1 for case in self._cases)

    def take(self, index: NDArray[np.int64]) -> CaseList:
        return CaseList(self._cases[i] for i in index.tolist())

    def each(self) -> CaseList:
        return CaseList(
            replace(case, references=(one,)) for case in self._cases for one in case.references
        )

    def keep(self, rows: Ints, counts: Ints) -> CaseList:
        every = [one for case in self._cases for one in case.references]
        kept = iter([every[row] for row in rows.tolist()])
        pairs = zip(self._cases, counts.tolist(), strict=True)
        return CaseList(replace(case, references=tuple(islice(kept, n))) for case, n in pairs)

    def people(self) -> tuple[CaseList, Ints]:
        rows = [
            (case, place, one) for case in self._cases for place, one in enumerate(case.references)
        ]
        chosen = [row for row, (case, _, _) in enumerate(rows) if len(case.references) > 1]
        found = []
        for case, place, one in (rows[row] for row in chosen):
            others = case.references[:place] + case.references[place + 1 :]
            key = Key(case.key.item, "")
            found.append(replace(case, key=key, output=one, references=others))
        return CaseList(found), np.array(chosen, np.int64)
