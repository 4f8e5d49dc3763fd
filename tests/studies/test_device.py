"""The page that checks a device, and what is told after practice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import InputError
from earwitness.studies.admin import stored_answers
from earwitness.studies.analyse import study_analyse
from earwitness.studies.design.report import study_design
from earwitness.studies.device import HEADPHONE_TEST_ROUNDS, draw_device_trials
from earwitness.studies.file.reader import read_study, with_digest
from earwitness.studies.from_answers import ratings_from_answers
from earwitness.studies.pages import pages
from earwitness.studies.simulate import study_simulate
from earwitness.studies.wording import wording
from earwitness.web.site import PageSequences
from helpers.http_listener import answer, link, served, site_of, take
from helpers.study_files import udase
from helpers.study_listener import Anyone, answer_study, study

DEVICE = "device: [level, sides, huggins, antiphase]\n"
TOLD = "feedback: true\ngold: gold.csv\n"
GOLD = "item,system,scale,value\n"


def gold(folder: Path) -> str:
    """A table that expects 2 of everything."""
    lines = [f"{item},{system},SIG,2" for item in "abcd" for system in ("C0", "C1")]
    (folder / "gold.csv").write_text(GOLD + "\n".join(lines) + "\n")
    return TOLD


def test_studies_with_them_have_other_digests() -> None:
    plain = with_digest(udase())
    for more in ({"device": ("level",)}, {"feedback": True}):
        assert with_digest(udase(**more)).digest != plain.digest


def test_the_device_page_comes_before_the_first_sound(folder: Path) -> None:
    made = study_design(study(folder, "p835", DEVICE))
    shown = [page.name for page in pages(made.study, made.plans[0], lambda *_: "")]
    assert shown[:5] == ["consent", "before", "instructions", "device", "training.0"]


def test_the_time_that_is_left_counts_forms_and_the_device_page(folder: Path) -> None:
    bare = study(folder, "acr", "rest_minutes: 0\n").read_text()
    path, left = folder / "acr.yaml", list[float]()
    for text in (bare, bare + DEVICE, bare.replace("I may stop at any time.", '""')):
        path.write_text(text)
        course = PageSequences(study_design(path))(1)
        left.append(course.minutes[0] * 60)
        assert course.minutes[-1] == 0
    plain, device, no_consent = left
    assert device - plain == pytest.approx(20 + 10 + 50 + 50)
    assert plain - no_consent == pytest.approx(10)
    trials = 5 * (0.1 + 4)  # practice and four that count, each heard and rated
    assert plain == pytest.approx(trials + 4 * 10)


def test_every_listener_has_rounds_of_their_own_and_every_place_alike() -> None:
    all_of = [
        draw_device_trials(["huggins", "antiphase"], 3, listener) for listener in range(1, 40)
    ]
    assert all_of == [draw_device_trials(["huggins", "antiphase"], 3, one) for one in range(1, 40)]
    assert len({str(one) for one in all_of}) > 30
    for one in all_of:
        for places in one.values():
            assert Counter(places) == dict.fromkeys(range(3), HEADPHONE_TEST_ROUNDS // 3)
    assert draw_device_trials(["level"], 3, 1) == {}
    assert {str(draw_device_trials(["sides"], 3, one)["sides"]) for one in range(1, 40)} == {
        "[0, 1]",
        "[1, 0]",
    }


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"level": "loud"}, "level must be a number (decibels), got 'loud'"),
        ({"level": True}, "level must be a number"),
        ({"level": 1e9}, "level must be a number"),
        ({"sides": 1}, "sides must be true or false, got 1"),
        ({"huggins": [7, 6]}, "huggins must be [hits, rounds]"),
        ({"huggins": [0, 0]}, "huggins must be [hits, rounds]"),
        ({"antiphase": [1.5, 6]}, "antiphase must be [hits, rounds]"),
        ({"antiphase": 6}, "antiphase must be [hits, rounds]"),
        ({"other": 1}, "unknown step 'other'"),
    ],
)
def test_device_answers_that_cannot_be_are_refused(
    folder: Path, change: dict[str, Any], told: str
) -> None:
    with served(study(folder, "acr", DEVICE), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="device")["page"]
        assert page["steps"] == ["level", "sides", "huggins", "antiphase"]
        assert [len(page["trials"][name]) for name in ("huggins", "antiphase")] == [6, 6]
        right = {"level": -6, "sides": True, "huggins": [5, 6], "antiphase": [6, 6]}
        got = client.post(f"{own}/answers", json=answer(page, right | change))
        [wrong] = got.json()["error"]["details"]
        assert wrong.startswith(told)
        got = client.post(f"{own}/answers", json=answer(page, {}))
        assert len(got.json()["error"]["wrong"]) == 4
        assert client.post(f"{own}/answers", json=answer(page, right)).is_success


GATE = "device: {steps: [level, huggins], require: [huggins], tries: 2}\n"


def choices(page: dict[str, Any], hits: int) -> dict[str, Any]:
    """Choices of which so many are right."""
    targets = page["trials"]["huggins"]
    chosen = [one if n < hits else (one + 1) % 3 for n, one in enumerate(targets)]
    return {"level": -6, "huggins": chosen}


def test_the_server_counts_what_was_chosen(folder: Path, address: str) -> None:
    with served(study(folder, "acr", DEVICE), address) as client:
        own, site = link(client), site_of(client)
        page = take(client, own, stop="device")["page"]
        sent = {"level": -6, **page["trials"], "sides": [2, 2]}
        assert client.post(f"{own}/answers", json=answer(page, sent)).is_success
        stored = site.store.answer_to(site.digest, 1, "device")
    assert stored is not None
    assert stored.values == {"level": -6, "sides": False, "huggins": [6, 6], "antiphase": [6, 6]}


def test_whoever_fails_a_required_check_may_try_again_and_then_pass(
    folder: Path, address: str
) -> None:
    with served(study(folder, "acr", GATE), address) as client:
        own = link(client)
        page = take(client, own, stop="device")["page"]
        failed = answer(page, choices(page, 4))
        for _ in range(2):  # a repeated request is not another try
            got = client.post(f"{own}/answers", json=failed)
            assert (got.status_code, got.json()["error"]["code"]) == (422, "again")
            assert got.json()["error"]["wrong"] == [wording("en").pages["device_again"]]
        again = client.get(f"{own}/state").json()["page"]
        assert again["trials"] != page["trials"]
        counted = client.post(f"{own}/answers", json=answer(again, choices(again, 0) | PERFECT))
        assert counted.json()["error"]["details"] == [
            "huggins must be a list of 6 choices, got [6, 6]"
        ]
        passed = client.post(f"{own}/answers", json=answer(again, choices(again, 5)))
        assert passed.json()["state"]["page"]["name"] == "training.0"


PERFECT = {"huggins": [6, 6]}


def test_whoever_fails_a_required_check_to_the_end_is_turned_away(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", GATE + "quality: {ineligible_code: C0DE}\n")
    with served(path, address) as client:
        own, site = link(client), site_of(client)
        page = take(client, own, stop="device")["page"]
        client.post(f"{own}/answers", json=answer(page, choices(page, 4)))
        page = client.get(f"{own}/state").json()["page"]
        got = client.post(f"{own}/answers", json=answer(page, choices(page, 4)))
        assert got.json()["status"] == "stored"
        for state in (got.json()["state"], client.get(f"{own}/state").json()):
            assert (state["page"], state["ahead"], state["code"]) == (None, [], None)
            assert state["ineligible"]["title"] == wording("en").pages["device_failed"]
            assert state["ineligible"]["code"] == "C0DE"
        assert client.get(f"{own}/sound/training.1/0").status_code == 403
        [status] = site.store.status(site.digest)
        assert status.listener.state == "ineligible"


def test_a_failed_check_can_exclude_from_the_analysis(folder: Path, address: str) -> None:
    more = "device: [level, huggins, antiphase]\nscreening: [{rule: device}]\n"
    path = study(folder, "acr", more + "rest_minutes: 0\n")
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 3\n"))
    with served(path, address) as client:
        for listener in (1, 2, 3):
            own = link(client, listener)
            page = take(client, own, stop="device")["page"]
            hits = {"huggins": [7 - listener, 6], "antiphase": [5, 6]}
            assert client.post(f"{own}/answers", json=answer(page, {"level": 0, **hits})).is_success
            take(client, own)
    results = study_analyse((), study=path, db=address)
    assert results.left == (3,)
    told = {one.listener: one.figures for one in results.screened}
    assert told[3] == "right rounds: huggins 4 of 6, antiphase 5 of 6 (minimum share 0.8)"
    (folder / "a.jsonl").write_bytes(stored_answers(path, address).lines)
    assert study_analyse(folder / "a.jsonl", study=path).left == (3,)


def test_after_practice_it_is_told_what_was_expected(folder: Path, address: str) -> None:
    with served(study(folder, "p835", gold(folder)), address) as client:
        own = link(client)
        page = take(client, own, stop="training.1")["page"]
        values = {one["name"]: 4 for one in page["questions"]}
        told = client.post(f"{own}/answers", json=answer(page, values)).json()["state"]["page"]
        assert (told["kind"], told["name"]) == ("feedback", "feedback.1")
        assert told["rows"][-1] == {
            "prompt": "Attend to the whole sound, speech and background. The overall quality is:",
            "given": "Good",
            "expected": None,
        }
        [speech] = [row for row in told["rows"] if "speech signal" in row["prompt"]]
        assert (speech["given"], speech["expected"]) == ("Slightly distorted", "Fairly distorted")
        assert client.get(f"{own}/state").json()["page"] == told
        assert client.post(f"{own}/answers", json=answer(told, {"x": 1})).status_code == 422
        assert take(client, own, stop="1.1")["page"]["name"] == "1.1"


def test_the_level_is_told_to_other_devices_where_there_are_sounds(folder: Path) -> None:
    with served(study(folder, "acr", DEVICE), str(folder / "store.db")) as client:
        own = link(client)
        assert take(client, own, stop="device")["level"] is None
        assert take(client, own, stop="training.0")["level"] is None
        state = take(client, own, stop="training.1")
        assert state["level"] == client.get(f"{own}/state").json()["level"] == -12.5
        reply = client.post(f"{own}/answers", json=answer(state["page"], {"QUALITY": 4})).json()
        assert reply["state"]["level"] is None  # known to the device that has sent the answer


def test_without_a_table_answers_alone_are_told(folder: Path) -> None:
    path = study(folder, "mushra", "feedback: true\n")
    anyone = Anyone()
    answer_study(path, 1, folder / "a.jsonl", anyone)
    [told] = [view for view in anyone.seen if view["kind"] == "feedback"]
    assert {row["given"] for row in told["rows"]} == {"100"}
    assert {row["expected"] for row in told["rows"]} == {None}


def test_simulated_listeners_answer_device_pages_and_everything_as_before(folder: Path) -> None:
    plain = study_simulate(study(folder, "p835"))
    more = study_simulate(study(folder, "p835", DEVICE + gold(folder)))
    device = [one.values for one in more.answers if one.page == "device"]
    assert device == [{"level": 0, "sides": True, "huggins": [6, 6], "antiphase": [6, 6]}] * 2
    kept = [(one.page, one.values) for one in more.answers if one.page != "device"]
    assert kept == [(one.page, one.values) for one in plain.answers]
    assert ratings_from_answers(more.design.study, dict(enumerate(more.answers, 1)), "x")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("device: [level, loud]\n", r"device\[1\]: unknown step \"loud\""),
        ("device: [level, level]\n", r"device\[1\]: duplicate \"level\""),
        ("device: {steps: [level], require: [level]}\n", r"device.require\[0\]: unknown step"),
        ("device: {steps: [level], require: [sides]}\n", '"sides" is not one of steps'),
        ("screening: [{rule: device}]\n", "needs a device check"),
        ("gold: gold.csv\n", "gold: used only with feedback — write feedback: true"),
        ("feedback: 1\n", "feedback: must be true or false"),
        ("feedback: true\ngold: none.csv\n", "none.csv: cannot be read"),
    ],
)
def test_keys_that_cannot_be_are_told(folder: Path, more: str, told: str) -> None:
    gold(folder)
    with pytest.raises(InputError, match=told):
        read_study(study(folder, "p835", more))


def test_feedback_needs_practice_and_gold_needs_ratings_of_single_clips(folder: Path) -> None:
    path = study(folder, "ab", gold(folder))
    (folder / "gold.csv").write_text(GOLD + "a,C0,BETTER,1\n")
    with pytest.raises(InputError, match="gold: not supported by ab"):
        read_study(path)
    path = study(folder, "acr", "feedback: true\n")
    path.write_text(path.read_text().replace("training: 1", "training: 0"))
    with pytest.raises(InputError, match="feedback: the study has no practice trials"):
        read_study(path)


def test_all_that_is_wrong_with_a_table_of_expected_values_is_told(folder: Path) -> None:
    path = study(folder, "p835", gold(folder))
    rows = ["a,C0,SIG,9", "z,C0,SIG,1", "a,C9,SIG,1", "a,C0,LOUD,1", "a,C0", "a,C0,SIG,x"]
    rows += ["a,C0,BAK,1", "a,C0,BAK,2"]
    (folder / "gold.csv").write_text(GOLD + "\n".join(rows) + "\n")
    with pytest.raises(InputError) as caught:
        read_study(path)
    told = str(caught.value)
    for part in (
        'gold.csv:2: value: must be from 1 to 5 in steps of 1, got "9"',
        'gold.csv:3: item: unknown item "z"',
        'gold.csv:4: system: unknown system "C9"',
        'gold.csv:5: scale: unknown scale "LOUD"',
        "gold.csv:6: needs 4 fields",
        'gold.csv:7: value: must be from 1 to 5 in steps of 1, got "x"',
        "gold.csv:9: duplicate of line 8 — keep one",
        "7 problems",
    ):
        assert part in told
    for text, part in (
        (GOLD, "contains no expected values"),
        ("item,system\n", "needs the columns"),
    ):
        (folder / "gold.csv").write_text(text)
        with pytest.raises(InputError, match=part):
            read_study(path)
