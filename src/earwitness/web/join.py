"""The open link: places for anyone, taken with the first answer.

Neither opening the page nor pressing Start takes a place or stores anything on the server. Start
leads to a link of the visitor's own, a ticket that only this server can issue. The first answer,
usually consent, takes a place, and the ticket becomes the personal link. The session is opened by
this link, or in the same browser by a cookie, with or without the id of a recruitment service. The
id opens nothing: it is stored as a claim, which only one person can make.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
from urllib.parse import urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from earwitness.errors import UsageError
from earwitness.store.listeners import count_repeat
from earwitness.store.records import ParticipationState
from earwitness.store.tables import check_name
from earwitness.web.pages import invitation_page, notice_page
from earwitness.web.security import (
    BAD_ID_CODE,
    PlaceLimit,
    Refusal,
    client_network,
    is_allowed_host,
    not_found_refusal,
)
from earwitness.web.site import Site, served_site

# --- Tickets and cookies -------------------------------------------------------------------------


PLACE_COOKIE = "earwitness_place"
COOKIE_SECONDS = 365 * 24 * 3600
COOKIE_PATTERN = re.compile(r"[0-9A-Za-z_-]{20,100}")
NONCE_BYTES, NONCE_LETTERS = 18, 24  # each part of a ticket
CROWDED = "crowded"  # why there is no place yet
CLAIM_PARAMETER = "claim"  # of the visitor's link: the id of a recruitment service


def new_ticket(site: Site) -> str:
    """Return the link of a visitor without a place; nothing is stored."""
    nonce = secrets.token_urlsafe(NONCE_BYTES)
    return nonce + _ticket_signature(site, nonce)


def is_ticket(site: Site, token: str) -> bool:
    """Return whether this server has issued a ticket for this study."""
    nonce, signature = token[:NONCE_LETTERS], token[NONCE_LETTERS:]
    expected = _ticket_signature(site, nonce) if site.settings.open else ""
    return bool(expected) and hmac.compare_digest(expected.encode(), signature.encode())


def _ticket_signature(site: Site, nonce: str) -> str:
    digest = hmac.new(site.secret.encode(), f"ticket {nonce}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:NONCE_BYTES]).decode()


def set_place_cookie(
    response: Response,
    request: Request,
    token: str,
    outside: str | None,
    seconds: int | None = COOKIE_SECONDS,
) -> None:
    """Let the browser of a listener find its place again; by default also after it was closed.

    The cookie of the last place is set, and that of the external id, if there is one.
    """
    for name in dict.fromkeys((PLACE_COOKIE, _cookie_name(outside or ""))):
        response.set_cookie(
            name,
            token,
            max_age=seconds,
            path=f"{served_site(request).settings.root_path}/join",
            httponly=True,
            secure=request.url.scheme == "https",
            samesite="lax",
        )


def _cookie_name(outside: str) -> str:
    """Return the name of the cookie of an external id, since people may share a browser."""
    mark = hashlib.sha256(outside.encode()).hexdigest()[:12] if outside else ""
    return f"{PLACE_COOKIE}_{mark}" if mark else PLACE_COOKIE


def _read_cookie(request: Request, outside: str) -> tuple[str, str]:
    """Return the token of the browser's place, or an empty text, and the id of its cookie.

    Without an id, this is the last place of the browser. With an id, it is the place of this id, or
    the last place if that was taken without an id: with another id, it belongs to another person.
    """
    tokens = {
        name: token
        for name, token in request.cookies.items()
        if name.startswith(PLACE_COOKIE) and COOKIE_PATTERN.fullmatch(token)
    }
    last = tokens.pop(PLACE_COOKIE, "")
    if not outside:
        return last, ""
    if token := tokens.get(_cookie_name(outside), ""):
        return token, outside
    return "" if last in tokens.values() else last, ""


def check_claim(outside: str) -> str:
    """Return an external id that can be stored; raise Refusal otherwise."""
    try:
        return check_name("participant ID", outside) if outside else ""
    except UsageError as error:
        raise Refusal(400, BAD_ID_CODE, str(error)) from None


# --- Pages ---------------------------------------------------------------------------------------


async def show_front(request: Request) -> Response:
    """Send the front page, which asks visitors to use their personal link."""
    return HTMLResponse(notice_page(served_site(request), "own_link"))


async def join(request: Request) -> Response:
    """Show the invitation, or redirect to the browser's place; POST leads to the first page."""
    site = served_site(request)
    if not site.settings.open:
        site.note_once("a visitor opened /join, which has no places — serve with --open N")
        raise not_found_refusal()
    starts = request.method == "POST"
    if starts and not _is_same_site(request):
        raise Refusal(403, "elsewhere", "this request came from another site")
    if starts and (other := _find_other_host(request)):
        site.note_once(
            "open link: a visitor came by a host name that is not allowed, and was turned away — "
            "if it is a name of this server, serve with --allow-host NAME"
        )
        return HTMLResponse(notice_page(site, "other_host", host=other), 403)
    outside = check_claim(request.query_params.get(site.settings.outside_id, ""))
    cookie, cookie_id = _read_cookie(request, outside)
    own = None
    if cookie:
        own = await run_in_threadpool(site.store.find_claim, site.digest, request=cookie)
    # otherwise, the id may be that of somebody else
    is_known = own is not None and cookie_id == outside
    claimant = None
    if outside and not is_known:
        claimant = await run_in_threadpool(site.store.find_claim, site.digest, outside=outside)
    if claimant is not None:
        await asyncio.wrap_future(site.store.write(count_repeat, site.digest, outside))
        is_gone = claimant.state == ParticipationState.WITHDRAWN
        return HTMLResponse(notice_page(site, "id_withdrawn" if is_gone else "started"), 403)
    if own is not None:
        response = RedirectResponse(f"{site.settings.root_path}/l/{own.token}", 303)
        set_place_cookie(response, request, cookie, cookie_id)
        return response
    if not await run_in_threadpool(site.store.has_free_place, site.digest, site.quota):
        site.note_once("open link: no free places left; a visitor was turned away")
        return HTMLResponse(notice_page(site, "full"), 403)
    if minutes := find_wait(request):
        page = notice_page(site, CROWDED, minutes=minutes)
        return HTMLResponse(page, 429, {"Retry-After": str(60 * minutes)})
    if not starts:
        query = f"?{urlencode({site.settings.outside_id: outside})}" if outside else ""
        return HTMLResponse(invitation_page(site, f"{site.settings.root_path}/join{query}"))
    # all tabs of a browser get the same ticket, so that they take one place
    ticket = cookie if is_ticket(site, cookie) else new_ticket(site)
    query = f"?{urlencode({CLAIM_PARAMETER: outside})}" if outside else ""
    response = RedirectResponse(f"{site.settings.root_path}/l/{ticket}{query}", 303)
    set_place_cookie(response, request, ticket, outside, None)
    return response


def find_wait(request: Request) -> int:
    """Return after how many minutes a place may be taken from the address of a request; 0: now."""
    places: PlaceLimit = request.app.state.places
    minutes = places.minutes_left(client_address(request))
    if minutes:
        served_site(request).note_once(
            f"open link: {places.count} places were taken from one address within an hour, and "
            "further visitors from it must wait — use --places-per-address to allow more, and "
            "--trust-proxy if it is the address of your proxy"
        )
    return minutes


def client_address(request: Request) -> str:
    """Return the addresses that a client can have, as trusted proxies forward them."""
    return client_network(request.client.host if request.client else "")


def _find_other_host(request: Request) -> str:
    """Return a host name, without port, in the headers of a request that is not allowed, if any.

    A proxy may send its own name, and forward that of the visitor.
    """
    forwarded = request.headers.get("x-forwarded-host", "").split(",")
    hosts = (host.strip() for host in (request.headers.get("host", ""), *forwarded))
    names = served_site(request).settings.allow_hosts
    other = next((host for host in hosts if host and not is_allowed_host(host, names)), "")
    return other.rpartition(":")[0] or other


def _is_same_site(request: Request) -> bool:
    """Whether our own page sent the request, according to the browser's headers."""
    headers = request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    return "origin" not in headers or urlsplit(headers["origin"]).netloc == headers.get("host")
