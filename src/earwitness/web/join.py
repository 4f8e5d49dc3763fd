"""The open link, which gives each new visitor a free place.

Opening the page does not take a place, since link previews and search engines open it too.
Visitors who already have a place are redirected to it.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from urllib.parse import urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from earwitness.errors import UsageError
from earwitness.store.listeners import claim
from earwitness.store.records import Listener
from earwitness.web.listen import served_site
from earwitness.web.pages import invitation_page, notice_page
from earwitness.web.security import Refusal, not_found_refusal
from earwitness.web.site import Site

PLACE_COOKIE = "earwitness_place"
COOKIE_SECONDS = 365 * 24 * 3600
COOKIE_PATTERN = re.compile(r"[0-9A-Za-z_-]{20,100}")


async def show_front(request: Request) -> Response:
    """Send the front page, which asks visitors to use their personal link."""
    return HTMLResponse(notice_page(served_site(request), "own_link"))


async def send_no_icon(request: Request) -> Response:
    """Reply to automatic favicon requests with no content."""
    del request
    return Response(status_code=204)


async def join(request: Request) -> Response:
    """Show the invitation or redirect to the visitor's place; POST claims a place."""
    site = served_site(request)
    if not site.settings.open:
        raise not_found_refusal()
    takes_place = request.method == "POST"
    if takes_place and not _is_same_site(request):
        raise Refusal(403, "elsewhere", "this request came from another site")
    outside_id = request.query_params.get(site.settings.outside, "")
    browser_id = _browser_id(request)
    person = {"outside": outside_id} if outside_id else {"request": browser_id}
    try:
        listener = await (_claim_place(site, person) if takes_place else _find_claim(site, person))
    except UsageError:
        raise Refusal(400, "no_id", "invalid participant id") from None
    response = await _join_response(site, listener, outside_id, takes_place=takes_place)
    if not outside_id:
        _set_cookie(response, site, browser_id, secure=request.url.scheme == "https")
    return response


async def _join_response(
    site: Site, listener: Listener | None, outside_id: str, *, takes_place: bool
) -> Response:
    if listener is not None:
        return RedirectResponse(f"{site.settings.root}/l/{listener.token}", 303)
    if takes_place or not await run_in_threadpool(
        site.store.count_free_places, site.digest, site.quota
    ):
        site.note_once("open link: no free places left; a visitor was turned away")
        return HTMLResponse(notice_page(site, "full"), 403)
    query = f"?{urlencode({site.settings.outside: outside_id})}" if outside_id else ""
    return HTMLResponse(invitation_page(site, f"{site.settings.root}/join{query}"))


async def _claim_place(site: Site, person: dict[str, str]) -> Listener | None:
    writing = site.store.write(claim, site.digest, **person, quota=site.quota)
    return await asyncio.wrap_future(writing)


async def _find_claim(site: Site, person: dict[str, str]) -> Listener | None:
    return await run_in_threadpool(lambda: site.store.find_claim(site.digest, **person))


def _is_same_site(request: Request) -> bool:
    """Whether our own page sent the request, according to the browser's headers."""
    headers = request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    return "origin" not in headers or urlsplit(headers["origin"]).netloc == headers.get("host")


def _browser_id(request: Request) -> str:
    """Return the id in the browser's cookie or a new one, so that two clicks take one place."""
    cookie = request.cookies.get(PLACE_COOKIE, "")
    return cookie if COOKIE_PATTERN.fullmatch(cookie) else secrets.token_urlsafe(24)


def _set_cookie(response: Response, site: Site, browser_id: str, *, secure: bool) -> None:
    response.set_cookie(
        PLACE_COOKIE,
        browser_id,
        max_age=COOKIE_SECONDS,
        path=f"{site.settings.root}/join",
        httponly=True,
        secure=secure,
        samesite="lax",
    )
