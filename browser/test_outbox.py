"""Nothing is lost and nothing doubled: networks that fail, reloads, killed browsers, two tabs."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.conftest import FLAGS
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import (
    DESKTOP,
    arrive,
    at,
    go_on,
    hear,
    kill_browser,
    opened,
    rate,
    settled,
)
from playwright.sync_api import Browser, Page, Playwright, Route

ANSWERS = "**/answers"


def two_trials() -> FakeServer:
    return FakeServer([small.trial("1.1", 1, 2), small.trial("1.2", 2, 2), small.end()])


def once_each(fake: FakeServer, *pages: str) -> None:
    """Every page was answered once, however often it was sent."""
    assert [one["page"] for one in fake.answers] == list(pages)
    assert len({one["id"] for one in fake.answers}) == len(pages)


def test_an_answer_waits_for_the_network(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route(ANSWERS, lambda route: route.abort())
        for value in (1, 2, 3):
            rate(page, value)
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        expect(page.locator("main .told")).to_contain_text("stored on this device")
        assert fake.answers == []
        page.unroute(ANSWERS)
        page.get_by_role("button", name="Try again").click()
        settled(page)
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        once_each(fake, "1.1")
        assert fake.values() == {"1.1": {"BAK": 1, "SIG": 2, "OVRL": 3}}


@pytest.mark.parametrize(
    ("status", "body"),
    [(503, "<html>try later</html>"), (429, '{"error": {"code": "too_fast", "message": ""}}')],
)
def test_it_is_sent_again_by_itself(browser: Browser, status: int, body: str) -> None:
    tries: list[int] = []

    def thrice(route: Route) -> None:
        tries.append(1)
        if len(tries) < 3:
            route.fulfill(status=status, body=body)
        else:
            route.continue_()

    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route(ANSWERS, thrice)
        for value in (1, 2, 3):
            rate(page, value)
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        once_each(fake, "1.1")
        assert len(tries) == 3


def test_events_beyond_a_quota_are_dropped_and_answers_are_not(browser: Browser) -> None:
    sent: list[str] = []

    def refuse(route: Route) -> None:
        body = route.request.post_data_json
        assert body is not None
        sent.append(body["id"])
        route.fulfill(status=429, body='{"error": {"code": "quota_used", "message": ""}}')

    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route("**/events", refuse)
        for value in (1, 2, 3):
            rate(page, value)
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        expect(page.locator("#saving")).not_to_contain_text("Not sent")
        page.wait_for_timeout(3000)  # longer than the first pause before a repetition
        once_each(fake, "1.1")
    assert sent
    assert len(sent) == len(set(sent))


def test_an_answer_whose_acknowledgement_is_lost_is_not_doubled(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route(ANSWERS, _taken_but_not_acknowledged)
        for value in (4, 4, 4):
            rate(page, value)
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        once_each(fake, "1.1")
        page.unroute(ANSWERS)
        page.reload()
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        settled(page)
        once_each(fake, "1.1")
        assert len(fake.posts) >= 2
        assert len(set(fake.posts)) == 1


def _taken_but_not_acknowledged(route: Route) -> None:
    route.fetch()
    route.abort()


def test_a_reload_during_an_outage_keeps_the_answer(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route(ANSWERS, lambda route: route.abort())
        for value in (5, 5, 1):
            rate(page, value)
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        page.reload()
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        page.unroute(ANSWERS)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        assert fake.values() == {"1.1": {"BAK": 5, "SIG": 5, "OVRL": 1}}
        once_each(fake, "1.1")


def test_a_page_that_cannot_be_reached_says_so_and_comes_back(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        page.route("**/state*", lambda route: route.abort())
        page.reload()
        at(page, "No connection")
        page.unroute("**/state*")
        page.get_by_role("button", name="Try again").click()
        at(page, "Session 1 of 2")


def test_a_reload_comes_back_to_the_very_question(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        rate(page, 2)
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("button", name="Playing")).to_be_visible()
        page.reload()
        expect(page.locator(".steps")).to_contain_text("Question 2 of 3")
        rate(page, 3)
        hear(page)
        page.reload()
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        page.keyboard.press("4")
        page.keyboard.press("Enter")
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        assert fake.values() == {"1.1": {"BAK": 2, "SIG": 3, "OVRL": 4}}
        plays = fake.answers[0]["meta"]["plays"]
        expected = [("BAK", True), ("SIG", False), ("SIG", True), ("OVRL", True)]
        assert [(one["question"], one["ended"]) for one in plays] == expected


def test_a_killed_browser_loses_no_answer(
    playwright: Playwright, chromium: str, tmp_path: Path
) -> None:
    folder = tmp_path / "profile"

    def start() -> Page:
        context = playwright.chromium.launch_persistent_context(
            folder, executable_path=chromium, args=FLAGS, **DESKTOP
        )
        return arrive(context, fake)[0]

    with served(two_trials()) as fake:
        page = start()
        page.route(ANSWERS, lambda route: route.abort())
        for value in (1, 3, 5):
            rate(page, value)
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        kill_browser(folder)
        assert fake.answers == []
        page = start()
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        assert fake.values() == {"1.1": {"BAK": 1, "SIG": 3, "OVRL": 5}}
        rate(page, 2)
        expect(page.locator(".steps")).to_contain_text("Question 2 of 3")
        kill_browser(folder)
        page = start()
        expect(page.locator(".steps")).to_contain_text("Question 2 of 3")
        rate(page, 3)
        rate(page, 4)
        expect(page.locator(".code")).to_be_visible()
        once_each(fake, "1.1", "1.2")
        assert fake.values()["1.2"] == {"BAK": 2, "SIG": 3, "OVRL": 4}
        page.context.close()


def test_a_double_click_answers_once(browser: Browser) -> None:
    pages = [small.text("a"), small.text("b"), small.text("c"), small.end()]
    with served(FakeServer(pages)) as fake, opened(browser, fake) as page:
        page.get_by_role("button", name="Continue").dblclick()
        settled(page)
        expect(page.locator("body")).to_have_attribute("data-name", "b")
        once_each(fake, "a")


def test_a_double_click_on_the_last_question_answers_once(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        rate(page, 1)
        rate(page, 1)
        hear(page)
        page.keyboard.press("5")
        page.locator("button.wide").dblclick()
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        once_each(fake, "1.1")


def test_a_second_tab_sees_the_first_and_may_take_over(browser: Browser) -> None:
    with served(two_trials()) as fake:
        context = browser.new_context()
        first, _ = arrive(context, fake)
        at(first, "Session 1 of 2")
        second, _ = arrive(context, fake)
        at(second, "This test is open in another tab")
        second.get_by_role("button", name="Use this tab").click()
        at(second, "Session 1 of 2")
        at(first, "This test is open in another tab")
        for value in (1, 2, 3):
            rate(second, value)
        expect(second.locator("#where")).to_contain_text("Page 2 of 2")
        first.get_by_role("button", name="Use this tab").click()
        expect(first.locator("#where")).to_contain_text("Page 2 of 2")
        once_each(fake, "1.1")
        context.close()


def test_a_page_that_another_browser_answered_is_not_answered_twice(browser: Browser) -> None:
    with served(two_trials()) as fake, opened(browser, fake) as page:
        rate(page, 1)
        rate(page, 1)
        with opened(browser, fake) as other:
            for value in (4, 4, 4):
                rate(other, value)
            expect(other.locator("#where")).to_contain_text("Page 2 of 2")
        rate(page, 1)
        expect(page.get_by_text("already answered").first).to_be_visible()
        expect(page.locator("#where")).to_contain_text("Page 2 of 2")
        once_each(fake, "1.1")
        assert fake.values() == {"1.1": {"BAK": 4, "SIG": 4, "OVRL": 4}}


def test_an_answer_that_is_refused_is_told_and_comes_to_the_events(browser: Browser) -> None:
    wrong = '{"error": {"code": "wrong", "message": "no", "wrong": ["agree must be true"]}}'
    with (
        served(FakeServer([small.consent(), small.end()])) as fake,
        opened(browser, fake) as page,
    ):
        page.route(ANSWERS, lambda route: route.fulfill(status=422, body=wrong))
        page.locator("label.check").click()
        go_on(page)
        expect(page.locator(".notice")).to_contain_text("agree must be true")
        assert fake.events == []  # nothing is sent before consent
        page.unroute(ANSWERS)
        with page.expect_response("**/events"):
            page.locator("label.check").click()
            go_on(page)
        expect(page.locator(".code")).to_be_visible()
        told = [one for one in fake.events if one["kind"] == "refused"]
        assert [(one["page"], one["values"]) for one in told] == [("consent", {"agree": True})]
        once_each(fake, "consent")


def test_an_id_is_made_where_there_is_no_maker_of_ids(browser: Browser) -> None:
    with served(FakeServer([small.text("a"), small.end()])) as fake:
        context = browser.new_context()
        context.add_init_script("delete Crypto.prototype.randomUUID")
        page, said = arrive(context, fake)
        go_on(page)
        expect(page.locator(".code")).to_be_visible()
        [answer] = fake.answers
        assert [len(part) for part in answer["id"].split("-")] == [8, 4, 4, 4, 12]
        assert answer["id"][14] == "4"
        assert said == []
        context.close()


def test_a_browser_that_keeps_nothing_still_sends_answers(browser: Browser) -> None:
    with served(FakeServer([small.text("a"), small.end()])) as fake:
        context = browser.new_context()
        context.add_init_script("IDBFactory.prototype.open = () => { throw new Error('no') }")
        page, said = arrive(context, fake)
        go_on(page)
        expect(page.locator(".code")).to_be_visible()
        once_each(fake, "a")
        assert said == []
        context.close()
