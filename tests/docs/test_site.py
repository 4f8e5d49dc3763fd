"""The website and the README: complete navigation, current figures, small pictures."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

import figures
from notebooks import notebooks
from refresh import ROOT

DOCS = ROOT / "docs"
MAX_README_LINES, MAX_PAGE_LINES, MAX_PICTURE_BYTES = 150, 450, 150_000
PAGES_FROM_ROOT = {"contributing.md": "../CONTRIBUTING.md", "changelog.md": "../CHANGELOG.md"}
SERVED = re.compile(r"http://127\.0\.0\.1:\d+")


def pages() -> set[str]:
    """Return the paths of all pages in docs."""
    return {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


def nav_pages(nav: Any) -> Iterator[str]:
    """Yield the pages in the navigation of the website."""
    if isinstance(nav, str):
        yield nav
    for one in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else ():
        yield from nav_pages(one)


def links(name: str) -> set[str]:
    """Return the targets of all links of a page."""
    return set(re.findall(r"(?<!!)\[[^\]]+\]\(([^)#]+)", (DOCS / name).read_text(encoding="utf-8")))


def test_every_page_is_in_the_navigation_once() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    found = list(nav_pages(config["nav"]))
    assert len(found) == len(set(found))
    generated = {f"notebooks/{path.stem}.md" for path in notebooks()}
    assert set(found) == pages() | set(PAGES_FROM_ROOT) | generated


def test_titles_in_the_navigation_are_the_headings_of_the_pages() -> None:
    """The website takes the heading of a page as its title unless the navigation has one."""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    entries = [line for line in nav.splitlines() if ".md" in line]
    assert [line for line in entries if not re.search(r"- [\w./-]+\.md$", line)] == []
    for path in [*DOCS.rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        assert path.read_text(encoding="utf-8").startswith("# "), path.name


def test_every_decision_is_listed() -> None:
    decisions = {name for name in pages() if name.startswith("decisions/0")}
    assert {f"decisions/{name}" for name in links("decisions/index.md")} == decisions


def test_all_extras_are_on_the_page_about_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (DOCS / "installation.md").read_text(encoding="utf-8")
    table = page.partition("## Extras")[2].partition("##")[0]
    rows = [row.split("|")[1] for row in re.findall(r"^\| `.+", table, re.M)]
    assert {*re.findall(r"`(\w+)`", " ".join(rows))} == {*project["optional-dependencies"]}


def test_pages_of_commands_and_metrics_are_short() -> None:
    generated = [*(DOCS / "cli").glob("*.md"), *(DOCS / "metrics").glob("*.md")]
    assert generated
    for path in generated:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_PAGE_LINES, path.name


def test_the_website_loads_nothing_from_other_servers() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert config["theme"]["font"] is False
    assert config["strict"] is True
    assert not {"extra_javascript", "repo_url"} & set(config)
    assert [one for one in config["plugins"] if "offline" in one] == []
    assert "url(" not in (DOCS / "site.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_are_up_to_date(name: str) -> None:
    written = (figures.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert written == figures.FIGURES[name]().svg(), "run make docs"


def test_pictures_are_small_and_used() -> None:
    texts = [ROOT / "README.md", *DOCS.rglob("*.md"), ROOT / "mkdocs.yml"]
    used = "\n".join(path.read_text(encoding="utf-8") for path in texts)
    for path in figures.IMAGES.iterdir():
        assert path.stat().st_size < MAX_PICTURE_BYTES, path.name
        assert f"images/{path.name}" in used, path.name


def test_the_readme_is_short_and_has_pictures_with_descriptions() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < MAX_README_LINES
    images = re.findall(r'<img src="([^"]+)" width="\d+" alt="([^"]{20,})">', text)
    assert [name for name, _ in images] == ["docs/images/report.png", "docs/images/listener.png"]


def test_the_readme_example_of_a_study_is_served(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(one for one in re.findall(r"```text\n(.*?)```", text, re.S) if "serve" in one)
    *prepare, serve = [
        shlex.split(line.replace("out/listen", str(tmp_path / "listen")))
        for line in block.splitlines()
    ]
    programs = {"python": [sys.executable], "earwitness": [sys.executable, "-m", "earwitness"]}
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    for name, *arguments in prepare:
        command = [*programs[name], *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
    path = re.search(r"http://127\.0\.0\.1:8000(/l/\S+)", done.stdout)
    assert path
    log = tmp_path / "log.txt"
    with log.open("wb") as file:
        command = [*programs[serve[0]], *serve[1:], "--port", "0"]
        server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=file, stderr=file)
        try:
            while not (base := SERVED.search(log.read_text())):
                assert server.poll() is None, log.read_text()
                time.sleep(0.05)
            with urlopen(f"{base[0]}{path[1]}") as reply:
                assert reply.status == 200
        finally:
            server.terminate()
            server.wait()
