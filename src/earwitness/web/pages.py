"""HTML pages from templates, and static scripts and styles."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from earwitness.studies.pages import HEARING_PAGE
from earwitness.studies.trials import KINDS, study_kinds
from earwitness.web.site import Site

# --- Static scripts and styles -------------------------------------------------------------------
# Addresses contain a digest of all files, so that browsers can cache them forever.


STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
CACHE_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Assets:
    """Compressed files by path below the static folder, and the digest of all files."""

    files: Mapping[str, bytes]
    digest: str


@cache
def load_assets() -> Assets:
    """Load all static files, and the renderers of trial kinds of plug-ins."""
    paths = sorted(path for path in STATIC_FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    files = {path.relative_to(STATIC_FOLDER).as_posix(): path.read_bytes() for path in paths}
    for kind in KINDS.values():
        if isinstance(kind.renderer, Path):
            own = [kind.renderer, kind.renderer.with_suffix(".css")]
            files |= {
                f"trials/{kind.renderer_name()}{path.suffix}": path.read_bytes()
                for path in own
                if path.is_file()
            }
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    compressed = {name: gzip.compress(content, mtime=0) for name, content in files.items()}
    return Assets(compressed, digest.hexdigest()[:16])


async def send_asset(request: Request) -> Response:
    """Send a script or style sheet; 404 for an outdated digest."""
    all_assets, name = load_assets(), str(request.path_params["name"])
    if request.path_params["digest"] != all_assets.digest or name not in all_assets.files:
        raise HTTPException(404)
    content = all_assets.files[name]
    headers = {"Cache-Control": CACHE_FOREVER, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type=MEDIA_TYPES[Path(name).suffix])


async def send_no_icon(_request: Request) -> Response:
    """Reply to automatic favicon requests with no content."""
    return Response(status_code=204)


# --- Pages from templates ------------------------------------------------------------------------


TEMPLATE_FOLDER = Path(__file__).parent / "templates"


@cache
def load_template(name: str) -> Template:
    """Return a template, which escapes everything that is inserted."""
    loader = FileSystemLoader(TEMPLATE_FOLDER)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)


def listener_page(site: Site, token: str, preview: Mapping[str, str] | None = None) -> str:
    """Return the HTML shell of a listener, in which ``listen.js`` shows all pages.

    It loads the scripts and style sheets of all kinds of trials of the study in advance. A
    ``preview`` has links to other pages.
    """
    names = dict.fromkeys(kind.renderer_name() for kind in study_kinds(site.study))
    hearing = [HEARING_PAGE] if site.study.hearing else []
    renderers = [*hearing, *(name for name in names if name)]
    paths = [f"trials/{name}" for name in renderers]
    style_sheets, scripts = ([f"{path}.{end}" for path in paths] for end in ("css", "js"))
    if site.study.recordings:
        style_sheets.append("navigator/navigator.css")
        scripts.append("full_recording.js")
    context = {
        "token": token,
        "workbook": not (site.no_workbooks or preview),
        "preview": preview,
        "scripts": scripts,
        "style_sheets": [path for path in style_sheets if path in load_assets().files],
    }
    return load_template("shell.html").render(_site_context(site) | context)


def preview_page(site: Site, listener: int, rows: Sequence[Mapping[str, object]]) -> str:
    """Return the list of all pages of a listener, for a preview."""
    context = {"listener": listener, "listeners": sorted(site.numbers), "rows": rows}
    return load_template("preview.html").render(_site_context(site) | context)


def workbook_page(site: Site, token: str, more: Mapping[str, object]) -> str:
    """Return the page where a rater downloads and uploads their workbook."""
    context = {"own": f"{site.settings.root_path}/l/{token}", **more}
    return load_template("workbook.html").render(_site_context(site) | context)


def notice_page(site: Site, name: str, **values: object) -> str:
    """Return a page with a single text of the study's language, with its placeholders filled in."""
    text = site.words.page(name, **values)
    return load_template("notice.html").render(_site_context(site) | {"text": text})


def invitation_page(site: Site, action: str) -> str:
    """Return the page of the open link: a button that claims a place, without scripts."""
    return load_template("join.html").render(_site_context(site) | {"action": action})


def _site_context(site: Site) -> dict[str, object]:
    study, root = site.study, site.settings.root_path
    return {
        "title": study.title,
        "language": study.language,
        "words": dict(site.words.web),
        "root": root,
        "static": f"{root}/static/{load_assets().digest}",
    }
