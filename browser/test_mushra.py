"""Pages with several sounds and sliders: MUSHRA and BS.1116."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.caption_actions import swipe
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import DESKTOP, PHONE, drafted, opened, visit
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


def test_only_the_chosen_sound_can_be_rated_and_nothing_may_be_left_out(browser: Browser) -> None:
    with served(page_of(3)) as fake, opened(browser, fake) as page:
        expect(page.locator(".item input:disabled")).to_have_count(3)
        page.locator(".slot").nth(1).click()
        expect(page.locator(".said")).to_have_text("Play sound B to rate it.")
        pick(page, "B").click()
        expect(slider(page, "B")).to_be_enabled()
        expect(page.locator(".item input:disabled")).to_have_count(2)
        slider(page, "B").fill("70")
        page.locator(".save").click()
        missing = page.locator(".missing")
        expect(missing).to_contain_text("Reference: not heard to the end yet")
        expect(missing).to_contain_text("A: not rated yet")
        expect(missing).not_to_contain_text("B: not rated")
        expect(pick(page, "B")).to_have_accessible_name("B Played")  # then others start at 0
        for key, label in (("0", "Reference"), ("1", "A"), ("3", "C"), ("2", "B")):
            hear(page, key, label)
        hear(page, "a", "A")
        rate(page, "ArrowDown")
        hear(page, "c", "C")
        rate(page, "ArrowUp", "ArrowUp")
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"A": 100, "B": 70, "C": 1}}
        plays = fake.answers[0]["meta"]["plays"]
        assert {one["sound"] for one in plays if one["ended"]} == {0, 1, 2, 3}


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


def test_a_switch_from_the_start_plays_the_whole_sound(browser: Browser) -> None:
    fake = page_of(2, restart=True)
    fake.sound = tone(2.0)
    with served(fake), opened(browser, fake) as page:
        expect(pick(page, "A")).to_be_visible()
        page.keyboard.press("a")
        page.wait_for_timeout(500)  # at the same position, the beginning of B would be missing
        hear(page, "b", "B")
        expect(pick(page, "A")).to_have_accessible_name("A Not heard yet")


def test_ratings_and_sounds_heard_are_kept_over_a_reload(browser: Browser) -> None:
    fake = page_of(2, open_reference=False)
    with served(fake), opened(browser, fake) as page:
        hear(page, "b", "B")
        rate(page, "End")
        drafted(page)
        page.reload()
        expect(page.locator(".value")).to_have_text(["–", "100"])
        expect(pick(page, "B")).to_have_accessible_name("B Played")
        hear(page, "a", "A")
        rate(page, "Home")
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"A": 0, "B": 100}}


def test_a_sound_that_may_not_be_played_again_can_still_be_rated(browser: Browser) -> None:
    fake = page_of(2, plays=1, open_reference=False)
    with served(fake), opened(browser, fake) as page:
        for letter in "AB":
            hear(page, letter.lower(), letter)
        pick(page, "A").click()
        expect(pick(page, "A")).to_have_attribute("data-state", "spent")
        slider(page, "A").fill("40")
        rate(page, "b", "ArrowDown", "Enter")
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"A": 40, "B": 100}}
        plays = fake.answers[0]["meta"]["plays"]
        assert [(one["sound"], one["ended"]) for one in plays] == [(0, True), (1, True)]


@pytest.mark.parametrize("count", [3, 12])  # all sounds fit the window, or the list scrolls
def test_scrolling_over_a_slider_by_touch_rates_nothing(browser: Browser, count: int) -> None:
    with served(page_of(count)) as fake, opened(browser, fake, **PHONE) as page:
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


def test_a_second_finger_does_not_keep_what_a_scroll_rated(browser: Browser) -> None:
    with served(page_of(3)) as fake, opened(browser, fake) as page:
        pick(page, "C").click()
        expect(slider(page, "C")).to_be_enabled()
        slider(page, "C").evaluate(
            """(slider) => {
              const tell = (kind, isPrimary) =>
                slider.dispatchEvent(new PointerEvent(kind, { isPrimary }));
              tell("pointerdown", true);
              slider.value = "20";
              slider.dispatchEvent(new Event("input"));
              tell("pointerdown", false);
              tell("pointercancel", true);
            }"""
        )
        expect(page.locator(".item.now .value")).to_have_text("–")


def test_sounds_are_sorted_on_request_and_back(browser: Browser) -> None:
    with served(page_of(3)) as fake, opened(browser, fake) as page:
        for letter, value in (("A", 10), ("B", 90), ("C", 50)):
            pick(page, letter).click()
            slider(page, letter).fill(str(value))
        names = page.locator(".item .pick b")
        page.get_by_role("button", name="Sort by rating").click()
        expect(names).to_have_text(["B", "C", "A"])
        slider(page, "C").fill("95")
        expect(names).to_have_text(["B", "C", "A"])  # nothing moves until it is sorted again
        page.get_by_role("button", name="Sort by rating").click()
        expect(names).to_have_text(["C", "B", "A"])
        page.get_by_role("button", name="Original order").click()
        expect(names).to_have_text(["A", "B", "C"])


def test_a_part_is_repeated_between_two_handles(browser: Browser) -> None:
    fake = page_of(2)
    fake.sound = tone(2.0)
    with served(fake), opened(browser, fake) as page:
        pick(page, "A").click()
        page.get_by_role("button", name="Repeat").click()
        end = page.get_by_role("slider", name="End of the repeated part")
        for _ in range(15):
            end.press("ArrowLeft")
        expect(end).to_have_attribute("aria-valuetext", "0.5 s")
        page.wait_for_function("document.querySelector('.pick[data-state=playing]') !== null")
        for _ in range(20):
            page.wait_for_timeout(50)
            assert float(page.locator(".seek").input_value()) <= 0.55
        expect(pick(page, "A")).to_have_attribute("data-state", "playing")
        expect(pick(page, "A")).to_have_accessible_name("A Not heard yet")


def test_a_repeated_sound_is_heard_to_its_end(browser: Browser) -> None:
    fake = page_of(2)
    fake.sound = tone(0.57)  # between two positions of the handle
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Repeat").click()
        page.keyboard.press("a")
        expect(pick(page, "A")).to_have_attribute("data-state", "playing")
        page.wait_for_timeout(1500)
        page.keyboard.press("Space")
        expect(pick(page, "A")).to_have_accessible_name("A Played")


@pytest.mark.parametrize("device", [DESKTOP, PHONE])
def test_twelve_sounds_fit_the_width_of_a_window(browser: Browser, device: dict[str, Any]) -> None:
    with served(page_of(12)) as fake, opened(browser, fake, **device) as page:
        expect(pick(page, "L")).to_be_visible()
        wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= window
        for one in page.locator(".pick, .item input").all():
            box = one.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44
