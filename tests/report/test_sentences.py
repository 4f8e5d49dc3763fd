"""Sentences about compared systems: the finding first, and never more than was tested."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.parts import Matrix
from earwitness.report.sentences import (
    FindingContext,
    Topic,
    better_sentences,
    comparison_sentences,
    finding_sentences,
    leading_group,
    shorten_topics,
)

F1 = Value("f1", "high", 0, 1, "")
ERROR = Value("error", "low", 0, 1, "")
ITEMS = FindingContext("24 items", 0.05)
NAN = float("nan")


def at(value: float) -> Estimate:
    return Estimate(value, value - 0.05, value + 0.05, 0.95, 24, 0, "")


def matrix(means: dict[str, float], value: Value = F1, **better: str) -> Matrix:
    """Return all pairs; ``ab="a"`` says that a is better than b, "?" that it cannot be tested."""
    contrasts = []
    for a, b in combinations(means, 2):
        said = better.get(a + b, "")
        p = NAN if said == "?" else 0.0012 if said else 0.4
        winner = said if said in means else ""
        contrasts.append(Contrast(value.name, a, b, at(means[a] - means[b]), p, p, winner))
    return Matrix(value.name, value, {name: at(x) for name, x in means.items()}, tuple(contrasts))


def only(part: Matrix) -> str:
    (sentence,) = comparison_sentences(part, ITEMS)
    return sentence


def test_a_winner_is_named_with_difference_interval_and_p() -> None:
    assert only(matrix({"a": 0.2, "b": 0.7}, ab="b")) == (
        "b is significantly better than a by f1 "
        "(0.700; difference 0.500 [0.450, 0.550], p = 0.0012, 24 items)"
    )
    three = matrix({"a": 0.7, "b": 0.5, "c": 0.4}, ab="a", ac="a")
    assert only(three) == (
        "a is significantly better than b and c by f1 "
        "(0.700; difference from b 0.200 [0.150, 0.250], p = 0.0012, 24 items)"
    )


def test_a_difference_on_fewer_items_says_so() -> None:
    context = FindingContext("30 items", 0.05, unit="items")
    (sentence,) = comparison_sentences(matrix({"a": 0.2, "b": 0.7}, ab="b"), context)
    assert sentence.endswith("p = 0.0012, 24 items)")


def test_lower_errors_lead() -> None:
    assert only(matrix({"a": 0.3, "b": 0.1}, ERROR, ab="b")).startswith(
        "b is significantly better than a by error (0.100; difference −0.200 [−0.250, −0.150], "
    )


def test_systems_that_lead_together_are_named_together() -> None:
    part = matrix({"a": 0.72, "b": 0.7, "c": 0.4}, ac="a", bc="b")
    assert leading_group(part) == ["a", "b"]
    assert only(part) == (
        "a and b lead by f1 and do not differ significantly (0.720 to 0.700; difference 0.320 "
        "[0.270, 0.370], p = 0.0012, 24 items); both are significantly better than c"
    )


@pytest.mark.parametrize(("a", "b"), [(0.7, 0.7), (0.72, 0.7)])
def test_a_system_that_only_some_leaders_beat_is_not_said_to_equal_all(a: float, b: float) -> None:
    sentence = only(matrix({"a": a, "b": b, "c": 0.4}, ac="a"))
    assert sentence.startswith("a and b lead by f1 and do not differ significantly (0.7")
    assert sentence.endswith(
        "; c is significantly worse than a, not significantly different from b"
    )


def test_several_ways_of_differing_from_leaders_are_one_clause() -> None:
    part = matrix({"a": 0.72, "b": 0.7, "c": 0.4, "d": 0.3}, ac="a", bd="b")
    assert only(part).endswith("; c and d are significantly worse than some of them")


def test_a_leader_that_cannot_be_tested_claims_nothing() -> None:
    sentence = only(matrix({"a": 0.7, "b": 0.5, "c": 0.1}, ab="?", ac="?", bc="b"))
    assert sentence == "a leads by f1 (0.700, 24 items); it is not testable against b and c"
    assert "significant" not in sentence


def test_noise_is_said_first_with_pairs_size_and_alpha() -> None:
    one = matrix({"a": 0.5, "b": 0.52, "c": 0.51})
    assert only(one) == (
        "No significant difference between systems was found by f1 "
        "(3 pairs tested, 24 items, alpha = 0.05); b leads (0.520)"
    )
    other = matrix({"a": 0.2, "b": 0.2, "c": 0.1}, ERROR, ab="?")
    assert list(finding_sentences([one, other], ITEMS)) == [
        "No significant difference between systems was found by f1 or error "
        "(3 pairs tested, 24 items, alpha = 0.05)",
        "b has the best f1 (0.520 [0.470, 0.570])",
        "c has the best error (0.100 [0.050, 0.150])",
    ]
    assert only(other).startswith(
        "No significant difference between systems was found by error (2 of 3 pairs tested, "
    )


def test_pairs_with_controls_are_counted_as_in_the_table() -> None:
    means = {"a": 0.5, "b": 0.52, "c": 0.51, "ref": 0.9}
    part = replace(matrix(means), controls=("ref",))
    assert only(part).startswith(
        "No significant difference between systems was found by f1 (6 pairs tested, 3 of them with "
        "ref, 24 items, "
    )
    part = replace(matrix(means, aref="ref"), controls=("ref",))
    assert "3 of them with ref, of which 1 differs significantly, 24 items" in only(part)
    against = [contrast for contrast in matrix(means).contrasts if contrast.b == "ref"]
    part = replace(part, contrasts=tuple(against))
    (sentence,) = better_sentences(part, ITEMS)
    assert "(3 pairs tested, all of them with ref, 24 items, " in sentence


def test_a_summary_is_shortened_by_the_lines_it_takes_in_a_terminal() -> None:
    long = "many words " * 15  # 165 characters are two lines
    topics = [
        Topic("", ["a leads"]),
        Topic("groups", [f"{long} 1", f"{long} 2"]),
        Topic("order", ["x", "y"]),
        Topic("listeners", [f"{long} 3"]),
    ]
    assert len(shorten_topics(topics, 9)) == 6
    assert shorten_topics(topics, 8)[1:] == [
        f"{long} 1",
        "x",
        "y",
        f"{long} 3",
        "1 more sentence (groups) is in the sections below",
    ]
    assert shorten_topics(topics, 4) == [
        "a leads",
        f"{long} 1",
        "4 more sentences (groups, order, listeners) are in the sections below",
    ]
    assert shorten_topics(topics, 1) == [
        "a leads",
        "5 more sentences (groups, order, listeners) are in the sections below",
    ]
