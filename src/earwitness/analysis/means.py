"""Means of systems with intervals, differences between systems, and equivalence tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from earwitness.analysis.plan import MIXED_MODEL, WILCOXON
from earwitness.analysis.prepare import CodedRatings
from earwitness.analysis.results import Equivalence, FriedmanTest, SystemMeans
from earwitness.analysis.settings import AnalysisSettings, has_good_and_poor
from earwitness.core import Contrast, Estimate, count_text
from earwitness.ratings.scales import Scale
from earwitness.stats.contrasts import (
    TWO_WAY_T,
    ContrastEstimate,
    EquivalenceTest,
    equivalence_tests,
    estimate_contrasts,
    two_way_contrasts,
)
from earwitness.stats.means import drop_unvoted, estimate_means, listener_means, vote_shares
from earwitness.stats.mixed_model import (
    MixedModelFit,
    mixed_contrasts,
    mixed_means,
)
from earwitness.stats.significance import (
    CORRECTIONS,
    MIN_SYSTEMS_FOR_FRIEDMAN,
    agree_with_test,
    friedman_test,
    simultaneous_level,
)
from earwitness.stats.votes import Votes

# --- Means and differences of systems ------------------------------------------------------------


CLUSTER_T = "cluster_t"
MIN_LISTENERS_FOR_DIFFERENCE = 3  # minimum per system for a rank or a significant difference
MIN_VOTES_FOR_DIFFERENCE = 5
MIN_SHARED_ITEMS = 0.5  # smallest share of the smaller item set for a test within listeners
SHARED_ITEMS_NOTE = "items shared"  # in notes on pairs that share fewer items
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
    """Return means, intervals, counts and shares of votes of each system, best first."""
    methods = dict.fromkeys((settings.mean_method, *settings.methods))
    estimates_of = {method: mean_estimates(coded, method, settings, fitted) for method in methods}
    parts = _vote_shares(coded, scale, settings.plan.level)
    means = {
        name: _system_mean(
            coded,
            number,
            {method: estimates[name] for method, estimates in estimates_of.items()},
            {part: shares_of_part[number] for part, shares_of_part in parts.items()},
        )
        for number, name in enumerate(coded.systems)
    }
    sign = 1 if scale.good == "low" else -1
    return dict(
        sorted(
            means.items(), key=lambda pair: (isnan(pair[1].mean.value), sign * pair[1].mean.value)
        )
    )


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
        vote_mean=float(system_votes.values.mean()) if len(system_votes.values) else nan,
        votes=len(system_votes.values),
        listeners=len(np.unique(system_votes.listeners)) if coded.unit == "listener" else 0,
        items=len(np.unique(system_votes.items)),
        sd=float(system_votes.values.std(ddof=1)) if len(system_votes.values) > 1 else nan,
        counts=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        **parts,
    )


def _vote_shares(coded: CodedRatings, scale: Scale, level: float) -> dict[str, list[Estimate]]:
    """Return shares of votes at the ends of the scale, and Good or better, Poor or worse."""
    if coded.unit == "item":
        return {}
    parts = {
        "floor": vote_shares(coded.votes, at_most=scale.low, level=level),
        "ceiling": vote_shares(coded.votes, at_least=scale.high, level=level),
    }
    if has_good_and_poor(scale):
        upper = vote_shares(coded.votes, at_least=MIN_GOOD_VOTE, level=level)
        lower = vote_shares(coded.votes, at_most=MAX_POOR_VOTE, level=level)
        parts["good"], parts["poor"] = (lower, upper) if scale.good == "low" else (upper, lower)
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
    return correct_contrasts(
        lambda level: [(c, coded) for c in contrast_systems(coded, settings, fitted, level)],
        settings,
    )


def contrast_systems(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None, level: float
) -> list[Contrast]:
    """Return the differences of ``compare_systems`` without correction."""
    votes, named = coded.votes, planned_pairs(coded, settings)
    if is_against_others(coded):
        votes, beside = _votes_with_zero(coded)
        fitted = None
        wanted = {frozenset(pair) for pair in settings.plan.contrasts}
        named = [
            *(pair for pair in beside if not wanted or {pair.a, pair.b} in wanted),
            *(named if len({pair.b for pair in beside}) == 1 else []),
        ]
    tests = _test_pairs(votes, [pair.pair for pair in named], settings, fitted, level)
    contrasts = [
        Contrast(coded.scale, pair.a, pair.b, test.difference, test.p, test.p, "", test.effect)
        for pair, test in zip(named, tests, strict=True)
    ]
    disjoint = pairs_with_few_common_items(coded, named)
    modelled = two_way_contrasts(
        coded.votes, [named[number].pair for number in disjoint], level=level
    )
    for (number, note), (difference, p) in zip(disjoint.items(), modelled, strict=True):
        contrasts[number] = (
            _withhold(contrasts[number], f"not compared: {note}, without spread over items")
            if isnan(p)
            else replace(
                contrasts[number],
                difference=difference,
                p=p,
                effect=None,
                note=f"two-way test: {note}",
            )
        )
    return contrasts


def pairs_with_few_common_items(coded: CodedRatings, pairs: Sequence[NamedPair]) -> dict[int, str]:
    """Return the pairs of which fewer than half of the smaller item set is shared, by number.

    Their difference within listeners would also be one of items. Means are compared within items.
    """
    if coded.unit == "item":
        return {}
    votes = coded.votes
    rated = np.zeros(votes.size[:2])
    rated[votes.systems, votes.items] = 1
    shared = rated @ rated.T
    few = {}
    for number, pair in enumerate(pairs):
        if max(pair.pair) < len(shared):  # not the system that others are rated against
            smaller = int(min(shared[system, system] for system in pair.pair))
            common = int(shared[pair.pair])
            if common < MIN_SHARED_ITEMS * smaller:
                few[number] = f"{common} of {smaller} {SHARED_ITEMS_NOTE}"
    return few


def _withhold(contrast: Contrast, note: str) -> Contrast:
    """Return a contrast without interval and p."""
    difference = replace(contrast.difference, low=nan, high=nan)
    return replace(
        contrast, difference=difference, p=nan, p_corrected=nan, better="", effect=None, note=note
    )


def compare_by_mixed_model(
    coded: CodedRatings, settings: AnalysisSettings, fitted: MixedModelFit | None
) -> tuple[Contrast, ...]:
    """Return the same differences by the mixed model, if it is fitted in addition.

    The result is empty if systems were rated relative to others.
    """
    if fitted is None or settings.plan.interval == MIXED_MODEL or is_against_others(coded):
        return ()
    named = planned_pairs(coded, settings)
    few = pairs_with_few_common_items(coded, named)

    def test_pairs(level: float) -> list[tuple[Contrast, CodedRatings]]:
        pairs = [pair.pair for pair in named]
        tests = mixed_contrasts(coded.votes, pairs, level=level, fitted=fitted)
        contrasts = [
            Contrast(coded.scale, name.a, name.b, difference, p, p, "")
            for name, (difference, p) in zip(named, tests, strict=True)
        ]
        for number, note in few.items():
            contrasts[number] = _withhold(contrasts[number], f"not compared: {note}")
        return [(contrast, coded) for contrast in contrasts]

    return correct_contrasts(test_pairs, settings)


def correct_contrasts(
    test: Callable[[float], Sequence[tuple[Contrast, CodedRatings]]], settings: AnalysisSettings
) -> tuple[Contrast, ...]:
    """Return contrasts with corrected p, the better system and intervals that agree with p.

    ``test`` returns the contrasts with intervals of a level, and the ratings of each.
    """
    plan, scales = settings.plan, settings.named_scales
    contrasts = _withhold_all(test(plan.level))
    corrected = CORRECTIONS[plan.correction]([contrast.p for contrast in contrasts])
    level, alpha = simultaneous_level(plan.correction, plan.level, corrected), 1 - plan.level
    wide = contrasts if level == plan.level else _withhold_all(test(level))
    return tuple(
        replace(
            contrast,
            difference=agree_with_test(interval.difference, p, alpha),
            effect=interval.effect and agree_with_test(interval.effect, p, alpha),
            p_corrected=p,
            better=_better_system(contrast, p, alpha, scales.good_end(contrast.value)),
        )
        for contrast, interval, p in zip(contrasts, wide, corrected, strict=True)
    )


def _withhold_all(tested: Sequence[tuple[Contrast, CodedRatings]]) -> list[Contrast]:
    """Return contrasts, those with few votes without interval and p."""
    few = {id(coded): systems_with_few_votes(coded) for _, coded in tested}
    return [_withhold_few(contrast, few[id(coded)], coded.unit) for contrast, coded in tested]


def systems_with_few_votes(coded: CodedRatings) -> dict[str, str]:
    """Return the systems with too few listeners or votes to be ranked, with these numbers."""
    votes = coded.votes
    listeners = (votes.listener_sums()[1] > 0).sum(axis=0)
    counts = np.bincount(votes.systems, minlength=votes.size[0])
    return {
        name: f"{count_text(votes, 'vote')} by {count_text(people, 'listener')}"
        if coded.unit == "listener"
        else count_text(people, "item")
        for name, votes, people in zip(
            coded.systems, counts.tolist(), listeners.tolist(), strict=True
        )
        if has_few_votes(votes, people)
    }


def has_few_votes(votes: int, listeners: int) -> bool:
    """Return whether a system has too few votes or listeners to be ranked; it has some.

    A table of means has one value per item, in the place of votes and of listeners.
    """
    return votes > 0 and (
        votes < MIN_VOTES_FOR_DIFFERENCE or listeners < MIN_LISTENERS_FOR_DIFFERENCE
    )


def _withhold_few(contrast: Contrast, few: Mapping[str, str], unit: str) -> Contrast:
    short = [f"{name} has {few[name]}" for name in (contrast.a, contrast.b) if name in few]
    count = contrast.difference.n
    if not short and count < MIN_LISTENERS_FOR_DIFFERENCE and not isnan(contrast.p):
        short = [f"{count_text(count, unit)} {'with' if unit == 'item' else 'rated'} both"]
    return _withhold(contrast, f"not compared: {' and '.join(short)}") if short else contrast


def is_against_others(coded: CodedRatings) -> bool:
    """Return whether systems were rated relative to others."""
    return any(rating.against for rating in coded.ratings)


def planned_pairs(coded: CodedRatings, settings: AnalysisSettings) -> list[NamedPair]:
    """Return the planned pairs, or all pairs of systems that are not controls on the scale."""
    number_of = {name: number for number, name in enumerate(coded.systems)}
    controls = settings.controls_of(coded.scale)
    compete = [name for name in coded.systems if name not in controls]
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
    level: float,
) -> list[ContrastEstimate]:
    """Test pairs by the planned method; the mixed model takes effect sizes from t tests."""
    plan = settings.plan
    mixed = plan.interval == MIXED_MODEL
    by_listener = estimate_contrasts(
        votes,
        pairs,
        CLUSTER_T if mixed else plan.interval,
        level=level,
        draws=settings.draws,
        seed=settings.seed,
        test=plan.test,
    )
    if not mixed:
        return by_listener
    modelled = mixed_contrasts(votes, pairs, level=level, fitted=fitted)
    return [
        ContrastEstimate(*test, by_t.effect)
        for test, by_t in zip(modelled, by_listener, strict=True)
    ]


def _better_system(contrast: Contrast, p: float, alpha: float, good: str = "high") -> str:
    """Return the significantly better system, or nothing."""
    if good == "none" or not p < alpha:
        return ""
    return contrast.a if (contrast.difference.value > 0) == (good == "high") else contrast.b


# --- Rank tests ----------------------------------------------------------------------------------


def compare_ranks(coded: CodedRatings, settings: AnalysisSettings) -> FriedmanTest | None:
    """Return Friedman's test of the systems that are not controls, if rank tests are planned.

    None if systems were rated relative to others, or if fewer than three compete.
    """
    controls = settings.controls_of(coded.scale)
    compete = [n for n, name in enumerate(coded.systems) if name not in controls]
    if (
        settings.plan.test != WILCOXON
        or is_against_others(coded)
        or len(compete) < MIN_SYSTEMS_FOR_FRIEDMAN
    ):
        return None
    test = friedman_test(listener_means(drop_unvoted(coded.votes))[:, compete])
    return FriedmanTest(test.statistic, test.freedom, test.p, test.n, len(compete))


def rank_test_notes(
    coded: CodedRatings, settings: AnalysisSettings, friedman: FriedmanTest | None
) -> Iterator[str]:
    """Yield notes on rank tests that no listeners, or too few of them, can make significant."""
    if settings.plan.test != WILCOXON:
        return
    if friedman is not None and not friedman.listeners:
        verb = "has" if coded.unit == "item" else "rated"
        yield f"no {coded.unit} {verb} all systems, so there is no Friedman test"
    listeners = len(np.unique(coded.votes.listeners))
    pairs = len(planned_pairs(coded, settings)) if settings.plan.correction == "holm" else 1
    smallest = min(1.0, pairs * 2.0 ** (1 - listeners)) if listeners else 1.0
    if pairs and not smallest < 1 - settings.plan.level:
        yield (
            f"with {listeners} {coded.unit}s and {pairs} tests, p of the Wilcoxon test is at least "
            f"{smallest:.2g}, so no difference can be significant"
        )


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
    tests = _equivalence_of_disjoint(tests, coded, named, settings)
    corrected = CORRECTIONS[plan.correction]([test.p for test in tests])
    few = systems_with_few_votes(coded)
    return tuple(
        Equivalence(
            coded.scale,
            pair.a,
            pair.b,
            test.difference,
            test.smallest_margin,
            margin,
            test.p,
            p,
            shown=not {pair.a, pair.b} & {*few} and p < 1 - plan.level,
        )
        for pair, test, p in zip(named, tests, corrected, strict=True)
    )


def _equivalence_of_disjoint(
    tests: Sequence[EquivalenceTest],
    coded: CodedRatings,
    named: Sequence[NamedPair],
    settings: AnalysisSettings,
) -> list[EquivalenceTest]:
    """Return tests in which pairs that share few items are compared by the two-way test."""
    disjoint, tests = pairs_with_few_common_items(coded, named), [*tests]
    modelled = equivalence_tests(
        coded.votes,
        [named[number].pair for number in disjoint],
        settings.plan.margins.get(coded.scale, nan),
        TWO_WAY_T,
        level=settings.plan.level,
    )
    for number, test in zip(disjoint, modelled, strict=True):
        tests[number] = test
    return tests
