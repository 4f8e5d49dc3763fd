"""Folder of expensive arrays on disk, addressed by content and protected by checksums.

A sealed file has a checksum, a header and arrays; a truncated or modified file is treated as
missing. Two processes may write the same file at once: they write the same bytes, and the later one
replaces the earlier.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.core import StrPath
from earwitness.errors import UsageError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

CACHE_FOLDER_VARIABLE = "EARWITNESS_CACHE"  # environment variable with the folder
SEAL_HEADER = struct.Struct("<8sII")  # magic, checksum of the rest, header size
SEAL_MAGIC = b"EWSEAL1\n"
EXHAUSTED_ERRORS = (errno.EMFILE, errno.ENFILE)  # too many open files


class SealedFile(NamedTuple):
    """Contents of a sealed file: metadata, and arrays that are read from disk on access."""

    facts: Mapping[str, Any]
    arrays: tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache folder."""

    folder: Path

    def digest(self, path: Path) -> str:
        """Return the hash of a file, cached until its size or modification time changes."""
        resolved = path.resolve()
        digest_path = self.folder / "digests" / f"{hash_text(str(resolved))}.sealed"
        try:
            file_status = resolved.stat()
            stamp = [file_status.st_size, file_status.st_mtime_ns]
            stored = open_sealed(digest_path)
            if stored is not None and stored.facts.get("stamp") == stamp:
                mark_used(digest_path)
                return str(stored.facts["sha256"])
            digest = hash_file(resolved)
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        write_sealed(digest_path, {"stamp": stamp, "sha256": digest})
        return digest


def find_cache(folder: StrPath | None = None) -> Cache:
    """Return the given folder, that of the environment variable, or the user's cache folder."""
    if folder is None:
        folder = os.environ.get(CACHE_FOLDER_VARIABLE) or None
    if folder is None:
        usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(usual) / "earwitness"
    return Cache(Path(folder))


def hash_text(text: str) -> str:
    """Return a hash, used as the name of a cache file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sealed(path: Path, facts: Mapping[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> None:
    """Write or replace a file atomically."""
    shapes = [(array.dtype.str, array.shape) for array in arrays]
    header = msgspec.json.encode({"facts": facts, "arrays": shapes})
    header += b" " * (-(SEAL_HEADER.size + len(header)) % 16)
    contents = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in arrays)
    parts: list[Any] = [header, *contents]
    checksum = len(header)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    _write_atomically(path, [SEAL_HEADER.pack(SEAL_MAGIC, checksum, len(header)), *parts])


def _write_atomically(path: Path, parts: Sequence[Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=UNFINISHED_PREFIX, dir=path.parent)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 — a descriptor, not a path
                file.writelines(parts)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _writing_error(path.parent, error) from error


def _writing_error(folder: Path, error: OSError) -> UsageError:
    message = f"{folder}: cannot write to the cache: {error.strerror or error}"
    return UsageError(f"{message} — choose another folder with --cache or {CACHE_FOLDER_VARIABLE}")


def _map_intact(path: Path) -> tuple[NDArray[np.uint8], Mapping[str, Any], int] | None:
    """Return the bytes of an intact sealed file, its header, and where its arrays begin."""
    try:
        content = np.memmap(path, np.uint8, mode="r")
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in EXHAUSTED_ERRORS:  # the file may be intact
            raise UsageError(
                f"{path}: cannot be opened: {error.strerror} — raise the limit (ulimit -n)"
            ) from error
        return None
    if len(content) < SEAL_HEADER.size:
        return None
    magic, checksum, header_size = SEAL_HEADER.unpack(content[: SEAL_HEADER.size].tobytes())
    if magic != SEAL_MAGIC or zlib.crc32(content[SEAL_HEADER.size :].data, header_size) != checksum:
        return None
    body = SEAL_HEADER.size + header_size
    return content, msgspec.json.decode(content[SEAL_HEADER.size : body].tobytes()), body


def open_sealed(path: Path) -> SealedFile | None:
    """Return an existing, intact file; None otherwise. Its arrays keep the file open."""
    found = _map_intact(path)
    if found is None:
        return None
    content, header, offset = found
    arrays, body = [], np.asarray(content)
    for dtype, shape in header["arrays"]:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        arrays.append(body[offset : offset + size].view(dtype).reshape(shape))
        offset += size
    return SealedFile(header["facts"], tuple(arrays))


# --- Arrays of many files ------------------------------------------------------------------------
# A memory map has a file descriptor, of which a process may have only some hundred. So only the
# files in use are mapped, and those that were used least recently are closed.


MAX_MAPPED_FILES = 64


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The first array of a sealed file; a file that was replaced has another ``stamp``."""

    path: Path
    offset: int
    dtype: str
    shape: tuple[int, ...]
    stamp: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Return rows, which are read from disk on access."""
        return _map_rows(self)[rows]


def open_stored_rows(path: Path) -> tuple[Mapping[str, Any], StoredRows] | None:
    """Return metadata and first array of an existing, intact file, which is not kept open."""
    found = _map_intact(path)
    if found is None:
        return None
    _, header, offset = found
    dtype, shape = header["arrays"][0]
    status = path.stat()
    stamp = status.st_ino, status.st_mtime_ns
    return header["facts"], StoredRows(path, offset, dtype, tuple(shape), stamp)


@lru_cache(MAX_MAPPED_FILES)
def _map_rows(rows: StoredRows) -> NDArray[Any]:
    if not all(rows.shape):
        return np.zeros(rows.shape, rows.dtype)
    try:
        mapped = np.memmap(rows.path, rows.dtype, "r", rows.offset, rows.shape)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{rows.path}: was removed from the cache while it was in use — run the command again"
        ) from error
    return np.asarray(mapped)


# --- Size of the cache ---------------------------------------------------------------------------
# What is in use is listed in a file that its user keeps locked: the lock ends with the process. One
# more lock makes sure that nothing is listed while others are removed.


TRIMMED_FOLDERS = ("navigator", "frames", "speech-blocks", "digests")
SMALL_FOLDERS = ("speech-blocks", "digests")  # removed last, and only if that helps
UNFINISHED_PREFIX = ".making-"  # of files that are being written
HOLD_FOLDER, HOLD_LOCK = "holds", "lock"


class CacheHold:
    """Entries of a cache that are in use, and therefore kept, until this is closed or collected.

    If the cache cannot be written or the system has no locks, nothing is held.

    Parameters
    ----------
    cache
        The cache.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache, self._file = cache, -1
        self._close: Callable[[], object] = lambda: None

    def add(self, entry: Path) -> None:
        """Keep an entry, which need not exist yet."""
        with suppress(OSError), _lock_holds(self._cache) as holds:
            if holds is None:
                return
            if self._file < 0:
                _list_held(self._cache)  # removes files of those who have ended
                self._file, _ = tempfile.mkstemp(".held", dir=holds)
                self._close = weakref.finalize(self, os.close, self._file)
                _try_lock(self._file)
            os.write(self._file, f"{entry.relative_to(self._cache.folder)}\n".encode())

    def close(self) -> None:
        """Let the cache remove the entries."""
        self._close()
        self._file = -1

    def __enter__(self) -> CacheHold:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def trim_cache(cache: Cache, max_bytes: float) -> None:
    """Remove the indexes, frames, checks for speech and hashes that were not used for longest.

    As many are removed as needed for all to have at most ``max_bytes``; those in use are kept.
    """
    with suppress(OSError), _lock_holds(cache) as holds:
        if holds is None:
            return
        entries = [
            (name in SMALL_FOLDERS, _modification_time(path), path, entry_size(path))
            for name in TRIMMED_FOLDERS
            for path in _list_entries(cache.folder / name)
            if not path.name.startswith(UNFINISHED_PREFIX)
        ]
        excess = sum(size for *_, size in entries) - max_bytes
        held = _list_held(cache) if excess > 0 else set()
        held_size = sum(size for *_, path, size in entries if path in held)
        for is_small, _, path, size in sorted(entries):
            is_useless = is_small and held_size > max(0, max_bytes)
            if excess > 0 and path not in held and not is_useless:
                _remove_entry(path)
                excess -= size


def make_folder(folder: Path) -> None:
    """Create a folder of the cache, and set the time of its last use to now."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _writing_error(folder, error) from error
    mark_used(folder)


def mark_used(entry: Path) -> None:
    """Set the time of last use of an entry to now, if it exists."""
    with suppress(OSError):
        os.utime(entry)


@contextmanager
def _lock_holds(cache: Cache) -> Iterator[Path | None]:
    """Wait for the lock of the lists; yields their folder, or None on a system without locks."""
    if fcntl is None:
        yield None
        return
    holds = cache.folder / HOLD_FOLDER
    holds.mkdir(parents=True, exist_ok=True)
    with (holds / HOLD_LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield holds


def _try_lock(descriptor: int) -> bool:
    """Lock a file; return whether nobody else has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _list_held(cache: Cache) -> set[Path]:
    """Return the entries in use, and remove lists whose users have ended."""
    held = set[Path]()
    for path in (cache.folder / HOLD_FOLDER).glob("*.held"):
        with suppress(OSError), path.open("r+b") as file:
            if _try_lock(file.fileno()):
                path.unlink()
            else:
                held |= {cache.folder / line for line in file.read().decode().splitlines()}
    return held


def _list_entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def entry_size(entry: Path) -> int:
    """Return the bytes of an entry of a cache; 0 if it does not exist."""
    sizes = 0
    for path in _list_entries(entry) or [entry]:
        with suppress(OSError):
            sizes += path.stat().st_size
    return sizes


def _remove_entry(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with suppress(OSError):
            entry.unlink()


def _modification_time(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0
