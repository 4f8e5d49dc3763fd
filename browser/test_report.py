"""The HTML report in Chromium: it fits, it draws, and a click plays. Part of `make prove`."""

from __future__ import annotations

import struct
import wave
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from earwitness import output_formats
from earwitness.scoring import compare, score

SECONDS = 40
WIDTHS = {"phone": 360, "tablet": 768, "desktop": 1400}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison with everything in it, and real sound."""
    folder = tmp_path_factory.mktemp("report")
    with wave.open(str(folder / "talk one.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(struct.pack("<h", 1000) * 8000 * SECONDS)
    outputs, references = _records(str(folder / "talk one.wav"))
    found = compare.compare(
        outputs,
        references,
        collar=[0.5, 1, 3, 10],
        by=["kind", "annotator"],
        worst=3,
        show="item 0",
        permutations=200,
    )
    path = folder / "report.html"
    path.write_text(output_formats.render(found, "html", folder=folder), encoding="utf-8")
    return path


def _records(audio: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    outputs, references = [], []
    for item in range(8):
        times = [5.0 + item % 3, 15.0, 22.0 + item % 2, 31.0]
        people = [{"boundaries": times}, {"boundaries": [t + 0.7 for t in times[:3]]}]
        record = {"item": f"item {item}", "duration": SECONDS, "references": people}
        references.append({**record, "audio": audio, "meta": {"kind": ["talk", "radio"][item % 2]}})
        for name, shift in (("a system with a really long name", 0.3), ("b", 2.0), ("c", 6.0)):
            outputs.append(
                {
                    "item": f"item {item}",
                    "system": name,
                    "output": {"boundaries": [t + shift for t in times]},
                }
            )
    return outputs, references


def opened(browser: Browser, report: Path, width: int, scheme: str = "light") -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(10_000)
    page.goto(report.as_uri())
    return page


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_nothing_is_wider_than_the_window(browser: Browser, report: Path, width: int) -> None:
    page = opened(browser, report, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_goes_wrong_and_nothing_is_fetched(browser: Browser, report: Path) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert said == []
    assert asked == [report.as_uri()]


def test_colours_follow_the_reader(browser: Browser, report: Path) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = opened(browser, report, 800).evaluate(shade)
    dark = opened(browser, report, 800, "dark").evaluate(shade)
    assert light != dark


def test_marks_lie_where_the_numbers_say(browser: Browser, report: Path) -> None:
    page = opened(browser, report, 1000)
    track = page.locator(".timeline").first.locator(".row.people .track").first
    box = track.bounding_box()
    mark = track.locator("b").first.bounding_box()
    assert box is not None
    assert mark is not None
    middle = (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"]
    assert middle == pytest.approx(5 / SECONDS, abs=0.005)


def test_a_click_on_the_timeline_plays_from_there(browser: Browser, report: Path) -> None:
    page = opened(browser, report, 1000)
    figure = page.locator(".timeline").first
    track = figure.locator(".row.people .track").first
    track.scroll_into_view_if_needed()
    box = track.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.wait_for_function(
        "() => { const a = document.querySelector('.timeline audio');"
        " return !a.paused && a.currentTime > 0; }"
    )
    now = page.evaluate("document.querySelector('.timeline audio').currentTime")
    assert SECONDS / 2 - 1 < now < SECONDS / 2 + 8
    head = track.locator(".head").bounding_box()
    assert head is not None
    assert (head["x"] - box["x"]) / box["width"] == pytest.approx(0.5, abs=0.2)


def test_another_timeline_silences_the_first(browser: Browser, report: Path) -> None:
    page = opened(browser, report, 1000)
    for number in (0, 1):
        track = page.locator(".timeline").nth(number).locator(".row.people .track").first
        track.scroll_into_view_if_needed()
        track.click()
        page.wait_for_function(
            f"() => !document.querySelectorAll('.timeline audio')[{number}].paused"
        )
    assert page.evaluate("document.querySelectorAll('.timeline audio')[0].paused")


def test_sound_that_cannot_be_played_is_said(browser: Browser, report: Path) -> None:
    broken = report.with_name("broken.html")
    broken.write_text(
        report.read_text(encoding="utf-8").replace("talk%20one.wav", "no%20where.wav")
    )
    page = opened(browser, broken, 1000)
    page.locator(".timeline").first.locator(".row.people .track").first.click()
    note = page.locator(".timeline .silent").first
    note.wait_for()
    assert "cannot be played: no where.wav" in (note.text_content() or "")


def test_all_details_are_on_paper(browser: Browser, report: Path) -> None:
    page = opened(browser, report, 1000)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert page.locator("audio").first.is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of summaries."""
    folder = Path(__file__).parents[1] / "examples" / "summaries"
    files = (str(folder / name) for name in ("outputs.jsonl", "references.jsonl"))
    found = score.score(*files, worst=4, baselines="lead", by="kind")
    path = tmp_path_factory.mktemp("networks") / "report.html"
    path.write_text(output_formats.render(found, "html"), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_networks_fit_and_words_do_not_overlap(
    browser: Browser, networks: Path, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(networks.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll(".network svg")].flatMap(svg => {
            const boxes = [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect());
            return boxes.slice(1).filter((b, i) =>
                Math.abs(b.top - boxes[i].top) < 5 && b.left < boxes[i].right);
        }).length"""
    )
    assert overlaps == 0
    page.close()


def test_a_button_picks_out_the_path_of_its_system(browser: Browser, networks: Path) -> None:
    page = browser.new_page()
    page.goto(networks.as_uri())
    picked = """() => {
        const figure = document.querySelector(".network");
        const grey = getComputedStyle(figure.querySelector('.arc[class="arc"]')).stroke;
        return [...figure.querySelectorAll(".arc")]
            .map((arc, i) => [i, getComputedStyle(arc).stroke])
            .filter(([i, stroke]) => stroke !== grey);
    }"""
    before = page.evaluate(picked)
    page.locator(".network").first.locator("label", has_text="careful").click()
    after = page.evaluate(picked)
    assert before
    assert after
    assert before != after
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_need_no_sideways_scroll_on_a_phone(
    browser: Browser, scheme: str, tmp_path: Path
) -> None:
    said = ["rain", "Donaudampfschifffahrtsgesellschaftskapitänsmütze" * 2, "falls"] * 9
    people: list[Any] = [{"positions": list(range(1, 28))}, {"positions": [1, 5, 9]}]
    record = {"item": "a", "words": said, "references": people}
    kept = {"positions": [n for n in range(1, 28) if n % 4]}
    outputs = [{"item": "a", "system": "s", "output": kept}]
    path = tmp_path / "words.html"
    scores = score.score(outputs, [record], metrics=["sumaccy"], show="a")
    path.write_text(output_formats.render(scores, "html"), encoding="utf-8")
    page = opened(browser, path, 390, scheme)
    wide = (
        "[...document.querySelectorAll('.words, .words li')]"
        ".filter((e) => e.scrollWidth > e.clientWidth)"
    )
    assert page.locator(".words li").count() == 29
    assert page.evaluate(f"{wide}.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shades = page.evaluate(
        "['.words .D', '.words li:not([class])']"
        ".map((s) => getComputedStyle(document.querySelector(s)).backgroundColor)"
    )
    assert shades[0] != shades[1]
