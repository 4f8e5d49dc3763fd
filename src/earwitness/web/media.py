"""Sound endpoint: audio sent without headers that would identify a system."""

from __future__ import annotations

import io
import struct
import sys
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from earwitness.audio.files import read_sound, write_wav
from earwitness.audio.wav import SUBTYPES, widened
from earwitness.errors import EarwitnessError
from earwitness.store.answers import add_events
from earwitness.store.records import PageEvent
from earwitness.web.listen import here
from earwitness.web.security import Refusal

INTEGER_SUBTYPES = tuple(SUBTYPES)  # what is decoded to as many bits; others to floats

FETCH_EVENT = "fetched"  # the event that says that sounds of a page were sent


async def sound(request: Request) -> Response:
    """A sound of the page that is open, or of the trial that comes next."""
    content = await run_in_threadpool(_content, request)
    return Response(content, media_type="audio/wav", headers={"Accept-Ranges": "none"})


def _content(request: Request) -> bytes:
    now, params = here(request), request.path_params
    page, number = str(params["page"]), int(params["number"])
    following = now.course.next_trial(now.place)
    allowed = {now.page.name, *(() if following is None else (following.name,))}
    files = now.course.sounds.get(page, ())
    if now.shut or page not in allowed or number >= len(files):
        raise Refusal(403, "not_now", "this sound is not to be heard now")
    if now.visit.pages:  # who has not answered anything leaves no trace
        fetched = PageEvent(f"{FETCH_EVENT} {page}", page, FETCH_EVENT)  # an id that is kept once
        now.site.store.write(add_events, now.site.digest, now.listener.number, (fetched,))
    try:
        return sound_bytes(now.site.folder / files[number], now.site.heard.sample)
    except (OSError, EarwitnessError, struct.error) as error:
        print(f"earwitness: {files[number]}: {error}", file=sys.stderr, flush=True)
        raise Refusal(503, "no_sound", "this sound is not there") from None


def sound_bytes(path: Path, sample: tuple[int, int] | None = None) -> bytes:
    """A file as WAV with nothing but format and samples, which may be wider than in the file."""
    if path.suffix.lower() == ".wav":
        return widened(path.read_bytes(), sample)
    found = read_sound(path)
    written = io.BytesIO()
    write_wav(
        written,
        found._replace(subtype=found.subtype if found.subtype in INTEGER_SUBTYPES else "FLOAT"),
    )
    return widened(written.getvalue(), sample)
