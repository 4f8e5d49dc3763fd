"""An answer that the server refuses: what was typed stays, and nothing says that it is saved."""

from __future__ import annotations

from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import arrive, at, drafted, go_on, opened, rate, settled
from playwright.sync_api import Browser

ANSWERS = "**/answers"
ERROR = '{"error": {"code": "wrong", "message": "no"}}'


@pytest.mark.parametrize(
    ("status", "told"), [(413, "too long to be sent"), (422, "was not accepted")]
)
def test_a_refused_form_keeps_what_was_typed_and_is_not_called_saved(
    browser: Browser, status: int, told: str
) -> None:
    with served(FakeServer([small.form(), small.end()])) as fake, opened(browser, fake) as page:
        page.get_by_label("In-ear").check()
        page.get_by_label("How old").fill("31")
        page.get_by_label("Anything").fill("A long story")
        page.route(ANSWERS, lambda route: route.fulfill(status=status, body=ERROR))
        go_on(page)
        expect(page.locator(".notice")).to_contain_text(told)
        expect(page.locator("#saving")).to_have_text("Not saved")
        expect(page.get_by_label("Anything")).to_have_value("A long story")
        page.reload()
        expect(page.get_by_label("Anything")).to_have_value("A long story")
        page.unroute(ANSWERS)
        go_on(page)
        expect(page.locator(".code")).to_be_visible()
        settled(page)
        expected = {"device": "In-ear", "age": 31, "more": "A long story"}
        assert fake.values() == {"before": expected}


def test_a_refused_trial_is_heard_again_and_keeps_its_comment(browser: Browser) -> None:
    trial = small.trial("1.1", 1, 1, kind="acr") | {"plays": 1}
    with served(FakeServer([trial, small.end()])) as fake, opened(browser, fake) as page:
        page.get_by_text("Add a comment").click()
        page.get_by_label("Comment").fill("a click at the end")
        page.route(ANSWERS, lambda route: route.fulfill(status=422, body=ERROR))
        rate(page, 2)
        expect(page.locator(".notice")).to_contain_text("was not accepted")
        expect(page.get_by_label("Comment")).to_have_value("a click at the end")
        page.unroute(ANSWERS)
        rate(page, 3)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"QUALITY": 3}}
        assert fake.answers[0]["meta"]["comment"] == "a click at the end"
        assert len(fake.answers[0]["meta"]["plays"]) == 1


def test_a_form_that_is_too_long_as_a_whole_is_told_before_it_is_sent(browser: Browser) -> None:
    view = small.form()
    more = {"name": "more", "prompt": "More", "answer": "text", "needed": False}
    view["questions"] = [{**more, "name": f"more{n}", "prompt": f"More {n}"} for n in range(11)]
    with served(FakeServer([view, small.end()])) as fake, opened(browser, fake) as page:
        expect(page.get_by_role("textbox")).to_have_count(11)
        for area in page.get_by_role("textbox").all():
            area.fill("é" * 10_000)
        go_on(page)
        expect(page.get_by_role("alert")).to_contain_text("too long to be sent")
        assert fake.posts == []
        page.get_by_label("More 10").fill("")
        page.get_by_label("More 9").fill("")
        go_on(page)
        expect(page.locator(".code")).to_be_visible()
        assert len(fake.values()["before"]) == 9


def test_half_characters_are_not_sent(browser: Browser) -> None:
    pages = [small.form(), small.trial("1.1", 1, 1, kind="acr"), small.end()]
    half = "(name) => { const area = document.querySelector(name); area.value = 'a\\ud83d';"
    half += " area.dispatchEvent(new Event('input')); }"
    with served(FakeServer(pages)) as fake, opened(browser, fake) as page:
        page.get_by_label("In-ear").check()
        page.get_by_label("How old").fill("31")
        page.evaluate(half, "#field-2")
        go_on(page)
        at(page, "Session 1 of 2")
        page.evaluate(half, "#comment")
        rate(page, 2)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["before"]["more"] == "a\ufffd"
        assert fake.answers[1]["meta"]["comment"] == "a\ufffd"


def test_a_comment_is_kept_while_it_is_typed(browser: Browser) -> None:
    with (
        served(FakeServer([small.trial("1.1", 1, 1), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        page.get_by_text("Add a comment").click()
        page.get_by_label("Comment").press_sequentially("I hear")
        drafted(page)
        page.reload()
        expect(page.get_by_label("Comment")).to_have_value("I hear")


def test_who_withdrew_on_another_device_is_told_that_and_nothing_else(browser: Browser) -> None:
    with (
        served(FakeServer([small.text("a"), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        at(page, "Instructions")
        state = fake.state() | {"page": None, "withdrawn": True}
        body = {"error": {"code": "not_open", "message": "no"}, "state": state}
        page.route(ANSWERS, lambda route: route.fulfill(status=409, json=body))
        go_on(page)
        at(page, "You have withdrawn from this test")
        settled_page = page.locator("main").inner_text()
        assert "no longer open" not in settled_page


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        ({"blocked": True}, "You cannot continue this test"),
        ({"shut": "lapsed"}, "Your place was given to another person"),
    ],
    ids=["blocked", "lapsed"],
)
def test_who_cannot_continue_can_withdraw(
    browser: Browser, ended: dict[str, Any], told: str
) -> None:
    fake = FakeServer([small.text("a"), small.end()])
    state = fake.state
    fake.state = lambda: state() | {"page": None} | ended  # type: ignore[method-assign]
    with served(fake), opened(browser, fake) as page:
        at(page, told)
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Delete my answers").click()
        at(page, "You have withdrawn from this test")
        assert fake.withdrawn
        expect(page.locator("#withdraw")).to_be_hidden()


def test_a_browser_that_fails_to_keep_drafts_keeps_nobody_from_going_on(browser: Browser) -> None:
    broken = """
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (name, ...more) {
      if (name === "drafts") throw new DOMException("no", "QuotaExceededError");
      return transaction.call(this, name, ...more);
    };
    """
    pages = [small.form(), small.trial("1.1", 1, 1), small.end()]
    with served(FakeServer(pages)) as fake:
        context = browser.new_context()
        context.add_init_script(broken)
        page, said = arrive(context, fake)
        page.get_by_label("In-ear").check()
        page.get_by_label("How old").fill("31")
        go_on(page)
        for value in (1, 2, 3):
            rate(page, value)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"] == {"BAK": 1, "SIG": 2, "OVRL": 3}
        assert said == []
        context.close()
