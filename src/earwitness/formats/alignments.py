"""A text file with every case's words, output against reference; shown only when all went well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from earwitness.data import Key
from earwitness.formats.whole import WholeFile


class AlignmentFile:
    """A heading a case, its alignment below, a blank line behind."""

    def __init__(self, path: Path) -> None:
        self._file = WholeFile(path)

    def __enter__(self) -> AlignmentFile:
        self._stream: IO[str] = self._file.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, trace)

    def write(self, keys: Sequence[Key], alignments: Sequence[str]) -> None:
        """Cases with their alignments; where there is none it is said."""
        for key, text in zip(keys, alignments, strict=True):
            self._stream.write(f"## {key.item}, {key.system}\n\n{text or '(no words)'}\n\n")
