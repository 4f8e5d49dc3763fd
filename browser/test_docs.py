"""The documentation website in Chromium: complete, searchable, and without external requests."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser.helpers.expectations import expect
from playwright.sync_api import Browser, Page, Response

ROOT = Path(__file__).parents[1]
WIDTHS = {"phone": 390, "desktop": 1280}
PAGES = ("index.html", "api.html", "cli.html", "cli/score.html", "statistics.html")


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the website once, in strict mode, and serve it; its address."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=quiet, check=False)
    assert done.returncode == 0, done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Visit:
    """A page of the website, with every address that it requested and every failure."""

    def __init__(self, browser: Browser, site: str, width: int) -> None:
        self.site, self.requested, self.failed = site, list[str](), list[str]()
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900})
        self.page.set_default_timeout(60_000)
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("requestfailed", lambda request: self.failed.append(request.url))
        self.page.on("response", self._check)
        self.page.on("pageerror", lambda error: self.failed.append(str(error)))

    def _check(self, response: Response) -> None:
        if not response.ok:
            self.failed.append(response.url)

    def open(self, name: str) -> None:
        """Open a page and wait until nothing more is loaded."""
        self.page.goto(f"{self.site}/{name}", wait_until="networkidle")

    @property
    def external(self) -> list[str]:
        """Addresses of other servers."""
        own = (self.site, "data:", "blob:")
        return [one for one in self.requested if not one.startswith(own)]


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_pages_load_without_external_requests_and_fit(
    browser: Browser, site: str, name: str, width: int
) -> None:
    visit = Visit(browser, site, width)
    visit.open(name)
    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    assert (visit.external, visit.failed) == ([], [])
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.close()


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_search_finds_pages_without_external_requests(
    browser: Browser, site: str, width: int
) -> None:
    visit = Visit(browser, site, width)
    visit.open("index.html")
    if width < 1000:
        visit.page.locator("label.md-header__button[for=__search]").click()
    visit.page.locator("input.md-search__input").click()
    visit.page.keyboard.type("bootstrap", delay=20)
    results = visit.page.locator(".md-search-result__item")
    expect(results.first).to_be_visible()
    expect(results.first).to_contain_text("bootstrap", ignore_case=True)
    assert (visit.external, visit.failed) == ([], [])
    visit.page.close()


def test_functions_have_signatures_and_parameters(browser: Browser, site: str) -> None:
    visit = Visit(browser, site, WIDTHS["desktop"])
    visit.open("api.html")
    names = visit.page.locator("h3.doc-heading").all_inner_texts()
    assert any("score" in name for name in names)
    assert any("study_analyse" in name for name in names)
    assert visit.page.locator("article").get_by_text(":::").count() == 0
    visit.page.close()
