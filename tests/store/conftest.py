"""A store for every test, on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from earwitness.store.store import Store
from helpers.databases import either_address as address
from helpers.store_answers import DIGEST

__all__ = ["address", "store"]


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """A store with a study, two listeners who have links, and two numbers that are open."""
    with Store.open(address, version="1.2.3") as opened:
        opened.add_study(DIGEST, "A study")
        opened.add_listeners(DIGEST, [1, 2])
        opened.add_listeners(DIGEST, [3, 4], open=True)
        yield opened
