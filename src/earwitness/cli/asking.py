"""Questions in a terminal: what can be typed, and what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from earwitness.errors import whole_characters
from earwitness.listening.wordings import Wording

View = Mapping[str, Any]
CLOSE = 1e-6


class NotAnAnswer(Exception):
    """What was typed is no answer; says what would be."""


def choices(question: View, sounds: list[View]) -> dict[str, View]:
    """What can be typed for every option: its value if that is a number, else 1, 2, 3.

    Options that are called like sounds are numbered: whoever prefers A types 1, not -1.
    """
    options, labels = question["options"], {sound["label"] for sound in sounds}
    named = any(one["label"] in labels for one in options)
    by_value = not named and all(type(one["value"]) is int for one in options)
    return {str(one["value"] if by_value else number): one for number, one in enumerate(options, 1)}


def shown_answers(question: View, sounds: list[View], words: Wording) -> Iterator[str]:
    """Lines that say what the answers are."""
    if question["answer"] == "choice":
        keys = choices(question, sounds)
        width = max(map(len, keys))
        yield from (f"{key:>{width}}  {one['label']}" for key, one in keys.items())
    elif question["answer"] == "slider" and "labels" in question:
        high, low = words.number(question["high"]), words.number(question["low"])
        yield f"{high}  {' – '.join(question['labels'])}  {low}"


def understood(question: View, typed: str, sounds: list[View], words: Wording) -> Any:
    """The answer that was typed; none if it was passed over."""
    if not typed:
        if question.get("needed", True):
            raise NotAnAnswer(words.page("needed"))
        return None
    match question["answer"]:
        case "choice":
            return _chosen(typed, choices(question, sounds), words)
        case "slider":
            return _on_scale(typed, question, words)
        case "number":
            return _number(typed, words.page("number"))
        case _:
            return whole_characters(typed)


def _chosen(typed: str, keys: Mapping[str, View], words: Wording) -> Any:
    if typed not in keys:
        raise NotAnAnswer(words.page("choices", keys=", ".join(keys)))
    return keys[typed]["value"]


def _on_scale(typed: str, question: View, words: Wording) -> float:
    limits = {name: question[name] for name in ("low", "high", "step")}
    told = words.page("range", **{name: words.number(one) for name, one in limits.items()})
    value = _number(typed, told)
    steps = (value - limits["low"]) / limits["step"]
    fits = abs(steps - round(steps)) * limits["step"] < CLOSE
    if not limits["low"] <= value <= limits["high"] or not fits:
        raise NotAnAnswer(told)
    return value


def _number(typed: str, told: str) -> float:
    try:
        value = float(typed.replace(",", ".").replace("−", "-"))
    except ValueError:
        raise NotAnAnswer(told) from None
    if not isfinite(value):
        raise NotAnAnswer(told)
    return value
