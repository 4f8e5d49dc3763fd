"""Atomic files and folders: complete and on the disk on success, absent after an error."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self
from uuid import uuid4

from earwitness.errors import UsageError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

SHOWN_NAME = 40  # characters of a name in that of its temporary file
# errors of writing, which do not name a file
WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path without symbolic links; a loop of links is left as it is."""
    return Path(os.path.realpath(path))


def _temporary_path(target: Path) -> Path:
    return target.with_name(f".{target.name[:SHOWN_NAME]}.{uuid4().hex}")


def sync_path(path: Path) -> None:
    """Write a file or folder to the disk, so that it is complete after a power failure."""
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except OSError:
        if is_folder:  # on Windows
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # not possible on this file system
            raise
    finally:
        os.close(descriptor)


def _failure(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written: {error.strerror or error}")


class AtomicFiles:
    """Files that are written under temporary names, and that appear together on success."""

    def __init__(self) -> None:
        self._targets = dict[Path, Path]()  # by temporary path

    def __enter__(self) -> Self:
        return self

    def path(self, target: Path) -> Path:
        """Return the temporary path of a file, which is in the same folder."""
        temporary = _temporary_path(real_path(target))
        self._targets[temporary] = target
        return temporary

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if error is None:
                self._each(lambda temporary, _: sync_path(temporary))
                self._each(lambda temporary, target: temporary.replace(real_path(target)))
                for folder in {temporary.parent for temporary in self._targets}:
                    sync_path(folder)
            elif isinstance(error, OSError) and error.errno in WRITE_ERRORS and self._targets:
                raise _failure([*self._targets.values()][-1], error) from error
        finally:
            for temporary in self._targets:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)

    def _each(self, work: Callable[[Path, Path], object]) -> None:
        for temporary, target in self._targets.items():
            try:
                work(temporary, target)
            except OSError as error:
                raise _failure(target, error) from error


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files completely, or none of them, replacing existing ones; folders are created."""
    with AtomicFiles() as files:
        for path, content in contents.items():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                files.path(path).write_bytes(content)
            except OSError as error:
                raise _failure(path, error) from error


class AtomicFile:
    """Text file that is written to a temporary file and moved to its path on success.

    After an error, nothing remains. A device or a pipe is written to directly. With ``files``, it
    appears together with those.
    """

    def __init__(self, path: str | Path, files: AtomicFiles | None = None) -> None:
        self._path, self._files = Path(path), files
        if self._path.is_dir():
            raise UsageError(f"{self._path} is a folder — give a file name")
        if not self._path.parent.is_dir():
            raise UsageError(f"{self._path}: the folder {self._path.parent} does not exist")
        if real_path(self._path).is_symlink():
            raise UsageError(f"{self._path} is a loop of symbolic links — choose another file")
        self._in_place = self._path.exists() and not self._path.is_file()

    def __enter__(self) -> IO[str]:
        self._stack, place = ExitStack(), self._path
        if not self._in_place:
            files = self._files or self._stack.enter_context(AtomicFiles())
            place = files.path(self._path)
        try:
            file = place.open("w", encoding="utf-8", newline="")
        except OSError as error:
            raise _failure(self._path, error) from error
        return self._stack.enter_context(file)

    def __exit__(self, *error: Any) -> None:
        try:
            self._stack.__exit__(*error)
        except OSError as failure:
            raise _failure(self._path, failure) from failure


class AtomicWriter:
    """Base class of writers of a file that appears only on success."""

    def __init__(self, path: Path, files: AtomicFiles | None = None) -> None:
        self._file = AtomicFile(path, files)

    def __enter__(self) -> Self:
        self._stream: IO[str] = self._file.__enter__()
        self._begin()
        return self

    def _begin(self) -> None:
        """Write the start of the file."""

    def __exit__(self, *error: Any) -> None:
        self._file.__exit__(*error)


class AtomicFolder:
    """New folder that is filled in a temporary folder and moved to its path on success."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists():
            raise UsageError(f"{path} already exists — choose another folder")
        if not real_path(path).parent.is_dir():
            raise UsageError(f"{path}: the folder {real_path(path).parent} does not exist")

    def __enter__(self) -> Path:
        self._temporary = _temporary_path(real_path(self._path))
        try:
            self._temporary.mkdir()
        except OSError as error:
            raise _failure(self._path, error) from error
        return self._temporary

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if error is None:
                for path in (*self._temporary.rglob("*"), self._temporary):
                    if not path.is_symlink():
                        sync_path(path)
                self._temporary.rename(real_path(self._path))
                sync_path(real_path(self._path).parent)
            elif isinstance(error, OSError) and error.errno in WRITE_ERRORS:
                raise error
            elif isinstance(error, UsageError) and str(self._temporary) in str(error):
                message = str(error).replace(str(self._temporary), str(self._path))
                raise UsageError(message) from error
        except OSError as failure:
            raise _failure(self._path, failure) from failure
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Refuse a folder into which another process writes; the lock ends with this process."""
    descriptor = os.open(path, os.O_RDONLY) if fcntl else None
    try:
        if descriptor is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = f"{path}: another command writes into this folder"
                raise UsageError(f"{message} — wait for it, or choose another folder") from error
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
