"""Words kept of a transcript, and summaries that are read: targets, answers and ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from earwitness.errors import BadAnswer, UsageError
from earwitness.studies.population import Person
from earwitness.studies.study import SpokenText, Trial
from earwitness.studies.trials.words import ReadingKind, WordsKind, WordTarget
from earwitness.studies.wording import wording

SENTENCE = "the beautiful cherry blossoms in Japan bloom in spring"
CHERRY = SpokenText(tuple(SENTENCE.split()))
TRIAL = Trial("item", ("original",), ("KEPT",))


def words_kind(**parameters: Any) -> WordsKind:
    return WordsKind(**parameters).with_transcript(CHERRY)


@pytest.mark.parametrize(
    ("ratio", "tolerance", "count", "target"),
    [
        (0.7, 0.05, 20, (13, 14, 15)),
        (0.7, 0.0, 20, (14, 14, 14)),
        (0.4, 0.05, 9, (4, 4, 4)),  # 3.15 to 4.05 words
        (0.4, 0.01, 9, (4, 4, 4)),  # no whole number is within: the nearest
        (0.4, 1.0, 9, (1, 4, 9)),
        (0.1, 0.05, 1, (1, 1, 1)),
    ],
)
def test_the_target_is_the_ratio_in_words(
    ratio: float, tolerance: float, count: int, target: tuple[int, int, int]
) -> None:
    kind = WordsKind(ratio=ratio, tolerance=tolerance)
    assert kind.with_transcript(SpokenText(("a",) * count)).target == WordTarget(*target)
    assert kind.transcript == SpokenText()  # the block's kind is unchanged


def test_the_rating_of_kept_words_is_their_share() -> None:
    [rating] = words_kind().read(TRIAL, {"positions": [1, 3, 4, 9]}, 2, 1)
    assert (rating.scale, rating.value, rating.key.system) == ("KEPT", 0.444, "original")


@pytest.mark.parametrize(
    ("positions", "told"),
    [
        ([2, 1, 3, 4], "must increase"),
        ([1, 1, 3, 4], "must increase"),
        ([0, 1, 2, 3], "must be from 1 to 9"),
        ([7, 8, 9, 10], "must be from 1 to 9"),
        ([1, 2, 3], "must have 4 to 4 words, got 3"),
        ([1.0, 2, 3, 4], "must be a list of whole numbers"),
        ([True, 2, 3, 4], "must be a list of whole numbers"),
    ],
)
def test_positions_that_are_no_summary_are_refused(positions: list[Any], told: str) -> None:
    with pytest.raises(BadAnswer, match=told):
        words_kind().read(TRIAL, {"positions": positions}, 1, 1)


def test_an_advised_ratio_refuses_no_length() -> None:
    kind = words_kind(enforce=False)
    [rating] = kind.read(TRIAL, {"positions": [5]}, 1, 1)
    assert rating.value == 0.111
    [question] = kind.questions(TRIAL, wording("en"))
    assert question["prompt"].endswith("about 4 of 9 words.")


def test_times_reach_the_page_only_if_words_are_highlighted() -> None:
    timed = SpokenText(("it", "rains"), ((0.0, 0.51234), (0.6, 1.0)))
    shown = {}
    for name, options in {
        "lit": {"audio": True},
        "dark": {"audio": True, "highlight": False},
        "silent": {},
    }.items():
        kind = WordsKind(**options).with_transcript(timed)
        view = kind.view(TRIAL, wording("en"), lambda *_: "address")
        shown[name] = view["times"], len(view["sounds"])
    assert shown == {
        "lit": ([[0.0, 0.512], [0.6, 1.0]], 1),
        "dark": ([], 1),
        "silent": ([], 0),
    }


def test_simulated_people_agree_more_than_careless_ones() -> None:
    kind = words_kind(ratio=0.4)

    def count_same(**person: Any) -> int:
        rng = np.random.default_rng(0)
        made = [
            {*kind.simulate(TRIAL, Person(lambda *_: 0.5, **person), rng)["positions"]}
            for _ in range(40)
        ]
        return sum(len(one & made[0]) for one in made)

    assert count_same(inconsistency=0.02) > 1.3 * count_same(inconsistency=0.02, careless=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ratio": 0}, "ratio must be a number above 0 and at most 1, got 0"),
        ({"ratio": "half"}, "ratio must be a number above 0"),
        ({"tolerance": -0.1}, "tolerance must be a number from 0 to 1, got -0.1"),
        ({"tolerance": True}, "tolerance must be a number from 0 to 1"),
        ({"enforce": 1}, "enforce must be true or false, got 1"),
        ({"audio": "yes"}, "audio must be true or false, got 'yes'"),
    ],
)
def test_parameters_of_words_are_checked(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        WordsKind(**options)


def test_summaries_are_rated_by_letter_and_belong_to_systems() -> None:
    kind = ReadingKind().with_transcript(CHERRY)
    trial = Trial("item", ("B2", "A1"), ("READING",))
    texts = {"A1": "cherry blossoms", "B2": "the beautiful"}
    view = kind.view(trial, wording("fr"), lambda *_: "", caption=lambda _, name: texts[name])
    assert [one["text"] for one in view["captions"]] == ["the beautiful", "cherry blossoms"]
    assert view["text"] == " ".join(CHERRY.words)
    assert [one["prompt"][:8] for one in view["questions"]] == ["Résumé A", "Résumé B"]
    ratings = kind.read(trial, {"A.READING": 1, "B.READING": 5}, 1, 1)
    assert {one.key.system: one.value for one in ratings} == {"B2": 1, "A1": 5}


def test_each_summary_is_in_each_position_equally_often() -> None:
    systems = tuple("abcde")
    for seed in range(3):
        ways = ReadingKind().ways(systems, np.random.default_rng(seed))
        orders = [order for order, target in ways if target == 0]
        assert [sorted(column) for column in zip(*orders, strict=True)] == [[*systems]] * 5
        assert orders[0] != systems


def test_the_recording_of_summaries_is_the_same_in_any_order() -> None:
    heard = []
    for systems in (("A1", "B2"), ("B2", "A1")):
        kind = ReadingKind(audio=True).with_transcript(CHERRY)
        trial = Trial("item", systems, ("READING",))
        view = kind.view(trial, wording("en"), lambda *place: "/".join(map(str, place)))
        heard.append(view["sounds"])
        assert {question["sound"] for question in view["questions"]} == {0}
    assert heard == [[{"address": "item/A1/0", "label": ""}]] * 2
