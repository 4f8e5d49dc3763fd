"""The ASGI application of serve --preview: any page of any listener, of which nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from earwitness.store.records import Listener, ParticipationState, Visit
from earwitness.web.media import send_file
from earwitness.web.navigator import RecordingView, recording_routes
from earwitness.web.pages import listener_page, preview_page, send_asset, send_no_icon
from earwitness.web.recordings import RECORDING_PREFIX, StudyRecordings, open_recordings
from earwitness.web.security import (
    GuardedApp,
    error_response,
    not_found_refusal,
)
from earwitness.web.site import Site, served_site
from earwitness.web.state import ListenerState, listener_state, state_json

MAX_DIGITS = 9  # of numbers of listeners and pages
LONG_AGO = "2000-01-01T00:00:00+00:00"  # when earlier pages were answered; breaks are over


def make_preview_app(
    site: Site, recordings: StudyRecordings | None = None, hosts: Sequence[str] = ()
) -> GuardedApp:
    """Return the application that shows any page of a study; ``hosts`` are those of requests."""
    routes = (
        Route("/", show_pages),
        Route("/l/{token}", show_page),
        Route("/l/{token}/state", send_state),
        Route("/l/{token}/answers", receive_answer, methods=["POST"]),
        Route("/l/{token}/events", receive_nothing, methods=["POST"]),
        Route("/l/{token}/draft", receive_nothing, methods=["POST"]),
        Route("/l/{token}/withdraw", receive_withdrawal, methods=["POST"]),
        Route("/l/{token}/sound/{page}/{number:int}", send_sound),
        *recording_routes(RECORDING_PREFIX, _find_recording),
        Route("/favicon.ico", send_no_icon),
        Route("/static/{digest}/{name:path}", send_asset),
    )
    app = GuardedApp(routes, error_response, site.settings.root_path, hosts)
    app.state.site = site
    app.state.recordings = open_recordings(site) if recordings is None else recordings
    return app


def page_link(site: Site, listener: int, place: int) -> str:
    """Return the path of a page of a listener, by its index."""
    return f"{site.settings.root_path}/l/{listener}-{place}"


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= MAX_DIGITS


def _find_state(request: Request) -> ListenerState:
    """Return the state of a listener who has reached the page of a link."""
    site = served_site(request)
    listener, _, place = str(request.path_params["token"]).partition("-")
    if not (_is_number(listener) and _is_number(place) and int(listener) in site.numbers):
        raise not_found_refusal()
    sequence = site.page_sequence(int(listener))
    if int(place) > sequence.last_place:
        raise not_found_refusal()
    pages = dict.fromkeys(sequence.outline.names[: int(place)], LONG_AGO)
    token, state = f"{int(listener)}-{int(place)}", ParticipationState.JOINED
    known = site.digest, int(listener), token, None, state, None, None, None, "PREVIEW"
    reached = listener_state(site, Visit(Listener(*known), pages))
    # as for a visitor, nothing is read from the database
    return replace(reached, is_visitor=True, page=replace(reached.page, about=None))


async def show_pages(request: Request) -> Response:
    """Send the list of all pages of a listener."""
    site, wanted = served_site(request), request.query_params.get("listener", "")
    listener = int(wanted) if _is_number(wanted) else min(site.numbers)
    if listener not in site.numbers:
        raise not_found_refusal()
    sequence = site.page_sequence(listener)
    pages = [sequence.content(place).page for place in range(sequence.last_place + 1)]
    rows = [
        {
            "address": page_link(site, listener, place),
            "title": page.view["title"],
            "trial": page.trial and f"{page.trial.item}: {', '.join(page.trial.systems)}",
        }
        for place, page in enumerate(pages)
    ]
    return HTMLResponse(preview_page(site, listener, rows))


async def show_page(request: Request) -> Response:
    """Send the HTML shell of a page, with links to the page before and after it."""
    state = _find_state(request)
    site, listener, place = state.site, state.listener.number, state.place
    is_last = place == state.page_sequence.last_place
    links = {
        "before": page_link(site, listener, place - 1) if place else "",
        "all": f"{site.settings.root_path}/?listener={listener}",
        "after": "" if is_last else page_link(site, listener, place + 1),
    }
    return HTMLResponse(listener_page(site, state.listener.token, links))


async def send_state(request: Request) -> Response:
    """Send the state of a listener who has just reached the page."""
    state = _find_state(request)
    shown = await run_in_threadpool(state_json, state, level_is_known=True)
    if rows := shown["page"].get("rows"):  # of feedback: there are no answers
        shown["page"]["rows"] = [row | {"given": row["expected"] or "–"} for row in rows]
    return JSONResponse(shown)


async def receive_answer(request: Request) -> Response:
    """Send the address of the next page; nothing is checked or stored."""
    state = _find_state(request)
    after = min(state.place + 1, state.page_sequence.last_place)
    link = page_link(state.site, state.listener.number, after)
    return JSONResponse({"status": "stored", "address": link})


async def receive_nothing(_request: Request) -> Response:
    """Confirm events or a draft, which are not stored."""
    return JSONResponse({"status": "known", "revision": 0})


async def receive_withdrawal(request: Request) -> Response:
    """Send the page of people who have withdrawn."""
    state = _find_state(request)
    listener = replace(state.listener, state=ParticipationState.WITHDRAWN)
    return JSONResponse(state_json(replace(state, visit=replace(state.visit, listener=listener))))


async def send_sound(request: Request) -> Response:
    """Send a sound of any page."""
    files = _find_state(request).page_sequence.files(str(request.path_params["page"]))
    number = int(request.path_params["number"])
    if number >= len(files):
        raise not_found_refusal()
    return await send_file(served_site(request), files[number])


def _find_recording(request: Request) -> RecordingView:
    """Return the long recording of the page of a link."""
    recordings: StudyRecordings = request.app.state.recordings
    item = _find_state(request).page.item
    if item not in recordings:
        raise not_found_refusal()
    return recordings[item]
