"""Correlations of rubric dimensions, and contrasts without duplicate captions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from earwitness.core import Contrast, Key, Rating
from earwitness.stats.arrays import Floats
from earwitness.stats.effects import (
    ClusterResampling,
    centre_within_raters,
    clustered_pearson,
    clustered_spearman,
)
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes
from earwitness.studies.analysis.means import compared
from earwitness.studies.analysis.prepare import CodedRatings, coded
from earwitness.studies.analysis.settings import AnalysisSettings
from earwitness.studies.results import (
    ContrastWithoutDuplicates,
    Correlation,
    DifferenceTest,
    RubricResults,
)


class NameOrder(Protocol):
    """The order in which systems and items come."""

    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def items(self) -> tuple[str, ...]: ...


def rubric_results(
    ratings: Sequence[Rating],
    scales: Sequence[str],
    twice: Collection[Key],
    named: NameOrder,
    settings: AnalysisSettings,
) -> RubricResults | None:
    """Correlations of dimensions and contrasts without duplicates, where there is a rubric."""
    rubric = settings.rubric
    if rubric is None:
        return None
    own = [coded(ratings, name, named.systems, named.items) for name in scales]
    return RubricResults(
        rubric.name,
        rubric.total,
        settings.blank,
        tuple(name for name in rubric.names if name in scales),
        tuple(correlations(ratings, [n for n in rubric.names if n in scales], settings)),
        tuple(one for scale in own for one in _without(scale, twice, settings)),
    )


def correlations(
    ratings: Sequence[Rating], dimensions: Sequence[str], settings: AnalysisSettings
) -> Iterator[Correlation]:
    """Every two dimensions, over captions and within raters."""
    rows, items, raters, captions = _table(ratings, dimensions)
    means = _means(rows, captions)
    first = np.unique(captions, return_index=True)[1]
    drawn = ClusterResampling(settings.plan.level, settings.draws, settings.seed)
    for a, b in combinations(range(len(dimensions)), 2):
        x, y = means[:, a], means[:, b]
        centred = centre_within_raters(rows[:, [a, b]], raters)
        yield Correlation(
            dimensions[a],
            dimensions[b],
            clustered_pearson(x, y, items[first], drawn),
            clustered_spearman(x, y, items[first], drawn),
            clustered_pearson(centred[:, 0], centred[:, 1], items, drawn),
        )


def _table(
    ratings: Sequence[Rating], dimensions: Sequence[str]
) -> tuple[Floats, Codes, Codes, Codes]:
    """A row a rater and caption, a column a dimension; and the numbers of item, rater, caption."""
    place = {name: number for number, name in enumerate(dimensions)}
    cells: dict[tuple[Key, object], list[float]] = {}
    for one in ratings:
        if one.scale in place:
            row = cells.setdefault((one.key, one.listener), [np.nan] * len(place))
            row[place[one.scale]] = one.value
    items, raters, captions = (
        _numbered([key.item for key, _ in cells]),
        _numbered([who for _, who in cells]),
        _numbered([key for key, _ in cells]),
    )
    table = np.array(list(cells.values()), np.float64).reshape(-1, len(place))
    return table, items, raters, captions


def _numbered(names: Sequence[object]) -> Codes:
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64)


def _means(rows: Floats, captions: Codes) -> Floats:
    """Means over raters, a row a caption."""
    known, count = ~np.isnan(rows), int(captions.max(initial=-1)) + 1
    total, n = np.zeros((count, rows.shape[1])), np.zeros((count, rows.shape[1]))
    np.add.at(total, captions, np.where(known, rows, 0))
    np.add.at(n, captions, known)
    return ratio(total, n)


def _without(
    scale: CodedRatings, twice: Collection[Key], settings: AnalysisSettings
) -> Iterator[ContrastWithoutDuplicates]:
    """Contrasts of a scale with all captions, and without those that stand in two places."""
    kept = [one.key not in twice for one in scale.ratings]
    if all(kept) or not any(kept):
        return
    rest = scale.chosen(kept)
    every = _by_pair(compared(scale, settings, None))
    for pair, left in _by_pair(compared(rest, settings, None)).items():
        counts = (_common(scale, pair), _common(rest, pair))
        yield ContrastWithoutDuplicates(
            scale.scale, *pair, _tested(every[pair]), _tested(left), *counts
        )


def _by_pair(contrasts: Sequence[Contrast]) -> Mapping[tuple[str, str], Contrast]:
    return {(one.a, one.b): one for one in contrasts}


def _tested(contrast: Contrast) -> DifferenceTest:
    return DifferenceTest(contrast.difference, contrast.p, contrast.p_corrected)


def _common(scale: CodedRatings, pair: tuple[str, str]) -> int:
    """Items that were rated in both systems."""
    own = [{one.key.item for one in scale.ratings if one.key.system == name} for name in pair]
    return len(own[0] & own[1])
