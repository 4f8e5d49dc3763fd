"""Which decoder reads which file.

libsndfile reads most files, and PyAV what libsndfile does not know. Files whose headers lie have
decoders of their own, since libsndfile believes any header.

Seeking must give the samples that reading through gives. In MP3 and Vorbis a frame needs what came
before it (the bit reservoir, the overlap of windows), and libsndfile forgets that: its first
samples behind a seek are wrong. So these are read from a second before, or from as many frames as
MP3 can need, and what was too early is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.av import Av
from earwitness.audio.mp3 import Mp3
from earwitness.audio.mpeg import layout_of
from earwitness.audio.ogg import has_all_pages
from earwitness.audio.parts import OTHERS
from earwitness.audio.riff import Plain, riff_of
from earwitness.audio.sources import (
    BEFORE,
    MP3_BEFORE,
    Broken,
    Decoder,
    Facts,
    Samples,
    faults,
    straight,
)
from earwitness.errors import UsageError


class Library:
    """libsndfile. After a fault it no longer finds anything, so the file is opened anew then."""

    def __init__(self, path: Path) -> None:
        self._path, self._faulty = path, False
        self._file: Any = straight(path)
        self.facts = Facts(self._file.samplerate, self._file.channels, self._file.frames)
        self._before = _before(self._file.subtype, self.facts.rate)

    def seek(self, frame: int) -> None:
        """Exactly there, with what the first frames need of those before."""
        if self._faulty:
            self._file.close()
            self._file, self._faulty = straight(self._path), False
        start = max(0, frame - self._before)
        self._tried(lambda: self._file.seek(start))
        self.read(frame - start)

    def read(self, frames: int) -> Samples:
        """As floats of 32 bits."""
        return np.asarray(
            self._tried(lambda: self._file.read(frames, dtype="float32", always_2d=True))
        )

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def _tried(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except faults() as error:
            self._faulty = True
            raise Broken(str(error)) from error


def _before(subtype: str, rate: int) -> int:
    """Samples before the first of a seek that must be decoded for it to be right."""
    if subtype.startswith("MPEG"):
        samples = 1152 if rate >= 32_000 else 576
        return MP3_BEFORE[samples] * samples
    return round(BEFORE * rate) if subtype == "VORBIS" else 0


def decoder_of(path: Path, *, careful: bool = False) -> Decoder:
    """What reads this file; Broken if nothing does.

    A careful one costs more, and knows where it is in a file that is known to be damaged. It also
    goes to any place of a long MP3 file at once, where libsndfile passes over all frames before.
    """
    ending = path.suffix.lower()[1:]
    if ending == "mp3" and (careful or not layout_of(path).honest):
        return Mp3(path)
    riff = riff_of(path)
    if riff and not riff.honest and riff.plain:
        return Plain(path, riff)
    if find_spec("av") is None and ending in ("opus", "ogg", "oga"):
        return Library(path)
    if ending in OTHERS or (ending in ("ogg", "oga") and not has_all_pages(path)):
        return Av(path)
    return Library(path)


def facts_of(path: Path) -> Facts:
    """What a file says of itself, from its header alone."""
    decoder = decoder_of(path)
    try:
        return decoder.facts
    finally:
        decoder.close()


def opened(path: Path, *, careful: bool = False) -> Decoder:
    """What reads this file; an error that names the file if nothing does."""
    try:
        return decoder_of(path, careful=careful)
    except (Broken, OSError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
