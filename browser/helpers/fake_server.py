"""A server of listeners' pages in memory, which says what the real one says: no study, no store.

Tests see all that it took, and may set what it does next.
"""

from __future__ import annotations

import io
import math
import struct
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from earwitness.studies.wording import wording

WEB = Path(__file__).parents[2] / "src" / "earwitness" / "web"
SCRIPTS = Path(__file__).parent / "scripts"  # that only tests load
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
RATE = 16000
View = dict[str, Any]


def tone(seconds: float = 0.4, hertz: float = 440.0) -> bytes:
    """A WAV file with a tone."""
    count = round(seconds * RATE)
    wave_of = (round(8000 * math.sin(2 * math.pi * hertz * n / RATE)) for n in range(count))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(b"".join(struct.pack("<h", one) for one in wave_of))
    return out.getvalue()


class FakeServer:
    """The pages of one listener, and all that came from the browser."""

    def __init__(self, pages: list[View], language: str = "en") -> None:
        self.pages = pages
        self.language = language
        self.place = 0
        self.answers: list[View] = []
        self.events: list[View] = []
        self.posts: list[str] = []
        self.sound = tone()
        self.rest_until = 0.0
        self.blocked = self.withdrawn = False
        self.address = ""
        self._arrive()

    def values(self) -> dict[str, Any]:
        """What was answered, by page."""
        return {one["page"]: one["values"] for one in self.answers}

    def _arrive(self) -> None:
        page = self.pages[self.place]
        if page["kind"] == "rest":
            self.rest_until = time.monotonic() + page["seconds"]

    def state(self) -> View:
        page = self.pages[self.place]
        later = (one for one in self.pages[self.place + 1 :] if one.get("sounds"))
        ahead = [sound["address"] for one in list(later)[:1] for sound in one["sounds"]]
        done = page["kind"] == "end"
        seconds = max(0.0, self.rest_until - time.monotonic())
        return {
            "page": None if self.withdrawn or self.blocked else page,
            "progress": [self.place, len(self.pages) - 1],
            "minutes": len(self.pages) - self.place,
            "rest": {"until": "", "seconds": seconds} if seconds else None,
            "ahead": ahead,
            "level": self.values().get("device", {}).get("level"),
            # a trial never comes first: where it does here, earlier pages are left out
            "answered": len(self.answers) + bool(self.pages[0].get("sounds")),
            "done": done,
            "code": "C0DE-77" if done else None,
            "service": True,
            "blocked": self.blocked,
            "withdrawn": self.withdrawn,
        }

    async def shell(self, request: Request) -> Response:
        del request
        looked = FileSystemLoader(WEB / "templates")
        template = Environment(loader=looked, autoescape=select_autoescape()).get_template(
            "shell.html"
        )
        words = dict(wording(self.language).web)
        known: View = {"language": self.language, "title": "Listening test", "static": "/static"}
        renderers = {page["renderer"]: None for page in self.pages if page.get("renderer")}
        sheets = [f"trials/{name}.css" for name in renderers]
        known["style_sheets"] = [one for one in sheets if (WEB / "static" / one).exists()]
        scripts = [f"trials/{name}.js" for name in renderers]
        text = template.render(words=words, scripts=scripts, **known)
        return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})

    async def told(self, request: Request) -> Response:
        del request
        return JSONResponse(self.state())

    async def heard(self, request: Request) -> Response:
        open_pages = (self.pages[self.place], *self.pages[self.place + 1 :])
        allowed = [one["name"] for one in open_pages if one.get("sounds")][:2]
        if request.path_params["page"] not in allowed:
            return JSONResponse({"error": {"code": "not_open", "message": ""}}, 403)
        return Response(self.sound, media_type="audio/wav", headers={"Cache-Control": "no-store"})

    async def answered(self, request: Request) -> Response:
        body = await request.json()
        self.posts.append(body["id"])
        page = self.pages[self.place]
        if any(one["id"] == body["id"] for one in self.answers):
            return JSONResponse({"status": "known", "state": self.state()})
        if any(one["page"] == body["page"] for one in self.answers):
            return JSONResponse({"status": "taken", "state": self.state()})
        if body["page"] != page["name"] or self.state()["rest"]:
            error = {"code": "not_open", "message": "this page is not open"}
            return JSONResponse({"error": error, "state": self.state()}, 409)
        self.answers.append(body)
        self.place += 1
        self._arrive()
        return JSONResponse({"status": "stored", "state": self.state()})

    async def happened(self, request: Request) -> Response:
        self.events += (await request.json())["events"]
        return JSONResponse({"status": "stored"})

    async def withdrew(self, request: Request) -> Response:
        assert (await request.json()) == {"confirm": True}
        self.withdrawn = True
        self.answers = []
        return JSONResponse(self.state())

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/l/tok", self.shell),
                Route("/l/tok/state", self.told),
                Route("/l/tok/sound/{page}/{number:int}", self.heard),
                Route("/l/tok/answers", self.answered, methods=["POST"]),
                Route("/l/tok/events", self.happened, methods=["POST"]),
                Route("/l/tok/withdraw", self.withdrew, methods=["POST"]),
                Mount("/tests", StaticFiles(directory=SCRIPTS)),
                Mount("/static", StaticFiles(directory=WEB / "static")),
            ]
        )


@contextmanager
def served(fake: FakeServer) -> Iterator[FakeServer]:
    """Serve on a free port of this machine while the block runs."""
    config = uvicorn.Config(fake.app(), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    fake.address = f"http://127.0.0.1:{port}/l/tok"
    yield fake
    server.should_exit = True
    thread.join()
