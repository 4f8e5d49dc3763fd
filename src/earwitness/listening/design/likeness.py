"""How alike subsets are: categories, strata and numbers, beside subsets of plain shuffles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Design
from earwitness.listening.design.claim import IMPOSSIBLE, Claim, verdict
from earwitness.listening.design.strata import Floats, Strata
from earwitness.listening.design.subsets import standardised

Ints = NDArray[np.int64]
SUBSETS = 9  # stream of chance
SHUFFLES = 25  # of which the middle one is told
LEAST = 1e-9
Groups = Sequence[Ints]  # clips by subset


def likeness(design: Design, number: int) -> Iterator[Claim]:
    """What balanced covariates promise."""
    found, study = _Likeness.of(design), design.study
    places = {clip.name: place for place, clip in enumerate(study.material)}
    groups = [np.array([places[name] for name in own]) for own in design.subsets[number]]
    rng = np.random.default_rng([study.seed, SUBSETS, number])
    others = [_drawn(groups, len(places), rng) for _ in range(SHUFFLES)]
    if study.categories:
        off, chance = found.off_share(groups), _middle([found.off_share(own) for own in others])
        kept = IMPOSSIBLE if off >= 1 and found.forced(groups) else verdict(off < 1)
        yield Claim("clips by which a category is off its share", _text(off), _text(chance), kept)
        lost, chance = found.nowhere(groups), _middle([found.nowhere(own) for own in others])
        what = "strata in no subset, though there is room"
        yield Claim(what, str(lost), str(round(chance)), verdict(not lost))
    if study.numbers:
        apart, chance = found.apart(groups), _middle([found.apart(own) for own in others])
        what = "standard deviations between means of numbers"
        kept = verdict(apart <= chance + LEAST)
        if apart > chance + LEAST and found.settled(groups, rng):
            kept = IMPOSSIBLE
        yield Claim(what, f"{apart:.3f}", f"{chance:.3f}", kept)


def _drawn(groups: Groups, clips: int, rng: np.random.Generator) -> Groups:
    """Subsets of the same sizes, of clips in any order."""
    sizes = [len(own) for own in groups]
    order = np.resize(rng.permutation(clips), sum(sizes))
    return np.split(order, np.cumsum(sizes)[:-1])


def _middle(values: Sequence[float]) -> float:
    return float(np.median(values))


def _text(value: float) -> str:
    return f"{value:.1f}"


@dataclass(frozen=True)
class _Likeness:
    """Strata of the material, the stratum of every clip, and its numbers as standard scores."""

    strata: Strata
    stratum: Ints
    scores: Floats

    @classmethod
    def of(cls, design: Design) -> _Likeness:
        """By the covariates that subsets are balanced on."""
        study = design.study
        strata = Strata.of([clip.covariates for clip in study.material], study.categories)
        stratum = np.zeros(len(study.material), np.int64)
        for place, members in enumerate(strata.members):
            stratum[members] = place
        scores = standardised([clip.covariates for clip in study.material], study.numbers)
        return cls(strata, stratum, scores)

    def counts(self, groups: Groups) -> Ints:
        """Clips of every stratum in each subset."""
        number = len(self.strata.members)
        return np.array([np.bincount(self.stratum[own], minlength=number) for own in groups])

    def shares(self, groups: Groups) -> Floats:
        """Clips of every category that a subset should have, a column a subset."""
        sizes = np.array([len(own) for own in groups])
        whole = self.strata.categories @ self.strata.sizes / len(self.stratum)
        return np.outer(whole, sizes)

    def off_share(self, groups: Groups) -> float:
        """The most clips by which a category of a subset differs from its share."""
        found = self.strata.categories @ self.counts(groups).T
        return float(np.abs(found - self.shares(groups)).max())

    def forced(self, groups: Groups) -> bool:
        """Whether some category must be off, as every stratum gets a clip where there is room."""
        own, places = self.strata.categories.sum(axis=1), sum(map(len, groups))
        if places < len(self.strata.members):
            return False
        share = self.shares(groups)
        least = np.array([ceil(one / len(groups)) for one in own])
        most = np.floor((places - len(self.strata.members) + own) / len(groups))
        over, under = least - share.max(axis=1), share.min(axis=1) - most
        return bool(max(over.max(), under.max()) >= 1 - LEAST)

    def nowhere(self, groups: Groups) -> int:
        """Strata in no subset, less those for which there are too few places."""
        counts = self.counts(groups).sum(axis=0)
        room = max(0, len(counts) - sum(map(len, groups)))
        return max(0, int((counts == 0).sum()) - room)

    def settled(self, groups: Groups, rng: np.random.Generator) -> bool:
        """Whether no shuffle of clips within strata, which come first, brings means closer."""
        left = np.setdiff1d(np.arange(len(self.stratum)), np.concatenate(groups))
        order = np.concatenate([*groups, left])
        ends = np.cumsum([len(own) for own in groups])
        for _ in range(SHUFFLES):
            other = order.copy()
            for stratum in range(len(self.strata.members)):
                places = np.flatnonzero(self.stratum[order] == stratum)
                other[places] = order[rng.permutation(places)]
            if self.apart(np.split(other, ends)[:-1]) < self.apart(groups) - LEAST:
                return False
        return True

    def apart(self, groups: Groups) -> float:
        """How far the means of subsets and of the whole lie apart, in standard deviations."""
        means = np.array([self.scores[own].mean(axis=0) for own in groups])
        whole = np.zeros((1, means.shape[1]))
        return float(np.ptp(np.vstack([means, whole]), axis=0).max())
