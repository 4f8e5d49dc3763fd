"""The ASGI application of the command browse: one recording, without a study."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from earwitness.web.messages import MessageLimiter
from earwitness.web.navigator import RecordingView, recording_routes, refusing_changes
from earwitness.web.pages import load_assets, load_template, send_asset, send_no_icon
from earwitness.web.security import GuardedApp, refusal_from_error

RECORDING_PATH = "/recording"


def make_browse_app(
    view: RecordingView, messages: MessageLimiter, hosts: Sequence[str] = ()
) -> GuardedApp:
    """Return the application that shows a recording.

    If ``hosts`` are given, requests to other host names are refused. A server on a loopback address
    needs them: otherwise, a web page could let its own name point to this address and listen.
    """

    async def show_page(_request: Request) -> Response:
        with refusing_changes(view):
            return HTMLResponse(_render("browse.html", view, {"address": RECORDING_PATH}))

    async def send_error(request: Request, error: Exception) -> Response:
        refusal = refusal_from_error(error)
        if refusal.status == 500:
            messages.write(f"earwitness: {type(error).__name__}: {error}")
        if "text/html" in request.headers.get("accept", ""):
            sentences = [
                f"{sentence[0].upper()}{sentence[1:]}."
                for sentence in (refusal.message, refusal.remedy)
                if sentence
            ]
            content = _render("notice.html", view, {"text": " ".join(sentences)})
            return HTMLResponse(content, refusal.status)
        return JSONResponse(refusal.body, refusal.status)

    routes = [
        Route("/", show_page),
        Route("/favicon.ico", send_no_icon),
        *recording_routes(RECORDING_PATH, lambda _: view),
        Route("/static/{digest}/{name:path}", send_asset),
    ]
    return GuardedApp(routes, send_error, hosts=hosts)


def _render(template: str, view: RecordingView, more: dict[str, object]) -> str:
    context = {
        "title": view.index.recording.name,
        "language": "en",
        "static": f"/static/{load_assets().digest}",
    }
    return load_template(template).render(context | more)
