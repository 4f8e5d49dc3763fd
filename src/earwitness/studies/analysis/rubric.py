"""Correlations between rubric dimensions, and contrasts without duplicate captions."""

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
from earwitness.studies.analysis.means import compare_systems
from earwitness.studies.analysis.prepare import CodedRatings, code_ratings
from earwitness.studies.analysis.settings import AnalysisSettings
from earwitness.studies.results import (
    ContrastWithoutDuplicates,
    Correlation,
    DifferenceTest,
    RubricResults,
)


class NameOrder(Protocol):
    """Order of systems and items."""

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
    """Return correlations and contrasts without duplicates, or None without a rubric."""
    rubric = settings.rubric
    if rubric is None:
        return None
    coded_scales = [code_ratings(ratings, name, named.systems, named.items) for name in scales]
    return RubricResults(
        rubric.name,
        rubric.total,
        settings.blank,
        tuple(name for name in rubric.names if name in scales),
        tuple(dimension_correlations(ratings, [n for n in rubric.names if n in scales], settings)),
        tuple(
            contrast
            for scale in coded_scales
            for contrast in _contrasts_without(scale, twice, settings)
        ),
    )


def dimension_correlations(
    ratings: Sequence[Rating], dimensions: Sequence[str], settings: AnalysisSettings
) -> Iterator[Correlation]:
    """Yield the correlation of each pair of dimensions, over captions and within raters."""
    rows, items, raters, captions = _dimension_table(ratings, dimensions)
    means = _caption_means(rows, captions)
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


def _dimension_table(
    ratings: Sequence[Rating], dimensions: Sequence[str]
) -> tuple[Floats, Codes, Codes, Codes]:
    """Return a table of votes by rater and caption × dimension, with codes of its rows."""
    place = {name: number for number, name in enumerate(dimensions)}
    cells: dict[tuple[Key, object], list[float]] = {}
    for rating in ratings:
        if rating.scale in place:
            row = cells.setdefault((rating.key, rating.listener), [np.nan] * len(place))
            row[place[rating.scale]] = rating.value
    items, raters, captions = (
        _number_names([key.item for key, _ in cells]),
        _number_names([who for _, who in cells]),
        _number_names([key for key, _ in cells]),
    )
    table = np.array(list(cells.values()), np.float64).reshape(-1, len(place))
    return table, items, raters, captions


def _number_names(names: Sequence[object]) -> Codes:
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([number_of[name] for name in names], np.int64)


def _caption_means(rows: Floats, captions: Codes) -> Floats:
    """Return means over raters, one row per caption."""
    is_rated, count = ~np.isnan(rows), int(captions.max(initial=-1)) + 1
    total, n = np.zeros((count, rows.shape[1])), np.zeros((count, rows.shape[1]))
    np.add.at(total, captions, np.where(is_rated, rows, 0))
    np.add.at(n, captions, is_rated)
    return ratio(total, n)


def _contrasts_without(
    scale: CodedRatings, twice: Collection[Key], settings: AnalysisSettings
) -> Iterator[ContrastWithoutDuplicates]:
    """Yield the contrasts of a scale with and without duplicate captions."""
    kept = [rating.key not in twice for rating in scale.ratings]
    if all(kept) or not any(kept):
        return
    remaining = scale.chosen(kept)
    all_contrasts = _contrast_by_pair(compare_systems(scale, settings, None))
    for pair, left in _contrast_by_pair(compare_systems(remaining, settings, None)).items():
        counts = (_count_common_items(scale, pair), _count_common_items(remaining, pair))
        yield ContrastWithoutDuplicates(
            scale.scale,
            *pair,
            _difference_test(all_contrasts[pair]),
            _difference_test(left),
            *counts,
        )


def _contrast_by_pair(contrasts: Sequence[Contrast]) -> Mapping[tuple[str, str], Contrast]:
    return {(contrast.a, contrast.b): contrast for contrast in contrasts}


def _difference_test(contrast: Contrast) -> DifferenceTest:
    return DifferenceTest(contrast.difference, contrast.p, contrast.p_corrected)


def _count_common_items(scale: CodedRatings, pair: tuple[str, str]) -> int:
    """Return the number of items rated for both systems."""
    items_of = [
        {rating.key.item for rating in scale.ratings if rating.key.system == name} for name in pair
    ]
    return len(items_of[0] & items_of[1])
