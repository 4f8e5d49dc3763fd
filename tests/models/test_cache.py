"""The cache: what is written is read back, and what is broken is as if it were not there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.models import cache as cache_module
from earwitness.models.cache import (
    MAX_MAPPED_FILES,
    SMALL_FOLDERS,
    TRIMMED_FOLDERS,
    Cache,
    CacheHold,
    StoredRows,
    find_cache,
    open_sealed,
    open_stored_rows,
    trim_cache,
    write_sealed,
)
from helpers.samples import many


def arrays() -> list[np.ndarray]:
    """Of several kinds and shapes, one of them empty."""
    rng = np.random.default_rng(0)
    return [
        rng.integers(0, 255, (7, 3), np.uint8),
        rng.normal(size=5),
        np.zeros((0, 4), np.float32),
        rng.normal(size=(2, 3, 4)).astype(np.float32),
    ]


def test_what_is_sealed_comes_back(tmp_path: Path) -> None:
    write_sealed(tmp_path / "a" / "x", {"name": "é", "last": True}, arrays())
    found = open_sealed(tmp_path / "a" / "x")
    assert found is not None
    assert found.facts == {"name": "é", "last": True}
    for own, other in zip(found.arrays, arrays(), strict=True):
        assert own.dtype == other.dtype
        assert np.array_equal(own, other)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x"]


def test_a_file_with_any_byte_changed_or_lost_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_sealed(path, {"last": True}, arrays())
    whole = path.read_bytes()
    for place in {*range(0, len(whole), many(7, 1)), 0, len(whole) - 1}:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert open_sealed(path) is None
        path.write_bytes(whole[:place])
        assert open_sealed(path) is None
    assert open_sealed(tmp_path / "none") is None


def stored(path: Path) -> StoredRows:
    found = open_stored_rows(path)
    assert found is not None
    return found[1]


def test_rows_of_a_file_are_read_when_they_are_used(tmp_path: Path) -> None:
    path, [first, *_] = tmp_path / "x", arrays()
    assert open_stored_rows(path) is None
    write_sealed(path, {"last": True}, [first])
    rows = stored(path)
    assert len(rows) == 7
    assert np.array_equal(rows[2:5], first[2:5])
    write_sealed(path, {"last": True}, [first[::-1]])
    assert np.array_equal(stored(path)[:], first[::-1])
    write_sealed(path, {"last": True}, [first[:0]])
    assert stored(path)[:].shape == (0, 3)


def test_rows_of_a_file_that_is_gone_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_sealed(path, {}, arrays())
    rows = stored(path)
    path.unlink()
    with pytest.raises(UsageError, match="was removed from the cache while it was in use"):
        rows[:1]


def test_a_file_that_cannot_be_opened_any_more_is_not_taken_for_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    write_sealed(tmp_path / "x", {}, arrays())
    monkeypatch.setattr(np, "memmap", refuse)
    with pytest.raises(UsageError, match=r"Too many open files — raise the limit"):
        open_sealed(tmp_path / "x")


MANY_FILES = """
import resource, sys
from pathlib import Path
import numpy as np
from earwitness.models.cache import open_stored_rows, write_sealed
folder, count = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
rows = []
for number in range(2 * count):
    write_sealed(folder / str(number), {}, [np.full((3, 2), number, np.int64)])
    rows.append(open_stored_rows(folder / str(number))[1])
print(sum(int(own[:1][0, 0]) for _ in range(2) for own in rows))
"""


def test_more_files_are_used_at_once_than_may_be_open(tmp_path: Path) -> None:
    limit = MAX_MAPPED_FILES + 32
    command = [sys.executable, "-c", MANY_FILES, str(tmp_path), str(limit)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) == 2 * sum(range(2 * limit))


def test_a_digest_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    path, cache = tmp_path / "x.wav", Cache(tmp_path / "cache")
    path.write_bytes(b"one")
    first, stamp = cache.digest(path), path.stat().st_mtime_ns
    path.write_bytes(b"two")
    os.utime(path, ns=(stamp, stamp))
    assert cache.digest(path) == first  # neither size nor time changed: nobody looked
    os.utime(path, ns=(stamp, stamp + 1))
    second = cache.digest(path)
    assert second != first
    path.rename(tmp_path / "y.wav")
    assert cache.digest(tmp_path / "y.wav") == second


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.wav: cannot be read: No such file"):
        Cache(tmp_path).digest(tmp_path / "none.wav")


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=r"cannot write to the cache: .* — choose another folder"):
        write_sealed(tmp_path / "file" / "x", {})


def test_the_folder_is_the_named_one_then_that_of_the_environment_then_the_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EARWITNESS_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_cache(tmp_path / "named").folder == tmp_path / "named"
    assert find_cache().folder == tmp_path / "own"
    monkeypatch.delenv("EARWITNESS_CACHE")
    assert find_cache().folder == tmp_path / "xdg" / "earwitness"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_cache().folder == tmp_path / ".cache" / "earwitness"


# --- Size of the cache ---------------------------------------------------------------------------


@pytest.fixture
def filled(tmp_path: Path) -> Cache:
    """A cache with an entry of 100 bytes per kind, the oldest first."""
    for number, name in enumerate(TRIMMED_FOLDERS):
        entry = tmp_path / name / "x"
        is_folder = name in ("navigator", "frames")
        file = entry / "0.sealed" if is_folder else entry
        file.parent.mkdir(parents=True)
        file.write_bytes(bytes(100))
        os.utime(entry, (1000 + number, 1000 + number))
    return Cache(tmp_path)


def kept(cache: Cache) -> list[str]:
    return [name for name in TRIMMED_FOLDERS if (cache.folder / name / "x").exists()]


@pytest.mark.parametrize(("size", "count"), [(400, 4), (399, 3), (250, 2), (0, 0), (-5, 0)])
def test_entries_that_were_not_used_for_longest_are_removed(
    filled: Cache, size: float, count: int
) -> None:
    trim_cache(filled, size)
    assert kept(filled) == list(TRIMMED_FOLDERS[4 - count :])


def test_entries_in_use_are_kept_until_their_user_ends(filled: Cache) -> None:
    code = f"""
import sys
from pathlib import Path
from earwitness.models.cache import Cache, CacheHold
hold = CacheHold(Cache(Path({str(filled.folder)!r})))
hold.add(Path({str(filled.folder / "frames" / "x")!r}))
print("held", flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        hold = CacheHold(filled)
        hold.add(filled.folder / "navigator" / "x")
        trim_cache(filled, 0)
        # hashes and checks for speech are small, and their removal would not be enough
        assert kept(filled) == list(TRIMMED_FOLDERS)
        other.kill()
    trim_cache(filled, 0)
    assert kept(filled) == ["navigator", *SMALL_FOLDERS]
    del hold
    trim_cache(filled, 0)
    assert kept(filled) == []
    assert [path.name for path in (filled.folder / "holds").iterdir()] == ["lock"]


def test_nothing_is_added_to_a_list_while_entries_are_removed(
    filled: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed, added = Event(), Event()
    plain = cache_module._remove_entry

    def remove(entry: Path) -> None:
        removed.set()
        assert not added.wait(0.2)  # waits until all are removed
        plain(entry)

    def add() -> None:
        assert removed.wait(10)
        hold.add(filled.folder / "navigator" / "x")
        added.set()

    hold = CacheHold(filled)
    monkeypatch.setattr(cache_module, "_remove_entry", remove)
    thread = Thread(target=add)
    thread.start()
    trim_cache(filled, 300)
    thread.join()
    assert added.is_set()
