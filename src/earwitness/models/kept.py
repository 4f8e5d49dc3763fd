"""Vectors of texts that were encoded: in memory while there is room, then in a temporary file.

The file ends with the process. Nothing is forgotten, so no text needs to be encoded again, and what
comes back from the file is equal bit by bit to what went in.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import IO, NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Floats = NDArray[np.float32]
HELD = 400_000_000  # bytes of vectors in memory


class Encoded(NamedTuple):
    """Vectors of length 1, a row a token, and how much each token counts."""

    vectors: Floats
    weights: Floats

    @property
    def size(self) -> int:
        """In bytes."""
        return self.vectors.nbytes + self.weights.nbytes


class Kept:
    """All texts that were encoded."""

    def __init__(self) -> None:
        self.held = 0
        self._memory: dict[str, Encoded] = {}
        self._spool = Spool()

    def __contains__(self, text: str) -> bool:
        return text in self._memory or text in self._spool

    def __getitem__(self, text: str) -> Encoded:
        found = self._memory.get(text)
        return self._spool[text] if found is None else found

    def add(self, text: str, encoded: Encoded) -> None:
        """Keep a text that is new."""
        if self.held + encoded.size > HELD:
            self._spool.add(text, encoded)
        else:
            self.held += encoded.size
            self._memory[text] = encoded


class Spool:
    """Vectors in a file that only grows; of a text its digest and its place are in memory.

    A record is the number of tokens, the number of dimensions, the weights and the vectors. A
    process that was forked off begins a file of its own, or two would write to the same places.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: dict[bytes, int] = {}
        self._end = 0
        self._process = os.getpid()

    def __contains__(self, text: str) -> bool:
        if self._process != os.getpid():
            self._begin()
        return _digest(text) in self._places

    def __getitem__(self, text: str) -> Encoded:
        place = self._places[_digest(text)]
        assert self._file is not None
        self._file.seek(place)
        rows, width = np.frombuffer(self._file.read(16), np.int64).tolist()
        numbers = np.frombuffer(self._file.read(4 * rows * (width + 1)), np.float32)
        return Encoded(numbers[rows:].reshape(rows, width), numbers[:rows])

    def add(self, text: str, encoded: Encoded) -> None:
        """Append a text."""
        shape = np.array(encoded.vectors.shape, np.int64)
        record = b"".join(part.tobytes() for part in (shape, encoded.weights, encoded.vectors))
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                finalize(self, self._file.close)
            self._file.seek(self._end)
            self._file.write(record)
            self._file.flush()
        except OSError as error:
            told = f"vectors of texts cannot be kept in {tempfile.gettempdir()}: {error.strerror}"
            raise UsageError(f"{told} — name a folder with room: TMPDIR=folder") from error
        self._places[_digest(text)] = self._end
        self._end += len(record)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
