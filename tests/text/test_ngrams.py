"""Language models: probabilities that sum to 1, a model by hand, and files that others read."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from earwitness.text.ngrams import (
    NO_PROBABILITY_LOG10,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN,
    NGramModel,
    estimate_model,
    write_arpa,
)

Corpus = list[list[str]]
WORDS = list("abcdefg")


def random_corpus(seed: int) -> Corpus:
    """Sentences of up to eight words, some of which are frequent; one may be empty."""
    rng = random.Random(seed)
    weights = [2.0**-place for place in range(len(WORDS))]
    return [rng.choices(WORDS, weights, k=rng.randint(0, 8)) for _ in range(rng.randint(1, 30))]


def sum_over_vocabulary(model: NGramModel, context: tuple[str, ...]) -> float:
    """Sum over everything that can follow, which the start of a sentence cannot."""
    known = {ngram[0] for ngram in model.log_probabilities if len(ngram) == 1} - {SENTENCE_START}
    assert {SENTENCE_END, UNKNOWN} <= known
    return sum(10 ** model.log_probability(word, context) for word in known)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_probabilities_sum_to_1_in_every_context(seed: int, order: int) -> None:
    corpus = random_corpus(seed)
    model = estimate_model(corpus, order)
    seen = {pair for sentence in corpus for pair in pairwise([SENTENCE_START, *sentence])}
    contexts = {(), (SENTENCE_START,), *seen, *((word,) for word in WORDS)}
    contexts |= {(one, two) for one in WORDS[:4] for two in [*WORDS[:4], "never"]}
    assert contexts - seen
    for context in contexts:
        assert sum_over_vocabulary(model, context) == pytest.approx(1, abs=1e-9), context


def test_a_bigram_model_by_hand() -> None:
    """Of ``a b`` and ``a c``.

    Bigrams: <s> a (2), a b, a c, b </s>, c </s> (1 each), so n1 = 4, n2 = 1 and D = 4 / 6 = 2/3.
    Contexts of words: a 1, b 1, c 1, </s> 2, so n1 = 3, n2 = 1, D = 3 / 5; the total is 5. The
    unigrams have 4 kinds, so 0.6 · 4 / 5 = 0.48 is divided by a, b, c, </s> and <unk>: 0.096 each.
    """
    model = estimate_model([["a", "b"], ["a", "c"]], 2)
    unigrams = {"a": 0.4 / 5 + 0.096, SENTENCE_END: 1.4 / 5 + 0.096, UNKNOWN: 0.096}
    for word, probability in unigrams.items():
        assert 10 ** model.log_probability(word) == pytest.approx(probability)
    # after a: two kinds of two occurrences, so the weight of unigrams is 2/3 · 2 / 2
    assert 10 ** model.log_probability("b", ["a"]) == pytest.approx((1 / 3) / 2 + 2 / 3 * 0.176)
    assert 10 ** model.log_probability("a", ["a"]) == pytest.approx(2 / 3 * 0.176)
    # at the start: one kind of two occurrences, so the weight of unigrams is 2/3 / 2
    first = 10 ** model.log_probability("a", [SENTENCE_START])
    assert first == pytest.approx((2 - 2 / 3) / 2 + 1 / 3 * 0.176)


def test_only_the_last_words_of_a_context_matter() -> None:
    model = estimate_model(random_corpus(3), 3)
    long = model.log_probability("a", ["c", "d", "a", "b"])
    assert long == model.log_probability("a", ["a", "b"])


def test_unknown_words_have_one_probability() -> None:
    model = estimate_model([["a", "b"]], 2)
    assert model.log_probability("never") == model.log_probability(UNKNOWN)
    assert model.log_probability("never", ["a"]) == model.log_probability("other", ["a"])
    assert model.log_probability("a", ["never"]) == model.log_probability("a")


@pytest.mark.parametrize("corpus", [[], [[]], [["a"]]])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_tiny_corpora_have_models(corpus: Corpus, order: int) -> None:
    model = estimate_model(corpus, order)
    assert sum_over_vocabulary(model, (SENTENCE_START,)) == pytest.approx(1)
    assert list(write_arpa(model))[-1] == "\n\\end\\\n"


def parse_arpa(text: str) -> tuple[dict[int, int], NGramModel]:
    """The counts in the head of a file, and its model."""
    counts, logs, backoffs, size = dict[int, int](), {}, {}, 0
    for line in text.splitlines():
        if line.startswith("ngram "):
            order, _, count = line.removeprefix("ngram ").partition("=")
            counts[int(order)] = int(count)
        elif line.endswith("-grams:"):
            size = int(line[1:].partition("-")[0])
        elif line and not line.startswith("\\"):
            log, words, *backoff = line.split("\t")
            ngram = tuple(words.split(" "))
            assert len(ngram) == size
            logs[ngram] = float(log)
            if backoff:
                backoffs[ngram] = float(backoff[0])
    return counts, NGramModel(max(counts), logs, backoffs)


@pytest.mark.parametrize("order", [2, 3])
def test_arpa_lines_hold_the_model(order: int) -> None:
    model = estimate_model(random_corpus(1), order)
    counts, parsed = parse_arpa("".join(write_arpa(model)))
    sizes = [len(ngram) for ngram in model.log_probabilities]
    assert counts == {size: sizes.count(size) for size in range(1, order + 1)}
    assert parsed.log_probabilities == pytest.approx(dict(model.log_probabilities), abs=1e-6)
    assert parsed.log_backoffs == pytest.approx(dict(model.log_backoffs), abs=1e-6)
    assert parsed.log_probabilities[(SENTENCE_START,)] == NO_PROBABILITY_LOG10


def test_pocketsphinx_reads_the_same_probabilities(tmp_path: Path) -> None:
    from pocketsphinx import Config, LogMath
    from pocketsphinx import NGramModel as OtherModel

    model = estimate_model(random_corpus(5), 3)
    path = tmp_path / "small.arpa"
    path.write_text("".join(write_arpa(model)), encoding="utf-8")
    math = LogMath(base=1.00001)
    other = OtherModel(Config(lm=None, loglevel="FATAL"), math, str(path))
    rng = random.Random(1)
    checked = 0
    for _ in range(60):
        history = rng.choices(WORDS, k=rng.randint(0, 2))
        word = rng.choice([*WORDS, SENTENCE_END])
        if (word,) in model.log_probabilities:
            log = other.prob([word, *reversed(history)])
            expected = model.log_probability(word, history)
            assert math.log_to_log10(log) == pytest.approx(expected, abs=1e-3), (word, history)
            checked += 1
    assert checked > 30
