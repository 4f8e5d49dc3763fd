"""What listeners are told of answers that cannot be: in their language, by what was asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import BadAnswer
from earwitness.studies.wording import wording
from earwitness.web.answer_checks import PlaybackClaim, claim_playback, explain_misfits
from helpers.http_listener import answer, link, served, site_of, take
from helpers.study_listener import Anyone, study

MORE = "rest_minutes: 0\ndevice: [level, sides]\n"
AGAIN = {"en": "Please check this answer: ", "fr": "Veuillez vérifier cette réponse\u00a0: "}
REFUSED: dict[str, dict[str, Any]] = {  # a page, and answers that it refuses
    "consent": {"agree": False},
    "before": {"age": "old", "ears": "two", "x": 1},
    "device": {"level": "loud", "sides": True},
    "1.1": {"SIG": 9, "BAK": 1},
}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_is_wrong_is_told_in_the_language_of_the_study(folder: Path, language: str) -> None:
    path = study(folder, "p835", MORE + f"language: {language}\n")
    words = wording(language)
    prompts = {
        "consent": [words.pages["agree"]],
        "before": ["Your age?"],
        "device": [words.web["device_level"]],
        "1.1": [words.prompt("SIG"), words.prompt("OVRL")],
    }
    with served(path, str(folder / "store.db")) as client:
        own = link(client)
        for name, values in REFUSED.items():
            page = take(client, own, stop=name)["page"]
            got = client.post(f"{own}/answers", json=answer(page, values))
            error = got.json()["error"]
            assert got.status_code == 422
            assert sorted(error["wrong"]) == sorted(AGAIN[language] + one for one in prompts[name])
            assert len(error["details"]) >= len(error["wrong"])
        unheard = answer(page, {"SIG": 1, "BAK": 2, "OVRL": 3}) | {"meta": {}}
        error = client.post(f"{own}/answers", json=unheard).json()["error"]
        assert error["wrong"] == [words.pages["hear_again"]]


def test_faults_of_programs_are_not_told_to_listeners(folder: Path) -> None:
    with served(study(folder, "acr", MORE), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        for change in ({"values": {"QUALITY": 3, "x": 1}}, {"id": "1"}):
            got = client.post(f"{own}/answers", json=answer(page, {"QUALITY": 3}) | change)
            assert (got.status_code, "wrong" in got.json()["error"]) == (422, False)
            assert got.json()["error"]["details"]


def test_answers_that_do_not_go_together_have_words_of_their_kind() -> None:
    words = wording("fr")
    told = [
        explain_misfits(BadAnswer(["x"]), {"kind": kind}, words) for kind in ("bs1116", "mushra")
    ]
    assert told == [[words.pages["misfit_bs1116"]], [words.pages["misfit"]]]


HUGE = "1" + "0" * 400
DEEP = "[" * 900 + "]" * 900
RATED = {"SIG": 1, "BAK": 1, "OVRL": 1}
ODD: list[tuple[str, Any, Any]] = [  # a page, values and what goes with them; ODD stands for it
    ("1.1", {**RATED, "SIG": HUGE}, {}),
    ("device", {"level": HUGE, "sides": True}, {}),
    ("before", {"age": HUGE, "ears": "two"}, {}),
    ("1.1", RATED, {"comment": DEEP}),
    ("before", {"age": DEEP, "ears": "two"}, {}),
]


def spelt(value: Any) -> str:
    """As JSON, with odd parts as they are."""
    text = json.dumps(value)
    return text.replace(f'"{HUGE}"', HUGE).replace(f'"{DEEP}"', DEEP)


@pytest.mark.parametrize(("page", "values", "meta"), ODD)
def test_odd_json_is_refused(folder: Path, page: str, values: Any, meta: Any) -> None:
    with served(study(folder, "p835", MORE), str(folder / "store.db")) as client:
        own = link(client)
        take(client, own, stop=page)
        sent = {"id": "12345678", "page": page, "values": values, "meta": meta}
        got = client.post(f"{own}/answers", content=spelt(sent))
        assert (got.status_code, "state" in got.json()) == (400, False)
        happened = {"kind": "blur", "page": "1.1", "more": DEEP}
        got = client.post(f"{own}/events", content=spelt({"id": "12345678", "events": [happened]}))
        assert (got.status_code, got.json()["error"]["code"]) == (400, "too_deep")
        assert client.get(f"{own}/state").json()["page"]["name"] == page


def test_a_number_without_end_is_no_rating(folder: Path) -> None:
    with served(study(folder, "mushra", MORE), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        sent = json.dumps(answer(page, Anyone()(page))).replace(": 100", ": 1e999")
        assert "1e999" in sent
        assert client.post(f"{own}/answers", content=sent).status_code == 422


@pytest.mark.parametrize("kind", ["acr", "mushra", "bs1116", "ccr"])
def test_a_rating_is_stored_as_the_value_that_it_means(folder: Path, kind: str) -> None:
    with served(study(folder, kind, MORE), str(folder / "store.db")) as client:
        own, site = link(client), site_of(client)
        page = take(client, own, stop="1.1")["page"]
        right = Anyone()(page)
        near = {name: value - 1e-7 for name, value in right.items()}
        assert near != right
        sent = answer(page, near)
        replies = [client.post(f"{own}/answers", json=sent).json()["status"] for _ in range(2)]
        assert replies == ["stored", "known"]
        [kept] = [one.values for one in site.store.answers(site.digest) if one.page == "1.1"]
        assert kept == right


TWO_SOUNDS = {
    "sounds": [{}, {}],
    "switching": False,
    "plays": 1,
    "questions": [{"name": "A"}, {"name": "B"}],
}


@pytest.mark.parametrize(
    ("switching", "plays", "needed", "sounds"),
    [
        (False, [("A", 0), ("A", 1), ("B", 0), ("B", 1)], 14, (0, 1)),
        (False, [("A", 0), ("A", 0)], 3, (0,)),
        (True, [("", 0), ("", 1)], 7, (0, 1)),
        (True, [], 0, ()),
    ],
)
def test_a_claim_needs_the_time_of_its_sounds(
    switching: bool, plays: list[tuple[str, int]], needed: float, sounds: tuple[int, ...]
) -> None:
    meta = {"plays": [{"question": name, "sound": n, "ended": True} for name, n in plays]}
    view = {**TWO_SOUNDS, "switching": switching}
    claim = claim_playback("1.1", view, meta, [3.0, 4.0], None)
    assert claim == PlaybackClaim("1.1", sounds, needed, None)


@pytest.mark.parametrize(
    ("elapsed", "stored", "mark"),
    [
        (20.0, ("fetched 1.1 0", "fetched 1.1 1"), {}),
        (None, ("fetched 1.1 1",), {"unsent": [0]}),
        (18.6, ("fetched 1.1 0", "fetched 1.1 1"), {}),
        (18.4, ("fetched 1.1 0", "fetched 1.1 1"), {"seconds": 18.4, "needed": 20.0}),
        (0.4, (), {"unsent": [0, 1], "seconds": 0.4, "needed": 20.0}),
    ],
)
def test_a_claim_is_marked_by_what_contradicts_it(
    elapsed: float | None, stored: tuple[str, ...], mark: dict[str, Any]
) -> None:
    assert PlaybackClaim("1.1", (0, 1), 20.0, elapsed).find_mark(stored) == mark
