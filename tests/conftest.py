"""Small counts in `make test`, full counts in `make prove`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from helpers.clip_cache import cached_clips
from helpers.databases import new_schema, server
from helpers.databases import usual_address as address
from helpers.samples import FULL
from helpers.study_listener import sounds

__all__ = [
    "address",
    "clips_once",
    "example",
    "folder",
    "new_schema",
    "one_core",
    "own_cache",
    "root",
    "server",
]

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "small", max_examples=20, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile("full", max_examples=200, deadline=None, suppress_health_check=slow)
settings.load_profile("full" if FULL else "small")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Modules of tests are not searched for doctests, which takes long and finds none."""
    collectors = yield
    if not file_path.name.startswith("test_"):
        return collectors
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark simulations, which ``make prove`` runs."""
    for item in items:
        if "simulations" in item.path.parts:
            item.add_marker("simulation")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many damaged files each reader accepted and refused."""
    reports = [one for part in ("passed", "failed") for one in terminalreporter.getreports(part)]
    found = [str(line) for one in reports for name, line in one.user_properties if name == "fuzzed"]
    for line in sorted(found):
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test leaves anything in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EARWITNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def one_core() -> Iterator[None]:
    """Commands without ``--jobs`` work in the process of their test; other cores have tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earwitness.engines.local.count_cores", lambda: 1)
        yield


@pytest.fixture(autouse=True, scope="session")
def clips_once() -> Iterator[None]:
    """Clips of synthetic days are made once."""
    with cached_clips():
        yield


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[1]


@pytest.fixture
def example(root: Path) -> Path:
    """The example corpus."""
    return root / "examples" / "chapters"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sounds of small studies."""
    return sounds(tmp_path)
