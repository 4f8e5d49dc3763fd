"""What differs from run to run and from machine to machine, taken out of text."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from importlib.metadata import version
from math import ceil
from pathlib import Path

VERSIONS = {"earwitness": version("earwitness"), "numpy": version("numpy")}
DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?P<time>[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
)
TOKEN = re.compile(r"(?<=/l/)[\w-]{32}(?![\w-])")
LONG = re.compile(r"data:(?P<kind>[\w/+.-]+);base64,(?P<data>[A-Za-z0-9+/=]{80,})")
STYLE = re.compile(
    r"(?P<start><(style|script)\b[^>]*>)(?P<body>.{200,}?)(?P<end></(style|script)>)", re.S
)
DECIMAL = re.compile(
    r"(?P<sign>\$-\$|[-−])?(?<![\w.])(?P<size>\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))(?![\w.])"
)
SIZE = re.compile(r"\([\d,]+ bytes, sha256 [0-9a-f]{64}\)")
SOUND_DIGEST = re.compile(r"(?<=\|sound=)[0-9a-f]{16}")  # of synthetic days, in signatures
MIN_PART = 40  # lines of a text that have one digest
MOST_PARTS = 20  # of a text
HEAD, TAIL = 8, 4  # lines of a long text that are recorded as they are
LONG_PAGE = 40_000  # characters
NOISE = 1e-9  # numbers that are smaller may have any sign


def masked(text: str, folder: Path, now: datetime | None = None) -> str:
    """Text without paths of the run, versions, tokens, and dates around now.

    >>> masked("/x/a.csv, earwitness=0 at 2024-02-29T12:00:00+00:00", Path("/x"),
    ...        datetime(2024, 3, 1, tzinfo=UTC))
    '<folder>/a.csv, earwitness=0 at <now>'
    """
    for path in sorted({str(folder), str(folder.resolve())}, key=len, reverse=True):
        text = text.replace(path, "<folder>")
    for name, number in VERSIONS.items():
        text = re.sub(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)", f"<version of {name}>", text)
    today = (now or datetime.now(UTC)).date()
    near = {today + timedelta(days=days) for days in (-1, 0, 1)}
    text = TOKEN.sub("<token>", DATE.sub(_without(near), text))
    text = SOUND_DIGEST.sub("<digest>", text)
    return "\n".join(map(_without_size, text.split("\n")))


def _without_size(line: str) -> str:
    """A line without size and hash of an input that a command wrote: it has long numbers."""
    return line if "examples/" in line else SIZE.sub("(<size>)", line)


def _without(near: set[date]) -> Callable[[re.Match[str]], str]:
    days = {one.isoformat() for one in near}

    def replaced(found: re.Match[str]) -> str:
        if found["day"] not in days:
            return found[0]
        return "<now>" if found["time"] else "<today>"

    return replaced


def shortened(text: str) -> str:
    """A page without the bytes of pictures and sounds, and with digests of styles and scripts."""
    text = LONG.sub(lambda found: f"data:{found['kind']};base64,<{_inside(found)}>", text)
    return STYLE.sub(lambda one: f"{one['start']}<{digest(one['body'])}>{one['end']}", text)


def _inside(found: re.Match[str]) -> str:
    data = b64decode(found["data"])
    return pixels(data) if data.startswith(b"\x89PNG") else f"{len(data)} bytes"


def pixels(data: bytes) -> str:
    """The size of a PNG picture."""
    width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
    return f"{width} × {height} pixels"


def digest(text: str) -> str:
    """Length and SHA-256 of a text."""
    return f"{len(text)} characters, sha256 {sha256(text.encode()).hexdigest()}"


def condensed(text: str) -> str:
    """A long text as its first and last lines and a digest of every part with its first line.

    Machines may round decimal numbers differently: digests do not contain them. Each part has a
    sum of their sizes, weighted by position, which is compared nearly, as its first line is. Long
    pages round many numbers for figures and are told without numbers; JSON has all digits.
    """
    has_numbers = len(text) <= LONG_PAGE or text.lstrip().startswith(("{", "["))
    if not has_numbers:
        text = without_numbers(text)
    lines = text.replace("><", ">\n<").split("\n")
    part = max(MIN_PART, ceil(len(lines) / MOST_PARTS))
    told = [f"{len(lines)} lines, as digests of {part}", *lines[:HEAD]]
    for at in range(0, len(lines), part):
        told += [lines[at], f"  {digest_of_lines(lines[at : at + part])}"]
    return "\n".join([*told, *lines[-TAIL:]]) + "\n"


def digest_of_lines(lines: list[str]) -> str:
    """A hash of lines without decimal numbers, and the sum of those, weighted by position."""
    text = "\n".join(lines)
    short = sha256(without_numbers(text).encode()).hexdigest()[:16]
    sizes = [abs(_number(found)) for found in DECIMAL.finditer(text)]
    total = sum(place * size for place, size in enumerate(sizes, 1))
    return f"{short} {total:.10f}" if sizes else short


def without_numbers(text: str) -> str:
    """A text without decimal numbers; of those that are not near 0, it has the signs.

    >>> without_numbers("-0.5 of 3 rows, -1e-17")
    '−# of 3 rows, #'
    """
    return DECIMAL.sub(lambda found: "−#" if _number(found) < -NOISE else "#", text)


def _number(found: re.Match[str]) -> float:
    size = float(found["size"])
    return -size if found["sign"] else size
