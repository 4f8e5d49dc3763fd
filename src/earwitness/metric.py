"""The metric interface: cases in, statistics that add up, values out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations, islice
from numbers import Real
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Alignment, Case, Cases, Key, Value
from earwitness.errors import UsageError, nearest
from earwitness.models.text_encoder import BERTSCORE_LAYERS, Encoder, find_encoder
from earwitness.stats.arrays import Bools, Floats, Ints, all_others, bounds

# --- Metrics -------------------------------------------------------------------------------------
# A metric is a family with one set of parameters and several named values. ``measure`` turns a case
# into a row of statistics; rows of many cases are summed, never averaged; ``score`` turns a sum (of
# one case or of a million, weighted or not) into values. Intervals and tests come free that way.


class ReferenceViews(NamedTuple):
    """Statistics of cases that may have several references.

    ``whole`` has a row a case, ``each`` a row a reference, as if it were the only one, and
    ``left_out`` a row a case with two references and more: as if each of them in turn did not
    exist, the mean of all that.
    """

    whole: Floats
    each: Floats
    left_out: Floats


def row_sums(statistics: Floats, counts: Ints) -> Floats:
    """Sums of every so many rows; no count is 0."""
    first = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
    sums: Floats = np.add.reduceat(statistics, first, axis=0)
    return sums


def _fewer(case: Case) -> Iterator[Case]:
    for others in combinations(case.references, len(case.references) - 1):
        yield replace(case, references=others)


@dataclass(frozen=True)
class Metric(ABC):
    """A family of values; the fields of a subclass are its parameters."""

    task: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    values: ClassVar[tuple[Value, ...]]
    headline: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()  # more values that stand for the family
    empty_cells: ClassVar[dict[str, str]]
    aligns: ClassVar[bool] = False
    alone: ClassVar[bool] = False  # measured in one process only
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

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> ReferenceViews:
        """Statistics in all ways that several references allow; subclasses may be faster.

        Without ``each`` nobody needs a row a reference, and there may be none.
        """
        alone = [replace(case, references=(one,)) for case in cases for one in case.references]
        several = [case for case in cases if len(case.references) > 1]
        fewer = [smaller for case in several for smaller in _fewer(case)]
        counts = np.array([len(case.references) for case in several], np.int64)
        left_out = self.pool(self.measure_many(fewer), counts)
        return ReferenceViews(
            self.measure_many(cases), self.measure_many(alone if each else []), left_out
        )

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
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


def find(name: str, table: Mapping[str, type[Metric]]) -> type[Metric]:
    """The family of that name."""
    if name not in table:
        raise UsageError(f'there is no metric "{name}" — {nearest(name, table)}')
    return table[name]


# --- Metrics of output-reference pairs -----------------------------------------------------------
# Where an item has several references, its statistics are the mean over them, or those of the
# reference that it agrees with best (by the family's headline; the first among equals).


AGAINST_OPTION = {
    "help": "of several references of an item: the mean over all, or the best",
    "choices": ("mean", "best"),
}


@dataclass(frozen=True)
class PairMetric(Metric):
    """A family of values of pairs."""

    against: str = field(default="mean", kw_only=True, metadata=AGAINST_OPTION)

    def __post_init__(self) -> None:
        one_of(AGAINST_OPTION["choices"], "against", self.against)

    @abstractmethod
    def columns(self, cases: Sequence[Case]) -> Cases:
        """Cases in the way that the task keeps them."""

    @abstractmethod
    def measure_pairs(self, pairs: Any) -> Floats:
        """Statistics of outputs, each beside one reference."""

    def pairs(self, columns: Any) -> Any:
        """Every output beside every reference."""
        return columns.each()

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Statistics of outputs beside all of their references."""
        columns = self.columns(cases)
        pairs = self.pairs(columns)
        each = self.measure_pairs(pairs)
        return self._whole(each, columns, self._goodness(each, pairs))

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> ReferenceViews:
        """Every pair is measured once, whatever is made of it."""
        del each
        columns = self.columns(cases)
        pairs, counts = self.pairs(columns), columns.counts
        rows = self.measure_pairs(pairs)
        goodness = self._goodness(rows, pairs)
        several = np.repeat(counts > 1, counts)
        left_out = self._left_out(rows[several], counts[counts > 1], goodness[several])
        return ReferenceViews(self._whole(rows, columns, goodness), rows, left_out)

    def _whole(self, each: Floats, columns: Cases, goodness: Floats) -> Floats:
        if not columns.several:
            return each
        if self.against == "mean":
            return self.pool(each, columns.counts)
        first = bounds(columns.counts)[:-1]
        return np.asarray(each[_ranked(goodness, columns.counts)[first]])

    def _left_out(self, each: Floats, counts: Ints, goodness: Floats) -> Floats:
        """Without each reference in turn: rows of all choices, pooled."""
        first = bounds(counts)[:-1]
        if self.against == "mean":
            other, other_counts = all_others(counts)
            fewer = self.pool(each[other], other_counts)
            return self.pool(fewer, counts)
        ranked = _ranked(goodness, counts)
        best = np.repeat(each[ranked[first]], counts, axis=0)
        is_best = np.zeros(len(each), np.bool_)
        is_best[ranked[first]] = True  # the second best counts when the best is left out
        best[is_best] = each[ranked[first + 1]]
        return self.pool(best, counts)

    def _goodness(self, each: Floats, pairs: Any) -> Floats:
        """By the headline; undefined is worst, but for a pair that is the same on both sides."""
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
        """Where both sides say the same, though no value is defined."""


def _ranked(goodness: Floats, counts: Ints) -> Ints:
    """Rows case by case, the best reference first, the first among equals."""
    return np.lexsort((-goodness, np.repeat(np.arange(len(counts)), counts)))


# --- Means over cases ----------------------------------------------------------------------------


def mean_statistics(values: Floats) -> Floats:
    """A row a case: its values, and behind them which of them are defined (not NaN)."""
    defined = ~np.isnan(values)
    return np.concatenate([np.where(defined, values, 0.0), defined], axis=1)


def mean_pool(statistics: Floats, counts: Ints) -> Floats:
    """A row for every so many rows: means over those in which a value is defined.

    Whoever is defined once weighs as much as whoever is defined always.
    """
    sums, defined = np.split(row_sums(statistics, counts), 2, axis=1)
    return np.concatenate([ratio(sums, defined, 0.0), defined > 0], axis=1)


def mean_values(statistics: Floats) -> Floats:
    """Means over the cases in which a value is defined."""
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
        chosen = self._cases[index]
        return chosen if isinstance(chosen, Case) else CaseList(chosen)

    @property
    def counts(self) -> Ints:
        return np.array([len(case.references) for case in self._cases], np.int64)

    @property
    def several(self) -> bool:
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
        references = [one for case in self._cases for one in case.references]
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


MODEL_OPTION = {"help": "minilm, a folder, or a name in the Hugging Face cache"}
LAYER_OPTION = {"help": "whose vectors are compared; 0 is the published one of the model"}


@dataclass(frozen=True)
class EncodedMetric(Metric):
    """A metric with a model; in one process, so that a text is encoded once, on all cores."""

    alone = True
    model: str = field(default="minilm", kw_only=True, metadata=MODEL_OPTION)
    layer: int = field(default=0, kw_only=True, metadata=LAYER_OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        if not isinstance(self.model, str) or not self.model:
            message = "model must be one of minilm, a folder, a name in the Hugging Face cache"
            raise UsageError(f"{message}, got {self.model!r}")
        if at_least(0, "layer", self.layer) % 1:
            raise UsageError(f"layer must be a whole number, got {self.layer!r}")
        object.__setattr__(self, "layer", int(self.layer) or BERTSCORE_LAYERS.get(self.model, 0))

    @property
    def encoder(self) -> Encoder:
        """The model."""
        return find_encoder(self.model, self.layer)

    @property
    def signature(self) -> str:
        """With all that the numbers depend on."""
        names = [f.name for f in fields(self) if f.name not in ("model", "layer")]
        pairs = [f"{name}={getattr(self, name)}" for name in names]
        return f"{self.name}({','.join([*pairs, self.encoder.signature])})"
