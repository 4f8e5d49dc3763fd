"""Pages with several sounds and sliders: MUSHRA and BS.1116."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from browser.helpers import study_pages as small
from browser.helpers.caption_actions import swipe
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import DESKTOP, PHONE, opened, visit
from browser.helpers.real_server import CLIPS, SYSTEMS, really_served
from playwright.sync_api import Browser, Locator, Page

from earwitness.studies.from_answers import study_ratings
from earwitness.studies.study import Trial
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.mushra import Mushra
from earwitness.studies.wording import wording

STUDY = """\
title: Sliders
seed: 5
systems: [Kestrel, Osprey]
reference: clean
files: "{system}/{item}.wav"
listeners: 1
rest_minutes: 0.02
blocks:
  - {kind: mushra, clips: 1, parameters: {anchors: []}}
  - {kind: bs1116, clips: 1}
"""


SMALLEST = """(all) => all.map((one) => one.getBoundingClientRect())
    .map(({ width, height }) => Math.min(width, height))"""


def write_sliders(folder: Path, study: Path, language: str) -> None:
    """A study of both kinds."""
    del language
    for number, (system, clip) in enumerate(product((*SYSTEMS, "clean"), CLIPS)):
        path = folder / system / f"{clip}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(hertz=300 + 50 * number))
    study.write_text(STUDY, encoding="utf-8")


def page_of(count: int, **parameters: Any) -> FakeServer:
    """A MUSHRA page with this number of rated sounds."""
    kind = Mushra(anchors=(), **parameters)
    trial = Trial("clip", tuple(LETTERS[:count]), ("BASIC",))
    view = kind.view(trial, wording("en"), lambda _, __, n: f"/l/tok/sound/1.1/{n}", "reference")
    shown = {**view, "name": "1.1", "title": "Session 1 of 1", "progress": [1, 1]}
    return FakeServer([shown, small.end()])


def pick(page: Page, label: str) -> Locator:
    return page.locator(f".pick:has(b:text-is('{label}'))")


def slider(page: Page, letter: str) -> Locator:
    return page.get_by_role("slider", name=f"{letter}. ")


def hear(page: Page, key: str, label: str) -> None:
    """Play a sound to its end by a key."""
    expect(pick(page, label)).to_be_visible()
    page.keyboard.press(key)
    expect(pick(page, label)).to_have_accessible_name(f"{label} Played")


def rate(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def rate_all(page: Page) -> None:
    """MUSHRA: 10, 20 and 30."""
    hear(page, "r", "Reference")
    for place, letter in enumerate("ABC", 1):
        hear(page, letter.lower(), letter)
        rate(page, "ArrowUp", *["PageUp"] * place)
        expect(page.locator(".item.now .value")).to_have_text(str(10 * place))


def grade_both(page: Page) -> None:
    """BS.1116: 1.0 and 4.9, which is refused, then 5.0."""
    hear(page, "a", "Reference")
    hear(page, "b", "B")
    rate(page, "ArrowUp")
    hear(page, "c", "C")
    rate(page, "ArrowDown", "ArrowDown", "Enter")
    expect(page.locator(".missing")).to_contain_text("One of the two sounds is the reference")
    rate(page, "ArrowUp")
    expect(page.locator(".item.now .value")).to_have_text("5.0")


def test_both_kinds_by_keyboard_give_the_ratings_of_the_systems(
    browser: Browser, tmp_path: Path
) -> None:
    does, asked = {"mushra": rate_all, "bs1116": grade_both}, list[str]()
    with really_served(tmp_path, write=write_sliders) as server:
        context = browser.new_context(**DESKTOP)
        context.on("request", lambda request: asked.append(request.url))
        page, said = visit(context, server.links[0])
        body, name = page.locator("body"), ""
        while True:
            expect(body).not_to_have_attribute("data-name", name)
            expect(page.locator("main:not([inert]) h1")).to_be_visible()
            kind, name = (body.get_attribute(f"data-{part}") or "" for part in ("page", "name"))
            if kind == "end":
                break
            if kind in does:
                does[kind](page)
            else:
                expect(page.locator("main button.main")).to_be_enabled()
            page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        context.close()
        assert said == []
        answers = [one for one in server.exported() if "heard" in one]
        path = tmp_path / "answers.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in answers))
        ratings = study_ratings(server.study, path)
    for scale, given in (("BASIC", [10, 20, 30]), ("IMPAIRMENT", [1.0, 5.0])):
        found = [(one["system"], one["value"]) for one in ratings if one["scale"] == scale]
        heard = [one["heard"]["systems"] for one in answers if len(one["values"]) == len(given)]
        assert found == [pair for own in heard for pair in zip(own, given, strict=True)]
        assert all("clean" in own for own in heard)
    sounds = {one.rpartition("/sound/")[2] for one in asked if "/sound/" in one}
    counts = Counter(one.partition("/")[0] for one in sounds)
    assert sorted(counts.values()) == [3, 3, 4]  # both references have addresses of their own


def test_sliders_stay_in_place_while_the_list_of_what_is_missing_shrinks(browser: Browser) -> None:
    with served(page_of(3)) as fake, opened(browser, fake) as page:
        page.locator(".save").click()
        missing, slots = page.locator(".missing li"), page.locator(".slot")
        expect(missing).to_have_count(7)
        before = [one.bounding_box() for one in slots.all()]
        hear(page, "r", "Reference")
        for number, letter in enumerate("ABC"):
            hear(page, letter.lower(), letter)
            box = before[number]
            assert box is not None
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
            page.mouse.down()
            expect(missing).to_have_count(4 - 2 * number)
            assert [one.bounding_box() for one in slots.all()] == before
            page.mouse.up()
        slots.first.click()  # a hint takes the place of the list
        expect(page.locator(".said")).to_have_text("Play sound A to rate it.")
        expect(page.locator(".announced").filter(has_text="Play sound A")).to_have_count(1)
        assert [one.bounding_box() for one in slots.all()] == before


def test_scrolling_over_a_slider_by_touch_rates_nothing(browser: Browser) -> None:
    with served(page_of(12)) as fake, opened(browser, fake, **PHONE) as page:
        pick(page, "C").click()
        expect(slider(page, "C")).to_be_enabled()
        value = page.locator(".item.now .value")
        swipe(page, slider(page, "C"), 0, -120)
        expect(value).to_have_text("–")
        swipe(page, slider(page, "C"), -100, 0)
        expect(value).not_to_have_text("–")
        rated = value.inner_text()
        swipe(page, slider(page, "C"), 5, -120)
        expect(value).to_have_text(rated)


def test_twelve_sounds_fit_the_width_of_a_window(browser: Browser) -> None:
    with served(page_of(12)) as fake, opened(browser, fake, **PHONE) as page:
        for device in (PHONE, DESKTOP):
            page.set_viewport_size(device["viewport"])
            expect(pick(page, "L")).to_be_visible()
            wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= window
            sizes = page.locator(".pick, .item input").evaluate_all(SMALLEST)
            assert min(sizes) >= 44
