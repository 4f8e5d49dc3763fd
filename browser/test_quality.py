"""Forms that end a test politely, the hearing test, and own results, with the real server."""

from __future__ import annotations

from pathlib import Path

from browser.helpers.expectations import expect
from browser.helpers.fake_server import tone
from browser.helpers.page_actions import DESKTOP, PHONE, at, visit
from browser.helpers.real_server import really_served
from playwright.sync_api import Browser, Page

from earwitness.store.records import ParticipationState

STUDY = """\
title: Small sounds
language: {language}
systems: [A, B]
files: "{{system}}/{{item}}.wav"
listeners: 2
forms:
  before:
    - {{name: age, prompt: "Age?", answer: number, eligible: {{min: 18}}}}
hearing: {{digits: "digits/{{digit}}.wav", triplets: 8, max_srt: 0}}
quality: {{ineligible_code: SORRY, results: true}}
blocks: [{{kind: acr}}]
"""


def write_study(folder: Path, study: Path, language: str) -> None:
    """One clip by two systems, and ten digits."""
    for name in ("A/a", "B/a", *(f"digits/{digit}" for digit in range(10))):
        path = folder / f"{name}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(0.1))
    study.write_text(STUDY.format(language=language), encoding="utf-8")


def answer_form(page: Page, age: int) -> None:
    page.locator("input").fill(str(age))
    page.locator("button.main").click()


def test_who_may_not_take_part_sees_a_polite_end(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, "fr", write=write_study) as server:
        page, said = visit(browser.new_context(**PHONE), server.links[0])
        answer_form(page, 17)
        at(page, "Merci de votre intérêt")
        expect(page.locator(".code")).to_have_text("SORRY")
        expect(page.locator("#withdraw")).to_be_hidden()
        page.reload()
        at(page, "Merci de votre intérêt")
        assert (server.state(), server.history(), server.events()) == (
            ParticipationState.INELIGIBLE,
            [],
            0,
        )
        assert said == []


def test_the_hearing_test_is_taken_by_keyboard_and_own_ratings_are_shown(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "en", write=write_study) as server:
        page, said = visit(browser.new_context(**DESKTOP), server.links[0])
        answer_form(page, 30)
        at(page, "Hearing test")
        triplets = page.evaluate("fetch(`${location.pathname}/state`).then((r) => r.json())")
        for number, triplet in enumerate(triplets["page"]["triplets"], 1):
            expect(page.locator(".steps")).to_have_text(f"Digits {number} of 8")
            if number == 3:
                page.reload()
                expect(page.locator(".steps")).to_have_text("Digits 3 of 8")
            expect(page.locator("main h1")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.locator(".keypad")).to_be_focused(timeout=20_000)
            for key in ("7", "Backspace", *map(str, triplet)):
                page.keyboard.press(key)
            expect(page.locator(".typed")).to_have_text("".join(map(str, triplet)))
            page.keyboard.press("Enter")
        at(page, "Session 1 of 1")
        [answer] = [one.answer for one in server.history() if one.answer.page == "hearing"]
        assert answer.values["srt"] == -12  # ratios 0 to −16 dB, without the first four
        server.answer_up_to("end")
        page.reload()
        expect(page.locator(".own li")).to_have_count(5)
        expect(page.locator(".own li").first).to_have_attribute("aria-label", "5 Excellent: 0")
        assert said == []
