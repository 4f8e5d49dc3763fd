"""Means of systems with intervals, differences between systems, and equivalence tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan
from typing import NamedTuple

import numpy as np

from earwitness.core import Contrast, Estimate
from earwitness.stats.contrasts import ContrastEstimate, equivalence_tests, estimate_contrasts
from earwitness.stats.means import estimate_means, vote_shares
from earwitness.stats.mixed_model import MixedModelFit, mixed_contrasts, mixed_means
from earwitness.stats.significance import CORRECTIONS
from earwitness.stats.votes import Votes
from earwitness.studies.analysis.prepare import CodedRatings
from earwitness.studies.analysis.settings import AnalysisSettings, has_good
from earwitness.studies.results import Equivalence, SystemMeans
from earwitness.studies.study import MIXED_MODEL, Scale

# --- Means and differences of systems ------------------------------------------------------------


CLUSTER_T = "cluster_t"
MIN_LISTENERS_FOR_DIFFERENCE = 3  # listeners from which on a difference is told
MIN_GOOD_VOTE, MAX_POOR_VOTE = 4.0, 2.0  # Good or better, Poor or worse, of five points


def mean_estimates(
    coded: CodedRatings,
    method: str,
    settings: AnalysisSettings,
    fitted: MixedModelFit | None = None,
) -> dict[str, Estimate]:
    """The mean of every system with the interval of a method."""
    level = settings.plan.level
    if method == MIXED_MODEL:
        found = mixed_means(coded.votes, level=level, fitted=fitted)
    else:
        draws, seed = settings.draws, settings.seed
        found = estimate_means(coded.votes, method, level=level, draws=draws, seed=seed)
    return dict(zip(coded.systems, found, strict=True))


def rated(
    coded: CodedRatings, scale: Scale, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> dict[str, SystemMeans]:
    """All about the votes of every system."""
    every = {one: mean_estimates(coded, one, settings, fitted) for one in settings.methods}
    parts = _shares(coded, scale, settings.plan.level)
    return {
        name: _rated(
            coded,
            number,
            {method: own[name] for method, own in every.items()},
            {part: found[number] for part, found in parts.items()},
        )
        for number, name in enumerate(coded.systems)
    }


def _rated(
    coded: CodedRatings,
    number: int,
    intervals: Mapping[str, Estimate],
    parts: Mapping[str, Estimate],
) -> SystemMeans:
    own = coded.votes.select(coded.votes.systems == number)
    values, counts = np.unique(own.values, return_counts=True)
    return SystemMeans(
        mean=next(iter(intervals.values())),
        intervals=intervals,
        votes=len(own.values),
        listeners=len(np.unique(own.listeners)),
        items=len(np.unique(own.items)),
        sd=float(own.values.std(ddof=1)) if len(own.values) > 1 else float("nan"),
        counts=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        **parts,
    )


def _shares(coded: CodedRatings, scale: Scale, level: float) -> dict[str, list[Estimate]]:
    """Shares of votes: Good or better and Poor or worse, where the scale has them, and its ends."""
    found = {
        "floor": vote_shares(coded.votes, at_most=scale.low, level=level),
        "ceiling": vote_shares(coded.votes, at_least=scale.high, level=level),
    }
    if has_good(scale):
        found["good"] = vote_shares(coded.votes, at_least=MIN_GOOD_VOTE, level=level)
        found["poor"] = vote_shares(coded.votes, at_most=MAX_POOR_VOTE, level=level)
    return found


class NamedPair(NamedTuple):
    """Two systems by name, and by number in votes that have both."""

    a: str
    b: str
    pair: tuple[int, int]


def compared(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Contrast, ...]:
    """Differences between systems, with p corrected over all of them.

    Those of the planned pairs of systems, or of all. Where systems were rated against others, each
    is compared with its other first, that is with a rating of 0.
    """
    votes, named = coded.votes, planned(coded, settings)
    if against_others(coded):
        votes, beside = _beside_others(coded)
        fitted = None
        pairs = {frozenset(pair) for pair in settings.plan.contrasts}
        named = [
            *(one for one in beside if not pairs or {one.a, one.b} in pairs),
            *(named if len({one.b for one in beside}) == 1 else []),
        ]
    found = _tested(votes, [one.pair for one in named], settings, fitted)
    return with_correction(
        [
            Contrast(coded.scale, name.a, name.b, one.difference, one.p, one.p, "", one.effect)
            for name, one in zip(named, found, strict=True)
        ],
        settings,
        [coded] * len(found),
    )


def modelled(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Contrast, ...]:
    """The same differences by the mixed model, where it is fitted beside the planned test.

    There are none where systems were rated against others.
    """
    if fitted is None or settings.plan.interval == MIXED_MODEL or against_others(coded):
        return ()
    named, level = planned(coded, settings), settings.plan.level
    pairs = [one.pair for one in named]
    found = mixed_contrasts(coded.votes, pairs, level=level, fitted=fitted)
    return with_correction(
        [
            Contrast(coded.scale, name.a, name.b, difference, p, p, "")
            for name, (difference, p) in zip(named, found, strict=True)
        ],
        settings,
        [coded] * len(found),
    )


def with_correction(
    contrasts: Sequence[Contrast], settings: AnalysisSettings, among: Sequence[CodedRatings]
) -> tuple[Contrast, ...]:
    """The same with p corrected over all of them, and who is better; ``among`` are their votes."""
    corrected = CORRECTIONS[settings.plan.correction]([one.p for one in contrasts])
    alpha = 1 - settings.plan.level
    enough = [
        len({one.listener for one in own.ratings}) >= MIN_LISTENERS_FOR_DIFFERENCE for own in among
    ]
    return tuple(
        replace(one, p_corrected=p, better=_better(one, p, alpha) if tells else "")
        for one, p, tells in zip(contrasts, corrected, enough, strict=True)
    )


def against_others(coded: CodedRatings) -> bool:
    """Whether systems were rated against others."""
    return any(one.against for one in coded.ratings)


def planned(coded: CodedRatings, settings: AnalysisSettings) -> list[NamedPair]:
    """Pairs that are planned, or all of systems that compete."""
    known = {name: number for number, name in enumerate(coded.systems)}
    compete = [name for name in coded.systems if name not in settings.controls]
    pairs = settings.plan.contrasts or combinations(compete, 2)
    return [NamedPair(a, b, (known[a], known[b])) for a, b in pairs if a in known and b in known]


def _beside_others(coded: CodedRatings) -> tuple[Votes, list[NamedPair]]:
    """Votes with one system more, which always is rated 0, and each system beside its other."""
    votes, zero = coded.votes, len(coded.systems)
    cells = np.unique(votes.listeners * votes.size[1] + votes.items)
    listeners, items = np.divmod(cells, votes.size[1])
    wider = Votes(
        np.concatenate([votes.values, np.zeros(len(cells))]),
        np.concatenate([votes.systems, np.full(len(cells), zero)]),
        np.concatenate([votes.items, items]),
        np.concatenate([votes.listeners, listeners]),
        (zero + 1, *votes.size[1:]),
    )
    pairs = {
        number: (one.key.system, one.against.system)
        for number, one in zip(votes.systems.tolist(), coded.ratings, strict=True)
        if one.against
    }
    return wider, [NamedPair(*pairs[number], (number, zero)) for number in sorted(pairs)]


def _tested(
    votes: Votes,
    pairs: list[tuple[int, int]],
    settings: AnalysisSettings,
    fitted: MixedModelFit | None,
) -> list[ContrastEstimate]:
    """By the planned method; the mixed model has no size of an effect, and takes that of t."""
    plan = settings.plan
    mixed = plan.interval == MIXED_MODEL
    found = estimate_contrasts(
        votes,
        pairs,
        CLUSTER_T if mixed else plan.interval,
        level=plan.level,
        draws=settings.draws,
        seed=settings.seed,
    )
    if not mixed:
        return found
    modelled = mixed_contrasts(votes, pairs, level=plan.level, fitted=fitted)
    return [ContrastEstimate(*one, by_t.effect) for one, by_t in zip(modelled, found, strict=True)]


def _better(contrast: Contrast, p: float, alpha: float) -> str:
    """The better one, if they can be told apart; two agree by chance too often to tell."""
    if not p < alpha or contrast.difference.n < MIN_LISTENERS_FOR_DIFFERENCE:
        return ""
    return contrast.a if contrast.difference.value > 0 else contrast.b


# --- Equivalence tests ---------------------------------------------------------------------------


def equivalent(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Equivalence, ...]:
    """Two one-sided tests of every planned pair, by the method of the difference test.

    There are none where systems were rated against others.
    """
    if against_others(coded):
        return ()
    plan, named = settings.plan, planned(coded, settings)
    margin = plan.margins.get(coded.scale, nan)
    found = equivalence_tests(
        coded.votes,
        [one.pair for one in named],
        margin,
        plan.interval,
        level=plan.level,
        draws=settings.draws,
        seed=settings.seed,
        fitted=fitted,
    )
    corrected = CORRECTIONS[plan.correction]([one.p for one in found])
    enough = len({one.listener for one in coded.ratings}) >= MIN_LISTENERS_FOR_DIFFERENCE
    return tuple(
        Equivalence(
            *(coded.scale, pair.a, pair.b, one.difference, one.smallest_margin, margin, one.p, p),
            shown=enough and p < 1 - plan.level,
        )
        for pair, one, p in zip(named, found, corrected, strict=True)
    )
