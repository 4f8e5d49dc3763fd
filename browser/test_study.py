"""What the pages of a study let a listener do; whole studies are in test_server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import at, drafted, go_on, hear, opened, rate
from playwright.sync_api import Browser, Page

ODD = '& + % " < 😀 é\u2028 </script>'


def heard_to_the_end(answer: dict[str, Any], questions: tuple[str, ...]) -> None:
    plays = answer["meta"]["plays"]
    assert [one["question"] for one in plays] == list(questions)
    assert all(one["ended"] and one["seconds"] == pytest.approx(0.4, abs=0.02) for one in plays)


def test_the_first_page_says_which_study_it_is_of(browser: Browser) -> None:
    with (
        served(FakeServer([small.consent(), small.text(), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        at(page, "Consent")
        expect(page.get_by_role("banner").get_by_text("Listening test")).to_be_visible()
        page.locator("label.check").click()
        go_on(page)
        at(page, "Instructions")
        expect(page.get_by_role("banner").get_by_text("Listening test")).to_be_hidden()


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
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        assert page.locator("input:checked").count() == 0
        expect(page.locator("button.wide")).to_be_disabled()
        page.keyboard.press("Space")
        assert page.locator("input:checked").count() == 0
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
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


def test_space_plays_again_and_never_sends_the_answer(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    with served(fake), opened(browser, fake) as page:
        hear(page)
        page.keyboard.press("3")
        for _ in range(2):  # after a key, and with the focus on the chosen answer
            page.keyboard.press("Space")
            expect(page.get_by_role("radio").first).to_be_disabled()
            expect(page.get_by_role("radio").first).to_be_enabled()
            page.get_by_text("Fair").click()
        drafted(page)
        page.reload()
        expect(page.locator("button.wide")).to_be_enabled()
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Playing")).to_be_disabled()
        expect(page.get_by_role("radio").first).to_be_enabled()
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        heard_to_the_end(fake.answers[0], ("QUALITY",) * 4)


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
        expect(page.locator("#field-1-wrong")).to_have_text("Please enter a number.")
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
        at(page, "You have withdrawn from this test")
        page.reload()
        at(page, "You have withdrawn from this test")


def test_a_blocked_listener_is_told(browser: Browser) -> None:
    fake = FakeServer(small.whole())
    fake.blocked = True
    with served(fake), opened(browser, fake) as page:
        at(page, "You cannot continue this test")


def test_french_pages_have_no_english_words(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, "fr"), small.end()], "fr")
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Écouter").click()
        expect(page.get_by_role("button", name="Écouté", exact=True)).to_be_disabled()
        shown = page.locator("body").inner_text()
        assert "Page 1 sur 1" in shown
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
