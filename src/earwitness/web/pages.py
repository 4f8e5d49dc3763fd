"""HTML pages from templates, and static scripts and styles."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from earwitness.studies.trials import block_kind
from earwitness.web.site import Site

# --- Static scripts and styles -------------------------------------------------------------------
# Their addresses have the digest of all of them in it, so that browsers may keep them forever.


STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
CACHE_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Assets:
    """Files by their path below the folder, compressed, and the digest of all of them."""

    files: Mapping[str, bytes]
    digest: str


@cache
def load_assets() -> Assets:
    """All files that browsers are given."""
    paths = sorted(path for path in STATIC_FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    files = {path.relative_to(STATIC_FOLDER).as_posix(): path.read_bytes() for path in paths}
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    compressed = {name: gzip.compress(content, mtime=0) for name, content in files.items()}
    return Assets(compressed, digest.hexdigest()[:16])


async def send_asset(request: Request) -> Response:
    """A script or a style; under an old digest there is nothing."""
    all_assets, name = load_assets(), str(request.path_params["name"])
    if request.path_params["digest"] != all_assets.digest or name not in all_assets.files:
        raise HTTPException(404)
    content, headers = (
        all_assets.files[name],
        {"Cache-Control": CACHE_FOREVER, "Vary": "Accept-Encoding"},
    )
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type=MEDIA_TYPES[Path(name).suffix])


# --- Pages from templates ------------------------------------------------------------------------


TEMPLATE_FOLDER = Path(__file__).parent / "templates"


@cache
def _load_template(name: str) -> Template:
    loader = FileSystemLoader(TEMPLATE_FOLDER)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)


def listener_page(site: Site, token: str) -> str:
    """The one page of a listener; ``listen.js`` shows all others in it.

    The scripts that show the trials of the study are loaded with it, before a trial needs them.
    """
    renderers = dict.fromkeys(block_kind(block).renderer for block in site.design.study.blocks)
    context = {
        "token": token,
        "workbook": not site.no_workbooks,
        "renderers": [renderer for renderer in renderers if renderer],
    }
    return _load_template("shell.html").render(_site_context(site) | context)


def workbook_page(site: Site, token: str, more: Mapping[str, object]) -> str:
    """The page where a rater gets their workbook and sends it back."""
    context = {"own": f"{site.settings.root}/l/{token}", **more}
    return _load_template("workbook.html").render(_site_context(site) | context)


def notice_page(site: Site, name: str) -> str:
    """A page that says one thing, out of the words of the language."""
    return _load_template("notice.html").render(
        _site_context(site) | {"text": site.words.page(name)}
    )


def invitation_page(site: Site, action: str) -> str:
    """The page of the open link: a button that asks for a place, without any script."""
    return _load_template("join.html").render(_site_context(site) | {"action": action})


def _site_context(site: Site) -> dict[str, object]:
    study, root = site.design.study, site.settings.root
    return {
        "title": study.title,
        "language": study.language,
        "words": dict(site.words.web),
        "root": root,
        "static": f"{root}/static/{load_assets().digest}",
    }
