"""The project stands alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_name_versions_and_hashes_and_no_host(root: Path, lock: str) -> None:
    text = (root / lock).read_text()
    assert "://" not in text
    assert not re.search(r"--(index-url|extra-index-url|find-links)", text)
    pinned = re.findall(r"^[\w-]+==\S+.*?\\\n(?:    --hash=sha256:[0-9a-f]{64}.*\n?)+", text, re.M)
    assert len(pinned) == len(re.findall(r"^\S", text, re.M)) > 10


def test_what_the_program_needs_is_the_same_in_both_locks(root: Path) -> None:
    def pins(lock: str) -> set[str]:
        return set(re.findall(r"^[\w-]+==[^\\ ]+", (root / lock).read_text(), re.M))

    assert pins("requirements.lock") <= pins("requirements-dev.lock")


def test_every_dependency_is_locked(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    locked = (root / "requirements-dev.lock").read_text()
    for requirement in wanted:
        name = re.split(r"[<>=!~\[ ]", requirement)[0]
        assert re.search(rf"^{name}==", locked, re.M) or name == "torch", name
    assert "torch==" in (root / "Makefile").read_text()  # installed apart, before the lock


def test_no_file_names_a_place_outside(root: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    outside = re.compile(r"(?<![\w.])/(?:home|root|mnt|opt)/\w|\.\./shared")
    for name in listed:
        path = root / name
        if path.is_file() and path != Path(__file__) and path.suffix != ".png":
            assert not outside.search(path.read_text(encoding="utf-8")), name


def test_no_test_is_skipped_and_no_check_is_switched_off(root: Path) -> None:
    for path in [*(root / "tests").rglob("*.py"), *(root / "browser").rglob("*.py")]:
        if path != Path(__file__):
            text = path.read_text()
            assert "mark.skip" not in text, path
            assert "pytest.skip" not in text, path


def _see(script: str, root: Path, place: Path, user: int, **more: str) -> tuple[int, str, str]:
    """What a script of `.ci` does for a user where nothing is installed, and what it installs."""
    place.mkdir()
    for name, says in {"id": f"echo {user}", "apt-get": f'echo "$@" >> {place}/installed'}.items():
        (place / name).write_text(f"#!/bin/sh\n{says}\n")
        (place / name).chmod(0o755)
    shell = shutil.which("sh")
    assert shell
    done = subprocess.run(
        [shell, root / ".ci" / script],
        env={"PATH": str(place), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    installed = place / "installed"
    return done.returncode, done.stderr, installed.read_text() if installed.exists() else ""


def test_under_ci_root_gets_chromium_and_anybody_else_the_command(
    root: Path, tmp_path: Path
) -> None:
    code, _, installed = _see("chromium", root, tmp_path / "root", 0, CI="true")
    assert code == 0
    assert installed.splitlines()[-1].endswith("chromium")
    for user, more in ((0, {}), (1000, {"CI": "true"}), (1000, {})):
        code, said, installed = _see(
            "chromium", root, tmp_path / f"{user}{len(more)}", user, **more
        )
        assert (code, installed) == (1, "")
        assert "make system" in said


def test_under_ci_root_gets_node_for_typescript_and_anybody_else_the_command(
    root: Path, tmp_path: Path
) -> None:
    _, _, installed = _see("typescript", root, tmp_path / "root", 0, CI="true")
    assert installed.splitlines()[-1].endswith("nodejs npm")
    for user, more in ((0, {}), (1000, {"CI": "true"}), (1000, {})):
        place = tmp_path / f"{user}{len(more)}"
        code, said, installed = _see("typescript", root, place, user, **more)
        assert (code, installed) == (1, "")
        assert "make system" in said
