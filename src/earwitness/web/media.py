"""Sound endpoint: audio sent without headers that would identify a system."""

from __future__ import annotations

import io
import struct
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from earwitness.audio.files import read_sound, write_wav
from earwitness.audio.wav import SUBTYPES, widen_wav
from earwitness.errors import EarwitnessError
from earwitness.store.answers import add_events
from earwitness.store.records import PageEvent
from earwitness.web.answer_checks import FETCH_EVENT, fetch_event_id
from earwitness.web.listen import find_state
from earwitness.web.security import SOUND_REQUESTS, Refusal

INTEGER_SUBTYPES = tuple(SUBTYPES)  # decoded to the same number of bits; others to floats


async def send_sound(request: Request) -> Response:
    """Send a sound of the open page or of the next trial."""
    content = await run_in_threadpool(_read_content, request)
    return Response(content, media_type="audio/wav", headers={"Accept-Ranges": "none"})


def _read_content(request: Request) -> bytes:
    state, params = find_state(request, SOUND_REQUESTS), request.path_params
    page, number = str(params["page"]), int(params["number"])
    following = state.page_sequence.next_trial(state.place)
    allowed = {state.page.name}
    if following is not None and not state.is_visitor:
        allowed.add(following.name)
    files = state.page_sequence.sounds.get(page, ())
    if state.is_shut_out or page not in allowed or number >= len(files):
        raise Refusal(403, "not_now", "this sound is not available now")
    if state.visit.pages:  # before the first answer, nothing is recorded
        event = PageEvent(fetch_event_id(page, number), page, FETCH_EVENT)  # this id is saved once
        state.site.store.write_soon(add_events, state.site.digest, state.listener.token, (event,))
    try:
        name, sounds = files[number], state.site.served_sounds
        return plain_wav_bytes(state.site.folder / name, sounds.sample, sounds.frames.get(name, 0))
    except (OSError, EarwitnessError, struct.error) as error:
        state.site.messages.write(f"earwitness: {files[number]}: {error}")
        raise Refusal(503, "no_sound", "this audio file cannot be read") from None


def plain_wav_bytes(path: Path, sample: tuple[int, int] | None = None, frames: int = 0) -> bytes:
    """Return a file as WAV with format and samples only, widened to ``sample`` if given.

    Audio shorter than ``frames`` is followed by silence.
    """
    if path.suffix.lower() == ".wav":
        return widen_wav(path.read_bytes(), sample, frames)
    sound = read_sound(path)
    buffer = io.BytesIO()
    write_wav(
        buffer,
        sound._replace(subtype=sound.subtype if sound.subtype in INTEGER_SUBTYPES else "FLOAT"),
    )
    return widen_wav(buffer.getvalue(), sample, frames)
