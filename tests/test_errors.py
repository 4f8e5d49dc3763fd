"""Merged problems, suggestions of names, and messages about libraries that are missing."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from earwitness import errors
from earwitness.errors import InputError, MissingExtra, Problem, install_command, nearest


def installed(
    monkeypatch: pytest.MonkeyPatch,
    direct_url: str | None,
    installer: str = "pip",
    prefix: str = "/usr",
) -> None:
    """Let the package be installed in another way."""
    texts = {"direct_url.json": direct_url, "INSTALLER": f"{installer}\n"}
    package = SimpleNamespace(read_text=texts.get)
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _name: package)


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        (None, ""),
        ("not JSON", ""),
        ('{"url": "file:///a.whl", "archive_info": {}}', " @ file:///a.whl"),
        ('{"url": "https://g.org/e", "vcs_info": {"vcs": "git"}}', " @ git+https://g.org/e"),
    ],
)
def test_an_extra_of_an_installed_package_is_named_in_quotes(
    direct_url: str | None, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, direct_url)
    command = install_command("audio")
    assert command == f'pip install "earwitness[audio]{source}"'
    assert shlex.split(command)[-1] == f"earwitness[audio]{source}"


@pytest.mark.parametrize(
    ("installer", "prefix", "command"),
    [
        ("uv", "/srv/ann/.venv", "uv pip install"),
        ("uv", "/srv/ann/.local/share/uv/tools/earwitness", "uv tool install"),
        ("pip", "/srv/ann/.local/share/pipx/venvs/earwitness", "pipx install --force"),
    ],
)
def test_an_extra_is_added_with_the_installer(
    installer: str, prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, None, installer, prefix)
    assert install_command("audio") == f'{command} "earwitness[audio]"'


def test_an_extra_of_a_checkout_is_installed_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "file:///code/my%20own/earwitness", "dir_info": {"editable": True}}
    installed(monkeypatch, json.dumps(origin))
    command = install_command("audio")
    assert command == 'pip install -e ".[audio]" (in /code/my own/earwitness)'
    installed(monkeypatch, json.dumps({"url": "file:///code/own", "dir_info": {}}))
    assert install_command("audio") == 'pip install ".[audio]" (in /code/own)'
    installed(monkeypatch, json.dumps(origin))
    error = MissingExtra("soundfile", "audio", "reading audio")
    assert str(error).endswith(f"soundfile, which is not installed — run: {command}")


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert install_command("zstd") == 'pip install "earwitness[zstd]"'


def test_the_command_is_made_in_one_place() -> None:
    source = Path(__file__).parents[1] / "src" / "earwitness"
    having = [path.name for path in source.rglob("*.py") if "pip install" in path.read_text()]
    assert having == ["errors.py"]


def test_repeated_problems_are_merged_with_the_first() -> None:
    problems = [
        Problem("a.csv", line, "value", "is empty", "fill it in") for line in range(2, 1002)
    ]
    error = InputError([*problems, Problem("b.csv", 3, "value", "is empty", "fill it in")])
    assert str(error).splitlines() == [
        "a.csv:2: value: is empty — fill it in",
        "  … and 999 more like this",
        "b.csv:3: value: is empty — fill it in",
        "1,001 problems; nothing was scored",
    ]
    assert error.count == 1001


def test_of_problems_that_differ_only_in_values_ten_are_shown() -> None:
    problems = [
        Problem("a.csv", n + 2, "system", f'unknown system "C{n}"', f"known: D{n}")
        for n in range(1008)
    ]
    lines = str(InputError([*problems, Problem("a.csv", 5, "item", "is empty")])).splitlines()
    assert len(lines) == 13
    assert lines[0] == 'a.csv:2: system: unknown system "C0" — known: D0'
    assert lines[3] == "a.csv:5: item: is empty"
    assert lines[-3:] == [
        'a.csv:11: system: unknown system "C9" — known: D9',
        "  … and 998 more like this",
        "1,009 problems; nothing was scored",
    ]


def test_problems_that_were_not_kept_are_counted() -> None:
    error = InputError([Problem("a.csv", 2, "", "is empty", more=4)], 20)
    assert str(error).splitlines()[1:] == [
        "  … and 4 more like this",
        "… and 15 more problems",
        "20 problems; nothing was scored",
    ]


def test_the_nearest_name_is_searched_once_per_name(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def search(name: str, names: tuple[str, ...], **_: object) -> list[str]:
        searched.append(name)
        return list(names[:1])

    monkeypatch.setattr(errors, "get_close_matches", search)
    names = [f"searched once {n}" for n in range(3)]
    assert {nearest("searched onse 0", names) for _ in range(1000)} == {
        'did you mean "searched once 0"?'
    }
    nearest("searched", names)
    assert searched == ["searched onse 0", "searched"]
