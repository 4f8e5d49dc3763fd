"""Skims placed on the TC/SD plane: questions, notes, practice, examples and the check question."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from earwitness.errors import BadAnswer, UsageError
from earwitness.studies.study import Trial
from earwitness.studies.trials.plane import PlaneKind
from earwitness.studies.wording import wording

TRIAL = Trial("day", ("b", "a"), ("TC", "SD"))
PLACES = {"TC_1": 0.25, "SD_1": 1, "TC_2": 0.999, "SD_2": 0}
EXAMPLE = {"sound": "X/1.flac", "TC": 0.4, "SD": 0.7, "reason": "Birds only."}


def test_both_coordinates_of_each_numbered_skim_are_ratings() -> None:
    ratings = PlaneKind().read(TRIAL, PLACES, 1, 1)
    found = {(one.key.system, one.scale): one.value for one in ratings}
    assert found == {("b", "TC"): 0.25, ("b", "SD"): 1, ("a", "TC"): 0.999, ("a", "SD"): 0}


def test_comments_and_notes_are_optional_texts() -> None:
    notes = {"comment": "all", "comment_2": "short", "sources": "wind\ncar", "hour_23": "silence"}
    assert len(PlaneKind().read(TRIAL, PLACES | notes, 1, 1)) == 4
    for name, text in {
        "comment_3": "x",
        "hour_24": "x",
        "comment": 5,
        "sources": "x" * 2001,
    }.items():
        with pytest.raises(BadAnswer, match=name):
            PlaneKind().read(TRIAL, {**PLACES, name: text}, 1, 1)


def test_a_place_above_the_maximum_is_refused() -> None:
    with pytest.raises(BadAnswer, match="SD_2 must be from 0 to 1"):
        PlaneKind().read(TRIAL, {**PLACES, "SD_2": 1.05}, 1, 1)


def test_practice_asks_each_axis_before_the_plane_with_skims_of_its_own() -> None:
    whole = Trial("day", tuple("abcdefgh"), ("TC", "SD"))
    trials = PlaneKind().practice_trials([whole])
    assert [(one.scales, len(one.systems)) for one in trials] == [
        (("TC",), 3),
        (("SD",), 3),
        (("TC", "SD"), 2),
    ]
    assert sum((one.systems for one in trials), ()) == whole.systems
    assert list(PlaneKind().view(trials[0], wording(), lambda *_: "")["axes"]) == ["TC"]
    assert [ask.name for ask in PlaneKind().asks(trials[1])] == ["SD_1", "SD_2", "SD_3"]


def test_practice_and_sessions_start_with_what_comes() -> None:
    whole, words = Trial("day", tuple("abcdefgh"), ("TC", "SD")), wording()
    trials = PlaneKind().practice_trials([whole])
    text = PlaneKind().practice_text(trials, words, feedback=True)
    assert "by TC only, by SD only, then by both" in text
    assert "expected" in text
    short = PlaneKind().practice_text(trials[:1], words, feedback=False)
    assert short == words.page("training_told")
    told = "Recordings in this session: 1. Skims per recording: 8. Start when you are ready."
    assert PlaneKind().session_text([whole], words) == told


def test_examples_have_their_places_reasons_and_sounds() -> None:
    heard = []
    kind = PlaneKind(examples=(EXAMPLE,), recording="X")
    views = kind.intro_views(wording(), lambda *asked: heard.append(asked) or "0")  # type: ignore[func-returns-value]
    assert heard == [("", "X/1.flac", 0)]
    view = views["plane.examples"]
    assert view["placed"] == [{"label": "1", "TC": 0.4, "SD": 0.7, "reason": "Birds only."}]
    assert view["recording"] == "X"
    assert list(PlaneKind().intro_views(wording(), lambda *_: "")) == ["plane.about"]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_each_page_has_the_definitions(language: str) -> None:
    words = wording(language)
    kind = PlaneKind(examples=(EXAMPLE,))
    intro = kind.intro_views(words, lambda *_: "")
    views = [intro["plane.examples"], kind.view(TRIAL, words, lambda *_: "")]
    views.append(kind.feedback_view(TRIAL, words))
    assert {view["definitions"] for view in views} == {intro["plane.about"]["text"]}


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"hours": 25}, "hours must be a whole number from 0 to 24, got 25"),
        ({"points": 1.5}, "points must be a whole number"),
        ({"explore_minutes": -1}, "explore_minutes must be a number from 0 to 60"),
        ({"check": 1}, "check must be true or false"),
        ({"recording": 3}, "recording must be the name of an item"),
        ({"examples": "X"}, "examples must be a list"),
        ({"examples": [{"sound": "X"}]}, "example 1 must have the keys sound, TC, SD, reason"),
        ({"examples": [EXAMPLE | {"TC": 1.2}]}, "example 1: TC must be a number from 0 to 1"),
        ({"examples": [EXAMPLE | {"reason": ""}]}, "example 1: reason must be text"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        PlaneKind(**parameters)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_check_question_has_one_right_answer(language: str) -> None:
    question = PlaneKind(check=True).check_question(wording(language))
    assert question is not None
    assert question.eligible is not None
    assert [question.eligible.admits(option) for option in question.options] == [False, True, False]
    assert PlaneKind().check_question(wording(language)) is None


def test_browsing_the_recording_takes_time_too() -> None:
    load = PlaneKind().load(8)
    assert (load.sounds, load.questions) == (8, 16)
    assert load.browsing == 5 * 60 + 24 * 5 * 2


def test_each_skim_follows_each_other_one_equally_often() -> None:
    systems = tuple("abcdefgh")
    ways = PlaneKind().ways(systems, np.random.default_rng(1))
    orders = [order for order, _ in ways]
    assert all({order[place] for order in orders} == {*systems} for place in range(8))
    assert len({pair for order in orders for pair in pairwise(order)}) == 8 * 7
