"""Subsets of references with other parameters, and values that are not needed."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import compress, product
from typing import Any

import numpy as np
import pytest

from earwitness.core import Case, Item, Key, Summary
from earwitness.metric import CaseList
from earwitness.metric_set import MetricSet
from earwitness.registry import METRICS
from earwitness.summaries.metrics import SummarizationAccuracy

SUBSETS = np.array([*product([False, True], repeat=4)][1:])


def item_cases(words: int, seed: int) -> CaseList:
    """Three outputs of one item with four references."""
    rng = random.Random(seed)
    said = tuple(rng.choice("abcdefg") for _ in range(words))

    def summary() -> Summary:
        kept = sorted(rng.sample(range(1, words + 1), rng.randint(words // 4, words // 2)))
        chosen = tuple(said[place - 1] for place in kept)
        return Summary(" ".join(chosen), chosen, tuple(kept))

    people = tuple(summary() for _ in range(4))
    item = Item(9.0, words=said)
    return CaseList(Case(Key("item", name), item, summary(), people) for name in "ABC")


def with_subsets(cases: CaseList) -> list[Case]:
    """The cases with every subset, one at a time."""
    return [
        replace(case, references=tuple(compress(case.references, subset)))
        for subset in SUBSETS
        for case in cases
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"objective": "accuracy"},
        {"arcs": "original"},
        {"boundary": "exclude"},
        {"word_match": "surface"},
    ],
)
@pytest.mark.parametrize("words", [12, 90, 240])
def test_subsets_are_measured_with_all_parameters(given: dict[str, str], words: int) -> None:
    metric, cases = SummarizationAccuracy(**given), item_cases(words, 1)
    plain = metric.measure_many(with_subsets(cases)).reshape(len(SUBSETS), 3, -1)
    assert np.array_equal(metric.measure_subsets(cases, SUBSETS), plain)


def test_values_that_are_not_needed_do_not_change_the_others() -> None:
    metric, cases = SummarizationAccuracy(), item_cases(14, 2)
    every = metric.score(metric.measure_subsets(cases, SUBSETS))
    few = metric.score(metric.measure_subsets(cases, SUBSETS, ["sumaccy", "wsumaccy"]))
    assert np.array_equal(few[..., :4], every[..., :4])
    assert np.isnan(few[..., 4:]).all()  # ceilings were not computed
    ceiling = metric.score(metric.measure_subsets(cases, SUBSETS, ["wsumaccy_ceiling"]))
    assert np.array_equal(ceiling, every)


def test_a_set_of_metrics_returns_the_named_values_in_order() -> None:
    parameters: dict[str, Any] = {"boundary": ["include", "exclude"]}
    metrics = MetricSet.of(["sumaccy", "bleu"], parameters, METRICS)
    cases, names = item_cases(14, 3), ["bleu", "wsumaccy@exclude", "sumaccy@include"]
    found = metrics.score_subsets(cases, SUBSETS, names)
    every = metrics.score(metrics.measure(with_subsets(cases)))
    columns = [[value.name for value in metrics.values].index(name) for name in names]
    assert np.array_equal(found.reshape(-1, 3), every[:, columns])
