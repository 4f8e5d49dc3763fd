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


def snap_to_scales(view: View, values: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to the questions of a page; those next to a value of their scale are that value.

    What is null is not answered: only on paper can something be left blank.

    >>> question = {"name": "OVRL", "options": [{"value": 5}, {"value": 4}]}
    >>> snap_to_scales({"questions": [question]}, {"OVRL": 4.0000001})
    {'OVRL': 4}
    """
    questions = {one["name"]: one for one in view.get("questions", ())}
    answered = {name: value for name, value in values.items() if value is not None}
    return {name: _snap_value(questions.get(name, {}), value) for name, value in answered.items()}


def _snap_value(question: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return value
    if {"low", "step"} <= set(question):
        low, step = question["low"], question["step"]
        candidates = [round(low + round((value - low) / step) * step, 6)]
    else:
        candidates = [option["value"] for option in question.get("options", ())]
    for candidate in candidates:
        if not isinstance(candidate, str | bool) and abs(candidate - value) < RATING_TOLERANCE:
            return value if candidate == value else candidate
    return value


# --- Messages about invalid answers --------------------------------------------------------------


def explain_misfits(error: BadAnswer, view: View, words: Wording) -> list[str]:
    """Every question that must be looked at again, by what it asks.

    Answers that nobody asked for are the fault of a program, and listeners are not told of them.
    """
    prompts = _prompts_by_name(view, words)
    if error.about:
        names = [name for name in error.about if name in prompts]
        return [words.page("look_again", prompt=prompts[name]) for name in names]
    message_name = f"misfit_{view['kind']}"
    return [words.page(message_name if message_name in words.pages else "misfit")]


def _prompts_by_name(view: View, words: Wording) -> dict[str, str]:
    if view["kind"] == DEVICE_PAGE:
        return {step: words.web[f"device_{step}"] for step in view["steps"]}
    return {one["name"]: one["prompt"] for one in view.get("questions", ())}


# --- Checks of sound playback --------------------------------------------------------------------
# A page that says of a play that it ended, though it lasted clearly less than the sound does, is
# not believed. Clocks of computers differ a little, and numbers are rounded.


# what a play may seem too short by: a share of the sound, or seconds if that is more
SHORT_PLAY_SHARE = 0.05
SHORT_PLAY_SECONDS = 0.05


def check_plays(
    view: View, meta: Mapping[str, Any], seconds: Sequence[float | None] = ()
) -> list[str]:
    """What is wrong with how the sounds of a page were played.

    ``seconds`` are how long they last, where that is known.
    """
    if not view.get("sounds") or not view.get("questions"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(one, dict) for one in plays):
        return ["plays must be a list of objects"]
    full_plays = [one for one in plays if not _is_short(one, seconds)]
    return list(
        _playback_faults(view, count_complete_plays(full_plays, switching=view["switching"]))
    )


def _is_short(play: Mapping[str, Any], seconds: Sequence[float | None]) -> bool:
    """Whether a play lasted clearly less than its sound does."""
    number, played_seconds = play.get("sound"), play.get("seconds")
    if not isinstance(number, int) or not 0 <= number < len(seconds):
        return False
    sound_seconds = seconds[number]
    if sound_seconds is None:
        return False
    if isinstance(played_seconds, bool) or not isinstance(played_seconds, int | float):
        return True
    return played_seconds < sound_seconds - max(
        SHORT_PLAY_SECONDS, SHORT_PLAY_SHARE * sound_seconds
    )


def _playback_faults(view: View, play_counts: Counter[QuestionSound]) -> Iterator[str]:
    names = [""] if view["switching"] else [str(one["name"]) for one in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, for_question = play_counts[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not heard to its end{for_question}"
            elif 0 < view["plays"] < count:
                yield f"sound {number} was played {count} times{for_question}, not {view['plays']}"


# --- Texts from browsers -------------------------------------------------------------------------


def spell_half_characters(value: Any) -> Any:
    """The same value with whole characters only; what is none is spelt out.

    >>> spell_half_characters({"comment": ["half \\ud83d", 1]})
    {'comment': ['half \\\\ud83d', 1]}
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [spell_half_characters(one) for one in value]
    if isinstance(value, dict):
        return {whole_characters(name): spell_half_characters(one) for name, one in value.items()}
    return value
