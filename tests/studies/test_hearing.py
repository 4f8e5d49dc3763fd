"""The digit-triplet hearing test: drawn digits, the adaptive track, the threshold, and answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from earwitness.studies.hearing import (
    digit_files,
    draw_triplets,
    good_answers,
    hearing_faults,
    reception_threshold,
    track_ratios,
)
from earwitness.studies.study import HearingTest

TEST = HearingTest("digits/{digit}.wav", 8)
RIGHT = ["".join(map(str, one)) for one in draw_triplets(8, 1, 2)]


def test_triplets_have_three_different_digits_each_equally_often() -> None:
    triplets = draw_triplets(20, 1, 2)
    assert all(len({*triplet}) == 3 for triplet in triplets)
    counts = Counter(digit for triplet in triplets for digit in triplet)
    assert set(counts) == set(range(10))
    assert set(counts.values()) == {6}
    assert draw_triplets(8, 1, 2) == triplets[:8]
    assert draw_triplets(8, 1, 3) != triplets[:8]


def test_the_threshold_is_the_mean_after_the_first_triplets() -> None:
    triplets, wrong = draw_triplets(8, 1, 2), "000"
    responses = [*RIGHT[:5], wrong, RIGHT[6], wrong]
    ratios = [0, -2, -4, -6, -8, -10, -8, -10, -8]
    assert track_ratios(triplets, responses) == ratios
    # the fifth to the eighth, and the one that would come next
    assert reception_threshold(triplets, responses) == pytest.approx((-8 - 10 - 8 - 10 - 8) / 5)


def test_ratios_stay_within_their_limits() -> None:
    triplets = draw_triplets(60, 1, 2)
    assert track_ratios(triplets, ["000"] * 60)[-1] == 10
    assert track_ratios(triplets, ["".join(map(str, one)) for one in triplets])[-1] == -30


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"responses": RIGHT, "srt": -11}, "srt", "srt must be -12.00, got -11"),
        ({"responses": RIGHT, "srt": True}, "srt", "must be a number"),
        ({"responses": RIGHT[:7], "srt": -8}, "responses", "must have 8 entries, got 7"),
        ({"responses": ["12"] * 8, "srt": 0}, "responses", "texts of three digits"),
        ({"srt": 0}, "responses", "texts of three digits"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    values: dict[str, Any], field: str, message: str
) -> None:
    found = dict(hearing_faults(TEST, 1, 2, values))
    assert list(found) == [field]
    assert message in found[field]


def test_the_result_that_the_browser_computes_is_accepted() -> None:
    assert list(hearing_faults(TEST, 1, 2, {"responses": RIGHT, "srt": -12.0})) == []
    assert list(hearing_faults(TEST, 1, 2, good_answers(TEST, 1, 2))) == []
    assert good_answers(HearingTest("", 24), 1, 2)["srt"] == pytest.approx(-9.1, abs=0.2)


def test_there_is_one_file_per_digit() -> None:
    assert digit_files(TEST)[::9] == ["digits/0.wav", "digits/9.wav"]
