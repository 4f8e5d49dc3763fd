"""Checks that subsets of clips are alike, and covariate margins of each subset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from earwitness.stats.arrays import Floats, Ints
from earwitness.studies.design.subsets import Strata, standardize
from earwitness.studies.study import Clip, Design, Study

# --- Claims and verdicts -------------------------------------------------------------------------


CLAIM_KEPT, CLAIM_MISSED, CLAIM_IMPOSSIBLE = "yes", "NO", "cannot be"


@dataclass(frozen=True)
class Claim:
    """A property of a design: what was counted, what the design has, what a plain shuffle has."""

    what: str
    observed: str
    shuffled: str
    kept: str


def verdict(kept: bool) -> str:
    """Yes, or no."""
    return CLAIM_KEPT if kept else CLAIM_MISSED


def range_text(counts: Ints) -> str:
    """The least and the most of them."""
    if not counts.size:
        return "–"
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def is_within(counts: Ints, most: int) -> bool:
    """Whether no two of them differ by more."""
    return not counts.size or int(counts.max() - counts.min()) <= most


# --- Similarity of subsets -----------------------------------------------------------------------


SUBSETS_STREAM = 9  # stream of chance
SHUFFLE_COUNT = 25  # of which the middle one is told
ROUNDING_TOLERANCE = 1e-9
Groups = Sequence[Ints]  # clips by subset


def similarity_claims(design: Design, number: int) -> Iterator[Claim]:
    """What balanced covariates promise."""
    similarity, study = _SubsetSimilarity.of(design), design.study
    places = {clip.name: place for place, clip in enumerate(study.material)}
    groups = [np.array([places[name] for name in group]) for group in design.subsets[number]]
    rng = np.random.default_rng([study.seed, SUBSETS_STREAM, number])
    others = [_draw_subsets(groups, len(places), rng) for _ in range(SHUFFLE_COUNT)]
    if study.categories:
        off, chance = (
            similarity.off_share(groups),
            _middle([similarity.off_share(group) for group in others]),
        )
        kept = CLAIM_IMPOSSIBLE if off >= 1 and similarity.is_forced(groups) else verdict(off < 1)
        yield Claim("clips by which a category is off its share", _text(off), _text(chance), kept)
        lost, chance = (
            similarity.count_uncovered(groups),
            _middle([similarity.count_uncovered(group) for group in others]),
        )
        what = "strata in no subset, though there is room"
        yield Claim(what, str(lost), str(round(chance)), verdict(not lost))
    if study.numbers:
        apart, chance = (
            similarity.spread_of_means(groups),
            _middle([similarity.spread_of_means(group) for group in others]),
        )
        what = "standard deviations between means of numbers"
        kept = verdict(apart <= chance + ROUNDING_TOLERANCE)
        if apart > chance + ROUNDING_TOLERANCE and similarity.is_settled(groups, rng):
            kept = CLAIM_IMPOSSIBLE
        yield Claim(what, f"{apart:.3f}", f"{chance:.3f}", kept)


def _draw_subsets(groups: Groups, clips: int, rng: np.random.Generator) -> Groups:
    """Subsets of the same sizes, of clips in any order."""
    sizes = [len(group) for group in groups]
    order = np.resize(rng.permutation(clips), sum(sizes))
    return np.split(order, np.cumsum(sizes)[:-1])


def _middle(values: Sequence[float]) -> float:
    return float(np.median(values))


def _text(value: float) -> str:
    return f"{value:.1f}"


@dataclass(frozen=True)
class _SubsetSimilarity:
    """Strata of the material, the stratum of every clip, and its numbers as standard scores."""

    strata: Strata
    stratum: Ints
    scores: Floats

    @classmethod
    def of(cls, design: Design) -> _SubsetSimilarity:
        """By the covariates that subsets are balanced on."""
        study = design.study
        strata = Strata.of([clip.covariates for clip in study.material], study.categories)
        stratum = np.zeros(len(study.material), np.int64)
        for place, members in enumerate(strata.members):
            stratum[members] = place
        scores = standardize([clip.covariates for clip in study.material], study.numbers)
        return cls(strata, stratum, scores)

    def counts(self, groups: Groups) -> Ints:
        """Clips of every stratum in each subset."""
        number = len(self.strata.members)
        return np.array([np.bincount(self.stratum[group], minlength=number) for group in groups])

    def shares(self, groups: Groups) -> Floats:
        """Clips of every category that a subset should have, a column a subset."""
        sizes = np.array([len(group) for group in groups])
        whole = self.strata.categories @ self.strata.sizes / len(self.stratum)
        return np.outer(whole, sizes)

    def off_share(self, groups: Groups) -> float:
        """The most clips by which a category of a subset differs from its share."""
        counts = self.strata.categories @ self.counts(groups).T
        return float(np.abs(counts - self.shares(groups)).max())

    def is_forced(self, groups: Groups) -> bool:
        """Whether some category must be off, as every stratum gets a clip where there is room."""
        strata_of_category, places = self.strata.categories.sum(axis=1), sum(map(len, groups))
        if places < len(self.strata.members):
            return False
        share = self.shares(groups)
        least = np.array([ceil(count / len(groups)) for count in strata_of_category])
        most = np.floor((places - len(self.strata.members) + strata_of_category) / len(groups))
        over, under = least - share.max(axis=1), share.min(axis=1) - most
        return bool(max(over.max(), under.max()) >= 1 - ROUNDING_TOLERANCE)

    def count_uncovered(self, groups: Groups) -> int:
        """Strata in no subset, less those for which there are too few places."""
        counts = self.counts(groups).sum(axis=0)
        room = max(0, len(counts) - sum(map(len, groups)))
        return max(0, int((counts == 0).sum()) - room)

    def is_settled(self, groups: Groups, rng: np.random.Generator) -> bool:
        """Whether no shuffle of clips within strata, which come first, brings means closer."""
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
        """How far the means of subsets and of the whole lie apart, in standard deviations."""
        means = np.array([self.scores[group].mean(axis=0) for group in groups])
        whole = np.zeros((1, means.shape[1]))
        return float(np.ptp(np.vstack([means, whole]), axis=0).max())


# --- Covariate margins of subsets ----------------------------------------------------------------


Stratum = tuple[str, ...]


@dataclass(frozen=True)
class Margin:
    """How a covariate lies in the whole and in every subset: counts, or a mean."""

    covariate: str
    category: str
    whole: float
    subsets: tuple[float, ...]


@dataclass(frozen=True)
class MissingStratum:
    """A stratum that a subset lacks, though the whole has so many clips of it."""

    stratum: Stratum
    clips: int


def subset_margins(design: Design, block: int = 0) -> list[Margin]:
    """Every category of every covariate, and the mean of every number."""
    study = design.study
    clip_of = {clip.name: clip for clip in study.material}
    groups = [[clip_of[name] for name in subset] for subset in design.subsets[block]]
    rows = []
    for covariate in study.categories:
        values = sorted({str(clip.covariates[covariate]) for clip in study.material})
        for value in values:
            counts = [
                _count_category(clips, covariate, value) for clips in (study.material, *groups)
            ]
            rows.append(Margin(covariate, value, counts[0], tuple(counts[1:])))
    for covariate in study.numbers:
        means = [_mean_of_number(clips, covariate) for clips in (study.material, *groups)]
        rows.append(Margin(covariate, "mean", means[0], tuple(means[1:])))
    return rows


def missing_strata(design: Design, block: int = 0) -> list[list[MissingStratum]]:
    """For every subset the strata of the whole that it lacks."""
    strata = _stratum_of_clips(design.study)
    sizes = Counter(strata.values())
    return [
        [
            MissingStratum(stratum, sizes[stratum])
            for stratum in sorted(set(sizes) - {strata[name] for name in subset})
        ]
        for subset in design.subsets[block]
    ]


def _stratum_of_clips(study: Study) -> dict[str, Stratum]:
    return {
        clip.name: tuple(str(clip.covariates[name]) for name in study.categories)
        for clip in study.material
    }


def _count_category(clips: Sequence[Clip], covariate: str, value: str) -> int:
    return sum(str(clip.covariates[covariate]) == value for clip in clips)


def _mean_of_number(clips: Sequence[Clip], covariate: str) -> float:
    return float(np.mean([float(clip.covariates[covariate]) for clip in clips]))
