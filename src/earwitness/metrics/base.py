"""The metric seam: cases in, statistics that add up, values out.

A metric is a family with one set of parameters and several named values. ``measure`` turns a case
into a row of statistics; rows of many cases are summed, never averaged; ``score`` turns a sum (of
one case or of a million, weighted or not) into values. Intervals and tests come free that way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Alignment, Case, Summary, Value, WordNetwork
from earwitness.errors import UsageError, nearest

Floats = NDArray[np.float64]


class Views(NamedTuple):
    """Statistics of cases that may have several references.

    ``whole`` has a row a case, ``each`` a row a reference, as if it were the only one, and
    ``left_out`` a row a case with two references and more: as if each of them in turn did not
    exist, the mean of all that.
    """

    whole: Floats
    each: Floats
    left_out: Floats


def row_sums(statistics: Floats, counts: NDArray[np.int64]) -> Floats:
    """Sums of every so many rows; no count is 0."""
    first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    sums: Floats = np.add.reduceat(statistics, first, axis=0)
    return sums


def _fewer(case: Case) -> Iterator[Case]:
    for rest in combinations(case.references, len(case.references) - 1):
        yield replace(case, references=rest)


@dataclass(frozen=True)
class Metric(ABC):
    """A family of values; the fields of a subclass are its parameters."""

    task: ClassVar[str] = "chapters"
    name: ClassVar[str]
    title: ClassVar[str]
    values: ClassVar[tuple[Value, ...]]
    headline: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()  # more values that stand for the family
    empty_cells: ClassVar[dict[str, str]]
    aligns: ClassVar[bool] = False
    alone: ClassVar[bool] = False  # measured in one process only
    needs: ClassVar[str] = "positions"  # or text: what summaries must have
    references: ClassVar[tuple[str, ...]]

    @abstractmethod
    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Statistics of every case, one row a case; all finite."""

    @abstractmethod
    def score(self, statistics: Floats) -> Floats:
        """Values from summed statistics, over the last axis; NaN where a value is undefined."""

    def measure(self, case: Case) -> Floats:
        """Statistics of one case."""
        return np.asarray(self.measure_many((case,))[0])

    def alignment(self, case: Case) -> Alignment | None:
        """Word by word what was right and wrong, for people; nothing if the metric has no words."""
        del case
        return None

    def picture(
        self, cases: Mapping[str, Case], people: Mapping[str, Summary]
    ) -> WordNetwork | None:
        """What an item looks like to the metric, with outputs by system; few metrics draw it."""
        del cases, people
        return None

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> Views:
        """Statistics in all ways that several references allow; subclasses may be faster.

        Without ``each`` nobody needs a row a reference, and there may be none.
        """
        alone = [replace(case, references=(one,)) for case in cases for one in case.references]
        several = [case for case in cases if len(case.references) > 1]
        fewer = [smaller for case in several for smaller in _fewer(case)]
        counts = np.array([len(case.references) for case in several], np.int64)
        left_out = self.pool(self.measure_many(fewer), counts)
        return Views(self.measure_many(cases), self.measure_many(alone if each else []), left_out)

    def pool(self, statistics: Floats, counts: NDArray[np.int64]) -> Floats:
        """A row for every so many rows: what several looks at one case come to, their mean."""
        return row_sums(statistics, counts) / counts[:, None]

    @property
    def signature(self) -> str:
        """The family and all its parameters, defaults too."""
        pairs = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return f"{self.name}({','.join(f'{name}={value}' for name, value in pairs)})"

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Name and default of every parameter."""
        return {field.name: field.default for field in fields(cls)}

    @classmethod
    def help(cls, parameter: str) -> str:
        """What a parameter means."""
        return str(cls._metadata(parameter)["help"])

    @classmethod
    def choices(cls, parameter: str) -> tuple[str, ...]:
        """What a parameter may be, if that is a choice of words."""
        return tuple(cls._metadata(parameter).get("choices", ()))

    @classmethod
    def _metadata(cls, parameter: str) -> Mapping[str, Any]:
        return next(f for f in fields(cls) if f.name == parameter).metadata


def ratio(top: NDArray[Any], bottom: NDArray[Any], empty: float) -> Floats:
    """``top / bottom``, and ``empty`` where the bottom is 0."""
    top, bottom = np.broadcast_arrays(top, bottom)
    result: Floats = np.divide(top, bottom, out=np.full(top.shape, empty), where=bottom != 0)
    return result


def harmonic(precision: Floats, recall: Floats) -> Floats:
    """F1 of precision and recall, 0 where both are 0; undefined stays undefined."""
    total = precision + recall
    return ratio(2 * precision * recall, np.where(total == 0, 1.0, total), 0.0)


def at_least(least: float, name: str, value: float) -> float:
    """A parameter as a float; refused if it is not a finite number from ``least`` on."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < least:
        raise UsageError(f"{name} must be a finite number from {least:g} on, got {value!r}")
    return float(value) + 0.0  # no negative zero


def one_of(choices: Iterable[str], name: str, value: str) -> None:
    """Refuse a parameter that is none of the choices."""
    if value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def find(name: str, table: dict[str, type[Metric]]) -> type[Metric]:
    """The family of that name."""
    if name not in table:
        raise UsageError(f'there is no metric "{name}" — {nearest(name, table)}')
    return table[name]
