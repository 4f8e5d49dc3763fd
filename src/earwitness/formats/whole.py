"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import IO

from earwitness.errors import UsageError


class WholeFile:
    """Text written beside its place and moved there at the end; gone if anything went wrong."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise UsageError(f"{self._path}: there is no folder {self._path.parent}")
        if self._path.is_dir():
            raise UsageError(f"{self._path} is a folder — name a file")

    def __enter__(self) -> IO[str]:
        try:
            self._file = NamedTemporaryFile(
                "w",
                encoding="utf-8",
                newline="",
                dir=self._path.parent,
                prefix=f".{self._path.name}.",
                delete=False,
            )
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be written: {error.strerror}") from error
        return self._file.file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        written = Path(self._file.name)
        if kind is not None:
            written.unlink(missing_ok=True)
            return
        mask = os.umask(0)
        os.umask(mask)
        written.chmod(0o666 & ~mask)
        written.replace(self._path)
