"""Atomic files and folders: complete on success, absent after an error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from types import TracebackType
from typing import IO, Self

from earwitness.errors import UsageError


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path without symbolic links; a loop of links is left as it is."""
    return Path(os.path.realpath(path))


class AtomicFile:
    """Text file that is written to a temporary file and moved to its path on success.

    After an error, nothing remains. A device or a pipe is written to directly.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if self._path.is_dir():
            raise UsageError(f"{self._path} is a folder — give a file name")
        if not self._path.parent.is_dir():
            raise UsageError(f"{self._path}: the folder {self._path.parent} does not exist")
        if real_path(self._path).is_symlink():
            raise UsageError(f"{self._path} is a loop of symbolic links — choose another file")
        self._in_place = self._path.exists() and not self._path.is_file()
        self._target = self._path if self._in_place else real_path(self._path)

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
    """Base class of writers of a file that appears only on success."""

    def __init__(self, path: Path) -> None:
        self._file = AtomicFile(path)

    def __enter__(self) -> Self:
        self._stream: IO[str] = self._file.__enter__()
        self._begin()
        return self

    def _begin(self) -> None:
        """Write the start of the file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, trace)


class AtomicFolder:
    """New folder that is filled in a temporary folder and moved to its path on success."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists():
            raise UsageError(f"{path} already exists — choose another folder")
        if not real_path(path).parent.is_dir():
            raise UsageError(f"{path}: the folder {real_path(path).parent} does not exist")

    def __enter__(self) -> Path:
        self._temporary = Path(
            mkdtemp(prefix=f".{self._path.name}.", dir=real_path(self._path).parent)
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
            self._temporary.rename(real_path(self._path))
        else:
            shutil.rmtree(self._temporary)


def _apply_umask(mode: int) -> int:
    """Return a mode with the user's umask applied."""
    mask = os.umask(0)
    os.umask(mask)
    return mode & ~mask
