"""What browsers are given: small, without markup in strings, with words that there are."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import earwitness
from earwitness.studies.pages import HEARING_PAGE
from earwitness.studies.trials import KINDS
from earwitness.studies.wording import wording

WEB = Path(earwitness.__file__).parent / "web"
STATIC = sorted(
    path for path in (WEB / "static").rglob("*") if path.suffix in (".js", ".css", ".svg")
)
# loaded only to browse a recording
RECORDING = [
    *(WEB / "static" / "navigator").iterdir(),
    *(WEB / "static" / name for name in ("full_recording.js", "browse.js", "browse.css")),
]
# loaded only to place skims on a plane
PLANE = [path for path in STATIC if path.name.startswith("plane")]
SCRIPTS = [path for path in STATIC if path.suffix == ".js"]
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # a name, which no browser loads
TEMPLATES = {
    path.name: path.read_text(encoding="utf-8") for path in (WEB / "templates").glob("*.html")
}
SHELL = TEMPLATES["shell.html"]
# by their name
BROWSE_ONLY = (  # texts of the navigator that no study shows
    "(display|view|pooling|frequency|palette|gain|span|reset|notes|mono|channels|files|speech"
    "|picture_top)(_|$)"
)
STATES = {"saved", "not_saved", "sending", "waiting", "play", "playing", "heard", "play_again"}


def test_all_that_is_loaded_before_a_sound_is_small() -> None:
    words = str(dict(wording("fr").web))
    apart = {*RECORDING, *PLANE, WEB / "static" / "workbook.js"}
    shell = len(gzip.compress((SHELL + words).encode()))
    assert _packed([path for path in STATIC if path not in apart]) + shell < 100_000
    assert _packed(RECORDING) < 50_000
    assert _packed(PLANE) < 20_000


def _packed(paths: list[Path]) -> int:
    """Bytes of files when each is compressed."""
    return sum(len(gzip.compress(path.read_bytes())) for path in paths)


def test_no_text_becomes_markup_or_script() -> None:
    for path in SCRIPTS:
        code = path.read_text(encoding="utf-8").replace(SVG_NAMESPACE, "")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", code)
        assert not re.search(r"https?://|new Function|\.style\s*=", code), path.name
    for page in TEMPLATES.values():
        assert not re.search(r"<style|\sstyle=|\son\w+=|https?://", page)
    assert re.findall(r"<script(?! type=\"application/json\")([^>]*)>", SHELL) == [
        ' type="module" src="{{ static }}/listen.js"',
        ' type="module" src="{{ static }}/{{ path }}"',
    ]


def test_every_module_that_is_imported_is_there_and_every_one_is_used() -> None:
    found = {WEB / "static" / name for name in ("listen.js", "workbook.js", "browse.js")}
    renderers = {kind.renderer_name() for kind in KINDS.values() if kind.renderer} | {HEARING_PAGE}
    found |= {WEB / "static" / "trials" / f"{renderer}.js" for renderer in renderers}
    for path in SCRIPTS:
        code = path.read_text(encoding="utf-8")
        for name in re.findall(r'^import .* from "(\.[^"]+)"|import\("(\.[^"]+)"\)', code, re.M):
            found.add((path.parent / "".join(name)).resolve())
    assert found == set(SCRIPTS)


def test_every_word_is_known_and_every_known_word_is_used() -> None:
    pages = "".join(TEMPLATES.values())
    code = pages + "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    said = set(re.findall(r'\bsay\("(\w+)"', code)) | set(re.findall(r"words\.(\w+)", pages))
    known = set(wording("en").web)
    assert said <= known
    spelt = set(re.findall(r'"(\w+)"', code)) | {f"device_{one}" for one in _steps()}
    shut = ("full", "crowded", "started", "lapsed")
    spelt |= {*shut, *(f"{one}_told" for one in shut)}
    spelt |= {f"{one}_told" for one in ("unreachable", "not_here", "failed")}
    spelt |= {f"plane_{one}" for one in ("explore", "hours", "place")}
    spelt |= {f"recording_{one}" for one in (*_navigator_words(), "overlay", "days", "months")}
    assert known - said - spelt == set()
    browsing = {one for one in _navigator_words() if re.match(BROWSE_ONLY, one)}
    unknown = {f"recording_{one}" for one in {*_navigator_words()} - browsing} - known
    assert {one for one in unknown if not re.search(r"_keys$", one)} == set()
    assert known >= STATES


def _navigator_words() -> list[str]:
    """Names of the texts of the navigator, and of its keys and gestures."""
    code = (WEB / "static" / "navigator" / "wording.js").read_text(encoding="utf-8")
    keys = re.findall(r'"((?:key|touch)_\w+)"', code)
    return [*re.findall(r"^  (\w+):", code, re.M), *keys, *(f"{one}_keys" for one in keys)]


def _steps() -> list[str]:
    return ["level", "sides", "huggins", "antiphase"]
