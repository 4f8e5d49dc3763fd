"""Correlations between rubric dimensions, and contrasts without rows that have faults."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan
from typing import NamedTuple, Protocol

import numpy as np

from earwitness.analysis.effects import number_names
from earwitness.analysis.means import compare_systems
from earwitness.analysis.prepare import CodedRatings, code_ratings, has_choices
from earwitness.analysis.results import (
    AlternativeContrast,
    Correlation,
    DifferenceTest,
    RubricResults,
)
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Contrast, Key, Rating, count_text
from earwitness.ratings.records import Who
from earwitness.ratings.rubric import TOTAL, Rubric
from earwitness.stats.arrays import Floats
from earwitness.stats.effects import (
    ClusterResampling,
    centre_within_raters,
    clustered_pearson,
    clustered_spearman,
)
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Correlations between dimensions -------------------------------------------------------------


def rubric_results(
    rubric: Rubric,
    ratings: Sequence[Rating],
    scales: Sequence[str],
    settings: AnalysisSettings,
    *,
    published: bool = False,
) -> RubricResults:
    """Return correlations between the dimensions of a rubric."""
    return RubricResults(
        rubric.name,
        rubric.total,
        settings.blank,
        tuple(name for name in rubric.names if name in scales),
        tuple(dimension_correlations(ratings, [n for n in rubric.names if n in scales], settings)),
        published,
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
        pearson = clustered_pearson(x, y, items[first], drawn)
        spearman = clustered_spearman(x, y, items[first], drawn)
        if settings.is_over_items:  # raters are not known
            within = replace(pearson, value=nan, low=nan, high=nan, n=0)
        else:
            centred = centre_within_raters(rows[:, [a, b]], raters)
            within = clustered_pearson(centred[:, 0], centred[:, 1], items, drawn)
        yield Correlation(dimensions[a], dimensions[b], pearson, spearman, within)


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
    table = np.array(list(cells.values()), np.float64).reshape(-1, len(place))
    return (
        table,
        number_names([key.item for key, _ in cells]),
        number_names([who for _, who in cells]),
        number_names([key for key, _ in cells]),
    )


def _caption_means(rows: Floats, captions: Codes) -> Floats:
    """Return means over raters, one row per caption."""
    is_rated, count = ~np.isnan(rows), int(captions.max(initial=-1)) + 1
    total, n = np.zeros((count, rows.shape[1])), np.zeros((count, rows.shape[1]))
    np.add.at(total, captions, np.where(is_rated, rows, 0))
    np.add.at(n, captions, is_rated)
    return ratio(total, n)


# --- Contrasts with and without faulty rows ------------------------------------------------------
# It is often unknown which of two rows is wrong, or what a blank would have been. Where such rows
# were kept, or dropped, the other result is reported too.


FORMULA_TOTALS_TEXT = "with totals computed from the means"


class FaultyRatings(Protocol):
    """Order of systems and items, and rows with blanks and totals as in ``RatingsWithTotals``."""

    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def items(self) -> tuple[str, ...]: ...
    @property
    def blank_rows(self) -> frozenset[tuple[Key, Who]]: ...
    @property
    def blank_totals(self) -> tuple[Rating, ...]: ...
    @property
    def formula_totals(self) -> tuple[Rating, ...]: ...


class _Alternative(NamedTuple):
    """Ratings of all rows, and those that remain, or are used instead."""

    text: str
    every: Sequence[Rating]
    rest: Sequence[Rating]


def alternative_contrasts(
    ratings: Sequence[Rating],
    scales: Sequence[str],
    duplicates: Collection[Key],
    repeated: Collection[Key],
    faulty: FaultyRatings,
    settings: AnalysisSettings,
) -> Iterator[AlternativeContrast]:
    """Yield contrasts with all rows and without those that have a fault, where these differ.

    Faults are ``duplicates`` of captions, outputs of a table of means with ``repeated`` rows, and
    blanks. With all rows, blanks count as 0 in totals where that is on the scale.
    """
    for alternative in _alternatives(ratings, duplicates, repeated, faulty):
        for name in scales:
            every, rest = (
                code_ratings(rows, name, faulty.systems, faulty.items)
                for rows in (alternative.every, alternative.rest)
            )
            is_changed = every.ratings != rest.ratings and every.ratings and rest.ratings
            if is_changed and not has_choices(every.ratings):
                yield from _compare_both(alternative.text, every, rest, settings)


def _alternatives(
    ratings: Sequence[Rating],
    duplicates: Collection[Key],
    repeated: Collection[Key],
    faulty: FaultyRatings,
) -> Iterator[_Alternative]:
    rated = {rating.key for rating in ratings}
    for keys, noun, more in (
        (rated & {*duplicates}, "duplicate caption", ""),
        (rated & {*repeated}, "output", " with several rows"),
    ):
        if keys:
            rest = [rating for rating in ratings if rating.key not in keys]
            yield _Alternative(f"without {count_text(len(keys), noun)}{more}", ratings, rest)
    listeners = {rating.listener for rating in ratings} if faulty.blank_rows else set()
    if blanks := {row for row in faulty.blank_rows if row[1] in listeners}:
        every = [*ratings, *(total for total in faulty.blank_totals if total.listener in listeners)]
        rest = [rating for rating in ratings if (rating.key, rating.listener) not in blanks]
        yield _Alternative(f"without {count_text(len(blanks), 'row')} with a blank", every, rest)
    if faulty.formula_totals:
        others = [rating for rating in ratings if rating.scale != TOTAL]
        yield _Alternative(FORMULA_TOTALS_TEXT, ratings, [*others, *faulty.formula_totals])


def _compare_both(
    text: str, every: CodedRatings, rest: CodedRatings, settings: AnalysisSettings
) -> Iterator[AlternativeContrast]:
    all_contrasts = _contrast_by_pair(compare_systems(every, settings, None))
    for pair, left in _contrast_by_pair(compare_systems(rest, settings, None)).items():
        if pair in all_contrasts:
            yield AlternativeContrast(
                every.scale,
                *pair,
                text,
                _difference_test(all_contrasts[pair]),
                _difference_test(left),
                _count_common_items(every, pair),
                _count_common_items(rest, pair),
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
