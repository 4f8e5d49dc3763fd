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
from numpy.typing import NDArray
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


SETTINGS = {"Colours": "viridis", "Gain": "10", "Frequency": "linear", "View": "colour"}


def test_each_setting_of_the_display_changes_the_picture(browser: Browser, address: str) -> None:
    with shown(browser, address, **DESKTOP) as page:
        pixels = "document.querySelector('.nav-view canvas').toDataURL()"
        legend = page.get_by_text("red: acoustic complexity")
        for name, value in SETTINGS.items():
            page.evaluate(f"globalThis.before = {pixels}, 0")
            expect(legend).to_be_hidden()
            setting = page.get_by_label(name, exact=True)
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
    page.get_by_label("Volume").fill("-20")
    page.wait_for_timeout(300)  # what was scheduled before has passed
    page.evaluate("Object.assign(passed, { frames: 0, peak: 0 }), 0")
    until(page, "passed.frames > 8000")
    assert page.evaluate("passed.peak") == pytest.approx(600 / 32768, rel=0.1)
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


def test_chunks_are_joined_without_a_seam_and_a_loop_has_no_gap(
    browser: Browser, address: str
) -> None:
    script = "async (given) => (await import('/tests/recording.js')).rendered(given)"
    rate = recordings.RATE
    loop = {"rate": rate, "start": TONE + 10, "end": TONE + 10.5, "seconds": 2, "loop": True}
    with shown(browser, address) as page:
        for hertz in (rate, 44100):
            given = {**loop, "rate": hertz, "end": TONE + 20, "loop": False}
            has_no_seam(np.asarray(page.evaluate(script, given)), hertz)
        found = np.asarray(page.evaluate(script, loop))
    power = np.convolve(found**2, np.ones(80) / 80, "valid")  # 10 ms
    assert power[round(0.05 * rate) : round(1.9 * rate)].min() > 0.4 * np.median(power)


def has_no_seam(found: NDArray[np.float64], rate: int) -> None:
    """Whether samples are the tone of the recording."""
    inside = slice(round(0.05 * rate), round(1.9 * rate))  # the second chunk begins after 1.01 s
    times = np.arange(found.size)[inside] / rate
    waves = np.stack([f(2 * np.pi * 440 * times) for f in (np.sin, np.cos)], axis=1)
    weights, *_ = np.linalg.lstsq(waves, found[inside], rcond=None)
    assert np.hypot(*weights) == pytest.approx(6000 / 32768, rel=0.01)
    assert np.abs(found[inside] - waves @ weights).max() < 0.005  # the noise of the recording


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


@pytest.mark.parametrize(
    ("scheme", "device"), [("light", PHONE), ("dark", DESKTOP)], ids=["phone", "desktop"]
)
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


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"state": "failed", "message": "the disk is full"}, "cannot be shown: the disk is full"),
        (
            {"state": "building", "done": SECONDS, "checked": 2000.0},
            "Checked for speech: 33 min of 1 h 10 min",
        ),
        ({"display": {"palette": "grey", "frequency": "linear"}}, ""),
    ],
    ids=["failed", "checking", "fixed display"],
)
def test_the_page_follows_what_the_server_says_of_the_index(
    browser: Browser, address: str, told: dict[str, Any], text: str
) -> None:
    context = browser.new_context(**DESKTOP)
    context.route(
        re.compile("/recording/(info|progress)"),
        lambda route: route.fulfill(json=route.fetch().json() | told),
    )
    page, _ = visit(context, address)
    drawn(page)
    expect(page.locator(".navigator")).to_contain_text(text)
    assert page.get_by_role("button", name="Display").count() == ("display" not in told)
    context.close()


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
        spans = "Array.from({ length: 6 }, (_, n) => [n, 99, 'wren'])"
        page.evaluate(f"made.setOverlays([{{ name: 'birds', kind: 'labels', spans: {spans} }}])")
        page.evaluate("made.choose(made.labels[5], false)")
        assert page.evaluate("made.lanes") == 6
        page.set_viewport_size(PHONE["viewport"])  # fewer rows
        until(page, "made.lanes === 4 && made.current === made.labels[5]")


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
