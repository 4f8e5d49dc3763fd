"""Databases, and a folder with the sounds of small studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from databases import address, new_schema, server
from taking import sounds

__all__ = ["address", "folder", "new_schema", "server"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with sounds."""
    return sounds(tmp_path)
