"""Whether clips are the same every time is tested here, so none is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.clip_cache import new_clips


@pytest.fixture(autouse=True, scope="module")
def made_anew() -> Iterator[None]:
    """Every clip is made when it is asked for."""
    with new_clips():
        yield
