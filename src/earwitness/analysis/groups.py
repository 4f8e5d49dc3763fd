"""Results by groups of items or listeners, and interactions between groups.

Every cell has means by the planned method, and n. Contrasts are tested within each group. The
interaction is tested separately: a difference that is significant in one group and not in another
does not show that the groups differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice

import numpy as np

from earwitness.analysis.agreement import measure_agreement
from earwitness.analysis.means import (
    contrast_systems,
    correct_contrasts,
    is_against_others,
    mean_estimates,
    planned_pairs,
)
from earwitness.analysis.plan import MIXED_MODEL
from earwitness.analysis.prepare import CodedRatings
from earwitness.analysis.results import (
    DifferenceTest,
    FieldGroups,
    GroupMean,
    GroupResults,
    Interaction,
)
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Contrast, Estimate, Rating
from earwitness.errors import UsageError, nearest
from earwitness.ratings.records import Grouping, Groupings, Who
from earwitness.stats.contrasts import group_contrasts, group_differences
from earwitness.stats.mixed_model import mixed_contrasts
from earwitness.stats.significance import CORRECTIONS
from earwitness.stats.votes import Codes

MAX_GROUPS = 12  # more groups per field are refused
NO_GROUP = -1


def check_groups(by: Sequence[str], groupings: Groupings, ratings: Sequence[Rating]) -> None:
    """Raise UsageError for unknown fields and for fields with too many groups."""
    for name in by:
        if name not in groupings:
            raise UsageError(f'by: unknown field "{name}" — {nearest(name, groupings)}')
        labels = {groupings[name].group(rating) for rating in ratings} - {""}
        if len(labels) > MAX_GROUPS:
            raise UsageError(
                f'by: "{name}" has {len(labels)} groups — use a field with at most {MAX_GROUPS}'
            )


def group_results(
    coded: CodedRatings, groupings: Groupings, settings: AnalysisSettings
) -> Iterator[FieldGroups]:
    """Yield the results of one scale by each requested field."""
    for name in settings.plan.by:
        grouping = groupings[name]
        parts = _split_ratings(coded, grouping)
        if parts:
            groups = tuple(_results_of_groups(parts, grouping, settings))
            interactions = (
                ()
                if is_against_others(coded)
                else _test_interactions(coded, grouping, parts, settings)
            )
            yield FieldGroups(name, grouping.of, groups, tuple(interactions))


def _split_ratings(coded: CodedRatings, grouping: Grouping) -> dict[str, CodedRatings]:
    """Return the ratings of each group, in the order of groups."""
    labels = [grouping.group(name) for name in coded.ratings]
    names = [name for name in dict.fromkeys(grouping.groups.values()) if name and name in {*labels}]
    return {name: coded.chosen([label == name for label in labels]) for name in names}


def _results_of_groups(
    parts: Mapping[str, CodedRatings], grouping: Grouping, settings: AnalysisSettings
) -> Iterator[GroupResults]:
    """Yield means and contrasts; p is corrected across all groups and pairs."""

    @cache
    def test(level: float) -> list[tuple[Contrast, CodedRatings]]:
        return [
            (contrast, part)
            for part in parts.values()
            for contrast in contrast_systems(part, settings, None, level)
        ]

    sizes = Counter(id(part) for _, part in test(settings.plan.level))
    corrected = iter(correct_contrasts(test, settings))
    for name, part in parts.items():
        contrasts = tuple(islice(corrected, sizes[id(part)]))
        agreed = measure_agreement(part, settings)[:1] if grouping.of == "listener" else ()
        figures = agreed[0].figures if agreed else {}
        yield GroupResults(name, _group_means(part, settings), contrasts, figures)


def _group_means(part: CodedRatings, settings: AnalysisSettings) -> dict[str, GroupMean]:
    estimates = mean_estimates(part, settings.mean_method, settings)
    votes, means = part.votes, {}
    for number, name in enumerate(part.systems):
        system_votes = votes.select(votes.systems == number)
        counts = (
            len(system_votes.values),
            len(np.unique(system_votes.listeners)) if part.unit == "listener" else 0,
            len(np.unique(system_votes.items)),
        )
        means[name] = GroupMean(estimates[name], *counts)
    return means


def _test_interactions(
    coded: CodedRatings,
    grouping: Grouping,
    parts: Mapping[str, CodedRatings],
    settings: AnalysisSettings,
) -> Iterator[Interaction]:
    """Yield the interaction of each contrast with each pair of groups, p corrected across all."""
    names, codes = list(parts), _group_codes(coded, grouping, list(parts))
    pairs = list(combinations(range(len(names)), 2))
    places = [
        (planned_pair, pair) for planned_pair in planned_pairs(coded, settings) for pair in pairs
    ]
    first, second = _test_groups(coded, grouping, codes, pairs, settings)
    for number, (planned_pair, (a, b)) in enumerate(places):
        model = second[number] if second else None
        yield Interaction(planned_pair.a, planned_pair.b, names[a], names[b], first[number], model)


def _group_codes(coded: CodedRatings, grouping: Grouping, group_names: Sequence[str]) -> Codes:
    """Return the group number of each item or listener."""
    place = {name: number for number, name in enumerate(group_names)}
    names: Sequence[Who] = coded.items if grouping.of == "item" else coded.listeners
    return np.array(
        [place.get(grouping.groups.get(name, ""), NO_GROUP) for name in names], np.int64
    )


def _test_groups(
    coded: CodedRatings,
    grouping: Grouping,
    codes: Codes,
    pairs: Sequence[tuple[int, int]],
    settings: AnalysisSettings,
) -> tuple[list[DifferenceTest], list[DifferenceTest]]:
    """Return tests by the planned method, and by the mixed model if it is also fitted."""
    plan = settings.plan
    of_listeners = grouping.of == "listener" or settings.is_over_items  # groups of units
    by_t, by_model = list[tuple[Estimate, float]](), list[tuple[Estimate, float]]()
    for planned_pair in planned_pairs(coded, settings):
        rows = group_differences(coded.votes, planned_pair.pair, codes, of_listeners=of_listeners)
        if MIXED_MODEL in settings.methods:
            by_model += mixed_contrasts(rows, pairs, level=plan.level)
        if plan.interval != MIXED_MODEL:
            by_t += group_contrasts(
                rows,
                pairs,
                plan.interval,
                of_listeners=of_listeners,
                level=plan.level,
                draws=settings.draws,
                seed=settings.seed,
            )
    if plan.interval == MIXED_MODEL:
        return _correct_tests(by_model, settings), []
    return _correct_tests(by_t, settings), _correct_tests(by_model, settings)


def _correct_tests(
    tests: Sequence[tuple[Estimate, float]], settings: AnalysisSettings
) -> list[DifferenceTest]:
    corrected = CORRECTIONS[settings.plan.correction]([p for _, p in tests])
    return [
        DifferenceTest(difference, p, p_corrected)
        for (difference, p), p_corrected in zip(tests, corrected, strict=True)
    ]
