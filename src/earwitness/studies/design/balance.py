"""Balance checks of a design, compared with a random shuffle."""

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
from earwitness.studies.design.anchors import anchor_claims
from earwitness.studies.design.incomplete import set_table
from earwitness.studies.design.insertions import insertion_claims, without_inserted
from earwitness.studies.design.orders import MAX_TRIALS_FOR_ALL_ORDERS, can_avoid_repeats
from earwitness.studies.design.subset_balance import (
    CLAIM_IMPOSSIBLE,
    CLAIM_KEPT,
    CLAIM_MISSED,
    Claim,
    count_claim,
    is_within,
    range_text,
    similarity_claims,
    verdict,
)
from earwitness.studies.study import Design, ListenerPlan, Names, StudyBlock, Trial
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.base import TrialKind

# --- Trials as columns ---------------------------------------------------------------------------


T = TypeVar("T")
SHUFFLE_STREAM, PRESENTATION_STREAM = 3, 8  # random streams


@dataclass(frozen=True)
class TrialTable:
    """Trials of one block as integer columns, in the order they are heard.

    ``items`` and ``treatments`` are the names behind the codes. ``stands`` has the system (index
    within the treatment) at each position of a trial, ``unknown`` the one that is X; ``panels`` has
    one entry per listener.
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
    treatments: Sequence[Names]

    @classmethod
    def of(cls, design: Design, number: int) -> TrialTable:
        """Return the table of all trials of one block."""
        sessions = [
            (place, session_trials)
            for place, plan in enumerate(design.plans)
            for session_trials in plan.sessions
            if session_trials[0].block == number
        ]
        trials = [trial for _, session_trials in sessions for trial in session_trials]
        distinct = list({id(trial): trial for trial in trials}.values())
        codes = {id(trial): code for code, trial in enumerate(distinct)}
        rows = [codes[id(trial)] for trial in trials]
        sizes = [len(session_trials) for _, session_trials in sessions]
        listener = np.repeat(np.array([place for place, _ in sessions], np.int64), sizes)
        session = np.repeat(np.arange(len(sizes)), sizes)
        columns, items, treatments = _trial_columns(distinct)
        panels = np.array([plan.panel - 1 for plan in design.plans], np.int64)
        item, treatment, scales, stands, unknown = (column[rows] for column in columns)
        asked = (item, treatment, scales, stands, unknown)
        return cls(listener, session, *asked, panels, items, treatments)

    @cached_property
    def follows(self) -> Bools:
        """Whether a row has a predecessor in the same session."""
        return np.concatenate([[False], self.session[1:] == self.session[:-1]])

    @cached_property
    def hears(self) -> Bools:
        """Whether each listener hears each treatment."""
        return self.count(self.listener, self.treatment, shape=self.shape) > 0

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of listeners and treatments."""
        return len(self.panels), len(self.treatments)

    @staticmethod
    def count(*columns: Ints, shape: tuple[int, ...]) -> Ints:
        """Count how often each combination of values occurs."""
        cells = np.ravel_multi_index(columns, shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    def count_repeats(self, column: Ints) -> Ints:
        """Count how often a value directly follows itself, per listener."""
        again = self.follows[1:] & (column[1:] == column[:-1])
        return np.bincount(self.listener[1:][again], minlength=len(self.panels))

    def count_successions(self) -> Ints:
        """Count how often each treatment directly follows each other one, per listener."""
        rows = np.flatnonzero(self.follows)
        before, behind = self.treatment[rows - 1], self.treatment[rows]
        listeners, number = self.shape
        return self.count(self.listener[rows], before, behind, shape=(listeners, number, number))

    def count_firsts(self) -> Ints:
        """Count how often each treatment comes first in a session, per listener."""
        first = ~self.follows
        return self.count(self.listener[first], self.treatment[first], shape=self.shape)

    def sum_by_panel(self, counts: Ints) -> Ints:
        """Sum counts over the listeners of each panel."""
        sums = np.zeros((int(self.panels.max()) + 1, *counts.shape[1:]), counts.dtype)
        np.add.at(sums, self.panels, counts)
        return sums

    def shuffle(self, plans: Sequence[ListenerPlan], seed: int, number: int) -> TrialTable:
        """Return the same trials per listener in random order, with random positions."""
        order = np.arange(len(self.listener))
        for place, plan in enumerate(plans):
            rows = np.flatnonzero(self.listener == place)
            rng = np.random.default_rng([seed, SHUFFLE_STREAM, plan.listener, number])
            order[rows] = rows[rng.permutation(len(rows))]
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


def _trial_columns(trials: list[Trial]) -> tuple[list[Ints], list[str], list[Names]]:
    """Return item, treatment, order of scales, positions and X of each trial as codes."""
    items = _number_values([trial.item for trial in trials])
    kinds = [trial.treatment for trial in trials]
    treatments = _number_values(sorted(set(kinds)))
    scales = _number_values([trial.scales for trial in trials])
    stands = [
        [kind.index(system) for system in trial.systems]
        for trial, kind in zip(trials, kinds, strict=True)
    ]
    unknown = [places[trial.target] for trial, places in zip(trials, stands, strict=True)]
    columns = [
        [items[trial.item] for trial in trials],
        [treatments[kind] for kind in kinds],
        [scales[trial.scales] for trial in trials],
        stands,
        unknown,
    ]
    return [np.array(column, np.int64) for column in columns], list(items), list(treatments)


def _number_values(values: Sequence[T]) -> dict[T, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


# --- Positions of systems within trials ----------------------------------------------------------


def place_claims(heard: TrialTable, other: TrialTable, kind: TrialKind) -> Iterator[Claim]:
    """Yield claims on positions of systems and, where there is an X, on which system it is."""
    panels = int(heard.panels.max()) + 1
    clip_and_panel = heard.item * panels + heard.panels[heard.listener]
    for what, rows, number in (
        ("per listener", heard.listener, heard.shape[0]),
        ("per clip", clip_and_panel, len(heard.items) * panels),
    ):
        counts, chance = (place_counts(table, rows, number) for table in (heard, other))
        label = f"times each system is in each position, {what}"
        yield count_claim(label, counts, is_even_in_rows(counts, 1), chance)
        if kind.unknown:
            counts, chance = (unknown_counts(table, rows, number) for table in (heard, other))
            label = f"times each system of a pair is X, {what}"
            yield count_claim(label, counts, is_even_in_rows(counts, 2), chance)


def is_even_in_rows(counts: Ints, most: int) -> bool:
    """Return whether the counts within each row differ by at most ``most``."""
    return all(is_within(row, most) for row in counts)


def place_counts(heard: TrialTable, rows: Ints, number: int) -> Ints:
    """Count how often each system is in each position, one row per treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = (rows * treatments + heard.treatment)[:, None]
    columns = np.broadcast_arrays(cells, heard.stands, np.arange(width))
    shape = (number * treatments, width, width)
    counts = heard.count(*map(np.ravel, columns), shape=shape)
    return counts.reshape(len(counts), -1)[counts.any(axis=(1, 2))]


def unknown_counts(heard: TrialTable, rows: Ints, number: int) -> Ints:
    """Count how often each system is X, one row per treatment."""
    width, treatments = heard.stands.shape[1], heard.shape[1]
    cells = rows * treatments + heard.treatment
    counts = heard.count(cells, heard.unknown, shape=(number * treatments, width))
    return counts[counts.any(axis=1)]


# --- Systems shared among listeners --------------------------------------------------------------


MAX_SET_CHOICES_TRIED = 20_000
SYSTEM_CHOICE_STREAM = 6  # random stream


def hears_systems(heard: TrialTable, systems: Sequence[str]) -> Bools:
    """Return whether each listener hears each system."""
    holds = np.array(
        [[system in treatment for system in systems] for treatment in heard.treatments]
    )
    return (heard.hears.astype(np.int64) @ holds.astype(np.int64)) > 0


def shared_system_claims(design: Design, number: int, heard: TrialTable) -> Iterator[Claim]:
    """Yield claims on the listeners per panel who hear each system and each pair."""
    block = design.study.blocks[number]
    rng = np.random.default_rng([design.study.seed, SYSTEM_CHOICE_STREAM, number])
    hears = hears_systems(heard, block.systems)
    first_systems = np.arange(len(block.systems)) < block.heard
    drawn = rng.permuted(np.tile(first_systems, (len(hears), 1)), axis=1)
    for size, what in ((1, "each system"), (2, "each pair of systems")):
        counts, other = (
            listeners_hearing_all(heard, hearing_table, size) for hearing_table in (hears, drawn)
        )
        kept = judge_panels([is_within(panel, 1) for panel in counts], heard, block, size)
        yield count_claim(f"listeners per panel who hear {what}", counts, kept, other)


def judge_panels(
    even_panels: Sequence[bool], heard: TrialTable, block: StudyBlock, size: int
) -> str:
    """Return the verdict on all panels: met, not met, or not possible."""
    wrong = [
        int((heard.panels == panel).sum())
        for panel, is_even in enumerate(even_panels)
        if not is_even
    ]
    beyond = size == 2 and all(
        not _can_share_evenly(len(block.systems), block.heard, listeners) for listeners in wrong
    )
    return CLAIM_IMPOSSIBLE if wrong and beyond else verdict(not wrong)


@cache
def _can_share_evenly(number: int, heard: int, listeners: int) -> bool:
    """Return whether some sets balance systems and pairs of systems within one listener.

    All choices of sets are tried, with the first set fixed; if there are too many, return True.
    """
    system_sets = list(combinations(range(number), heard))
    if comb(len(system_sets) + listeners - 2, listeners - 1) > MAX_SET_CHOICES_TRIED:
        return True
    holds = set_table(system_sets, number)
    pairs = np.einsum("ci,cj->cij", holds, holds)
    upper_triangle = np.triu_indices(number, 1)
    return any(
        is_within(np.diag(together), 1) and is_within(together[upper_triangle], 1)
        for others in combinations_with_replacement(range(len(system_sets)), listeners - 1)
        for together in [pairs[[0, *others]].sum(axis=0)]
    )


def listeners_hearing_all(heard: TrialTable, hears: Bools, size: int) -> Ints:
    """Count listeners who hear all of ``size`` systems, per panel and combination."""
    subsets = combinations(range(hears.shape[1]), size)
    hears_all = np.stack([hears[:, subset].all(axis=1) for subset in subsets], axis=1)
    return heard.sum_by_panel(hears_all.astype(np.int64))


# --- Orders of scales ----------------------------------------------------------------------------


MAX_LISTENERS_FOR_ALL_STARTS = 16  # listeners for whom all choices are tried


def scale_order_claims(design: Design, number: int, heard: TrialTable) -> Iterator[Claim]:
    """Yield claims on first scale orders, per panel and system, and on changes of order."""
    block = design.study.blocks[number]
    first = _first_orders(heard, len(block_kind(block).scale_orders))
    starts = heard.sum_by_panel(first)
    what = "listeners per panel who start with each order of scales"
    yield count_claim(what, starts, is_even_in_rows(starts, 1))
    if block.heard < len(block.systems):
        hears = hears_systems(heard, block.systems).astype(np.int64)
        counts = heard.sum_by_panel(hears[:, :, None] * first[:, None, :])
        what = "listeners per panel and system who start with each order of scales"
        yield count_claim(what, counts, judge_starts(counts, hears, heard.panels))
    yield session_claim(heard, first.shape[1])


def judge_starts(counts: Ints, hears: Ints, panels: Ints) -> str:
    """Return the verdict on whether first scale orders are balanced for each system."""
    wrong = np.flatnonzero((np.ptp(counts, axis=-1) > 2).any(axis=1))
    if not len(wrong):
        return verdict(True)
    return (
        CLAIM_MISSED
        if any(_can_halve_starts(hears[panels == panel]) for panel in wrong)
        else CLAIM_IMPOSSIBLE
    )


def _can_halve_starts(hears: Ints) -> bool:
    """Return whether some choice of first orders is balanced; True if too many to try."""
    if len(hears) > MAX_LISTENERS_FOR_ALL_STARTS:
        return True
    choices = 1 - 2 * (np.arange(2 ** len(hears))[:, None] >> np.arange(len(hears)) & 1)
    fair = choices[np.abs(choices.sum(axis=1)) <= 1]
    return bool((np.abs(fair @ hears).max(axis=1) <= 2).any())


def _first_orders(heard: TrialTable, orders: int) -> Ints:
    """Return a table of listeners and orders, 1 for the order that a listener starts with."""
    starts = np.zeros((len(heard.panels), max(orders, int(heard.scales.max()) + 1)), np.int64)
    listeners, rows = np.unique(heard.listener, return_index=True)
    starts[listeners, heard.scales[rows]] = 1
    return starts


def session_claim(heard: TrialTable, orders: int) -> Claim:
    """Return the claim that each listener changes the order once, at half of the sessions."""
    session_counts = list[list[int]]()
    changed = True
    for listener in range(len(heard.panels)):
        rows = heard.listener == listener
        sessions, scales = heard.session[rows], heard.scales[rows]
        session_orders = [
            np.unique(scales[sessions == session]).tolist() for session in np.unique(sessions)
        ]
        session_counts.append(
            [
                sum(order in orders_heard for orders_heard in session_orders)
                for order in range(orders)
            ]
        )
        changed = changed and _changes_once(session_orders)
    counts = np.array(session_counts, np.int64)
    kept = verdict(changed and is_within(counts, 1))
    if counts.sum(axis=1).max() == 1:  # with one session, the order cannot change
        kept = CLAIM_IMPOSSIBLE
    return count_claim("sessions with each order of scales, per listener", counts, kept)


def _changes_once(session_orders: list[list[int]]) -> bool:
    """Return whether the two halves of the sessions have one order each, and not the same."""
    half = (len(session_orders) + 1) // 2
    first, second = (
        {tuple(orders_heard) for orders_heard in part}
        for part in (session_orders[:half], session_orders[half:])
    )
    return (
        len(first) == len(second) == 1
        and first != second
        and all(len(orders_heard) == 1 for orders_heard in session_orders)
    )


# --- Balance claims of a design ------------------------------------------------------------------


MAX_SUCCESSION_DIFFERENCE = 2  # largest allowed difference between counts


def check_balance(design: Design) -> list[Claim]:
    """Return all balance claims of a design, block by block, and those of its anchors.

    Gold, trapping and repeated trials are left out of all but their own claims.
    """
    whole, design = design, without_inserted(design)
    several = len(design.study.blocks) > 1
    claims = [
        replace(claim, what=f"block {number + 1}: {claim.what}") if several else claim
        for number in range(len(design.study.blocks))
        for claim in _BlockBalance.of(design, number).claims()
    ]
    return [*claims, *anchor_claims(design), *insertion_claims(whole)]


@dataclass(frozen=True)
class _BlockBalance:
    """A block of a design, its trials, and the same trials shuffled."""

    design: Design
    number: int
    kind: TrialKind
    heard: TrialTable
    other: TrialTable

    @classmethod
    def of(cls, design: Design, number: int) -> _BlockBalance:
        """Return the balance of one block."""
        heard, study = TrialTable.of(design, number), design.study
        other = heard.shuffle(design.plans, study.seed, number)
        return cls(design, number, block_kind(study.blocks[number]), heard, other)

    @property
    def block(self) -> StudyBlock:
        """The block of the study."""
        return self.design.study.blocks[self.number]

    @property
    def is_complete(self) -> bool:
        """Whether each listener hears all systems."""
        return self.block.heard >= len(self.block.systems)

    def claims(self) -> Iterator[Claim]:
        """Yield all balance claims of the block."""
        what = self.kind.compared
        treatments = self.kind.treatments(self.block.systems, self.design.study.reference)
        yield self._votes_claim(treatments)
        names = Counter(name for subset in self.design.subsets[self.number] for name in subset)
        twice = sum(count > 1 for count in names.values())
        yield Claim("clips in more than one subset", str(twice), "–", verdict(not twice))
        yield from similarity_claims(self.design, self.number)
        if not self.is_complete:
            yield from shared_system_claims(self.design, self.number, self.heard)
        counts, other = (_count_occurrences(heard) for heard in (self.heard, self.other))
        label = f"times each {what} occurs, per session"
        yield count_claim(label, counts, is_within(counts, 1), other)
        yield self._repeat_claim("clip")
        if len(treatments) > 1:
            yield self._repeat_claim(what)
            yield from self._succession_claims(what)
        if self.kind.within:
            yield self._pieces_claim(self.kind.within)
        if len(treatments[0]) > 1:
            yield from place_claims(self.heard, self.other, self.kind)
        if len(self.kind.scale_orders) > 1:
            yield from scale_order_claims(self.design, self.number, self.heard)

    def _votes_claim(self, treatments: list[Names]) -> Claim:
        """Return the claim on votes per clip and comparison, including those never heard."""
        heard = self.heard
        counts = heard.count(
            heard.item, heard.treatment, shape=(len(heard.items), len(heard.treatments))
        )
        wanted = sorted({tuple(sorted(treatment)) for treatment in treatments})
        if not self.is_complete and len(treatments) == 1:  # sets differ: count votes per system
            wanted = [(system,) for system in self.block.systems]
            counts = counts @ np.array([[s in t for (s,) in wanted] for t in heard.treatments])
        else:
            counts = _rows_by_name(counts.T, heard.treatments, wanted).T
        by_panel = [
            _rows_by_name(counts, heard.items, subset)
            for subset in self.design.subsets[self.number]
        ]
        votes = np.concatenate(by_panel)
        label = f"{range_text(votes)} ({range_text(votes.sum(axis=0))} in total)"
        systems = {system for treatment in heard.treatments for system in treatment}
        nobody = [system for system in self.block.systems if system not in systems]
        if nobody:
            label += f"; heard by no listener: {', '.join(nobody)}"
        even = verdict(is_within(votes, 1))
        if not self.is_complete:
            size = 2 if len(treatments) > len(self.block.systems) else 1
            kept = [is_within(counts, 1) for counts in by_panel]
            even = judge_panels(kept, heard, self.block, size)
        compared = "system" if self.kind.compared == "system" else "comparison"
        what = f"votes per clip and {compared}, on each scale"
        return Claim(what, label, "same", CLAIM_MISSED if nobody else even)

    def _pieces_claim(self, name: str) -> Claim:
        """Return the claim that clips of a group are heard without interruption."""
        group = {clip.name: clip.covariates[name] for clip in self.design.study.material}
        pieces, other = (_count_pieces(heard, group) for heard in (self.heard, self.other))
        what = f"separate runs of clips with the same {name}, per listener"
        return count_claim(what, pieces, bool((pieces == 1).all()), other)

    def _repeat_claim(self, what: str) -> Claim:
        counts, other = (
            heard.count_repeats(heard.item if what == "clip" else heard.treatment)
            for heard in (self.heard, self.other)
        )
        kept = CLAIM_KEPT
        if counts.any():
            kept = (
                CLAIM_MISSED
                if _has_avoidable_repeat(self.heard, what == "clip")
                else CLAIM_IMPOSSIBLE
            )
        what = f"times a {what} directly follows itself, per listener"
        return count_claim(what, counts, kept, other)

    def _succession_claims(self, what: str) -> Iterator[Claim]:
        """Yield claims on successions, per listener and panel, and on first positions."""
        heard, other = self.heard, self.other
        counts, chance = heard.count_successions(), other.count_successions()
        apart = ~np.eye(heard.shape[1], dtype=np.bool_)
        both = (heard.hears[:, :, None] & heard.hears[:, None, :]) & apart
        within_listener = counts[both]
        label = f"times one {what} directly follows another"
        kept = is_within(within_listener, MAX_SUCCESSION_DIFFERENCE)
        yield count_claim(f"{label}, per listener", within_listener, kept, chance[both])
        yield self._panel_claim(f"{label}, per panel", counts, chance, both)
        label = f"times each {what} comes first in a session, per panel"
        yield self._panel_claim(label, heard.count_firsts(), other.count_firsts(), heard.hears)

    def _panel_claim(self, what: str, counts: Ints, chance: Ints, open_: Bools) -> Claim:
        """Return a claim on counts per panel, compared with perfectly even counts."""
        panel = self.heard.sum_by_panel
        number = np.maximum(open_.reshape(len(open_), -1).sum(axis=1), 1)
        even = (counts * open_).reshape(len(counts), -1).sum(axis=1) / number
        fair = panel(open_ * even.reshape(-1, *[1] * (open_.ndim - 1)))
        is_open = panel(open_.astype(np.int64)) > 0
        differences = [
            (panel_counts - share)[k]
            for panel_counts, share, k in zip(panel(counts), fair, is_open, strict=True)
        ]
        kept = all(
            not difference.size or np.ptp(difference) <= MAX_SUCCESSION_DIFFERENCE + 1e-9
            for difference in differences
        )
        return count_claim(what, panel(counts)[is_open], kept, panel(chance)[is_open])


def _rows_by_name(counts: Ints, names: Sequence[Hashable], wanted: Sequence[Hashable]) -> Ints:
    """Return rows by name; zeros for names that are missing."""
    places = {name: place for place, name in enumerate(names)}
    padded = np.vstack([counts, np.zeros((1, counts.shape[1]), counts.dtype)])
    return padded[[places.get(name, -1) for name in wanted]]


def _count_occurrences(heard: TrialTable) -> Ints:
    """Count how often a listener hears each of their treatments, per session."""
    sessions = int(heard.session.max()) + 1
    counts = heard.count(heard.session, heard.treatment, shape=(sessions, heard.shape[1]))
    owner = np.zeros(sessions, np.int64)
    owner[heard.session] = heard.listener
    return counts[heard.hears[owner]]


def _count_pieces(heard: TrialTable, group: Mapping[str, object]) -> Ints:
    """Count the separate runs of each group of clips, per listener."""
    names = sorted({str(group[item]) for item in heard.items})
    group_of = np.array([names.index(str(group[item])) for item in heard.items], np.int64)
    cells = heard.listener * len(names) + group_of[heard.item]
    starts = np.concatenate([[True], cells[1:] != cells[:-1]])
    counts = np.bincount(cells[starts], minlength=len(heard.panels) * len(names))
    return counts[counts > 0]


def _has_avoidable_repeat(heard: TrialTable, clip: bool) -> bool:
    """Return whether any session with an immediate repeat could have been ordered without one.

    For short sessions all orders are tried; for longer ones a repeat counts as unavoidable only if
    one clip, or system, makes up more than half of the trials.
    """
    column = heard.item if clip else heard.treatment
    again = np.concatenate([[False], column[1:] == column[:-1]]) & heard.follows
    for session in np.unique(heard.session[again]):
        rows = heard.session == session
        pairs = list(zip(heard.item[rows].tolist(), heard.treatment[rows].tolist(), strict=True))
        if len(pairs) > MAX_TRIALS_FOR_ALL_ORDERS:
            if np.bincount(column[rows]).max() <= (len(pairs) + 1) // 2:
                return True
        elif len(set(pairs)) == len(pairs) and can_avoid_repeats(frozenset(pairs)):
            return True
    return False
