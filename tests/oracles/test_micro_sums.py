"""Micro values of ROUGE, BERTScore and kept words against plain sums over cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from algorithms import networks as plain
from earwitness.core import Case, Item, Key, Summary
from earwitness.models.text_encoder import find_encoder
from earwitness.summaries.metrics import KeptWords, SummarizationAccuracy
from earwitness.summaries.text_metrics import Rouge, SummaryBertScore
from earwitness.text.rouge import split_latin_words
from helpers.samples import many

WORDS = ["rain", "falls", "the", "town", "in", "walks", "東京"]


def texts(rng: random.Random, least: int = 1) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, 7)))


def cases(seed: int, count: int) -> list[Case]:
    """Free texts with one to three manual summaries."""
    rng, found = random.Random(seed), []
    for n in range(count):
        sides = [texts(rng, 0), *(texts(rng) for _ in range(rng.randint(1, 3)))]
        own, *others = (Summary(text, tuple(text.split()), None) for text in sides)
        found.append(Case(Key(f"item {n}", "s"), Item(1.0), own, tuple(others)))
    return found


def values(metric: Any, some: Sequence[Case]) -> dict[str, float]:
    found = metric.score(metric.measure_many(some).sum(axis=0)).tolist()
    return dict(zip([value.name for value in metric.values], found, strict=True))


def shared(mine: list[Any], theirs: list[Any]) -> int:
    """Strings that both have, crossed off one by one."""
    left, found = list(theirs), 0
    for one in mine:
        if one in left:
            left.remove(one)
            found += 1
    return found


def in_order(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """The longest common subsequence, by trying everything."""
    if not mine or not theirs:
        return 0
    if mine[0] == theirs[0]:
        return 1 + in_order(mine[1:], theirs[1:])
    return max(in_order(mine[1:], theirs), in_order(mine, theirs[1:]))


def counts(kind: str, mine: Sequence[str], theirs: Sequence[str]) -> tuple[int, int, int]:
    if kind == "rouge_l":
        return in_order(mine, theirs), len(mine), len(theirs)
    n = int(kind[-1])
    sides = [[tuple(side[i : i + n]) for i in range(len(side) - n + 1)] for side in (mine, theirs)]
    return shared(*sides), len(sides[0]), len(sides[1])


@pytest.mark.parametrize("kind", ["rouge_1", "rouge_2", "rouge_l"])
def test_rouge_pools_strings_of_all_cases(kind: str) -> None:
    some = cases(1, many(60, 1000))
    found = values(Rouge(), some)
    total = np.zeros(3)
    for case in some:
        mine = split_latin_words(case.output.text)
        each = [counts(kind, mine, split_latin_words(one.text)) for one in case.references]
        total += np.mean(each, axis=0)
    want = total[0] / total[1], total[0] / total[2], 2 * total[0] / (total[1] + total[2])
    got = [found[f"{kind}_{part}_micro"] for part in ("precision", "recall", "f1")]
    assert got == pytest.approx(want, abs=1e-12)


def test_bertscore_pools_similarities_of_all_tokens() -> None:
    some = cases(2, many(8, 60))
    found = values(SummaryBertScore(), some)
    encoder, total = find_encoder("minilm"), np.zeros(4)
    for case in some:
        each = []
        for one in case.references:
            encoder.encode([case.output.text, one.text])
            mine, theirs = both = [
                encoder.encoded_text(text) for text in (case.output.text, one.text)
            ]
            row = list[float]()
            for side, other in ((mine, theirs), (theirs, mine)):
                real = [v for v, w in zip(side.vectors, side.weights, strict=True) if w]
                near = [max(float(v @ o) for o in other.vectors) for v in real]
                row += [sum(near) if all(s.weights.any() for s in both) else 0, len(near)]
            each.append(row)
        total += np.mean(each, axis=0)
    precision, recall = total[0] / total[1], total[2] / total[3]
    assert found["bertscore_precision_micro"] == pytest.approx(precision, abs=1e-5)
    assert found["bertscore_recall_micro"] == pytest.approx(recall, abs=1e-5)
    f1 = 2 * precision * recall / (precision + recall)
    assert found["bertscore_f1_micro"] == pytest.approx(f1, abs=1e-5)


def extracts(seed: int, count: int) -> list[Case]:
    """Positions of up to seven words, some of the output's not said."""
    rng, found = random.Random(seed), []

    def summary(positions: Sequence[int]) -> Summary:
        words = tuple(f"w{n}" for n in positions)
        return Summary(" ".join(words), words, tuple(positions))

    for n in range(count):
        size = rng.randint(1, 7)
        every = range(1, size + 1)
        people = [sorted(rng.sample(every, rng.randint(1, size))) for _ in range(rng.randint(1, 4))]
        own = [
            0 if rng.random() < 0.2 else n for n in sorted(rng.sample(every, rng.randint(0, size)))
        ]
        item = Item(1.0, words=tuple(f"w{n}" for n in every))
        found.append(Case(Key(f"{n}", "s"), item, summary(own), tuple(map(summary, people))))
    return found


def test_kept_words_pool_words_of_all_cases() -> None:
    some = extracts(3, many(60, 1000))
    found = values(KeptWords(), some)
    both = mine = theirs = said = 0.0
    for case in some:
        own, number = set(case.output.positions or ()) - {0}, len(case.references)
        both += sum(len(own & set(one.positions or ())) for one in case.references) / number
        theirs += sum(len(one.words) for one in case.references) / number
        mine, said = mine + len(case.output.words), said + len(case.item.words)
    assert found["kept_precision_micro"] == pytest.approx(both / mine)
    assert found["kept_recall_micro"] == pytest.approx(both / theirs)
    assert found["compression_people_micro"] == pytest.approx(theirs / said)


@pytest.mark.parametrize("boundary", ["include", "exclude"])
@pytest.mark.parametrize("arcs", ["observed", "original"])
def test_normalised_wsumaccy_is_all_values_per_all_ceilings(boundary: Any, arcs: Any) -> None:
    some = extracts(4, many(60, 1000))
    found = values(SummarizationAccuracy(boundary=boundary, arcs=arcs), some)
    top = bottom = 0.0
    for case in some:
        people = [one.positions or () for one in case.references]
        network = plain.build(len(case.item.words), people, arcs)
        own = case.output.positions or ()
        target = plain.closest(network, own)
        value = plain.wsumaccy(network, len(people), target, boundary) if own else 0.0
        best = plain.ceiling(network, len(people), boundary)
        if not np.isnan(value) and not np.isnan(best) and best:
            top, bottom = top + value, bottom + best
    assert found["wsumaccy_normalised_micro"] == pytest.approx(top / bottom)
    assert found["wsumaccy_normalised_micro"] <= 1
