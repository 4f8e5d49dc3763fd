"""Which metrics have a place in a ranking, and what is said of those that have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from earwitness.core import Key
from earwitness.metaeval.join import MetricColumn
from earwitness.metaeval.pipeline import ScoresAndRatings, analyse_agreement
from earwitness.metaeval.report import caution_parts
from earwitness.metaeval.results import Concordance, MetricRanking
from earwitness.metaeval.settings import AgreementSettings
from earwitness.output_formats import render
from helpers.simulated_metrics import both

QUICK = AgreementSettings(draws=60, permutations=60, splits=10)
REST = ("fair", "noise")


def with_close(
    change: Callable[[Key, float], float | None], given: ScoresAndRatings | None = None
) -> ScoresAndRatings:
    """A study whose best metric says something else, or nothing where that is None."""
    given = given or both()
    scores = []
    for one in given.scores:
        new = change(one.key, one.value) if one.metric == "close" else one.value
        scores += [] if new is None else [replace(one, value=new)]
    return replace(given, scores=scores)


def rank_of(found: Concordance, level: str) -> MetricRanking:
    return next(one for one in found.scales[0].ranked if one.figure.level == level)


def test_a_metric_that_is_constant_on_most_items_has_no_place() -> None:
    given = with_close(lambda key, value: value if key.item in ("item0", "item1") else 3.0)
    found = analyse_agreement(given, QUICK)
    rank = rank_of(found, "item")
    own = found.scales[0].metrics[0].figures[rank.figure]
    best = max(one.figures[rank.figure].value for one in found.scales[0].metrics)
    assert own.value == best  # it would lead
    assert [name for group in rank.groups for name in group] == list(REST)
    assert dict(rank.aside) == {"close": "its value is based on only 2 of 10 items"}
    assert not [
        one
        for one in found.scales[0].apart
        if one.figure.level == "item" and "close" in (one.a, one.b)
    ]
    assert rank_of(found, "system").aside == {}
    text = render(found, "text")
    assert (
        "ranking of outputs within items: close is not ranked: its value is based on only 2 of 10 "
        "items" in text
    )
    finding = "No metric is significantly worse than the best in ranking outputs within items"
    assert finding in text
    assert "; fair has the highest value (Kendall's τ-b" in " ".join(text.split())


def test_half_of_the_items_are_enough_for_a_place() -> None:
    some = tuple(f"item{n}" for n in range(5))
    found = analyse_agreement(
        with_close(lambda key, value: value if key.item in some else 3.0), QUICK
    )
    assert rank_of(found, "item").aside == {}
    assert rank_of(found, "item").groups[0][0] == "close"


def test_items_on_which_people_say_the_same_are_held_against_no_metric() -> None:
    given = both()
    alike = tuple(f"item{n}" for n in range(6))
    ratings = [replace(one, value=3.0) if one.key.item in alike else one for one in given.ratings]
    rank = rank_of(analyse_agreement(replace(given, ratings=ratings), QUICK), "item")
    assert rank.aside == {}


def test_a_metric_that_knows_few_systems_has_no_place_among_systems() -> None:
    given = with_close(lambda key, value: value if key.system in ("S0", "S1", "S2") else None)
    rank = rank_of(analyse_agreement(given, QUICK), "system")
    assert dict(rank.aside) == {"close": "its value is based on only 3 of 8 systems"}


def test_a_metric_that_always_says_the_same_is_shown_without_a_place() -> None:
    found = analyse_agreement(with_close(lambda *_: 3.0), QUICK)
    for level in ("system", "item"):
        assert dict(rank_of(found, level).aside) == {"close": "its value is undefined"}
    assert any(line.split()[:2] == ["close", "–"] for line in render(found, "text").splitlines())
    alone = replace(both(), metrics=[MetricColumn("close")])
    nobody = analyse_agreement(with_close(lambda *_: 3.0, alone), QUICK)
    assert "No metric has a defined value" in render(nobody, "text")
    some = with_close(lambda key, value: value if key.item == "item0" else 3.0, alone)
    assert "No metric has enough values to be ranked in ranking outputs within items" in render(
        analyse_agreement(some, QUICK), "text"
    )


def test_where_one_rater_does_that_is_said_and_not_that_one_is_enough() -> None:
    given = both(systems=8)
    truth = {f"S{n}": float(n) for n in range(8)}
    scores = [replace(one, value=truth[one.key.system]) for one in given.scores]
    ratings = [replace(one, value=truth[one.key.system]) for one in given.ratings]
    found = analyse_agreement(replace(given, scores=scores, ratings=ratings), QUICK)
    told = [line for lines in caution_parts(found) for line in lines.lines]
    assert (
        "to rank systems, even 1 rater per output gives about the same agreement (available: 6)"
        in told
    )
    assert not any("enough" in line for line in told)


def _with_references(draws: int, count: int = 1) -> list[str]:
    """Cautions of scores with four references, and the same scores for each draw of fewer."""
    given = both()
    full = [replace(one, references=4) for one in given.scores]
    fewer = [
        replace(one, references=count, draw=draw)
        for draw in range(1, draws + 1)
        for one in given.scores
    ]
    found = analyse_agreement(replace(given, scores=full, fewer=fewer), QUICK)
    curves = [one for one in found.scales[0].curves if one.what == "references"]
    assert len(curves) == 2
    for curve in curves:
        assert curve.enough["close"] == (1 if draws >= 5 and count == 1 else None)
    told = [line for lines in caution_parts(found) for line in lines.lines]
    return [line for line in told if "reference" in line]


@pytest.mark.parametrize(("draws", "count"), [(1, 1), (4, 2), (5, 3)])
def test_without_a_range_of_draws_no_number_of_references_is_called_enough(
    draws: int, count: int
) -> None:
    (line,) = _with_references(draws, count)  # once, for both levels
    assert line.startswith("how many references are enough for close")
    assert line.endswith(
        "cannot be said: score with half of them or fewer in at least 5 draws (--reference-counts)"
    )


def test_with_a_range_of_draws_a_number_of_references_may_be_enough() -> None:
    told = _with_references(5)
    assert len(told) == 2
    assert all(line.endswith("gives about the same agreement (available: 4)") for line in told)
