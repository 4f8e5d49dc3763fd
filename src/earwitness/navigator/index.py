"""Index of a recording: opened at once, built in a thread, cached by content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Annotated, Any, Literal, NamedTuple
from weakref import WeakValueDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import mp3_layout
from earwitness.audio.files import DecodingError, Samples
from earwitness.audio.logmel import ABSENT_BYTE, FLOOR_DB, FRAMES_PER_SECOND, STEP_DB, Bytes
from earwitness.audio.mp3 import walk_file
from earwitness.audio.read import Break
from earwitness.core import Progress, no_progress
from earwitness.errors import EarwitnessError, UsageError
from earwitness.models.cache import (
    Cache,
    CacheHold,
    StoredRows,
    entry_size,
    find_cache,
    hash_text,
    make_folder,
    open_sealed,
    trim_cache,
)
from earwitness.models.frames import (
    FrameFile,
    FrameSource,
    RecordingFrames,
    iterate_shards,
    shard_folder,
    sound_digest,
)
from earwitness.navigator.indices import COLOUR_LEVELS, COLUMN_FRAMES
from earwitness.navigator.pyramid import PYRAMID_FORMAT, Pyramid, PyramidBuilder
from earwitness.navigator.sound import (
    SpeechBlock,
    SpeechChange,
    SpeechPieces,
    divide_blocks,
    find_speech_blocks,
    read_samples,
)
from earwitness.recordings.cut import find_stretches
from earwitness.recordings.recording import remove_breaks
from earwitness.recordings.types import Recording
from earwitness.speech.vad import SpeechDetector, find_detector

IndexState = Literal["building", "ready", "failed"]
MAX_CACHE_BYTES = 20e9
INDEX_BYTES_PER_FRAME = 46  # in the cache: 40 of the frame itself, and levels
PORTION_FRAMES = 120 * COLUMN_FRAMES  # added to the levels at a time, to save memory
MAX_STEPS = 100  # in which the picture of a recording of less than a day advances
RANGE_LEVEL = COLOUR_LEVELS[0]  # of the range of levels
CHECK_SECONDS = 1.0  # files are checked for changes at most this often
DEFAULT_RANGE_DB = (-90.0, -20.0)  # while nothing is indexed
INDEX_FOLDER, PYRAMID_FILE = "navigator", "pyramid.sealed"


class RecordingChanged(UsageError):
    """A file of a recording has changed or vanished since the recording was opened."""


class CheckedSamples(NamedTuple):
    """Samples of the served copy, and the sample up to which speech was checked."""

    samples: Samples
    checked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """How a recording is served.

    Parameters
    ----------
    speech
        Passages with speech: ``keep``, play backwards (``reverse``), or ``mute``.
    detector
        Speech detector: a Silero ONNX file, or cues. By default the file of silero-vad if that
        package and onnxruntime are installed, else cues.
    cache_bytes
        Largest size of all indexes in the cache. Before and after a build, frames and levels that
        were not used for longest are removed.
    """

    speech: SpeechChange = "keep"
    detector: Annotated[str | None, "NAME|FILE"] = None
    cache_bytes: float = MAX_CACHE_BYTES


class RecordingIndex:
    """Picture and sound of a recording, usable while the picture is computed.

    Parameters
    ----------
    recording
        The recording.
    cache
        Cache folder; by default that of the user.
    settings
        What happens to speech, and the size of the cache.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        cache: Cache | None = None,
        settings: IndexSettings | None = None,
    ) -> None:
        self.recording, self.cache = recording, cache or find_cache()
        self.settings = settings or IndexSettings()
        is_kept = self.settings.speech == "keep"
        self._detector = None if is_kept else find_detector(self.settings.detector)
        self.rate, self.seconds = recording.rate, recording.seconds
        self.sample_count = round(recording.seconds * recording.rate)
        self._stamps = {stretch.path: _stamp_file(stretch.path) for stretch in recording.stretches}
        self.digest = _served_digest(recording, self._stamps, self.settings.speech, self._detector)
        self._files = dict.fromkeys(self._stamps, FrameFile(()))
        self._frames = RecordingFrames(recording, self._files)
        self.frame_count = len(self._frames)
        self.state: IndexState = "building"
        self.message = ""
        self.done_frames = 0
        self.range_db = DEFAULT_RANGE_DB  # levels to colour, of what is indexed
        self._ranged_share = 0  # in hundredths
        self._step_frames = max(COLUMN_FRAMES, min(PORTION_FRAMES, self.frame_count // MAX_STEPS))
        self._known_stretches = 0  # whose frames are all known
        self._speech = SpeechPieces()
        self._hold = CacheHold(self.cache)
        self._checked_at = -np.inf
        self._is_closed = self._is_over = False
        self._thread: Thread | None = None
        self._empty = Pyramid.absent(self.frame_count)
        self._pyramid: Pyramid | None = None

    # --- State of the index ---

    @property
    def pyramid(self) -> Pyramid:
        """Stored levels; absent as far as they are not built."""
        return self._pyramid or self._empty

    @property
    def done(self) -> float:
        """Seconds from the start whose picture is complete."""
        is_all = self.done_frames >= self.frame_count
        return self.seconds if is_all else self.done_frames / FRAMES_PER_SECOND

    @property
    def checked_samples(self) -> int:
        """Samples from the start that may be heard."""
        return self.sample_count if self.settings.speech == "keep" else self._speech.checked

    @property
    def checked_frames(self) -> int:
        """Frames from the start that may be seen in detail."""
        if self.checked_samples >= self.sample_count:
            return self.frame_count
        return self.checked_samples * FRAMES_PER_SECOND // self.rate

    def check_unchanged(self) -> None:
        """Raise ``RecordingChanged`` if a file is not as it was when the recording was opened."""
        if monotonic() < self._checked_at + CHECK_SECONDS:
            return
        self._check_files(self._stamps)
        self._checked_at = monotonic()

    def _check_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            if _stamp_file(path) != self._stamps[path]:
                verb = _describe_change(Path(path))
                raise RecordingChanged(f"{Path(path).name} {verb} — open the recording again")

    # --- Picture and sound ---

    def shown_frames(self, first: int, last: int) -> Bytes:
        """Return frames of the served copy; passages that are not checked are absent."""
        rows = self._frames.rows(first, last)
        speech, change = self._speech, self.settings.speech  # the thread may replace it
        if change == "keep":
            return rows
        scale = FRAMES_PER_SECOND / self.rate
        for piece in speech.within(round(first / scale), round(last / scale) + 1):
            begin, end = round(piece.first * scale), round(piece.end * scale)
            low, high = max(first, begin), min(last, end)
            if low >= high:
                continue
            if change == "reverse":
                mirrored = self._frames.rows(begin + end - high, begin + end - low)[::-1]
                rows[low - first : high - first] = mirrored
            else:
                muted = rows[low - first : high - first]
                muted[muted != ABSENT_BYTE] = 0
        checked = self.frame_count
        if speech.checked < self.sample_count:
            checked = speech.checked * FRAMES_PER_SECOND // self.rate
        rows[max(0, checked - first) :] = ABSENT_BYTE
        return rows

    def read_checked(self, first: int, count: int, channels: int = 0) -> CheckedSamples:
        """Return samples of the served copy; those that are not checked are silent.

        Raises ``RecordingChanged`` if their files are not as when the recording was opened.
        ``channels`` is 1 for the mean of all channels, or by default those of excerpts.
        """
        checked = self.checked_samples
        heard = min(count, max(0, checked - first))
        samples = read_samples(
            self.recording, first, heard, self.settings.speech, self._speech, channels
        )
        span = (first / self.rate, (first + count) / self.rate)
        self._check_files({stretch.path for stretch in find_stretches(self.recording, *span)})
        if heard < count:
            samples = np.pad(samples, ((0, count - heard), (0, 0)))
        return CheckedSamples(samples, checked)

    def is_recorded(self, samples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether anything was recorded at these samples."""
        spans = [(stretch.start, stretch.end) for stretch in self.recording.stretches]
        starts, ends = np.rint(np.array(spans).T * self.rate)
        places = np.searchsorted(starts, samples, "right") - 1
        return np.asarray((places >= 0) & (samples < ends[np.maximum(0, places)]))

    # --- Building ---

    def start(self, progress: Progress = no_progress) -> RecordingIndex:
        """Build the index in a thread; ``progress`` is in seconds of audio."""
        if self._thread is None:
            self._thread = Thread(target=self._build, args=(progress,), daemon=True)
            self._thread.start()
        return self

    def wait(self, seconds: float | None = None) -> RecordingIndex:
        """Wait until the index is built, has failed or was closed, or for some seconds."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def close(self) -> None:
        """Stop building, and let the cache remove the index."""
        self._is_closed = True
        if self._thread is None or self._is_over:
            self._hold.close()

    def _build(self, progress: Progress) -> None:
        try:
            self._find_mp3_frames()
            folder = self._hold_files()
            with BUILDING:
                self._check_open()
                try:
                    self._load_frames(folder, progress)
                    self._check_speech(progress)
                finally:
                    trim_cache(self.cache, self.settings.cache_bytes)
            self.state = "ready"
        except _Closed:
            pass
        except Exception as error:  # noqa: BLE001 - shown on the page, since nobody waits for it
            is_explained = isinstance(error, EarwitnessError)
            self.message = str(error) if is_explained else f"{type(error).__name__}: {error}"
            self.state = "failed"
        finally:
            self._is_over = True  # before it is looked whether anybody has closed the index
            if self._is_closed:
                self._hold.close()

    def _find_mp3_frames(self) -> None:
        """Prepare MP3 files for exact cuts, so that the first click does not wait for it."""
        for path in map(Path, self._stamps):
            with suppress(DecodingError, OSError):
                if mp3_layout(path):
                    walk_file(path)

    def _check_open(self, _: float = 0.0) -> None:
        if self._is_closed:
            raise _Closed

    def _hold_files(self) -> Path:
        """Keep the frames and levels in the cache; return the folder of the levels."""
        recording = self.recording
        spans = [
            (
                sound_digest(Path(stretch.path), self.cache),
                stretch.at,
                stretch.start,
                stretch.seconds,
            )
            for stretch in recording.stretches
        ]
        parts = [PYRAMID_FORMAT, recording.rate, recording.seconds, spans]
        key = hash_text(msgspec.json.encode(parts).decode())
        folder = self.cache.folder / INDEX_FOLDER / key
        for entry in (folder, *(shard_folder(Path(stamp), self.cache) for stamp in self._stamps)):
            self._check_open()
            self._hold.add(entry)
        return folder

    def _load_frames(self, folder: Path, progress: Progress) -> None:
        recording, cache = self.recording, self.cache
        make_folder(folder)
        sealed = open_sealed(folder / PYRAMID_FILE)
        builder = None
        if sealed is None:
            needed = self.frame_count * INDEX_BYTES_PER_FRAME
            stored = sum(entry_size(shard_folder(Path(path), cache)) for path in self._stamps)
            trim_cache(cache, self.settings.cache_bytes - max(0, needed - stored))
            builder = PyramidBuilder(self.frame_count, folder)
            self._pyramid = builder.pyramid
        else:
            self._pyramid = Pyramid.from_sealed(sealed)
            self.range_db = _find_range(self._pyramid)
        breaks: list[Break] = []
        finished = set[str]()
        for path in self._stamps:
            source, hours = FrameSource(Path(path), recording.rate), list[StoredRows]()

            def show(rows: Bytes, path: str = path, hours: list[StoredRows] = hours) -> None:
                self._files[path] = FrameFile((*hours, rows))
                self._advance(builder, finished, progress)

            for shard in iterate_shards(source, cache, on_seconds=self._check_open, on_rows=show):
                hours.append(shard.rows)
                breaks += shard.breaks
                self._files[path] = FrameFile(tuple(hours))
                self._advance(builder, finished, progress)
            finished.add(path)
            self._advance(builder, finished, progress)
        if breaks:
            self.recording = remove_breaks(recording, breaks)
            self._frames = RecordingFrames(self.recording, self._files)
        if builder is not None:
            builder.pyramid.write(folder / PYRAMID_FILE)
            sealed = open_sealed(folder / PYRAMID_FILE)
            if sealed is None:
                message = "was removed from the cache while it was in use"
                raise UsageError(f"{folder / PYRAMID_FILE}: {message}")
            self._pyramid = Pyramid.from_sealed(sealed)

    def _advance(
        self, builder: PyramidBuilder | None, finished: Set[str], progress: Progress
    ) -> None:
        """Add the frames to the levels that follow without a gap, if they are enough for a step."""
        end = self._contiguous_frames(finished)
        if end < self.frame_count:
            end -= end % COLUMN_FRAMES
        if end < min(self.frame_count, self.done_frames + self._step_frames):
            return
        if builder is not None:
            while builder.done < end:
                last = min(end, builder.done + PORTION_FRAMES)
                builder.add(self._frames.rows(builder.done, last))
                self.done_frames = last
            share = end * MAX_STEPS // self.frame_count
            if share > self._ranged_share:
                self._ranged_share = share
                self.range_db = _find_range(builder.pyramid)
        self.done_frames = end
        progress(round(self.done), round(self.seconds), 0)

    def _contiguous_frames(self, finished: Set[str]) -> int:
        """Return the number of frames from the start that are known."""
        stretches = self.recording.stretches
        while self._known_stretches < len(stretches):
            stretch = stretches[self._known_stretches]
            known = len(self._files[stretch.path]) / FRAMES_PER_SECOND - stretch.at
            if stretch.path not in finished and known < stretch.seconds:
                return round((stretch.start + max(0.0, known)) * FRAMES_PER_SECOND)
            self._known_stretches += 1
        return self.frame_count

    def _check_speech(self, progress: Progress) -> None:
        if self._detector is None:
            return
        blocks: list[SpeechBlock] = []
        for block in find_speech_blocks(
            self.recording, self._detector, self.cache, self._check_open
        ):
            self._check_open()
            blocks += block
            self._speech = divide_blocks(blocks, self.rate)
            progress(self._speech.checked // self.rate, round(self.seconds), 0)
        self._speech = divide_blocks(blocks, self.rate, end=self.sample_count)


class _Closed(Exception):
    """The index was closed while it was built."""


BUILDING = Lock()  # indexes of several recordings are built one after the other


def _stamp_file(path: str) -> tuple[int, int] | None:
    """Return size and modification time of a file, or None if it cannot be read."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if os.access(path, os.R_OK) else None


def _describe_change(path: Path) -> str:
    try:
        with path.open("rb"):
            return "has changed"
    except (FileNotFoundError, NotADirectoryError):
        return "no longer exists"
    except OSError:
        return "can no longer be read"


def _served_digest(
    recording: Recording,
    stamps: Mapping[str, Any],
    speech: SpeechChange,
    detector: SpeechDetector | None,
) -> str:
    """Return a hash of what is served, known without reading the files."""
    spans = [
        (
            str(Path(stretch.path).resolve()),
            stamps[stretch.path],
            stretch.at,
            stretch.start,
            stretch.seconds,
        )
        for stretch in recording.stretches
    ]
    clock = None if recording.began is None else repr(recording.began)
    how = [speech, detector.signature if detector else "", PYRAMID_FORMAT, clock]
    return hash_text(msgspec.json.encode([recording.rate, spans, how]).decode())[:20]


def _find_range(pyramid: Pyramid) -> tuple[float, float]:
    """Return the range of levels to colour in dB: from quiet means to the loudest seconds."""
    low = _find_percentile(pyramid.means[RANGE_LEVEL], 5)
    high = _find_percentile(pyramid.loudest[RANGE_LEVEL], 99.9)
    if low is None or high is None:
        return DEFAULT_RANGE_DB
    return FLOOR_DB + STEP_DB * low, FLOOR_DB + STEP_DB * max(high, low + 20)


def _find_percentile(levels: Bytes, percent: float) -> int | None:
    """Return a percentile of the bytes of columns that are not absent."""
    counts = np.zeros(256, np.int64)
    for first in range(0, len(levels), PORTION_FRAMES):  # bincount needs eight times the memory
        part = levels[first : first + PORTION_FRAMES].reshape(-1)
        counts += np.bincount(part, minlength=256)
    counts = counts[:ABSENT_BYTE]
    total = int(counts.sum())
    if not total:
        return None
    return int(np.searchsorted(np.cumsum(counts), total * percent / 100))


# --- Indexes of several recordings ---------------------------------------------------------------


_OPENED: WeakValueDictionary[str, RecordingIndex] = WeakValueDictionary()
_OPENING = Lock()


def open_index(
    recording: Recording,
    *,
    cache: Cache | None = None,
    settings: IndexSettings | None = None,
    progress: Progress = no_progress,
) -> RecordingIndex:
    """Return the index of a recording, which is built in a thread.

    The same files with the same settings have the same index, however often they are opened.
    """
    index = RecordingIndex(recording, cache=cache, settings=settings)
    with _OPENING:
        return _OPENED.setdefault(index.digest, index).start(progress)
