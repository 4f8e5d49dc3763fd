"""Checks of answers and plays sent by a browser, and messages about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from earwitness.core import UNHEARD_META_KEY, Answer
from earwitness.errors import BadAnswer, whole_characters
from earwitness.store.answers import add_answer, read_event_ids
from earwitness.store.listeners import change_state, delete_draft, listener_row
from earwitness.store.records import AnswerOutcome, ParticipationState
from earwitness.studies.device import QuestionSound, count_complete_plays
from earwitness.studies.pages import DEVICE_PAGE, View
from earwitness.studies.trials.base import Values, is_number
from earwitness.studies.wording import Wording

# --- Ratings snapped to the scale ----------------------------------------------------------------


MAX_RATING = 1e12  # above that of every scale
RATING_TOLERANCE = 1e-6  # largest distance of a rating from a value of its scale


def snap_to_scales(view: View, values: Values) -> dict[str, Any]:
    """Return the answers of a page, snapped to the nearest value of their scale within a tolerance.

    Null counts as not answered: only workbooks may leave a rating blank.

    >>> question = {"name": "OVRL", "options": [{"value": 5}, {"value": 4}]}
    >>> snap_to_scales({"questions": [question]}, {"OVRL": 4.0000001})
    {'OVRL': 4}
    """
    questions = {question["name"]: question for question in view.get("questions", ())}
    answered = {name: value for name, value in values.items() if value is not None}
    return {name: _snap_value(questions.get(name, {}), value) for name, value in answered.items()}


def _snap_value(question: Values, value: Any) -> Any:
    if not is_number(value, -MAX_RATING, MAX_RATING):
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
    """Return a message for each question that must be answered again, with its prompt.

    Answers to unknown questions are errors of a program and are not shown to listeners.
    """
    prompts = {question["name"]: question["prompt"] for question in view.get("questions", ())}
    if view["kind"] == DEVICE_PAGE:
        prompts = {step: words.web[f"device_{step}"] for step in view["steps"]}
    if error.about:
        names = [name for name in error.about if name in prompts]
        return [words.page("look_again", prompt=prompts[name]) for name in names]
    message_name = f"misfit_{view['kind']}"
    return [words.page(message_name if message_name in words.pages else "misfit")]


# --- Checks of sound playback --------------------------------------------------------------------
# A play that is reported as complete but lasted clearly less than the sound does not count.
# The tolerance allows for clock differences and rounding.


# by how much a play may seem too short: the larger of a share of the sound and seconds
SHORT_PLAY_SHARE = 0.05
SHORT_PLAY_SECONDS = 0.05


def check_plays(view: View, meta: Values, seconds: Sequence[float | None] = ()) -> list[str]:
    """Return problems with the plays of a page, such as sounds not played to the end.

    ``seconds`` are the durations of the sounds, None where unknown.
    """
    if not view.get("sounds") or not view.get("questions"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(play, dict) for play in plays):
        return ["plays must be a list of objects"]
    full_plays = [play for play in plays if not _is_short(play, seconds)]
    return list(
        _playback_faults(view, count_complete_plays(full_plays, switching=view["switching"]))
    )


def _is_short(play: Values, seconds: Sequence[float | None]) -> bool:
    """Whether a play lasted clearly less than its sound."""
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
    names = [""] if view["switching"] else [str(question["name"]) for question in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, for_question = play_counts[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not played to the end{for_question}"
            elif 0 < view["plays"] < count:
                limit = view["plays"]
                yield f"sound {number} was played {count} times{for_question}, limit {limit}"


# --- Claims of playback --------------------------------------------------------------------------
# What a browser reports cannot be trusted. The server knows which sounds it has sent, and that a
# page was not seen before the previous one was answered: an answer that claims more than that is
# marked, not refused. Answers that arrive late, such as after a lost connection, are never marked.


FETCH_EVENT = "fetched"  # event recorded when a sound of a page is sent
# by how much an answer may be too early: a share of the claimed time, and seconds
EARLY_SHARE = 0.05
EARLY_SECONDS = 0.5


def fetch_event_id(page: str, number: int) -> str:
    """Return the id of the event that a sound of a page was sent."""
    return f"{FETCH_EVENT} {page} {number}"


@dataclass(frozen=True)
class PlaybackClaim:
    """Sounds that an answer claims were heard, and the time since the previous answer.

    ``needed`` is the least number of seconds that this takes; ``elapsed`` is None if unknown, and
    counts as unknown if it is negative, which the clock of another server can cause.
    """

    page: str
    sounds: tuple[int, ...]
    needed: float
    elapsed: float | None

    @property
    def event_ids(self) -> list[str]:
        """Ids of the events that the sounds were sent."""
        return [fetch_event_id(self.page, n) for n in self.sounds]

    def find_mark(self, stored_ids: Container[str]) -> dict[str, Any]:
        """Return what contradicts the claim, given the ids of stored events; empty if nothing."""
        unsent = [n for n in self.sounds if fetch_event_id(self.page, n) not in stored_ids]
        mark: dict[str, Any] = {"unsent": unsent} if unsent else {}
        least = self.needed * (1 - EARLY_SHARE) - EARLY_SECONDS
        if self.elapsed is not None and 0 <= self.elapsed < least:
            mark |= {"seconds": round(self.elapsed, 3), "needed": round(self.needed, 3)}
        return mark


def claim_playback(
    page: str,
    view: View,
    meta: Values,
    seconds: Sequence[float | None],
    elapsed: float | None,
) -> PlaybackClaim | None:
    """Return what an answer claims about sounds that were played to the end.

    They take the sum of their durations: once per question, or once per page if listeners can
    switch between them, since each one is heard alone.
    """
    plays = meta.get("plays")
    if not view.get("sounds") or not isinstance(plays, list):
        return None
    switching = bool(view.get("switching"))
    heard = [
        (name, number)
        for name, number in count_complete_plays(plays, switching=switching)
        if 0 <= number < len(view["sounds"])
    ]
    durations = [seconds[number] or 0.0 for _, number in heard if number < len(seconds)]
    needed = sum(durations)
    return PlaybackClaim(page, tuple(sorted({number for _, number in heard})), needed, elapsed)


def add_checked_answer(
    connection: Connection,
    answer: Answer,
    id: str,
    meta: Values,
    after: str,
    token: str,
    claim: PlaybackClaim | None,
    is_last: bool = False,
    has_draft: bool = False,
) -> AnswerOutcome:
    """Store an answer, marked if it claims that sounds were heard which cannot have been.

    If ``is_last``, the listener may not take part any further. If the page ``has_draft``, it
    is deleted.
    """
    checked = {name: value for name, value in meta.items() if name != UNHEARD_META_KEY}
    if claim is not None and claim.sounds:
        found = read_event_ids(connection, answer.study, token, claim.event_ids)
        if mark := claim.find_mark(found):
            checked[UNHEARD_META_KEY] = mark
    outcome = add_answer(connection, answer, id, checked, after, token)
    if is_last and outcome == AnswerOutcome.STORED:
        states = ParticipationState.JOINED, ParticipationState.INELIGIBLE
        change_state(connection, answer.study, token, *states)
    if has_draft and outcome == AnswerOutcome.STORED:
        delete_draft(connection, listener_row(connection, answer.study, token).serial)
    return outcome


# --- Texts from browsers -------------------------------------------------------------------------


def spell_half_characters(value: Any) -> Any:
    """Return a value in which unpaired surrogates are replaced by their escape sequence.

    >>> spell_half_characters({"comment": ["half \\ud83d", 1]})
    {'comment': ['half \\\\ud83d', 1]}
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [spell_half_characters(inner) for inner in value]
    if isinstance(value, dict):
        return {
            whole_characters(name): spell_half_characters(inner) for name, inner in value.items()
        }
    return value
