"""Trials with several sounds: in sequence, or with free switching between them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import DESKTOP, drafted, opened, visit
from browser.helpers.real_server import CLIPS, SYSTEMS, really_served
from playwright.sync_api import Browser, Page

from earwitness.studies.from_answers import study_ratings

STUDY = """\
title: Pairs
seed: 5
systems: [Kestrel, Osprey]
reference: clean
files: "{system}/{item}.wav"
listeners: 1
rest_minutes: 0.02
blocks:
  - {kind: dcr, clips: 1}
  - {kind: ccr, clips: 2}
  - {kind: ab, clips: 2}
  - {kind: abx, clips: 2}
  - {kind: preference, clips: 2}
"""
PRESSED = {"dcr": "4", "ccr": "2", "ab": "1", "abx": "1", "preference": "3"}


def write_pairs(folder: Path, study: Path, language: str) -> None:
    """A study of all kinds with several sounds."""
    del language
    for number, (system, clip) in enumerate(product((*SYSTEMS, "clean"), CLIPS)):
        path = folder / system / f"{clip}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(hertz=300 + 50 * number))
    study.write_text(STUDY, encoding="utf-8")


def tile(page: Page, letter: str) -> Any:
    return page.locator(f".tile:has(.letter:text-is('{letter}'))")


def listen(page: Page) -> None:
    """Hear all sounds to the end, by keys alone."""
    letters = page.locator(".tile .letter").all_inner_texts()
    if not letters:
        page.keyboard.press("Space")
    for letter in letters:
        page.keyboard.press(letter.lower())
        expect(tile(page, letter)).to_have_attribute("data-state", "heard")
    expect(page.get_by_role("radio").first).to_be_enabled()


def expected(answer: dict[str, Any]) -> float:
    """The rating of the second system of the study, or its degradation, from what was presented."""
    [scale] = answer["values"]
    systems, target = answer["heard"]["systems"], answer["heard"]["target"]
    osprey = systems[-1] == "Osprey"  # it was B, or the second
    return {
        "DEGRADATION": 4.0,
        "COMPARISON": 2.0 if osprey else -2.0,  # the second is better
        "BETTER": -1.0 if osprey else 1.0,  # A is better
        "SAME": float(target == 0),  # A is X
        "PREFERENCE": 1.0 if osprey else -1.0,  # B is preferred
    }[scale]


def test_a_study_of_pairs_by_keyboard_gives_ratings_with_the_right_sign(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, write=write_pairs) as server:
        context = browser.new_context(**DESKTOP)
        page, said = visit(context, server.links[0])
        body, name, kinds = page.locator("body"), "", list[str]()
        while True:
            expect(body).not_to_have_attribute("data-name", name)
            expect(page.locator("main:not([inert]) h1")).to_be_visible()
            kind, name = (body.get_attribute(f"data-{part}") or "" for part in ("page", "name"))
            if kind == "end":
                break
            if kind in PRESSED:
                kinds.append(kind)
                listen(page)
                page.keyboard.press(PRESSED[kind])
            else:
                expect(page.locator("main button.main")).to_be_enabled()
            page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        context.close()
        assert said == []
        assert {kind: kinds.count(kind) for kind in PRESSED} == dict.fromkeys(PRESSED, 2)
        answers = [one for one in server.exported() if "heard" in one]
        path = tmp_path / "answers.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in answers))
        ratings = study_ratings(server.study, path)
    assert [one["value"] for one in ratings] == [expected(one) for one in answers]
    pairs = [one for one in ratings if one["scale"] != "DEGRADATION"]
    assert {(one["system"], one["against"]) for one in pairs} == {("Osprey", "Kestrel")}
    orders = [tuple(one["heard"]["systems"]) for one in answers if len(one["heard"]["systems"]) > 1]
    assert set(orders) == {SYSTEMS, SYSTEMS[::-1]}


@pytest.mark.parametrize(
    ("kind", "first"), [("dcr", "Reference"), ("ccr", "First sound")], ids=["dcr", "ccr"]
)
def test_a_sequence_shows_which_sound_is_playing(browser: Browser, kind: str, first: str) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind=kind), small.end()])
    fake.sound = tone(2.0)
    with served(fake), opened(browser, fake) as page:
        playing = page.locator(".sequence [aria-current=true]")
        expect(playing).to_have_count(0)
        page.get_by_role("button", name="Play both sounds").click()
        for name in (first, "Second sound"):
            expect(playing).to_have_text(name)
            assert page.get_by_role("radio").first.is_disabled()
        expect(page.get_by_role("radio").first).to_be_enabled()
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        page.get_by_role("radio").first.click()
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        plays = fake.answers[0]["meta"]["plays"]
        assert [(one["sound"], one["ended"]) for one in plays] == [(0, True), (1, True)]


def test_after_an_interruption_only_the_sound_that_was_not_heard_is_played(
    browser: Browser,
) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="dcr"), small.end()])
    fake.sound = tone(2.0)
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Play both sounds").click()
        expect(page.locator(".sequence [aria-current=true]")).to_have_text("Second sound")
        drafted(page)
        page.reload()
        expect(page.locator(".sequence [data-state=heard]")).to_have_text("Reference")
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.keyboard.press("3")
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        ended = [one["sound"] for one in fake.answers[0]["meta"]["plays"] if one["ended"]]
        assert ended == [0, 1]


def test_a_switch_from_the_start_plays_the_whole_sound(browser: Browser) -> None:
    view = small.trial("1.1", 1, 1, kind="ab") | {"restart": True}
    fake = FakeServer([view, small.end()])
    fake.sound = tone(2.0)
    with served(fake), opened(browser, fake) as page:
        expect(tile(page, "A")).to_be_visible()
        page.keyboard.press("a")
        page.wait_for_timeout(500)  # at the same position, the beginning of B would be missing
        page.keyboard.press("b")
        whole = "matrix(1, 0, 0, 1, 0, 0)"
        expect(tile(page, "B").locator(".bar i")).to_have_css("transform", whole)
        expect(tile(page, "A").locator(".bar i")).not_to_have_css("transform", whole)


@pytest.mark.parametrize(("kind", "values"), [("dcr", {"DEGRADATION": 3}), ("p835", {"BAK": 4})])
def test_a_choice_is_kept_over_a_reload_for_its_own_question_only(
    browser: Browser, kind: str, values: dict[str, int]
) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind=kind), small.end()])
    [(name, value)] = values.items()
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.keyboard.press(str(value))
        drafted(page)
        page.reload()
        expect(page.locator("input:checked")).to_have_value(str(value))
        page.locator("button.wide").click()
        if kind == "dcr":
            expect(page.locator(".code")).to_be_visible()
            assert fake.values()["1.1"] == {name: value}
        else:
            expect(page.locator(".steps i").nth(1)).to_have_class("now")
            expect(page.locator("input:checked")).to_have_count(0)


def test_a_key_after_enter_chooses_nothing_for_the_next_question(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1), small.end()])
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.evaluate(
            """() => ["4", "Enter", "3"].forEach((key) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""
        )  # before the first answer is kept
        expect(page.locator(".steps i").nth(1)).to_have_class("now")
        expect(page.locator("input:checked")).to_have_count(0)
        expect(page.locator("button.wide")).to_be_disabled()


def test_switching_by_keys_opens_the_answers_when_every_sound_was_heard(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="preference"), small.end()])
    fake.sound = tone(2.5)
    with served(fake), opened(browser, fake) as page:
        expect(tile(page, "A")).to_be_visible()
        page.keyboard.press("a")
        expect(page.get_by_text("Playing: A")).to_be_visible()
        expect(tile(page, "A")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("b")
        expect(page.get_by_text("Playing: B")).to_be_visible()
        expect(tile(page, "A")).to_have_attribute("aria-pressed", "false")
        expect(page.locator(".announced").filter(has_text="B")).to_have_count(1)
        page.keyboard.press("1")
        assert page.locator("input:checked").count() == 0
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        page.keyboard.press("l")
        for letter in ("A", "B"):  # one after the other, without stopping in between
            page.keyboard.press(letter)
            expect(tile(page, letter)).to_have_attribute("data-state", "playing")
            expect(tile(page, letter).locator(".bar i")).to_have_css(
                "transform", "matrix(1, 0, 0, 1, 0, 0)"
            )
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.keyboard.press("2")
        page.keyboard.press("Space")  # it pauses, and does not send the answer
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        drafted(page)
        page.reload()
        expect(page.get_by_role("radio", name="No preference")).to_be_checked()
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"] == {"PREFERENCE": 0}
        plays = fake.answers[0]["meta"]["plays"]
        assert {one["sound"] for one in plays if one["ended"]} == {0, 1}
        assert {one["question"] for one in plays} == {""}
