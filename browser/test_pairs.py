"""Trials with several sounds: in sequence, or with free switching between them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from browser.helpers.expectations import expect
from browser.helpers.fake_server import tone
from browser.helpers.page_actions import DESKTOP, visit
from browser.helpers.real_server import CLIPS, SYSTEMS, really_served
from playwright.sync_api import Browser, Page

from earwitness.studies.from_answers import study_ratings

STUDY = """\
title: Pairs
seed: 5
systems: [Kestrel, Osprey]
reference: clean
files: "{system}/{item}.wav"
listeners: 1
rest_minutes: 0.02
blocks:
  - {kind: dcr, clips: 1}
  - {kind: ccr, clips: 2}
  - {kind: ab, clips: 2}
  - {kind: abx, clips: 2}
  - {kind: preference, clips: 2}
"""
PRESSED = {"dcr": "4", "ccr": "2", "ab": "1", "abx": "1", "preference": "3"}


def write_pairs(folder: Path, study: Path, language: str) -> None:
    """A study of all kinds with several sounds."""
    del language
    for number, (system, clip) in enumerate(product((*SYSTEMS, "clean"), CLIPS)):
        path = folder / system / f"{clip}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(hertz=300 + 50 * number))
    study.write_text(STUDY, encoding="utf-8")


def tile(page: Page, letter: str) -> Any:
    return page.locator(f".tile:has(.letter:text-is('{letter}'))")


def listen(page: Page) -> None:
    """Hear all sounds to the end, by keys alone."""
    letters = page.locator(".tile .letter").all_inner_texts()
    if not letters:
        page.keyboard.press("Space")
    for letter in letters:
        page.keyboard.press(letter.lower())
        expect(tile(page, letter)).to_have_attribute("data-state", "heard")
    expect(page.get_by_role("radio").first).to_be_enabled()


def expected(answer: dict[str, Any]) -> float:
    """The rating of the second system of the study, or its degradation, from what was presented."""
    [scale] = answer["values"]
    systems, target = answer["heard"]["systems"], answer["heard"]["target"]
    osprey = systems[-1] == "Osprey"  # it was B, or the second
    return {
        "DEGRADATION": 4.0,
        "COMPARISON": 2.0 if osprey else -2.0,  # the second is better
        "BETTER": -1.0 if osprey else 1.0,  # A is better
        "SAME": float(target == 0),  # A is X
        "PREFERENCE": 1.0 if osprey else -1.0,  # B is preferred
    }[scale]


def test_a_study_of_pairs_by_keyboard_gives_ratings_with_the_right_sign(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, write=write_pairs) as server:
        context = browser.new_context(**DESKTOP)
        page, said = visit(context, server.links[0])
        body, name, kinds = page.locator("body"), "", list[str]()
        while True:
            expect(body).not_to_have_attribute("data-name", name)
            expect(page.locator("main:not([inert]) h1")).to_be_visible()
            kind, name = (body.get_attribute(f"data-{part}") or "" for part in ("page", "name"))
            if kind == "end":
                break
            if kind in PRESSED:
                kinds.append(kind)
                listen(page)
                page.keyboard.press(PRESSED[kind])
            else:
                expect(page.locator("main button.main")).to_be_enabled()
            page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        context.close()
        assert said == []
        assert {kind: kinds.count(kind) for kind in PRESSED} == dict.fromkeys(PRESSED, 2)
        answers = [one for one in server.exported() if "heard" in one]
        path = tmp_path / "answers.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in answers))
        ratings = study_ratings(server.study, path)
    assert [one["value"] for one in ratings] == [expected(one) for one in answers]
    pairs = [one for one in ratings if one["scale"] != "DEGRADATION"]
    assert {(one["system"], one["against"]) for one in pairs} == {("Osprey", "Kestrel")}
    orders = [tuple(one["heard"]["systems"]) for one in answers if len(one["heard"]["systems"]) > 1]
    assert set(orders) == {SYSTEMS, SYSTEMS[::-1]}
