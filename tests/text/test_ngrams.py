"""Language models: probabilities that sum to 1, models by hand, and ARPA files of all tools."""

from __future__ import annotations

import gzip
import random
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import InputError
from earwitness.text.ngrams import (
    NO_PROBABILITY_LOG10,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN,
    NGramModel,
    PackedNGrams,
    estimate_model,
    read_arpa,
    write_arpa,
)

Corpus = list[list[str]]
WORDS = list("abcdefg")


def random_corpus(seed: int) -> Corpus:
    """Sentences of up to eight words, some of which are frequent; one may be empty."""
    rng = random.Random(seed)
    weights = [2.0**-place for place in range(len(WORDS))]
    return [rng.choices(WORDS, weights, k=rng.randint(0, 8)) for _ in range(rng.randint(1, 30))]


def unpack(packed: PackedNGrams) -> NGramModel:
    """Return the model of arrays, n-gram by n-gram."""
    logs, backoffs = dict[tuple[str, ...], float](), dict[tuple[str, ...], float]()
    contexts: list[tuple[str, ...]] = [()]
    for level in packed.levels:
        codes = [divmod(code, len(packed.words)) for code in level.codes.tolist()]
        contexts = [(*contexts[context], packed.words[word]) for context, word in codes]
        for values, found in ((level.logs, logs), (level.backoffs, backoffs)):
            pairs = zip(contexts, values.tolist(), strict=True)
            found.update((ngram, value) for ngram, value in pairs if value == value)
    return NGramModel(len(packed.levels), logs, backoffs)


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


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_arpa_files_hold_the_model(order: int) -> None:
    model = estimate_model(random_corpus(1), order)
    text = "".join(write_arpa(model))
    found = unpack(read_arpa(text.splitlines()))
    assert found.order == order
    assert dict(found.log_probabilities) == pytest.approx(dict(model.log_probabilities), abs=1e-6)
    assert dict(found.log_backoffs) == pytest.approx(dict(model.log_backoffs), abs=1e-6)
    assert found.log_probabilities[(SENTENCE_START,)] == NO_PROBABILITY_LOG10
    assert len(found.log_probabilities) == len(model.log_probabilities)
    assert "".join(write_arpa(found)) == text


def test_pocketsphinx_reads_the_same_probabilities(tmp_path: Path) -> None:
    library = import_module("pocketsphinx")
    model = estimate_model(random_corpus(5), 3)
    path = tmp_path / "small.arpa"
    path.write_text("".join(write_arpa(model)), encoding="utf-8")
    math = library.LogMath(base=1.00001)
    other = library.NGramModel(library.Config(lm=None, loglevel="FATAL"), math, str(path))
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


# --- Files of other tools ------------------------------------------------------------------------


SRILM = """
\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-0.5\t</s>
-99\t<s>\t-0.3
-1.2\t<unk>
-0.6\train\t-0.2
-0.7\tit\t-0.1

\\2-grams:
-0.25\t<s> it\t-0.15
-0.35\tit rain
-0.45\train </s>

\\3-grams:
-0.05\t<s> it rain

\\end\\
"""
KENLM = (
    SRILM.removeprefix("\n")
    .replace("<unk>", "<unk>\t0")
    .replace("-99\t<s>", "0\t<s>")
    .replace("</s>\n-99", "</s>\t0\n-99")
    .replace("it rain\n-0.45", "it rain\t0\n-0.45")
)
CMU = """
#############################################################################
## Copyright (c) 1996, Carnegie Mellon University, Cambridge University,
=============================================================================
Beginning of data mark: \\data\\
ngram 1=nr            # number of 1-grams

\\1-grams:
p_1     wd_1 bo_wt_1

end of data mark: \\end\\

""" + SRILM.replace("\t", " ").replace("<unk>", "<UNK> 0.0000").replace("-0.1\n", "-0.1 \n")
MITLM = SRILM.removeprefix("\n").replace("\n\n", "\n").replace("-0.35\tit", "-3.5e-1\tit")
IRSTLM = SRILM.replace("ngram 1=5", "ngram  1=       5").replace(
    "-0.45\train </s>", "-.45\train </s>\t0"
)


@pytest.mark.parametrize("text", [SRILM, KENLM, CMU, MITLM, IRSTLM, "\ufeff" + SRILM[1:]])
def test_layouts_of_all_tools(text: str) -> None:
    model = unpack(read_arpa([text]))
    assert model.order == 3
    assert model.log_probability("rain", ["<s>", "it"]) == -0.05
    assert model.log_probability("rain", ["it", "it"]) == -0.35
    assert model.log_probability("</s>", ["<s>", "it"]) == pytest.approx(-0.15 - 0.1 - 0.5)
    assert model.log_probability("it", ["<s>", "rain"]) == pytest.approx(-0.2 - 0.7)
    assert model.log_probability("snow") == -1.2
    assert model.log_backoffs.get(("rain", "</s>"), 0.0) == 0.0
    assert {ngram for ngram in model.log_probabilities if len(ngram) == 3} == {
        ("<s>", "it", "rain")
    }


def test_files_may_be_compressed_and_have_other_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.arpa.gz"
    path.write_bytes(gzip.compress(SRILM.replace("\n", "\r\n").encode()))
    assert unpack(read_arpa(path)) == unpack(read_arpa([SRILM]))


def test_reserved_words_may_be_in_upper_case() -> None:
    text = SRILM.replace("<s>", "<S>").replace("</s>", "</S>").replace("<unk>", "<UNK>")
    model = unpack(read_arpa([text.replace("rain", "RAIN")]))
    assert model.log_probability("RAIN", [SENTENCE_START, "it"]) == -0.05
    assert model.log_probability(UNKNOWN) == -1.2


def test_probabilities_of_zero_are_finite_and_rounding_errors_are_removed() -> None:
    text = SRILM.replace("-0.6\train", "-inf\train").replace("-0.5\t", "0.0000001\t")
    model = unpack(read_arpa([text]))
    assert model.log_probability("rain") == NO_PROBABILITY_LOG10
    assert model.log_probability("</s>") == 0


def test_contexts_without_an_entry_have_no_values() -> None:
    """The bigram <s> it is missing, but the trigram that continues it is there."""
    text = SRILM.replace("-0.25\t<s> it\t-0.15\n", "").replace("ngram 2=3", "ngram 2=2")
    model = unpack(read_arpa([text]))
    assert model.log_probability("rain", ["<s>", "it"]) == -0.05
    assert ("<s>", "it") not in model.log_probabilities
    assert model.log_probability("it", ["<s>"]) == pytest.approx(-0.3 - 0.7)
    assert len(model.log_probabilities) == 8


WRONG_FILES = {
    "no data": ("It rains.\n", ["model: is not an ARPA file: no line \\data\\"]),
    "iARPA": ("iARPA\n" + SRILM, ["model:1: is an iARPA file of IRSTLM"]),
    "truncated": (
        SRILM.partition("\\3-grams")[0],
        ["model:5: announces 1 3-grams, but there are 0", "model: ends without \\end\\"],
    ),
    "counts": (
        SRILM.replace("ngram 2=3", "ngram 2=4").replace("ngram 3=1\n", ""),
        ["model:4: announces 4 2-grams, but there are 3", "add the line: ngram 3=1"],
    ),
    "words": (
        SRILM.replace("it rain\n\n", "it snow\n\n").replace("rain </s>", "hail </s>"),
        ['model:17: "hail" is not among the 1-grams', 'model:20: "snow" is not among the 1-grams'],
    ),
    "numbers": (
        SRILM.replace("-0.6", "-0,6").replace("-0.25", "0.25").replace("-0.15", "x"),
        ['model:11: "-0,6" is not a number', 'model:15: "x" is not a number', "0.25, which is ab"],
    ),
    "columns": (
        SRILM.replace("it rain\n-0.45", "it rain down now\n-0.45"),
        ["model:16: has 5 columns, not 3 or 4"],
    ),
    "twice": (
        SRILM.replace("rain\n-0.45\train </s>", "rain\n-0.45\tit rain"),
        ['model:17: "it rain" occurs twice among the 2-grams'],
    ),
    "word twice": (
        SRILM.replace("-0.7\tit", "-0.7\train"),
        ['model:12: "rain" occurs twice among the 1-grams', '"it" is not among the 1-grams'],
    ),
    "title": (SRILM.replace("\\2-grams:", "\\4-grams:"), ['model:14: unexpected "\\4-grams:"']),
    "empty": ("\\data\\\n\\end\\\n", ["model: has no 1-grams"]),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_all_problems_of_a_file_are_reported(name: str) -> None:
    text, wanted = WRONG_FILES[name]
    with pytest.raises(InputError, match="nothing was read") as caught:
        read_arpa([text])
    assert [message for message in wanted if message not in str(caught.value)] == []


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.arpa: cannot be read: No such file"):
        read_arpa(tmp_path / "none.arpa")
    path = tmp_path / "latin.arpa"
    path.write_bytes(SRILM.replace("rain", "café").encode("latin-1"))
    with pytest.raises(InputError, match=r'latin\.arpa:11: "caf\\xe9" is not UTF-8'):
        read_arpa(path)
    path.write_bytes(gzip.compress(SRILM.encode())[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        read_arpa(path)


def test_rows_of_packed_ngrams() -> None:
    """Rows are found for arrays, also where words or contexts are unknown."""
    packed = read_arpa(write_arpa(estimate_model(random_corpus(4), 3)))
    ngrams = list(unpack(packed).log_probabilities)
    rows = {n: [one for one in ngrams if len(one) == n] for n in (2, 3)}
    words = [*WORDS, "never", SENTENCE_END]
    numbers = np.array([packed.numbers.get(word, -1) for word in words])
    pairs = packed.find_rows(2, numbers[:, None], numbers[None, :])
    triples = packed.find_rows(3, pairs[:, :, None], numbers)
    for one, first in enumerate(words):
        for two, second in enumerate(words):
            pair = (first, second)
            assert pairs[one, two] == (rows[2].index(pair) if pair in rows[2] else -1)
            for three, third in enumerate(words):
                triple = (first, second, third)
                row = rows[3].index(triple) if triple in rows[3] else -1
                assert triples[one, two, three] == row
    assert (triples >= 0).any()
