"""The open link in Chromium: nobody has a place before pressing Start, with or without scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from browser.helpers.page_actions import DESKTOP, PHONE, at, visit
from browser.helpers.real_server import RealServer, really_served
from playwright.sync_api import Browser

from earwitness.store.records import ParticipationState


def states(server: RealServer) -> list[ParticipationState]:
    return [server.state(number) for number in (1, 2)]


@pytest.mark.parametrize("query", ["", "?PROLIFIC_PID=5f8a%26b"])
def test_a_place_is_taken_by_pressing_start_and_is_there_when_coming_again(
    browser: Browser, tmp_path: Path, query: str
) -> None:
    with really_served(tmp_path, "fr", "--open", "2") as server:
        context = browser.new_context(**PHONE)
        page, said = visit(context, f"{server.base}/join{query}")
        page.reload()
        assert states(server) == [ParticipationState.OPEN] * 2
        page.get_by_role("button", name="Commencer").press("Enter")
        at(page, "Consentement")
        own = page.url
        assert re.fullmatch(rf"{server.base}/l/[\w-]+", own)
        page.goto(f"{server.base}/join{query}")
        expect(page).to_have_url(own)
        context.close()
        assert said == []
        assert states(server) == [ParticipationState.JOINED, ParticipationState.OPEN]


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
        assert states(server) == [ParticipationState.JOINED, ParticipationState.OPEN]
        other = browser.new_context(**DESKTOP).new_page()
        other.set_content(f'<form method="post" action="{server.base}/join"><button>x</button>')
        other.get_by_role("button").click()
        expect(other.get_by_text("Something went wrong")).to_be_visible()
        other.context.close()
        assert states(server) == [ParticipationState.JOINED, ParticipationState.OPEN]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_the_open_link_has_no_fault_that_axe_finds(
    browser: Browser, tmp_path: Path, scheme: str
) -> None:
    with really_served(tmp_path, "en", "--open", "1") as server:
        context = browser.new_context(**PHONE | {"color_scheme": scheme})
        page, said = visit(context, f"{server.base}/join")
        found = Axe().run(page)
        context.close()
        assert said == []
        assert found.violations_count == 0, found.generate_report()


def test_notices_are_dark_where_it_is_dark_and_fit_the_narrowest_screens(
    browser: Browser, tmp_path: Path
) -> None:
    shades: dict[str, list[str]] = {}
    with really_served(tmp_path, "fr") as server:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": 320, "height": 500}, color_scheme=scheme
            )
            page = context.new_page()
            for path in ("/", "/l/nobody-knows-this-link", "/no/such/place"):
                page.goto(server.base + path)
                assert page.evaluate("document.documentElement.scrollWidth") <= 320
                shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
                shades.setdefault(scheme, []).append(shade)
            context.close()
    assert [len(set(found)) for found in shades.values()] == [1, 1]
    assert shades["light"] != shades["dark"]
