"""JSON lines that a study names, each an object; what is none is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from earwitness.errors import Problem
from earwitness.formats.check import BadLine, load, show


def objects(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects with the number of their line; what is wrong with others goes to ``problems``."""
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = load(line)
        except BadLine as bad:
            problems.append(Problem(str(path), number, *bad.fault))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            told = f"must be an object, got {show(row)}"
            problems.append(Problem(str(path), number, "", told))
