"""Summaries of utterances and of whole speeches, weights and models."""

from __future__ import annotations

import pytest

from earwitness.errors import UsageError
from earwitness.summaries.methods.compaction import ScoreWeights
from earwitness.summaries.methods.summarize import open_models, parse_weights, summarize

UTTERANCES = [
    "the city council voted late on tuesday night to close the old harbor bridge",
    "so it is as it was",
    "heavy rain has flooded several villages along the river",
]


def test_the_ratio_applies_to_every_utterance() -> None:
    made = summarize(UTTERANCES, ratio=0.4, language_model="none")
    assert [len(one.positions) for one in made.compactions] == [6, 2, 4]
    assert [one.utterance.item for one in made.compactions] == [
        "utterance-001",
        "utterance-002",
        "utterance-003",
    ]


def test_in_a_speech_utterances_that_matter_less_are_shortened_more() -> None:
    made = summarize(UTTERANCES, ratio=0.4, scope="speech", weights=ScoreWeights(linguistic=0))
    kept = [len(one.positions) for one in made.compactions]
    assert sum(kept) == made.kept_count == 12
    assert kept[1] == 0


def test_parts_of_the_score_are_those_of_the_scores_in_use() -> None:
    made = summarize(UTTERANCES, ratio=0.4)
    for one in made.compactions:
        assert one.score == pytest.approx(sum(one.parts.values()))
        assert one.parts["linguistic"] < 0 < one.parts["significance"]
        assert one.parts["confidence"] == one.parts["concatenation"] == 0


def test_the_fit_of_the_language_model_is_noted() -> None:
    made = summarize(["the qwrtz rains"], ratio=1.0)
    assert made.oov_rate == pytest.approx(1 / 3)
    assert made.perplexity > 1
    assert "33.3% unknown words (qwrtz)" in made.notes[0]
    without = summarize(["it rains"], ratio=1.0, language_model="none")
    assert without.oov_rate != without.oov_rate
    assert without.notes == ()


@pytest.mark.parametrize("scope", ["utterance", "speech"])
def test_words_keep_their_order_and_ratio_1_keeps_all(scope: str) -> None:
    made = summarize(UTTERANCES, ratio=1.0, scope=scope)
    for one, text in zip(made.compactions, UTTERANCES, strict=True):
        assert list(one.words) == text.split()


@pytest.mark.parametrize("scope", ["utterance", "speech"])
def test_empty_and_short_utterances_are_summarized(scope: str) -> None:
    made = summarize([[], ["rain"], ["it", "rains"]], ratio=0.4, scope=scope)
    kept = [len(one.positions) for one in made.compactions]
    assert kept == [0, 1, 1] if scope == "utterance" else sum(kept) == 1


def test_an_utterance_of_200_words_and_unknown_words_is_summarized() -> None:
    words = [f"qx{number % 50}" for number in range(200)]
    made = summarize([words], ratio=0.1)
    assert made.kept_count == 20
    assert made.oov_rate == 1.0


@pytest.mark.parametrize("ratio", [0.0, -0.1, 1.01, float("nan")])
def test_ratios_outside_their_range_are_refused(ratio: float) -> None:
    with pytest.raises(UsageError, match="ratio must be above 0 and at most 1"):
        summarize(["it rains"], ratio=ratio)


def test_a_beam_of_0_searches_all_summaries() -> None:
    words = ("the rain in spain falls mainly on the plain and " * 7).split()
    exact = summarize([words], ratio=0.2, beam=0)
    fast = summarize([words], ratio=0.2, beam=2)
    assert exact.compactions[0].score >= fast.compactions[0].score


def test_weights_are_read_by_letter_and_name() -> None:
    assert parse_weights(["l=0", "Significance=3"]) == ScoreWeights(linguistic=0, significance=3)
    for text, message in (
        ("X=1", 'unknown score "x"'),
        ("I=two", "is not a number"),
        ("I", "is not a number"),
        ("I=-1", "must be 0 or a positive number"),
        ("I=nan", "must be 0 or a positive number"),
    ):
        with pytest.raises(UsageError, match=message):
            parse_weights([text])


def test_other_languages_need_a_language_model_of_the_user() -> None:
    models, notes = open_models(language="fr")
    assert models.language_model is None
    assert "no language model for the language" in notes[0]
    assert open_models(language_model="none", language="fr")[1] == ()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"language": "xx"}, "no word frequencies"),
        ({"language_model": "nowhere.arpa"}, "nowhere.arpa"),
        ({"grammar": "nowhere.json"}, "nowhere.json"),
        ({"scope": "talk"}, "unknown scope"),
        ({"topic": "nouns"}, "topic"),
    ],
)
def test_wrong_options_are_refused(option: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        summarize(["it rains"], **option)  # type: ignore[arg-type]
