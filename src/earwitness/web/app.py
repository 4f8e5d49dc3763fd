"""The ASGI application and its routes."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from earwitness.web import join, listen, workbooks
from earwitness.web.media import sound
from earwitness.web.pages import static
from earwitness.web.security import HANDLERS, SecurityMiddleware
from earwitness.web.site import Site

ROUTES = (
    Route("/", join.front),
    Route("/favicon.ico", join.no_picture),
    Route("/join", join.join, methods=["GET", "POST"]),
    Route("/join/", join.join, methods=["GET", "POST"]),
    Route("/l/{token}", listen.show),
    Route("/l/{token}/", listen.show),
    Route("/l/{token}/state", listen.state),
    Route("/l/{token}/sound/{page}/{number:int}", sound),
    Route("/l/{token}/answers", listen.answers, methods=["POST"]),
    Route("/l/{token}/events", listen.events, methods=["POST"]),
    Route("/l/{token}/withdraw", listen.withdraw, methods=["POST"]),
    Route("/l/{token}/workbook", workbooks.show, methods=["GET"]),
    Route("/l/{token}/workbook", workbooks.upload, methods=["POST"]),
    Route("/l/{token}/workbook.xlsx", workbooks.download),
    Route("/static/{digest}/{name:path}", static),
)


def make_app(site: Site) -> ASGIApp:
    """A study as an application of ASGI.

    A slash too much is no reason to be led elsewhere: where, the server would have to believe.
    """
    app = Starlette(routes=list(ROUTES), exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.reading = asyncio.Semaphore(1)  # workbooks one at a time, or memory would run out
    return SecurityMiddleware(app, site.settings.root)
