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
from earwitness.studies.analysis.settings import AnalysisSettings, has_good_and_poor
from earwitness.studies.results import Equivalence, SystemMeans
from earwitness.studies.study import MIXED_MODEL, Scale

# --- Means and differences of systems ------------------------------------------------------------


CLUSTER_T = "cluster_t"
MIN_LISTENERS_FOR_DIFFERENCE = 3  # minimum for a significant difference
MIN_GOOD_VOTE, MAX_POOR_VOTE = 4.0, 2.0  # Good or better, Poor or worse, of five points


def mean_estimates(
    coded: CodedRatings,
    method: str,
    settings: AnalysisSettings,
    fitted: MixedModelFit | None = None,
) -> dict[str, Estimate]:
    """Return the mean of each system with the interval of a method."""
    level = settings.plan.level
    if method == MIXED_MODEL:
        estimates = mixed_means(coded.votes, level=level, fitted=fitted)
    else:
        draws, seed = settings.draws, settings.seed
        estimates = estimate_means(coded.votes, method, level=level, draws=draws, seed=seed)
    return dict(zip(coded.systems, estimates, strict=True))


def system_means(
    coded: CodedRatings, scale: Scale, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> dict[str, SystemMeans]:
    """Return means, intervals, counts and shares of votes of each system."""
    estimates_of = {
        method: mean_estimates(coded, method, settings, fitted) for method in settings.methods
    }
    parts = _vote_shares(coded, scale, settings.plan.level)
    return {
        name: _system_mean(
            coded,
            number,
            {method: estimates[name] for method, estimates in estimates_of.items()},
            {part: shares_of_part[number] for part, shares_of_part in parts.items()},
        )
        for number, name in enumerate(coded.systems)
    }


def _system_mean(
    coded: CodedRatings,
    number: int,
    intervals: Mapping[str, Estimate],
    parts: Mapping[str, Estimate],
) -> SystemMeans:
    system_votes = coded.votes.select(coded.votes.systems == number)
    values, counts = np.unique(system_votes.values, return_counts=True)
    return SystemMeans(
        mean=next(iter(intervals.values())),
        intervals=intervals,
        votes=len(system_votes.values),
        listeners=len(np.unique(system_votes.listeners)),
        items=len(np.unique(system_votes.items)),
        sd=float(system_votes.values.std(ddof=1)) if len(system_votes.values) > 1 else float("nan"),
        counts=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        **parts,
    )


def _vote_shares(coded: CodedRatings, scale: Scale, level: float) -> dict[str, list[Estimate]]:
    """Return shares of votes at the ends of the scale, and Good or better, Poor or worse."""
    parts = {
        "floor": vote_shares(coded.votes, at_most=scale.low, level=level),
        "ceiling": vote_shares(coded.votes, at_least=scale.high, level=level),
    }
    if has_good_and_poor(scale):
        parts["good"] = vote_shares(coded.votes, at_least=MIN_GOOD_VOTE, level=level)
        parts["poor"] = vote_shares(coded.votes, at_most=MAX_POOR_VOTE, level=level)
    return parts


class NamedPair(NamedTuple):
    """Two systems by name and by number."""

    a: str
    b: str
    pair: tuple[int, int]


def compare_systems(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Contrast, ...]:
    """Return the differences between systems, with p corrected across all of them.

    Pairs are the planned ones, or all. Systems rated relative to another system are first compared
    with that system, that is with a rating of 0.
    """
    votes, named = coded.votes, planned_pairs(coded, settings)
    if is_against_others(coded):
        votes, beside = _votes_with_zero(coded)
        fitted = None
        wanted = {frozenset(pair) for pair in settings.plan.contrasts}
        named = [
            *(pair for pair in beside if not wanted or {pair.a, pair.b} in wanted),
            *(named if len({pair.b for pair in beside}) == 1 else []),
        ]
    tests = _test_pairs(votes, [pair.pair for pair in named], settings, fitted)
    return correct_contrasts(
        [
            Contrast(coded.scale, pair.a, pair.b, test.difference, test.p, test.p, "", test.effect)
            for pair, test in zip(named, tests, strict=True)
        ],
        settings,
        [coded] * len(tests),
    )


def compare_by_mixed_model(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Contrast, ...]:
    """Return the same differences by the mixed model, if it is fitted in addition.

    The result is empty if systems were rated relative to others.
    """
    if fitted is None or settings.plan.interval == MIXED_MODEL or is_against_others(coded):
        return ()
    named, level = planned_pairs(coded, settings), settings.plan.level
    pairs = [pair.pair for pair in named]
    tests = mixed_contrasts(coded.votes, pairs, level=level, fitted=fitted)
    return correct_contrasts(
        [
            Contrast(coded.scale, name.a, name.b, difference, p, p, "")
            for name, (difference, p) in zip(named, tests, strict=True)
        ],
        settings,
        [coded] * len(tests),
    )


def correct_contrasts(
    contrasts: Sequence[Contrast], settings: AnalysisSettings, among: Sequence[CodedRatings]
) -> tuple[Contrast, ...]:
    """Return contrasts with corrected p and the better system; ``among`` are their ratings."""
    corrected = CORRECTIONS[settings.plan.correction]([contrast.p for contrast in contrasts])
    alpha = 1 - settings.plan.level
    enough = [
        len({rating.listener for rating in coded.ratings}) >= MIN_LISTENERS_FOR_DIFFERENCE
        for coded in among
    ]
    return tuple(
        replace(contrast, p_corrected=p, better=_better_system(contrast, p, alpha) if tells else "")
        for contrast, p, tells in zip(contrasts, corrected, enough, strict=True)
    )


def is_against_others(coded: CodedRatings) -> bool:
    """Return whether systems were rated relative to others."""
    return any(rating.against for rating in coded.ratings)


def planned_pairs(coded: CodedRatings, settings: AnalysisSettings) -> list[NamedPair]:
    """Return the planned pairs, or all pairs of systems that are not controls."""
    number_of = {name: number for number, name in enumerate(coded.systems)}
    compete = [name for name in coded.systems if name not in settings.controls]
    pairs = settings.plan.contrasts or combinations(compete, 2)
    return [
        NamedPair(a, b, (number_of[a], number_of[b]))
        for a, b in pairs
        if a in number_of and b in number_of
    ]


def _votes_with_zero(coded: CodedRatings) -> tuple[Votes, list[NamedPair]]:
    """Return votes with an additional system rated 0, and the pairs with it."""
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
        number: (rating.key.system, rating.against.system)
        for number, rating in zip(votes.systems.tolist(), coded.ratings, strict=True)
        if rating.against
    }
    return wider, [NamedPair(*pairs[number], (number, zero)) for number in sorted(pairs)]


def _test_pairs(
    votes: Votes,
    pairs: list[tuple[int, int]],
    settings: AnalysisSettings,
    fitted: MixedModelFit | None,
) -> list[ContrastEstimate]:
    """Test pairs by the planned method; the mixed model takes effect sizes from t tests."""
    plan = settings.plan
    mixed = plan.interval == MIXED_MODEL
    by_listener = estimate_contrasts(
        votes,
        pairs,
        CLUSTER_T if mixed else plan.interval,
        level=plan.level,
        draws=settings.draws,
        seed=settings.seed,
    )
    if not mixed:
        return by_listener
    modelled = mixed_contrasts(votes, pairs, level=plan.level, fitted=fitted)
    return [
        ContrastEstimate(*test, by_t.effect)
        for test, by_t in zip(modelled, by_listener, strict=True)
    ]


def _better_system(contrast: Contrast, p: float, alpha: float) -> str:
    """Return the significantly better system, or nothing; too few listeners show nothing."""
    if not p < alpha or contrast.difference.n < MIN_LISTENERS_FOR_DIFFERENCE:
        return ""
    return contrast.a if contrast.difference.value > 0 else contrast.b


# --- Equivalence tests ---------------------------------------------------------------------------


def check_equivalence(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Equivalence, ...]:
    """Test the equivalence of each planned pair (TOST) by the method of the difference test.

    The result is empty if systems were rated relative to others.
    """
    if is_against_others(coded):
        return ()
    plan, named = settings.plan, planned_pairs(coded, settings)
    margin = plan.margins.get(coded.scale, nan)
    tests = equivalence_tests(
        coded.votes,
        [pair.pair for pair in named],
        margin,
        plan.interval,
        level=plan.level,
        draws=settings.draws,
        seed=settings.seed,
        fitted=fitted,
    )
    corrected = CORRECTIONS[plan.correction]([test.p for test in tests])
    enough = len({rating.listener for rating in coded.ratings}) >= MIN_LISTENERS_FOR_DIFFERENCE
    return tuple(
        Equivalence(
            *(
                coded.scale,
                pair.a,
                pair.b,
                test.difference,
                test.smallest_margin,
                margin,
                test.p,
                p,
            ),
            shown=enough and p < 1 - plan.level,
        )
        for pair, test, p in zip(named, tests, corrected, strict=True)
    )
