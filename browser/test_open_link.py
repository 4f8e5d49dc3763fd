"""The open link in Chromium: nobody has a place before consent."""

from __future__ import annotations

import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from browser.helpers.page_actions import DESKTOP, PHONE, at, visit
from browser.helpers.real_server import RealServer, really_served
from playwright.sync_api import Browser, Page

from earwitness.store.records import ParticipationState

STORED_ENTRIES = """new Promise((done) => {
  indexedDB.open("earwitness").onsuccess = ({ target: { result: base } }) => {
    const all = base.transaction("waiting").objectStore("waiting").count();
    all.onsuccess = () => { base.close(); done(all.result); };
  };
})"""


def states(server: RealServer) -> list[ParticipationState]:
    return [server.state(number) for number in (1, 2)]


def agree(page: Page, box: str, button: str) -> None:
    """Consent, and wait for the page after it."""
    page.get_by_label(box).check()
    page.get_by_role("button", name=button).click()


def test_who_consents_after_the_last_place_was_taken_is_told(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", "--open", "1") as server:
        contexts = [browser.new_context(**DESKTOP) for _ in range(2)]
        first, second = (visit(one, f"{server.base}/join")[0] for one in contexts)
        for page in (first, second):
            page.get_by_role("button", name="Start").click()
            at(page, "Consent")
        agree(first, "I agree to take part", "Continue")
        at(first, "Before you listen")
        agree(second, "I agree to take part", "Continue")
        at(second, "All places are taken")
        expect(second.get_by_text("Nothing was saved")).to_be_visible()
        second.goto(f"{server.base}/join")
        expect(second.get_by_text("All places in this test are taken")).to_be_visible()
        for one in contexts:
            one.close()


def test_start_needs_no_script_and_nobody_else_can_press_it(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", "--open", "2") as server:
        context = browser.new_context(**DESKTOP, java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{server.base}/join")
        page.get_by_role("button", name="Start").click()
        expect(page).to_have_url(re.compile(r"/l/[\w-]+$"))
        context.close()
        other = browser.new_context(**DESKTOP).new_page()
        other.set_content(f'<form method="post" action="{server.base}/join"><button>x</button>')
        other.get_by_role("button").click()
        expect(other.get_by_text("Something went wrong")).to_be_visible()
        other.context.close()
        assert states(server) == [ParticipationState.OPEN] * 2


def test_a_place_is_taken_by_consent_and_is_there_when_coming_again(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "fr", "--open", "2") as server:
        join = f"{server.base}/join?PROLIFIC_PID=5f8a%26b"
        context = browser.new_context(**PHONE)
        page, said = visit(context, join)
        page.reload()
        assert context.cookies() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.get_by_role("button", name="Commencer").press("Enter")
        at(page, "Consentement")
        own = page.url.partition("?")[0]
        assert re.fullmatch(rf"{server.base}/l/[\w-]+", own)
        page.evaluate("dispatchEvent(new Event('pagehide'))")  # sends all events, if there are any
        assert page.evaluate(STORED_ENTRIES) == 0
        assert states(server) == [ParticipationState.OPEN] * 2
        agree(page, "J’accepte de participer", "Continuer")
        at(page, "Avant d’écouter")
        expect(page).to_have_url(own)  # without the id
        page.goto(join)
        expect(page).to_have_url(own)
        at(page, "Avant d’écouter")
        assert said == []
        assert states(server) == [ParticipationState.JOINED, ParticipationState.OPEN]
        stranger = browser.new_context(**PHONE)
        page, _ = visit(stranger, join)
        expect(page.get_by_text("déjà commencé ce test")).to_be_visible()
        page.goto(f"{server.base}/join")
        expect(page.get_by_role("button", name="Commencer")).to_be_visible()
        stranger.close()
        context.close()


def test_pages_of_the_server_are_dark_where_it_is_dark_and_fit_the_narrowest_screens(
    browser: Browser, tmp_path: Path
) -> None:
    shades: dict[str, list[str]] = {}
    with really_served(tmp_path, "fr", "--open", "1") as server:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": 320, "height": 500}, color_scheme=scheme
            )
            page = context.new_page()
            for path in ("/", "/l/nobody-knows-this-link", "/no/such/place", "/join"):
                page.goto(server.base + path)
                assert page.evaluate("document.documentElement.scrollWidth") <= 320
                shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
                shades.setdefault(scheme, []).append(shade)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            context.close()
    assert [len(set(found)) for found in shades.values()] == [1, 1]
    assert shades["light"] != shades["dark"]
