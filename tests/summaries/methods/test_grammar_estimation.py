"""Estimation of grammars by inside–outside."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.summaries.methods.grammar import MAX_PIECE_WORDS, Grammar, check_grammar
from earwitness.summaries.methods.grammar_estimation import (
    MIN_RULE_PROBABILITY,
    count_rules,
    estimate_grammar,
)
from helpers.grammar_derivations import random_grammar


def draw_sentences(count: int, seed: int) -> list[list[str]]:
    """Sentences of one to nine words, of which some are rare."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 10, count)
    return [[f"w{number}" for number in generator.geometric(0.2, size)] for size in sizes]


def rises(logs: list[float]) -> bool:
    return all(after >= before - 1e-9 * abs(before) for before, after in pairwise(logs))


@pytest.fixture(scope="module")
def estimated() -> Grammar:
    return estimate_grammar(draw_sentences(60, 0), classes=3, iterations=30, seed=1)


def test_the_likelihood_never_falls(estimated: Grammar) -> None:
    logs = estimated.details["log_likelihood"]
    assert len(logs) == 30
    assert rises(logs)
    assert logs[-1] > logs[0] + 10
    check_grammar(estimated)


def test_rules_and_unknown_words_keep_a_probability(estimated: Grammar) -> None:
    rules = [estimated.start, estimated.left, estimated.right, estimated.emission[:, 0]]
    assert min(rule.min() for rule in rules) == pytest.approx(MIN_RULE_PROBABILITY)


def test_the_first_log_likelihood_is_that_of_the_start() -> None:
    sentences = draw_sentences(30, 2)
    start = estimate_grammar(sentences, classes=2, iterations=3)
    after = estimate_grammar(sentences, start=start, iterations=4)
    total = sum(map(start.log_likelihood, sentences))
    assert after.details["log_likelihood"][0] == pytest.approx(total, rel=1e-6)
    assert after.details["start"] == start.signature
    assert rises(after.details["log_likelihood"])


def test_estimation_is_repeatable_and_depends_on_the_seed() -> None:
    sentences = draw_sentences(20, 3)
    first, again, other = (
        estimate_grammar(sentences, classes=2, iterations=2, seed=seed) for seed in (0, 0, 1)
    )
    assert first.signature == again.signature != other.signature


def test_rare_words_are_unknown() -> None:
    grammar = estimate_grammar([["Rain,", "fell"], ["rain", "stopped", "!"]], classes=2)
    assert grammar.words == ("<unk>", "rain")
    assert grammar.details["words"] == 4
    assert grammar.details["unknown_words"] == 2
    assert grammar.details["sentences"] == 2


def test_a_start_with_weight_keeps_its_words_and_the_joint_likelihood_never_falls() -> None:
    start = estimate_grammar([["rain", "falls"], ["snow", "falls"]] * 2, classes=2)
    text = [["hail", "falls"], ["hail", "stops"], ["snow", "stops"]]
    kept = estimate_grammar(text, start=start, weight=0.5, iterations=20)
    assert set(kept.words) == {"<unk>", "rain", "falls", "snow", "hail", "stops"}
    assert rises(kept.details["log_likelihood"])
    assert kept.sentence_count == pytest.approx(3 + 0.5 * 4)
    check_grammar(kept)
    dropped = estimate_grammar(text, start=start, iterations=20)
    assert set(dropped.words) == {"<unk>", "hail", "stops"}
    assert rises(dropped.details["log_likelihood"])
    check_grammar(dropped)


def test_four_words_use_four_words_and_three_dependencies() -> None:
    grammar = random_grammar(np.random.default_rng(0), 1)
    counts, _ = count_rules(grammar, np.array([[1, 2, 3, 1]]))
    assert counts.emission.sum() == pytest.approx(4)
    assert counts.left.sum() + counts.right.sum() == pytest.approx(3)
    assert counts.start.sum() == pytest.approx(1)


def test_long_sentences_are_cut_and_progress_is_reported() -> None:
    calls = list[tuple[int, int | None, int]]()
    estimate_grammar(
        [["a", "b"] * MAX_PIECE_WORDS, ["a"], []],
        classes=2,
        iterations=2,
        progress=lambda *call: calls.append(call),
    )
    assert calls[-1] == (6, 6, 1)  # three pieces, two iterations


@pytest.mark.parametrize("sentences", [[], [[], ["!"]]])
def test_no_words_are_an_error(sentences: list[list[str]]) -> None:
    with pytest.raises(UsageError, match="no words to estimate"):
        estimate_grammar(sentences)


def test_invalid_numbers_are_errors() -> None:
    with pytest.raises(UsageError, match="classes must be 1 or more"):
        estimate_grammar([["a"]], classes=0)
