"""Language models of compaction: scores of places against plain look-ups, fit, and training."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from importlib import import_module
from itertools import combinations
from math import exp, isnan, log
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.speech.pronunciation import LANGUAGE_MODEL_FILE, LOG_BASE, find_model_folder
from earwitness.summaries.methods import language_models
from earwitness.summaries.methods.compaction import Ints, SpokenUtterance
from earwitness.summaries.methods.language_models import (
    ArpaModel,
    LanguageModel,
    measure_fit,
    open_language_model,
    train_language_model,
)
from earwitness.text.ngrams import (
    SENTENCE_END,
    SENTENCE_START,
    NGramModel,
    estimate_model,
    read_arpa,
    write_arpa,
)

WORDS = list("abcdef")


def all_places(size: int) -> tuple[Ints, Ints, Ints]:
    """All increasing triples of places, and those of first words."""
    triples = [*((0, 0, place) for place in range(1, size + 2)), *combinations(range(size + 2), 3)]
    before, last, following = np.array(triples).T
    return before, last, following


def random_model(seed: int, order: int = 3) -> NGramModel:
    rng = random.Random(seed)
    return estimate_model([rng.choices(WORDS, k=rng.randint(0, 9)) for _ in range(20)], order)


def pack(model: NGramModel) -> ArpaModel:
    """Return a model as it is read from a file, with six decimals."""
    return ArpaModel(read_arpa(write_arpa(model)))


def slow_score(model: NGramModel, words: Sequence[str], triple: Sequence[int]) -> float:
    """Score one triple of places by the plain look-up of n-grams; None of them is cached."""
    texts = [SENTENCE_START, *words, SENTENCE_END]
    before, last, following = triple
    context = [texts[last]] if before == last else [texts[before], texts[last]]
    word = texts[following]
    if (word,) not in model.log_probabilities:
        return -7 * log(10)
    return model.log_probability(word, context) * log(10)


# --- ARPA models ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_scores_of_places_equal_the_plain_look_up(seed: int, order: int) -> None:
    model = random_model(seed, order)
    words = random.Random(seed).choices([*WORDS, "new", "unseen"], k=11)
    assert {"new", "unseen"} & {*words}
    places = all_places(len(words))
    scores = pack(model).score_places(words)(*places)
    trigrams = NGramModel(min(order, 3), model.log_probabilities, model.log_backoffs)
    expected = [slow_score(trigrams, words, triple) for triple in zip(*places, strict=True)]
    assert scores.tolist() == pytest.approx(expected, abs=1e-5)


def test_arrays_of_places_keep_their_shape() -> None:
    words = ["a", "b", "c"]
    score = pack(random_model(1)).score_places(words)
    before, last = np.array([[0, 1], [0, 2]]), np.array([[1, 2], [2, 3]])
    found = score(before, last, np.full((2, 2), 4))
    assert found.shape == (2, 2)
    assert found[1, 0] == score(np.array([0]), np.array([2]), np.array([4]))[0]
    nothing = np.empty((0, 3), np.int64)
    assert score(nothing, nothing, nothing).shape == (0, 3)


@pytest.mark.parametrize(
    ("before", "last", "context"), [(0, 0, "<s>"), (0, 3, "<s> c"), (2, 4, "b d"), (5, 6, "e f")]
)
def test_probabilities_of_everything_that_follows_sum_to_1(
    before: int, last: int, context: str
) -> None:
    """All words of the model are at places 7 to 12, and the end at 13."""
    model = random_model(2)
    score = pack(model).score_places([*WORDS, *WORDS])
    following = np.arange(7, 14)
    total = np.exp(score(np.full(7, before), np.full(7, last), following)).sum()
    assert total + 10 ** model.log_probability("unseen", context.split()) == pytest.approx(1)


def write_model(path: Path, text: str) -> LanguageModel:
    path.write_text(text, encoding="utf-8")
    return open_language_model(str(path))


def test_arpa_files_are_opened_with_their_content_as_signature(tmp_path: Path) -> None:
    text = "".join(write_arpa(random_model(3)))
    model = write_model(tmp_path / "a.arpa", text)
    same = write_model(tmp_path / "b.lm", text)
    other = write_model(tmp_path / "c.arpa", "".join(write_arpa(random_model(4))))
    assert model.signature == same.signature != other.signature
    score = model.score_places(["new"])(*all_places(1))
    assert score[0] == pytest.approx(-7 * log(10))
    packed = tmp_path / "a.arpa.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert open_language_model(str(packed)).knows("a")


def test_words_are_found_in_any_case_of_letters(tmp_path: Path) -> None:
    lines = (
        "\\data\\\nngram 1=6\n\n\\1-grams:\n-1\tRAIN\n-.2\tParis\n-2\tparis\n-.5\tＡＢ\n-99\tnil\n"
    )
    model = write_model(tmp_path / "a.arpa", f"{lines}-1\t</s>\n\n\\end\\\n")
    assert [model.knows(word) for word in ("Rain,", "“paris”", "ab", "nil", "</s>", "")] == [
        *(True, True, True, False, False, False)
    ]
    scores = model.score_places(["rain", "PARIS", "AB"])(*all_places(3))[:4]
    assert scores.tolist() == pytest.approx([-1 * log(10), -2 * log(10), -0.5 * log(10), -log(10)])


def test_models_that_cannot_be_opened() -> None:
    with pytest.raises(UsageError, match="pocketsphynx: does not exist — use pocketsphinx"):
        open_language_model("pocketsphynx")
    with pytest.raises(UsageError, match=r"none\.arpa: does not exist — use pocketsphinx, or the"):
        open_language_model("none.arpa")


# --- The model of pocketsphinx -------------------------------------------------------------------


SPOKEN_TEXT = "the city council has decided to Close the old zorblax bridge, because it was"
SENTENCE = SPOKEN_TEXT.split()


def test_pocketsphinx_scores_equal_direct_queries() -> None:
    library = import_module("pocketsphinx")
    direct = library.NGramModel.readfile(str(find_model_folder() / LANGUAGE_MODEL_FILE))
    texts = [SENTENCE_START, *(word.lower().strip(",") for word in SENTENCE), SENTENCE_END]
    places = all_places(len(SENTENCE))
    score = open_language_model("pocketsphinx").score_places(SENTENCE)
    half = tuple(part[::2] for part in places)
    assert score(*half).tolist() == score(*places)[::2].tolist()
    for before, last, following, found in zip(*places, score(*places), strict=True):
        if texts[following] == "zorblax":
            assert found == pytest.approx(-7 * log(10))
            continue
        context = [texts[last]] if before == last else [texts[last], texts[before]]
        known = context[: context.index("zorblax")] if "zorblax" in context else context
        expected = direct.prob([texts[following], *known]) * log(LOG_BASE)
        assert found == pytest.approx(expected), (before, last, following)


def test_pocketsphinx_queries_each_triple_of_words_once() -> None:
    model = language_models.PocketsphinxModel()
    words = ["the", "rain", "the", "rain"]
    assert all(map(model.knows, words))
    asked, prob = [], model._prob
    model._prob = lambda triple: asked.append(triple) or prob(triple)  # type: ignore[func-returns-value]
    model.score_places(words)(*all_places(4))
    assert len(asked) == len({*asked}) > 10


# --- Fit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arpa", "pocketsphinx"])
def test_perplexity_is_that_of_known_words_and_ends(name: str) -> None:
    """The unigrams a .5, b .25, </s> .25: of "a b </s>" and "a x </s>", with a bigram b </s> of 1.

    The logarithms of a, b, </s> after b, a, and </s> after the unknown x, in base 2, are
    -1, -2, 0, -1 and -2, so the perplexity is 2 ** (6 / 5).
    """
    said = [SpokenUtterance(("a", "b")), SpokenUtterance(("A,", "x")), SpokenUtterance(())]
    logs = {("a",): -0.30103, ("b",): -0.60206, (SENTENCE_END,): -0.60206, ("b", SENTENCE_END): 0.0}
    model: LanguageModel = pack(NGramModel(2, logs, {}))
    expected = 2 ** (6 / 5)
    if name == "pocketsphinx":
        said = [SpokenUtterance(("rain", "falls")), SpokenUtterance(("Rain,", "zorblax"))]
        model = open_language_model(name)
        direct = language_models._load_pocketsphinx().prob
        asked = [["rain", "<s>"], ["falls", "rain", "<s>"], ["</s>", "falls", "rain"]]
        total = sum(map(direct, [*asked, ["rain", "<s>"], ["</s>"]]))
        expected = exp(-total * log(LOG_BASE) / 5)
    fit = measure_fit(model, said)
    assert fit.perplexity == pytest.approx(expected, rel=1e-5)
    assert (fit.oov_rate, fit.words) == (0.25, 4)
    assert fit.unknown_words == (said[1].words[1],)


def test_the_fit_to_nothing_is_undefined() -> None:
    fit = measure_fit(pack(random_model(1)), [SpokenUtterance(())])
    assert isnan(fit.oov_rate)
    assert isnan(fit.perplexity)
    assert (fit.words, fit.unknown_words) == (0, ())


def test_unknown_words_are_listed_by_frequency() -> None:
    words = tuple(f"w{number % 25} w{number % 7}".split()[number % 2] for number in range(100))
    fit = measure_fit(pack(random_model(1)), [SpokenUtterance(words)])
    assert fit.oov_rate == 1
    assert len(fit.unknown_words) == 20
    counts = [words.count(word) for word in fit.unknown_words]
    assert counts == sorted(counts, reverse=True)


# --- Training ------------------------------------------------------------------------------------


def test_text_is_split_into_sentences_of_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("It rains. “It SNOWS!”\n\n… –\n<s> it hails </s>\n", encoding="utf-8")
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected = estimate_model([["it", "rains"], ["it", "snows"], ["it", "hails"]])
    for sources in ([path], [packed], path.read_text(encoding="utf-8").splitlines()):
        assert train_language_model(sources).log_probabilities == expected.log_probabilities


def test_japanese_text_is_split_by_janome() -> None:
    model = train_language_model(["雨が降る。雪が降る。"], tokenize="japanese")
    assert ("が", "降る") in model.log_probabilities
    assert ("。",) not in model.log_probabilities
    assert 10 ** model.log_probability("降る", ["雪", "が"]) > 0.5


def test_training_reports_what_it_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the text has no words"):
        train_language_model(["...", ""])
    with pytest.raises(UsageError, match="order is 0 — use 1 to 5"):
        train_language_model(["it rains"], order=0)
    with pytest.raises(UsageError, match='unknown tokenizer "japanse" — did you mean "japanese"'):
        train_language_model(["it rains"], tokenize="japanse")
    with pytest.raises(InputError, match=r"none\.txt: cannot be read.*\n.*nothing was trained"):
        train_language_model([tmp_path / "none.txt"])
    path = tmp_path / "latin.txt"
    path.write_bytes(b"it rains\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"latin\.txt:2: is not UTF-8"):
        train_language_model([path])
