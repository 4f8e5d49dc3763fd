"""The project stands alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import earwitness
from release_check import FEATURES, changelog_faults, release_faults, source_version, wheel_files


def project_table(root: Path) -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return table


def project_files(root: Path) -> list[str]:
    """Files of a clone, or of an unpacked sdist, which is no clone and lists what it contains."""
    if not (root / ".git").exists():
        folders = ("src", "tests", "docs", "examples", "benchmarks", "browser", ".ci")
        found = [*root.glob("*"), *(path for name in folders for path in (root / name).rglob("*"))]
        names = [path.relative_to(root).as_posix() for path in found if path.is_file()]
        return [name for name in names if "__pycache__" not in name and name != "PKG-INFO"]
    return subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


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
    project = project_table(root)
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    locked = (root / "requirements-dev.lock").read_text()
    for name in {re.split(r"[<>=!~\[ ]", one)[0] for one in wanted} - {"earwitness"}:
        assert re.search(rf"^{name}==", locked, re.M) or name in ("torch", "torchaudio"), name
    assert "torch==" in (root / "Makefile").read_text()  # installed apart, before the lock


def test_no_file_names_a_place_outside(root: Path) -> None:
    outside = re.compile(r"(?<![\w.])/(?:home|root|mnt|opt)/\w|\.\./shared")
    for name in project_files(root):
        path = root / name
        if path.is_file() and path != Path(__file__) and path.suffix not in (".png", ".flac"):
            assert not outside.search(path.read_text("utf-8", errors="replace")), name


def test_no_test_is_skipped_and_no_check_is_switched_off(root: Path) -> None:
    for path in [*(root / "tests").rglob("*.py"), *(root / "browser").rglob("*.py")]:
        if path != Path(__file__):
            text = path.read_text()
            assert "mark.skip" not in text, path
            assert "pytest.skip" not in text, path


def _see(
    script: str, root: Path, place: Path, user: int, lacking: str = "nothing", **more: str
) -> tuple[int, str, str]:
    """What a script of `.ci` does for a user where nothing is installed, and what it installs."""
    place.mkdir()
    get = f'echo "$@" >> {place}/installed; case "$*" in *" {lacking}") exit 1;; esac'
    for name, says in {"id": f"echo {user}", "apt-get": get}.items():
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
    assert installed.splitlines()[-1].endswith(" chromium-headless-shell")
    other = tmp_path / "other"
    code, _, installed = _see("chromium", root, other, 0, "chromium-headless-shell", CI="true")
    assert code == 0
    assert installed.splitlines()[-1].endswith(" chromium")
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


def test_every_stage_runs_and_failures_are_listed_at_the_end(root: Path, tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(
        """#!/bin/sh
case $2 in
  lint) echo "a.py:1: E501"; echo "stage lint: 1 s, exit 1"; exit 2;;
  tests) echo "FAILED tests/test_a.py::test_a - assert 0"; echo "1 failed, 1 passed"; exit 2;;
  browser) echo "FAILED b.py::test_b"; echo "stage browser: 2 s, exit 1"; echo "1 passed"
    echo "stage browser-again: 1 s, exit 0";;
  docs) echo "FAILED c.py::test_c"; echo "FAILED c.py::test_d"; echo "stage docs: 2 s, exit 1"
    echo "FAILED c.py::test_d"; echo "stage docs-again: 1 s, exit 1"; exit 2;;
esac
"""
    )
    make.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [str(root / ".ci" / "stages"), "lint", "types", "tests", "browser", "docs"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    printed, _, listed = done.stdout.partition("\nFailures:\n")
    assert "stage browser-again" in printed
    tests = "tests:\n  FAILED tests/test_a.py::test_a - assert 0\n"
    assert listed == f"lint:\n  a.py:1: E501\n{tests}docs:\n  FAILED c.py::test_d\n"
    command = [str(root / ".ci" / "stages"), "types", "browser"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Failures" not in done.stdout
    makefile = (root / "Makefile").read_text()
    assert "\t@.ci/stages lint format types scripts layers tests browser\n" in makefile


# --- Releases; .ci/release_check.py builds and installs one --------------------------------------


CHANGELOG = """\
# Changelog

## [0.2.0] - unreleased

### Added

- A command.

## [0.1.0] - 2026-01-31

### Fixed

#### Pages

- An error.
"""


def test_documents_agree_on_version_and_date(root: Path) -> None:
    assert source_version(root) == earwitness.__version__
    assert release_faults(root) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("", "", ""),
        ("# Changelog", "# News", "the title is not"),
        ("[0.2.0] - unreleased", "0.2.0", "the heading is not [VERSION] - DATE: 0.2.0"),
        ("2026-01-31", "2026-02-31", "0.1.0: 2026-02-31 is not a date"),
        ("2026-01-31", "unreleased", "0.1.0: only the newest version may be unreleased"),
        ("0.1.0", "0.3.0", "versions are not in descending order"),
        ("0.1.0", "0.2.0", "versions are not in descending order"),
        ("0.2.0", "0.2.1", "the first section is not that of version 0.2.0"),
        ("### Added", "### New", "0.2.0: unknown kind of change: New"),
        ("### Added", "", "0.2.0: changes stand under no kind"),
        ("- An error.", "- An error.\n\n### Fixed\n\n- One.", "0.1.0: a kind of change has two"),
        ("- A command.", "", "0.2.0: Added: no entry"),
    ],
)
def test_the_changelog_has_the_form_of_keep_a_changelog(old: str, new: str, fault: str) -> None:
    faults = changelog_faults(CHANGELOG.replace(old, new, 1), "0.2.0")
    assert (fault in "\n".join(faults)) if fault else faults == []


def test_a_release_has_one_version_and_one_date(tmp_path: Path) -> None:
    def faults(date: str, cited: str, *tags: str, shown: str = "0.2.0") -> str:
        """Faults of a project with these documents."""
        files = {
            "src/earwitness/version.py": '__version__ = "0.2.0"\n',
            "CHANGELOG.md": CHANGELOG.replace("unreleased", date),
            "CITATION.cff": f"cff-version: 1.2.0\n{cited}\n",
            "README.md": f"signature: earwitness={shown}|chunks",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return "; ".join(release_faults(tmp_path, tags))

    version, day = "version: 0.2.0", "2026-03-01"
    assert faults("unreleased", version, "latest") == ""
    assert faults(day, f"{version}\ndate-released: '{day}'", "v0.2.0") == ""
    assert faults("unreleased", "version: 0.1.0") == "CITATION.cff: version is not 0.2.0"
    assert faults(day, version) == f"CITATION.cff: date-released is not {day}"
    early = faults("unreleased", f"{version}\ndate-released: {day}")
    assert early == "CITATION.cff: date-released is given, but the changelog says unreleased"
    assert faults("unreleased", version, shown="0.1.0") == "README.md: shows version 0.1.0"
    tagged = "tag v0.2.0: version.py has 0.2.0, CHANGELOG.md no date"
    assert faults("unreleased", version, "v0.2.0") == tagged
    assert "tag v0.3.0: " in faults(day, f"{version}\ndate-released: {day}", "v0.3.0")


def test_the_citation_is_complete(root: Path) -> None:
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    citation.pop("date-released", None)  # see release_faults
    project = project_table(root)
    assert list(citation) == [
        "cff-version",
        "message",
        "title",
        "type",
        "authors",
        "version",
        "license",
        "abstract",
        "keywords",
    ]
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    assert citation["keywords"] == project["keywords"]
    assert all(isinstance(citation[name], str) for name in ("message", "title", "version"))
    for workflow in ("scores their outputs", "listening tests", "metrics agree with"):
        assert workflow in citation["abstract"]


def test_metadata_claim_what_python_versions_are_required(root: Path) -> None:
    project = project_table(root)
    [least] = re.findall(r"^>=3\.(\d+)$", project["requires-python"])
    minors = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    assert min(map(int, minors)) == int(least)
    assert not [one for one in project["classifiers"] if one.startswith("License")]  # an expression


def test_archives_have_all_files_of_the_project(root: Path) -> None:
    build = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]
    files = project_files(root)
    always = {"pyproject.toml", ".gitignore"}
    assert {name.split("/")[0] for name in files} == {*build["sdist"]["only-include"]} | always
    assert build["wheel"]["packages"] == ["src/earwitness"]
    in_wheel = wheel_files(files, "1.0.0")
    assert {"earwitness/py.typed"} < in_wheel
    assert "earwitness-1.0.0.dist-info/licenses/LICENSE" in in_wheel
    assert not [name for name in in_wheel if name.startswith(("tests", "src", "docs"))]


def test_the_release_check_tries_every_extra(root: Path) -> None:
    assert {*project_table(root)["optional-dependencies"]} <= {*FEATURES}
