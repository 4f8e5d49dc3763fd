"""How pages with captions look in Chromium, on any screen; what comes before them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.caption_actions import give, hear, save, trial
from browser.helpers.caption_raters import number, slider
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import DESKTOP, PHONE, at, opened, until
from playwright.sync_api import Browser

from earwitness.studies.trials.base import LETTERS
from helpers.samples import FULL


def test_examples_come_first_and_space_scrolls_there(browser: Browser) -> None:
    with served(FakeServer(captions.whole())) as fake, opened(browser, fake, **PHONE) as page:
        at(page, "Please wear headphones")
        page.keyboard.press("Enter")
        at(page, "Examples of rated captions")
        body = page.locator("main")
        for text in (
            "Precision",
            "everything it mentions is heard",
            "−0.8",
            "Total",
            "1.35",
            "a train",
        ):
            expect(body).to_contain_text(text)
        total = "Total = (Precision + Recall)/2 + Fluency + Conciseness + Irrelevance"
        expect(page.locator(".formula")).to_have_text(total)
        page.keyboard.press("Space")
        until(page, "scrollY > 100")
        assert [one["page"] for one in fake.answers] == ["headphones"]
        page.keyboard.press("Enter")
        at(page, "Instructions")


def test_sounds_of_examples_can_be_heard_one_at_a_time(browser: Browser) -> None:
    view = captions.told(sound=True)[1]
    twice = view | {"examples": [*view["examples"], view["examples"][0] | {"sound": 1}]}
    twice["sounds"] = [{"address": f"/l/tok/sound/examples/{n}", "label": ""} for n in (0, 1)]
    fake = FakeServer([twice, small.end()])
    fake.sound = tone(20)
    with served(fake), opened(browser, fake) as page:
        expect(page.locator("button.play")).to_have_count(2)
        first, second = page.locator("button.play").all()
        for button, other in ((first, second), (second, first), (first, second)):
            expect(page.locator(".time").last).to_contain_text("/ 0:20")
            button.click()
            expect(button).to_have_attribute("data-state", "pause")
            expect(other).to_have_attribute("data-state", "play")
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"examples": {}}


def test_captions_stand_side_by_side_where_there_is_room(browser: Browser) -> None:
    for kind, beside in ((DESKTOP, True), (PHONE, False)):
        with served(trial()) as fake, opened(browser, fake, **kind) as page:
            expect(page.locator(".judged")).to_have_count(2)
            boxes = [one.bounding_box() for one in page.locator(".judged").all()]
            assert boxes[0] is not None
            assert boxes[1] is not None
            assert (boxes[0]["y"] == boxes[1]["y"]) is beside
            assert (boxes[0]["x"] < boxes[1]["x"]) is beside
            rows = [slider(page, place).bounding_box() for place in (4, 9)]
            assert (rows[0]["y"] == rows[1]["y"]) is beside  # type: ignore[index]


def test_the_player_stays_in_sight(browser: Browser) -> None:
    for kind in (DESKTOP, PHONE):
        with served(trial()) as fake, opened(browser, fake, **kind) as page:
            page.locator(".save").scroll_into_view_if_needed()
            expect(page.locator("button.play")).to_be_in_viewport()
            slider(page, 0).focus()
            top = page.locator(".player").bounding_box()
            focused = slider(page, 0).bounding_box()
            assert top is not None
            assert focused is not None
            assert focused["y"] >= top["y"] + top["height"]


def test_as_many_and_as_long_captions_as_there_can_be(browser: Browser) -> None:
    many = [f"{letter} {'very long words ' * 60}" for letter in LETTERS]
    with served(trial(captions=many)) as fake, opened(browser, fake, **PHONE) as page:
        expect(page.locator(".judged")).to_have_count(len(LETTERS))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        save(page)
        expect(page.locator(".missing li")).to_have_count(5 * len(LETTERS) + 1)
        if not FULL:
            return  # all are answered in ``make prove``, one after the other
        give(page, *range(5 * len(LETTERS)))
        hear(page)
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert len(fake.values()["1.1"]) == 5 * len(LETTERS)


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [*product([1200, 390], ["light", "dark"], ["en", "fr"])]
    if FULL
    else [(1200, "light", "en"), (390, "dark", "fr")],
)
def test_pages_look_as_they_should(
    browser: Browser, tmp_path: Path, width: int, scheme: str, language: str
) -> None:
    kind = {**(DESKTOP if width == 1200 else PHONE), "color_scheme": scheme}
    with served(trial(language=language)) as fake, opened(browser, fake, **kind) as page:
        expect(page.locator(".save")).to_be_visible()
        give(page, 0, 2)
        drawn = [tmp_path / f"{name}.png" for name in ("before", "after")]
        page.screenshot(path=drawn[0])
        heights = [page.evaluate("document.documentElement.scrollHeight")]
        number(page, 3).fill("7")
        slider(page, 7).press("ArrowLeft")
        heights.append(page.evaluate("document.documentElement.scrollHeight"))
        page.screenshot(path=drawn[1])
        assert heights[0] == heights[1]  # nothing moves when something is told
        assert drawn[0].read_bytes() != drawn[1].read_bytes()
