"""What is wrong with an answer, as listeners are told: in the words of their study."""

from __future__ import annotations

from earwitness.errors import BadAnswer
from earwitness.listening.pages import DEVICE, View
from earwitness.listening.wordings import Wording


def misfits_told(error: BadAnswer, view: View, words: Wording) -> list[str]:
    """Every question that must be looked at again, by what it asks.

    Answers that nobody asked for are the fault of a program, and listeners are not told of them.
    """
    asked = _asked(view, words)
    if error.about:
        names = [name for name in error.about if name in asked]
        return [words.page("look_again", prompt=asked[name]) for name in names]
    own = f"misfit_{view['kind']}"
    return [words.page(own if own in words.pages else "misfit")]


def _asked(view: View, words: Wording) -> dict[str, str]:
    if view["kind"] == DEVICE:
        return {step: words.web[f"device_{step}"] for step in view["steps"]}
    return {one["name"]: one["prompt"] for one in view.get("questions", ())}
