"""Where the words of a summary stand, beside going through all ways, and for very long texts."""

from __future__ import annotations

import random
import tracemalloc
from itertools import pairwise
from math import comb

import pytest

from algorithms import networks as plain
from earwitness.summaries import positions as module
from earwitness.summaries.positions import (
    MAX_WAYS,
    Extraction,
    NoExtraction,
    extraction,
    recognised,
    word_accuracy,
)
from helpers.samples import many


@pytest.mark.parametrize("held", [0, 20, module.CELLS_IN_MEMORY])
def test_positions_and_ways_are_those_of_going_through_all(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CELLS_IN_MEMORY", held)
    rng = random.Random(held)
    for _ in range(many(300, 6000)):
        said = [rng.choice("abc"[: rng.randint(1, 3)]) for _ in range(rng.randint(1, 11))]
        kept = sorted(rng.sample(range(len(said)), rng.randint(0, min(6, len(said)))))
        words = [said[place] for place in kept]
        if rng.random() < 0.3:
            words = [rng.choice("abcd") for _ in range(rng.randint(0, 5))]
        want, got = plain.align_text(words, said), extraction(words, said)
        if want is None:
            assert isinstance(got, NoExtraction)
            assert plain.align_text(words[: got.place], said) is not None
            assert plain.align_text(words[: got.place + 1], said) is None
        else:
            assert got == want, (words, said)


def test_a_word_beside_another_that_leads_nowhere_is_no_way() -> None:
    # a a a must stand before b b, so before 7 and 10; 8 9 10 would be together, but no b follows
    assert extraction("aaabb", "ababacbaab") == Extraction((1, 3, 5, 7, 10), 1)


def test_ways_are_counted_exactly_up_to_very_many() -> None:
    apart = ["a", "x"] * 40
    # five of forty words that never stand together; for twenty there are more than a billion ways
    assert extraction(["a"] * 5, apart[:60]) == Extraction((1, 3, 5, 7, 9), comb(30, 5))
    assert extraction(["a"] * 20, apart).ways == MAX_WAYS  # type: ignore[union-attr]
    # two stretches with a settled word between them: ways multiply
    both = [*apart[:20], "y", *apart[:20]]
    found = extraction(["a", "a", "y", "a", "a"], both)
    # any two of ten before y; the a beside y, and any of nine behind it
    assert found == Extraction((1, 3, 21, 22, 24), 9 * comb(10, 2))


@pytest.mark.parametrize("held", [0, module.CELLS_IN_MEMORY])
def test_one_word_said_thousands_of_times_needs_little_memory(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CELLS_IN_MEMORY", held)
    tracemalloc.start()
    found = extraction(["no"] * 1500, ["no"] * 3000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == Extraction(tuple(range(1, 1501)), 1501)
    assert peak < 20_000_000  # all rows would need 36 million bytes


def test_long_texts_are_found_where_they_were_taken_from() -> None:
    rng = random.Random(5)
    said = [f"w{int(rng.paretovariate(0.8))}" for _ in range(3000)]
    kept = sorted(rng.sample(range(1, 3001), 1200))
    found = extraction([said[place - 1] for place in kept], said)
    assert isinstance(found, Extraction)
    assert [said[place - 1] for place in found.positions] == [said[place - 1] for place in kept]
    assert all(a < b for a, b in pairwise(found.positions))
    together = [sum(b == a + 1 for a, b in pairwise(path)) for path in (found.positions, kept)]
    assert together[0] >= together[1]


def edit_distance(words: list[str], said: list[str]) -> int:
    """Fewest substitutions, deletions and insertions, cell by cell."""
    row = list(range(len(said) + 1))
    for number, word in enumerate(words, 1):
        before, row = row, [number]
        for place, other in enumerate(said, 1):
            row.append(min(row[-1] + 1, before[place] + 1, before[place - 1] + (word != other)))
    return row[-1]


def test_word_accuracy_counts_the_fewest_edits() -> None:
    rng = random.Random(8)
    for _ in range(200):
        said = [rng.choice("abcd") for _ in range(rng.randint(1, 9))]
        words = [rng.choice("abcde") for _ in range(rng.randint(0, 9))]
        got = word_accuracy(recognised(words, said).positions, len(said))
        assert got == pytest.approx(1 - edit_distance(words, said) / len(said))
