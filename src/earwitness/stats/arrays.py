"""Array types, ragged lists, and sums that do not depend on the order of addends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
T = TypeVar("T")


def seeded_generator(seed: int | tuple[int, ...]) -> np.random.Generator:
    """Return a generator whose numbers are the same in all versions of NumPy."""
    return np.random.Generator(np.random.PCG64(seed))


def group_sums(values: Floats, groups: Ints) -> Floats:
    """Return sums of rows by group, in ascending order of groups."""
    distinct, index = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]))
    np.add.at(sums, index, values)
    return sums


def select_rows(table: T, which: Bools | Ints) -> T:
    """Return some rows of a dataclass whose arrays are columns; its other fields stay."""
    record: Any = table
    columns = {field.name: getattr(record, field.name) for field in fields(record)}
    chosen = {
        name: column[which] for name, column in columns.items() if isinstance(column, np.ndarray)
    }
    selected: T = replace(record, **chosen)
    return selected


# --- Order-independent sums ----------------------------------------------------------------------
# A number is split into a coarse part, a multiple of 2⁻²⁶, and a fine part, a multiple of 2⁻⁵⁴.
# Sums of either, with small integer weights, are exact in double precision while the coarse sum
# stays below 2²⁷ (2⁵³ if all addends are integers) and there are fewer than 2²⁶ addends. Any
# partition of the work therefore gives identical bits. The error is at most 2⁻⁵⁵ per addend.


COARSE_SCALE = 2.0**26
FINE_SCALE = 2.0**54


class Parts(NamedTuple):
    """Numbers split into parts; columns of integers have no fine part."""

    coarse: Floats
    fine: Floats
    inexact: Bools


def split(values: Floats) -> Parts:
    """Split the numbers of a table."""
    coarse = np.rint(values * COARSE_SCALE) / COARSE_SCALE
    fine = np.rint((values - coarse) * FINE_SCALE) / FINE_SCALE
    inexact = np.asarray(fine.any(axis=0))
    return Parts(coarse, fine[:, inexact], inexact)


def weighted_sums(weights: Floats, parts: Parts) -> Floats:
    """Return coarse and fine sums of ``weights @ values`` for integer weights, in any order."""
    sums = np.zeros((2, len(weights), parts.coarse.shape[1]))
    np.matmul(weights, parts.coarse, out=sums[0])
    sums[1][:, parts.inexact] = weights @ parts.fine
    return sums


# --- Ragged lists --------------------------------------------------------------------------------


Places = NDArray[Any]  # 32 or 64 bits, depending on the grid


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Lists of different lengths: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    >>> Ragged.from_rows([[1, 2], [], [3]]).lengths.tolist()
    [2, 0, 1]
    """

    values: Floats
    offsets: Ints

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[float]]) -> Ragged:
        """Build from lists of numbers; other values are refused."""
        lists = [row if isinstance(row, list) else list(row) for row in rows]
        offsets = bounds(np.fromiter(map(len, lists), np.int64, len(lists)))
        values = np.array(list(chain.from_iterable(lists)))
        if len(values) and (values.dtype.kind not in "fiub" or values.ndim != 1):
            raise UsageError("boundaries must be numbers — write times in seconds")
        return cls(values.astype(np.float64, copy=False), offsets)

    @property
    def lengths(self) -> Ints:
        """Length of each row."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """Row index of each value."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> Floats:
        """Return one row."""
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def where(self, keep: Bools) -> Ragged:
        """Return the values for which ``keep`` is true; rows may become empty."""
        if keep.all():
            return self
        before = np.concatenate([[0], np.cumsum(keep)])
        return Ragged(self.values[keep], before[self.offsets])

    def take(self, index: Ints) -> Ragged:
        """Return the rows of ``index``, in its order."""
        places, offsets = pick(self.offsets, index)
        return Ragged(self.values[places], offsets)


def bounds(lengths: Ints) -> Ints:
    """Return the offsets of rows with these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def pick(offsets: Ints, index: Ints) -> tuple[Ints, Ints]:
    """Return the indices of the values of the rows in ``index``, and their new offsets.

    >>> [part.tolist() for part in pick(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 3, 5]]
    """
    lengths = np.diff(offsets)[index]
    taken = bounds(lengths)
    return np.repeat(offsets[index] - taken[:-1], lengths) + np.arange(taken[-1]), taken


def all_others(counts: Ints) -> tuple[Ints, Ints]:
    """Return, for each row of runs of these lengths, the other rows of its run, and their number.

    >>> [part.tolist() for part in all_others(np.array([3, 2]))]
    [[1, 2, 0, 2, 0, 1, 4, 3], [2, 2, 2, 1, 1]]
    """
    others_count = np.repeat(counts, counts) - 1
    run_start = np.repeat(bounds(counts)[:-1], counts)
    position = np.arange(others_count.sum()) - np.repeat(bounds(others_count)[:-1], others_count)
    other = np.repeat(run_start, others_count) + position
    # skip the row itself
    other += other >= np.repeat(np.arange(len(others_count)), others_count)
    return other, others_count


def same_rows(first: Ragged, second: Ragged) -> Bools:
    """Return which rows have the same values in the same order."""
    same: Bools = first.lengths == second.lengths
    places = np.flatnonzero(same)
    first_rows, second_rows = first.take(places), second.take(places)
    unlike = first_rows.rows[first_rows.values != second_rows.values]
    same[places[unlike]] = False
    return same


def row_sums(values: NDArray[np.integer] | Bools, offsets: Ints) -> Ints:
    """Return the sum of each row of integers, 0 for an empty row."""
    before = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=before[1:])
    return np.diff(before[offsets])


def count_true(start: Ints, stop: Ints, test: Callable[[Ints], Bools]) -> Ints:
    """Return, for many ranges at once, how many leading indices pass a test.

    ``test`` takes one index per range; once false, it must stay false.

    >>> squares = np.arange(10) ** 2
    >>> count_true(np.array([0, 0]), np.array([10, 3]), lambda i: squares[i] < 20).tolist()
    [5, 3]
    """
    passed = start.copy()
    longest = int((stop - start).max(initial=0))
    for bit in reversed(range(longest.bit_length())):
        probe = passed + (1 << bit)
        inside = probe <= stop
        inside &= test(np.where(inside, probe, 1) - 1)
        np.copyto(passed, probe, where=inside)
    return passed - start
