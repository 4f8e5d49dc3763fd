"""The page of a summarized speech in Chromium: it fits, plays, and goes from passage to passage."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from playwright.sync_api import Browser, Page

from earwitness.summaries.methods.page import summary_page
from earwitness.summaries.methods.passages import SpokenSummary
from helpers.summarized_speech import ENGLISH, JAPANESE, speak_tones, summarize_marked

NOW = "document.querySelector('audio').currentTime"
PAUSED = "document.querySelector('audio').paused"
FOCUSED = "document.activeElement.textContent"
SOUNDING = ".transcript a.on"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> SpokenSummary:
    return speak_tones(summarize_marked(ENGLISH), tmp_path_factory.mktemp("sound") / "talk.wav")


@pytest.fixture(scope="module")
def place(sound: SpokenSummary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    speech = summarize_marked(ENGLISH, oov_rate=0.031, perplexity=231.4)
    path = tmp_path_factory.mktemp("summary") / "summary.html"
    path.write_text(summary_page(speech, sound), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("japanese")
    speech = summarize_marked(JAPANESE)
    page = summary_page(speech, speak_tones(speech, folder / "talk.wav"), language="ja")
    (folder / "summary.html").write_text(page, encoding="utf-8")
    return folder / "summary.html"


def opened(browser: Browser, place: Path, width: int = 1_280, scheme: str = "light") -> Page:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        bypass_csp=True,  # for what the tests ask, not for the page
    )
    page.goto(place.as_uri())
    return page


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("place", 390, "light"), ("japanese", 1_280, "dark")]
)
def test_it_fits_and_everybody_can_use_it(
    browser: Browser, request: pytest.FixtureRequest, name: str, width: int, scheme: str
) -> None:
    page = opened(browser, request.getfixturevalue(name), width, scheme)
    page.keyboard.press("ArrowRight")
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    if name == "place":  # screen readers hear what is kept
        tree = page.locator("#u1").aria_snapshot()
        assert (tree.count("kept:"), tree.count("mark:")) == (3, 3)
    page.close()


def test_the_word_that_sounds_is_highlighted_and_nothing_is_fetched(
    browser: Browser, place: Path
) -> None:
    page = browser.new_page(bypass_csp=True)  # for what the test asks, not for the page
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: asked.append(one.url[:5]))
    page.goto(place.as_uri())
    page.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => {
            const word = document.querySelector(".transcript a.on");
            const now = document.querySelector("audio").currentTime;
            if (word) window.seen.push([word.textContent, now]);
          }).observe(document.querySelector(".transcript"), {
            attributes: true, attributeFilter: ["class"], subtree: true });
        }"""
    )
    page.locator(".play").click()
    expect(page.locator(".play")).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("document.querySelector('audio').ended", timeout=60_000)
    expect(page.locator(".play")).to_have_attribute("aria-label", "Play")
    seen = page.evaluate("window.seen")
    words = " ".join(ENGLISH).split()
    kept = [word.strip("*") for word in words if word.startswith("*")]
    heard = dict.fromkeys(word for word, _ in seen)
    assert ["cold", *heard] == list(dict.fromkeys(kept))  # the first one before it sounds
    # words of 0.4 s from half of a fade on; "most" starts the third passage
    assert all(0.8 <= now <= 1.22 for word, now in seen if word == "most")
    assert said == []
    assert {*asked} <= {"file:", "data:"}
    page.close()


def test_a_click_or_enter_on_a_word_plays_from_there(browser: Browser, place: Path) -> None:
    page = opened(browser, place)
    page.get_by_text("summary", exact=True).locator("visible=true").last.click()
    page.wait_for_function(f"!{PAUSED} && {NOW} > 0.1")
    expect(page.locator(".which")).to_have_text("passage 6 of 9")
    page.keyboard.press("Space")
    page.wait_for_function(PAUSED)
    page.locator(".transcript a", has_text="week").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"!{PAUSED} && {NOW} < 3")
    page.keyboard.press("Space")
    page.wait_for_function(PAUSED)
    assert page.evaluate("location.hash") == ""
    page.close()


def test_sound_that_cannot_be_played_is_said(browser: Browser, place: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    text = place.read_text(encoding="utf-8")
    path.write_text(text.replace("audio/flac;base64,", "audio/flac;base64,AAAA"), encoding="utf-8")
    page = opened(browser, path)
    page.locator(".play").click()
    expect(page.locator(".silent")).to_have_text("This browser cannot play the audio on this page.")
    page.close()


def test_a_page_without_sound_is_a_document(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "mute.html"
    path.write_text(summary_page(summarize_marked(ENGLISH, times=False)), encoding="utf-8")
    page = opened(browser, path, 390)
    expect(page.locator(".play")).to_have_count(0)
    expect(page.locator("#u3")).to_contain_text("well that is all")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert Axe().run(page).response["violations"] == []
    page.close()


def test_a_long_speech_is_followed(browser: Browser, tmp_path: Path) -> None:
    texts = [f"*so* this is *utterance* *{n}* of a long " + "and dull " * 9 for n in range(80)]
    speech = summarize_marked(texts, word=0.1)
    path = tmp_path / "long.html"
    sound = speak_tones(speech, tmp_path / "long.wav")
    path.write_text(summary_page(speech, sound), encoding="utf-8")
    page = opened(browser, path, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    slider = page.locator(".way input")
    slider.evaluate("(s) => { s.value = 20; s.dispatchEvent(new Event('input')); }")
    page.keyboard.press("ArrowRight")
    row = page.locator("li.now")
    expect(row).to_be_in_viewport()
    before = row.get_attribute("id")
    page.keyboard.press("Space")
    page.wait_for_function("(id) => document.querySelector('li.now').id !== id", arg=before)
    expect(page.locator("li.now")).to_be_in_viewport()
    page.close()


def test_keys_and_the_slider_go_from_passage_to_passage(browser: Browser, place: Path) -> None:
    page = opened(browser, place)
    page.keyboard.press("Space")
    page.wait_for_function(f"{NOW} > 0.1")
    page.keyboard.press("Space")
    page.wait_for_function(PAUSED)
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(SOUNDING)).to_have_text("cold")
    for key, word in (("ArrowRight", "wet"), ("ArrowRight", "most"), ("ArrowLeft", "wet")):
        page.keyboard.press(key)
        expect(page.locator(SOUNDING)).to_have_text(word)
    assert page.evaluate(PAUSED)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".which")).to_have_text("passage 3 of 9")
    seen = []
    for _ in range(7):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(f"{FOCUSED} || document.activeElement.tagName"))
    # words of the current passage only
    assert seen == ["BUTTON", "INPUT", "most", "of", "the", "week", "Scores of utterances"]
    page.locator(SOUNDING).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) == "we"
    expect(page.locator(SOUNDING)).to_have_text("we")  # which starts 0.03 s after its passage
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".which")).to_have_text("passage 9 of 9")
    slider = page.locator(".way input")
    slider.evaluate("(s) => { s.value = 0.5; s.dispatchEvent(new Event('input')); }")
    expect(page.locator(SOUNDING)).to_have_text("wet")
    slider.focus()
    page.keyboard.press("ArrowRight")  # its own key
    expect(page.locator(".which")).to_have_text("passage 2 of 9")
    # between two utterances no word sounds: 6 words of 0.4 s, and 0.3 s of silence
    slider.evaluate("(s) => { s.value = 2.6; s.dispatchEvent(new Event('input')); }")
    expect(page.locator(SOUNDING)).to_have_count(0)
    page.close()
