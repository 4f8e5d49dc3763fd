"""Anchors between two sequences: equal, increasing and complete where a plain search finds them."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
import pytest

from earwitness.speech.anchors import fill_gaps, find_anchors


@pytest.mark.parametrize("seed", range(5))
def test_anchors_are_equal_and_increasing_and_cover_a_damaged_text(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected = rng.zipf(1.3, 400).tolist()
    heard: list[int] = []
    for word in expected:
        draw = rng.random()
        if draw < 0.05:
            continue
        heard.append(int(rng.integers(10**6, 10**7)) if draw < 0.1 else word)
        if draw > 0.95:
            heard.append(int(rng.zipf(1.3)))
    anchors = find_anchors(expected, heard, (4, 3, 2))
    assert all(expected[i] == heard[j] for i, j in anchors)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(anchors))
    blocks = SequenceMatcher(None, expected, heard, autojunk=False).get_matching_blocks()
    assert len(anchors) > 0.8 * sum(block.size for block in blocks)


def test_equal_sequences_match_everywhere() -> None:
    words = [f"word{n}" for n in range(50)]
    assert find_anchors(words, words, (4, 2)) == [(n, n) for n in range(50)]


def test_unrelated_and_empty_sequences_have_no_anchors() -> None:
    assert find_anchors("abc", "xyz", (2, 1)) == []
    assert find_anchors("", "xyz", (2, 1)) == []


def test_a_repeated_run_is_found_between_unique_ones() -> None:
    expected = ["a", "b", "c", "refrain", "one", "d", "e", "f", "refrain", "one", "g", "h", "i"]
    anchors = find_anchors(expected, expected, (3, 2))
    assert anchors == [(n, n) for n in range(len(expected))]


def test_a_text_that_repeats_itself_is_aligned_in_its_order() -> None:
    verse = ["so", "we", "sing", "the", "song", "again", "and", "again", "until", "it", "ends"]
    expected = verse * 4
    heard = verse * 2 + ["hello", *verse[:5], "noise", *verse[6:]] + verse
    anchors = fill_gaps(expected, heard, find_anchors(expected, heard, (5, 4, 3)), 2)
    assert all(expected[i] == heard[j] for i, j in anchors)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(anchors))
    assert len(anchors) == len(expected) - 1
