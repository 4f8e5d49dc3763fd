"""WAV files whose headers lie about their length, read as plain numbers.

The size of the sound stands in a WAV header in 32 bits. Programs that stream write 0 or a huge
number there, recorders that lose power never come to write it, and beyond 4 GiB it starts from 0
again; libsndfile believes it and silently reads less than there is. So it is compared with the size
of the file, and where they do not agree the file tells the length.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from earwitness.audio.form import FLOAT, WHOLE, Form, form_of
from earwitness.audio.sources import Broken, Facts, Samples

UNKNOWN = (range(1), range(0x7FFFF000, 1 << 31), range(0xFFFFFF00, 1 << 32))  # as streams write it
SHORTEST = 16  # bytes of the chunk that tells the form
WIDTHS = {(WHOLE, 8), (WHOLE, 16), (WHOLE, 24), (WHOLE, 32), (FLOAT, 32), (FLOAT, 64)}


class Riff(NamedTuple):
    """The form of a WAV file, where its sound begins, bytes of it as told, and as they are."""

    form: Form
    start: int
    told: int
    real: int

    @property
    def frame(self) -> int:
        """Bytes of a sample of all channels."""
        return self.form.channels * self.form.bits // 8

    @property
    def honest(self) -> bool:
        """Whether the header tells what is there; less than a sample does not count."""
        return abs(self.told - self.real) < max(2, self.frame)

    @property
    def plain(self) -> bool:
        """Whether its samples are numbers as they are."""
        return self.form.sample in WIDTHS and self.frame > 0 and self.form.rate > 0


def riff_of(path: Path) -> Riff | None:
    """What a WAV file tells of itself and what it has; None if it is none."""
    with path.open("rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
            return None
        return _found(file, os.fstat(file.fileno()).st_size)


def _found(file: BinaryIO, total: int) -> Riff | None:
    header, long_size = b"", None
    for name, start, size in _chunks(file, 12):
        if name == b"fmt ":
            header = file.read(min(size, 64))
        elif name == b"ds64" and len(data := file.read(16)) == 16:
            long_size = struct.unpack("<8xQ", data)[0]
        elif name == b"data" and len(header) >= SHORTEST:
            told = long_size if size == 0xFFFFFFFF and long_size is not None else size
            whole = 0 < told <= total - start and _ends(file, start + told, total)
            return Riff(form_of(header), start, told, told if whole else total - start)
    return None


def _chunks(file: BinaryIO, place: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, begin and size of each chunk; the file stands at its begin."""
    while True:
        file.seek(place)
        if len(head := file.read(8)) < 8:
            return
        name, size = struct.unpack("<4sI", head)
        yield name, place + 8, size
        place += 8 + size + size % 2


def _ends(file: BinaryIO, place: int, total: int) -> bool:
    """Whether nothing but other chunks stands from a place to the end."""
    place += place % 2
    for name, start, size in _chunks(file, place):
        if not all(0x20 <= byte < 0x7F for byte in name) or start + size > total + 1:
            return False
        place = start + size + size % 2
    return total - place < 8


def riff_facts(riff: Riff) -> Facts:
    """What can be read, and what the header tells instead."""
    frames = riff.real // riff.frame
    facts = Facts(riff.form.rate, riff.form.channels, frames)
    if riff.honest:
        return facts
    told = riff.told / riff.frame / riff.form.rate
    has = f"the file has {facts.seconds:.1f} s"
    if any(riff.told in values for values in UNKNOWN):
        return facts._replace(note=f"its header tells no length, but {has}, which are read")
    if riff.real < riff.told:
        return facts._replace(
            note=f"was cut short: its header tells {told:.1f} s, {has}", short=True
        )
    return facts._replace(note=f"its header tells {told:.1f} s, but {has}, which are read")


class Plain:
    """A decoder of samples that are numbers as they are."""

    def __init__(self, path: Path, riff: Riff) -> None:
        if not riff.plain:
            raise Broken("its header lies about its length, and its samples are packed")
        self._riff, self.facts = riff, riff_facts(riff)
        self._file = path.open("rb")
        self._frame = 0
        self.seek(0)

    def seek(self, frame: int) -> None:
        """To the byte."""
        self._frame = min(frame, self.facts.frames)
        self._file.seek(self._riff.start + self._frame * self._riff.frame)

    def read(self, frames: int) -> Samples:
        """As floats of 32 bits; whole numbers from -1 to 1."""
        frames = min(frames, self.facts.frames - self._frame)
        data = self._file.read(frames * self._riff.frame)
        data = data[: len(data) - len(data) % self._riff.frame]
        samples = floats(data, self._riff.form).reshape(-1, self._riff.form.channels)
        self._frame += len(samples)
        return samples

    def close(self) -> None:
        """Close it."""
        self._file.close()


def floats(data: bytes, form: Form) -> Samples:
    """Numbers of a WAV file as floats of 32 bits; those of 8 bits have no sign."""
    if form.tag == FLOAT:
        return np.frombuffer(data, f"<f{form.bits // 8}").astype(np.float32)
    if form.bits == 8:
        return np.asarray((np.frombuffer(data, np.uint8) - 128.0) / 128, np.float32)
    if form.bits == 24:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return np.asarray(wide.view("<i4")[:, 0] / 2**31, np.float32)
    whole = np.frombuffer(data, f"<i{form.bits // 8}")
    return np.asarray(whole / 2 ** (form.bits - 1), np.float32)
