"""Tests of the weights of scores: measured summaries, the fit, cross-validation and files."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.core import Case, Summary
from earwitness.errors import InputError, UsageError
from earwitness.scoring.score import score
from earwitness.summaries.methods.compaction import ScoreWeights, SpokenUtterance
from earwitness.summaries.methods.search import search_summaries
from earwitness.summaries.methods.tune import (
    WEIGHT_GRID,
    ReferencedSpeech,
    RememberedTrigrams,
    estimate_mean,
    fit_weights,
    format_tuning,
    read_references,
    read_weights,
    score_references,
    tune_weights,
    write_weights,
)
from helpers.letter_models import LetterModels, LetterTrigrams, letter_records, recognize_records

MODELS = LetterModels()


def make_speech(items: int = 6, *, heard: bool = False, joined: bool = False) -> ReferencedSpeech:
    """Return utterances with scores and references."""
    records = letter_records(items)
    read = read_references(recognize_records(records) if heard else records)
    return score_references(*read, LetterModels(joined=joined))


def refer_to_summaries(speech: ReferencedSpeech, weights: ScoreWeights) -> ReferencedSpeech:
    """Return utterances whose references are their summaries with given weights."""
    cases = list[Case]()
    for case, kept in zip(speech.cases, speech.summarize(weights), strict=True):
        words = tuple(case.item.words[position - 1] for position in kept)
        cases.append(replace(case, references=(Summary(" ".join(words), words, kept),)))
    return ReferencedSpeech(speech.utterances, tuple(cases), speech.tables, speech.counts)


# --- Scores and measured summaries ---------------------------------------------------------------


def test_remembered_trigrams_are_those_of_the_places() -> None:
    model = LetterTrigrams(np.arange(9) % 5, [])
    remembered = RememberedTrigrams(model)
    triples = np.array(list(combinations(range(9), 3)), np.int64).T
    for places in (triples, triples, triples[:, 1:], triples):
        np.testing.assert_array_equal(remembered(*places), model(*places))


def test_trigrams_are_fetched_once_for_all_weights() -> None:
    utterances, cases = read_references(letter_records(3))
    fetched = list[LetterTrigrams]()

    class WatchedModels(LetterModels):
        def make_table(self, utterance: SpokenUtterance) -> Any:
            table = super().make_table(utterance)
            assert isinstance(table.linguistic, LetterTrigrams)
            fetched.append(table.linguistic)
            return table

    speech = score_references(utterances, cases, WatchedModels())
    speech.measure_weights([ScoreWeights(1, number, 0, 0) for number in WEIGHT_GRID])
    assert [len(one.calls) for one in fetched] == [1, 1, 1]


@pytest.mark.parametrize("heard", [False, True])
def test_sumaccy_is_that_of_score(heard: bool) -> None:
    records = letter_records(5)
    records = recognize_records(records) if heard else records
    utterances, cases = read_references(records)
    speech = score_references(utterances, cases, MODELS)
    weights = ScoreWeights(1, 2, 1, 0)
    outputs = list[dict[str, Any]]()
    for record, kept in zip(records, speech.summarize(weights), strict=True):
        output = {"positions": list(kept)}
        if heard:
            output = {"words": [record["recognized"][position - 1] for position in kept]}
        outputs.append({"item": record["item"], "system": "mine", "output": output})
    made = score(outputs, records, metrics="sumaccy", ceiling=False)
    found = estimate_mean(speech.measure_weights([weights])[0], speech.items)
    wanted = made.systems["mine"]["sumaccy"]
    assert (found.value, found.low, found.high) == pytest.approx(
        (wanted.value, wanted.low, wanted.high)
    )


def test_random_and_first_words_are_the_baselines_of_score() -> None:
    records = letter_records(4)
    outputs = [{"item": one["item"], "system": "x", "output": {"positions": []}} for one in records]
    made = score(
        outputs, records, metrics="sumaccy", baselines=["lead", "random"], seed=3, ceiling=False
    )
    speech = make_speech(4)
    for name, kept in {"lead": speech.first_words(), "random": speech.draw_words(3)}.items():
        value = made.systems[f"({name})"]["sumaccy"].value
        assert speech.measure(kept).mean() == pytest.approx(value)


def test_summaries_have_the_number_of_words_of_people_or_of_the_ratio() -> None:
    utterances, cases = read_references(letter_records(2))
    assert score_references(utterances, cases, MODELS).counts == (4, 4)
    assert score_references(utterances, cases, MODELS, ratio=0.2).counts == (2, 2)


def test_an_utterance_without_recognized_words_has_an_empty_summary() -> None:
    records = [{**one, "recognized": []} for one in letter_records(2)]
    speech = score_references(*read_references(records), MODELS)
    np.testing.assert_array_equal(speech.measure_weights([ScoreWeights()]), [[0.0, 0.0]])
    assert speech.draw_words() == speech.first_words() == [(), ()]


# --- Fit -----------------------------------------------------------------------------------------


def test_the_fit_finds_the_weights_of_the_references() -> None:
    made_with = ScoreWeights(1, 4, 0, 0)
    speech = refer_to_summaries(make_speech(12), made_with)
    found = fit_weights(speech)
    assert speech.measure_weights([found]).mean() == 1.0
    assert speech.summarize(found) == speech.summarize(made_with)


def test_no_other_weight_of_one_score_is_better_than_the_fitted_one() -> None:
    speech = make_speech(5, heard=True, joined=True)
    found = fit_weights(speech, seed=1)
    (best,) = speech.measure_weights([found]).mean(axis=1)
    for name in ("significance", "confidence", "concatenation"):
        line = [replace(found, **{name: number}) for number in WEIGHT_GRID]
        assert speech.measure_weights(line).mean(axis=1).max() <= best + 1e-9


def test_one_weight_is_the_best_of_the_grid() -> None:
    speech = make_speech(8)
    found = fit_weights(speech)
    plain = list[float]()
    for number in WEIGHT_GRID:
        weights = ScoreWeights(1, number, 0, 0)
        kept = [
            search_summaries(table, weights, count).positions(count)
            for table, count in zip(speech.tables, speech.counts, strict=True)
        ]
        plain.append(float(speech.measure(kept).mean()))
    assert speech.measure_weights([found]).mean() == pytest.approx(max(plain))


def test_weights_of_scores_that_are_not_available_are_0() -> None:
    found = fit_weights(make_speech())
    assert (found.linguistic, found.confidence, found.concatenation) == (1, 0, 0)
    alone = fit_weights(make_speech(), ["significance"])
    assert alone.linguistic == 0


# --- Cross-validation ----------------------------------------------------------------------------


def test_every_utterance_is_measured_with_weights_that_were_fitted_without_it() -> None:
    utterances, cases = read_references(letter_records(7))
    steps = list[tuple[int, int | None]]()
    tuned = tune_weights(
        utterances, cases, MODELS, folds=3, seed=2, progress=lambda *one: steps.append(one[:2])
    )
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    order = np.random.default_rng(2).permutation(7)
    plain = np.zeros(7)
    speech = score_references(utterances, cases, MODELS)
    for part, weights in zip(np.array_split(order, 3), tuned.fold_weights, strict=True):
        rest = [row for row in range(7) if row not in part]
        alone = score_references(
            [utterances[row] for row in rest], [cases[row] for row in rest], MODELS
        )
        best = alone.measure_weights([weights]).mean()
        line = [ScoreWeights(1, number, 0, 0) for number in WEIGHT_GRID]
        assert best == pytest.approx(alone.measure_weights(line).mean(axis=1).max())
        plain[part] = speech.measure_weights([weights])[0, part]
    assert tuned.accuracy == estimate_mean(plain, speech.items, seed=2)
    random = speech.measure(speech.draw_words(2))
    assert tuned.gains["random words"] == estimate_mean(plain - random, speech.items, seed=2)


def test_tuned_weights_follow_from_the_seed() -> None:
    read = read_references(recognize_records(letter_records(6)))
    first, again = (tune_weights(*read, MODELS, folds=2, seed=5) for _ in range(2))
    assert first == again
    assert list(first.comparisons) == [
        "default weights",
        "linguistic score only",
        "first words",
        "random words",
    ]
    assert "folds=2,seed=5,ratio=people" in first.signature


def test_too_few_utterances_or_scores_are_refused() -> None:
    read = read_references(letter_records(3))
    with pytest.raises(UsageError, match="3 utterances cannot form 5 parts"):
        tune_weights(*read, MODELS)
    with pytest.raises(UsageError, match="folds must be a whole number of at least 2, got 1"):
        tune_weights(*read, MODELS, folds=1)
    with pytest.raises(UsageError, match="3 utterances have 2 references"):
        score_references(read[0], read[1][:2], MODELS)
    other = [replace(read[0][0], words=("a", "b")), *read[0][1:]]
    with pytest.raises(UsageError, match="u0: the words are not those of the transcript"):
        score_references(other, read[1], MODELS)


# --- Files ---------------------------------------------------------------------------------------


def test_all_problems_of_a_references_file_are_listed() -> None:
    records = letter_records(3)
    records[0]["references"][0]["positions"] = [99]
    records[2]["references"] = []
    with pytest.raises(InputError) as caught:
        read_references(records)
    assert {problem.item for problem in caught.value.problems} == {"u0", "u2"}
    with pytest.raises(InputError, match="1 of 2 items have recognized words"):
        read_references([*recognize_records(letter_records(1)), letter_records(2)[1]])


def test_weights_are_written_and_read(tmp_path: Path) -> None:
    tuned = tune_weights(*read_references(letter_records(6)), MODELS, folds=2)
    path = tmp_path / "weights.json"
    write_weights(tuned, path)
    assert read_weights(path) == tuned.weights
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["signature"] == tuned.signature
    assert record["sumaccy"]["cross-validated"]["value"] == tuned.accuracy.value
    lines = format_tuning(tuned).splitlines()
    assert lines[0].startswith("weights: linguistic 1, significance ")
    assert f"SumACCY {tuned.accuracy.value:.3f} [" in lines[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON file of weights — make it with earwitness summarizer tune"),
        ("[1]", '"weights" is missing'),
        ('{"weights": {"linguistik": 1}}', 'unknown score "linguistik" — did you mean'),
        (
            '{"weights": {"linguistic": -1}}',
            "the weight of linguistic must be a number of at least",
        ),
        ('{"weights": {"linguistic": 1}}', 'the weight of "significance" is missing'),
    ],
)
def test_files_without_valid_weights_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_weights(path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_weights(path)
