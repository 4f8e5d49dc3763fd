"""How a listener gets through a real study: by keyboard or by touch, whatever the language.

What is pressed is written down, page by page, as the listener sees it: by the words on the page,
not by what the server says.
"""

from __future__ import annotations

from typing import Any, Protocol

from browser.helpers.expectations import expect
from browser.helpers.real_server import TRIALS
from playwright.sync_api import Locator, Page

from earwitness.studies.wording import wording

ORDER = (3, 1, 5, 2, 4, 4, 1, 5, 5, 2, 3)  # ratings that are pressed, again and again
ODD = '& + % " < 😀 é\u2028 </script>'
READY = "main:not([inert])"
P835 = ("SIG", "BAK", "OVRL")


class Hand(Protocol):
    """What a listener does on a page."""

    def __init__(self, page: Page) -> None: ...
    def consent(self) -> dict[str, Any]: ...
    def form(self) -> dict[str, Any]: ...
    def go_on(self) -> None: ...
    def play(self) -> None: ...
    def choose(self, value: int) -> None: ...


class Keyboard:
    """Keys alone; the mouse is never touched."""

    def __init__(self, page: Page) -> None:
        self.press = page.keyboard.press
        self.type = page.keyboard.type

    def _all(self, *keys: str) -> None:
        for key in keys:
            self.press(key)

    def consent(self) -> dict[str, Any]:
        self._all("Tab", "Space", "Tab", "Enter")
        return {"agree": True}

    def form(self) -> dict[str, Any]:
        self.press("Tab")
        self.type("31")
        self._all("Tab", "Space", "Tab")
        self.type(ODD)
        self._all("Tab", "Enter")
        return {"age": 31, "worn": "A", "more": ODD}

    def go_on(self) -> None:
        self.press("Enter")

    def play(self) -> None:
        self.press("Space")

    def choose(self, value: int) -> None:
        self._all(str(value), "Enter")


class Finger:
    """Taps alone."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, what: str | Locator) -> None:
        """Press something."""
        (self.page.locator(what) if isinstance(what, str) else what).tap()

    def consent(self) -> dict[str, Any]:
        self.press("label.check")
        self.go_on()
        return {"agree": True}

    def form(self) -> dict[str, Any]:
        self.page.locator("input[inputmode=decimal]").fill("47,5")
        self.press(self.page.locator("label:has(input[type=radio])").last)
        self.go_on()
        return {"age": 47.5, "worn": "B"}

    def go_on(self) -> None:
        self.press(f"{READY} button[data-main]")

    def play(self) -> None:
        self.press("button.play")

    def choose(self, value: int) -> None:
        self.press(f'label:has(input[value="{value}"])')
        self.press("button.wide")


class Mouse(Finger):
    """Clicks alone."""

    def press(self, what: str | Locator) -> None:
        """Press something."""
        (self.page.locator(what) if isinstance(what, str) else what).click()


class Listener:
    """Somebody at a page, with all that they pressed, by page."""

    def __init__(self, page: Page, hand: type[Hand] = Keyboard, language: str = "en") -> None:
        self.page, self.hand = page, hand(page)
        words = wording(language)
        self.scales = {words.prompt(scale): scale for scale in P835}
        self.pressed: dict[str, dict[str, Any]] = {}
        self.count = 0

    def walk(self, *names: str) -> None:
        """Go through these pages, which must come in this order."""
        for name in names:
            self.stand(name)
            self.pressed[name] = self._do(name)

    def stand(self, name: str) -> None:
        """Wait for a page, until it can be used."""
        expect(self.page.locator("body")).to_have_attribute("data-name", name, timeout=60_000)
        awaited = self.page.locator(".steps") if name in TRIALS else self._main
        expect(awaited).to_be_visible()  # nothing of this while an answer is on its way

    def rate(self, *, last: bool = True) -> dict[str, int]:
        """Answer all questions of a trial from the one that is open, or all but the last."""
        found: dict[str, int] = {}
        for place in range(self._open(), len(P835) if last else len(P835) - 1):
            expect(self.page.locator(".steps i").nth(place)).to_have_class("now")
            value = ORDER[self.count % len(ORDER)]
            self.count += 1
            found[self.scales[self.page.locator(".prompt").inner_text()]] = value
            self.hear()
            self.hand.choose(value)
            expect(self.page.locator(f".steps i:nth-child({place + 1}).now")).to_have_count(0)
        return found

    def hear(self) -> None:
        """Play the sound to its end, which opens the choices, unless that was done elsewhere."""
        expect(self.page.locator(f"{READY} button.play")).to_be_visible()
        if self.page.locator("button.play[data-state=heard]").count() == 0:
            expect(self.page.locator(f"{READY} button.play[data-main]")).to_be_enabled()
            self.hand.play()
        expect(self.page.get_by_role("radio").first).to_be_enabled()

    @property
    def _main(self) -> Locator:
        return self.page.locator(f"{READY} [data-main]").first

    def _open(self) -> int:
        return self.page.locator(".steps i.done").count()

    def _do(self, name: str) -> dict[str, Any]:
        if name == "consent":
            return self.hand.consent()
        if name == "before":
            return self.hand.form()
        if name in TRIALS:
            return self.rate()
        expect(self._main).to_be_enabled()
        self.hand.go_on()
        return {}
