"""What every response carries, and how large a request may be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earwitness.web.errors import Refusal

LARGEST = 256 * 1024  # bytes of a request
PATIENCE = 30.0  # seconds for all of it
UPLOAD, UPLOADING = 20 * 1024 * 1024, 120.0  # the same for files
DEEPEST = 20  # lists and objects within each other
DIGITS = 300  # of a whole number: more are no number of any database
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "media-src": "'self' blob:",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
DENIED = ("camera", "microphone", "geolocation", "payment", "usb", "midi", "display-capture")
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": ", ".join(f"{name}=()" for name in DENIED),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
UNKEPT = "private, no-store"


class Guarded:
    """An application whose every response has these headers, below a root path."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app, self._root = app, root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; proxies may have taken the root path away, or not."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path = scope["path"]
        if self._root and (path + "/").startswith(self._root + "/"):
            scope = {**scope, "path": path[len(self._root) :] or "/"}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", UNKEPT)
            await send(message)

        return await self._app(scope, receive, guarded)


async def sent(request: Request) -> Mapping[str, Any]:
    """The body of a request: an object of JSON that is not too large."""
    found = await body(request)
    try:
        value = json.loads(found, parse_constant=_no_number, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise Refusal(400, "no_json", "this is no JSON") from None
    if not isinstance(value, dict):
        raise Refusal(400, "no_object", "this is no object")
    if _depth(value) > DEEPEST:
        raise Refusal(400, "too_deep", f"more than {DEEPEST} lists and objects within each other")
    return value


async def body(request: Request, largest: int = LARGEST, patience: float | None = None) -> bytes:
    """All of a body, which must come in good time: else many slow ones would fill the server."""
    found, seconds = bytearray(), PATIENCE if patience is None else patience
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                found += part
                if len(found) > largest:
                    raise Refusal(413, "too_large", f"more than {largest:,} bytes")
    except TimeoutError:
        raise Refusal(408, "too_slow", f"no whole request within {seconds:g} s") from None
    return bytes(found)


def _depth(value: Any) -> int:
    """How many lists and objects are within each other."""
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level, depth = [one for own in inner for one in own], depth + 1
    return depth


def _whole_number(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a number of more than {DIGITS} digits")
    return int(text)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
