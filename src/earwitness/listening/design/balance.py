"""What a design keeps and what it misses, counted anew from the plans, beside a plain shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Block, Design
from earwitness.listening.design.asked import asked
from earwitness.listening.design.claim import (
    IMPOSSIBLE,
    KEPT,
    MISSED,
    Claim,
    told,
    verdict,
    within,
)
from earwitness.listening.design.heard import Heard
from earwitness.listening.design.likeness import likeness
from earwitness.listening.design.presented import presented
from earwitness.listening.design.repair import EXACT, avoidable
from earwitness.listening.design.shared import judged, shared
from earwitness.listening.kinds import Kind, block_kind

__all__ = ["IMPOSSIBLE", "KEPT", "MISSED", "Claim", "claims"]
Ints = NDArray[np.int64]
NEAR = 2  # how far counts of successions may lie apart


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
    kind: Kind
    heard: Heard
    other: Heard

    @classmethod
    def of(cls, design: Design, number: int) -> _Part:
        """One block."""
        heard, study = Heard.of(design, number), design.study
        other = heard.shuffled(design.plans, study.seed, number)
        return cls(design, number, block_kind(study.blocks[number]), heard, other)

    @property
    def block(self) -> Block:
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
        return Claim(what, found, "the same", MISSED if nobody else even)

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
        kept = KEPT
        if found.any():
            kept = MISSED if _needless(self.heard, what == "clip") else IMPOSSIBLE
        return Claim(f"times a {what} follows itself", told(found), told(other), kept)

    def _successions(self, what: str) -> Iterator[Claim]:
        """Who follows whom: of a listener, and over a panel; and who comes first."""
        heard, other = self.heard, self.other
        own, chance = heard.successions(), other.successions()
        apart = ~np.eye(heard.shape[1], dtype=np.bool_)
        both = (heard.hears[:, :, None] & heard.hears[:, None, :]) & apart
        found = own[both]
        label = f"times a {what} follows another"
        kept = verdict(within(found, NEAR))
        yield Claim(f"{label}, a listener", told(found), told(chance[both]), kept)
        yield self._pooled(f"{label}, a panel", own, chance, both)
        label = f"times a {what} is first in a session, a panel"
        yield self._pooled(label, heard.firsts(), other.firsts(), heard.hears)

    def _pooled(self, what: str, own: Ints, chance: Ints, open_: NDArray[np.bool_]) -> Claim:
        """Counts over panels, held to what their listeners would give if all were even."""
        panel = self.heard.by_panel
        number = np.maximum(open_.reshape(len(open_), -1).sum(axis=1), 1)
        even = (own * open_).reshape(len(own), -1).sum(axis=1) / number
        fair = panel(open_ * even.reshape(-1, *[1] * (open_.ndim - 1)))
        some = panel(open_.astype(np.int64)) > 0
        off = [(counts - share)[k] for counts, share, k in zip(panel(own), fair, some, strict=True)]
        kept = all(not one.size or np.ptp(one) <= NEAR + 1e-9 for one in off)
        return Claim(what, told(panel(own)[some]), told(panel(chance)[some]), verdict(kept))


def _chosen(counts: Ints, names: Sequence[Hashable], wanted: Sequence[Hashable]) -> Ints:
    """Rows by name; zeros for what is not there."""
    places = {name: place for place, name in enumerate(names)}
    padded = np.vstack([counts, np.zeros((1, counts.shape[1]), counts.dtype)])
    return padded[[places.get(name, -1) for name in wanted]]


def _occurrences(heard: Heard) -> Ints:
    """Of what a listener hears at all, how often in each session."""
    sessions = int(heard.session.max()) + 1
    counts = heard.count(heard.session, heard.treatment, shape=(sessions, heard.shape[1]))
    owner = np.zeros(sessions, np.int64)
    owner[heard.session] = heard.listener
    return counts[heard.hears[owner]]


def _pieces(heard: Heard, group: Mapping[str, object]) -> Ints:
    """In how many pieces every listener hears the clips of each group that they hear."""
    names = sorted({str(group[item]) for item in heard.items})
    known = np.array([names.index(str(group[item])) for item in heard.items], np.int64)
    own = heard.listener * len(names) + known[heard.item]
    starts = np.concatenate([[True], own[1:] != own[:-1]])
    counts = np.bincount(own[starts], minlength=len(heard.panels) * len(names))
    return counts[counts > 0]


def _needless(heard: Heard, clip: bool) -> bool:
    """Whether any session that has a repeat could do without.

    Of short sessions all orders are tried; of longer ones it is asked whether one clip, or system,
    makes up more than every other trial.
    """
    column = heard.item if clip else heard.treatment
    again = np.concatenate([[False], column[1:] == column[:-1]]) & heard.follows
    for session in np.unique(heard.session[again]):
        own = heard.session == session
        pairs = list(zip(heard.item[own].tolist(), heard.treatment[own].tolist(), strict=True))
        if len(pairs) > EXACT:
            if np.bincount(column[own]).max() <= (len(pairs) + 1) // 2:
                return True
        elif len(set(pairs)) == len(pairs) and avoidable(frozenset(pairs)):
            return True
    return False
