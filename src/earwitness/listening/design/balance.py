"""What a design keeps and what it misses, counted anew from the plans, beside a plain shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from earwitness.data import Block, Design, Plan, Study, Trial
from earwitness.listening.kinds import block_kind

Sessions = Sequence[Sequence[Trial]]
Range = tuple[int, int]
Count = Callable[[Sessions], Range]
KEPT, MISSED, IMPOSSIBLE = "yes", "NO", "cannot be"
SHUFFLE, CHOICE = 3, 6  # streams of chance


@dataclass(frozen=True)
class Claim:
    """A property of a design: what was counted, what the design has, what a plain shuffle has."""

    what: str
    found: str
    shuffled: str
    kept: str


@dataclass(frozen=True)
class _Part:
    """A block of a design: sessions of every plan that belong to it."""

    study: Study
    block: Block
    number: int
    plans: tuple[Plan, ...]
    own: Sequence[Sessions]

    @classmethod
    def of(cls, design: Design, number: int) -> _Part:
        """One block."""
        own = [[s for s in plan.sessions if s[0].block == number] for plan in design.plans]
        study = design.study
        return cls(study, study.blocks[number], number, design.plans, own)

    @property
    def shuffled(self) -> list[Sessions]:
        """The same trials in any order, cut into sessions."""
        return [self._shuffle(plan, own) for plan, own in zip(self.plans, self.own, strict=True)]

    def _shuffle(self, plan: Plan, own: Sessions) -> Sessions:
        trials = [trial for session in own for trial in session]
        rng = np.random.default_rng([self.study.seed, SHUFFLE, plan.listener, self.number])
        order = [trials[i] for i in rng.permutation(len(trials))]
        ends = np.cumsum([0, *map(len, own)]).tolist()
        return [order[a:b] for a, b in pairwise(ends)]


def claims(design: Design) -> list[Claim]:
    """All properties, block by block."""
    several = len(design.study.blocks) > 1
    return [
        Claim(f"block {number + 1}: {one.what}", one.found, one.shuffled, one.kept)
        if several
        else one
        for number in range(len(design.study.blocks))
        for one in _claims(design, number)
    ]


def _claims(design: Design, number: int) -> Iterator[Claim]:
    part = _Part.of(design, number)
    kind = block_kind(part.block)
    what = kind.compared
    every = kind.treatments(part.block.systems, part.study.reference)
    complete = part.block.heard >= len(part.block.systems)
    known = {tuple(sorted(one)) for one in every} if complete else None
    yield _votes(part, "a clip and what is compared" if what != "system" else "a clip and a system")
    yield _disjoint(design, number)
    if not complete:
        yield from _incomplete(part)
    yield _compared(part, f"times a {what} occurs in a session", _occurrences(known), _close)
    yield _compared(part, "times a clip follows itself", _repeats(_item), _never, _item)
    if len(every) > 1:
        yield _compared(part, f"times a {what} follows itself", _repeats(_same), _never, _same)
        told = f"times a {what} follows another, a listener"
        yield _compared(part, told, _successions(known), _near)
    if len(every[0]) > 1:
        yield _places(part)
    if len(kind.scale_orders) > 1:
        yield _orders(part)


def _compared(
    part: _Part,
    what: str,
    count: Count,
    good: Callable[[int, int], bool],
    avoid: Callable[[Trial], object] | None = None,
) -> Claim:
    found, other = (_over([count(own) for own in each]) for each in (part.own, part.shuffled))
    kept = KEPT if good(*found) else MISSED
    if kept == MISSED and avoid is not None and not _avoidable(part.own, avoid):
        kept = IMPOSSIBLE
    return Claim(what, _text(found), _text(other), kept)


def _avoidable(plans: Sequence[Sessions], value: Callable[[Trial], object]) -> bool:
    """Whether no session has one value more often than every other time."""
    return all(
        max(Counter(map(value, session)).values()) <= (len(session) + 1) // 2
        for own in plans
        for session in own
    )


def _item(trial: Trial) -> object:
    return trial.item


def _same(trial: Trial) -> object:
    return trial.treatment


def _over(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _text(found: Range) -> str:
    return f"{found[0]:,}" if found[0] == found[1] else f"{found[0]:,} to {found[1]:,}"


def _close(low: int, high: int) -> bool:
    return high - low <= 1


def _near(low: int, high: int) -> bool:
    return high - low <= 2


def _never(low: int, high: int) -> bool:
    return low == high == 0


def _occurrences(known: set[tuple[str, ...]] | None) -> Count:
    def count(sessions: Sessions) -> Range:
        every = known or {trial.treatment for session in sessions for trial in session}
        found = [
            sum(trial.treatment == one for trial in session)
            for session in sessions
            for one in every
        ]
        return min(found), max(found)

    return count


def _repeats(value: Callable[[Trial], object]) -> Count:
    def count(sessions: Sessions) -> Range:
        found = sum(value(a) == value(b) for session in sessions for a, b in pairwise(session))
        return found, found

    return count


def _successions(known: set[tuple[str, ...]] | None) -> Count:
    def count(sessions: Sessions) -> Range:
        every = known or {trial.treatment for session in sessions for trial in session}
        pairs = Counter((a.treatment, b.treatment) for s in sessions for a, b in pairwise(s))
        found = [pairs[a, b] for a in every for b in every if a != b]
        return (min(found), max(found)) if found else (0, 0)

    return count


def _votes(part: _Part, of: str) -> Claim:
    """Everything of a subset is heard once by each listener of its panel who hears the system."""
    votes = Counter((t.item, t.treatment) for own in part.own for session in own for t in session)
    each = _over([(count, count) for count in votes.values()])
    totals = Counter[tuple[str, ...]]()
    for (_, one), count in votes.items():
        totals[one] += count
    every = _over([(count, count) for count in totals.values()])
    told = f"{_text(each)} ({_text(every)} in all)"
    kept = KEPT if _close(*each) else MISSED
    return Claim(f"votes of {of}, on each scale", told, "the same", kept)


def _disjoint(design: Design, number: int) -> Claim:
    names = Counter(name for subset in design.subsets[number] for name in subset)
    twice = sum(count > 1 for count in names.values())
    return Claim("clips in two subsets", str(twice), "–", MISSED if twice else KEPT)


def _places(part: _Part) -> Claim:
    """How often a system stands at each place, among trials in which the same are compared."""

    def count(sessions: Sessions) -> Range:
        found: Counter[tuple[tuple[str, ...], str, int]] = Counter()
        for trial in (trial for session in sessions for trial in session):
            found.update((trial.treatment, one, n) for n, one in enumerate(trial.systems))
        places = {(t, s, n) for t, _, _ in found for s in t for n in range(len(t))}
        return min(found[one] for one in places), max(found[one] for one in places)

    found = _over([count(own) for own in part.own])
    told = "times a system stands at each place, a listener"
    return Claim(told, _text(found), "–", KEPT if _near(*found) else MISSED)


def _orders(part: _Part) -> Claim:
    """Whether half of each panel starts with each order of the scales, and all change over."""
    orders = set(block_kind(part.block).scale_orders)
    starts: dict[int, Counter[tuple[str, ...]]] = {}
    for plan, own in zip(part.plans, part.own, strict=True):
        starts.setdefault(plan.panel, Counter())[own[0][0].scales] += 1
    found = _over([(own[o], own[o]) for own in starts.values() for o in orders])
    kept = _close(*found) and all(map(_changes_once, part.own))
    what = "listeners of a panel that start with each order of scales"
    return Claim(what, _text(found), "–", KEPT if kept else MISSED)


def _changes_once(own: Sessions) -> bool:
    """One order in the first half of the sessions, another in the second."""
    orders = [{trial.scales for trial in session} for session in own]
    half = (len(orders) + 1) // 2
    first, second = set.union(*orders[:half]), set.union(set(), *orders[half:])
    return len(first) == 1 and len(second) == (len(orders) > 1) and first != second


def _incomplete(part: _Part) -> Iterator[Claim]:
    """How evenly systems, and pairs of them, are given to listeners of a panel."""
    block, rng = part.block, np.random.default_rng([part.study.seed, CHOICE, part.number])
    given: dict[int, list[set[str]]] = {}
    for plan, own in zip(part.plans, part.own, strict=True):
        heard = {name for session in own for trial in session for name in trial.systems}
        given.setdefault(plan.panel, []).append(heard & set(block.systems))
    chosen = {
        panel: [set(rng.choice(block.systems, block.heard, replace=False).tolist()) for _ in sets]
        for panel, sets in given.items()
    }
    for size, what in ((1, "a system"), (2, "two systems")):
        found, other = (
            _over([_together(sets, block.systems, size) for sets in each.values()])
            for each in (given, chosen)
        )
        kept = KEPT if _close(*found) else MISSED
        told = f"listeners of a panel who hear {what}"
        yield Claim(told, _text(found), _text(other), kept)


def _together(sets: Sequence[set[str]], systems: Sequence[str], size: int) -> Range:
    counts = [sum(set(one) <= heard for heard in sets) for one in combinations(systems, size)]
    return min(counts), max(counts)
