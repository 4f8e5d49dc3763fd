"""Micro values of summaries by hand: sums over cases first, one quotient then."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from earwitness.core import Case, Item, Key, Summary
from earwitness.metric import EncodedMetric
from earwitness.models.text_encoder import EncodedText
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from earwitness.summaries.metrics import (
    KeptWords,
    SummarizationAccuracy,
    WeightedPrecision,
    WordStrings,
)
from earwitness.summaries.text_metrics import Rouge, SummaryBertScore

SAID = tuple("abcdefghij")
EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)
VECTORS = {"east": EAST, "north": NORTH, "between": BETWEEN}


class Compass:
    """A model of three words."""

    def encode(self, texts: list[str]) -> None:
        """Nothing to do before."""
        assert all(word in VECTORS for text in texts for word in text.split())

    def encoded_text(self, text: str) -> EncodedText:
        """A vector a word."""
        rows = [VECTORS[word] for word in text.split()]
        return EncodedText(
            np.array(rows, np.float32).reshape(-1, 2), np.ones(len(rows), np.float32)
        )


def written(item: str, output: str, *references: str) -> Case:
    sides = [Summary(text, tuple(text.split()), None) for text in (output, *references)]
    return Case(Key(item, "s"), Item(1.0), sides[0], tuple(sides[1:]))


def kept(item: str, output: str, *references: str) -> Case:
    """Words of the first ten letters; others were not said."""

    def summary(letters: str) -> Summary:
        places = tuple(SAID.index(one) + 1 if one in SAID else 0 for one in letters)
        return Summary(" ".join(letters), tuple(letters), places)

    return Case(
        Key(item, "s"), Item(1.0, words=SAID), summary(output), tuple(map(summary, references))
    )


def corpus(metric: Any, cases: list[Case]) -> dict[str, float]:
    found = metric.score(metric.measure_many(cases).sum(axis=0)).tolist()
    return dict(zip([value.name for value in metric.values], found, strict=True))


TEXTS = [
    written("one", "the cat sat", "the cat is the cat"),
    written("two", "dog", "dog barks", "cow"),
]


def test_rouge() -> None:
    found = corpus(Rouge(), TEXTS)
    # words: the cat of 3 and 5; then dog of 1 and 2, nothing of 1 and 1: on average 0.5 of 1, 1.5
    assert found["rouge_1_precision_micro"] == pytest.approx(2.5 / 4)
    assert found["rouge_1_recall_micro"] == pytest.approx(2.5 / 6.5)
    assert found["rouge_1_f1_micro"] == pytest.approx(2 * 2.5 / 10.5)
    # pairs: the-cat of 2 and 4; then none of none, and of 1 and 0: on average 0.5
    assert found["rouge_2_precision_micro"] == pytest.approx(1 / 2)
    assert found["rouge_2_recall_micro"] == pytest.approx(1 / 4.5)
    assert found["rouge_2_f1_micro"] == pytest.approx(2 / 6.5)
    assert found["rouge_l_f1_micro"] == pytest.approx(2 * 2.5 / 10.5)
    # the mean of the cases' own: 2 · 2 / 8, and the mean of 2 · 1 / 3 and 0
    assert found["rouge_1_f1"] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_rouge_of_the_best_reference_counts_that_one_alone() -> None:
    found = corpus(Rouge(against="best"), TEXTS)
    assert found["rouge_1_precision_micro"] == pytest.approx(3 / 4)
    assert found["rouge_1_recall_micro"] == pytest.approx(3 / 7)
    assert found["rouge_l_f1_micro"] == pytest.approx(6 / 11)


def test_bertscore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EncodedMetric, "encoder", property(lambda _: Compass()))
    cases = [
        written("one", "east", "north between"),
        written("two", "east north between", "east"),
    ]
    found = corpus(SummaryBertScore(), cases)
    # east is nearest to between, 0.6; seen from there north finds 0, between 0.6
    # then east 1, north 0, between 0.6 of 3 tokens; seen from there east finds itself
    assert found["bertscore_precision_micro"] == pytest.approx((0.6 + 1.6) / 4)
    assert found["bertscore_recall_micro"] == pytest.approx((0.6 + 1) / 3)
    both = 0.55, 1.6 / 3
    assert found["bertscore_f1_micro"] == pytest.approx(2 * both[0] * both[1] / sum(both))
    assert found["bertscore_precision"] == pytest.approx((0.6 + 1.6 / 3) / 2)
    empty = corpus(SummaryBertScore(), [written("one", "", "east")])
    assert math.isnan(empty["bertscore_precision_micro"])
    assert (empty["bertscore_recall_micro"], empty["bertscore_f1_micro"]) == (0, 0)
    two = corpus(SummaryBertScore(), [written("one", "east", "east", "north between")])
    # 1 of 1 and 0.6 of 1 token, on average 0.8 of 1; 1 of 1 and 0.6 of 2, on average 0.8 of 1.5
    assert two["bertscore_precision_micro"] == pytest.approx(0.8)
    assert two["bertscore_recall_micro"] == pytest.approx(0.8 / 1.5)


def test_normalised_wsumaccy() -> None:
    cases = [kept("one", "ab", "ab", "ab", "ab", "ac"), kept("two", "ax", "ab")]
    found = corpus(SummarizationAccuracy(), cases)
    # one: all right, to a (4 of 4), to b and to the end (3 of 4): the heaviest path
    first = (4 / 4 * 3 / 4 * 3 / 4) ** (1 / 3)
    # two: one word of two wrong, and one person: accuracy 1/2, weight and ceiling 1
    assert found["wsumaccy_normalised_micro"] == pytest.approx((first + 1 / 2) / (first + 1))
    assert found["wsumaccy_normalised"] == pytest.approx((1 + 1 / 2) / 2)
    assert found["wsumaccy_ceiling"] == pytest.approx((first + 1) / 2)


def test_a_path_without_arcs_counts_on_neither_side_of_normalised_wsumaccy() -> None:
    cases = [kept("one", "ab", "ab"), kept("two", "a", "a", "bc")]
    found = corpus(SummarizationAccuracy(boundary="exclude"), cases)
    # two is closest to a, which has no arc inside, though b-c has one and is a ceiling
    assert found["wsumaccy_normalised_micro"] == 1


def test_kept_words_and_compression() -> None:
    cases = [kept("one", "abc", "ab", "bcde"), kept("two", "f", "fghij")]
    found = corpus(KeptWords(), cases)
    # one: 2 and 2 shared, 3 kept; people kept 2 and 4, on average 3; two: 1 shared, 1 and 5 kept
    assert found["kept_precision_micro"] == pytest.approx((2 + 1) / (3 + 1))
    assert found["kept_recall_micro"] == pytest.approx((2 + 1) / (3 + 5))
    assert found["kept_f1_micro"] == pytest.approx(2 * 3 / (4 + 8))
    assert found["compression_micro"] == pytest.approx(4 / 20)
    assert found["compression_people_micro"] == pytest.approx(8 / 20)
    assert math.isnan(corpus(KeptWords(), [kept("one", "", "a")])["kept_precision_micro"])


def test_weighted_precision_and_word_strings() -> None:
    cases = [kept("one", "abc", "ab", "bcde"), kept("two", "f", "fghij")]
    found = corpus(WeightedPrecision(), cases) | corpus(WordStrings(), cases)
    # one: a, b, c were kept by 1, 2, 1 of 2, the three most kept by 2, 1, 1; two: f by 1 of 1
    assert found["weighted_precision_micro"] == pytest.approx((2 + 1) / (3 + 1))
    assert found["weighted_precision_normalised_micro"] == pytest.approx(1)
    # ab and bc of two pairs; f has no pair
    assert (found["p1_micro"], found["p2_micro"], found["p3_micro"]) == (1, 1, 0)


COPIES = range(4)  # an interval needs more than two items
RECORDS = [
    {"item": f"{item} {n}", "references": [{"text": text} for text in texts]}
    for n in COPIES
    for item, texts in (
        ("one", ("the cat is the cat", "the cat")),
        ("two", ("dog barks", "cow")),
    )
]


def outputs(system: str, *texts: str) -> list[dict[str, Any]]:
    return [
        {"item": f"{item} {n}", "system": system, "output": {"text": text}}
        for n in COPIES
        for item, text in zip(("one", "two"), texts, strict=True)
    ]


def test_micro_values_go_through_intervals_ceilings_and_comparisons() -> None:
    both = [*outputs("a", "the cat sat", "dog"), *outputs("b", "cat", "dog cow")]
    found = score(both, RECORDS, metrics="rouge", draws=50)
    one = found.systems["a"]["rouge_1_recall_micro"]
    # shared 2 and 2, 1 and 0: 2.5; of 5 and 2, 2 and 1: 5
    assert one.value == pytest.approx(2.5 / 5)
    assert one.low < one.value < one.high
    assert found.people is not None
    # each against the other: 2 of 2 and of 5, on average 2 of 3.5; then nothing of 1 and 2
    assert found.people.ceiling["rouge_1_recall_micro"].value == pytest.approx(2 / 5)
    alone = people(RECORDS, metrics="rouge", draws=50).people
    assert alone is not None
    assert alone.ceiling["rouge_1_recall_micro"].value == pytest.approx(2 / 5)
    # each in turn left out: means of what is left, which with two is the mean over both again
    assert found.people.systems["a"]["rouge_1_recall_micro"].value == pytest.approx(2.5 / 5)
    done = compare(both, RECORDS, metrics="rouge", values="rouge_1_recall_micro", permutations=20)
    # b: 1 and 1, then 1 and 1: 2 of 5
    assert done.contrasts[0].difference.value == pytest.approx(0.5 / 5)
