"""Who comes again to the real server, by what the study says of that; outages are no visits."""

from __future__ import annotations

from pathlib import Path

from browser.helpers.expectations import expect
from browser.helpers.input_devices import Listener
from browser.helpers.page_actions import DESKTOP, at, visit
from browser.helpers.real_server import PAGES, really_served
from playwright.sync_api import Browser, Route

from earwitness.store.records import ParticipationState


def test_where_sessions_start_again_no_answer_is_lost_and_the_new_ones_count(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", "--on-return", "session") as server:
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

    with really_served(tmp_path, "en", "--on-return", "block") as server:
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
