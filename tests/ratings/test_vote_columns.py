"""Votes and metrics by the names and numbers of columns."""

from __future__ import annotations

from math import nan

import pytest

from earwitness.ratings.vote_columns import (
    divide_numbers,
    is_constant_within,
    is_statistic_name,
    is_vote_name,
)

OUTPUTS = ["a", "a", "b", "b"]
LISTENERS = ["x", "y", "x", "y"]


@pytest.mark.parametrize(
    "name", ["MOS", "mos", "Mean MOS", "mean_opinion_score", "avg_rating", "MOS_SIG", "OVRL"]
)
def test_names_of_votes(name: str) -> None:
    assert is_vote_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("UTMOS", "utmosv2", "nisqa_mos", "DNSMOS", "P808_MOS", "SIG_raw", "MOSNet", "MOS_pred"),
        *("MOS_std", "score", "PESQ", "sig_dnsmos", "wer"),
    ],
)
def test_names_of_predictions_are_not_those_of_votes(name: str) -> None:
    assert not is_vote_name(name)


@pytest.mark.parametrize("name", ["MOS_std", "ci95", "95%CI", "n", "utmos_std", "spk_id", "mosSD"])
def test_spreads_counts_and_numbers_of_units_are_no_metrics(name: str) -> None:
    assert is_statistic_name(name, ["MOS", "utmos"])


def test_a_name_with_a_spread_word_and_no_other_column_is_a_metric() -> None:
    assert not is_statistic_name("f0_std", ["MOS"])


def test_votes_differ_within_outputs_and_metrics_do_not() -> None:
    numbers = {"score": [1.0, 2, 3, 4], "pred": [1.5, 1.5, nan, 2], "age": [20.0, 30, 20, 30]}
    found = divide_numbers(numbers, OUTPUTS, LISTENERS, (), ())
    assert (found.votes, found.metrics, found.fault) == (("score",), ("pred",), None)


def test_two_columns_that_may_be_votes_need_a_name() -> None:
    numbers = {"p": [1.0, 2, 3, 4], "q": [4.0, 3, 1, 2]}
    assert divide_numbers(numbers, OUTPUTS, LISTENERS, (), ()).fault is not None
    found = divide_numbers(numbers, OUTPUTS, LISTENERS, ("p",), ())
    assert (found.votes, found.fault) == (("p",), None)


def test_unanimous_votes_are_known_by_their_name() -> None:
    numbers = {"MOS": [1.0, 1, 3, 3], "pred": [1.5, 1.5, 2, 2]}
    found = divide_numbers(numbers, OUTPUTS, LISTENERS, (), ())
    assert (found.votes, found.metrics) == (("MOS",), ("pred",))


def test_missing_numbers_do_not_vary() -> None:
    assert is_constant_within([nan, 1, 2, 2], OUTPUTS)
    assert not is_constant_within([1, 2, 2, 2], OUTPUTS)
