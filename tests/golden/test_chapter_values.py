"""Values worked out by hand."""

from __future__ import annotations

import pytest

from earwitness.chunkseg import evaluate


def test_a_small_case_by_hand() -> None:
    # 10 chunks of 6 s. Reference 11, 23, 34 → chunks 1, 3, 5; output 24.2, 33.94 → chunks 4, 5.
    # tp = 1 (chunk 5), fp = 1 (chunk 4), fn = 2 (chunks 1, 3), tn = 10 - 4 = 6.
    found = evaluate([24.2, 33.94], [11, 23, 34], 60)
    assert found["precision"] == 1 / 2
    assert found["recall"] == 1 / 3
    assert found["accuracy"] == 7 / 10
    assert found["specificity"] == 6 / 7
    # 4 segments, 11 units: window round(11 / 8) = 1, at least 2; windows start at chunks 0 … 8.
    #   reference 0 1 0 1 0 1 0 0 0 0        any: 1 1 1 1 1 1 0 0 0   count: 1 1 1 1 1 1 0 0 0
    #   output    0 0 0 0 1 1 0 0 0 0        any: 0 0 0 1 1 1 0 0 0   count: 0 0 0 1 2 1 0 0 0
    assert found["pk"] == 3 / 9
    assert found["window_diff"] == 4 / 9
    # chunks 3 (reference) and 4 (output) are a transposition, 1 is an addition, 5 a match
    assert found["boundary_similarity"] == 1 - (1 + 0.5) / 3
    assert found["ghd"] == 3  # shift 4 to 3 costs 1, adding 1 costs 2
    # within 3 s: 24.2 and 23 (1.2 apart), 33.94 and 34 (0.06 apart)
    assert found["collar_precision"] == 1
    assert found["collar_recall"] == 2 / 3
    assert found["collar_f1"] == pytest.approx(0.8)


def test_greedy_matching_takes_the_closest_pair_even_if_that_costs_a_match() -> None:
    # 13 and 12 are 1 apart and go first; 10 and 15.5 are then 5.5 apart
    found = evaluate([12, 15.5], [10, 13], 60, collar=3)
    assert found["collar_precision"] == found["collar_recall"] == 1 / 2


@pytest.mark.parametrize(
    ("output", "reference", "pk", "similarity", "ghd", "collar"),
    [([], [], 0, 1, 0, 1), ([], [9], 1, 0, 2, 0), ([9], [], 1, 0, 2, 0), ([9], [9], 0, 1, 0, 1)],
)
def test_the_four_empty_cells(
    output: list[float],
    reference: list[float],
    pk: float,
    similarity: float,
    ghd: float,
    collar: float,
) -> None:
    # two chunks, one window over both
    found = evaluate(output, reference, 12)
    assert found["pk"] == found["window_diff"] == pk
    assert found["boundary_similarity"] == similarity
    assert found["ghd"] == ghd
    assert found["collar_f1"] == collar
    assert found["precision"] == found["recall"] == float(bool(output) and bool(reference))


def test_a_shift_by_three_chunks_is_cheaper_than_two_edits_and_by_four_is_not() -> None:
    assert evaluate([1], [19], 60)["ghd"] == 3
    assert evaluate([1], [25], 60)["ghd"] == 4
    assert evaluate([1], [31], 60)["ghd"] == 4


def test_matching_boundaries_that_coincide_may_be_worse_than_shifting_both() -> None:
    # output chunks 1, 2; reference chunks 2, 3: keep 2 and edit twice costs 4, two shifts cost 2
    assert evaluate([7, 13], [13, 19], 60)["ghd"] == 2


def test_boundaries_at_zero_and_below_are_none_and_repeated_ones_count_for_the_collar() -> None:
    found = evaluate([0, -3, 10, 10], [10, 0], 60)
    assert found["num_segments"] == found["reference/num_segments"] == 1
    assert found["collar_precision"] == 1 / 2
    assert found["collar_recall"] == 1


def test_what_lies_past_the_last_whole_chunk_counts_only_for_the_collar() -> None:
    found = evaluate([61], [62], 65)  # ten chunks end at 60
    assert found["num_segments"] == found["reference/num_segments"] == 0
    assert found["collar_f1"] == 1


def test_a_boundary_on_an_edge_belongs_to_the_chunk_that_begins_there() -> None:
    assert evaluate([6], [11.99], 60)["precision"] == 1
    assert evaluate([6], [5.99], 60)["precision"] == 0
    assert evaluate([60], [59], 60)["precision"] == 1  # the end belongs to the last chunk
