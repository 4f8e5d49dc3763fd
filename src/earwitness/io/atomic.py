"""Atomic files and folders: complete on success, absent after an error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from types import TracebackType
from typing import IO, Self

from earwitness.errors import UsageError


class AtomicFile:
    """Text written beside its place and moved there at the end; gone if anything went wrong.

    A device or a pipe is written to as it is.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if self._path.is_dir():
            raise UsageError(f"{self._path} is a folder — name a file")
        if not self._path.parent.is_dir():
            raise UsageError(f"{self._path}: there is no folder {self._path.parent}")
        self._in_place = self._path.exists() and not self._path.is_file()
        self._target = self._path if self._in_place else self._path.resolve()

    def __enter__(self) -> IO[str]:
        try:
            self._file = self._open()
        except OSError as error:
            raise self._failure(error) from error
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
            if kind is None and not self._in_place:
                self._move()
        except OSError as failure:
            raise self._failure(failure) from failure
        finally:
            if not self._in_place:
                Path(self._file.name).unlink(missing_ok=True)

    def _open(self) -> IO[str]:
        if self._in_place:
            return self._target.open("w", encoding="utf-8", newline="")
        return NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="",
            dir=self._target.parent,
            prefix=f".{self._target.name}.",
            delete=False,
        )

    def _move(self) -> None:
        temporary = Path(self._file.name)
        temporary.chmod(_apply_umask(0o666))
        temporary.replace(self._target)

    def _failure(self, error: OSError) -> UsageError:
        return UsageError(f"{self._path}: cannot be written: {error.strerror or error}")


class AtomicWriter:
    """Something that writes a file bit by bit; the file appears at the end, if all went well."""

    def __init__(self, path: Path) -> None:
        self._file = AtomicFile(path)

    def __enter__(self) -> Self:
        self._stream: IO[str] = self._file.__enter__()
        self._begin()
        return self

    def _begin(self) -> None:
        """Write what stands at the top."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, trace)


class AtomicFolder:
    """A new folder, filled beside its place and moved there at the end; gone if anything failed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists():
            raise UsageError(f"{path} is there already — name a new folder")
        if not path.resolve().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.resolve().parent}")

    def __enter__(self) -> Path:
        self._temporary = Path(
            mkdtemp(prefix=f".{self._path.name}.", dir=self._path.resolve().parent)
        )
        return self._temporary

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._temporary.chmod(_apply_umask(0o777))
            self._temporary.rename(self._path.resolve())
        else:
            shutil.rmtree(self._temporary)


def _apply_umask(mode: int) -> int:
    """What somebody's new files and folders may be done with."""
    mask = os.umask(0)
    os.umask(mask)
    return mode & ~mask
