"""How covariates lie in the whole material and in every subset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.data import Clip, Design, Study

Stratum = tuple[str, ...]


@dataclass(frozen=True)
class Margin:
    """How a covariate lies in the whole and in every subset: counts, or a mean."""

    covariate: str
    category: str
    whole: float
    subsets: tuple[float, ...]


@dataclass(frozen=True)
class Lacking:
    """A stratum that a subset lacks, though the whole has so many clips of it."""

    stratum: Stratum
    clips: int


def margins(design: Design, block: int = 0) -> list[Margin]:
    """Every category of every covariate, and the mean of every number."""
    study = design.study
    known = {clip.name: clip for clip in study.material}
    groups = [[known[name] for name in subset] for subset in design.subsets[block]]
    found = []
    for covariate in study.categories:
        values = sorted({str(clip.covariates[covariate]) for clip in study.material})
        for value in values:
            counts = [_count(own, covariate, value) for own in (study.material, *groups)]
            found.append(Margin(covariate, value, counts[0], tuple(counts[1:])))
    for covariate in study.numbers:
        means = [_mean(own, covariate) for own in (study.material, *groups)]
        found.append(Margin(covariate, "mean", means[0], tuple(means[1:])))
    return found


def left_out(design: Design, block: int = 0) -> list[list[Lacking]]:
    """For every subset the strata of the whole that it lacks."""
    strata = _strata(design.study)
    sizes = Counter(strata.values())
    return [
        [Lacking(one, sizes[one]) for one in sorted(set(sizes) - {strata[name] for name in subset})]
        for subset in design.subsets[block]
    ]


def _strata(study: Study) -> dict[str, Stratum]:
    return {
        clip.name: tuple(str(clip.covariates[name]) for name in study.categories)
        for clip in study.material
    }


def _count(clips: Sequence[Clip], covariate: str, value: str) -> int:
    return sum(str(clip.covariates[covariate]) == value for clip in clips)


def _mean(clips: Sequence[Clip], covariate: str) -> float:
    return float(np.mean([float(clip.covariates[covariate]) for clip in clips]))
