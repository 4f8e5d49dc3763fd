"""All trials of a block as columns, a row a trial, so that what was heard is counted fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Design, Plan, Trial

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
T = TypeVar("T")
SHUFFLE, PRESENTED = 3, 8  # streams of chance


@dataclass(frozen=True)
class Heard:
    """Rows are in the order of hearing; names say what the numbers of a column mean.

    ``stands`` says for every place of a trial which system of its treatment stands there,
    ``unknown`` which one is the unknown one; ``panels`` has an entry a listener.
    """

    listener: Ints
    session: Ints
    item: Ints
    treatment: Ints
    scales: Ints
    stands: Ints
    unknown: Ints
    panels: Ints
    items: Sequence[str]
    treatments: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, design: Design, number: int) -> Heard:
        """All trials of one block."""
        sessions = [
            (place, own)
            for place, plan in enumerate(design.plans)
            for own in plan.sessions
            if own[0].block == number
        ]
        known = list({id(trial): trial for _, own in sessions for trial in own}.values())
        codes = {id(trial): code for code, trial in enumerate(known)}
        rows = [codes[id(trial)] for _, own in sessions for trial in own]
        sizes = [len(own) for _, own in sessions]
        listener = np.repeat(np.array([place for place, _ in sessions], np.int64), sizes)
        session = np.repeat(np.arange(len(sizes)), sizes)
        columns, items, treatments = _columns(known)
        item, treatment, scales, stands, unknown = (column[rows] for column in columns)
        panels = np.array([plan.panel - 1 for plan in design.plans], np.int64)
        asked = (item, treatment, scales, stands, unknown)
        return cls(listener, session, *asked, panels, items, treatments)

    @cached_property
    def follows(self) -> Bools:
        """Whether a row follows the one before it, within a session."""
        return np.concatenate([[False], self.session[1:] == self.session[:-1]])

    @cached_property
    def hears(self) -> Bools:
        """Which listener hears which treatment."""
        return self.count(self.listener, self.treatment, shape=self.shape) > 0

    @property
    def shape(self) -> tuple[int, int]:
        """Listeners and treatments."""
        return len(self.panels), len(self.treatments)

    @staticmethod
    def count(*columns: Ints, shape: tuple[int, ...]) -> Ints:
        """How often each combination of values occurs."""
        cells = np.ravel_multi_index(columns, shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    def repeated(self, column: Ints) -> Ints:
        """How often a value follows itself, by listener."""
        again = self.follows[1:] & (column[1:] == column[:-1])
        return np.bincount(self.listener[1:][again], minlength=len(self.panels))

    def successions(self) -> Ints:
        """How often each treatment came behind each other one, by listener."""
        rows = np.flatnonzero(self.follows)
        before, behind = self.treatment[rows - 1], self.treatment[rows]
        listeners, number = self.shape
        return self.count(self.listener[rows], before, behind, shape=(listeners, number, number))

    def firsts(self) -> Ints:
        """How often each treatment came first in a session, by listener."""
        first = ~self.follows
        return self.count(self.listener[first], self.treatment[first], shape=self.shape)

    def by_panel(self, counts: Ints) -> Ints:
        """Sums over the listeners of every panel."""
        found = np.zeros((int(self.panels.max()) + 1, *counts.shape[1:]), counts.dtype)
        np.add.at(found, self.panels, counts)
        return found

    def shuffled(self, plans: Sequence[Plan], seed: int, number: int) -> Heard:
        """The same trials of every listener in any order, presented in any order."""
        order = np.arange(len(self.listener))
        for place, plan in enumerate(plans):
            own = np.flatnonzero(self.listener == place)
            rng = np.random.default_rng([seed, SHUFFLE, plan.listener, number])
            order[own] = own[rng.permutation(len(own))]
        rng = np.random.default_rng([seed, PRESENTED, number])
        number_of = self.stands.shape[1]
        return replace(
            self,
            item=self.item[order],
            treatment=self.treatment[order],
            scales=self.scales[order],
            stands=rng.permuted(self.stands, axis=1),
            unknown=rng.integers(number_of, size=len(order)),
        )


def _columns(known: list[Trial]) -> tuple[list[Ints], list[str], list[tuple[str, ...]]]:
    """Item, treatment, order of scales, places and the unknown one of every trial."""
    items = _numbers([trial.item for trial in known])
    kinds = [trial.treatment for trial in known]
    treatments = _numbers(sorted(set(kinds)))
    scales = _numbers([trial.scales for trial in known])
    stands = [
        [kind.index(one) for one in trial.systems] for trial, kind in zip(known, kinds, strict=True)
    ]
    unknown = [own[trial.target] for trial, own in zip(known, stands, strict=True)]
    columns = [
        [items[trial.item] for trial in known],
        [treatments[kind] for kind in kinds],
        [scales[trial.scales] for trial in known],
        stands,
        unknown,
    ]
    return [np.array(column, np.int64) for column in columns], list(items), list(treatments)


def _numbers(values: Sequence[T]) -> dict[T, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}
