"""Small counts in `make test`, full counts in `make prove`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import FULL

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "small", max_examples=60, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile("full", max_examples=2000, deadline=None, suppress_health_check=slow)
settings.load_profile("full" if FULL else "small")


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[1]


@pytest.fixture
def example(root: Path) -> Path:
    """The example corpus."""
    return root / "examples" / "chapters"
