"""Values of matching, distances and partitions worked out by hand."""

from __future__ import annotations

import math

import pytest

from earwitness.registry import METRICS
from helpers.samples import columns


def values(
    name: str, output: list[float], reference: list[float], **parameters: object
) -> list[float]:
    metric = METRICS[name](**parameters)
    case = {"hypothesis": output, "reference": reference, "duration": 60}
    return [float(x) for x in metric.score(metric.measure_many(columns([case])))[0]]


def test_optimal_matching_finds_the_pair_that_greedy_gives_away() -> None:
    # 10–12 and 13–15.5 are both within 3 s
    assert values("collar", [12, 15.5], [10, 13], boundary_matching="optimal") == [1, 1, 1]
    assert values("collar", [12, 15.5], [10, 13], boundary_matching="greedy") == [0.5, 0.5, 0.5]


def test_median_distances_from_either_side() -> None:
    # reference 10, 20, 50: nearest outputs 12, 12, 49: 2, 8, 1; output 12, 49: 2, 1
    assert values("deviation", [12, 49], [10, 20, 50]) == [2, 1.5]
    assert all(math.isnan(x) for x in values("deviation", [], [10]))


def test_the_r_value_of_over_segmentation() -> None:
    # 2 of 2 hit, 4 given: HR 1, OS 1; R = 1 - (√(0 + 1) + |1 - 1 - 1| / √2) / 2
    want = 1 - (1 + 1 / math.sqrt(2)) / 2
    assert values("r_value", [10, 20, 30, 40], [10, 20]) == pytest.approx([want, 1])
    assert values("r_value", [10, 20], [10, 20]) == [1, 0]
    assert values("r_value", [], [10]) == pytest.approx([1 - math.sqrt(2) / 2, -1])


def test_segmentation_similarity_counts_a_near_miss_half() -> None:
    # 10 chunks; one boundary off by a chunk, one missing: 1 - (0.5 + 1) / 10
    assert values("similarity", [7], [13, 40]) == [0.85]


def test_purity_and_coverage_weigh_time() -> None:
    # output 0–10–60, reference 0–20–60: purity (10 + 40) / 60, coverage (10 + 40) / 60
    purity, coverage, f = values("segments", [10], [20])[:3]
    assert (purity, coverage, f) == pytest.approx((50 / 60, 50 / 60, 50 / 60))
    # two boundaries too many harm coverage only: main parts 0–20 of 20, 20–40 of 40
    assert values("segments", [20, 40], [20])[:2] == pytest.approx([1, 40 / 60])


def test_pairs_and_entropies_count_frames() -> None:
    # frames at 0, 15, 30, 45: output 0 0 1 1, reference 0 0 0 1
    found = values("segments", [20], [40], frame=15.0)
    assert found[7:9] == pytest.approx([1 / 2, 1 / 3])  # 2 and 3 pairs, 1 in common
    # Rand: (1 - 2 · 3 / 6) / ((2 + 3) / 2 - 2 · 3 / 6) = 0
    assert found[6] == pytest.approx(0)
    # H(reference) of 3 : 1 is 0.5623, H(reference | output) = ½ · ln 2 = 0.3466
    assert found[3] == pytest.approx(1 - 0.34657359 / 0.56233514)


def test_single_segments_on_both_sides_agree_fully() -> None:
    assert values("segments", [], []) == [1] * 10
