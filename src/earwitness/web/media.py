"""Sound endpoint: audio sent without headers that would identify a system."""

from __future__ import annotations

import io
import struct
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from earwitness.audio.files import write_wav
from earwitness.audio.read import read_sound
from earwitness.audio.wav import SUBTYPES, widen_wav
from earwitness.errors import EarwitnessError, StoreError
from earwitness.store.answers import add_events
from earwitness.store.records import PageEvent
from earwitness.web.answer_checks import FETCH_EVENT, fetch_event_id
from earwitness.web.listen import current_state, recent_state, use_quota
from earwitness.web.security import SOUND_REQUESTS, Refusal
from earwitness.web.site import Site
from earwitness.web.state import ListenerState

INTEGER_SUBTYPES = tuple(SUBTYPES)  # decoded to the same number of bits; others to floats
MAX_BYTES_WITHOUT_THREAD = 1024 * 1024  # about 10 s of speech, 1 ms
MAX_FRAME_BYTES = 8  # stereo, 32 bits; more channels are rare


async def send_sound(request: Request) -> Response:
    """Send a sound of the open page or of the next trial."""
    page, number = str(request.path_params["page"]), int(request.path_params["number"])
    recent = recent_state(request)
    if recent is not None and _is_allowed(recent, page):
        state = recent
        use_quota(request, {SOUND_REQUESTS: 1})
    else:
        state = await current_state(request, SOUND_REQUESTS)
    files = state.page_sequence.files(page)
    if not _is_allowed(state, page) or number >= len(files):
        raise Refusal(403, "not_now", "this sound is not available now")
    if state.visit.pages:  # before the first answer, nothing is recorded
        event = PageEvent(fetch_event_id(page, number), page, FETCH_EVENT)  # this id is saved once
        _record(state, event)
    return await send_file(state.site, files[number])


async def send_file(site: Site, name: str) -> Response:
    """Send an audio file, given by its path in the folder of the study."""
    try:
        content = await _read_content(site, name)
    except (OSError, EarwitnessError, struct.error, MemoryError) as error:
        site.messages.write(f"earwitness: {name}: {error}")
        raise Refusal(503, "no_sound", "this audio file cannot be read") from None
    return Response(content, media_type="audio/wav", headers={"Accept-Ranges": "none"})


def _is_allowed(state: ListenerState, page: str) -> bool:
    """Return whether a listener may hear the sounds of a page: the open one, or the next trial."""
    if state.is_shut_out:
        return False
    following = None if state.is_visitor else state.page_sequence.next_trial(state.place)
    return page == state.page.name or (following is not None and page == following.name)


def _record(state: ListenerState, event: PageEvent) -> None:
    """Store an event soon; if the database fails, again, since an answer may depend on it."""
    store, digest, token = state.site.store, state.site.digest, state.listener.token

    def write() -> None:
        store.write_soon(add_events, digest, token, (event,)).add_done_callback(repeat)

    def repeat(written: Future[int]) -> None:
        if isinstance(written.exception(), StoreError):
            with suppress(StoreError):  # the database is closed
                write()

    write()


async def _read_content(site: Site, name: str) -> bytes:
    """Return an audio file as it is sent; reading a short one takes less time than a thread."""
    path, sounds = site.folder / name, site.served_sounds
    frames = sounds.frames.get(name, 0)  # that it is padded to
    is_short = (
        path.suffix.lower() == ".wav"
        and max(path.stat().st_size, frames * MAX_FRAME_BYTES) <= MAX_BYTES_WITHOUT_THREAD
    )
    if is_short:
        return plain_wav_bytes(path, sounds.sample, frames)
    return await run_in_threadpool(plain_wav_bytes, path, sounds.sample, frames)


def plain_wav_bytes(path: Path, sample: tuple[int, int] | None = None, frames: int = 0) -> bytes:
    """Return a file as WAV with format and samples only, widened to ``sample`` if given.

    Audio shorter than ``frames`` is followed by silence.
    """
    if path.suffix.lower() == ".wav":
        return widen_wav(path.read_bytes(), sample, frames)
    sound = read_sound(path, truncated=True)  # with --no-audio
    buffer = io.BytesIO()
    write_wav(
        buffer,
        sound._replace(subtype=sound.subtype if sound.subtype in INTEGER_SUBTYPES else "FLOAT"),
    )
    return widen_wav(buffer.getvalue(), sample, frames)
