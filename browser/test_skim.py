"""The page of a skim in Chromium: it fits, plays, and goes from pick to pick."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from playwright.sync_api import Browser, Page

from earwitness.audio.encode import encode
from earwitness.skims.page import skim_page
from earwitness.skims.picture import skim_picture
from helpers.skim_view import shown

FOCUSED = "document.activeElement.dataset.pick ?? document.activeElement.className"
NOW = "document.querySelector('audio').currentTime"


def write_page(path: Path, suffix: str) -> None:
    """Write a page with a minute of sound."""
    rate = 16_000
    times = np.arange(63 * rate) / rate
    sound = encode((0.1 * np.sin(2 * np.pi * 300 * times)).astype(np.float32), rate, suffix)
    path.write_text(skim_page(shown(sound.content, sound.mime)), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("skim") / "skim.html"
    write_page(path, ".flac")
    return path


def opened(browser: Browser, place: Path, width: int = 1_200, scheme: str = "light") -> Page:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        bypass_csp=True,  # for what the tests ask, not for the page
    )
    page.goto(place.as_uri())
    return page


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1_200)])
def test_it_fits_and_everybody_can_use_it(
    browser: Browser, place: Path, scheme: str, width: int
) -> None:
    page = opened(browser, place, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    boxes = page.evaluate(
        "[...document.querySelectorAll('.marks button')].map((b) => b.getBoundingClientRect())"
        ".map((b) => [b.left, b.right]).sort((a, b) => a[0] - b[0])"
    )
    assert all(one[1] <= other[0] + 0.5 for one, other in pairwise(boxes))
    texts = page.evaluate(
        "[...document.querySelectorAll('.picture .x span')].filter((s) => s.offsetParent)"
        ".map((s) => s.getBoundingClientRect()).map((b) => [b.left, b.right])"
    )
    assert all(one[1] < other[0] for one, other in pairwise(texts))
    page.close()


@pytest.mark.parametrize("suffix", [".flac", ".mp3"])
def test_it_plays_without_a_fault_and_nothing_is_fetched(
    browser: Browser, tmp_path: Path, suffix: str
) -> None:
    write_page(tmp_path / "skim.html", suffix)
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: asked.append(one.url[:5]))
    page.goto((tmp_path / "skim.html").as_uri())
    page.locator(".play").click()
    expect(page.locator(".told")).to_have_text("0:01 / 1:03")
    assert said == []
    assert {*asked} <= {"file:", "data:"}
    page.close()


def test_clicks_play_picks_and_the_clock_and_the_cursor_follow(
    browser: Browser, place: Path
) -> None:
    page = opened(browser, place)
    which = page.locator(".which")
    expect(page.locator(".clock")).to_have_text("00:57:36")
    row = page.locator(".picks [data-pick='3']")
    row.click()
    page.wait_for_function(f"{NOW} > 18.1")
    expect(page.locator(".clock")).to_have_text("05:30:03")
    expect(which).to_have_text("pick 4 of 12")
    expect(row).to_have_attribute("aria-current", "true")
    expect(page.locator(".play")).to_have_attribute("aria-label", "Pause")
    page.locator(".marks [data-pick='5']").click()
    page.wait_for_function(f"{NOW} > 28.5")
    page.locator(".play").click()
    assert page.evaluate("document.querySelector('audio').paused")
    day, cursor, shaft = (
        page.locator(name).bounding_box() for name in (".day", ".day .cursor", ".shaft >> nth=5")
    )
    assert day is not None
    assert cursor is not None
    assert shaft is not None
    assert cursor["x"] + 2 == pytest.approx(shaft["x"] + 0.75, abs=2)
    assert (cursor["x"] + 2 - day["x"]) / day["width"] == pytest.approx(0.4582, abs=0.005)
    page.mouse.click(day["x"] + 0.99 * day["width"], day["y"] + 50)
    expect(which).to_have_text("pick 12 of 12")  # the nearest one
    page.locator(".play").click()
    box = page.locator(".sound").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.45 * box["width"], box["y"] + 50)
    expect(page.locator(".told")).to_have_text("0:28 / 1:03")
    expect(which).to_have_text("pick 6 of 12")
    cursor = page.locator(".sound .cursor").bounding_box()
    assert cursor is not None
    assert (cursor["x"] + 2 - box["x"]) / box["width"] == pytest.approx(0.45, abs=0.01)
    page.close()


def test_keys_play_and_reach_every_pick(browser: Browser, place: Path) -> None:
    page = opened(browser, place)
    which = page.locator(".which")
    page.keyboard.press("Space")
    page.wait_for_function(f"{NOW} > 0.1")
    page.keyboard.press("Space")
    for key, number in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(which).to_have_text(f"pick {number} of 12")
    assert page.evaluate("document.querySelector('audio').paused")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(which).to_have_text("pick 12 of 12")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    assert seen == ["play", "", *map(str, range(12))]
    page.keyboard.press("Enter")
    expect(which).to_have_text("pick 12 of 12")
    page.close()


def test_every_time_that_is_shown_is_heard(browser: Browser, place: Path) -> None:
    page = opened(browser, place)
    told = page.evaluate(
        """() => {
          const [slider, clock, cursor] = [".way input", ".clock", ".cursor"].map(
            (one) => document.querySelector(one));
          return [...Array(631).keys()].map((tenth) => {
            slider.value = tenth / 10;
            slider.dispatchEvent(new Event("input"));
            return [clock.textContent, parseFloat(cursor.style.left)];
          });
        }"""
    )
    picks = shown().skim.picks
    heard = set[int]()
    for now, (text, left) in enumerate(told):
        hours, minutes, seconds = map(int, text.split(":"))
        shows = hours * 3600 + minutes * 60 + seconds
        # A fade lasts 3 s from 5 s after the last one on: the later pick is louder from 6.5 s on.
        number = min(11, max(0, (now - 15) // 50))
        pick, at = picks[number], left / 100 * 86_400
        assert pick.start - 1 < shows < pick.start + pick.seconds, now / 10
        assert at == pytest.approx(pick.start + 4, abs=4.1), now / 10  # a browser rounds percents
        heard.add(number)
    assert heard == set(range(12))
    page.close()


def test_sound_that_cannot_be_played_is_said(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    path.write_text(skim_page(shown(b"no sound at all")), encoding="utf-8")
    page = opened(browser, path)
    page.locator(".play").click()
    expect(page.locator(".silent")).to_have_text("This browser cannot play the audio on this page.")
    page.close()


def test_the_clock_jumps_in_the_middle_of_a_fade_and_a_turned_pick_runs_backwards(
    browser: Browser, place: Path
) -> None:
    page = opened(browser, place)
    slider = page.locator(".way input")
    told = []
    for now in (6.4, 6.6, 38.5, 39.5):
        slider.evaluate("(s, t) => { s.value = t; s.dispatchEvent(new Event('input')); }", now)
        told.append((page.locator(".clock").text_content(), page.locator(".which").text_content()))
    # 00:57:36 + 6.4 s; 02:58:02.2 + 6.6 s − 5 s, when the second is first heard
    assert told[:2] == [("00:57:42", "pick 1 of 12"), ("02:58:03", "pick 2 of 12")]
    turned = "pick 8 of 12, played backwards"
    assert told[2:] == [("15:40:04", turned), ("15:40:03", turned)]
    page.close()


def test_a_page_without_sound_and_a_picture_show_the_picks(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "mute.html"
    path.write_text(skim_page(shown()), encoding="utf-8")
    page = opened(browser, path)
    expect(page.locator(".play")).to_be_hidden()
    page.locator(".picks [data-pick='3']").click()
    expect(page.locator(".clock")).to_have_text("05:30:02")
    page.close()
    path = tmp_path / "skim.svg"
    path.write_text(skim_picture(shown()), encoding="utf-8")
    page = opened(browser, path)
    boxes = page.evaluate(
        "[...document.querySelectorAll('circle')].map((c) => c.getBoundingClientRect())"
        ".map((b) => [b.left, b.right])"
    )
    assert len(boxes) == 12
    assert all(one[1] <= other[0] for one, other in pairwise(boxes))
    page.close()
