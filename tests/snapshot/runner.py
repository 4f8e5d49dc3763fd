"""Runs commands in this process, in a folder of their own, and tells all that they did."""

from __future__ import annotations

import io
import os
import random
import shlex
import shutil
import signal
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import openpyxl
import soundfile

from earwitness.cli.main import main
from snapshot.masks import condensed, digest_of_lines, masked, pixels, shortened

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = Path(__file__).parent / "recorded"
DATA = {".jsonl", ".csv", ".yaml"}
SOUNDS = {".wav", ".flac", ".mp3", ".ogg", ".opus"}
ASIDE = ("-wal", "-shm")  # beside a database while it is open
MOST_LINES = 60  # of a text that is recorded as it is
MOST = 12_000  # characters of such a text
RULE = "─" * 8
Source = str | bytes | Callable[[Path], bytes]


@dataclass(frozen=True)
class Command:
    """A command line, the files that are put there before it, and what is typed."""

    name: str
    line: str
    files: Mapping[str, Source] = field(default_factory=dict)
    typed: str = ""
    brief: bool = False  # whether each file it writes is recorded as one digest


def run_all(commands: Sequence[Command], place: Path) -> dict[str, str]:
    """What each of the commands did, one after the other in a new folder."""
    folder = place / "work"
    for path in sorted(EXAMPLES.rglob("*")):
        if path.suffix in DATA:
            copy = folder / "examples" / path.relative_to(EXAMPLES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    found = {}
    _forget()
    with _surroundings(place):
        for command in commands:
            for name, source in command.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_bytes(source, folder))
            found[command.name] = _run(command, folder)
    return found


def _forget() -> None:
    """Clear what functions of the package remember, such as that a warning was given."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "earwitness":
            for one in vars(module).values():
                if hasattr(one, "cache_clear"):
                    one.cache_clear()


def _bytes(source: Source, folder: Path) -> bytes:
    if isinstance(source, str):
        return source.encode()
    return source if isinstance(source, bytes) else source(folder)


@contextmanager
def _surroundings(place: Path) -> Iterator[None]:
    """The same width, zone and empty caches wherever it runs; all is put back afterwards."""
    own = {
        "COLUMNS": "100",
        "LINES": "24",
        "TZ": "UTC",
        "EARWITNESS_CACHE": str(place / "cache"),
        "HF_HOME": str(place / "hf"),
    }
    handler = signal.getsignal(signal.SIGTERM)
    with mock.patch.dict(os.environ, own):
        time.tzset()
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, handler)
    time.tzset()


def _run(command: Command, folder: Path) -> str:
    before = _state(folder)
    code, out, err = _called(shlex.split(command.line), command.typed, folder)
    after = _state(folder)
    parts = [f"$ earwitness {command.line}\nexit {code}\n"]
    for name, text in (("stdout", out), ("stderr", err)):
        if text:
            parts.append(f"{RULE} {name}\n{_text(text, folder)}")
    for path in sorted(after.keys() | before.keys()):
        if before.get(path) != after.get(path):
            told = _told(folder / path, folder) if path in after else "(deleted)\n"
            if command.brief:
                told = f"{digest_of_lines(told.splitlines())}\n"
            parts.append(f"{RULE} file {path}\n{told}")
    return "".join(part if part.endswith("\n") else f"{part}\n(no line end)\n" for part in parts)


def _called(arguments: list[str], typed: str, folder: Path) -> tuple[str, str, str]:
    """Exit code, standard output and standard error."""
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (typed.encode(), b"", b"")]
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 — what the drop-in draws from
    with ExitStack() as stack:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            stack.enter_context(mock.patch.object(sys, name, stream))
        stack.enter_context(chdir(folder))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        code = "0"
        try:
            main(arguments)
        except SystemExit as stop:
            code = str(stop.code or 0)
        except Exception as error:  # noqa: BLE001 — a command that fails is told as one
            code = f"raised {type(error).__name__}: {error}"
    for stream in streams[1:]:
        stream.flush()
    held: list[Any] = [stream.buffer for stream in streams[1:]]
    return code, held[0].getvalue().decode(), held[1].getvalue().decode()


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.endswith(ASIDE):
            facts = path.stat()
            found[path.relative_to(folder).as_posix()] = facts.st_size, facts.st_mtime_ns
    return found


def _told(path: Path, folder: Path) -> str:
    """What is in a file, by what kind of file it is."""
    tell: dict[str, Callable[[Path], str]] = {
        ".xlsx": _cells,
        ".db": _rows,
        ".npz": _shapes,
        ".png": lambda own: f"{pixels(own.read_bytes())}\n",
        **dict.fromkeys(SOUNDS, _length),
    }
    if path.suffix in tell:
        return _text(tell[path.suffix](path), folder)
    data = path.read_bytes()
    try:
        return _text(data.decode(), folder)
    except UnicodeDecodeError:
        return f"{len(data)} bytes, sha256 {sha256(data).hexdigest()}\n"


def _text(text: str, folder: Path) -> str:
    own = shortened(masked(text, folder))
    is_short = len(own) <= MOST and own.count("\n") <= MOST_LINES
    return own if is_short else condensed(own)


def _cells(path: Path) -> str:
    lines = []
    for sheet in openpyxl.load_workbook(path).worksheets:
        lines.append(f"sheet {sheet.title} ({sheet.sheet_state})")
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is not None:
                    link = f" → {cell.hyperlink.target}" if cell.hyperlink else ""
                    lines.append(f"  {cell.coordinate} {cell.value!r}{link}")
    return "".join(f"{line}\n" for line in lines)


def _rows(path: Path) -> str:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        listed = "select name from sqlite_master where type = 'table' order by name"
        names = [name for (name,) in base.execute(listed)]
        counts = {name: base.execute(f'select count(*) from "{name}"').fetchone() for name in names}
    return "".join(f"{name}: {count} rows\n" for name, (count,) in counts.items())


def _shapes(path: Path) -> str:
    with np.load(path) as arrays:
        return "".join(f"{name}: {arrays[name].dtype} {arrays[name].shape}\n" for name in arrays)


def _length(path: Path) -> str:
    samples, rate = soundfile.read(path, always_2d=True)
    return f"{samples.shape[0]} samples at {rate} Hz, channels: {samples.shape[1]}\n"
