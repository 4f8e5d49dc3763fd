"""What is told where the server does not do what was asked, and that answers wait for it."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import arrive, at, go_on, opened, rate, settled
from playwright.sync_api import Browser, Page

ANSWERS, STATE = "**/answers", "**/state*"
FAULTS = {
    "This test is not available now": (404, '{"error": {"code": "not_found", "message": "no"}}'),
    "The server has a problem": (503, '{"error": {"code": "store_failed", "message": "no"}}'),
    "No connection": (404, "<html>a proxy</html>"),
}


def texts() -> FakeServer:
    return FakeServer([small.text("a"), small.text("b"), small.end()])


def again(page: Page) -> None:
    """Press the button, if the page has not tried again by itself."""
    waits = "['sending', 'not_here', 'failed', 'unreachable'].includes(document.body.dataset.page)"
    page.evaluate(f"{waits} && document.querySelector('main button').click()")


def named(page: Page, name: str) -> None:
    expect(page.locator("body")).to_have_attribute("data-name", name)


@pytest.mark.parametrize("title", FAULTS)
def test_why_an_answer_waits_is_told_and_it_is_sent_later(browser: Browser, title: str) -> None:
    status, body = FAULTS[title]
    with served(texts()) as fake, opened(browser, fake) as page:
        named(page, "a")
        page.route(ANSWERS, lambda route: route.fulfill(status=status, body=body))
        go_on(page)
        at(page, title)
        expect(page.locator("main .told")).to_contain_text("stored on this device")
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        page.unroute(ANSWERS)
        again(page)
        named(page, "b")
        assert [one["page"] for one in fake.answers] == ["a"]


@pytest.mark.parametrize("title", FAULTS)
def test_why_no_page_comes_is_told(browser: Browser, title: str) -> None:
    status, body = FAULTS[title]
    with served(texts()) as fake, opened(browser, fake) as page:
        page.route(STATE, lambda route: route.fulfill(status=status, body=body))
        page.reload()
        at(page, title)
        page.unroute(STATE)
        again(page)
        named(page, "a")


def test_a_script_of_a_trial_that_does_not_come_is_told_and_asked_for_again(
    browser: Browser,
) -> None:
    script = "**/trials/single.js*"
    with served(FakeServer([small.trial("1.1", 1, 1), small.end()])) as fake:
        context = browser.new_context()
        context.route(script, lambda route: route.abort())
        page, _ = arrive(context, fake)
        at(page, "No connection")
        context.unroute(script)
        again(page)
        at(page, "Session 1 of 2")
        expect(page.get_by_role("button", name="Play")).to_be_enabled()
        context.close()


def test_a_kind_that_no_script_shows_is_told(browser: Browser) -> None:
    view = {**small.trial("1.1", 1, 1), "kind": "mushra", "renderer": ""}
    with served(FakeServer([view, small.end()])) as fake, opened(browser, fake) as page:
        expect(page.locator("main")).to_contain_text("cannot be shown in a browser yet")


@pytest.mark.parametrize("status", [200, 422])
@pytest.mark.parametrize("body", ["{}", "null", '{"status": "ok"}'])
def test_what_is_not_said_by_the_server_acknowledges_nothing(
    browser: Browser, status: int, body: str
) -> None:
    with served(texts()) as fake, opened(browser, fake) as page:
        named(page, "a")
        page.route(ANSWERS, lambda route: route.fulfill(status=status, body=body))
        go_on(page)
        at(page, "No connection")
        page.unroute(ANSWERS)
        again(page)
        named(page, "b")
        assert [one["page"] for one in fake.answers] == ["a"]


def test_what_is_not_said_by_the_server_is_no_state_and_no_withdrawal(browser: Browser) -> None:
    with served(texts()) as fake, opened(browser, fake) as page:
        named(page, "a")
        page.route("**/withdraw", lambda route: route.fulfill(body="{}"))
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Delete my answers").click()
        expect(page.get_by_role("alert")).to_contain_text("did not confirm")
        page.route(STATE, lambda route: route.fulfill(body="{}"))
        page.reload()
        at(page, "No connection")


def test_a_tab_whose_answer_another_tab_sent_goes_on(browser: Browser) -> None:
    pages = [small.trial("1.1", 1, 2, kind="acr"), small.trial("1.2", 2, 2, kind="acr")]
    with served(FakeServer([*pages, small.end()])) as fake:
        context = browser.new_context()
        first, _ = arrive(context, fake)
        at(first, "Session 1 of 2")
        second, _ = arrive(context, fake)
        second.get_by_role("button", name="Use this tab").click()
        at(second, "Session 1 of 2")
        context.route(ANSWERS, lambda route: route.abort())
        rate(second, 4)
        at(second, "No connection")
        second.route(ANSWERS, lambda route: route.abort())
        context.unroute(ANSWERS)
        with first.expect_response(ANSWERS):
            first.evaluate("dispatchEvent(new Event('online'))")
        again(second)
        named(second, "1.2")
        settled(second)
        assert fake.values() == {"1.1": {"QUALITY": 4}}
        context.close()
