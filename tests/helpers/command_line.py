"""The command line in the process of the tests, without the start of another."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import ExitStack, chdir
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from earwitness.cli.main import main


class Finished(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(
    *arguments: str | int | Path,
    stdin: str = "",
    folder: Path | None = None,
    width: int = 80,
    one_stream: bool = False,
) -> Finished:
    """Run a command in a folder, as a program that no terminal is connected with.

    Standard error goes to standard output where only one stream is wanted.
    """
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin.encode(), b"", b"")]
    if one_stream:
        streams[2] = streams[1]
    handler = signal.getsignal(signal.SIGTERM)
    code = 0
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, COLUMNS=str(width)))
        stack.enter_context(chdir(folder or Path.cwd()))
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            stack.enter_context(mock.patch.object(sys, name, stream))
        stack.callback(signal.signal, signal.SIGTERM, handler)
        try:
            main(list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
    for stream in streams[1:]:
        stream.flush()
    held: list[Any] = [stream.buffer for stream in streams[1:]]
    return Finished(code, held[0].getvalue().decode(), held[1].getvalue().decode())
