"""A recording in Chromium: from the whole to one second, heard from any point, by any device."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from axe_playwright_python.sync_playwright import Axe
from browser.helpers import recordings
from browser.helpers.expectations import expect
from browser.helpers.page_actions import DESKTOP, PHONE, TAP, until, visit
from browser.helpers.recordings import CLICK, SECONDS, TONE, browsed, drawn, shown, zoomed
from playwright.sync_api import Browser, Page, Route

# The brightest and the median pixel of the spectrogram near a time, by brightness.
BRIGHTNESS = """
([part]) => {
  const canvas = document.querySelector(".nav-view canvas");
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const levels = (from, count) => {
    const { data } = copy.getImageData(from, 0, count, height);
    const sum = (_, n) => data[4 * n] + data[4 * n + 1] + data[4 * n + 2];
    return Array.from({ length: data.length / 4 }, sum).sort((a, b) => a - b);
  };
  const [near, all] = [levels(Math.round(part * width) - 2, 4), levels(0, width)];
  return [near[near.length - 1], all[Math.floor(all.length / 2)]];
}
"""
SMALL_TARGETS = """() => [...document.querySelectorAll("button, select, input")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24)
    .map((one) => one.outerHTML)"""
STUDY = """
async () => {
  const { Navigator } = await import("/modules/navigator/navigator.js");
  const place = document.createElement("div");
  document.querySelector("main").replaceChildren(place);
  globalThis.happened = [];
  globalThis.made = new Navigator(place, {
    address: "/recording",
    controls: false,
    display: { palette: "grey" },
    wording: { play: "Écouter" },
    onEvent: (one) => happened.push(one),
  });
  await made.ready;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("browse")
    recordings.write_recording(made)
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with browsed(folder / recordings.NAME, folder / "cache") as made:
        yield made


def range_of(page: Page) -> tuple[float, float]:
    """The visible part: start and seconds, as the address of the page has them."""
    page.wait_for_timeout(700)
    found = re.search(r"#([\d.]+)\+([\d.]+)", page.url)
    return (float(found[1]), float(found[2])) if found else (0.0, SECONDS)


def drag(page: Page, start: tuple[float, float], across: float) -> None:
    """Drag from a place by so many pixels to the right."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + across, start[1], steps=4)
    page.mouse.up()


def place_of(page: Page, part: float) -> tuple[float, float]:
    """A place in the spectrogram, as a part of its width."""
    box = page.locator(".nav-view canvas").first.bounding_box()
    assert box is not None
    return box["x"] + part * box["width"], box["y"] + box["height"] / 2


def position(page: Page) -> float:
    """The time that the page shows, in seconds from the start."""
    hours, minutes, seconds = page.locator(".nav-position").inner_text().split(":")
    return (int(hours) - 5) * 3600 + (int(minutes) - 30) * 60 + float(seconds)


# --- Picture -------------------------------------------------------------------------------------


def test_a_tenth_of_a_second_is_visible_in_the_whole_recording(
    browser: Browser, address: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        peak, usual = page.evaluate(BRIGHTNESS, [CLICK / SECONDS])
        assert peak > usual + 200
        page.get_by_label("Pixel shows").select_option("mean")
        drawn(page)
        assert page.evaluate(BRIGHTNESS, [CLICK / SECONDS])[0] < peak


def test_wheel_and_keys_zoom_from_the_whole_to_one_second(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.mouse.move(*place_of(page, 0.25))
        page.mouse.wheel(0, -400)
        start, seconds = range_of(page)
        assert seconds < SECONDS / 2
        assert start + 0.25 * seconds == pytest.approx(SECONDS / 4, abs=3)  # the place stays
        page.keyboard.down("Shift")
        page.mouse.wheel(0, 100)
        page.keyboard.up("Shift")
        assert range_of(page)[0] > start
        for _ in range(16):
            page.keyboard.press("+")
        assert range_of(page)[1] == 1
        drawn(page)
        page.keyboard.press("Control+3")
        assert range_of(page)[1] == 2
        page.keyboard.press("Control+1")
        assert range_of(page)[1] == 1
        page.keyboard.press("0")
        assert range_of(page) == (0, SECONDS)


def test_tiles_of_the_next_zoom_steps_are_loaded_in_advance(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        field = page.get_by_label("Go to")
        field.fill("06:33:00")  # near the end: the cursor keeps its place in the view
        field.press("Enter")
        page.locator(".nav-view").focus()
        needed = ["max/6/1", "max/6/2", "max/6/3", "max/5/4", "max/5/5"]  # of 2,100 s and 1,050 s
        loaded = "performance.getEntriesByType('resource').map(({ name }) => name)"
        until(page, f"{needed}.every((tile) => {loaded}.some((name) => name.endsWith(tile)))")
        page.route("**/recording/tile/**", lambda _: None)  # no further tile arrives
        for keys in ("+", "+", "--"):
            for key in keys:
                page.keyboard.press(key)
            drawn(page)
        assert range_of(page) == (0, SECONDS)


@pytest.mark.parametrize("part", ["axis", "picture"])
def test_the_mouse_moves_the_view_by_its_axis_or_with_alt(
    browser: Browser, address: str, part: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        zoomed(page, 1000, 100)
        (x, y), (right, _) = place_of(page, 0.5), place_of(page, 0.7)
        if part == "axis":
            box = page.locator(".nav-view").bounding_box()
            assert box is not None
            y = box["y"] + box["height"] - 6
        else:
            page.keyboard.down("Alt")
        drag(page, (x, y), right - x)
        page.keyboard.up("Alt")
        start, seconds = range_of(page)
        assert start == pytest.approx(980, abs=2)
        assert seconds == 100


@pytest.mark.parametrize(
    ("name", "value"),
    [("Colours", "viridis"), ("Gain", "10"), ("Frequency", "linear"), ("View", "colour")],
)
def test_each_setting_of_the_display_changes_the_picture(
    browser: Browser, address: str, name: str, value: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        pixels = "document.querySelector('.nav-view canvas').toDataURL()"
        page.evaluate(f"globalThis.before = {pixels}, 0")
        setting = page.get_by_label(name, exact=True)
        legend = page.get_by_text("red: acoustic complexity")
        expect(legend).to_be_hidden()
        setting.fill(value) if name == "Gain" else setting.select_option(value)
        until(page, f"{pixels} !== before")
        expect(legend).to_be_visible(visible=value == "colour")
        assert page.get_by_label("Gain", exact=True).is_enabled() == (value != "colour")


def test_the_address_has_the_display_and_ignores_unknown_settings(
    browser: Browser, address: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.get_by_label("Colours").select_option("grey")
        page.get_by_label("Gain", exact=True).fill("-7")
        page.get_by_label("Range").fill("50")
        until(page, "location.hash.includes('range_db')")
        levels = page.locator(".nav-setting b").last.inner_text()
        page.reload()
        drawn(page)
        expect(page.get_by_label("Colours")).to_have_value("grey")
        expect(page.get_by_label("Gain", exact=True)).to_have_value("-7")
        expect(page.locator(".nav-setting b").last).to_have_text(levels)
        page.get_by_role("button", name="Reset").click()
        until(page, "!location.hash")
        unknown = "palette=pink&gain_db=999&range_db=-1e999,5&constructor=x"
        zoomed(page, 100, f"50&{unknown}&frequency=log")
        expect(page.get_by_label("Frequency")).to_have_value("log")
        assert range_of(page) == (100, 50)


def test_a_part_is_selected_by_mouse_or_keys_and_shown(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.mouse.move(*place_of(page, 0.5))
        page.mouse.down()
        page.mouse.move(*place_of(page, 0.6), steps=3)
        page.mouse.up()
        page.keyboard.press("Control+e")
        start, seconds = range_of(page)
        assert start == pytest.approx(SECONDS * 0.495, abs=10)
        assert seconds == pytest.approx(SECONDS * 0.11, abs=10)
        page.keyboard.press("Escape")
        page.keyboard.press("0")
        expect(page.get_by_role("status")).to_contain_text("1 h 10 min")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        first = position(page)
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        expect(page.get_by_role("status")).to_contain_text("Selected")
        page.keyboard.press("Shift+ArrowLeft")
        page.get_by_role("button", name="Zoom to the selection").click()
        start, seconds = range_of(page)
        assert start + seconds / 22 == pytest.approx(first, abs=2)


def test_the_overview_moves_the_view(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        zoomed(page, 0, 600)
        box = page.locator(".nav-overview").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
        assert range_of(page)[0] == pytest.approx(SECONDS / 2 - 300, abs=5)
        held = (box["x"] + box["width"] * 0.52, box["y"] + 10)  # not the middle of the frame
        drag(page, held, box["width"] / 10)
        start, seconds = range_of(page)
        assert start == pytest.approx(SECONDS * 0.6 - 300, abs=10)
        assert seconds == 600
        page.keyboard.press("+")
        assert range_of(page)[1] == 300


def test_hours_and_times_are_reached_by_keys_and_in_writing(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.keyboard.press("PageDown")
        assert position(page) == TONE
        page.keyboard.press("PageUp")
        assert position(page) == 0  # there is no full hour before
        page.keyboard.press("PageDown")
        page.get_by_role("button", name="Next hour").click()
        assert position(page) == SECONDS  # there is no other full hour
        field = page.get_by_label("Go to")
        field.fill("05:46:40")
        field.press("Enter")
        assert position(page) == CLICK
        field.fill("17:00")
        page.get_by_role("button", name="Go", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("17:00 is not a time of this recording")
        page.get_by_role("button", name="Play", exact=True).click()
        field.fill("06:00:30")
        field.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Playing from 06:00:30")


def test_labels_are_reached_by_keys_and_by_a_list(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        view = page.get_by_role("application", name="Spectrogram")
        expect(view).to_be_focused()
        page.keyboard.press("n")
        page.keyboard.press("Tab")
        said = page.get_by_role("status")
        expect(said).to_have_text("click, 05:46:36.0, 8 s, 2 of 3 in skim.json")
        assert position(page) == CLICK - 4
        page.keyboard.press("p")
        expect(said).to_contain_text("quiet")
        page.keyboard.press("Escape")
        page.keyboard.press("n")
        page.keyboard.press("Tab")
        expect(said).to_contain_text("click")
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        expect(view).not_to_be_focused()
        page.get_by_role("button", name="Labels (4)").click()
        page.get_by_role("button", name="05:55:00 owl").click()
        expect(page.locator("[aria-current]")).to_contain_text("owl")


@pytest.mark.parametrize(
    ("overlays", "lanes"),
    [
        ([[[0, 2], [1, 2], [2, 2], [3, 2]]], [0, 1, 0, 1]),
        ([[[0, 9], [1, 9]], [[0, 1]], [[5, 0]]], [0, 1, 2, 3]),
        ([[[n, 99] for n in range(8)]], [0, 1, 2, 3, 4, 5, 0, 1]),  # too many to be apart
        ([[[n, 99] for n in range(6)], [[0, 1], [0.5, 1]]], [0, 1, 2, 3, 0, 1, 4, 5]),
    ],
)
def test_overlapping_labels_have_rows_of_their_own(
    browser: Browser, address: str, overlays: Any, lanes: list[int]
) -> None:
    script = """async (overlays) => {
      const { layLabels } = await import("/modules/navigator/stage.js");
      const { labels } = layLabels(overlays.map((spans) => ({ spans })));
      labels.sort((a, b) => a.overlay - b.overlay || a.start - b.start);
      return labels.map(({ lane }) => lane);
    }"""
    with shown(browser, address) as page:
        assert page.evaluate(script, overlays) == lanes


def test_labels_have_fewer_rows_when_the_window_becomes_narrow(
    browser: Browser, address: str
) -> None:
    spans = "Array.from({ length: 6 }, (_, n) => [n, 99, 'owl'])"
    with shown(browser, address, **DESKTOP) as page:
        page.evaluate(STUDY)
        page.evaluate(f"made.setOverlays([{{ name: 'birds', kind: 'labels', spans: {spans} }}])")
        page.evaluate("made.choose(made.labels[5], false)")
        assert page.evaluate("made.lanes") == 6
        page.set_viewport_size(PHONE["viewport"])
        until(page, "made.lanes === 4 && made.current === made.labels[5]")


def test_gaps_are_named_by_their_reason(browser: Browser, address: str) -> None:
    script = """async (info) => (await import("/modules/navigator/stage.js")).findGaps(info)"""
    info = {"stretches": [[5, 5, "a"], [12, 3, "b"], [16, 1, "c"]], "damages": [10.02, 17]}
    with shown(browser, address) as page:
        found = page.evaluate(script, info | {"seconds": 20})
    names = [(gap["start"], gap["end"], gap["name"]) for gap in found]
    assert names == [
        (0, 5, "not_recorded"),
        (10, 12, "unreadable"),
        (15, 16, "not_recorded"),
        (17, 20, "unreadable"),
    ]


def test_gaps_and_parts_that_are_not_indexed_are_marked_until_they_are(
    browser: Browser, address: str
) -> None:
    building = {"state": "building", "done": 2000.0}
    levels = set[str]()

    def describe(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | building)

    def incomplete(route: Route) -> None:
        levels.add(route.request.url.split("/")[-2])
        reply = route.fetch()
        if not building:
            return route.fulfill(response=reply)
        body = bytes(255 for _ in reply.body())
        headers = reply.headers | {"x-complete": "0", "cache-control": "no-store"}
        headers.pop("content-encoding", None)
        return route.fulfill(body=body, headers=headers)

    context = browser.new_context(**DESKTOP)
    context.route(re.compile("/recording/(info|progress)"), describe)
    context.route("**/recording/tile/**", incomplete)
    page, said = visit(context, address)
    expect(page.get_by_text("Indexed 33 min of 1 h 10 min")).to_be_visible()
    drawn(page)
    assert page.evaluate(BRIGHTNESS, [CLICK / SECONDS])[0] == 0
    page.wait_for_timeout(300)
    assert levels == {"7"}  # none in advance
    building.clear()
    expect(page.locator(".nav-building")).to_be_hidden()
    until(page, f"({BRIGHTNESS})([{CLICK / SECONDS}])[0] > 200")
    context.close()
    assert said == []


def test_the_check_for_speech_has_its_own_progress(browser: Browser, address: str) -> None:
    checking = {"state": "building", "done": SECONDS, "checked": 2000.0}
    context = browser.new_context(**DESKTOP)
    context.route(
        re.compile("/recording/(info|progress)"),
        lambda route: route.fulfill(json=route.fetch().json() | checking),
    )
    page, _ = visit(context, address)
    expect(page.get_by_text("Checked for speech: 33 min of 1 h 10 min")).to_be_visible()
    context.close()


def test_the_page_says_up_to_which_frequency_the_picture_goes(
    browser: Browser, folder: Path
) -> None:
    path = folder / "bats.wav"
    soundfile.write(path, np.zeros(96_000), 96_000)
    with browsed(path, folder / "cache") as address, shown(browser, address) as page:
        expect(page.locator("#facts")).to_contain_text("96 kHz · picture up to 16 kHz")


# --- Sound ---------------------------------------------------------------------------------------


def test_a_click_plays_from_there_and_space_pauses(browser: Browser, address: str) -> None:
    context = browser.new_context(**DESKTOP)
    context.add_init_script(TAP)
    page, _ = visit(context, address)
    drawn(page)
    zoomed(page, TONE, 100)
    with page.expect_request("**/recording/sound?*") as asked:
        page.mouse.click(*place_of(page, 0.5))
    start = float(re.search(r"start=([\d.]+)", asked.value.url)[1])  # type: ignore[index]
    assert start == pytest.approx(TONE + 50, abs=0.2)
    assert start * recordings.RATE == round(start * recordings.RATE)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Playing from 06:00:")
    until(page, "passed.frames > 8000")
    # resampling overshoots by up to 9 % where a sound starts
    assert page.evaluate("passed.peak") == pytest.approx(6000 / 32768, rel=0.1)
    page.keyboard.press("Space")
    paused = position(page)
    assert paused > start + 0.8
    page.wait_for_timeout(300)
    assert position(page) == paused
    page.keyboard.press("Space")
    shown_seconds = "Number(document.querySelector('.nav-position').textContent.slice(6))"
    until(page, f"{shown_seconds} > {paused % 60 + 0.3}")
    context.close()


def test_the_volume_applies_to_the_sound(browser: Browser, address: str) -> None:
    context = browser.new_context(**DESKTOP)
    context.add_init_script(TAP)
    page, _ = visit(context, address)
    drawn(page)
    zoomed(page, TONE, 100)
    page.get_by_label("Volume").fill("-20")
    page.mouse.click(*place_of(page, 0.5))
    until(page, "passed.frames > 8000")
    assert page.evaluate("passed.peak") == pytest.approx(600 / 32768, rel=0.05)
    context.close()


def test_an_excerpt_ends_after_two_seconds_and_the_view_follows(
    browser: Browser, address: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        zoomed(page, TONE, 1)
        page.keyboard.press("x")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        start, seconds = range_of(page)
        assert (start > TONE + 0.5, seconds) == (True, 1)


@pytest.mark.parametrize("rate", [recordings.RATE, 44100])
def test_chunks_are_joined_without_a_seam(browser: Browser, address: str, rate: int) -> None:
    given = {"rate": rate, "start": TONE + 10, "end": TONE + 20, "seconds": 2, "loop": False}
    with shown(browser, address) as page:
        script = "async (given) => (await import('/tests/recording.js')).rendered(given)"
        found = np.asarray(page.evaluate(script, given))
    inside = slice(round(0.05 * rate), round(1.9 * rate))  # the second chunk begins after 1.01 s
    times = np.arange(found.size)[inside] / rate
    waves = np.stack([f(2 * np.pi * 440 * times) for f in (np.sin, np.cos)], axis=1)
    weights, *_ = np.linalg.lstsq(waves, found[inside], rcond=None)
    assert np.hypot(*weights) == pytest.approx(6000 / 32768, rel=0.01)
    assert np.abs(found[inside] - waves @ weights).max() < 0.005  # the noise of the recording


def test_a_loop_has_no_gap(browser: Browser, address: str) -> None:
    rate = recordings.RATE
    given = {"rate": rate, "start": TONE + 10, "end": TONE + 10.5, "seconds": 2, "loop": True}
    with shown(browser, address) as page:
        script = "async (given) => (await import('/tests/recording.js')).rendered(given)"
        found = np.asarray(page.evaluate(script, given))
    power = np.convolve(found**2, np.ones(80) / 80, "valid")  # 10 ms
    assert power[round(0.05 * rate) : round(1.9 * rate)].min() > 0.4 * np.median(power)


def test_a_selection_is_repeated_until_it_is_paused(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.get_by_role("button", name="Loop").click()
        expect(page.locator(".nav-detail")).to_contain_text("Select a part first")
        zoomed(page, 1490, 20)
        page.keyboard.press("n")
        page.keyboard.press("l")
        expect(page.get_by_role("button", name="Loop")).to_have_attribute("aria-pressed", "true")
        page.wait_for_timeout(1500)  # three times the label
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        assert 1500 <= position(page) <= 1500.5
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


# --- Devices, people and studies -----------------------------------------------------------------


class Fingers:
    """Fingers on a page."""

    def __init__(self, page: Page) -> None:
        self._client: Any = page.context.new_cdp_session(page)

    def move(self, *ways: list[tuple[float, float]]) -> None:
        """Put fingers down, move each along its way, and lift them."""
        kinds = ["touchStart", *["touchMove"] * (len(ways[0]) - 1)]
        for kind, *points in zip(kinds, *ways, strict=True):
            self._send(kind, points)
        self._send("touchEnd", [])

    def _send(self, kind: str, points: list[tuple[float, float]]) -> None:
        places = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        self._client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def test_fingers_pan_zoom_and_play(browser: Browser, address: str) -> None:
    with shown(browser, address, **PHONE) as page:
        fingers = Fingers(page)
        zoomed(page, 1000, 100)
        fingers.move([place_of(page, part) for part in (0.7, 0.65, 0.6, 0.5, 0.4, 0.3)])
        start, seconds = range_of(page)
        assert start == pytest.approx(1040, abs=4)
        assert seconds == 100
        middle, y = place_of(page, 0.5)
        widths = (30, 40, 60, 80, 120)
        fingers.move([(middle - one, y) for one in widths], [(middle + one, y) for one in widths])
        assert range_of(page)[1] == pytest.approx(25, abs=2)
        page.touchscreen.tap(*place_of(page, 0.5))
        expect(page.get_by_role("button", name="Pause")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_page_fits_and_axe_finds_nothing(
    browser: Browser, address: str, scheme: str, device: dict[str, Any]
) -> None:
    with shown(browser, address, color_scheme=scheme, **device) as page:
        for name in ("Labels (4)", "Keys", "Display"):
            tab = page.get_by_role("button", name=name)
            if tab.get_attribute("aria-expanded") == "false":
                tab.click()
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert page.evaluate(SMALL_TARGETS) == []
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


def test_a_study_fixes_the_display_and_learns_what_was_heard(
    browser: Browser, address: str
) -> None:
    with shown(browser, address, **DESKTOP) as page:
        page.evaluate(STUDY)
        drawn(page)
        expect(page.get_by_role("button", name="Écouter")).to_be_visible()
        expect(page.get_by_role("button", name="Display")).to_have_count(0)
        page.evaluate("made.zoomTo(100, 50)")
        until(page, "happened.length === 1")
        assert page.evaluate("happened[0]") == {"name": "viewed", "start": 100, "seconds": 50}
        page.mouse.click(*place_of(page, 0.5))  # browsers start sound after a click only
        page.evaluate("made.play(120, 0.5), 0")
        until(page, "happened.at(-1).name === 'played' && happened.at(-1).start === 120")
        played = page.evaluate("happened.at(-1)")
        assert (played["seconds"], played["end"]) == (pytest.approx(0.5, abs=0.01), 120.5)
        page.evaluate("made.setOverlays([]), made.destroy()")
        expect(page.locator(".nav-view")).to_have_count(0)


def test_many_labels_are_found_by_their_text(browser: Browser, address: str) -> None:
    spans = "Array.from({ length: 20 }, (_, n) => [60 * n, 5, n % 4 ? 'owl' : 'Wren'])"
    with shown(browser, address, **DESKTOP) as page:
        page.evaluate(STUDY)
        page.evaluate(f"made.setOverlays([{{ name: 'birds', kind: 'labels', spans: {spans} }}])")
        page.get_by_role("button", name="Labels (20)").click()
        expect(page.locator(".nav-labels li")).to_have_count(20)
        page.get_by_label("Find a label").fill("wr")
        expect(page.locator(".nav-labels li")).to_have_count(5)
        spans = "[[0, 5, 'owl'], [9, 5, 'Wren']]"
        page.evaluate(f"made.setOverlays([{{ name: 'birds', kind: 'labels', spans: {spans} }}])")
        expect(page.locator(".nav-labels li")).to_have_count(1)
        expect(page.get_by_label("Find a label")).to_be_visible()  # it still applies


def test_the_server_fixes_the_display_for_a_study(browser: Browser, folder: Path) -> None:
    display = {"palette": "grey", "frequency": "linear"}
    path = folder / recordings.NAME
    with (
        browsed(path, folder / "cache", display=display) as address,
        shown(browser, address) as page,
    ):
        expect(page.get_by_role("button", name="Display")).to_have_count(0)


# --- Failures ------------------------------------------------------------------------------------


def test_a_changed_file_is_reported_in_place(browser: Browser, folder: Path) -> None:
    copy = folder / "copy_20260601_053000.wav"
    copy.write_bytes((folder / recordings.NAME).read_bytes())
    with browsed(copy, folder / "cache") as address, shown(browser, address) as page:
        os.utime(copy, (0, 0))
        page.wait_for_timeout(1100)  # files are looked at once a second
        for _ in range(3):
            page.get_by_role("button", name="Zoom in").click()
        expect(page.get_by_role("alert")).to_contain_text("changed or removed")


def test_a_failed_index_is_reported_also_after_tiles_were_drawn(
    browser: Browser, address: str
) -> None:
    failed = {"state": "failed", "message": "the disk is full"}
    context = browser.new_context(**DESKTOP)
    context.route(
        "**/recording/info", lambda route: route.fulfill(json=route.fetch().json() | failed)
    )
    page, _ = visit(context, address)
    drawn(page)
    expect(page.get_by_role("alert")).to_contain_text("cannot be shown: the disk is full")
    context.close()


def test_a_lost_server_is_reported_until_it_answers(browser: Browser, address: str) -> None:
    with shown(browser, address) as page:
        page.route("**/recording/**", lambda route: route.abort())
        for _ in range(3):
            page.keyboard.press("+")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("The server does not answer")
        page.unroute("**/recording/**")
        alert.get_by_role("button", name="Try again").click()
        expect(alert).to_be_hidden()
        drawn(page)


# --- Axes ----------------------------------------------------------------------------------------

CLOCK = """
async ({ began, offsets, seconds, ticks, typed }) => {
  const { Clock } = await import("/modules/navigator/axis.js");
  const clock = new Clock({ began, offsets, seconds });
  if (typed) return typed.map((one) => clock.parse(one));
  return clock.ticks(...ticks).map(({ text }) => text);
}
"""
SPRING = {"began": "2026-03-29T01:00:00+01:00", "offsets": [[0, 3600], [3600, 7200]]}


@pytest.mark.parametrize(
    ("recording", "ticks", "texts"),
    [
        ({"seconds": 86400}, [0, 86400, 10000], ["00:00", "03:00", "06:00"]),
        ({"seconds": 5}, [1, 1.5, 0.09], ["00:00:01.0", "00:00:01.1", "00:00:01.2"]),
        (SPRING | {"seconds": 14400}, [0, 14400, 3000], ["01:00", "03:00", "04:00"]),
        (
            {"began": "2026-06-01T22:00:00", "seconds": 86400},
            [0, 20000, 3600],
            ["22:00", "23:00", "Tue 2 Jun"],
        ),
    ],
)
def test_ticks_are_round_times_of_the_clock(
    browser: Browser, address: str, recording: dict[str, Any], ticks: list[float], texts: list[str]
) -> None:
    given = {"began": None, "offsets": [], "ticks": ticks} | recording
    with shown(browser, address) as page:
        assert page.evaluate(CLOCK, given)[:3] == texts


def test_times_are_read_as_people_write_them(browser: Browser, address: str) -> None:
    typed = ["01:30", "2:30", "3:15:00.5", "2026-03-29 04:00", "90 s", "07:00", "soon", "1:75"]
    typed.append("29.3.2026 04:00")
    given = SPRING | {"seconds": 14400, "typed": typed}
    with shown(browser, address) as page:
        found = page.evaluate(CLOCK, given)
    assert found == [1800, None, 4500.5, 7200, 90, None, None, None, 7200]  # no 02:30 that day
