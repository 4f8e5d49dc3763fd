"""Response headers, limits on request bodies, quotas of listeners, and one shape for errors."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any

from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from earwitness.errors import StoreError
from earwitness.io.schema import MAX_NUMBER_DIGITS
from earwitness.web.pages import notice_page

# --- Error responses -----------------------------------------------------------------------------


NOT_FOUND_CODE = "not_here"  # from this server, so repeating the request will not help
BAD_ID_CODE = "bad_id"
ERROR_PAGES = {NOT_FOUND_CODE: "not_found", BAD_ID_CODE: "bad_id"}
NOT_FOUND_REMEDY = "check the link; this study may not be served at the moment"
RETRY_REMEDY = "send the same request again; it is saved only once"


@dataclass(eq=False)
class Refusal(Exception):
    """A refused request.

    ``wrong`` holds messages for listeners, in their language. ``details`` are for developers who
    inspect requests. ``more`` holds further fields of the reply, such as the state.
    ``retry_seconds`` is the time after which a retry may succeed, if known.
    """

    status: int
    code: str
    message: str
    remedy: str = ""
    wrong: Sequence[str] = ()
    details: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    retry_seconds: int = 0

    @property
    def body(self) -> dict[str, Any]:
        """The reply as JSON."""
        names = ("code", "message", "remedy", "wrong", "details")
        error = {name: getattr(self, name) for name in names}
        return {"error": {name: value for name, value in error.items() if value}, **self.more}


def not_found_refusal() -> Refusal:
    """Return the same refusal for unknown links and unknown addresses."""
    return Refusal(404, NOT_FOUND_CODE, "no page at this address", NOT_FOUND_REMEDY)


async def error_response(request: Request, error: Exception) -> Response:
    """Send a refusal as HTML or JSON, depending on what the client accepts."""
    refusal = refusal_from_error(error)
    if isinstance(error, StoreError):
        request.app.state.site.messages.write(f"earwitness: {error}")
    if "text/html" in request.headers.get("accept", ""):
        page = notice_page(request.app.state.site, ERROR_PAGES.get(refusal.code, "failed"))
        return HTMLResponse(page, refusal.status)
    headers = {"Connection": "close"} if refusal.status == 408 else {}
    if refusal.retry_seconds:
        headers = {"Retry-After": str(refusal.retry_seconds)}
    return JSONResponse(refusal.body, refusal.status, headers)


def refusal_from_error(error: Exception) -> Refusal:
    """Return what clients may see of an error; the operator sees the rest."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase.lower()
        is_missing = error.status_code == 404
        return not_found_refusal() if is_missing else Refusal(error.status_code, "refused", phrase)
    if isinstance(error, StoreError):
        return Refusal(503, "store_failed", "nothing was saved", RETRY_REMEDY)
    return Refusal(500, "failed", "internal server error", RETRY_REMEDY)


EXPECTED_ERRORS = (Refusal, HTTPException, StoreError)  # others are errors of the program


# --- Application with security headers -----------------------------------------------------------


SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "media-src 'self' blob:; connect-src 'self'; worker-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": (
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), midi=(), display-capture=()"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
RAW_SECURITY_HEADERS = [
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
]
RAW_CACHE_NEVER = (b"cache-control", b"private, no-store")


class GuardedApp:
    """ASGI application whose replies all have security headers, and errors one shape.

    It does what an application of Starlette does for such routes, in fewer steps. Trailing slashes
    are not redirected, since a redirect would have to trust the Host header.

    Parameters
    ----------
    routes
        Routes to functions of a request; the most frequent ones first.
    send_error
        Returns the reply to a request that has failed.
    root
        Path below which the application is served; a proxy may or may not have removed it.
    hosts
        Host names to which requests are answered; by default all.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        send_error: Callable[[Request, Exception], Awaitable[Response]],
        root: str = "",
        hosts: Sequence[str] = (),
    ) -> None:
        self.state = State()
        self._router = Router(routes)
        self._routes, self._send_error = tuple(routes), send_error
        self._root, self._hosts = root, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            return await self._router(scope, receive, send)
        has_started = False

        async def guarded(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                headers = message.setdefault("headers", [])
                headers += RAW_SECURITY_HEADERS
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append(RAW_CACHE_NEVER)
            await send(message)

        scope["app"] = self
        request = Request(scope, receive, guarded)
        try:
            host = request.headers.get("host", "")
            if self._hosts and not {host, host.rpartition(":")[0]} & self._hosts:
                response: Response = PlainTextResponse("This address is not served here.", 421)
            else:
                response = await self._find_endpoint(scope)(request)
            await response(scope, receive, guarded)
        except Exception as error:
            is_expected = isinstance(error, EXPECTED_ERRORS) and not has_started
            if not has_started:
                response = await self._send_error(request, error)
                await response(scope, receive, guarded)
            if not is_expected:
                raise  # the server prints it
            error.__traceback__ = None  # it holds the request

    def _find_endpoint(self, scope: Scope) -> Callable[[Request], Awaitable[Response]]:
        """Return the function for a request, and record the parameters in its path."""
        path: str = scope["path"]
        if self._root and (path + "/").startswith(self._root + "/"):
            path = scope["path"] = path[len(self._root) :] or "/"
        is_found = False
        for route in self._routes:
            match = route.path_regex.match(path)
            if match is None:
                continue
            if scope["method"] in (route.methods or ()):
                convertors = route.param_convertors
                try:
                    scope["path_params"] = {
                        name: convertors[name].convert(text)
                        for name, text in match.groupdict().items()
                    }
                except ValueError:  # a number with thousands of digits
                    raise HTTPException(404) from None
                return route.endpoint
            is_found = True
        raise HTTPException(405 if is_found else 404)


# --- Hosts and addresses -------------------------------------------------------------------------
# A web page can let its own host name point to this server, and then read and send anything here.
# It cannot do so with an IP address or a name of the loopback interface.


HOST_PATTERN = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?", re.ASCII)
CLIENT_PREFIX_BITS = 64  # of an IPv6 address; a client can use all addresses that share them


def is_allowed_host(host: str, names: Container[str]) -> bool:
    """Return whether a host is an IP address, the loopback interface, or one of these names.

    >>> [is_allowed_host(one, ["a.org"]) for one in ("A.org.:80", "[::1]:80", "localhost", "b.org")]
    [True, True, True, False]
    """
    match = HOST_PATTERN.fullmatch(host)
    name = match[1].lower().rstrip(".") if match else ""
    if name in names or name.rpartition(".")[2] == "localhost":
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def client_network(address: str) -> str:
    """Return the addresses that one client can have: an IPv6 client has a whole network.

    >>> [client_network(one) for one in ("192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "unix")]
    ['192.0.2.1', '2001:db8::/64', '192.0.2.1', 'unix']
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if ip.version == 4:
        return address
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, CLIENT_PREFIX_BITS), strict=False))


# --- Limits on request bodies --------------------------------------------------------------------


MAX_REQUEST_BYTES = 256 * 1024
REQUEST_TIMEOUT_SECONDS = 30.0  # for the whole request
MAX_UPLOAD_BYTES, UPLOAD_TIMEOUT_SECONDS = 20 * 1024 * 1024, 120.0  # limits for uploaded files
MAX_JSON_DEPTH = 20  # nesting of lists and objects


async def read_json_body(request: Request) -> Mapping[str, Any]:
    """Return the body of a request, which must be a JSON object within the limits."""
    data = await read_body(request)
    try:
        value = JSON_DECODER.decode(data.decode())
    except (ValueError, RecursionError):
        raise Refusal(400, "no_json", "the request body is not valid JSON") from None
    if not isinstance(value, dict):
        raise Refusal(400, "no_object", "the request body must be a JSON object")
    may_be_deep = data.count(b"[") + data.count(b"{") > MAX_JSON_DEPTH
    if may_be_deep and _nesting_depth(value) > MAX_JSON_DEPTH:
        raise Refusal(400, "too_deep", f"JSON is nested more than {MAX_JSON_DEPTH} levels deep")
    return value


async def read_body(
    request: Request, max_bytes: int = MAX_REQUEST_BYTES, timeout_seconds: float | None = None
) -> bytes:
    """Return the whole body; a time limit keeps slow requests from filling the server."""
    data, seconds = (
        bytearray(),
        REQUEST_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds,
    )
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                data += part
                if len(data) > max_bytes:
                    raise Refusal(413, "too_large", f"request body larger than {max_bytes:,} bytes")
    except TimeoutError:
        raise Refusal(408, "too_slow", f"request not complete within {seconds:g} s") from None
    except ClientDisconnect:
        raise Refusal(400, "broken_off", "request not complete") from None
    return bytes(data)


def _nesting_depth(value: Any) -> int:
    """Return how deeply lists and objects are nested."""
    level, depth = [value], 0
    while containers := [inner for inner in level if isinstance(inner, dict | list)]:
        contents = [inner.values() if isinstance(inner, dict) else inner for inner in containers]
        level, depth = [element for content in contents for element in content], depth + 1
    return depth


def _parse_integer(text: str) -> int:
    if len(text) > MAX_NUMBER_DIGITS:
        raise ValueError(f"an integer has more than {MAX_NUMBER_DIGITS} digits")
    return int(text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid in JSON")


JSON_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_parse_integer)


# --- Quotas of listeners -------------------------------------------------------------------------
# A browser never reaches them, even if somebody clicks as fast as possible. They keep one link from
# filling the disk or occupying the server. They are counted per process and since its start.


QUOTA_SECONDS = 60
TOO_FAST_CODE, QUOTA_USED_CODE = "too_fast", "quota_used"  # the first one passes, the second stays
ANSWER_REQUESTS, SOUND_REQUESTS, STATE_REQUESTS = "answers", "sounds", "states"
WORKBOOK_REQUESTS, DRAFT_REQUESTS = "workbooks", "drafts"
EVENT_COUNT, EVENT_BYTES = "events", "bytes of events"
RECORDING_REQUESTS = "recording requests"  # zooming and moving fast needs about 20 per second
RECORDING_SECONDS = "seconds of recordings"  # five clicks per second need about 50
QUOTAS_PER_MINUTE: Mapping[str, int] = {
    ANSWER_REQUESTS: 1200,
    SOUND_REQUESTS: 3000,
    STATE_REQUESTS: 1200,
    WORKBOOK_REQUESTS: 30,
    DRAFT_REQUESTS: 120,
    RECORDING_REQUESTS: 6000,
    RECORDING_SECONDS: 6000,
    EVENT_COUNT: 6000,
    EVENT_BYTES: 4_000_000,
}
QUOTAS_IN_ALL: Mapping[str, int] = {EVENT_COUNT: 100_000, EVENT_BYTES: 32_000_000}


@dataclass
class _Usage:
    start: float
    recent: dict[str, int] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)


class ListenerQuotas:
    """What each listener has used of the quotas.

    Parameters
    ----------
    clock
        Time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._usage, self._swept = dict[str, _Usage](), clock()

    def _sweep(self, now: float) -> None:
        """Forget once a minute who has used nothing that counts any more, such as visitors."""
        if now >= self._swept + QUOTA_SECONDS:
            since, self._swept = now - QUOTA_SECONDS, now
            kept = {
                token: usage
                for token, usage in self._usage.items()
                if usage.total or usage.start > since
            }
            self._usage = kept

    def __len__(self) -> int:
        return len(self._usage)

    def use(self, token: str, amounts: Mapping[str, int]) -> None:
        """Count amounts by quota; refuse if a quota would be exceeded, and count nothing then."""
        with self._lock:
            now = self._clock()
            self._sweep(now)
            usage = self._usage.setdefault(token, _Usage(now))
            if now >= usage.start + QUOTA_SECONDS:
                usage.start, usage.recent = now, {}
            for name, amount in amounts.items():
                in_all = QUOTAS_IN_ALL.get(name)
                if in_all is not None and usage.total.get(name, 0) + amount > in_all:
                    message = f"more than {in_all:,} {name} of one listener"
                    raise Refusal(429, QUOTA_USED_CODE, message)
                if usage.recent.get(name, 0) + amount > QUOTAS_PER_MINUTE[name]:
                    message = f"more than {QUOTAS_PER_MINUTE[name]:,} {name} per minute"
                    raise Refusal(
                        429, TOO_FAST_CODE, message, RETRY_REMEDY, retry_seconds=QUOTA_SECONDS
                    )
            for name, amount in amounts.items():
                usage.recent[name] = usage.recent.get(name, 0) + amount
                if name in QUOTAS_IN_ALL:
                    usage.total[name] = usage.total.get(name, 0) + amount


PLACE_SECONDS = 3600


class PlaceLimit:
    """Places that were taken from each address within an hour, known only in memory.

    Parameters
    ----------
    count
        Number of places per address; 0: any number.
    clock
        Time in seconds.
    """

    def __init__(self, count: int, clock: Callable[[], float] = monotonic) -> None:
        self.count, self._clock = count, clock
        self._times = dict[str, list[float]]()

    def minutes_left(self, address: str) -> int:
        """Return after how many minutes another place may be taken from an address; 0: now."""
        since = self._clock() - PLACE_SECONDS
        recent = {
            client: [at for at in times if at > since] for client, times in self._times.items()
        }
        self._times = {client: times for client, times in recent.items() if times}
        times = self._times.get(address, [])
        return ceil((times[-self.count] - since) / 60) if 0 < self.count <= len(times) else 0

    def add(self, address: str) -> None:
        """Count a place."""
        self._times.setdefault(address, []).append(self._clock())

    def remove(self, address: str) -> None:
        """Count a place less, since it was not taken after all."""
        self._times[address].pop()
