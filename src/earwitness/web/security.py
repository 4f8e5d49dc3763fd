"""Response headers, limits on request bodies, and one shape for errors."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earwitness.errors import StoreError
from earwitness.web.pages import notice_page

# --- Error responses -----------------------------------------------------------------------------


NOT_FOUND_CODE = "not_here"  # said by us, so the server is there: asking again will not help
NOT_FOUND_REMEDY = "ask whoever sent you the link: this study may not be served now"


@dataclass(eq=False)
class Refusal(Exception):
    """Why something was not done.

    ``wrong`` is said to listeners, in their language; ``details`` are for who looks at what is
    sent. ``more`` stands beside the error, such as the state.
    """

    status: int
    code: str
    message: str
    remedy: str = ""
    wrong: Sequence[str] = ()
    details: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """As JSON."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        error |= {"remedy": self.remedy, "wrong": list(self.wrong), "details": list(self.details)}
        return {"error": {name: one for name, one in error.items() if one}, **self.more}


def not_found_refusal() -> Refusal:
    """Unknown links and unknown addresses look alike."""
    return Refusal(404, NOT_FOUND_CODE, "there is nothing at this address", NOT_FOUND_REMEDY)


async def error_response(request: Request, error: Exception) -> Response:
    """A refusal, told in the form that was asked for."""
    refusal = _refusal_from_error(error)
    if "text/html" in request.headers.get("accept", ""):
        page = notice_page(
            request.app.state.site, "not_found" if refusal.status == 404 else "failed"
        )
        return HTMLResponse(page, refusal.status)
    headers = {"Connection": "close"} if refusal.status == 408 else {}
    return JSONResponse(refusal.body, refusal.status, headers)


def _refusal_from_error(error: Exception) -> Refusal:
    """What may be told of an error; the rest is for who runs the server."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase.lower()
        is_missing = error.status_code == 404
        return not_found_refusal() if is_missing else Refusal(error.status_code, "refused", phrase)
    if isinstance(error, StoreError):
        print(f"earwitness: {error}", file=sys.stderr, flush=True)
        return Refusal(503, "store_failed", "nothing was kept", "send it again, it will be known")
    return Refusal(500, "failed", "something went wrong", "send it again, it will be known")


ERROR_HANDLERS: Mapping[Any, Any] = dict.fromkeys(
    (Refusal, HTTPException, StoreError, Exception), error_response
)


# --- Headers and request limits ------------------------------------------------------------------


MAX_REQUEST_BYTES = 256 * 1024
REQUEST_TIMEOUT_SECONDS = 30.0  # for all of it
MAX_UPLOAD_BYTES, UPLOAD_TIMEOUT_SECONDS = 20 * 1024 * 1024, 120.0  # the same for files
MAX_JSON_DEPTH = 20  # lists and objects within each other
MAX_NUMBER_DIGITS = 300  # of a whole number: more are no number of any database
CONTENT_POLICY = {
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
DENIED_FEATURES = (
    "camera",
    "microphone",
    "geolocation",
    "payment",
    "usb",
    "midi",
    "display-capture",
)
SECURITY_HEADERS = {
    "Content-Security-Policy": "; ".join(
        f"{name} {value}" for name, value in CONTENT_POLICY.items()
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": ", ".join(f"{name}=()" for name in DENIED_FEATURES),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
CACHE_NEVER = "private, no-store"


class SecurityMiddleware:
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
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", CACHE_NEVER)
            await send(message)

        return await self._app(scope, receive, guarded)


async def read_json_body(request: Request) -> Mapping[str, Any]:
    """The body of a request: an object of JSON that is not too large."""
    data = await read_body(request)
    try:
        value = json.loads(data, parse_constant=_refuse_constant, parse_int=_parse_integer)
    except (ValueError, RecursionError):
        raise Refusal(400, "no_json", "this is no JSON") from None
    if not isinstance(value, dict):
        raise Refusal(400, "no_object", "this is no object")
    if _nesting_depth(value) > MAX_JSON_DEPTH:
        raise Refusal(
            400, "too_deep", f"more than {MAX_JSON_DEPTH} lists and objects within each other"
        )
    return value


async def read_body(
    request: Request, max_bytes: int = MAX_REQUEST_BYTES, timeout_seconds: float | None = None
) -> bytes:
    """All of a body, which must come in good time: else many slow ones would fill the server."""
    data, seconds = (
        bytearray(),
        REQUEST_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds,
    )
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                data += part
                if len(data) > max_bytes:
                    raise Refusal(413, "too_large", f"more than {max_bytes:,} bytes")
    except TimeoutError:
        raise Refusal(408, "too_slow", f"no whole request within {seconds:g} s") from None
    return bytes(data)


def _nesting_depth(value: Any) -> int:
    """How many lists and objects are within each other."""
    level, depth = [value], 0
    while containers := [inner for inner in level if isinstance(inner, dict | list)]:
        contents = [inner.values() if isinstance(inner, dict) else inner for inner in containers]
        level, depth = [element for content in contents for element in content], depth + 1
    return depth


def _parse_integer(text: str) -> int:
    if len(text) > MAX_NUMBER_DIGITS:
        raise ValueError(f"a number of more than {MAX_NUMBER_DIGITS} digits")
    return int(text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
