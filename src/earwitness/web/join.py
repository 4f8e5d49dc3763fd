"""The open link: whoever comes gets a place of their own, as long as there is one."""

from __future__ import annotations

import asyncio
import re
import secrets

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from earwitness.errors import UsageError
from earwitness.store import Listener, claim
from earwitness.web.errors import Refusal, nothing_here
from earwitness.web.listen import site_of
from earwitness.web.pages import notice
from earwitness.web.site import Site

COOKIE = "earwitness_place"
YEAR = 365 * 24 * 3600
MADE = re.compile(r"[0-9A-Za-z_-]{20,100}")


async def front(request: Request) -> Response:
    """Nobody is known here: ask for your own link."""
    return HTMLResponse(notice(site_of(request), "own_link"))


async def no_picture(request: Request) -> Response:
    """Browsers ask for a picture of the site by themselves; there is none, and no fault in it."""
    del request
    return Response(status_code=204)


async def join(request: Request) -> Response:
    """Take a place, the same one for the same person, and go there."""
    site = site_of(request)
    if not site.settings.open:
        raise nothing_here()
    if request.method == "HEAD":  # somebody only looks
        return Response()
    outside = request.query_params.get(site.settings.outside, "")
    kept = request.cookies.get(COOKIE, "")
    known = kept if MADE.fullmatch(kept) else secrets.token_urlsafe(24)
    found = await _claimed(site, outside, known)
    if found is None:
        return HTMLResponse(notice(site, "full"), 403)
    response = RedirectResponse(f"{site.settings.root}/l/{found.token}", 303)
    if not outside:
        _remember(response, site, known, secure=request.url.scheme == "https")
    return response


async def _claimed(site: Site, outside: str, request: str) -> Listener | None:
    by = {"outside": outside} if outside else {"request": request}
    try:
        return await asyncio.wrap_future(site.store.write(claim, site.digest, **by))
    except UsageError:
        raise Refusal(400, "no_id", "this cannot be the id of a person") from None


def _remember(response: Response, site: Site, place: str, *, secure: bool) -> None:
    response.set_cookie(
        COOKIE,
        place,
        max_age=YEAR,
        path=f"{site.settings.root}/join",
        httponly=True,
        secure=secure,
        samesite="lax",
    )
