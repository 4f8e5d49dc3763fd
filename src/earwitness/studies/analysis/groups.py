"""Results by groups of items or listeners, and interactions between groups.

Every cell has its means by the planned method and its n. Contrasts are tested within each group,
and how much they differ between groups is tested too: that a difference is found in one group and
not in another is no proof that groups differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from earwitness.core import Estimate, Rating
from earwitness.errors import UsageError, nearest
from earwitness.stats.contrasts import group_contrasts, group_differences, mixed_group_contrasts
from earwitness.stats.significance import CORRECTIONS
from earwitness.stats.votes import Codes
from earwitness.studies.analysis.agreement import agreement
from earwitness.studies.analysis.means import (
    against_others,
    compared,
    mean_estimates,
    planned,
    with_correction,
)
from earwitness.studies.analysis.prepare import CodedRatings
from earwitness.studies.analysis.settings import AnalysisSettings
from earwitness.studies.results import (
    DifferenceTest,
    FieldGroups,
    Grouping,
    Groupings,
    GroupMean,
    GroupResults,
    Interaction,
    Who,
)
from earwitness.studies.study import MIXED_MODEL

MAX_GROUPS = 12  # groups of a field
NO_GROUP = -1


def check_groups(by: Sequence[str], known: Groupings, ratings: Sequence[Rating]) -> None:
    """Refuse fields that nothing is known of, and those that divide too finely."""
    for name in by:
        if name not in known:
            raise UsageError(f'by: nothing is known of "{name}" — {nearest(name, known)}')
        found = {known[name].group(one) for one in ratings} - {""}
        if len(found) > MAX_GROUPS:
            raise UsageError(
                f'by: "{name}" has {len(found)} groups — at most {MAX_GROUPS} can be told'
            )


def grouped(
    coded: CodedRatings, known: Groupings, settings: AnalysisSettings
) -> Iterator[FieldGroups]:
    """One scale by every field that is asked for."""
    for name in settings.plan.by:
        grouping = known[name]
        parts = _parts(coded, grouping)
        if parts:
            groups = tuple(_groups(parts, grouping, settings))
            found = () if against_others(coded) else _interactions(coded, grouping, parts, settings)
            yield FieldGroups(name, grouping.of, groups, tuple(found))


def _parts(coded: CodedRatings, grouping: Grouping) -> dict[str, CodedRatings]:
    """Ratings of every group, in the order in which groups are known."""
    labels = [grouping.group(one) for one in coded.ratings]
    names = [one for one in dict.fromkeys(grouping.groups.values()) if one and one in {*labels}]
    return {name: coded.chosen([label == name for label in labels]) for name in names}


def _groups(
    parts: Mapping[str, CodedRatings], grouping: Grouping, settings: AnalysisSettings
) -> Iterator[GroupResults]:
    """Means and contrasts; p is corrected over all groups and pairs."""
    own = {name: compared(part, settings, None) for name, part in parts.items()}
    every = [(one, parts[name]) for name, found in own.items() for one in found]
    corrected = iter(with_correction([c for c, _ in every], settings, [p for _, p in every]))
    for name, part in parts.items():
        contrasts = tuple(next(corrected) for _ in own[name])
        agreed = agreement(part, settings)[:1] if grouping.of == "listener" else ()
        figures = agreed[0].figures if agreed else {}
        yield GroupResults(name, _means(part, settings), contrasts, figures)


def _means(part: CodedRatings, settings: AnalysisSettings) -> dict[str, GroupMean]:
    found = mean_estimates(part, settings.plan.interval, settings)
    votes, made = part.votes, {}
    for number, name in enumerate(part.systems):
        own = votes.select(votes.systems == number)
        counts = len(own.values), len(np.unique(own.listeners)), len(np.unique(own.items))
        made[name] = GroupMean(found[name], *counts)
    return made


def _interactions(
    coded: CodedRatings,
    grouping: Grouping,
    parts: Mapping[str, CodedRatings],
    settings: AnalysisSettings,
) -> Iterator[Interaction]:
    """How much every contrast differs between every two groups, corrected over all of them."""
    names, codes = list(parts), _codes(coded, grouping, list(parts))
    pairs = list(combinations(range(len(names)), 2))
    places = [(one, pair) for one in planned(coded, settings) for pair in pairs]
    first, second = _tested(coded, grouping, codes, pairs, settings)
    for number, (one, (a, b)) in enumerate(places):
        model = second[number] if second else None
        yield Interaction(one.a, one.b, names[a], names[b], first[number], model)


def _codes(coded: CodedRatings, grouping: Grouping, names: Sequence[str]) -> Codes:
    """The number of the group of every item, or listener."""
    place = {name: number for number, name in enumerate(names)}
    known: Sequence[Who] = coded.items if grouping.of == "item" else coded.listeners
    return np.array([place.get(grouping.groups.get(one, ""), NO_GROUP) for one in known], np.int64)


def _tested(
    coded: CodedRatings,
    grouping: Grouping,
    codes: Codes,
    pairs: Sequence[tuple[int, int]],
    settings: AnalysisSettings,
) -> tuple[list[DifferenceTest], list[DifferenceTest]]:
    """By the planned method, and by the mixed model where it is fitted beside."""
    plan, of_listeners = settings.plan, grouping.of == "listener"
    by_t, by_model = list[tuple[Estimate, float]](), list[tuple[Estimate, float]]()
    for one in planned(coded, settings):
        rows = group_differences(coded.votes, one.pair, codes, of_listeners=of_listeners)
        if MIXED_MODEL in settings.methods:
            by_model += mixed_group_contrasts(rows, pairs, level=plan.level)
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
        return _corrected(by_model, settings), []
    return _corrected(by_t, settings), _corrected(by_model, settings)


def _corrected(
    found: Sequence[tuple[Estimate, float]], settings: AnalysisSettings
) -> list[DifferenceTest]:
    corrected = CORRECTIONS[settings.plan.correction]([p for _, p in found])
    return [DifferenceTest(one, p, own) for (one, p), own in zip(found, corrected, strict=True)]
