"""The ASGI application and its routes."""

from __future__ import annotations

import asyncio

from starlette.routing import Route

from earwitness.web import join, listen, workbooks
from earwitness.web.media import send_sound
from earwitness.web.navigator import recording_routes
from earwitness.web.pages import send_asset, send_no_icon
from earwitness.web.recordings import (
    RECORDING_PREFIX,
    StudyRecordings,
    find_recording,
    open_recordings,
)
from earwitness.web.security import GuardedApp, ListenerQuotas, PlaceLimit, error_response
from earwitness.web.site import Site

ROUTES = (  # the most frequent requests first
    Route("/l/{token}/answers", listen.receive_answer, methods=["POST"]),
    Route("/l/{token}/events", listen.receive_events, methods=["POST"]),
    Route("/l/{token}/sound/{page}/{number:int}", send_sound),
    Route("/", join.show_front),
    Route("/favicon.ico", send_no_icon),
    Route("/join", join.join, methods=["GET", "POST"]),
    Route("/join/", join.join, methods=["GET", "POST"]),
    Route("/l/{token}", listen.show_page),
    Route("/l/{token}/", listen.show_page),
    Route("/l/{token}/state", listen.send_state),
    *recording_routes(RECORDING_PREFIX, find_recording),
    Route("/l/{token}/draft", listen.receive_draft, methods=["POST"]),
    Route("/l/{token}/withdraw", listen.receive_withdrawal, methods=["POST"]),
    Route("/l/{token}/workbook", workbooks.show_workbook_page, methods=["GET"]),
    Route("/l/{token}/workbook", workbooks.receive_workbook, methods=["POST"]),
    Route("/l/{token}/workbook.xlsx", workbooks.send_workbook),
    Route("/static/{digest}/{name:path}", send_asset),
)


def make_app(site: Site, recordings: StudyRecordings | None = None) -> GuardedApp:
    """Return the application of a study; its long recordings are opened unless given."""
    app = GuardedApp(ROUTES, error_response, site.settings.root_path)
    app.state.site = site
    app.state.recordings = open_recordings(site) if recordings is None else recordings
    app.state.quotas = ListenerQuotas()
    app.state.places = PlaceLimit(site.settings.places_per_address)
    app.state.reading = asyncio.Semaphore(1)  # read workbooks one at a time to limit memory
    return app
