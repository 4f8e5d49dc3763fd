"""Endpoints of a recording that is browsed: description, tiles and sound, under any prefix."""

from __future__ import annotations

import asyncio
import gzip
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from earwitness.audio.logmel import ABSENT_BYTE, FLOOR_DB, FRAMES_PER_SECOND, STEP_DB, band_edges
from earwitness.navigator.index import RecordingChanged, RecordingIndex
from earwitness.navigator.indices import COLOUR_LEVELS
from earwitness.navigator.labels import Overlay
from earwitness.navigator.pyramid import LAST_LEVEL
from earwitness.navigator.sound import MAX_EXCERPT_SECONDS, wav_bytes
from earwitness.navigator.tiles import FINE_LEVELS, TILE_COLUMNS, fine_kernel, make_tile
from earwitness.recordings.types import Damage
from earwitness.web.security import Refusal, not_found_refusal

SOUND_PATH = "/sound"
TILE_NUMBER = re.compile("0|-?[1-9][0-9]{0,8}")
KEEP_TILE = "private, max-age=31536000, immutable"
KEEP_NOTHING = "no-store"  # the address of a sound does not name the recording
TILE_CACHE_BYTES = 64 * 1024 * 1024  # of tiles of all recordings
# few threads, so that many requests need little memory; what is quick does not wait for fine tiles
_QUICK_THREADS, _FINE_THREADS = ThreadPoolExecutor(4, "quick"), ThreadPoolExecutor(2, "fine")


@dataclass(frozen=True)
class RecordingView:
    """A recording as one client sees it; ``display`` is fixed, or None if the client chooses.

    With ``is_blind``, no names of files are sent, also not in notes and errors.
    """

    index: RecordingIndex
    overlays: Sequence[Overlay] = ()
    display: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()
    is_blind: bool = False


ViewFinder = Callable[[Request], RecordingView]
Responder = Callable[[RecordingView, Request], Response]


def recording_routes(prefix: str, find_view: ViewFinder) -> list[Route]:
    """Return the routes of a recording.

    Parameters
    ----------
    prefix
        Path of the recording; may have parameters.
    find_view
        Returns what the client of a request may see, or raises ``Refusal``; called in a thread.
    """
    responses: dict[str, Responder] = {
        "/info": lambda view, _: JSONResponse(describe_view(view)),
        "/progress": lambda view, _: JSONResponse(describe_progress(view)),
        "/tile/{digest}/{kind}/{level}/{number}": _tile_response,
        SOUND_PATH: _sound_response,
    }
    return [
        Route(prefix + path, partial(_respond, find_view, respond))
        for path, respond in responses.items()
    ]


async def _respond(find_view: ViewFinder, respond: Responder, request: Request) -> Response:
    """Send a response that is made in a thread."""

    def work() -> Response:
        view = find_view(request)
        with refusing_changes(view):
            return respond(view, request)

    is_fine = request.path_params.get("kind") == "fine"
    threads = _FINE_THREADS if is_fine else _QUICK_THREADS
    return await asyncio.get_running_loop().run_in_executor(threads, work)


@contextmanager
def refusing_changes(view: RecordingView) -> Iterator[None]:
    """Refuse a recording whose files have changed or vanished, before or meanwhile."""
    try:
        view.index.check_unchanged()
        yield
    except RecordingChanged as error:
        message, _, remedy = str(error).partition(" — ")
        if view.is_blind:
            message, remedy = "the recording has changed", ""
        raise Refusal(409, "changed", message, remedy) from None


# --- Description ---------------------------------------------------------------------------------


def describe_progress(view: RecordingView) -> dict[str, Any]:
    """Return what changes while the index of a recording is built."""
    index = view.index
    message = _hide_folders(index, [index.message])[0]
    return {
        "state": index.state,
        "message": "its index could not be built" if view.is_blind and message else message,
        "done": index.done,
        "checked": index.checked_samples / index.rate,
        "range_db": list(index.range_db),
    }


def describe_view(view: RecordingView) -> dict[str, Any]:
    """Return the description of a recording: clock, files, levels, progress and overlays."""
    index = view.index
    recording = index.recording
    began = recording.began
    blind = {
        "name": "",
        "stretches": [[stretch.start, stretch.seconds, ""] for stretch in recording.stretches],
        "notes": [],
    }
    notes = _hide_folders(index, [*recording.notes, *map(describe_damage, recording.damages)])
    return {
        **describe_progress(view),
        "name": recording.name,
        "seconds": index.seconds,
        "began": began.isoformat() if began else None,
        "rate": index.rate,
        "channels": recording.channels,
        "digest": index.digest,
        "offsets": _find_offsets(began, index.seconds),
        "stretches": [
            [stretch.start, stretch.seconds, Path(stretch.path).name]
            for stretch in recording.stretches
        ],
        "damages": [damage.start for damage in recording.damages],
        "notes": [*view.notes, *notes],
        "tile_columns": TILE_COLUMNS,
        "frame_seconds": 1 / FRAMES_PER_SECOND,
        "levels": LAST_LEVEL + 1,
        "fine_levels": -FINE_LEVELS[0],
        "bands": [round(float(edge), 1) for edge in band_edges(index.rate)[1:-1]],
        "fine_bands": fine_kernel(index.rate).frequencies(index.rate),
        "byte": {"floor_db": FLOOR_DB, "step_db": STEP_DB, "absent": ABSENT_BYTE},
        "colour_levels": [COLOUR_LEVELS[0], COLOUR_LEVELS[-1]],
        "overlays": [
            {
                "name": overlay.name,
                "kind": overlay.kind,
                "spans": [list(span) for span in overlay.spans],
            }
            for overlay in view.overlays
        ],
        "speech": index.settings.speech,
        "display": view.display,
        **(blind if view.is_blind else {}),
    }


def describe_damage(damage: Damage) -> str:
    """Return in words what is wrong with a passage of a file."""
    return f"{damage.path}: {damage.message} (from {damage.at:.1f} s)"


# a path in quotes, before a colon at the start of a line, or without spaces
ABSOLUTE_PATH = re.compile(
    r"""(?<=['"])/[^'"\n]+(?=['"])|^/.*?(?=: )|(?<![\w/:])/[^\s:'",;]+""", re.M
)


def _hide_folders(index: RecordingIndex, texts: Iterable[str]) -> list[str]:
    """Return texts with names of files instead of their paths."""
    recording = index.recording
    paths = {stretch.path for stretch in recording.stretches} | {
        damage.path for damage in recording.damages
    }
    plain = list(texts)
    for path in sorted(paths, key=len, reverse=True):
        plain = [text.replace(path, Path(path).name) for text in plain]
    return [ABSOLUTE_PATH.sub(lambda path: Path(path[0]).name, text) for text in plain]


def _find_offsets(began: datetime | None, seconds: float) -> list[list[float]]:
    """Return the offset from UTC at the start and at each change, with its time."""
    if began is None or began.tzinfo is None:
        return []
    moment = began.timestamp()

    def offset(time: float) -> float:
        offset = datetime.fromtimestamp(moment + time, began.tzinfo).utcoffset()
        return (offset or timedelta()).total_seconds()

    offsets = [[0.0, offset(0)]]
    for hour in range(math.ceil(seconds / 3600)):
        low, high = hour * 3600.0, min(seconds, (hour + 1) * 3600.0)
        if offset(high) == offset(low):
            continue
        while high - low > 0.5:  # clocks change on whole seconds of UTC
            middle = (low + high) / 2
            low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
        offsets.append([round(high + moment) - moment, offset(high)])
    return offsets


# --- Tiles ---------------------------------------------------------------------------------------


class SentTile(NamedTuple):
    """The body of a reply, its number of columns, and whether it is compressed."""

    content: bytes
    columns: int
    is_compressed: bool


@dataclass
class TileCache:
    """The most recently sent complete tiles, up to a number of bytes."""

    max_bytes: int = TILE_CACHE_BYTES
    _tiles: OrderedDict[tuple[str, ...], SentTile] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: tuple[str, ...]) -> SentTile | None:
        """Return a tile, or None."""
        with self._lock:
            if key in self._tiles:
                self._tiles.move_to_end(key)
            return self._tiles.get(key)

    def add(self, key: tuple[str, ...], tile: SentTile) -> None:
        """Keep a tile; drop those that were not used for longest."""
        with self._lock:
            if key not in self._tiles:
                self._tiles[key] = tile
                self._size += len(tile.content)
            while self._size > self.max_bytes:
                self._size -= len(self._tiles.popitem(last=False)[1].content)


_TILES = TileCache()


def _tile_response(view: RecordingView, request: Request) -> Response:
    index, params = view.index, request.path_params
    kind, level, number = (str(params[name]) for name in ("kind", "level", "number"))
    is_number = TILE_NUMBER.fullmatch(level) and TILE_NUMBER.fullmatch(number)
    if params["digest"] != index.digest or not is_number:
        raise not_found_refusal()
    key = (index.digest, kind, level, number)
    tile, is_complete = _TILES.get(key), True
    if tile is None:
        made = make_tile(index, kind, int(level), int(number))
        if made is None:
            raise not_found_refusal()
        is_complete = made.is_complete
        content, is_compressed = made.rows.tobytes(), kind != "fine"  # which are noisy
        if is_compressed:
            content = gzip.compress(content, 1, mtime=0)
        tile = SentTile(content, made.rows.shape[1], is_compressed)
        if is_complete and index.state == "ready":  # damage is known only then
            _TILES.add(key, tile)
    headers = {
        "X-Columns": str(tile.columns),
        "X-Complete": str(int(is_complete)),
        "Cache-Control": KEEP_TILE if is_complete and index.state == "ready" else KEEP_NOTHING,
        "Vary": "Accept-Encoding",
    }
    content = tile.content
    if tile.is_compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    elif tile.is_compressed:
        content = gzip.decompress(content)
    return Response(content, media_type="application/octet-stream", headers=headers)


# --- Sound ---------------------------------------------------------------------------------------


def _sound_response(view: RecordingView, request: Request) -> Response:
    index, start = view.index, _read_number(request, "start")
    seconds = read_seconds(request)
    if not 0 <= start < index.seconds:
        raise Refusal(400, "bad_time", "start must be within the recording")
    first = round(start * index.rate)
    count = min(round(seconds * index.rate), index.sample_count - first)
    if count < 1:
        raise Refusal(400, "bad_time", "the excerpt has no samples")
    if first + count > index.checked_samples:
        message = "this passage has not been checked for speech yet"
        raise Refusal(503, "not_yet", message, "try again later")
    samples = index.read_checked(first, count).samples
    headers = {"Cache-Control": KEEP_NOTHING, "Accept-Ranges": "none"}
    return Response(wav_bytes(samples, index.rate), media_type="audio/wav", headers=headers)


def read_seconds(request: Request) -> float:
    """Return the length of the excerpt that a request asks for; refuse impossible ones."""
    seconds = _read_number(request, "seconds")
    if not 0 < seconds <= MAX_EXCERPT_SECONDS:
        message = f"seconds must be above 0 and at most {MAX_EXCERPT_SECONDS:g}"
        raise Refusal(400, "bad_time", message)
    return seconds


def _read_number(request: Request, name: str) -> float:
    try:
        number = float(request.query_params[name])
    except (KeyError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise Refusal(400, "bad_time", f'the parameter "{name}" must be a number')
    return number
