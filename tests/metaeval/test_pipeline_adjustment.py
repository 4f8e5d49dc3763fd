"""Systems that were rated on different items: means adjusted for these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import isnan

import numpy as np
import pytest

from earwitness.core import Key, Rating, Score
from earwitness.metaeval import figures
from earwitness.metaeval.coefficients import LEVELS
from earwitness.metaeval.join import MetricColumn
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.results import Figure, ScaleConcordance
from earwitness.metaeval.settings import AgreementSettings
from helpers.simulated_metrics import both

QUICK = AgreementSettings(at=LEVELS, draws=60, permutations=60, splits=10)
TAU = Figure("system", "kendall_b")


@pytest.fixture(scope="module", autouse=True)
def few_chance_metrics() -> Iterator[None]:
    """Nothing here is about the chance row, which takes longest where cells are missing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "CHANCE_METRIC_COUNT", 20)
        yield


def unbalanced(metric_knows_items: bool) -> ScoresAndRatings:
    """Better systems (later ones) were rated on harder items (later ones); neighbours share two.

    A metric knows how good systems are, and how hard items are or not.
    """
    scores, ratings = [], []
    for system in range(6):
        for item in range(system, system + 3):
            key = Key(f"item{item}", f"S{system}")
            hard = 3.0 * item
            told = system - hard if metric_knows_items else float(system)
            scores.append(Score(key, "knows", told))
            scores.append(Score(key, "turned", -float(system)))
            ratings += [Rating(key, "Q", rater, 1, 50 + system - hard) for rater in range(5)]
    return ScoresAndRatings(
        scores, [MetricColumn("knows"), MetricColumn("turned")], ratings, "unbalanced"
    )


@cache
def adjusted(metric_knows_items: bool) -> ScaleConcordance:
    """Of the study above, with means adjusted for items."""
    return of(unbalanced(metric_knows_items), QUICK)


@cache
def plain(metric_knows_items: bool) -> ScaleConcordance:
    """Of the study above, with plain means."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures.ScaleComparison, "at_level", lambda self, _: self)
        return of(unbalanced(metric_knows_items), QUICK)


def of(given: ScoresAndRatings, settings: AgreementSettings) -> ScaleConcordance:
    return analyse_agreement(given, settings).scales[0]


def test_plain_means_rank_systems_the_wrong_way_round_and_adjusted_ones_do_not() -> None:
    # Of system s on items s, s + 1, s + 2 the plain mean is 50 + s − 3 (s + 1): it falls by 2 a
    # system. Adjusted it is that of all eight items: 50 + s − 3 · 3.5.
    turned, right = plain(metric_knows_items=False), adjusted(metric_knows_items=False)
    assert [one.value for one in turned.people.values()] == pytest.approx(
        [50 + s - 3 * (s + 1) for s in range(6)]
    )
    assert [one.value for one in right.people.values()] == pytest.approx(
        [50 + s - 10.5 for s in range(6)]
    )
    assert [one.figures[TAU].value for one in turned.metrics] == [-1, 1]
    assert [one.figures[TAU].value for one in right.metrics] == [1, -1]
    assert right.ranked[0].groups[0][0] == "knows"


def test_a_metric_is_adjusted_as_people_are() -> None:
    metric = adjusted(metric_knows_items=True).metrics[0]
    assert metric.figures[TAU].value == 1
    means = [one.value for one in metric.systems.values()]
    assert means == pytest.approx([s - 10.5 for s in range(6)])
    assert metric.mapped[0].rmse.value == pytest.approx(0, abs=1e-6)


def test_it_is_said_that_means_are_adjusted_or_that_they_are_not() -> None:
    given = unbalanced(metric_knows_items=False)
    first = "Systems were rated on different items, so system means "
    assert f"{first}are adjusted for items" in adjusted(False).warnings
    assert any(one.startswith(f"{first}also reflect") for one in plain(False).warnings)
    few = replace(QUICK, draws=2, permutations=2, splits=2)
    assert "adjust=items" in analyse_agreement(given, few).signature
    alone = replace(
        given,
        ratings=[one for one in given.ratings if one.key.item != "item2" or one.key.system == "S2"],
    )
    alone = replace(
        alone,
        ratings=[one for one in alone.ratings if one.key.item != "item3" or one.key.system == "S3"],
    )
    told = of(alone, few).warnings
    assert any("cannot be adjusted, as some share no items" in one for one in told)


def test_other_levels_and_complete_studies_are_left_as_they_are() -> None:
    found = adjusted(metric_knows_items=True).metrics[0].figures
    for figure, own in plain(metric_knows_items=True).metrics[0].figures.items():
        if figure.level != "system":
            assert repr(found[figure]) == repr(own)
    whole, few = both(), replace(QUICK, draws=10, permutations=10, splits=3)
    adjusted_whole = repr(of(whole, few))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures.ScaleComparison, "at_level", lambda self, _: self)
        assert repr(of(whole, few)) == adjusted_whole


def test_curves_of_references_are_adjusted_too() -> None:
    given = unbalanced(metric_knows_items=True)
    full = [replace(one, references=2) for one in given.scores]
    fewer = [replace(one, references=1, draw=1) for one in given.scores]
    found = of(replace(given, scores=full, fewer=fewer), QUICK)
    (curve,) = (one for one in found.curves if one.what == "references" and one.figure == TAU)
    assert [row["knows"].value for _, row in curve.points] == [1, 1]
    assert not any(isnan(one.value) for _, row in curve.points for one in row.values())
    assert np.isfinite([one.rater.value for one in found.ceilings if one.figure == TAU]).all()
