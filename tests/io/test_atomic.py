"""Files and folders that are complete and on the disk, or absent."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from earwitness.errors import UsageError
from earwitness.io import atomic
from earwitness.io.atomic import AtomicFile, AtomicFolder

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is synced and renamed, in order; temporary names are shortened."""
    done: list[str] = []
    sync, replace, rename = os.fsync, Path.replace, Path.rename

    def synced(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        done.append("sync " + (".new" if name.startswith(".") else name))
        sync(descriptor)

    def replaced(path: Path, target: Path) -> Path:
        done.append(f"rename to {target.name}")
        return replace(path, target)

    def renamed(path: Path, target: Path) -> Path:
        done.append(f"rename to {target.name}")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(Path, "rename", renamed)
    return done


def test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_folder(
    tmp_path: Path, steps: list[str]
) -> None:
    with AtomicFile(tmp_path / "a.txt") as file:
        file.write("text")
    assert steps == ["sync .new", "rename to a.txt", f"sync {tmp_path.name}"]


def test_each_file_of_a_folder_is_synced_once_before_the_folder_has_its_name(
    tmp_path: Path, steps: list[str]
) -> None:
    with AtomicFolder(tmp_path / "new") as folder:
        (folder / "inner").mkdir()
        for name in ("a", "b", "inner/c"):
            (folder / name).write_text(name)
    assert sorted(steps[:5]) == ["sync .new", "sync a", "sync b", "sync c", "sync inner"]
    assert steps[5:] == ["rename to new", f"sync {tmp_path.name}"]


def test_a_full_disk_leaves_no_folder_and_names_it(tmp_path: Path) -> None:
    def write() -> None:
        with AtomicFolder(tmp_path / "new") as folder:
            (folder / "a").write_text("a")
            raise FULL

    with pytest.raises(UsageError, match=r"new: cannot be written: No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
def test_files_that_belong_together_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (tmp_path / "a").write_text("old")
    work, calls = getattr(Path, failing), list[Path]()

    def fails(path: Path, argument: object) -> object:
        calls.append(path)
        if len(calls) == (1 if failing == "replace" else 3):
            raise FULL
        return work(path, argument)

    contents = {tmp_path / name: b"new" for name in "abc"}
    with monkeypatch.context() as patch:
        patch.setattr(Path, failing, fails)
        with pytest.raises(UsageError, match=r"cannot be written: No space left"):
            atomic.write_files(contents)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}
    atomic.write_files(contents)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        "abc", "new"
    )


def test_only_one_command_writes_into_a_locked_folder(tmp_path: Path) -> None:
    with (
        atomic.lock_folder(tmp_path),
        pytest.raises(UsageError, match=f"{tmp_path}: another command writes into this folder"),
        atomic.lock_folder(tmp_path),
    ):
        pass
    with atomic.lock_folder(tmp_path):
        pass
