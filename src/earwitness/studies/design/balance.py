"""Checks of order balance in a design, next to a random shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import TypeVar

import numpy as np

from earwitness.stats.arrays import Bools, Ints
from earwitness.studies.design.orders import MAX_TRIALS_FOR_ALL_ORDERS, avoidable
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_KEPT,
    CLAIM_MISSED,
    Claim,
    likeness,
    told,
    verdict,
    within,
)
from earwitness.studies.study import Design, ListenerPlan, StudyBlock, Trial
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.base import TrialKind

# --- Trials as columns ---------------------------------------------------------------------------


T = TypeVar("T")
SHUFFLE_STREAM, PRESENTATION_STREAM = 3, 8  # streams of chance


@dataclass(frozen=True)
class TrialTable:
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
    def of(cls, design: Design, number: int) -> TrialTable:
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

    def shuffled(self, plans: Sequence[ListenerPlan], seed: int, number: int) -> TrialTable:
        """The same trials of every listener in any order, presented in any order."""
        order = np.arange(len(self.listener))
        for place, plan in enumerate(plans):
            own = np.flatnonzero(self.listener == place)
            rng = np.random.default_rng([seed, SHUFFLE_STREAM, plan.listener, number])
            order[own] = own[rng.permutation(len(own))]
        rng = np.random.default_rng([seed, PRESENTATION_STREAM, number])
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


# --- Positions of systems within trials ----------------------------------------------------------


def presented(heard: TrialTable, other: TrialTable, kind: TrialKind) -> Iterator[Claim]:
    """Places, and where there is an unknown one, which one that is."""
    for what, rows, number in (
        ("a listener", heard.listener, heard.shape[0]),
        ("a clip", _clips(heard), len(heard.items) * (int(heard.panels.max()) + 1)),
    ):
        found, chance = (_places(own, rows, number) for own in (heard, other))
        told_ = f"times a system stands at each place, {what}"
        yield Claim(told_, told(found), told(chance), verdict(_even(found, 1)))
        if kind.unknown:
            found, chance = (_unknown(own, rows, number) for own in (heard, other))
            told_ = f"times each of a pair is X, {what}"
            yield Claim(told_, told(found), told(chance), verdict(_even(found, 2)))


def _clips(heard: TrialTable) -> Ints:
    """A number for every clip and panel."""
    return heard.item * (int(heard.panels.max()) + 1) + heard.panels[heard.listener]


def _even(counts: Ints, most: int) -> bool:
    """Whether every row is, within so much."""
    return all(within(row, most) for row in counts)


def _places(heard: TrialTable, rows: Ints, number: int) -> Ints:
    """Among trials of one treatment, how often each system stands where: a row a treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = rows * treatments + heard.treatment
    places = np.broadcast_to(np.arange(width), heard.stands.shape)
    shape = (number * treatments, width, width)
    wide = np.repeat(cells[:, None], width, axis=1)
    counts = heard.count(wide.ravel(), heard.stands.ravel(), places.ravel(), shape=shape)
    return counts.reshape(len(counts), -1)[counts.any(axis=(1, 2))]


def _unknown(heard: TrialTable, rows: Ints, number: int) -> Ints:
    """How often each system of a treatment is the unknown one: a row a treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = rows * treatments + heard.treatment
    counts = heard.count(cells, heard.unknown, shape=(number * treatments, width))
    return counts[counts.any(axis=1)]


# --- Systems shared among listeners --------------------------------------------------------------


MAX_SET_CHOICES_TRIED = 20_000  # choices of sets that are tried
SYSTEM_CHOICE_STREAM = 6  # stream of chance


def hearing(heard: TrialTable, systems: Sequence[str]) -> Bools:
    """Which listener hears which system."""
    holds = np.array([[one in treatment for one in systems] for treatment in heard.treatments])
    return (heard.hears.astype(np.int64) @ holds.astype(np.int64)) > 0


def shared(design: Design, number: int, heard: TrialTable) -> Iterator[Claim]:
    """Listeners of a panel who hear a system, and two of them."""
    block = design.study.blocks[number]
    rng = np.random.default_rng([design.study.seed, SYSTEM_CHOICE_STREAM, number])
    given = hearing(heard, block.systems)
    one = np.arange(len(block.systems)) < block.heard
    drawn = rng.permuted(np.tile(one, (len(given), 1)), axis=1)
    for size, what in ((1, "a system"), (2, "two systems")):
        found, other = (_together(heard, own, size) for own in (given, drawn))
        kept = [within(panel, 1) for panel in found]
        label = f"listeners of a panel who hear {what}"
        yield Claim(label, told(found), told(other), judged(kept, heard, block, size))


def judged(kept: Sequence[bool], heard: TrialTable, block: StudyBlock, size: int) -> str:
    """Whether all panels are even; "cannot be" if that is beyond all that are not."""
    wrong = [int((heard.panels == panel).sum()) for panel, even in enumerate(kept) if not even]
    beyond = size == 2 and all(
        not _can_share_evenly(len(block.systems), block.heard, one) for one in wrong
    )
    return CLAIM_IMPOSSIBLE if wrong and beyond else verdict(not wrong)


@cache
def _can_share_evenly(number: int, heard: int, listeners: int) -> bool:
    """Whether so many sets can give systems, and pairs, to listeners equally often within one.

    All choices of sets are tried, of which the first may be any; if they are many, nothing is said.
    """
    every = list(combinations(range(number), heard))
    if comb(len(every) + listeners - 2, listeners - 1) > MAX_SET_CHOICES_TRIED:
        return True
    holds = np.array([[place in one for place in range(number)] for one in every], np.int64)
    pairs = np.einsum("ci,cj->cij", holds, holds)
    ours = np.triu_indices(number, 1)
    return any(
        within(np.diag(together), 1) and within(together[ours], 1)
        for more in combinations_with_replacement(range(len(every)), listeners - 1)
        for together in [pairs[[0, *more]].sum(axis=0)]
    )


def _together(heard: TrialTable, given: Bools, size: int) -> Ints:
    """By panel, and by as many systems, how many listeners hear them all."""
    every = combinations(range(given.shape[1]), size)
    found = np.stack([given[:, one].all(axis=1) for one in every], axis=1)
    return heard.by_panel(found.astype(np.int64))


# --- Orders of scales ----------------------------------------------------------------------------


MAX_LISTENERS_FOR_ALL_STARTS = 16  # listeners of whom all choices are tried


def asked(design: Design, number: int, heard: TrialTable) -> Iterator[Claim]:
    """Starts within panels, with each system where not all are heard, and changes of order."""
    block = design.study.blocks[number]
    first = _first_orders(heard, len(block_kind(block).scale_orders))
    starts = heard.by_panel(first)
    what = "listeners of a panel that start with each order of scales"
    yield Claim(what, told(starts), "–", verdict(all(within(own, 1) for own in starts)))
    if block.heard < len(block.systems):
        given = hearing(heard, block.systems).astype(np.int64)
        counts = heard.by_panel(given[:, :, None] * first[:, None, :])
        what = "listeners of a panel that start so and hear a system"
        yield Claim(what, told(counts), "–", _halved(counts, given, heard.panels))
    yield _sessions(heard, first.shape[1])


def _halved(counts: Ints, given: Ints, panels: Ints) -> str:
    """Whether every system's listeners are halved, within one; if not, whether they could be."""
    wrong = np.flatnonzero((np.ptp(counts, axis=-1) > 2).any(axis=1))
    if not len(wrong):
        return verdict(True)
    return (
        CLAIM_MISSED
        if any(_can_halve_starts(given[panels == panel]) for panel in wrong)
        else CLAIM_IMPOSSIBLE
    )


def _can_halve_starts(given: Ints) -> bool:
    """Whether some choice of starts would halve them: all are tried, unless they are many."""
    if len(given) > MAX_LISTENERS_FOR_ALL_STARTS:
        return True
    choices = 1 - 2 * (np.arange(2 ** len(given))[:, None] >> np.arange(len(given)) & 1)
    fair = choices[np.abs(choices.sum(axis=1)) <= 1]
    return bool((np.abs(fair @ given).max(axis=1) <= 2).any())


def _first_orders(heard: TrialTable, orders: int) -> Ints:
    """1 for the order that a listener starts with."""
    found = np.zeros((len(heard.panels), max(orders, int(heard.scales.max()) + 1)), np.int64)
    listeners, rows = np.unique(heard.listener, return_index=True)
    found[listeners, heard.scales[rows]] = 1
    return found


def _sessions(heard: TrialTable, orders: int) -> Claim:
    """Whether everybody changes over once, and how many sessions each order has."""
    found = list[list[int]]()
    changed = True
    for listener in range(len(heard.panels)):
        rows = heard.listener == listener
        sessions, scales = heard.session[rows], heard.scales[rows]
        own = [np.unique(scales[sessions == one]).tolist() for one in np.unique(sessions)]
        found.append([sum(order in one for one in own) for order in range(orders)])
        changed = changed and _changes_once(own)
    counts = np.array(found, np.int64)
    kept = verdict(changed and within(counts, 1))
    if counts.sum(axis=1).max() == 1:  # nobody can change over
        kept = CLAIM_IMPOSSIBLE
    return Claim("sessions with each order of scales, a listener", told(counts), "–", kept)


def _changes_once(own: list[list[int]]) -> bool:
    """One order in the first half of the sessions, another in the second."""
    half = (len(own) + 1) // 2
    first, second = ({tuple(one) for one in part} for part in (own[:half], own[half:]))
    return len(first) == len(second) == 1 and first != second and all(len(one) == 1 for one in own)


# --- Balance claims of a design ------------------------------------------------------------------


MAX_SUCCESSION_DIFFERENCE = 2  # how far counts of successions may lie apart


def claims(design: Design) -> list[Claim]:
    """All properties, block by block."""
    several = len(design.study.blocks) > 1
    return [
        replace(one, what=f"block {number + 1}: {one.what}") if several else one
        for number in range(len(design.study.blocks))
        for one in _Part.of(design, number).claims()
    ]


@dataclass(frozen=True)
class _Part:
    """A block of a design, what was heard of it, and the same shuffled."""

    design: Design
    number: int
    kind: TrialKind
    heard: TrialTable
    other: TrialTable

    @classmethod
    def of(cls, design: Design, number: int) -> _Part:
        """One block."""
        heard, study = TrialTable.of(design, number), design.study
        other = heard.shuffled(design.plans, study.seed, number)
        return cls(design, number, block_kind(study.blocks[number]), heard, other)

    @property
    def block(self) -> StudyBlock:
        """The block itself."""
        return self.design.study.blocks[self.number]

    @property
    def complete(self) -> bool:
        """Whether everybody hears all systems."""
        return self.block.heard >= len(self.block.systems)

    def claims(self) -> Iterator[Claim]:
        """All properties of the block."""
        what = self.kind.compared
        every = self.kind.treatments(self.block.systems, self.design.study.reference)
        yield self._votes(every)
        yield self._disjoint()
        yield from likeness(self.design, self.number)
        if not self.complete:
            yield from shared(self.design, self.number, self.heard)
        yield self._occurrences(what)
        yield self._repeats("clip")
        if len(every) > 1:
            yield self._repeats(what)
            yield from self._successions(what)
        if self.kind.within:
            yield self._together(self.kind.within)
        if len(every[0]) > 1:
            yield from presented(self.heard, self.other, self.kind)
        if len(self.kind.scale_orders) > 1:
            yield from asked(self.design, self.number, self.heard)

    def _votes(self, every: list[tuple[str, ...]]) -> Claim:
        """All clips of every subset with all that is compared, also what nobody hears."""
        heard = self.heard
        counts = heard.count(
            heard.item, heard.treatment, shape=(len(heard.items), len(heard.treatments))
        )
        wanted = sorted({tuple(sorted(one)) for one in every})
        if not self.complete and len(every) == 1:  # sets differ: votes are those of systems
            wanted = [(one,) for one in self.block.systems]
            counts = counts @ np.array([[s in t for (s,) in wanted] for t in heard.treatments])
        else:
            counts = _chosen(counts.T, heard.treatments, wanted).T
        by_panel = [_chosen(counts, heard.items, own) for own in self.design.subsets[self.number]]
        votes = np.concatenate(by_panel)
        found = f"{told(votes)} ({told(votes.sum(axis=0))} in all)"
        systems = {one for treatment in heard.treatments for one in treatment}
        nobody = [one for one in self.block.systems if one not in systems]
        if nobody:
            found += f"; nobody hears {', '.join(nobody)}"
        even = verdict(within(votes, 1))
        if not self.complete:
            size = 2 if len(every) > len(self.block.systems) else 1
            kept = [within(own, 1) for own in by_panel]
            even = judged(kept, heard, self.block, size)
        of = "a system" if self.kind.compared == "system" else "what is compared"
        what = f"votes of a clip and {of}, on each scale"
        return Claim(what, found, "the same", CLAIM_MISSED if nobody else even)

    def _together(self, name: str) -> Claim:
        """Whether the clips of a group are heard in one piece."""
        group = {clip.name: clip.covariates[name] for clip in self.design.study.material}
        found, other = (_pieces(heard, group) for heard in (self.heard, self.other))
        what = f"pieces in which clips of one {name} are heard"
        return Claim(what, told(found), told(other), verdict(bool((found == 1).all())))

    def _disjoint(self) -> Claim:
        names = Counter(name for subset in self.design.subsets[self.number] for name in subset)
        twice = sum(count > 1 for count in names.values())
        return Claim("clips in two subsets", str(twice), "–", verdict(not twice))

    def _occurrences(self, what: str) -> Claim:
        found, other = (_occurrences(heard) for heard in (self.heard, self.other))
        kept = verdict(within(found, 1))
        return Claim(f"times a {what} occurs in a session", told(found), told(other), kept)

    def _repeats(self, what: str) -> Claim:
        found, other = (
            heard.repeated(heard.item if what == "clip" else heard.treatment)
            for heard in (self.heard, self.other)
        )
        kept = CLAIM_KEPT
        if found.any():
            kept = CLAIM_MISSED if _needless(self.heard, what == "clip") else CLAIM_IMPOSSIBLE
        return Claim(f"times a {what} follows itself", told(found), told(other), kept)

    def _successions(self, what: str) -> Iterator[Claim]:
        """Who follows whom: of a listener, and over a panel; and who comes first."""
        heard, other = self.heard, self.other
        own, chance = heard.successions(), other.successions()
        apart = ~np.eye(heard.shape[1], dtype=np.bool_)
        both = (heard.hears[:, :, None] & heard.hears[:, None, :]) & apart
        found = own[both]
        label = f"times a {what} follows another"
        kept = verdict(within(found, MAX_SUCCESSION_DIFFERENCE))
        yield Claim(f"{label}, a listener", told(found), told(chance[both]), kept)
        yield self._pooled(f"{label}, a panel", own, chance, both)
        label = f"times a {what} is first in a session, a panel"
        yield self._pooled(label, heard.firsts(), other.firsts(), heard.hears)

    def _pooled(self, what: str, own: Ints, chance: Ints, open_: Bools) -> Claim:
        """Counts over panels, held to what their listeners would give if all were even."""
        panel = self.heard.by_panel
        number = np.maximum(open_.reshape(len(open_), -1).sum(axis=1), 1)
        even = (own * open_).reshape(len(own), -1).sum(axis=1) / number
        fair = panel(open_ * even.reshape(-1, *[1] * (open_.ndim - 1)))
        some = panel(open_.astype(np.int64)) > 0
        off = [(counts - share)[k] for counts, share, k in zip(panel(own), fair, some, strict=True)]
        kept = all(not one.size or np.ptp(one) <= MAX_SUCCESSION_DIFFERENCE + 1e-9 for one in off)
        return Claim(what, told(panel(own)[some]), told(panel(chance)[some]), verdict(kept))


def _chosen(counts: Ints, names: Sequence[Hashable], wanted: Sequence[Hashable]) -> Ints:
    """Rows by name; zeros for what is not there."""
    places = {name: place for place, name in enumerate(names)}
    padded = np.vstack([counts, np.zeros((1, counts.shape[1]), counts.dtype)])
    return padded[[places.get(name, -1) for name in wanted]]


def _occurrences(heard: TrialTable) -> Ints:
    """Of what a listener hears at all, how often in each session."""
    sessions = int(heard.session.max()) + 1
    counts = heard.count(heard.session, heard.treatment, shape=(sessions, heard.shape[1]))
    owner = np.zeros(sessions, np.int64)
    owner[heard.session] = heard.listener
    return counts[heard.hears[owner]]


def _pieces(heard: TrialTable, group: Mapping[str, object]) -> Ints:
    """In how many pieces every listener hears the clips of each group that they hear."""
    names = sorted({str(group[item]) for item in heard.items})
    known = np.array([names.index(str(group[item])) for item in heard.items], np.int64)
    own = heard.listener * len(names) + known[heard.item]
    starts = np.concatenate([[True], own[1:] != own[:-1]])
    counts = np.bincount(own[starts], minlength=len(heard.panels) * len(names))
    return counts[counts > 0]


def _needless(heard: TrialTable, clip: bool) -> bool:
    """Whether any session that has a repeat could do without.

    Of short sessions all orders are tried; of longer ones it is asked whether one clip, or system,
    makes up more than every other trial.
    """
    column = heard.item if clip else heard.treatment
    again = np.concatenate([[False], column[1:] == column[:-1]]) & heard.follows
    for session in np.unique(heard.session[again]):
        own = heard.session == session
        pairs = list(zip(heard.item[own].tolist(), heard.treatment[own].tolist(), strict=True))
        if len(pairs) > MAX_TRIALS_FOR_ALL_ORDERS:
            if np.bincount(column[own]).max() <= (len(pairs) + 1) // 2:
                return True
        elif len(set(pairs)) == len(pairs) and avoidable(frozenset(pairs)):
            return True
    return False
