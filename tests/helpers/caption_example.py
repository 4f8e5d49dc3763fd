"""The example study of captions with its sounds, made once for all tests of a process."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.captions import make


@cache
def _made() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    make.main(Path(folder.name))
    return folder


def write_caption_example(folder: Path) -> None:
    """Write what ``examples/captions/make.py`` writes."""
    shutil.copytree(_made().name, folder, dirs_exist_ok=True)
