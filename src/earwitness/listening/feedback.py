"""What a listener is told after a practice trial: what they answered, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from earwitness.data import Study, Trial
from earwitness.listening.kinds import block_kind
from earwitness.listening.wordings import Wording

Row = dict[str, Any]


def feedback_rows(study: Study, trial: Trial, questions: list[Row], words: Wording) -> list[Row]:
    """A row for every question of a trial; what was given is not known yet."""
    kind = block_kind(study.blocks[trial.block])
    shown = [system for system, _ in kind.presented(trial, words, study.reference)]
    gold = {(one.item, one.system, one.scale): one.value for one in study.gold}
    rows = []
    for ask, question in zip(kind.asks(trial), questions, strict=True):
        expected = gold.get((trial.item, shown[ask.sound], ask.scale.name))
        told = None if expected is None else label(question, expected, words)
        rows.append({"prompt": question["prompt"], "given": None, "expected": told})
    return rows


def with_given(
    rows: list[Row], questions: list[Row], values: Mapping[str, Any], words: Wording
) -> list[Row]:
    """The same rows with what was answered."""
    return [
        {**row, "given": label(question, values[question["name"]], words)}
        for row, question in zip(rows, questions, strict=True)
    ]


def label(question: Row, value: float, words: Wording) -> str:
    """An answer as it stands on the page."""
    for option in question.get("options", ()):
        if option["value"] == value:
            return str(option["label"])
    return words.number(value)
