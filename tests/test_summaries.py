"""Functions of summary metrics, which are those of ``score`` for one case."""

from __future__ import annotations

from typing import Any

import pytest

import earwitness as ew
from earwitness.errors import UsageError

WORDS = ["it", "rains", "a", "lot", "in", "the", "spring", "and", "it", "snows", "in", "winter"]
OUTPUT, PEOPLE = [1, 2, 4, 7], [[1, 2, 3, 4], [2, 4, 5, 7], [9, 10]]


@pytest.mark.parametrize(
    "metric", ["sumaccy", "word_accuracy", "kept", "word_strings", "weighted_precision"]
)
def test_extracts_have_the_values_of_score(metric: str) -> None:
    references = [{"positions": one} for one in PEOPLE]
    scores = ew.score(
        [{"item": "a", "system": "s", "output": {"positions": OUTPUT}}],
        [{"item": "a", "words": WORDS, "references": references}],
        metrics=metric,
    )
    known = {name: estimate.value for name, estimate in scores.systems["s"].items()}
    function = getattr(ew.summaries, metric)
    assert function(OUTPUT, PEOPLE, WORDS) == pytest.approx(known, nan_ok=True)
    texts = [" ".join(WORDS[place - 1] for place in one) for one in (OUTPUT, *PEOPLE)]
    assert function(texts[0], texts[1:], " ".join(WORDS)).keys() == known.keys()


@pytest.mark.parametrize("metric", ["bleu", "rouge"])
def test_texts_have_the_values_of_score(metric: str) -> None:
    texts = ["it rains a lot in spring", "it rains in spring", "much rain"]
    scores = ew.score(
        [{"item": "a", "system": "s", "output": {"text": texts[0]}}],
        [{"item": "a", "references": [{"text": one} for one in texts[1:]]}],
        metrics=metric,
    )
    known = {name: estimate.value for name, estimate in scores.systems["s"].items()}
    assert getattr(ew.summaries, metric)(texts[0], texts[1:]) == pytest.approx(known)


def test_without_a_transcript_positions_are_enough() -> None:
    assert ew.summaries.sumaccy(OUTPUT, PEOPLE) == ew.summaries.sumaccy(OUTPUT, PEOPLE, WORDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("it rains", [[1, 2]]), "require transcript"),
        (("it pours", [[1, 2]], WORDS), 'hypothesis.text: not extractive.*"pours"'),
        (([2, 1], [[1, 2]], WORDS), r"hypothesis.positions\[1\]: must increase"),
        (([1], []), "at least one reference"),
        (([1], "it rains", WORDS), "at least one reference"),
    ],
)
def test_what_is_no_extract_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ew.summaries.sumaccy(*arguments)
