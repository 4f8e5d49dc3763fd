"""What is refused, in one shape: JSON for programs, a plain page for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from earwitness.errors import StoreError
from earwitness.web.pages import notice

NOT_HERE = "not_here"  # said by us, so the server is there: asking again will not help
NOT_SERVED = "ask whoever sent you the link: this study may not be served now"


@dataclass(eq=False)
class Refusal(Exception):
    """Why something was not done.

    ``wrong`` is said to listeners, in their language; ``details`` are for who looks at what is
    sent. ``more`` stands beside the error, such as the state.
    """

    status: int
    code: str
    message: str
    remedy: str = ""
    wrong: Sequence[str] = ()
    details: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """As JSON."""
        told: dict[str, Any] = {"code": self.code, "message": self.message}
        told |= {"remedy": self.remedy, "wrong": list(self.wrong), "details": list(self.details)}
        return {"error": {name: one for name, one in told.items() if one}, **self.more}


def nothing_here() -> Refusal:
    """Unknown links and unknown addresses look alike."""
    return Refusal(404, NOT_HERE, "there is nothing at this address", NOT_SERVED)


async def refused(request: Request, error: Exception) -> Response:
    """A refusal, told in the form that was asked for."""
    found = _refusal(error)
    if "text/html" in request.headers.get("accept", ""):
        page = notice(request.app.state.site, "not_found" if found.status == 404 else "failed")
        return HTMLResponse(page, found.status)
    headers = {"Connection": "close"} if found.status == 408 else {}
    return JSONResponse(found.body, found.status, headers)


def _refusal(error: Exception) -> Refusal:
    """What may be told of an error; the rest is for who runs the server."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase.lower()
        is_missing = error.status_code == 404
        return nothing_here() if is_missing else Refusal(error.status_code, "refused", phrase)
    if isinstance(error, StoreError):
        print(f"earwitness: {error}", file=sys.stderr, flush=True)
        return Refusal(503, "store_failed", "nothing was kept", "send it again, it will be known")
    return Refusal(500, "failed", "something went wrong", "send it again, it will be known")


HANDLERS: Mapping[Any, Any] = dict.fromkeys(
    (Refusal, HTTPException, StoreError, Exception), refused
)
