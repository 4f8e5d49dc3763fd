"""Slices: which group of cases a record belongs to, by a field of its meta."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from math import isfinite
from typing import Any

from earwitness.errors import UsageError
from earwitness.formats.check import is_name

MISSING = "(missing)"
NO_NUMBER = "(no number)"
LONGEST = 60  # characters of a group's name


@dataclass(frozen=True, slots=True)
class Slicing:
    """A field, and where its numbers are cut into ranges, if they are."""

    field: str
    cuts: tuple[float, ...] = ()

    @classmethod
    def of(cls, text: str) -> Slicing:
        """From ``field`` or ``field:cut,cut``.

        >>> Slicing.of("snr:0,10").labels
        ('below 0', '0 to 10', 'from 10')
        """
        field, colon, rest = text.partition(":")
        try:
            cuts = tuple(float(cut) for cut in rest.split(",")) if colon else ()
        except ValueError:
            raise UsageError(f'by "{text}": cuts are numbers, as in snr:0,10') from None
        if not field or list(cuts) != sorted(set(cuts)) or not all(map(isfinite, cuts)):
            raise UsageError(f'by "{text}": name a field, and cuts that rise, as in snr:0,10')
        return cls(field, cuts)

    @property
    def labels(self) -> tuple[str, ...]:
        """The ranges from low to high; none if nothing is cut."""
        if not self.cuts:
            return ()
        texts = [repr(cut).removesuffix(".0") for cut in self.cuts]
        inner = [f"{a} to {b}" for a, b in pairwise(texts)]
        return (f"below {texts[0]}", *inner, f"from {texts[-1]}")

    def label(self, *records: Mapping[str, Any]) -> str:
        """The group of a case: the first record that has the field decides."""
        value = next((r[self.field] for r in records if r.get(self.field) is not None), None)
        if value is None:
            return MISSING
        if not self.cuts:
            return _named(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return NO_NUMBER
        return self.labels[bisect_right(self.cuts, value)]

    def order(self, label: str) -> tuple[Any, ...]:
        """Ranges from low to high, numbers by size, other names by letter, odd ones last."""
        if label in (MISSING, NO_NUMBER):
            return (3, label)
        if self.cuts:
            return (0, self.labels.index(label))
        try:
            size = float(label)
        except ValueError:
            size = float("nan")
        return (1, size, label) if isfinite(size) else (2, label)


def _named(value: Any) -> str:
    """A group's name: different values have different names, but 1, 1.0 and "1" are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = (
        value
        if isinstance(value, str) and is_name(value)
        else json.dumps(value, ensure_ascii=False)
    )
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({blake2b(text.encode(), digest_size=4).hexdigest()})"


Fields = tuple[Mapping[str, Any], ...]  # records that may hold a case's fields, the first wins


@dataclass
class Labels:
    """The groups of cases, a column a slicing, and which fields were there to choose from."""

    columns: list[list[str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, slicings: tuple[Slicing, ...], cases: Iterable[Fields]) -> Labels:
        """Labels of cases."""
        if not slicings:
            return cls()
        found = list(cases)
        columns = [[slicing.label(*fields) for fields in found] for slicing in slicings]
        return cls(columns, {name for fields in found for record in fields for name in record})
