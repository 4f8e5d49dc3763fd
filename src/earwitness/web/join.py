"""The open link, which gives each newcomer a free place.

To look takes nothing, as programs look, too: those that show a preview of a link, or search. A
person who has a place is led to it at once.
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
from earwitness.web.listen import site_of
from earwitness.web.pages import invitation, notice
from earwitness.web.security import Refusal, nothing_here
from earwitness.web.site import Site

PLACE_COOKIE = "earwitness_place"
COOKIE_SECONDS = 365 * 24 * 3600
COOKIE_PATTERN = re.compile(r"[0-9A-Za-z_-]{20,100}")


async def front(request: Request) -> Response:
    """Nobody is known here: ask for your own link."""
    return HTMLResponse(notice(site_of(request), "own_link"))


async def no_picture(request: Request) -> Response:
    """Browsers ask for a picture of the site by themselves; there is none, and no fault in it."""
    del request
    return Response(status_code=204)


async def join(request: Request) -> Response:
    """Show the way in, or lead to the place that somebody has; a press of the button takes one."""
    site = site_of(request)
    if not site.settings.open:
        raise nothing_here()
    taking = request.method == "POST"
    if taking and not _from_here(request):
        raise Refusal(403, "elsewhere", "this was sent by a page of another site")
    outside = request.query_params.get(site.settings.outside, "")
    place = _place(request)
    by = {"outside": outside} if outside else {"request": place}
    try:
        found = await (_taken(site, by) if taking else _known(site, by))
    except UsageError:
        raise Refusal(400, "no_id", "this cannot be the id of a person") from None
    response = await _reply(site, found, outside, taking=taking)
    if not outside:
        _remember(response, site, place, secure=request.url.scheme == "https")
    return response


async def _reply(site: Site, found: Listener | None, outside: str, *, taking: bool) -> Response:
    if found is not None:
        return RedirectResponse(f"{site.settings.root}/l/{found.token}", 303)
    if taking or not await run_in_threadpool(site.store.free, site.digest, site.quota):
        site.tell("open link: no place is free, and somebody was turned away")
        return HTMLResponse(notice(site, "full"), 403)
    query = f"?{urlencode({site.settings.outside: outside})}" if outside else ""
    return HTMLResponse(invitation(site, f"{site.settings.root}/join{query}"))


async def _taken(site: Site, by: dict[str, str]) -> Listener | None:
    writing = site.store.write(claim, site.digest, **by, quota=site.quota)
    return await asyncio.wrap_future(writing)


async def _known(site: Site, by: dict[str, str]) -> Listener | None:
    return await run_in_threadpool(lambda: site.store.claimed(site.digest, **by))


def _from_here(request: Request) -> bool:
    """Whether our own page sent a request, as far as the browser says who did."""
    headers = request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    return "origin" not in headers or urlsplit(headers["origin"]).netloc == headers.get("host")


def _place(request: Request) -> str:
    """What this browser was given before, so that pressing twice takes one place."""
    kept = request.cookies.get(PLACE_COOKIE, "")
    return kept if COOKIE_PATTERN.fullmatch(kept) else secrets.token_urlsafe(24)


def _remember(response: Response, site: Site, place: str, *, secure: bool) -> None:
    response.set_cookie(
        PLACE_COOKIE,
        place,
        max_age=COOKIE_SECONDS,
        path=f"{site.settings.root}/join",
        httponly=True,
        secure=secure,
        samesite="lax",
    )
