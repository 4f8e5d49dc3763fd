"""Whole small studies in Chromium, by keyboard and by touch; what a trial lets a listener do."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import DESKTOP, PHONE, at, go_on, hear, opened, rate, settled
from playwright.sync_api import Browser, Page, expect

ODD = '& + % " < 😀 é\u2028 </script>'


def heard_to_the_end(answer: dict[str, Any], questions: tuple[str, ...]) -> None:
    plays = answer["meta"]["plays"]
    assert [one["question"] for one in plays] == list(questions)
    assert all(one["ended"] and one["seconds"] == pytest.approx(0.4, abs=0.02) for one in plays)


def test_a_whole_study_by_keyboard(browser: Browser) -> None:
    def trial(*values: int) -> None:
        for place, value in enumerate(values, 1):
            expect(page.locator(".steps")).to_contain_text(f"Question {place} of 3")
            page.keyboard.press("Space")
            expect(page.get_by_role("radio").first).to_be_enabled()
            page.keyboard.press(str(value))
            page.keyboard.press("Enter")

    with served(FakeServer(small.whole())) as fake, opened(browser, fake, **DESKTOP) as page:
        at(page, "Consent")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        at(page, "Before you listen")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.type("31")
        page.keyboard.press("Tab")
        page.keyboard.type(ODD)
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        for title in ("What you will do", "What you will do"):
            at(page, title)
            page.keyboard.press("Enter")
            settled(page)
        trial(1, 2, 3)
        at(page, "Practice")
        page.keyboard.press("Space")
        at(page, "What you will do")
        page.keyboard.press("Space")
        trial(5, 4, 3)
        trial(2, 2, 2)
        at(page, "Please rest for 5 minutes")
        assert fake.state()["code"] is None
        expect(page.get_by_role("button", name="Go on")).to_be_enabled()
        page.keyboard.press("Enter")
        at(page, "What you will do")
        page.keyboard.press("Enter")
        trial(1, 1, 5)
        expect(page.locator(".code")).to_have_text("C0DE-77")
        assert fake.values()["before"] == {"device": "Headphones", "age": 31, "more": ODD}
        assert fake.values()["1.1"] == {"BAK": 5, "SIG": 4, "OVRL": 3}
        assert fake.values()["2.1"] == {"BAK": 1, "SIG": 1, "OVRL": 5}
        assert [one["page"] for one in fake.answers] == [one["name"] for one in fake.pages[:-1]]
        assert len({one["id"] for one in fake.answers}) == len(fake.answers) == len(fake.posts)
        heard_to_the_end(fake.answers[-1], small.ORDER)
        assert fake.answers[-1]["meta"]["keyboard"] is True


def test_the_first_page_says_which_study_it_is_of(browser: Browser) -> None:
    with (
        served(FakeServer([small.consent(), small.text(), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        at(page, "Consent")
        expect(page.get_by_role("banner").get_by_text("Listening test")).to_be_visible()
        page.locator("label.check").click()
        go_on(page)
        at(page, "What you will do")
        expect(page.get_by_role("banner").get_by_text("Listening test")).to_be_hidden()


def test_a_whole_study_by_touch_on_a_phone(browser: Browser) -> None:
    def tap(name: str) -> None:
        page.get_by_role("button", name=name).tap()

    def trial(*values: int) -> None:
        for value in values:
            tap("Play")
            page.locator(f'label:has(input[value="{value}"]:enabled)').tap()
            page.locator("button.wide").tap()

    with served(FakeServer(small.whole())) as fake, opened(browser, fake, **PHONE) as page:
        page.locator("label.check").tap()
        tap("Go on")
        page.get_by_text("In-ear").tap()
        page.get_by_label("How old").fill("47,5")
        tap("Go on")
        for name in ("instructions", "training.0"):
            at(page, "What you will do")
            expect(page.locator("body")).to_have_attribute("data-name", name)
            tap("Go on")
        trial(3, 3, 3)
        at(page, "Practice")
        tap("Go on")
        at(page, "What you will do")
        tap("Go on")
        trial(1, 2, 3)
        trial(4, 5, 1)
        at(page, "Please rest for 5 minutes")
        tap("Go on")
        at(page, "What you will do")
        tap("Go on")
        trial(2, 3, 4)
        expect(page.locator(".code")).to_have_text("C0DE-77")
        assert fake.values()["before"] == {"device": "In-ear", "age": 47.5}
        assert fake.values()["1.2"] == {"BAK": 4, "SIG": 5, "OVRL": 1}
        assert fake.answers[-1]["meta"]["keyboard"] is False
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_can_be_chosen_before_the_sound_was_heard_and_it_is_heard_once(
    browser: Browser,
) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1), small.end()])
    with served(fake), opened(browser, fake) as page:
        at(page, "Session 1 of 2")
        page.keyboard.press("4")
        assert page.get_by_role("radio", disabled=True).count() == 5
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("button", name="Playing")).to_be_disabled()
        page.keyboard.press("4")
        expect(page.get_by_role("button", name="Heard")).to_be_disabled()
        assert page.locator("input:checked").count() == 0
        expect(page.locator("button.wide")).to_be_disabled()
        page.keyboard.press("Space")
        assert page.locator("input:checked").count() == 0
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("Space")
        expect(page.locator(".steps")).to_contain_text("Question 2 of 3")
        rate(page, 5)
        rate(page, 5)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"] == {"BAK": 2, "SIG": 5, "OVRL": 5}


KEYS: dict[str, tuple[dict[str, Any], int]] = {
    "on a French keyboard": ({"key": "&", "code": "Digit1"}, 1),
    "on one with Shift": ({"key": "!", "code": "Digit1", "shiftKey": True}, 0),
    "on a French one with Shift": ({"key": "1", "code": "Digit1", "shiftKey": True}, 1),
    "on the keypad": ({"key": "1", "code": "Numpad1"}, 1),
    "on the keypad without its lock": ({"key": "End", "code": "Numpad1"}, 0),
    "with AltGr": ({"key": "¹", "code": "Digit1", "modifierAltGraph": True}, 0),
}


@pytest.mark.parametrize("name", KEYS)
def test_digits_choose_on_every_keyboard(browser: Browser, name: str) -> None:
    key, chosen = KEYS[name]
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    with served(fake), opened(browser, fake) as page:
        hear(page)
        press = "(key) => document.body.dispatchEvent(new KeyboardEvent('keydown', key))"
        page.evaluate(press, {**key, "bubbles": True})
        assert page.locator("input[value='1']:checked").count() == chosen


def test_acr_may_be_heard_again_where_plays_are_free(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    with served(fake), opened(browser, fake) as page:
        hear(page)
        page.get_by_role("button", name="Play again").click()
        expect(page.get_by_role("radio").first).to_be_disabled()
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.get_by_text("Fair").click()
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"QUALITY": 3}}
        heard_to_the_end(fake.answers[0], ("QUALITY", "QUALITY"))


def test_comments_keep_every_character(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    with served(fake), opened(browser, fake) as page:
        page.get_by_text("Add a comment").click()
        page.get_by_label("Comment").fill(ODD)
        page.get_by_label("Comment").press("1")
        assert page.locator("input:checked").count() == 0
        rate(page, 1)
        expect(page.locator(".code")).to_be_visible()
        assert fake.answers[0]["meta"]["comment"] == ODD + "1"


def test_a_form_says_what_is_missing_and_keeps_what_is_typed(browser: Browser) -> None:
    with (
        served(FakeServer([small.form(), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        page.get_by_label("How old").fill("old")
        go_on(page)
        expect(page.locator("#field-0-wrong")).to_have_text("Please answer this question.")
        expect(page.locator("#field-1-wrong")).to_have_text("Please type a number.")
        page.get_by_label("In-ear").check()
        page.get_by_label("How old").fill("31")
        page.reload()
        expect(page.get_by_label("How old")).to_have_value("31")
        expect(page.get_by_label("In-ear")).to_be_checked()
        go_on(page)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"before": {"device": "In-ear", "age": 31}}


def test_whoever_withdraws_is_asked_first(browser: Browser) -> None:
    with served(FakeServer(small.whole())) as fake, opened(browser, fake) as page:
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Stay").click()
        assert not fake.withdrawn
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Delete my answers").click()
        at(page, "You have withdrawn")
        page.reload()
        at(page, "You have withdrawn")


def test_a_blocked_listener_is_told(browser: Browser) -> None:
    fake = FakeServer(small.whole())
    fake.blocked = True
    with served(fake), opened(browser, fake) as page:
        at(page, "This test is closed for you")


def test_the_device_page_counts_hits(browser: Browser) -> None:
    def pick(name: str) -> None:
        page.get_by_role("button", name=re.compile("^Play")).click()
        page.get_by_role("button", name=name, exact=True).click()

    with (
        served(FakeServer([small.text(), small.device(), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        go_on(page)
        at(page, "Set a comfortable level")
        settled(page)
        page.get_by_role("button", name="Play the noise").click()
        page.get_by_label("Level").fill("-12")
        go_on(page)
        at(page, "Left and right")
        pick("Right")
        pick("Left")
        at(page, "Find the faint tone")
        pick("3")
        pick("2")
        at(page, "Find the quietest tone")
        pick("2")
        expect(page.locator(".code")).to_be_visible()
        expected = {"level": -12, "sides": True, "huggins": [1, 2], "antiphase": [1, 1]}
        assert fake.values()["device"] == expected


def test_french_pages_have_no_english_words(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, "fr"), small.end()], "fr")
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Écouter").click()
        expect(page.get_by_role("button", name="Écouté", exact=True)).to_be_disabled()
        shown = page.locator("body").inner_text()
        assert "Essai 1 sur 1" in shown
        assert "Ajouter un commentaire" in shown
        assert not re.search(r"\b(the|Play|Next|Saved|Trial|of|left|Add)\b", shown)


def test_nothing_is_fetched_from_elsewhere_or_asked_beyond_what_is_known(browser: Browser) -> None:
    asked: list[str] = []
    with served(FakeServer(small.whole())) as fake:
        context = browser.new_context()
        page: Page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(fake.address)
        at(page, "Consent")
        start = fake.address.removesuffix("/l/tok")
        paths = {one.removeprefix(start) for one in asked}
        own = r"/l/tok(/(state\?visit=[\w-]{36}|events|sound/training\.1/0))?"
        known = rf"{own}|/static/[\w/]+\.(js|css|svg)"
        assert [one for one in paths if not re.fullmatch(known, one)] == []
        context.close()
