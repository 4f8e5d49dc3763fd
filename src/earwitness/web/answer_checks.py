"""Checks of answers and plays sent by a browser, and messages about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from earwitness.errors import BadAnswer, whole_characters
from earwitness.studies.device import QuestionSound, count_complete_plays
from earwitness.studies.pages import DEVICE_PAGE, View
from earwitness.studies.wording import Wording

# --- Ratings snapped to the scale ----------------------------------------------------------------


RATING_TOLERANCE = 1e-6  # as far off as a rating may be


def meant(view: View, values: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to the questions of a page; those next to a value of their scale are that value.

    What is null is not answered: only on paper can something be left blank.

    >>> asked = {"name": "OVRL", "options": [{"value": 5}, {"value": 4}]}
    >>> meant({"questions": [asked]}, {"OVRL": 4.0000001})
    {'OVRL': 4}
    """
    asked = {one["name"]: one for one in view.get("questions", ())}
    given = {name: value for name, value in values.items() if value is not None}
    return {name: _nearest(asked.get(name, {}), value) for name, value in given.items()}


def _nearest(question: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return value
    if {"low", "step"} <= set(question):
        low, step = question["low"], question["step"]
        known = [round(low + round((value - low) / step) * step, 6)]
    else:
        known = [one["value"] for one in question.get("options", ())]
    near = (
        one
        for one in known
        if not isinstance(one, str | bool) and abs(one - value) < RATING_TOLERANCE
    )
    found = next(near, value)
    return value if found == value else found


# --- Messages about invalid answers --------------------------------------------------------------


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
    if view["kind"] == DEVICE_PAGE:
        return {step: words.web[f"device_{step}"] for step in view["steps"]}
    return {one["name"]: one["prompt"] for one in view.get("questions", ())}


# --- Checks of sound playback --------------------------------------------------------------------
# A page that says of a play that it ended, though it lasted clearly less than the sound does, is
# not believed. Clocks of computers differ a little, and numbers are rounded.


# what a play may seem too short by: a share of the sound, or seconds if that is more
SHORT_PLAY_SHARE = 0.05
SHORT_PLAY_SECONDS = 0.05


def unheard(view: View, meta: Mapping[str, Any], seconds: Sequence[float | None] = ()) -> list[str]:
    """What is wrong with how the sounds of a page were played.

    ``seconds`` are how long they last, where that is known.
    """
    if not view.get("sounds") or not view.get("questions"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(one, dict) for one in plays):
        return ["plays must be a list of objects"]
    whole = [one for one in plays if not _is_short(one, seconds)]
    return list(_misplayed(view, count_complete_plays(whole, switching=view["switching"])))


def _is_short(play: Mapping[str, Any], seconds: Sequence[float | None]) -> bool:
    """Whether a play lasted clearly less than its sound does."""
    number, lasted = play.get("sound"), play.get("seconds")
    if not isinstance(number, int) or not 0 <= number < len(seconds):
        return False
    wanted = seconds[number]
    if wanted is None:
        return False
    if isinstance(lasted, bool) or not isinstance(lasted, int | float):
        return True
    return lasted < wanted - max(SHORT_PLAY_SECONDS, SHORT_PLAY_SHARE * wanted)


def _misplayed(view: View, counted: Counter[QuestionSound]) -> Iterator[str]:
    names = [""] if view["switching"] else [str(one["name"]) for one in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, where = counted[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not heard to its end{where}"
            elif 0 < view["plays"] < count:
                yield f"sound {number} was played {count} times{where}, not {view['plays']}"


# --- Texts from browsers -------------------------------------------------------------------------


def whole(value: Any) -> Any:
    """The same value with whole characters only; what is none is spelt out.

    >>> whole({"comment": ["half \\ud83d", 1]})
    {'comment': ['half \\\\ud83d', 1]}
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [whole(one) for one in value]
    if isinstance(value, dict):
        return {whole_characters(name): whole(one) for name, one in value.items()}
    return value
