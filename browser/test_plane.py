"""Skims on the TC/SD plane: practice, placing by pointer and keys, notes, and resuming."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from browser.helpers.fake_server import tone
from browser.helpers.page_actions import DESKTOP, PHONE, TAP, until, visit
from browser.helpers.real_server import RealServer, really_served
from playwright.sync_api import Browser, Page

SYSTEMS, ITEMS = ("Kestrel", "Osprey", "Merlin", "Hobby"), ("bittern", "curlew", "dunlin")
RATE, SECONDS = 16_000, 240
STUDY = """\
title: Days
language: LANGUAGE
systems: [Kestrel, Osprey, Merlin, Hobby]
files: "{system}/{item}.wav"
listeners: 1
rest_minutes: 0
training: 3
training_items: [dunlin]
feedback: true
gold: expected.csv
blocks:
  - kind: plane
    sessions: 2
    parameters:
      hours: 4
      recording: dunlin
      check: true
      examples:
        - {sound: Kestrel/dunlin.wav, TC: 0.3, SD: 0.8, reason: "Many sources."}
        - {sound: Osprey/dunlin.wav, TC: 0.9, SD: 0.2, reason: "The course of the day."}
recordings: {bittern: day.flac, curlew: day.flac, dunlin: day.flac}
"""


# whether the spectrogram of each skim has more than one colour
COLOURS = """() => [...document.querySelectorAll(".plane-spectrogram")].every((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size > 1;
})"""


# whether the server has a draft of which something is true
STORED = """async () => {
  const { page } = await (await fetch(location.pathname + "/state")).json();
  return Boolean(page.draft?.draft.%s);
}"""


# the style sheets of other kinds of trials, as in a study that has several
OTHER_SHEETS = """async () => {
  const { href } = document.querySelector("link[href$='trials/plane.css']");
  for (const name of ["mushra", "reading", "rubric", "single", "words"]) {
    const sheet = document.createElement("link");
    Object.assign(sheet, { rel: "stylesheet", href: href.replace("plane.css", `${name}.css`) });
    const loaded = new Promise((done) => (sheet.onload = done));
    document.head.append(sheet);
    await loaded;
  }
}"""


def write_plane(folder: Path, study: Path, language: str) -> None:
    """A study of two recordings of four minutes, with four skims each, and practice."""
    for number, (system, item) in enumerate(product(SYSTEMS, ITEMS)):
        path = folder / system / f"{item}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(1.5, 300 + 150 * number))
    rng = np.random.default_rng(1)
    day = 0.01 * rng.standard_normal(RATE * SECONDS)
    time = np.arange(5 * RATE) / RATE
    for at in range(0, SECONDS, 20):
        first = (at + 5) * RATE
        day[first : first + len(time)] += 0.3 * np.sin(2 * np.pi * (300 + 10 * at) * time)
    soundfile.write(folder / "day.flac", day, RATE)
    rows = [f"dunlin,{s},{scale},0.5" for s in SYSTEMS for scale in ("TC", "SD")]
    table = "\n".join(["item,system,scale,value", *rows, ""])
    (folder / "expected.csv").write_text(table, encoding="utf-8")
    study.write_text(STUDY.replace("LANGUAGE", language), encoding="utf-8")


def open_page(
    browser: Browser, server: RealServer, name: str, **kind: Any
) -> tuple[Page, list[str]]:
    server.answer_up_to(name)
    context = browser.new_context(**kind)
    context.add_init_script(TAP)
    return visit(context, server.links[0])


def drag(page: Page, label: str, x: float, y: float) -> None:
    """Drag a marker to a place on the plane."""
    page.evaluate("() => scrollTo(0, 0)")
    marker = page.get_by_role("button", name=f"Marker {label}.").bounding_box()
    field = page.locator(".plane-field").bounding_box()
    assert marker is not None
    assert field is not None
    page.mouse.move(marker["x"] + marker["width"] / 2, marker["y"] + marker["height"] / 2)
    page.mouse.down()
    page.mouse.move(field["x"] + field["width"] * 0.9, field["y"] + 20, steps=4)
    right, up = x / 1.1 * field["width"], y / 1.1 * field["height"]
    page.mouse.move(field["x"] + right, field["y"] + field["height"] - up, steps=4)
    page.mouse.up()


def played(server: RealServer) -> list[dict[str, Any]]:
    """Parts of the recording that were played on the page 1.1, in seconds."""
    with server._store() as (store, digest):
        return [
            dict(one.details) for one in store.page_events(digest, 1, "1.1", "recording_played")
        ]


def place_of(page: Page, label: str) -> list[float]:
    fields = [page.get_by_label(f"Skim {label}: {axis}", exact=True) for axis in ("TC", "SD")]
    return [float(field.input_value()) for field in fields]


def test_an_expert_explores_listens_places_resumes_and_sends(
    browser: Browser, tmp_path: Path
) -> None:
    size = {"viewport": {"width": 1280, "height": 800}}
    with really_served(tmp_path, write=write_plane) as server:
        page, said = open_page(browser, server, "1.1", **size)
        expect(page.locator(".navigator")).to_have_attribute("data-state", "drawn")
        timer = page.get_by_role("timer")
        shown = timer.inner_text()
        expect(timer).not_to_have_text(shown)
        until(page, COLOURS)
        maxima = "(all) => all.map((one) => getComputedStyle(one).strokeDasharray)"
        assert page.locator(".plane-maximum").evaluate_all(maxima) == ["6px, 5px"] * 2
        page.get_by_label("Sound sources, one per line").fill("wind\nbell")
        page.get_by_role("tab", name="2. Hour by hour").click()
        page.get_by_role("button", name="Play point 2, 00:01:17").click()
        until(page, "() => passed.frames > 8000")
        page.get_by_label("Most present sources, 00:01:00–00:02:00").fill("bell")
        order = (
            "() => [...document.querySelectorAll('main > *')].findIndex((one) => one.matches('%s'))"
        )
        assert page.evaluate(order % ".recording") < page.evaluate(order % ".plane-page")
        page.get_by_role("tab", name="3. Place").click()
        assert page.evaluate(order % ".recording") > page.evaluate(order % ".plane-page")
        expect(page.locator(".plane-notes")).to_contain_text("00:01:00–00:02:00bell")

        drag(page, "1", 0.5, 0.25)
        assert place_of(page, "1") == pytest.approx([0.5, 0.25], abs=0.01)
        drag(page, "1", 1.05, -0.3)  # places outside are at the edge
        assert place_of(page, "1") == [1, 0]
        page.locator("h1").focus()
        page.keyboard.press("2")
        for key in ("ArrowRight", "ArrowRight", "Shift+ArrowUp", "ArrowDown"):
            page.keyboard.press(key)
        assert place_of(page, "2") == pytest.approx([0.52, 0.54])  # from the middle
        page.get_by_label("Skim 3: TC", exact=True).fill("0.123")
        page.get_by_label("Skim 3: SD", exact=True).fill("2")
        page.keyboard.press("Tab")
        expect(page.get_by_role("alert").filter(has_text="Enter 0 to 1.")).to_be_visible()
        page.get_by_role("button", name="Send all places").click()
        expect(page.locator(".missing li")).to_have_count(6)  # four unheard, two not placed
        page.get_by_label("Skim 3: SD", exact=True).fill("0.9")
        page.get_by_role("button", name="Marker 4.").click()
        page.locator(".plane-field").click(position={"x": 60, "y": 60})
        page.get_by_label("Comment on skim 4").first.click()
        page.locator("#of-comment_4").fill("short")
        for label in "12":
            page.get_by_role("button", name=f"Skim {label}: Play").click()
            expect(page.get_by_role("button", name=f"Skim {label}: Play again")).to_be_visible()

        page.reload()
        expect(page.locator(".plane-notes")).to_contain_text("00:01:00–00:02:00bell")
        assert place_of(page, "3") == [0.123, 0.9]
        page.get_by_role("button", name="Send all places").click()
        expect(page.locator(".missing li")).to_have_count(2)
        for label in "34":
            page.get_by_role("button", name=f"Skim {label}: Play").click()
            expect(page.get_by_role("button", name=f"Skim {label}: Play again")).to_be_visible()
        page.get_by_role("button", name="Send all places").click()
        expect(page.locator("[data-name='rest.2'], [data-name='2.0']")).to_be_visible()
        until(page, "() => document.querySelector('#saving').textContent === 'Saved'")
        [answer] = [one for one in server.exported() if one["page"] == "1.1"]
        values = answer["values"]
        assert (values["TC_1"], values["SD_1"], values["TC_3"], values["SD_3"]) == (
            1,
            0,
            0.123,
            0.9,
        )
        assert values["sources"] == "wind\nbell"
        [meta] = [one.meta for one in server.history() if one.answer.page == "1.1"]
        assert meta is not None
        assert meta["explored"] >= 1
        assert (values["hour_1"], values["comment_4"]) == ("bell", "short")
        assert server.told("recording_played", "1.1") >= 1
        assert server.told("placed", "1.1") >= 6
        assert [one for one in said if "ScriptProcessorNode" not in one] == []


def test_excerpts_of_an_hour_are_played_whatever_was_selected(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, write=write_plane) as server:
        page, _ = open_page(browser, server, "1.1", **DESKTOP)
        expect(page.locator(".navigator")).to_have_attribute("data-state", "drawn")
        page.get_by_role("tab", name="2. Hour by hour").click()
        expect(page.locator("#plane-step-hours")).to_contain_text("spectrogram to play 2 s")
        page.get_by_role("button", name="Keys").click()
        keys = page.locator(".nav-keys")
        expect(keys.get_by_text("Previous or next hour")).to_be_visible()
        expect(keys.get_by_text("Next or previous label")).to_be_hidden()  # there are no labels
        view, loop = page.get_by_role("application"), page.get_by_role("button", name="Loop")
        view.focus()
        for key in ("Shift+ArrowRight", "Shift+ArrowRight", "l"):
            page.keyboard.press(key)
        expect(loop).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Play 5 points, 00:00:00–00:01:00").click()
        expect(page.locator(".navigator > [role=status]")).to_contain_text("00:00:17")  # point 2
        expect(loop).to_have_attribute("aria-pressed", "false")

        view.click()  # ends the points, and plays an excerpt there
        points = {5, 17, 29, 41, 53}
        own = list[dict[str, Any]]()
        for _ in range(100):
            if own := [one for one in played(server) if one["start"] not in {0, *points}]:
                break
            page.wait_for_timeout(200)
        assert [one["seconds"] for one in own] == [pytest.approx(2, abs=0.01)]
        counts, legend = page.locator(".plane-heard"), page.locator(".navigator")
        expect(counts.first).to_have_text(re.compile("^[23] of 5 heard$"))  # the second was cut
        expect(counts.nth(1)).to_have_text("0 of 5 heard")
        expect(legend).to_contain_text("Points heard")
        expect(keys.get_by_text("Next or previous label")).to_be_visible()
        heard = counts.first.inner_text()
        until(page, STORED % f"points.length === {heard[0]}")
        page.reload()
        expect(counts.first).to_have_text(heard)
        expect(legend).to_contain_text("Points heard")
        page.get_by_role("button", name="Labels (").click()
        page.get_by_role("button", name="Play 5 points, 00:03:00–00:04:00").click()
        page.locator(".nav-labels button").first.focus()
        expect(counts.nth(3)).to_have_text("1 of 5 heard")
        expect(page.locator(".nav-labels button").first).to_be_focused()


def test_a_finger_drags_a_marker(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, write=write_plane) as server:
        page, _ = open_page(browser, server, "1.1", **PHONE)
        page.get_by_role("tab", name="3. Place").click()
        marker = page.get_by_role("button", name="Marker 1.")
        marker.scroll_into_view_if_needed()
        field, start = page.locator(".plane-field").bounding_box(), marker.bounding_box()
        assert field is not None
        assert start is not None
        x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
        right, up = 0.3 / 1.1 * field["width"], 0.8 / 1.1 * field["height"]
        end_x, end_y = field["x"] + right, field["y"] + field["height"] - up
        finger: Any = page.context.new_cdp_session(page)
        for part in range(11):
            kind = "touchMove" if part else "touchStart"
            point = {"x": x + (end_x - x) * part / 10, "y": y + (end_y - y) * part / 10}
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(page.get_by_label("Skim 1: SD", exact=True)).not_to_have_value("")
        assert place_of(page, "1") == pytest.approx([0.3, 0.8], abs=0.01)
        until(page, STORED % "values.SD_1 > 0.7")  # so that another device can continue
        other, _ = visit(browser.new_context(**DESKTOP), server.links[0])
        assert place_of(other, "1") == place_of(page, "1")


def test_a_skim_below_the_plane_is_placed_and_found_again(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, write=write_plane) as server:
        page, _ = open_page(browser, server, "1.1", **PHONE)
        page.get_by_role("tab", name="3. Place").click()
        page.evaluate(OTHER_SHEETS)
        expect(page.get_by_text("Drag the numbers")).to_be_visible()
        expect(page.locator(".plane-keys")).to_be_hidden()
        page.get_by_role("button", name="Place skim 4").tap()
        expect(page.locator(".plane-field")).to_be_in_viewport(ratio=1)
        page.locator(".plane-field").tap(position={"x": 60, "y": 60})
        page.get_by_role("button", name="Back to skim 4").tap()
        expect(page.locator(".plane-skim").nth(3)).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Back to skim 4")).to_be_hidden()
        expect(page.get_by_label("Skim 4: TC", exact=True)).not_to_have_value("")


def test_examples_a_check_and_feedback_come_before_the_first_trial(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, write=write_plane) as server:
        page, _ = open_page(browser, server, "plane.examples")
        cards = page.locator(".plane-example")
        expect(cards.locator("h2")).to_have_text(["Skim 1 TC 0.3, SD 0.8", "Skim 2 TC 0.9, SD 0.2"])
        expect(cards.locator(".told")).to_have_text(["Many sources.", "The course of the day."])
        page.get_by_role("button", name="Skim 2: Play").click()
        page.get_by_role("button", name="Skim 2: Play again").wait_for()
        page.get_by_role("button", name="Continue").click()

        page.get_by_text("Low, because the night takes up less time").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".notice")).to_contain_text("The parts do not need to take equal time")
        expect(page.locator(".notice")).not_to_contain_text("not accepted")
        page.get_by_text("What TC and SD mean").click()
        expect(page.get_by_text("Source diversity (SD): how well")).to_be_visible()
        page.get_by_text("High, because the most present sources").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="Practice")).to_be_visible()
        told = [server.told(f"play_{one}", "plane.examples") for one in ("started", "ended")]
        assert (told, server.told("refused", "plane.check")) == ([1, 1], 1)

        given = server.answer_up_to("feedback.3")["training.3"]
        page.reload()
        markers = page.locator(".plane-field").get_by_role("img")
        expect(markers).to_have_count(2)
        expect(page.locator("line.plane-offset")).to_have_count(1)  # from one to the other
        own, expected = f"TC {given['TC_1']:g}, SD {given['SD_1']:g}", "TC 0.5, SD 0.5"
        labels = [one.get_attribute("aria-label") for one in markers.all()]
        assert labels == [f"Marker 1, Expected place. {expected}", f"Marker 1, Your place. {own}"]


def test_pages_fit_a_phone_and_axe_finds_nothing(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, "fr", write=write_plane) as server:
        page, said = open_page(browser, server, "plane.examples", **PHONE)
        for name in ("plane.examples", "training.1", "1.1"):
            server.answer_up_to(name)
            page.reload()
            expect(page.locator(".navigator")).to_have_attribute("data-state", "drawn")
            definitions = page.locator(".definitions")
            expect(definitions.locator("p").first).to_be_hidden()
            definitions.locator("summary").focus()
            page.keyboard.press("Enter")
            expect(definitions.locator("p").first).to_be_visible()
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
            assert [one["id"] for one in Axe().run(page).response["violations"]] == []
        assert [one for one in said if "ScriptProcessorNode" not in one] == []
