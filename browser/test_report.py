"""The HTML report in Chromium: it fits, it draws, and a click plays. Part of `make prove`."""

from __future__ import annotations

import struct
import wave
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from playwright.sync_api import Browser, Page

from earwitness import output_formats
from earwitness.report.html.page import render_html
from earwitness.report.parts import Report, Section, Table
from earwitness.scoring import compare, score

SECONDS = 40
WIDTHS = (360, 768, 1400)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


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
    page.set_default_timeout(60_000)  # a busy machine is no fault of a page
    page.goto(report.as_uri())
    return page


def test_it_fits_draws_and_fetches_nothing(browser: Browser, report: Path) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    for opens in (False, True):
        if opens:
            page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    track = page.locator(".timeline").first.locator(".row.people .track").first
    box = track.bounding_box()
    mark = track.locator("b").first.bounding_box()
    assert box is not None
    assert mark is not None
    middle = (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"]
    assert middle == pytest.approx(5 / SECONDS, abs=0.005)  # where the numbers say
    assert said == []
    page.close()


def test_a_click_on_a_timeline_plays_from_there_and_silences_others(
    browser: Browser, report: Path
) -> None:
    page = opened(browser, report, 1000)
    for number in (1, 0):
        track = page.locator(".timeline").nth(number).locator(".row.people .track").first
        track.scroll_into_view_if_needed()
        box = track.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
        page.wait_for_function(
            "(n) => { const a = document.querySelectorAll('.timeline audio')[n];"
            " return !a.paused && a.currentTime > 0; }",
            arg=number,
        )
        head = track.locator(".head").bounding_box()
        assert head is not None
        assert (head["x"] - box["x"]) / box["width"] == pytest.approx(0.5, abs=0.2)
    paused, now = page.evaluate(
        "(([first, second]) => [second.paused, first.currentTime])"
        "([...document.querySelectorAll('.timeline audio')])"
    )
    assert paused
    assert SECONDS / 2 - 1 < now < SECONDS / 2 + 8
    page.close()


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


# --- Many systems with long names ----------------------------------------------------------------


LONG_NAMES = [f"{word}_segmenter_version@{number:05}" for number, word in enumerate("abcdefghij")]
# words of headings, captions, column heads and names that lie on several lines
BROKEN_WORDS = r"""() => {
  const broken = [];
  const kinds = "h1, h2, h3, caption, figcaption, summary, nav a, th, .name, .key, .label, .axis";
  for (const one of document.querySelectorAll(kinds)) {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const isVertical = getComputedStyle(node.parentElement).writingMode !== "horizontal-tb";
      for (const word of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const boxes = [...range.getClientRects()].filter((box) => box.width && box.height);
        const lines = boxes.map((box) => (isVertical ? box.left : box.top));
        if (new Set(lines.map(Math.round)).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of ten systems with names of 25 characters."""
    outputs, references = [], []
    for item in range(14):
        times = [5.0 + item % 3, 15.0, 22.0 + item % 2, 31.0]
        kind = ["talk", "radio", "interview"][item % 3]
        record = {"item": f"item {item}", "duration": 40, "references": [{"boundaries": times}]}
        references.append({**record, "meta": {"kind": kind}})
        for rank, name in enumerate(LONG_NAMES):
            moved = [t + 0.4 * rank + 0.1 * (item % 4) for t in times]
            outputs.append(
                {"item": f"item {item}", "system": name, "output": {"boundaries": moved}}
            )
    found = compare.compare(
        outputs, references, collar=[1, 3], by="kind", worst=3, permutations=100, draws=50
    )
    path = tmp_path_factory.mktemp("many") / "report.html"
    path.write_text(output_formats.render(found, "html"), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1200])
def test_names_of_many_systems_are_whole_and_stay_visible(
    browser: Browser, many: Path, width: int
) -> None:
    page = opened(browser, many, width)
    if width == 1200:
        assert page.evaluate("document.documentElement.scrollHeight") < 12 * 800
    matrix = page.locator("table.matrix").first
    heads = matrix.locator("thead th span")
    assert [name.removeprefix("vs ") for name in heads.all_inner_texts()] == LONG_NAMES
    assert matrix.locator("tbody th").all_inner_texts() == LONG_NAMES
    overlaps = page.evaluate(
        """() => {
            const cells = document.querySelector("table.matrix").querySelectorAll("th");
            return [...cells].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length;
        }"""
    )
    assert overlaps == 0
    row = matrix.locator("tbody tr").nth(5)
    row.locator("td").last.scroll_into_view_if_needed()
    box, name = row.locator("td").last.bounding_box(), row.locator("th").bounding_box()
    assert box is not None
    assert name is not None
    assert name["x"] >= 0  # the name of the row stays while the columns scroll
    assert name["x"] + name["width"] <= box["x"] + 1
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BROKEN_WORDS) == []
    page.close()


CONTRAST: dict[str, Any] = {"runOnly": ["color-contrast"]}
# A part of a page goes if the parts before it have each kind of element in it twice: axe needs a
# minute for whole tables. A kind is a name, a class and attributes, inside such a parent.
REMOVE_ALIKE = """() => {
  const counts = new Map();
  const name = (element) => `${element.localName}.${element.getAttribute("class") ?? ""}`;
  const kind = (element) =>
    [name(element.parentElement), name(element), ...element.getAttributeNames()].join(" ");
  const isKnown = (element) =>
    [element, ...element.querySelectorAll("*")].every((one) => counts.get(kind(one)) >= 2);
  const visit = (parent) => {
    for (const child of [...parent.children]) {
      const isFirst = child === parent.firstElementChild;
      const isNeeded = isFirst || ["table", "tr"].includes(parent.localName);
      if (!isNeeded && isKnown(child)) {
        child.remove();
        continue;
      }
      counts.set(kind(child), (counts.get(kind(child)) ?? 0) + 1);
      visit(child);
    }
  };
  visit(document.body);
}"""


@pytest.mark.parametrize(("name", "scheme"), [("report", "light"), ("many", "dark")])
def test_axe_finds_nothing_serious(
    browser: Browser, request: pytest.FixtureRequest, name: str, scheme: str
) -> None:
    page = opened(browser, request.getfixturevalue(name), 390, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    page.evaluate(REMOVE_ALIKE)
    shades = set[str]()
    for now, options in ((scheme, {}), ({"light": "dark", "dark": "light"}[scheme], CONTRAST)):
        page.emulate_media(color_scheme=now)  # type: ignore[arg-type]
        shades.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        found = Axe().run(page, options=options).response["violations"]
        serious = [
            f"{one['id']}: {node['html'][:200]}"
            for one in found
            for node in one["nodes"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
    assert len(shades) == 2
    page.close()


# --- Sorting and filtering -----------------------------------------------------------------------


@pytest.fixture
def table_page(tmp_path: Path) -> Path:
    """A page with a sortable table."""
    rows = (("b", "10", "0.2 [0.1, 0.3]"), ("a10", "–", "−0.5 [−1, 0]"), ("a9", "9", "<0.0001"))
    table = Table("all items", ("item", "n", "score"), rows, sortable=True)
    path = tmp_path / "table.html"
    sections = (Section("Items", (table,)),)
    path.write_text(render_html(Report("R", "", (), sections, ())), encoding="utf-8")
    return path


def test_tables_are_sorted_by_click_and_by_key_and_filtered(
    browser: Browser, table_page: Path
) -> None:
    page = opened(browser, table_page, 800)
    names = page.locator("tbody tr th")
    head = page.get_by_role("columnheader", name="n", exact=True)
    expect(names).to_have_text(["b", "a10", "a9"])
    head.get_by_role("button").click()
    expect(names).to_have_text(["a9", "b", "a10"])  # by number, missing values last
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").press("Enter")
    expect(names).to_have_text(["b", "a9", "a10"])
    expect(head).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="score").press("Space")
    expect(names).to_have_text(["a10", "a9", "b"])  # -0.5, below 0.0001, 0.2
    expect(page.locator("th[aria-sort]")).to_have_count(1)
    page.get_by_role("button", name="item").click()
    expect(names).to_have_text(["a9", "a10", "b"])
    count = page.locator(".filter output")
    expect(count).to_have_text("3 of 3 rows")
    page.get_by_label("Filter rows").fill("A1 -0.5")
    expect(count).to_have_text("1 of 3 rows")
    expect(page.locator("tbody tr:visible th")).to_have_text(["a10"])
    page.get_by_label("Filter rows").fill("")
    expect(page.locator("tbody tr:visible")).to_have_count(3)
    page.close()


def test_without_scripts_a_sortable_table_is_a_plain_table(
    browser: Browser, table_page: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(table_page.as_uri())
    assert page.locator("button, input").count() == 0
    assert page.locator("tbody tr").count() == 3
    context.close()


# --- Word networks -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of summaries."""
    folder = Path(__file__).parents[1] / "examples" / "summaries"
    files = (str(folder / name) for name in ("outputs.jsonl", "references.jsonl"))
    found = score.score(*files, worst=4, baselines="lead", by="kind")
    path = tmp_path_factory.mktemp("networks") / "report.html"
    path.write_text(output_formats.render(found, "html"), encoding="utf-8")
    return path


def test_networks_fit_and_a_button_picks_out_the_path_of_its_system(
    browser: Browser, networks: Path
) -> None:
    page = browser.new_page()
    page.goto(networks.as_uri())
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        overlaps = page.evaluate(
            """() => [...document.querySelectorAll(".network svg")].flatMap(svg => {
                const boxes = [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect());
                return boxes.slice(1).filter((b, i) =>
                    Math.abs(b.top - boxes[i].top) < 5 && b.left < boxes[i].right);
            }).length"""
        )
        assert overlaps == 0
    picked = """() => {
        const figure = document.querySelector(".network");
        const grey = getComputedStyle(figure.querySelector('.arc[class="arc"]')).stroke;
        return [...figure.querySelectorAll(".arc")]
            .map((arc, i) => [i, getComputedStyle(arc).stroke])
            .filter(([i, stroke]) => stroke !== grey);
    }"""
    before = page.evaluate(picked)
    page.locator(".network").first.locator("input.pick:not(:checked) + label").first.click()
    after = page.evaluate(picked)
    assert before
    assert after
    assert before != after
    page.close()


def test_words_need_no_sideways_scroll_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    said = ["rain", "Donaudampfschifffahrtsgesellschaftskapitänsmütze" * 2, "falls"] * 9
    people: list[Any] = [{"positions": list(range(1, 28))}, {"positions": [1, 5, 9]}]
    record = {"item": "a", "words": said, "references": people}
    kept = {"positions": [n for n in range(1, 28) if n % 4]}
    outputs = [{"item": "a", "system": "s", "output": kept}]
    path = tmp_path / "words.html"
    scores = score.score(outputs, [record], metrics=["sumaccy"], show="a")
    path.write_text(output_formats.render(scores, "html"), encoding="utf-8")
    page = opened(browser, path, 390)
    wide = (
        "[...document.querySelectorAll('.words, .words li')]"
        ".filter((e) => e.scrollWidth > e.clientWidth)"
    )
    assert page.locator(".words li").count() == 29
    assert page.evaluate(f"{wide}.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        shades = page.evaluate(
            "['.words .D', '.words li:not([class])']"
            ".map((s) => getComputedStyle(document.querySelector(s)).backgroundColor)"
        )
        assert shades[0] != shades[1]
    page.close()
