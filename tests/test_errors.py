"""Messages about optional libraries that are not installed."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from earwitness.errors import MissingExtra, install_command


def installed(monkeypatch: pytest.MonkeyPatch, direct_url: str | None) -> None:
    """Let the package be installed in another way."""
    package = SimpleNamespace(read_text=lambda name: {"direct_url.json": direct_url}[name])
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _name: package)


@pytest.mark.parametrize(
    "direct_url",
    [
        None,
        json.dumps({"url": "file:///code/earwitness.whl", "archive_info": {}}),
        json.dumps({"url": "file:///code/earwitness", "dir_info": {}}),
        json.dumps({"url": "file:///code/earwitness", "dir_info": {"editable": False}}),
        "not JSON",
    ],
)
def test_an_extra_of_an_installed_package_is_named_in_quotes(
    direct_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, direct_url)
    command = install_command("audio")
    assert command == 'pip install "earwitness[audio]"'
    assert shlex.split(command)[-1] == "earwitness[audio]"


def test_an_extra_of_a_checkout_is_installed_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "file:///code/my%20own/earwitness", "dir_info": {"editable": True}}
    installed(monkeypatch, json.dumps(origin))
    command = install_command("audio")
    assert command == 'pip install -e ".[audio]" (in /code/my own/earwitness)'
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
