"""Who comes again to the real server, by what the study says of that; outages are no visits."""

from __future__ import annotations

from pathlib import Path

from browser.helpers.expectations import expect
from browser.helpers.input_devices import Listener
from browser.helpers.page_actions import DESKTOP, at, visit
from browser.helpers.real_server import PAGES, really_served
from playwright.sync_api import Browser, Route

from earwitness.store.records import ParticipationState

FIRST = PAGES[: PAGES.index("1.1")]


def test_where_sessions_start_again_no_answer_is_lost_and_the_new_ones_count(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", "--resume", "session") as server:
        context = browser.new_context(**DESKTOP)
        server.answer_up_to("1.0")
        page, said = visit(context, server.links[0])
        listener = Listener(page)
        listener.walk("1.0", "1.1")
        listener.stand("1.2")
        listener.rate(last=False)
        earlier = listener.pressed["1.1"]
        page.reload()
        listener.walk("1.0", "1.1")
        listener.stand("1.2")
        expect(page.locator(".steps i.done")).to_have_count(0)
        assert earlier != listener.pressed["1.1"]
        context.close()
        assert said == []
        given = [one for one in server.history() if one.answer.page == "1.1" and not one.aside]
        assert [one.answer.values for one in given] == [earlier, listener.pressed["1.1"]]
        [kept] = [one["values"] for one in server.exported() if one["page"] == "1.1"]
        assert kept == listener.pressed["1.1"]


def test_where_coming_again_blocks_an_outage_does_not_and_an_excuse_lets_in_once(
    browser: Browser, tmp_path: Path
) -> None:
    def lost(route: Route) -> None:
        assert route.fetch().json()["blocked"] is False
        route.abort()

    with really_served(tmp_path, "en", "--resume", "block") as server:
        context = browser.new_context(**DESKTOP)
        server.answer_up_to("1.0")
        page, said = visit(context, server.links[0])
        listener = Listener(page)
        listener.walk("1.0", "1.1")
        listener.stand("1.2")
        server.kill()
        server.start()
        listener.walk("1.2", "rest.2", "2.0", "2.1")
        listener.stand("2.2")
        page.reload()
        at(page, "You cannot continue this test")
        assert server.state() is ParticipationState.BLOCKED
        server.run("links", "--unblock", "1")
        page.reload()
        listener.stand("2.2")
        page.reload()
        at(page, "You cannot continue this test")
        server.run("links", "--unblock", "1")
        page.route("**/state?visit=*", lost, times=1)
        page.reload()
        listener.walk("2.2")
        expect(page.locator(".code")).to_be_visible()
        page.reload()
        expect(page.locator(".code")).to_be_visible()
        context.close()
        assert said == []
        assert [one.answer.page for one in server.history()] == list(PAGES)
        assert server.state() is ParticipationState.FINISHED


def test_a_tab_that_takes_over_from_one_that_is_closed_is_a_visit_and_else_none(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", "--resume", "block") as server:
        context = browser.new_context(**DESKTOP)
        server.answer_up_to("1.0")
        first, _ = visit(context, server.links[0])
        listener = Listener(first)
        listener.walk("1.0", "1.1")
        listener.stand("1.2")
        second, _ = visit(context, server.links[0])
        second.get_by_role("button", name="Use this tab").click()
        Listener(second).stand("1.2")
        assert server.state() is ParticipationState.JOINED
        third, _ = visit(context, server.links[0])
        at(third, "This test is open in another tab")
        second.close()
        third.get_by_role("button", name="Use this tab").click()
        at(third, "You cannot continue this test")
        assert server.state() is ParticipationState.BLOCKED
        context.close()


def test_tabs_that_do_not_hear_of_each_other_are_stored_once(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path) as server:
        context = browser.new_context(**DESKTOP)
        context.add_init_script("delete globalThis.BroadcastChannel")
        server.answer_up_to("1.1")
        first = Listener(visit(context, server.links[0])[0])
        first.stand("1.1")
        second = Listener(visit(context, server.links[0])[0])
        second.count = first.count + 1
        second.stand("1.1")
        for one in (first, second):
            one.page.bring_to_front()
            one.pressed["1.1"] = one.rate()
        for one in (first, second):
            one.page.bring_to_front()
            one.stand("1.2")
        context.close()
        history = server.history()
        assert [one.answer.page for one in history] == [*FIRST, "1.1"]
        assert history[-1].answer.values == first.pressed["1.1"] != second.pressed["1.1"]


def test_a_server_killed_during_a_rest_keeps_the_rest(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path) as server:
        context = browser.new_context(**DESKTOP)
        server.answer_up_to("1.2")
        page, said = visit(context, server.links[0])
        listener = Listener(page)
        listener.walk("1.2")
        listener.stand("rest.2")
        server.kill()
        listener.walk("rest.2")
        expect(page.locator("#saving")).to_have_text("Not sent yet: 1")
        server.start()
        listener.stand("2.0")
        context.close()
        assert said == []
        assert [one.answer.page for one in server.history()] == list(PAGES[: PAGES.index("2.0")])


def test_a_withdrawal_whose_acknowledgement_is_lost_is_not_called_undone(
    browser: Browser, tmp_path: Path
) -> None:
    def killed(route: Route) -> None:
        assert route.fetch().json()["withdrawn"] is True
        server.kill()
        route.abort()

    with really_served(tmp_path) as server:
        context = browser.new_context(**DESKTOP)
        page, said = visit(context, server.links[0])
        listener = Listener(page)
        listener.walk("consent", "before")
        listener.stand("instructions")
        page.route("**/withdraw", killed, times=1)
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Delete my answers").click()
        alert = page.get_by_role("dialog").get_by_role("alert")
        expect(alert).to_contain_text("did not confirm that your answers were deleted")
        assert (server.history(), server.state()) == ([], ParticipationState.WITHDRAWN)
        server.start()
        page.get_by_role("button", name="Delete my answers").click()
        at(page, "You have withdrawn from this test")
        context.close()
        assert said == []
        assert (server.history(), server.events()) == ([], 0)
