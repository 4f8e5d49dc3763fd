"""Dependency grammars against all their derivations, one by one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.summaries.methods.grammar import (
    DEPENDENCY_FLOOR,
    MAX_PIECE_WORDS,
    Grammar,
    cut_evenly,
    find_joined_pairs,
    load_grammar,
    score_dependencies,
)
from earwitness.summaries.methods.grammar_estimation import count_rules
from helpers.grammar_derivations import count_derivations, random_grammar


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return random_grammar(np.random.default_rng(7), 3)


@pytest.mark.parametrize(("size", "classes"), [(1, 3), (2, 2), (3, 3), (4, 3), (5, 2)])
def test_probabilities_counts_and_pairs_are_those_of_all_derivations(
    size: int, classes: int
) -> None:
    generator = np.random.default_rng(size)
    grammar = random_grammar(generator, classes)
    words = generator.integers(0, len(grammar.words), size)
    total, joined, rules = count_derivations(grammar, words.tolist())
    counts, log = count_rules(grammar, words[None])
    assert log == pytest.approx(np.log(total), abs=1e-10)
    assert find_joined_pairs(grammar, words) == pytest.approx(joined, abs=1e-10)
    assert counts.start == pytest.approx(rules["start"][:, 0], abs=1e-10)
    for name in ("left", "right", "emission"):
        assert getattr(counts, name) == pytest.approx(rules[name], abs=1e-10)


def test_a_batch_has_the_sums_of_its_sentences(grammar: Grammar) -> None:
    sentences = np.random.default_rng(1).integers(0, 4, (5, 6))
    together, log = count_rules(grammar, sentences)
    singly = [count_rules(grammar, sentence[None]) for sentence in sentences]
    assert log == pytest.approx(sum(log for _, log in singly))
    for name in together._fields:
        sums = sum(getattr(counts, name) for counts, _ in singly)
        assert getattr(together, name) == pytest.approx(sums)


def test_scores_are_logarithms_by_places(grammar: Grammar) -> None:
    words = ["1", "3", "2", "never seen"]
    scores = score_dependencies(grammar, words)
    assert scores.shape == (6, 6)
    joined = find_joined_pairs(grammar, np.array([1, 3, 2, 0]))
    upper = np.triu_indices(4, 1)
    assert scores[1:-1, 1:-1][upper] == pytest.approx(np.log(joined[upper]))
    scores[1:-1, 1:-1][upper] = 0
    assert not scores.any()
    assert score_dependencies(grammar, []).shape == (2, 2)
    assert not score_dependencies(grammar, ["1"]).any()


def test_sixty_words_with_improbable_rules_do_not_underflow(grammar: Grammar) -> None:
    # All derivations have 59 rules with a dependent: a factor cancels in the posterior.
    factor = 1e-8
    rare = replace(grammar, left=factor * grammar.left, right=factor * grammar.right)
    words = [str(number) for number in np.random.default_rng(3).integers(1, 4, MAX_PIECE_WORDS)]
    log = grammar.log_likelihood(words) + 59 * np.log(factor)
    assert log < np.log(np.finfo(float).tiny)
    assert rare.log_likelihood(words) == pytest.approx(log)
    scores = score_dependencies(rare, words)
    assert scores == pytest.approx(score_dependencies(grammar, words))
    assert scores.max() <= 0


def test_scores_have_a_floor() -> None:
    # The only derivation of "saw old friends" has the heads saw → friends → old.
    rules = np.zeros((2, 3, 3))
    rules[0, 1, 2] = rules[1, 0, 1] = 0.5
    emission = np.array([[0, 0.5, 0, 0], [0, 0, 0.5, 0], [0.5, 0, 0, 0.5]])
    words = ("<unk>", "saw", "friends", "old")
    start = np.array([1.0, 0, 0])
    left, right = rules
    fixed = Grammar(("v", "n", "a"), words, start, left, right, emission, np.zeros(3))
    scores = score_dependencies(fixed, ["saw", "old", "friends"])
    assert scores[1, 2] == pytest.approx(DEPENDENCY_FLOOR)
    assert scores[[1, 2], [3, 3]] == pytest.approx([0, 0])


def test_a_sentence_without_derivations_is_an_error(grammar: Grammar) -> None:
    none = np.zeros_like(grammar.left)
    emission = grammar.emission / grammar.emission.sum(1, keepdims=True)
    with pytest.raises(UsageError, match="no derivation"):
        replace(grammar, left=none, right=none, emission=emission).log_likelihood(["1", "2"])


def test_pieces_of_long_sentences_have_neutral_scores_between_them(grammar: Grammar) -> None:
    assert [piece.stop - piece.start for piece in cut_evenly(150, MAX_PIECE_WORDS)] == [50] * 3
    words = [str(number) for number in np.random.default_rng(5).integers(1, 4, 70)]
    scores = score_dependencies(grammar, words)
    halves = [score_dependencies(grammar, words[:35]), score_dependencies(grammar, words[35:])]
    assert scores[1:36, 1:36] == pytest.approx(halves[0][1:-1, 1:-1])
    assert scores[36:71, 36:71] == pytest.approx(halves[1][1:-1, 1:-1])
    adjacent = np.concatenate([np.diagonal(half[1:-1, 1:-1], 1) for half in halves])
    assert scores[35, 36] == pytest.approx(adjacent.mean())
    ends = [half[1, 35] for half in halves]  # the largest distance within a piece
    assert scores[1, 70] == pytest.approx(np.mean(ends))
    logs = grammar.log_likelihood(words[:35]) + grammar.log_likelihood(words[35:])
    assert grammar.log_likelihood(words) == pytest.approx(logs)


def test_punctuation_is_not_parsed_and_has_neutral_scores(grammar: Grammar) -> None:
    scores = score_dependencies(grammar, ["1", "、", "2", "3"])
    plain = score_dependencies(grammar, ["1", "2", "3"])
    assert scores[[1, 1, 3], [3, 4, 4]] == pytest.approx(plain[[1, 1, 2], [2, 3, 3]])
    assert scores[1, 2] == scores[2, 3] == pytest.approx(scores[3, 4])  # the only adjacent words
    assert scores[2, 4] == pytest.approx(scores[1, 3])
    assert grammar.log_likelihood(["1", "、", "2"]) == grammar.log_likelihood(["1", "2"])
    assert not score_dependencies(grammar, ["、", "。"]).any()


def test_words_are_found_in_any_case_and_with_punctuation(grammar: Grammar) -> None:
    words = replace(grammar, words=("<unk>", "it's", "rain", "in"))
    assert words.find_words(["It’s", "Rain,", "IN", "Spain"]).tolist() == [1, 2, 3, 0]


# --- Files ---------------------------------------------------------------------------------------


def test_a_saved_grammar_is_the_same_when_loaded(grammar: Grammar, tmp_path: Path) -> None:
    known = replace(grammar, details={"method": "drawn"}, sentence_count=3.0)
    known.save(tmp_path / "grammar.json")
    loaded = load_grammar(tmp_path / "grammar.json")
    assert loaded.signature == known.signature
    assert loaded.signature.startswith("sdcfg,classes=3,words=4,sha256=")
    assert (loaded.details, loaded.sentence_count) == (known.details, 3.0)
    words = ["1", "2", "3", "2"]
    assert np.array_equal(score_dependencies(loaded, words), score_dependencies(known, words))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "is not a grammar file — estimate"),
        ({"version": 9}, "version 9 are not supported, only version 1"),
        ({"left": [[0.1]]}, r"left has the shape \(1, 1\), expected \(3, 3\)"),
        ({"start": [0.5, 0.5, -0.1]}, "start has negative or infinite numbers"),
        ({"start": [0.5, 0.1, 0.1]}, "do not sum to 1"),
        ({"start": [0.2, 0.2, 0.6]}, "its signature does not match"),
        ({"words": ["a"]}, "is damaged"),
        ({"words": {"a": [0.1, 0.1, 0.1]}}, "start with <unk>"),
        ({"classes": None}, "is damaged"),
    ],
)
def test_damaged_grammar_files_are_errors(
    grammar: Grammar, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "grammar.json"
    grammar.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_grammar(path)


def test_files_that_are_no_json_or_missing_are_errors(tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"format": "earw', encoding="utf-8")
    with pytest.raises(UsageError, match="is not a grammar file"):
        load_grammar(tmp_path / "cut.json")
    with pytest.raises(UsageError, match="cannot be read"):
        load_grammar(tmp_path / "absent.json")
