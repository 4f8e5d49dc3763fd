"""Tests of the search for summaries, with enumeration of all subsets as the slow twin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.summaries.methods.compaction import Floats, Ints, ScoreTables, ScoreWeights
from earwitness.summaries.methods.search import (
    BEAM_WORDS,
    allocate_words,
    count_kept,
    search_summaries,
    split_score,
)

NAMES = ("linguistic", "significance", "confidence", "concatenation")
WEIGHTS = ScoreWeights(0.7, 2.0, 0.5, 1.3)


class DenseTrigrams:
    """Trigram scores of a dense array; counts the scores that are read."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.scores = -rng.exponential(2.0, (size + 1, size + 1, size + 2))
        self.calls: list[int] = []

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        self.calls.append(before.size)
        assert ((before < last) | (last == 0)).all()
        assert (last < following).all()
        return np.asarray(self.scores[before, last, following])


def make_tables(size: int, seed: int = 0, names: Sequence[str] = NAMES) -> ScoreTables:
    """Return random scores, without those that are not named."""
    rng = np.random.default_rng([size, seed])
    places = np.zeros((size + 2, size + 2))
    places[1:-1, 1:-1] = -rng.exponential(1.0, (size, size))
    trigrams, significance = DenseTrigrams(size, rng), rng.gamma(1.0, 2.0, size)
    confidence = -rng.exponential(0.3, size)
    return ScoreTables(
        size,
        trigrams if "linguistic" in names else None,
        significance if "significance" in names else None,
        confidence if "confidence" in names else None,
        places if "concatenation" in names else None,
    )


def score_plainly(tables: ScoreTables, weights: ScoreWeights, kept: Sequence[int]) -> float:
    """Return the score of a summary, word by word: the slow twin of `split_score`."""
    total = 0.0
    before, last = 0, 0
    for place in kept:
        if isinstance(tables.linguistic, DenseTrigrams):
            total += weights.linguistic * tables.linguistic.scores[before, last, place]
        if tables.significance is not None:
            total += weights.significance * tables.significance[place - 1]
        if tables.confidence is not None:
            total += weights.confidence * tables.confidence[place - 1]
        if tables.concatenation is not None and last:
            total += weights.concatenation * tables.concatenation[last, place]
        before, last = last, place
    if kept and isinstance(tables.linguistic, DenseTrigrams):
        total += weights.linguistic * tables.linguistic.scores[before, last, tables.size + 1]
    return total


def enumerate_best(
    tables: ScoreTables, weights: ScoreWeights, words: int
) -> tuple[float, tuple[int, ...]]:
    """Return the highest score of all subsets, and its positions: the slow twin of the search."""
    subsets = combinations(range(1, tables.size + 1), words)
    return max(
        ((score_plainly(tables, weights, kept), kept) for kept in subsets), key=lambda pair: pair[0]
    )


# --- One utterance -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 10))
def test_search_equals_enumeration_with_all_scores(size: int) -> None:
    for seed in range(3):
        tables = make_tables(size, seed)
        found = search_summaries(tables, WEIGHTS)
        for words in range(size + 1):
            score, kept = enumerate_best(tables, WEIGHTS, words)
            assert found.scores[words] == pytest.approx(score, abs=1e-9)
            assert found.positions(words) == kept


@pytest.mark.parametrize("present", list(product([False, True], repeat=4)))
def test_search_equals_enumeration_without_some_scores(present: tuple[bool, ...]) -> None:
    names = [name for name, is_present in zip(NAMES, present, strict=True) if is_present]
    lacking = make_tables(7, 1, names)
    found = search_summaries(lacking, WEIGHTS)
    off = ScoreWeights(**{name: getattr(WEIGHTS, name) * (name in names) for name in NAMES})
    complete = make_tables(7, 1)
    switched = search_summaries(complete, off)
    for words in range(8):
        score, kept = enumerate_best(lacking, WEIGHTS, words)
        assert found.scores[words] == pytest.approx(score, abs=1e-9)
        assert found.positions(words) == switched.positions(words) == kept
        assert switched.scores[words] == found.scores[words]


def test_best_summary_is_the_first_of_equal_ones() -> None:
    tables = ScoreTables(6, significance=np.array([1.0, 2.0, 2.0, 1.0, 2.0, 2.0]))
    found = search_summaries(tables, WEIGHTS)
    assert [found.positions(words) for words in (1, 2, 5)] == [(2,), (2, 3), (1, 2, 3, 5, 6)]
    equal = ScoreTables(6, lambda before, *_: np.full(before.shape, -1.0))
    assert search_summaries(equal, WEIGHTS).positions(3) == (1, 2, 3)


def test_short_utterances() -> None:
    empty = search_summaries(make_tables(0), WEIGHTS)
    assert empty.scores.tolist() == [0.0]
    assert empty.positions(0) == ()
    assert search_summaries(make_tables(1), WEIGHTS).positions(1) == (1,)
    assert search_summaries(make_tables(2), WEIGHTS).positions(2) == (1, 2)
    assert search_summaries(make_tables(2), WEIGHTS, beam=1).positions(2) == (1, 2)


@pytest.mark.parametrize("names", [NAMES, NAMES[1:]])
def test_search_up_to_a_length_equals_the_start_of_all_lengths(names: Sequence[str]) -> None:
    tables = make_tables(20, names=names)
    complete = search_summaries(tables, WEIGHTS)
    found = search_summaries(tables, WEIGHTS, max_words=8)
    assert found.max_words == 8
    assert found.scores.tolist() == complete.scores[:9].tolist()
    assert [found.positions(words) for words in range(9)] == [
        complete.positions(words) for words in range(9)
    ]
    assert search_summaries(tables, WEIGHTS, max_words=0).scores.tolist() == [0.0]


def test_exact_search_reads_each_trigram_once_and_in_one_call() -> None:
    tables = make_tables(12)
    search_summaries(tables, WEIGHTS)
    assert isinstance(tables.linguistic, DenseTrigrams)
    assert tables.linguistic.calls == [comb(14, 3) + 12]  # three places of 14, and first words


def test_scores_must_be_finite_and_complete() -> None:
    with pytest.raises(UsageError, match="significance scores must be finite — use a floor"):
        search_summaries(ScoreTables(2, significance=np.array([0.0, -np.inf])), WEIGHTS)
    with pytest.raises(UsageError, match="linguistic scores must be finite"):
        search_summaries(ScoreTables(2, lambda k, *_: np.full(k.shape, np.nan)), WEIGHTS)
    with pytest.raises(UsageError, match=r"concatenation scores have shape \(1, 1\) — \(2, 2\)"):
        search_summaries(ScoreTables(2, concatenation=np.zeros((3, 3))), WEIGHTS)
    unused = np.full((4, 4), -np.inf)
    unused[1, 2] = 3.0
    found = search_summaries(ScoreTables(2, concatenation=unused), ScoreWeights())
    assert found.scores.tolist() == [0.0, 0.0, 6.0]


def test_lengths_and_beams_out_of_range() -> None:
    tables = make_tables(3)
    with pytest.raises(UsageError, match="max_words must be from 0 to 3, got 4"):
        search_summaries(tables, WEIGHTS, max_words=4)
    with pytest.raises(UsageError, match="beam must be at least 1, got 0"):
        search_summaries(tables, WEIGHTS, beam=0)
    with pytest.raises(UsageError, match="number of words must be from 0 to 2, got 3"):
        search_summaries(tables, WEIGHTS, max_words=2).positions(3)


# --- Beam ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 9, 40])
def test_beam_is_valid_and_never_better_than_exact_search(size: int) -> None:
    tables = make_tables(size)
    exact = search_summaries(tables, WEIGHTS, beam=size)
    for beam in (1, 2, 5):
        found = search_summaries(tables, WEIGHTS, beam=beam)
        assert (found.scores <= exact.scores + 1e-9).all()
        for words in range(size + 1):
            kept = found.positions(words)
            assert len(kept) == words
            assert score_plainly(tables, WEIGHTS, kept) == pytest.approx(found.scores[words])


def test_beam_with_all_arcs_equals_exact_search() -> None:
    tables = make_tables(BEAM_WORDS + 1)
    exact = search_summaries(tables, WEIGHTS, beam=BEAM_WORDS + 1)
    found = search_summaries(tables, WEIGHTS, beam=BEAM_WORDS)  # rates arcs, and leaves none out
    assert found.scores.tolist() == exact.scores.tolist()
    assert (found.kept == exact.kept).all()


@pytest.mark.parametrize("max_words", [25, 70])
def test_beam_is_exact_if_the_first_word_of_trigrams_has_no_influence(max_words: int) -> None:
    tables = make_tables(70)
    assert isinstance(tables.linguistic, DenseTrigrams)
    tables.linguistic.scores[1:] = tables.linguistic.scores[0]
    exact = search_summaries(tables, WEIGHTS, max_words, beam=70)
    read = sum(tables.linguistic.calls)
    found = search_summaries(tables, WEIGHTS, max_words, beam=6)
    assert found.scores == pytest.approx(exact.scores, abs=1e-9)
    assert (found.kept == exact.kept).all()
    assert sum(tables.linguistic.calls) - read < read / 4


def test_utterance_of_200_words_is_searched_with_a_beam() -> None:
    tables = make_tables(200)
    found = search_summaries(tables, WEIGHTS)
    assert isinstance(tables.linguistic, DenseTrigrams)
    assert sum(tables.linguistic.calls) < 200**3 / 6 / 10
    assert found.positions(200) == tuple(range(1, 201))
    for words in (1, 80, 199):
        kept = found.positions(words)
        assert score_plainly(tables, WEIGHTS, kept) == pytest.approx(found.scores[words])


# --- Several utterances --------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(3, 5, 4), (0, 2, 1), (5, 1, 0)])
def test_allocation_equals_enumeration(sizes: tuple[int, ...]) -> None:
    utterances = [make_tables(size, seed) for seed, size in enumerate(sizes)]
    searches = [search_summaries(tables, WEIGHTS) for tables in utterances]
    for total in range(sum(sizes) + 1):
        numbers = allocate_words(searches, total)
        options = [
            option
            for option in product(*(range(size + 1) for size in sizes))
            if sum(option) == total
        ]
        best = max(
            sum(
                enumerate_best(tables, WEIGHTS, words)[0]
                for tables, words in zip(utterances, option, strict=True)
            )
            for option in options
        )
        assert sum(numbers) == total
        reached = sum(search.scores[words] for search, words in zip(searches, numbers, strict=True))
        assert reached == pytest.approx(best, abs=1e-9)


def test_equal_allocations_leave_words_to_the_first_utterances() -> None:
    search = search_summaries(ScoreTables(2), WEIGHTS)
    assert allocate_words([search, search, search], 3) == [2, 1, 0]
    assert allocate_words([], 0) == []
    with pytest.raises(UsageError, match="must be from 0 to 6, got 7"):
        allocate_words([search, search, search], 7)


# --- Score of a summary --------------------------------------------------------------------------


def test_parts_sum_to_the_score_of_the_search() -> None:
    tables = make_tables(30)
    found = search_summaries(tables, WEIGHTS)
    for words in (0, 1, 2, 11, 30):
        parts = split_score(tables, WEIGHTS, found.positions(words))
        assert tuple(parts) == NAMES
        assert sum(parts.values()) == pytest.approx(found.scores[words], abs=1e-9)
        for name in NAMES:
            alone = split_score(make_tables(30, names=[name]), WEIGHTS, found.positions(words))
            assert alone == {**dict.fromkeys(NAMES, 0.0), name: parts[name]}


def test_number_of_kept_words() -> None:
    assert [count_kept(words, 0.5) for words in range(6)] == [0, 1, 1, 2, 2, 3]
    assert count_kept(50, 0.29) == 15  # 14.5, although 50 * 0.29 is 14.499999999999998
    assert count_kept(200, 0.001) == 1
    assert count_kept(7, 1) == 7
    for ratio in (0, -0.1, 1.01, float("nan")):
        with pytest.raises(UsageError, match="ratio must be above 0 and at most 1, got"):
            count_kept(10, ratio)
