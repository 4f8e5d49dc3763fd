"""What differs from run to run and from machine to machine, taken out of text."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from importlib.metadata import version
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
DECIMAL = re.compile(r"(?:\$-\$|[-−])?(?<![\w.])\d+\.\d+(?:[eE][-+]?\d+)?(?![\w.])")
JSON_NUMBER = re.compile(r"(?:^\s*|: )(-?\d+\.\d+(?:[eE][-+]?\d+)?),?$")
SIZE = re.compile(r"\([\d,]+ bytes, sha256 [0-9a-f]{64}\)")
SOUND_DIGEST = re.compile(r"(?<=\|sound=)[0-9a-f]{16}")  # of synthetic days, in signatures
PART = 40  # lines


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


def digests(text: str) -> str:
    """A long text as digests of its parts, each with its first words, so that a diff says where.

    Machines may round decimal numbers differently: digests do not contain them. Parts of JSON,
    which has all digits, have the sum of their numbers, which is compared nearly.
    """
    lines = text.replace("><", ">\n<").split("\n")
    parts = [lines[at : at + PART] for at in range(0, len(lines), PART)]
    sums = text.lstrip().startswith(("{", "["))
    told = [_describe(part, sums=sums) for part in parts]
    return f"{len(lines)} lines, as digests of {PART}\n" + "".join(f"{one}\n" for one in told)


def _describe(part: list[str], *, sums: bool) -> str:
    plain = [DECIMAL.sub("#", line) for line in part]
    numbers = [float(one) for line in part for one in JSON_NUMBER.findall(line)] if sums else []
    total = f" {sum(numbers):.10f}" if numbers else ""
    return f"{_short(plain)}{total} {plain[0].strip()[:60]}".rstrip()


def _short(part: list[str]) -> str:
    return sha256("\n".join(part).encode()).hexdigest()[:16]
