"""Scripts and styles, read once.

Their addresses have the digest of all of them in it, so that browsers may keep them forever.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Assets:
    """Files by their path below the folder, compressed, and the digest of all of them."""

    files: Mapping[str, bytes]
    digest: str


@cache
def assets() -> Assets:
    """All files that browsers are given."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in TYPES)
    files = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}
    whole = hashlib.sha256()
    for name, content in files.items():
        whole.update(f"{name} {len(content)}\n".encode() + content)
    packed = {name: gzip.compress(content, mtime=0) for name, content in files.items()}
    return Assets(packed, whole.hexdigest()[:16])


async def static(request: Request) -> Response:
    """A script or a style; under an old digest there is nothing."""
    known, name = assets(), str(request.path_params["name"])
    if request.path_params["digest"] != known.digest or name not in known.files:
        raise HTTPException(404)
    content, headers = known.files[name], {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type=TYPES[Path(name).suffix])
