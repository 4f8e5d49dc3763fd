"""A small real study about captions, and how somebody gets through it: by keyboard, mouse, touch.

Every number that is given is written down, by the names that the page shows.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, Protocol

from browser.helpers.caption_pages import NAMES
from browser.helpers.expectations import expect
from browser.helpers.fake_server import tone
from browser.helpers.real_server import CLIPS, SYSTEMS, signed
from playwright.sync_api import Locator, Page

STUDY = """\
title: Small sounds
seed: 3
language: {language}
systems: [Kestrel, Osprey]
files: "sounds/{{item}}.wav"
captions: captions.csv
listeners: 2
blocks:
  - kind: rubric
    clips: 2
    parameters: {{synthesised: true}}
"""
PAGES = ("headphones", "examples", "1.0", "1.1", "1.2")
TRIALS = PAGES[-2:]
WROTE = ("A tone, not loud.", "Somebody whistles; somebody whistles.")
THUMB = 28  # pixels
COMMENT = "Très long ; & 😀\nsecond line"


def write_captions(folder: Path, study: Path, language: str) -> None:
    """The study with its sounds and captions."""
    (folder / "sounds").mkdir(parents=True)
    for number, clip in enumerate(CLIPS):
        path = folder / "sounds" / f"{clip}.wav"
        path.write_bytes(signed(tone(hertz=300 + 50 * number), clip))
    rows = [
        f'{clip},{system},"{place}: {text}"'
        for place, clip in enumerate(CLIPS)
        for system, text in zip(SYSTEMS, WROTE, strict=True)
    ]
    (folder / "captions.csv").write_text("\n".join(["item,system,caption", *rows, ""]))
    study.write_text(STUDY.format(language=language), encoding="utf-8")


def slider(page: Page, place: int) -> Locator:
    """The slider of a question, by its place among all."""
    return page.locator(".track input").nth(place)


def number(page: Page, place: int) -> Locator:
    """The field beside it."""
    return page.locator("input.number").nth(place)


def shown(value: float) -> str:
    """A number as English pages show it."""
    return f"{value:g}".replace("-", "−")


def point(page: Page, place: int, value: float) -> tuple[float, float]:
    """Where a slider is to be pressed for a value, in pixels of the slider."""
    found = slider(page, place)
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    low, high = (float(found.get_attribute(one) or "") for one in ("min", "max"))
    across = THUMB / 2 + (value - low) / (high - low) * (box["width"] - THUMB)
    return across, box["height"] / 2


class Rater(Protocol):
    """What somebody does on a page."""

    def __init__(self, page: Page) -> None: ...
    def go_on(self) -> None: ...
    def play(self) -> None: ...
    def give(self, place: int, value: float) -> None: ...
    def comment(self, place: int, text: str) -> None: ...
    def choose(self, option: str) -> None: ...
    def save(self) -> None: ...


class ByKeyboard:
    """Keys alone: Tab goes from slider to slider; numbers are typed, or entered from an end."""

    def __init__(self, page: Page) -> None:
        self.page, self.press, self.type = page, page.keyboard.press, page.keyboard.type

    def _tab_to(self, found: Locator) -> None:
        wanted = found.element_handle()
        for _ in range(40):
            if self.page.evaluate("(one) => one === document.activeElement", wanted):
                return
            self.press("Tab")
        raise AssertionError("Tab does not lead there")

    def go_on(self) -> None:
        self.press("Enter")

    def play(self) -> None:
        self.press("Space")

    def give(self, place: int, value: float) -> None:
        self._tab_to(slider(self.page, place))
        if value == 0:
            self.press("ArrowLeft")  # comes in at the right end
        else:
            self.type(f"{value:g}".replace(".", ",") if place % 2 else f"{value:g}")

    def comment(self, place: int, text: str) -> None:
        self._tab_to(self.page.locator(".remark textarea").nth(place))
        self.type(text)

    def choose(self, option: str) -> None:
        self._tab_to(self.page.get_by_role("button", name=option, exact=True))
        self.press("Space")

    def save(self) -> None:
        self.press("Control+Enter")


class ByMouse:
    """Clicks alone, but for comments."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, found: Locator, at: tuple[float, float] | None = None) -> None:
        """Press something, or a place on it."""
        found.click(position=None if at is None else {"x": at[0], "y": at[1]})

    def go_on(self) -> None:
        self.press(self.page.locator("main:not([inert]) button.main"))

    def play(self) -> None:
        self.press(self.page.locator("button.play"))

    def give(self, place: int, value: float) -> None:
        self.press(slider(self.page, place), point(self.page, place, value))

    def comment(self, place: int, text: str) -> None:
        self.page.locator(".remark textarea").nth(place).fill(text)

    def choose(self, option: str) -> None:
        self.press(self.page.get_by_role("button", name=option, exact=True))

    def save(self) -> None:
        self.press(self.page.locator(".save"))


class ByTouch(ByMouse):
    """Taps alone, but for comments."""

    def press(self, found: Locator, at: tuple[float, float] | None = None) -> None:
        """Press something, or a place on it."""
        found.tap(position=None if at is None else {"x": at[0], "y": at[1]})


class Judge:
    """Somebody who goes through the study, with all that they gave, by page."""

    def __init__(self, page: Page, hand: type[Rater], yes: str = "yes") -> None:
        self.page, self.hand, self.yes = page, hand(page), yes
        self.given: dict[str, dict[str, Any]] = {}
        self.turn = count()

    def walk(self, *names: str) -> None:
        """Go through these pages, which must come in this order."""
        for name in names:
            expect(self.page.locator("body")).to_have_attribute("data-name", name, timeout=60_000)
            expect(self.page.locator("main:not([inert]) button.main")).to_be_visible()
            self.given[name] = self.judge() if name in TRIALS else {}
            (self.hand.save if name in TRIALS else self.hand.go_on)()

    def judge(self) -> dict[str, Any]:
        """Hear the clip, and give all that is asked for."""
        self.hand.play()
        found: dict[str, Any] = {}
        for place in range(2 * len(NAMES)):
            letter, name = "AB"[place // len(NAMES)], NAMES[place % len(NAMES)]
            found[f"{letter}.{name}"] = value = self.next_number(name)
            self.hand.give(place, value)
        self.hand.comment(1, COMMENT)
        self.hand.choose(self.yes)
        expect(self.page.locator(".player")).to_contain_text(self.heard)
        return {**found, "B.comment": COMMENT, "synthesised": "yes"}

    @property
    def heard(self) -> str:
        """What the page says once the clip was heard."""
        return "You have heard" if self.yes == "yes" else "Vous avez écouté"

    def next_number(self, name: str) -> float:
        """Numbers over the whole of a scale, both ends among them."""
        turn = next(self.turn)
        steps = (0, 40, 17, 33, 5, 26, 11) if name in NAMES[:2] else (20, 19, 0, 15, 7, 20, 12)
        low = 1 if name in NAMES[:2] else -2
        return round(low + steps[turn % 7] / 10, 1)
