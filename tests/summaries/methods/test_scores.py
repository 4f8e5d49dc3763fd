"""Scores of words: significance by hand, topic words of taggers, confidence, and tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import inf, log, nan
from types import ModuleType

import numpy as np
import pytest

from earwitness.errors import MissingExtra, UsageError
from earwitness.summaries.methods import scores
from earwitness.summaries.methods.compaction import SpokenUtterance
from earwitness.summaries.methods.language_models import ArpaModel
from earwitness.summaries.methods.scores import (
    FLAT_SIGNIFICANCE,
    make_tables,
    score_confidence,
    score_significance,
    significance_signature,
)
from earwitness.text.ngrams import estimate_model, read_arpa, write_arpa
from earwitness.text.words import split_japanese


def said(text: str) -> SpokenUtterance:
    return SpokenUtterance(tuple(text.split()))


def topics(text: str, **options: str) -> list[str]:
    """The topic words of an utterance."""
    utterance = said(text)
    (found,) = score_significance([utterance], flat=-1.0, **options)
    return [word for word, score in zip(utterance.words, found, strict=True) if score >= 0]


# --- Significance --------------------------------------------------------------------------------


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Frequencies of 202 words, of which 200 are more frequent than rain and snow."""
    frequent = {f"the{number}": 0.004 for number in range(200)}
    found = {**frequent, "rain": 0.1 / 200, "snow": 0.02 / 200}
    library = ModuleType("wordfreq")
    library.get_frequency_dict = lambda _: found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wordfreq", library)
    clear_caches()
    yield
    clear_caches()


def clear_caches() -> None:
    scores._load_corpus.cache_clear()
    scores._load_frequent_words.cache_clear()
    scores._choose_topic_rule.cache_clear()


@pytest.mark.usefixtures("small_corpus")
def test_significance_by_hand() -> None:
    """The frequencies sum to 0.8006; rain occurs three times, an unknown word once."""
    utterances = [said("the1 Rain, the2 rain …"), said("rain and"), said("")]
    first, second, third = score_significance(utterances, topic="frequency")
    rain = 3 * log(0.8006 / 0.0005)
    assert first.tolist() == pytest.approx([1.0, rain, 1.0, rain, 1.0])
    assert second.tolist() == pytest.approx([rain, log(0.8006 / 0.0001)])
    assert third.tolist() == []
    (other,) = score_significance([said("the1 rain")], topic="frequency", flat=2.5)
    assert other.tolist() == pytest.approx([2.5, log(0.8006 / 0.0005)])


def test_frequent_words_and_punctuation_are_no_topic_words() -> None:
    assert topics("the rain is not over , this zorblax", topic="frequency") == ["rain", "zorblax"]
    assert topics("la lluvia no es el problema", language="es", topic="frequency") == [
        "lluvia",
        "problema",
    ]


def test_japanese_topic_words_are_those_of_janome() -> None:
    words = split_japanese("昨日の会議で橋を作ることが決まりました。")
    text = " ".join(words)
    assert topics(text, language="ja", topic="tagger") == ["昨日", "会議", "橋", "作る", "決まり"]
    other = "昨日の 会議 をする 三 人"  # not as janome splits it
    assert topics(other, language="ja", topic="tagger") == ["昨日の", "会議", "人"]


def test_the_tagger_of_japanese_is_used_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "topic=frequency(200)" in significance_signature("en")
    assert "topic=tagger(janome=" in significance_signature("ja")
    assert "topic=frequency(200)" in significance_signature("fr")
    assert "topic=frequency(200)" in significance_signature("en", "frequency")
    assert f"flat={FLAT_SIGNIFICANCE:g}" in significance_signature("en")
    with pytest.raises(
        UsageError, match=r'only for Japanese, not for "fr" — use topic="frequency"'
    ):
        significance_signature("fr", "tagger")

    clear_caches()
    monkeypatch.setattr(scores, "find_spec", lambda _: None)
    assert "topic=frequency(200)" in significance_signature("ja")
    with pytest.raises(MissingExtra, match=r'"tagger" needs janome, .*\[ja\]'):
        score_significance([said("雨")], language="ja", topic="tagger")
    clear_caches()


def test_numbers_and_compounds_have_the_frequencies_of_their_parts() -> None:
    (found,) = score_significance([said("2019 long-term harbour zorblax")])
    year, compound, rare, unknown = found.tolist()
    assert year < unknown
    assert compound < rare < unknown
    (found,) = score_significance([said(f"zorblax {'9' * 5000}")])
    assert found[0] == found[1]


@pytest.mark.parametrize("code", ["english", "", "x", "en us"])
def test_codes_that_are_no_languages_are_refused(code: str) -> None:
    with pytest.raises(UsageError, match=r"unknown language|no word frequencies"):
        score_significance([said("rain")], language=code)


def test_unknown_rules_and_languages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match='"taggr" — did you mean "tagger"'):
        score_significance([said("rain")], topic="taggr")
    with pytest.raises(UsageError, match='no word frequencies of language "xx" — known: ar, bg'):
        score_significance([said("rain")], language="xx")
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    clear_caches()
    with pytest.raises(MissingExtra, match=r"significance scores needs wordfreq.*summarizer"):
        score_significance([said("rain")])


# --- Confidence and tables -----------------------------------------------------------------------


def test_confidence_is_the_limited_logarithm_of_posteriors() -> None:
    words = tuple("abcdef")
    utterance = SpokenUtterance(words, confidences=(1.0, 0.5, 0.0, nan, 1.2, -inf))
    found = score_confidence(utterance)
    assert found is not None
    known = [0, log(0.5), log(0.001), 0, log(0.001)]
    assert found.tolist() == pytest.approx([*known[:3], sum(known) / 5, *known[3:]])
    assert score_confidence(SpokenUtterance(words)) is None


def test_tables_have_the_scores_of_every_utterance() -> None:
    utterances = [said("it rains a lot"), SpokenUtterance(("snow",), confidences=(0.5,)), said("")]
    model = ArpaModel(read_arpa(write_arpa(estimate_model([["it", "rains"], ["snow"]]))))
    tables = make_tables(utterances, model, topic="frequency")
    assert [table.size for table in tables] == [4, 1, 0]
    significance = score_significance(utterances, topic="frequency")
    for table, utterance, own in zip(tables, utterances, significance, strict=True):
        assert table.significance is not None
        assert table.linguistic is not None
        assert table.significance.tolist() == own.tolist()
        assert (table.confidence is None) == (utterance.confidences is None)
        assert table.concatenation is None
        start, end = np.array([0]), np.array([table.size + 1])
        direct = model.score_places(utterance.words)
        assert table.linguistic(start, start, end) == direct(start, start, end)


def test_scores_can_be_left_out() -> None:
    (table,) = make_tables([said("it rains")], None, significance=False)
    assert (table.size, table.linguistic, table.significance) == (2, None, None)
