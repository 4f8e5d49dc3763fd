"""Word networks against plain versions that go through all paths, and peers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from algorithms import networks as plain
from earwitness.core import Case, Item, Key, Summary
from earwitness.summaries import path_distances
from earwitness.summaries.closest_path import alignment, closest
from earwitness.summaries.metrics import (
    KeptWords,
    SummarizationAccuracy,
    WeightedPrecision,
    WordAccuracy,
    WordStrings,
)
from earwitness.summaries.network import ItemCases, Network, ceiling, weight
from earwitness.summaries.path_distances import closest_of_small
from earwitness.summaries.positions import Extraction, extraction, recognised
from earwitness.summaries.text_metrics import Bleu, Rouge
from helpers.samples import many

ARCS: tuple[Any, ...] = ("observed", "original")
OBJECTIVES: tuple[Any, ...] = ("edits", "accuracy")
BOUNDARIES: tuple[Any, ...] = ("include", "exclude")
Kept = tuple[int, ...]


def kept(rng: random.Random, size: int, least: int = 1) -> Kept:
    return tuple(sorted(rng.sample(range(1, size + 1), rng.randint(least, size))))


def problems(seed: int, count: int) -> Iterator[tuple[random.Random, int, tuple[Kept, ...], Kept]]:
    """Small networks, and outputs with words that match nothing."""
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randint(1, 8)
        people = tuple(kept(rng, size) for _ in range(rng.randint(1, 5)))
        output = [0 if rng.random() < 0.15 else n for n in kept(rng, size, 0)]
        for _ in range(rng.choice([0, 0, 1, 3])):
            output.insert(rng.randint(0, len(output)), 0)
        yield rng, size, people, tuple(output)


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("arcs", ARCS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_closest_path_is_that_of_all_paths(arcs: Any, objective: Any) -> None:
    for _, size, people, output in problems(1, many(150, 4000)):
        slow = plain.build(size, people, arcs)
        fast = Network(size, people, arcs == "original")
        assert dict(fast.counts) == slow.counts
        want, got = (
            plain.closest(slow, output, objective),
            closest(fast, output, objective=objective),
        )
        assert (got.path, got.edits) == (want.path, want.edits), (people, output)
        for boundary in BOUNDARIES:
            inside = boundary == "include"
            share = plain.geometric_mean(slow, len(people), want.path, boundary)
            assert same(weight(fast, got.path, boundary=inside), share)
            best = plain.ceiling(slow, len(people), boundary)
            assert same(ceiling(fast, boundary=inside), best), people


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_closest_path_by_words_as_they_are_written(objective: Any) -> None:
    for rng, size, people, _ in problems(2, many(150, 4000)):
        said = [rng.choice("abc") for _ in range(size)]
        output = [rng.choice("abcd") for _ in range(rng.randint(0, 6))]
        want = plain.closest(plain.build(size, people), output, objective, said)
        words = dict(enumerate(said, 1))
        got = closest(Network(size, people), output, objective=objective, words=words)
        assert (got.path, got.edits) == (want.path, want.edits), (people, output, said)


def test_larger_networks_where_rows_are_narrow_agree_with_full_rows() -> None:
    rng = random.Random(3)
    for _ in range(many(5, 60)):
        size = rng.randint(60, 200)
        common = kept(rng, size, size // 3)

        def person(drawn: Kept = common, size: int = size) -> Kept:
            own = {n for n in drawn if rng.random() < 0.9} | {rng.randint(1, size)}
            return tuple(sorted(own))

        people, output = tuple(person() for _ in range(8)), person()
        by_position = closest(Network(size, people), output)
        identity = {n: str(n) for n in range(1, size + 1)}
        written = closest(Network(size, people), [str(n) for n in output], words=identity)
        assert by_position == written
        assert plain.edit_distance(output, by_position.path) == by_position.edits


def test_accuracy_never_falls_when_a_person_is_added() -> None:
    for rng, size, people, output in problems(4, many(300, 10_000)):
        before = closest(Network(size, people), output, objective="accuracy")
        more = (*people, kept(rng, size))
        after = closest(Network(size, more), output, objective="accuracy")
        assert after.accuracy >= before.accuracy
        both = Network(size, people), Network(size, more)
        edits = [closest(network, output).edits for network in both]
        assert edits[1] <= edits[0]


def test_alignments_have_the_fewest_edits_and_the_most_right_words() -> None:
    for rng, size, people, output in problems(5, many(150, 3000)):
        path = rng.choice(people)
        steps = alignment(output, path)
        assert [s.position for s in steps if s.position is not None] == list(path)
        assert [s.place for s in steps if s.place is not None] == list(range(len(output)))
        assert all(output[s.place] == s.position for s in steps if s.right and s.place is not None)
        wacc, correct = plain.word_accuracy(output, path)
        edits, hits = sum(bool(s.mark) for s in steps), sum(s.right for s in steps)
        assert (len(path) - edits) / len(path) == pytest.approx(wacc)
        assert hits / len(path) == pytest.approx(correct)
        del size


def case(size: int, people: tuple[Kept, ...], output: Kept) -> Case:
    words = tuple(f"w{n}" for n in range(1, size + 1))

    def summary(positions: Kept) -> Summary:
        written = tuple(words[n - 1] if n else "wrong" for n in positions)
        return Summary(" ".join(written), written, positions)

    references = tuple(summary(one) for one in people)
    return Case(Key("i", "s"), Item(1.0, words=words), summary(output), references)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_many_small_networks_at_once_are_those_of_one_at_a_time(boundary: Any) -> None:
    metric, cases = SummarizationAccuracy(boundary=boundary), list[Case]()
    for _, size, people, output in problems(14, many(60, 2000)):
        cases.append(case(size, people, output))
    rng = random.Random(15)
    for size in (30, 40, 64):
        for _ in range(3):
            people = tuple(kept(rng, size, size // 3) for _ in range(6))
            cases.append(case(size, people, (*kept(rng, size - 3), 0, 0)))
    fast, slow = metric.measure_many(cases), [metric.statistics(one) for one in cases]
    assert fast == pytest.approx(np.array(slow), rel=1e-12, abs=1e-12)
    views = metric.measure_views(cases)
    several = [one for one in cases if len(one.references) > 1]
    left_out = [
        np.mean([metric.statistics(fewer) for fewer in without_each(one)], axis=0)
        for one in several
    ]
    assert views.left_out == pytest.approx(np.array(left_out), rel=1e-12, abs=1e-12)
    assert np.array_equal(views.whole, fast)


def test_without_room_for_exact_sums_every_network_is_computed_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [case(size, people, output) for _, size, people, output in problems(17, 20)]
    want = SummarizationAccuracy().measure_many(cases)
    monkeypatch.setattr(path_distances, "LIMIT_OF_SMALL", 2**20)
    assert not path_distances.measure_small(ItemCases.group(cases), boundary=True).certain.any()
    assert SummarizationAccuracy().measure_many(cases) == pytest.approx(want, rel=1e-12)


def test_paths_of_small_networks_are_those_of_all_paths() -> None:
    uncertain = 0  # sums of log counts that are equal but for rounding
    for _, size, people, output in problems(16, many(100, 3000)):
        (item,) = ItemCases.group([case(size, people, output)])
        nodes = item.nodes[:-1].tolist()
        labels = [nodes[label] if label else -1 for label in reversed(output)]
        counts = item.counts(item.words + 1)
        got = closest_of_small(
            counts, np.array(labels, np.int64).reshape(-1, 1), np.array([len(output)])
        )
        path = [position for position, node in enumerate(nodes) if node > 0]
        path = [path[node - 1] for node in np.flatnonzero(got.before[1:-1, 0] >= 0) + 1]
        want = plain.closest(plain.build(size, people), output)
        assert got.edits.tolist() == [want.edits], (people, output)
        if got.certain.all():
            assert tuple(path) == want.path, (people, output)
        else:
            uncertain += 1
    assert uncertain <= many(100, 3000) / 100


def without_each(one: Case) -> Iterator[Case]:
    for left in range(len(one.references)):
        others = one.references[:left] + one.references[left + 1 :]
        yield replace(one, references=others)


def values(metric: Any, one: Case) -> dict[str, float]:
    found = metric.score(metric.measure(one)).tolist()
    return dict(zip([value.name for value in metric.values], found, strict=True))


def test_values_of_a_case_are_the_plain_ones() -> None:
    for _, size, people, output in problems(6, many(150, 3000)):
        one = case(size, people, output)
        found = values(WordStrings(), one) | values(WeightedPrecision(), one)
        for n in range(1, 6):
            assert same(found[f"p{n}"], plain.string_precision(output, people, n))
        weighted, normal = plain.weighted_precision(size, output, people)
        assert same(found["weighted_precision"], weighted if output else 0.0)
        assert same(found["weighted_precision_normalised"], normal if output else 0.0)
        pairs = [plain.word_accuracy(output, person) for person in people]
        found = values(WordAccuracy(), one)
        assert same(found["wacc"], sum(w for w, _ in pairs) / len(pairs))
        assert same(found["correct"], sum(c for _, c in pairs) / len(pairs))
        triples = [plain.kept_words(output, person) for person in people]
        found = values(KeptWords(), one)
        for place, name in enumerate(("kept_precision", "kept_recall", "kept_f1")):
            own = [t[place] if output else 0.0 for t in triples]
            assert same(found[name], sum(own) / len(own))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_sumaccy_of_a_corpus_is_the_mean_and_micro_pools(objective: Any, boundary: Any) -> None:
    metric = SummarizationAccuracy(objective=objective, boundary=boundary)
    rows, own, weighted, right, words = [], list[float](), list[float](), 0, 0
    for _, size, people, output in problems(7, many(60, 600)):
        rows.append(metric.measure(case(size, people, output)))
        network = plain.build(size, people)
        target = plain.closest(network, output, objective)
        own.append(float(target.accuracy))
        w = plain.wsumaccy(network, len(people), target, boundary) if output else 0.0
        weighted += [] if math.isnan(w) else [w]
        right, words = right + len(target.path) - target.edits, words + len(target.path)
    found = metric.score(np.sum(rows, axis=0)).tolist()
    assert found[0] == pytest.approx(sum(own) / len(own))
    assert found[1] == pytest.approx(right / words)
    assert found[2] == pytest.approx(sum(weighted) / len(weighted))


def test_texts_find_their_positions() -> None:
    rng = random.Random(8)
    for _ in range(many(300, 4000)):
        said = [rng.choice("abcd"[: rng.randint(1, 4)]) for _ in range(rng.randint(0, 9))]
        words = [said[n - 1] for n in kept(rng, len(said), 0)] if said else []
        if rng.random() < 0.5:
            words = [rng.choice("abcd") for _ in range(rng.randint(0, 4))]
        want, got = plain.align_text(words, said), extraction(words, said)
        if want is None:
            assert not isinstance(got, Extraction)
        else:
            assert got == want


def spans(rng: random.Random, number: int) -> list[tuple[float, float]]:
    now, found = 0.0, list[tuple[float, float]]()
    for _ in range(number):
        now += rng.randint(0, 3) / 4
        found.append((now, now + rng.randint(0, 4) / 4))
        now = found[-1][1]
    return found


def test_recognised_words_find_their_positions() -> None:
    rng = random.Random(9)
    for _ in range(many(300, 8000)):
        said = [rng.choice("abcd") for _ in range(rng.randint(0, 6))]
        words = [rng.choice("abcd") for _ in range(rng.randint(0, 6))]
        for times in (None, (spans(rng, len(words)), spans(rng, len(said)))):
            want, several = plain.align_recognised(words, said, times)
            got = recognised(words, said, times)
            assert (list(got.positions), got.ambiguous) == (want, several), (words, said, times)


@pytest.mark.peer
@pytest.mark.parametrize("smooth", ["none", "exp", "floor", "add-k"])
def test_bleu_is_that_of_sacrebleu(smooth: str) -> None:
    from sacrebleu.metrics.bleu import BLEU

    peer = BLEU(tokenize="none", smooth_method=smooth, effective_order=False, force=True)
    metric, rng = Bleu(smooth=smooth), random.Random(10)
    rows, outputs, references = [], list[str](), list[list[str]]()
    for _ in range(many(80, 1500)):
        said = [rng.choice("abcdef") for _ in range(rng.randint(1, 14))]
        texts = [" ".join(rng.choice(said) for _ in range(rng.randint(1, 10))) for _ in range(4)]
        output = "" if rng.random() < 0.05 else texts[0]
        one = case(1, ((1,),), (1,))
        summaries = [Summary(text, tuple(text.split()), None) for text in (output, *texts[1:])]
        rows.append(metric.measure(Case(one.key, one.item, summaries[0], tuple(summaries[1:]))))
        outputs.append(output)
        references.append(texts[1:])
        want = peer.sentence_score(output, texts[1:]).score / 100
        assert metric.score(rows[-1])[0] == pytest.approx(want, abs=1e-9), (output, texts)
    columns = [list(column) for column in zip(*references, strict=True)]
    want = peer.corpus_score(outputs, columns).score / 100
    assert metric.score(np.sum(rows, axis=0))[1] == pytest.approx(want, abs=1e-9)


@pytest.mark.peer
def test_rouge_is_that_of_rouge_score() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    peer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    rng, metric = random.Random(11), Rouge()
    words = ["running", "runs", "the", "cats", "cat", "is", "U.S.", "don't", "happily", "42", "été"]
    for _ in range(many(100, 3000)):
        mine, theirs = (" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(2))
        one = case(1, ((1,),), (1,))
        sides = (Summary(text, tuple(text.split()), None) for text in (mine, theirs))
        output, reference = sides
        found = values(metric, Case(one.key, one.item, output, (reference,)))
        want = peer.score(theirs, mine)
        for kind, name in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            got = [found[f"{kind}_{part}"] for part in ("precision", "recall", "f1")]
            assert got == pytest.approx(list(want[name]), abs=1e-12), (mine, theirs)


def test_micro_values_pool_counts_of_all_cases() -> None:
    corpus = [(size, people, output) for _, size, people, output in problems(12, many(40, 400))]
    cases = [case(*one) for one in corpus]
    found: dict[str, float] = {}
    for metric in (WordStrings(), WeightedPrecision(), WordAccuracy(), KeptWords()):
        total = metric.score(metric.measure_many(cases).sum(axis=0)).tolist()
        found |= dict(zip([value.name for value in metric.values], total, strict=True))
    for n in range(1, 6):
        strings = [max(len(output) - n + 1, 0) for _, _, output in corpus]
        shares = [plain.string_precision(output, people, n) for _, people, output in corpus]
        hits = sum(p * k for p, k in zip(shares, strings, strict=True) if k)
        assert same(found[f"p{n}_micro"], hits / sum(strings))
    pairs = [(output, one, 1 / len(people)) for _, people, output in corpus for one in people]
    rates = [plain.word_accuracy(output, one) for output, one, _ in pairs]
    words = sum(len(one) * w for _, one, w in pairs)
    right = [
        sum(rate[kind] * len(pair[1]) * pair[2] for rate, pair in zip(rates, pairs, strict=True))
        for kind in (0, 1)
    ]
    assert same(found["wacc_micro"], right[0] / words)
    assert same(found["correct_micro"], right[1] / words)
    shared = sum(len(set(output) & set(one)) * w for output, one, w in pairs)
    mine = sum(len(output) for _, _, output in corpus)
    assert same(found["kept_f1_micro"], 2 * shared / (mine + words))
    assert same(found["compression_micro"], mine / sum(size for size, _, _ in corpus))
    kept = [plain.weighted_precision(s, o, people)[0] * len(o) for s, people, o in corpus if o]
    assert same(found["weighted_precision_micro"], sum(kept) / mine)
    most = [
        k / plain.weighted_precision(s, o, people)[1]
        for (s, people, o), k in zip([one for one in corpus if one[2]], kept, strict=True)
        if k
    ]
    assert found["weighted_precision_normalised_micro"] <= sum(kept) / sum(most) + 1e-12
    assert not same(found["p1_micro"], found["p1"])


def test_sums_of_thousands_of_logarithms_do_not_lead_astray() -> None:
    size = 6000
    every = tuple(range(1, size + 1))
    gaps = [tuple(n for n in every if n % 7 != k) for k in (1, 3)]
    network = Network(size, (*[every] * 12, *gaps))
    found = closest(network, every)
    assert (found.path, found.edits) == (every, 0)
    wrong = tuple(0 if n % 50 == 0 else n for n in every)
    found = closest(network, wrong)
    assert (found.path, found.edits) == (every, 120)


def test_costs_beyond_32_bits_give_the_same_path() -> None:
    rng = random.Random(13)
    size = 2500
    people = tuple(kept(rng, size, size // 2) for _ in range(3))
    output = kept(rng, size, size // 2)
    for objective in OBJECTIVES:
        found = closest(Network(size, people), output, objective=objective)
        assert Levenshtein.distance(output, found.path) == found.edits


def test_words_with_very_long_times_are_aligned_all_the_same() -> None:
    said = ["the", "cherry", "the"]
    times = [(0.0, 1.0), (1.0, 2.0), (2.0, 1e12)]
    assert recognised(["the"], said, ([(0.0, 1e12)], times)).positions == (3,)
    both = recognised(["the", "cherry"], said, ([(0.0, 1.0), (1.0, 1e12)], times))
    assert both.positions == (1, 2)
