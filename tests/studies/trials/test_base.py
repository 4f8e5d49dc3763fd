"""Kinds of trials: every entry keeps the same promises, and each its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.core import Key
from earwitness.errors import BadAnswer, UsageError
from earwitness.ratings.rubric import LANGUAGES
from earwitness.studies.population import Person
from earwitness.studies.study import SpokenText, Trial
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.mushra import Mushra
from earwitness.studies.wording import wording
from helpers.samples import many

ITEMS, SYSTEMS, REFERENCE = ["item one", "item two"], ["sys0", "sys1", "sys2"], "truth"
TRUTH = {"sys0": 0.1, "sys1": 0.5, "sys2": 0.8, REFERENCE: 1.0, "anchor35": 0.2, "anchor70": 0.5}


def trials(kind: TrialKind, seed: int = 0) -> list[Trial]:
    rng = np.random.default_rng(seed)
    return [t for own in kind.trials(ITEMS, SYSTEMS, 1, rng, REFERENCE) for t in own]


def person(**more: Any) -> Person:
    def quality(item: str, system: str, scale: str) -> float:
        assert item in ITEMS
        assert scale
        return TRUTH[system]

    return Person(quality, **more)


def address(item: str, system: str, place: int) -> str:
    return format(hash((item, system, place)) & 0xFFFFFF, "x")


TRANSCRIPT = SpokenText(("it", "rains", "a", "lot", "in", "Spain", "in", "spring"))
made = [one().with_transcript(TRANSCRIPT) for one in KINDS.values()]
kinds = pytest.mark.parametrize("kind", made, ids=list(KINDS))
rating_kinds = pytest.mark.parametrize(
    "kind", [one for one in made if one.rates_systems], ids=lambda kind: str(kind.name)
)


@kinds
def test_a_view_is_plain_data_and_blind(kind: TrialKind) -> None:
    for trial in trials(kind):
        view = kind.view(trial, wording("en"), address, REFERENCE)
        shown = json.dumps(view)
        assert json.loads(shown) == view
        for name in (*ITEMS, *TRUTH):
            assert name not in shown
        sounds = [sound["address"] for sound in view["sounds"]]
        assert len(set(sounds)) == len(sounds)  # a hidden reference is not the known one
        assert view["questions"]
        most = max(1, len(sounds))  # texts may have no sound
        assert all(question["sound"] < most for question in view["questions"])


@kinds
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_words_every_scale(kind: TrialKind, language: str) -> None:
    words = wording(language)
    for scale in kind.fixed:
        assert words.prompt(scale.name)
        labels = words.labels(scale.name)
        assert len(set(labels)) == len(labels)
        assert scale.slider or len(labels) == len(scale.values)
    [trial, *_] = trials(kind)
    assert kind.view(trial, words, address, REFERENCE)["questions"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_have_the_same_pages(language: str) -> None:
    assert wording(language).pages.keys() == wording("en").pages.keys()
    assert wording(language).web.keys() == wording("en").web.keys()
    assert wording(language).scales.keys() == wording("en").scales.keys()


@kinds
def test_simulated_answers_can_be_read_and_are_about_what_was_heard(kind: TrialKind) -> None:
    rng = np.random.default_rng(1)
    for careless in (False, True):
        for trial in trials(kind):
            values = kind.simulate(trial, person(careless=careless), rng)
            ratings = kind.read(trial, json.loads(json.dumps(values)), 3, 2)
            assert ratings
            for one in ratings:
                assert one.key.item == trial.item
                assert one.key.system in trial.systems
                assert trial.systems[one.place] == one.key.system
                assert (one.listener, one.session) == (3, 2)
                assert one.against is None or one.against.system in trial.systems


@kinds
def test_answers_that_cannot_be_are_refused_all_at_once(kind: TrialKind) -> None:
    [trial, *_] = trials(kind)
    names = [ask.name for ask in kind.asks(trial)]
    with pytest.raises(BadAnswer) as error:
        kind.read(trial, {"rubbish": 1}, 1, 1)
    assert len(error.value.wrong) == len(names) + 1
    wrong: list[Any] = ["5", True, 999, -99, 0.12345, float("nan"), [], {}]
    wrong += [] if kind.captioned else [None]  # what may be blank on paper
    for bad in wrong:
        told = "must be from" if kind.rates_systems else "positions must be|is empty|has no answer"
        with pytest.raises(BadAnswer, match=told):
            kind.read(trial, dict.fromkeys(names, bad), 1, 1)


@rating_kinds
def test_better_systems_get_better_ratings_from_careful_listeners(kind: TrialKind) -> None:
    rng = np.random.default_rng(2)
    sums: dict[str, list[float]] = {}
    for seed in range(many(8, 200)):
        for trial in trials(kind, seed):
            values = kind.simulate(trial, person(inconsistency=0.05), rng)
            for one in kind.read(trial, values, 1, 1):
                sums.setdefault(one.key.system, []).append(one.value)
                if one.against is not None and one.scale != "SAME":
                    sums.setdefault(one.against.system, []).append(-one.value)
    means = {system: float(np.mean(values)) for system, values in sums.items()}
    if kind.name == "abx":  # systems this far apart are told apart
        assert min(means.values()) > 0.9
    else:
        assert means["sys0"] < means["sys1"] < means["sys2"]


def test_scales_are_worded_as_the_recommendations_do() -> None:
    words = wording("en")
    assert KINDS["p835"].orders == (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL"))
    assert KINDS["p835"]().plays == 1
    assert words.labels("SIG")[0] == "Not distorted"
    assert words.labels("SIG")[4] == "Very distorted"
    assert words.labels("BAK")[2] == "Noticeable but not intrusive"
    assert words.labels("OVRL") == ["Excellent", "Good", "Fair", "Poor", "Bad"]
    annoying = ["Slightly annoying", "Annoying", "Very annoying"]
    audible = ["Inaudible", "Audible but not annoying"]
    assert words.labels("DEGRADATION") == [*audible, *annoying]
    assert words.labels("COMPARISON") == [
        *("Much better", "Better", "Slightly better", "About the same"),
        *("Slightly worse", "Worse", "Much worse"),
    ]
    assert words.labels("BASIC") == ["Excellent", "Good", "Fair", "Poor", "Bad"]
    perceptible = ["Imperceptible", "Perceptible, but not annoying"]
    assert words.labels("IMPAIRMENT") == [*perceptible, *annoying]
    assert KINDS["p835"]().scales[2].values == [5, 4, 3, 2, 1]
    assert KINDS["ccr"]().scales[0].values == [3, 2, 1, 0, -1, -2, -3]
    assert KINDS["mushra"]().scales[0].values == list(range(100, -1, -1))
    assert KINDS["bs1116"]().scales[0].values[:2] == [5.0, 4.9]


@pytest.mark.parametrize(
    ("systems", "answer", "value"),
    [(("sys0", "sys1"), 2, 2), (("sys1", "sys0"), 2, -2), (("sys1", "sys0"), 0, 0)],
)
def test_the_sign_of_a_comparison_is_turned_and_the_order_kept(
    systems: tuple[str, ...], answer: int, value: float
) -> None:
    trial = Trial("item", systems, ("COMPARISON",), against="sys0")
    [one] = KINDS["ccr"]().read(trial, {"COMPARISON": answer}, 1, 1)
    assert (one.key, one.against) == (Key("item", "sys1"), Key("item", "sys0"))
    assert one.value == value
    assert one.place == systems.index("sys1")


@pytest.mark.parametrize("kind", ["ab", "preference"])
def test_a_choice_is_about_systems_not_about_letters(kind: str) -> None:
    [scale] = KINDS[kind]().scales
    for systems, answer in ((("sys0", "sys1"), -1), (("sys1", "sys0"), 1)):
        trial = Trial("item", systems, (scale.name,), against="sys0")
        [one] = KINDS[kind]().read(trial, {scale.name: answer}, 1, 1)
        assert (one.key.system, one.value) == ("sys1", 1)


def test_abx_counts_right_answers() -> None:
    for target, answer, right in ((0, 1, 1), (0, -1, 0), (1, -1, 1), (1, 1, 0)):
        trial = Trial("item", ("sys0", "sys1"), ("SAME",), target=target, against="sys0")
        [one] = KINDS["abx"]().read(trial, {"SAME": answer}, 1, 1)
        assert one.value == right


def test_mushra_rates_everything_but_the_known_reference() -> None:
    kind = KINDS["mushra"]()
    [trial, _] = trials(kind)
    assert sorted(trial.systems) == sorted(TRUTH)
    view = kind.view(trial, wording("en"), address, REFERENCE)
    assert [sound["label"] for sound in view["sounds"]] == ["Reference", *"ABCDEF"]
    values = {letter: 10 * n for n, letter in enumerate("ABCDEF")}
    found = {one.key.system: one.value for one in kind.read(trial, values, 1, 1)}
    assert found == {system: 10 * n for n, system in enumerate(trial.systems)}


@pytest.mark.parametrize("open_reference", [True, False])
@pytest.mark.parametrize("hidden_reference", [True, False])
def test_mushra_may_be_without_references(open_reference: bool, hidden_reference: bool) -> None:
    kind = Mushra(anchors=(), open_reference=open_reference, hidden_reference=hidden_reference)
    [trial, _] = trials(kind)
    rated = 3 + hidden_reference
    assert sorted(trial.systems) == [*SYSTEMS, *([REFERENCE] if hidden_reference else [])]
    view = kind.view(trial, wording("en"), address, REFERENCE)
    labels = ["Reference"] if open_reference else []
    assert [sound["label"] for sound in view["sounds"]] == [*labels, *"ABCD"[:rated]]
    assert [one["sound"] for one in view["questions"]] == [*range(open_reference, rated + 1)][
        :rated
    ]
    assert ("reference" in view["questions"][0]["prompt"]) == open_reference
    assert kind.extra("ref") == (("ref",) if open_reference or hidden_reference else ())
    assert kind.load(3).sounds == len(view["sounds"])
    assert ("hidden reference" in kind.describe_protocol()) == hidden_reference


@pytest.mark.parametrize("kind", ["ab", "abx", "preference", "mushra", "bs1116"])
def test_a_switch_may_start_from_the_beginning(kind: str) -> None:
    shown = []
    for options in ({}, {"restart": True}):
        made = KINDS[kind](**options)
        trial = trials(made)[0]
        shown.append(made.view(trial, wording("en"), address, REFERENCE)["restart"])
    assert shown == [False, True]


def test_mushra_without_controls_needs_two_systems() -> None:
    assert Mushra(anchors=(), hidden_reference=False).treatments(["sys0"], REFERENCE) == []


def test_small_impairments_are_differences_from_the_hidden_reference() -> None:
    kind = KINDS["bs1116"]()
    trial = Trial("item", ("sys0", REFERENCE), ("IMPAIRMENT",), target=1)
    found = {one.scale: one for one in kind.read(trial, {"B": 3.4, "C": 5.0}, 1, 1)}
    assert found["SDG"].value == pytest.approx(-1.6)
    assert found["SDG"].key.system == "sys0"
    wrong = {one.scale: one for one in kind.read(trial, {"B": 5.0, "C": 4.2}, 1, 1)}
    assert wrong["SDG"].value == pytest.approx(0.8)  # the object was taken for the reference
    with pytest.raises(BadAnswer, match="one of the two sounds is the reference"):
        kind.read(trial, {"B": 4.0, "C": 4.2}, 1, 1)


def test_x_is_not_where_it_could_be_recognised() -> None:
    kind = KINDS["abx"]()
    for trial in trials(kind):
        sounds = kind.view(trial, wording("en"), address, REFERENCE)["sounds"]
        assert [sound["label"] for sound in sounds] == ["A", "B", "X"]
        assert sounds[2]["address"] not in (sounds[0]["address"], sounds[1]["address"])


@given(heard=st.floats(0, 1))
def test_impressions_become_values_of_the_scale(heard: float) -> None:
    for kind in KINDS.values():
        for scale in kind().scales:
            assert scale.allows(scale.at(heard))
            assert scale.at(0) == scale.low
            assert scale.at(1) == scale.high
            for value in (scale.low - 1, scale.high + 0.01, float("nan"), 10**400, True, "1"):
                assert not scale.allows(value)


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("ab", {"pairs": "some"}, "pairs must be all or reference"),
        ("abx", {"restart": 1}, "restart must be true or false, got 1"),
        *(
            ("mushra", {"anchors": bad}, "anchors must be a list of folders")
            for bad in ("low", None, 5, {"a": 1}, ["a", ""], [1])
        ),
        ("mushra", {"anchors": ["x", "x"]}, "anchors must be different folders"),
        ("mushra", {"open_reference": "no"}, "open_reference must be true or false"),
        ("mushra", {"hidden_reference": 0}, "hidden_reference must be true or false"),
        ("bs1116", {"restart": "yes"}, "restart must be true or false"),
        ("acr", {"plays": 1.5}, "plays must be a whole number"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    kind: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        KINDS[kind](**options)


def test_pairs_may_all_be_with_the_reference() -> None:
    made = trials(KINDS["ccr"](pairs="reference"))  # type: ignore[call-arg]
    assert {trial.treatment for trial in made} == {(system, REFERENCE) for system in SYSTEMS}


@pytest.mark.parametrize("kind", ["ab", "ccr", "preference"])
def test_systems_are_rated_against_the_reference_whatever_their_names(kind: str) -> None:
    made = KINDS[kind](pairs="reference")  # type: ignore[call-arg]
    rng = np.random.default_rng(0)
    [scale] = made.scales
    for trial in (t for s in made.trials(["i"], ["A", "zz"], 1, rng, "ref") for t in s):
        [one] = made.read(trial, {scale.name: 1}, 1, 1)
        assert one.against == Key("i", "ref")
        sign = {"ab": 1, "preference": 1, "ccr": -1}[kind]  # which of the two a 1 speaks for
        assert one.value == sign * (1 if trial.systems[0] != "ref" else -1)


def test_later_systems_are_rated_against_earlier_ones() -> None:
    made, rng = KINDS["ab"](), np.random.default_rng(0)
    trials = [t for s in made.trials(["i"], ["zz", "B", "a"], 1, rng) for t in s]
    ratings = [made.read(trial, {"BETTER": 1}, 1, 1)[0] for trial in trials]
    found = {(one.key.system, one.against.system) for one in ratings if one.against}
    assert found == {("B", "zz"), ("a", "zz"), ("a", "B")}
    assert all(trial.treatment == tuple(sorted(trial.systems)) for trial in trials)
