"""Pages that the server renders: the shell in which a study runs, and plain notices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from earwitness.web.assets import assets
from earwitness.web.site import Site

FOLDER = Path(__file__).parent / "templates"


@cache
def _template(name: str) -> Template:
    loader = FileSystemLoader(FOLDER)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)


def shell(site: Site, token: str) -> str:
    """The one page of a listener; ``listen.js`` shows all others in it."""
    more = {"token": token, "workbook": not site.no_workbooks}
    return _template("shell.html").render(_about(site) | more)


def workbook_page(site: Site, token: str, more: Mapping[str, object]) -> str:
    """The page where a rater gets their workbook and sends it back."""
    own = {"own": f"{site.settings.root}/l/{token}", **more}
    return _template("workbook.html").render(_about(site) | own)


def notice(site: Site, name: str) -> str:
    """A page that says one thing, out of the words of the language."""
    return _template("notice.html").render(_about(site) | {"text": site.words.page(name)})


def invitation(site: Site, action: str) -> str:
    """The page of the open link: a button that asks for a place, without any script."""
    return _template("join.html").render(_about(site) | {"action": action})


def _about(site: Site) -> dict[str, object]:
    study, root = site.design.study, site.settings.root
    return {
        "title": study.title,
        "language": study.language,
        "words": dict(site.words.web),
        "root": root,
        "static": f"{root}/static/{assets().digest}",
    }
