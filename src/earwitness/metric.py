"""The metric interface: from cases to additive statistics, and from statistics to values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations, islice
from numbers import Real
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Alignment, Case, Cases, Key, Value
from earwitness.docstrings import complete_docstring, describe_parameters
from earwitness.errors import UsageError, nearest
from earwitness.models.text_encoder import BERTSCORE_LAYERS, Encoder, find_encoder
from earwitness.stats.arrays import Bools, Floats, Ints, all_others, bounds

# --- Metrics -------------------------------------------------------------------------------------
# A metric has one set of parameters and several named values. ``measure`` turns a case into a row
# of statistics; rows of many cases are summed, never averaged; ``score`` turns a sum (of one case
# or of a million, weighted or not) into values. Bootstrap and permutation tests need only sums.


class ReferenceViews(NamedTuple):
    """Statistics of cases that may have several references.

    Attributes
    ----------
    whole
        One row per case, with all of its references.
    each
        One row per reference, as if it were the only one.
    left_out
        One row per case with two or more references: the mean over leaving out each in turn.
    """

    whole: Floats
    each: Floats
    left_out: Floats


def row_sums(statistics: Floats, counts: Ints) -> Floats:
    """Return the sums of consecutive groups of rows; ``counts`` are the group sizes, not 0."""
    first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    sums: Floats = np.add.reduceat(statistics, first, axis=0)
    return sums


def _fewer(case: Case) -> Iterator[Case]:
    for others in combinations(case.references, len(case.references) - 1):
        yield replace(case, references=others)


CASES_AT_ONCE = 2000  # number of cases with subsets of references that are in memory at once


def keep_subsets(cases: Cases, subsets: Bools) -> Cases:
    """Return the cases with each subset of their references, subset by subset.

    All cases have the same references, and ``subsets`` has one column for each of them.
    """
    repeated = cases.take(np.tile(np.arange(len(cases)), len(subsets)))
    chosen = np.repeat(subsets, len(cases), axis=0)
    return repeated.keep(np.flatnonzero(chosen), chosen.sum(axis=1))


@dataclass(frozen=True)
class Metric(ABC):
    """Base class of all metrics.

    A metric is a frozen dataclass: its fields are the parameters, which its docstring describes
    together with those of its base classes. It turns cases into statistics that can be summed
    (``measure_many``) and sums into values (``score``).

    Attributes
    ----------
    task
        Name of the task, such as ``"chapters"``.
    name
        Name of the metric.
    title
        Short title.
    values
        Descriptions of the values, in the order in which ``score`` returns them.
    headline
        Name of the main value.
    also
        Names of additional main values.
    empty_cells
        Values for empty outputs or references, by situation, for the documentation.
    undefined_reasons
        Why values are undefined for all cases, for a note: by the start of the name of the value,
        and ``""`` if all values are undefined.
    aligns
        Whether ``alignment`` returns word alignments.
    alone
        Whether the metric must run in a single process.
    references
        Papers that define the values.

    Examples
    --------
    >>> from earwitness.registry import METRICS
    >>> METRICS["collar"](collar=1.0).signature
    'collar(against=mean,edge=0.0,collar=1.0,boundary_matching=greedy)'
    """

    task: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    values: ClassVar[tuple[Value, ...]]
    headline: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()
    empty_cells: ClassVar[dict[str, str]]
    undefined_reasons: ClassVar[dict[str, str]] = {}
    aligns: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    references: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        """Add the parameters of base classes to the docstring."""
        cls.__doc__ = complete_docstring(cls)

    def __post_init__(self) -> None:
        """Check parameters by the ``choices`` and the ``least`` value in their metadata."""
        for parameter in fields(self):
            name, option = parameter.name, parameter.metadata
            if "choices" in option:
                one_of(option["choices"], name, getattr(self, name))
            if "least" in option:
                number = at_least(option["least"], name, getattr(self, name))
                object.__setattr__(self, name, number)

    @abstractmethod
    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Compute the statistics of every case.

        Parameters
        ----------
        cases
            Cases with outputs and references.

        Returns
        -------
        array
            One row per case; all numbers are finite.
        """

    @abstractmethod
    def score(self, statistics: Floats) -> Floats:
        """Compute the values from summed statistics.

        Parameters
        ----------
        statistics
            Sums of rows of ``measure_many``, along the last axis.

        Returns
        -------
        array
            Values along the last axis, in the order of ``values``; NaN if undefined.
        """

    def measure(self, case: Case) -> Floats:
        """Return the statistics of one case."""
        return np.asarray(self.measure_many((case,))[0])

    def values_of(self, case: Case) -> dict[str, float]:
        """Return the values of one case by name; NaN if undefined."""
        row = self.score(self.measure(case)).tolist()
        return {value.name: number for value, number in zip(self.values, row, strict=True)}

    def alignment(self, case: Case) -> Alignment | None:
        """Return the word alignment of a case, or None if the metric does not align words."""
        return None

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> ReferenceViews:
        """Compute statistics with all, each, and all but one of the references of a case.

        Parameters
        ----------
        cases
            Cases with outputs and references.
        each
            Whether the statistics per reference are needed. If not, they may be empty.

        Returns
        -------
        ReferenceViews
            Statistics with all, each, and all but one of the references.
        """
        alone = [
            replace(case, references=(reference,))
            for case in cases
            for reference in case.references
        ]
        several = [case for case in cases if len(case.references) > 1]
        fewer = [smaller for case in several for smaller in _fewer(case)]
        counts = np.array([len(case.references) for case in several], np.int64)
        left_out = self.pool(self.measure_many(fewer), counts)
        return ReferenceViews(
            self.measure_many(cases), self.measure_many(alone if each else []), left_out
        )

    def measure_subsets(self, cases: Cases, subsets: Bools, names: Collection[str] = ()) -> Floats:
        """Compute statistics of the cases of one item with several subsets of its references.

        Parameters
        ----------
        cases
            Cases of one item, which all have the same references in the same order.
        subsets
            Whether a subset has a reference: one row per subset, one column per reference. No
            subset is empty.
        names
            Values that will be computed from the statistics, by default all. Statistics of other
            values may be those of undefined values.

        Returns
        -------
        array
            Subsets × cases × statistics, the same as ``measure_many`` gives with these references.
        """
        step = max(1, CASES_AT_ONCE // max(1, len(cases)))
        rows = [
            self.measure_many(keep_subsets(cases, subsets[start : start + step]))
            for start in range(0, len(subsets), step)
        ]
        return np.concatenate(rows).reshape(len(subsets), len(cases), -1)

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        """Combine consecutive groups of rows of the same case into their mean."""
        return row_sums(statistics, counts) / counts[:, None]

    @property
    def signature(self) -> str:
        """Name and all parameters, including defaults."""
        pairs = (f"{field.name}={getattr(self, field.name)}" for field in fields(self))
        return f"{self.name}({','.join(pairs)})"

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the default of every parameter, by name."""
        return {field.name: field.default for field in fields(cls)}

    @classmethod
    def help(cls, parameter: str) -> str:
        """Return the description of a parameter."""
        return describe_parameters(cls).get(parameter, "")

    @classmethod
    def choices(cls, parameter: str) -> tuple[str, ...]:
        """Return the allowed values of a parameter, or an empty tuple if it is not a choice."""
        return tuple(cls.__dataclass_fields__[parameter].metadata.get("choices", ()))


def ratio(top: NDArray[Any], bottom: NDArray[Any], empty: float) -> Floats:
    """Return ``top / bottom``, and ``empty`` where ``bottom`` is 0."""
    top, bottom = np.broadcast_arrays(top, bottom)
    result: Floats = np.divide(top, bottom, out=np.full(top.shape, empty), where=bottom != 0)
    return result


def harmonic(precision: Floats, recall: Floats) -> Floats:
    """Return the F1 of precision and recall: 0 where both are 0, NaN where either is NaN."""
    total = precision + recall
    return ratio(2 * precision * recall, np.where(total == 0, 1.0, total), 0.0)


def at_least(least: float, name: str, value: float) -> float:
    """Return a parameter as a float; UsageError unless it is finite and at least ``least``."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < least:
        raise UsageError(f"{name} must be a finite number of at least {least:g}, got {value!r}")
    return float(value) + 0.0  # no negative zero


def one_of(choices: Iterable[str], name: str, value: str) -> None:
    """Raise UsageError if a parameter is not one of the choices."""
    if value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def find(name: str, table: Mapping[str, type[Metric]]) -> type[Metric]:
    """Return the metric class with this name."""
    if name not in table:
        for kind in table.values():
            if any(value.name == name for value in kind.values):
                remedy = f"use --metric {kind.name} --value {name}"
                raise UsageError(f'"{name}" is a value of the metric {kind.name} — {remedy}')
        raise UsageError(f'unknown metric "{name}" — {nearest(name, table)}')
    return table[name]


# --- Metrics of output-reference pairs -----------------------------------------------------------
# If an item has several references, its statistics are the mean over them, or those of the
# reference with the best main value (the first of equals).


@dataclass(frozen=True)
class PairMetric(Metric):
    """Base class of metrics that compare an output with one reference at a time.

    Parameters
    ----------
    against
        How to combine several references of an item: ``mean`` of all, or the ``best`` one.
    """

    against: str = field(default="mean", kw_only=True, metadata={"choices": ("mean", "best")})

    @abstractmethod
    def columns(self, cases: Sequence[Case]) -> Cases:
        """Return the cases in the data structure of the task."""

    @abstractmethod
    def measure_pairs(self, pairs: Any) -> Floats:
        """Compute the statistics of pairs of an output and one reference."""

    def pairs(self, columns: Any) -> Any:
        """Return one case per reference."""
        return columns.each()

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Compute the statistics of every case, combined over its references."""
        return self._whole(*self._measure(cases))

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> ReferenceViews:
        """Compute all statistics from one measurement of every pair."""
        columns, rows, goodness = self._measure(cases)
        counts = columns.counts
        several = np.repeat(counts > 1, counts)
        left_out = self._left_out(rows[several], counts[counts > 1], goodness[several])
        return ReferenceViews(self._whole(columns, rows, goodness), rows, left_out)

    def measure_subsets(self, cases: Cases, subsets: Bools, names: Collection[str] = ()) -> Floats:
        """Compute all statistics from one measurement of every pair."""
        columns, rows, goodness = self._measure(cases)
        first = bounds(columns.counts)[:-1]
        step = max(1, CASES_AT_ONCE // max(1, len(cases)))
        combined = []
        for start in range(0, len(subsets), step):
            chosen = subsets[start : start + step]
            places = [first + place[:, None] for place in map(np.flatnonzero, chosen)]
            index = np.concatenate([place.T.ravel() for place in places])
            counts = np.repeat(chosen.sum(axis=1), len(first))
            combined.append(self._combine(rows[index], counts, goodness[index]))
        return np.concatenate(combined).reshape(len(subsets), len(first), -1)

    def _measure(self, cases: Sequence[Case]) -> tuple[Cases, Floats, Floats]:
        """Return the cases as columns, and the statistics and the goodness of every pair."""
        columns = self.columns(cases)
        pairs = self.pairs(columns)
        each = self.measure_pairs(pairs)
        return columns, each, self._goodness(each, pairs)

    def _whole(self, columns: Cases, each: Floats, goodness: Floats) -> Floats:
        return self._combine(each, columns.counts, goodness) if columns.has_several else each

    def _combine(self, each: Floats, counts: Ints, goodness: Floats) -> Floats:
        if self.against == "mean":
            return self.pool(each, counts)
        return np.asarray(each[_ranked(goodness, counts)[bounds(counts)[:-1]]])

    def _left_out(self, each: Floats, counts: Ints, goodness: Floats) -> Floats:
        """Return the mean of the statistics over leaving out each reference in turn."""
        first = bounds(counts)[:-1]
        if self.against == "mean":
            other, other_counts = all_others(counts)
            fewer = self.pool(each[other], other_counts)
            return self.pool(fewer, counts)
        ranked = _ranked(goodness, counts)
        best = np.repeat(each[ranked[first]], counts, axis=0)
        is_best = np.zeros(len(each), np.bool_)
        is_best[ranked[first]] = True  # the second best is used when the best is left out
        best[is_best] = each[ranked[first + 1]]
        return self.pool(best, counts)

    def _goodness(self, each: Floats, pairs: Any) -> Floats:
        """Return the main value, signed so that higher is better.

        Undefined values are the worst, or the best if both sides are the same.
        """
        if self.against != "best":
            return np.zeros(len(each))
        column = [value.name for value in self.values].index(self.headline)
        sign = 1 if self.values[column].best == "high" else -1
        goodness = sign * self.score(each)[:, column]
        open_ = np.isnan(goodness)
        goodness[open_] = np.where(self.same(pairs)[open_], np.inf, -np.inf)
        return np.asarray(goodness)

    @abstractmethod
    def same(self, pairs: Any) -> Bools:
        """Return which pairs have the same content on both sides."""


def _ranked(goodness: Floats, counts: Ints) -> Ints:
    """Return row indices by case, best reference first; equal references keep their order."""
    return np.lexsort((-goodness, np.repeat(np.arange(len(counts)), counts)))


# --- Means over outputs --------------------------------------------------------------------------


def mean_statistics(values: Floats) -> Floats:
    """Return one row per case: its values (0 if NaN), then 1 for each value that is defined."""
    defined = ~np.isnan(values)
    return np.concatenate([np.where(defined, values, 0.0), defined], axis=1)


def mean_pool(statistics: Floats, counts: Ints) -> Floats:
    """Combine groups of rows into the means over the rows in which a value is defined.

    Every group has the same weight, however many of its rows are defined.
    """
    sums, defined = np.split(row_sums(statistics, counts), 2, axis=1)
    return np.concatenate([ratio(sums, defined, 0.0), defined > 0], axis=1)


def mean_values(statistics: Floats) -> Floats:
    """Return the means over the cases in which a value is defined."""
    sums, counts = np.split(statistics, 2, axis=-1)
    return ratio(sums, counts, np.nan)


# --- Lists of cases ------------------------------------------------------------------------------


class CaseList(Cases):
    """A list of cases."""

    __slots__ = ("_cases", "items", "systems")

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = tuple(cases)
        self.items = [case.key.item for case in self._cases]
        self.systems = [case.key.system for case in self._cases]

    @classmethod
    def of(cls, cases: Sequence[Case]) -> CaseList:
        """Return a list of cases; raise UsageError if a case has no reference."""
        if isinstance(cases, CaseList):
            return cases
        if not all(case.references for case in cases):
            raise UsageError("an output needs at least one reference")
        return cls(cases)

    def __len__(self) -> int:
        return len(self._cases)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> CaseList: ...

    def __getitem__(self, index: int | slice) -> Case | CaseList:
        chosen = self._cases[index]
        return chosen if isinstance(chosen, Case) else CaseList(chosen)

    @property
    def counts(self) -> Ints:
        return np.array([len(case.references) for case in self._cases], np.int64)

    @property
    def has_several(self) -> bool:
        return any(len(case.references) > 1 for case in self._cases)

    def take(self, index: Ints) -> CaseList:
        return CaseList(self._cases[i] for i in index.tolist())

    def each(self) -> CaseList:
        return CaseList(
            replace(case, references=(reference,))
            for case in self._cases
            for reference in case.references
        )

    def keep(self, rows: Ints, counts: Ints) -> CaseList:
        references = [reference for case in self._cases for reference in case.references]
        kept = iter([references[row] for row in rows.tolist()])
        pairs = zip(self._cases, counts.tolist(), strict=True)
        return CaseList(replace(case, references=tuple(islice(kept, n))) for case, n in pairs)

    def people(self) -> tuple[CaseList, Ints]:
        rows = [
            (case, place, reference)
            for case in self._cases
            for place, reference in enumerate(case.references)
        ]
        chosen = [row for row, (case, _, _) in enumerate(rows) if len(case.references) > 1]
        cases = []
        for case, place, reference in (rows[row] for row in chosen):
            others = case.references[:place] + case.references[place + 1 :]
            key = Key(case.key.item, "")
            cases.append(replace(case, key=key, output=reference, references=others))
        return CaseList(cases), np.array(chosen, np.int64)


# --- Metrics with a text encoder -----------------------------------------------------------------


@dataclass(frozen=True)
class EncodedMetric(Metric):
    """Base class of metrics with a text encoder, which run in a single process on all cores.

    Parameters
    ----------
    model
        Text encoder: ``minilm``, a model folder, or a model name in the Hugging Face cache.
    layer
        Layer whose vectors are compared; 0 selects the layer published for the model.
    """

    alone = True
    model: str = field(default="minilm", kw_only=True)
    layer: int = field(default=0, kw_only=True, metadata={"least": 0})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.model, str) or not self.model:
            message = (
                "model must be one of minilm, a folder, a model name in the Hugging Face cache"
            )
            raise UsageError(f"{message}, got {self.model!r}")
        if self.layer % 1:
            raise UsageError(f"layer must be a whole number, got {self.layer!r}")
        object.__setattr__(self, "layer", int(self.layer) or BERTSCORE_LAYERS.get(self.model, 0))

    @property
    def encoder(self) -> Encoder:
        """The text encoder."""
        return find_encoder(self.model, self.layer)

    @property
    def signature(self) -> str:
        """Name, all parameters, model, hash of its weights, and versions of libraries."""
        names = [name for name in self.parameters() if name not in ("model", "layer")]
        pairs = (f"{name}={getattr(self, name)}" for name in names)
        return f"{self.name}({','.join([*pairs, self.encoder.signature])})"
