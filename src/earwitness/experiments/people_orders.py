"""Scores of outputs with the first people of random orders of people."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import numpy as np

from earwitness.core import Cases, Map, Progress
from earwitness.errors import UsageError
from earwitness.metric_set import MetricSet
from earwitness.stats.arrays import Bools, Floats, Ints

# --- Orders of people ----------------------------------------------------------------------------
# An order is a random order of all people. With k people, the references of every item and system
# are those of the first k people of the order, as if a study had asked only these. All systems and
# sizes share the orders, so a curve over sizes is one of growing studies.
#
# A person who is also a system is left out of the orders of that system.


MAX_EXACT_PEOPLE = 7  # number of people up to which all orders can be enumerated


def draw_orders(people: int, orders: int, seed: int, *, exact: bool) -> Ints:
    """Return random orders of people, or all orders if ``exact``, one row per order.

    >>> draw_orders(3, 2, seed=0, exact=False).tolist()
    [[2, 1, 0], [0, 1, 2]]
    >>> draw_orders(2, 1, seed=0, exact=True).tolist()
    [[0, 1], [1, 0]]
    """
    if exact:
        return np.array(list(permutations(range(people))), np.int64)
    rng = np.random.Generator(np.random.PCG64(seed))
    return np.argsort(rng.random((orders, people)), axis=1, kind="stable")


class PeopleSubsets(NamedTuple):
    """Distinct subsets of people, and which of them every order has at every size.

    ``subsets`` has one row per subset and one column per person; ``rows`` has numbers of subsets as
    orders × sizes.
    """

    subsets: Bools
    rows: Ints


def first_people(orders: Ints, left_out: Sequence[int], sizes: Sequence[int]) -> PeopleSubsets:
    """Return the subsets of the first people of every order, without those ``left_out``.

    At sizes above the number of people that are left, a subset has all of them.
    """
    people = orders.shape[1]
    left = people - len(left_out)
    fewer = orders[~np.isin(orders, left_out)].reshape(len(orders), left)
    places = np.argsort(fewer, axis=1)  # of the people that are left, in order of their numbers
    kept = np.setdiff1d(np.arange(people), left_out)
    chosen = np.zeros((len(orders), len(sizes), people), np.bool_)
    chosen[:, :, kept] = places[:, None, :] < np.asarray(sizes)[None, :, None]
    subsets, index = np.unique(chosen.reshape(-1, people), axis=0, return_inverse=True)
    return PeopleSubsets(subsets, index.reshape(len(orders), len(sizes)))


def merge_subsets(parts: Sequence[PeopleSubsets]) -> list[PeopleSubsets]:
    """Return the same subsets with one common table."""
    table, index = np.unique(
        np.concatenate([part.subsets for part in parts]), axis=0, return_inverse=True
    )
    starts = np.cumsum([0, *(len(part.subsets) for part in parts)])
    return [
        PeopleSubsets(table, index.reshape(-1)[start + part.rows])
        for start, part in zip(starts, parts, strict=False)
    ]


# --- Scores of items -----------------------------------------------------------------------------
# Every item is one task. Of subsets that are the same for an item, because others of the people did
# not do it, one is scored.


class ItemCasesOfSystems(NamedTuple):
    """Cases of one item: the numbers of their systems, and the people who made the references.

    ``group`` is the number of the table of subsets.
    """

    group: int
    item: int
    systems: list[int]
    people: Ints
    cases: Cases


@dataclass(frozen=True)
class ScoreSubsets:
    """Score the cases of an item with all subsets of its group; sent to each worker once."""

    metrics: MetricSet
    names: tuple[str, ...]
    groups: tuple[Bools, ...]

    def __call__(self, task: ItemCasesOfSystems) -> Floats:
        """Return values as subsets × cases × names, NaN if nobody of a subset did the item."""
        subsets = self.groups[task.group][:, task.people]
        distinct, index = np.unique(subsets, axis=0, return_inverse=True)
        some = distinct.any(axis=1)
        values = np.full((len(distinct), len(task.cases), len(self.names)), np.nan)
        if some.any():
            values[some] = self.metrics.score_subsets(task.cases, distinct[some], self.names)
        return np.asarray(values[index.reshape(-1)])


class SavedBlocks:
    """Folder with the finished blocks of a run, which is identified by a signature."""

    def __init__(self, folder: Path, signature: str) -> None:
        self._folder = folder / hashlib.sha256(signature.encode()).hexdigest()[:16]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.npy"

    def load(self, number: int) -> Floats | None:
        """Return a block, or None if it is not finished."""
        try:
            block: Floats = np.load(self._path(number))
        except (OSError, ValueError, EOFError):
            return None
        return block

    def save(self, number: int, block: Floats) -> None:
        """Save a finished block; the file is complete or absent."""
        with NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as file:
            np.save(file, block)
        Path(file.name).replace(self._path(number))


def score_tasks(
    worker: ScoreSubsets,
    tasks: Sequence[ItemCasesOfSystems],
    map_: Map,
    progress: Progress,
    saved: SavedBlocks | None,
) -> Iterator[tuple[ItemCasesOfSystems, Floats]]:
    """Yield every task with its values; finished ones are loaded instead of computed."""
    left = list[int]()
    for number, task in enumerate(tasks):
        block = None if saved is None else saved.load(number)
        if block is None:
            left.append(number)
        else:
            yield task, block
    done = len(tasks) - len(left)
    progress(done, len(tasks), done)
    blocks = map_(worker, (tasks[number] for number in left))
    for number, block in zip(left, blocks, strict=True):
        if saved is not None:
            saved.save(number, block)
        done += 1
        progress(done, len(tasks), done)
        yield tasks[number], block
