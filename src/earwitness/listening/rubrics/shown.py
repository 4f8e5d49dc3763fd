"""Rubrics as pages show them: dimensions with what their numbers stand for, and judged captions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from earwitness.listening.rubrics.rubric import Dimension, Rubric, Worked
from earwitness.listening.rubrics.totals import total
from earwitness.listening.wordings import Wording

View = dict[str, Any]
Address = Callable[[str, str, int], str]


def dimension_view(one: Dimension, words: Wording) -> View:
    """A dimension: what it asks, which numbers there are, and what some stand for."""
    return {
        "name": one.name,
        "title": one.shown,
        "role": one.role,
        "help": one.help,
        "low": one.low,
        "high": one.high,
        "step": one.step,
        "anchors": [
            {"value": anchor.value, "shown": words.number(anchor.value), "text": anchor.text}
            for anchor in one.anchors
        ],
    }


def examples_view(rubric: Rubric, words: Wording, address: Address) -> View:
    """The page of captions that were judged already; sounds come in the order of the examples."""
    sounds, examples = list[View](), list[View]()
    for number, one in enumerate(rubric.examples):
        view = _example(one, rubric, words)
        if one.sound:
            view["sound"] = len(sounds)
            sounds.append({"address": address("", one.sound, number), "label": ""})
        examples.append(view)
    return {
        "kind": "examples",
        "title": words.page("examples"),
        "text": words.page("examples_told"),
        "rubric": rubric.title,
        "formula": rubric.total,
        "dimensions": [dimension_view(one, words) for one in rubric.dimensions],
        "examples": examples,
        **({"sounds": sounds, "switching": True, "plays": 0, "questions": []} if sounds else {}),
    }


def _example(one: Worked, rubric: Rubric, words: Wording) -> View:
    values = [
        {"title": dimension.shown, "shown": words.number(one.values[dimension.name])}
        for dimension in rubric.dimensions
    ]
    return {
        "heard": one.heard,
        "caption": one.caption,
        "values": values,
        "total": words.number(total(rubric, one.values)),
        "comment": one.comment,
    }
