"""Balance checks of clip subsets, and covariate margins of each subset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from earwitness.stats.arrays import Floats, Ints
from earwitness.studies.design.subsets import Strata, standardize
from earwitness.studies.study import Design

# --- Claims and verdicts -------------------------------------------------------------------------


CLAIM_KEPT, CLAIM_MISSED, CLAIM_IMPOSSIBLE = "yes", "NO", "not possible"


@dataclass(frozen=True)
class Claim:
    """A balance property: label, value in the design, value in a random shuffle, and verdict."""

    what: str
    observed: str
    shuffled: str
    kept: str


def verdict(kept: bool) -> str:
    """Return the verdict as text."""
    return CLAIM_KEPT if kept else CLAIM_MISSED


def range_text(counts: Ints | Sequence[int]) -> str:
    """Return the lowest and highest count as text."""
    if not np.size(counts):
        return "–"
    low, high = int(np.min(counts)), int(np.max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def count_claim(
    what: str, counts: Ints | Sequence[int], kept: bool | str, chance: Ints | None = None
) -> Claim:
    """Return a claim on a range of counts, compared with ``chance`` in a random shuffle if given.

    ``kept`` is whether the property is met, or a verdict.
    """
    shuffled = "–" if chance is None else range_text(chance)
    return Claim(
        what, range_text(counts), shuffled, kept if isinstance(kept, str) else verdict(kept)
    )


def is_within(counts: Ints, most: int) -> bool:
    """Return whether all counts lie within a range of ``most``."""
    return not counts.size or int(counts.max() - counts.min()) <= most


# --- Similarity of subsets -----------------------------------------------------------------------


SUBSETS_STREAM = 9  # random stream
SHUFFLE_COUNT = 25  # shuffles whose median is reported
ROUNDING_TOLERANCE = 1e-9
Groups = Sequence[Ints]  # clips by subset
Measured = TypeVar("Measured", int, float)


def similarity_claims(design: Design, number: int) -> Iterator[Claim]:
    """Yield claims on the balance of covariates across subsets."""
    similarity, study = _SubsetSimilarity.of(design), design.study
    places = {clip.name: place for place, clip in enumerate(study.material)}
    groups = [np.array([places[name] for name in group]) for group in design.subsets[number]]
    rng = np.random.default_rng([study.seed, SUBSETS_STREAM, number])
    sizes = [len(group) for group in groups]
    orders = (np.resize(rng.permutation(len(places)), sum(sizes)) for _ in range(SHUFFLE_COUNT))
    others = [np.split(order, np.cumsum(sizes)[:-1]) for order in orders]
    if study.categories:
        off, chance = _compare(similarity.off_share, groups, others)
        kept = CLAIM_IMPOSSIBLE if off >= 1 and similarity.is_forced(groups) else verdict(off < 1)
        what = "largest deviation from proportional categories (clips)"
        yield Claim(what, f"{off:.1f}", f"{chance:.1f}", kept)
        lost, chance = _compare(similarity.count_uncovered, groups, others)
        what = "strata missing from all subsets despite enough places"
        yield Claim(what, str(lost), str(round(chance)), verdict(not lost))
    if study.numbers:
        apart, chance = _compare(similarity.spread_of_means, groups, others)
        what = "largest difference between subset means (in SD)"
        kept = verdict(apart <= chance + ROUNDING_TOLERANCE)
        if apart > chance + ROUNDING_TOLERANCE and similarity.is_settled(groups, rng):
            kept = CLAIM_IMPOSSIBLE
        yield Claim(what, f"{apart:.3f}", f"{chance:.3f}", kept)


def _compare(
    measure: Callable[[Groups], Measured], groups: Groups, others: Sequence[Groups]
) -> tuple[Measured, float]:
    """Return a measure of subsets, and its median over other ones."""
    return measure(groups), float(np.median([measure(group) for group in others]))


@dataclass(frozen=True)
class _SubsetSimilarity:
    """Strata of the material, the stratum of each clip, and numbers as standard scores."""

    strata: Strata
    stratum: Ints
    scores: Floats

    @classmethod
    def of(cls, design: Design) -> _SubsetSimilarity:
        """Return the similarity checks for the covariates on which subsets are balanced."""
        study = design.study
        strata = Strata.of([clip.covariates for clip in study.material], study.categories)
        stratum = np.zeros(len(study.material), np.int64)
        for place, members in enumerate(strata.members):
            stratum[members] = place
        scores = standardize([clip.covariates for clip in study.material], study.numbers)
        return cls(strata, stratum, scores)

    def counts(self, groups: Groups) -> Ints:
        """Count the clips of each stratum in each subset."""
        number = len(self.strata.members)
        return np.array([np.bincount(self.stratum[group], minlength=number) for group in groups])

    def shares(self, groups: Groups) -> Floats:
        """Return the proportional number of clips per category, one column per subset."""
        sizes = np.array([len(group) for group in groups])
        whole = self.strata.categories @ self.strata.sizes / len(self.stratum)
        return np.outer(whole, sizes)

    def off_share(self, groups: Groups) -> float:
        """Return the largest deviation of a category from its proportional number, in clips."""
        counts = self.strata.categories @ self.counts(groups).T
        return float(np.abs(counts - self.shares(groups)).max())

    def is_forced(self, groups: Groups) -> bool:
        """Return whether covering all strata forces some category off its proportional number."""
        strata_of_category, places = self.strata.categories.sum(axis=1), sum(map(len, groups))
        if places < len(self.strata.members):
            return False
        share = self.shares(groups)
        least = np.array([ceil(count / len(groups)) for count in strata_of_category])
        most = np.floor((places - len(self.strata.members) + strata_of_category) / len(groups))
        over, under = least - share.max(axis=1), share.min(axis=1) - most
        return bool(max(over.max(), under.max()) >= 1 - ROUNDING_TOLERANCE)

    def count_uncovered(self, groups: Groups) -> int:
        """Count strata in no subset, excluding those for which there are too few places."""
        counts = self.counts(groups).sum(axis=0)
        room = max(0, len(counts) - sum(map(len, groups)))
        return max(0, int((counts == 0).sum()) - room)

    def is_settled(self, groups: Groups, rng: Generator) -> bool:
        """Return whether no random shuffle of clips within strata brings means closer."""
        left = np.setdiff1d(np.arange(len(self.stratum)), np.concatenate(groups))
        order = np.concatenate([*groups, left])
        ends = np.cumsum([len(group) for group in groups])
        for _ in range(SHUFFLE_COUNT):
            other = order.copy()
            for stratum in range(len(self.strata.members)):
                places = np.flatnonzero(self.stratum[order] == stratum)
                other[places] = order[rng.permutation(places)]
            if (
                self.spread_of_means(np.split(other, ends)[:-1])
                < self.spread_of_means(groups) - ROUNDING_TOLERANCE
            ):
                return False
        return True

    def spread_of_means(self, groups: Groups) -> float:
        """Return the range of the means of subsets and of all clips, in standard deviations."""
        means = np.array([self.scores[group].mean(axis=0) for group in groups])
        whole = np.zeros((1, means.shape[1]))
        return float(np.ptp(np.vstack([means, whole]), axis=0).max())


# --- Covariate margins of subsets ----------------------------------------------------------------


Stratum = tuple[str, ...]


@dataclass(frozen=True)
class Margin:
    """A covariate in all clips and in each subset: counts of a category, or a mean."""

    covariate: str
    category: str
    whole: float
    subsets: tuple[float, ...]


@dataclass(frozen=True)
class MissingStratum:
    """A stratum missing from a subset, and its number of clips in the whole material."""

    stratum: Stratum
    clips: int


def subset_margins(design: Design, block: int = 0) -> list[Margin]:
    """Return the margins of each category of each covariate, and of the mean of each number."""
    study = design.study
    clip_of = {clip.name: clip for clip in study.material}
    groups = [[clip_of[name] for name in subset] for subset in design.subsets[block]]
    rows = []
    for name in study.categories:
        whole, *subsets = (
            Counter(str(clip.covariates[name]) for clip in clips)
            for clips in (study.material, *groups)
        )
        rows += [
            Margin(name, value, whole[value], tuple(counts[value] for counts in subsets))
            for value in sorted(whole)
        ]
    for name in study.numbers:
        mean, *means = (
            float(np.mean([float(clip.covariates[name]) for clip in clips]))
            for clips in (study.material, *groups)
        )
        rows.append(Margin(name, "mean", mean, tuple(means)))
    return rows


def missing_strata(design: Design, block: int = 0) -> list[list[MissingStratum]]:
    """Return the strata of the material that each subset lacks."""
    study = design.study
    strata = {
        clip.name: tuple(str(clip.covariates[name]) for name in study.categories)
        for clip in study.material
    }
    sizes = Counter(strata.values())
    return [
        [
            MissingStratum(stratum, sizes[stratum])
            for stratum in sorted(set(sizes) - {strata[name] for name in subset})
        ]
        for subset in design.subsets[block]
    ]
