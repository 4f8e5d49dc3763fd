"""When a file began, from its name, as recorders write it.

Recorders that are left outside name each file after its first second: AudioMoth
``20250722_063000.WAV`` (with a ``T`` behind it if it was triggered, and before 2020 the seconds
since 1970 as eight hexadecimal digits), Song Meter ``SITE_0+1_20250722_063000.wav``, many others
``NAME_YYYYMMDD_HHMMSS``. Some add a fraction, ``Z`` or how far the clock is from UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

STAMP = re.compile(
    r"(?<!\d)(?P<date>\d{4}-\d\d-\d\d|\d{4}_\d\d_\d\d|\d{8})[T_$ -]+"
    r"(?P<time>\d\d:?\d\d:?\d\d|\d\d[-_.]\d\d[-_.]\d\d)(?!\d)(?P<fraction>[.,]\d{1,6}(?!\d))?"
    r"(?P<zone>Z(?![A-Za-z])|[+-]\d\d:?\d\d(?!\d))?"
)
SECONDS = re.compile(r"[0-9A-Fa-f]{8}")  # the whole name of an old AudioMoth file
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # no recorder of this kind is older


def began_from(name: str) -> datetime | None:
    """The moment in the name of a file; of two the last, and None if there is none.

    It knows its zone only if the name tells it.

    >>> began_from("SITE_0+1_20250722_063000.wav")
    datetime.datetime(2025, 7, 22, 6, 30)
    >>> began_from("20250722T063000Z.flac").isoformat()
    '2025-07-22T06:30:00+00:00'
    >>> began_from("5D3A0F10.WAV").isoformat()
    '2019-07-25T20:20:32+00:00'
    >>> began_from("20250230_063000.wav") is None
    True
    """
    stem = _stem(name)
    if SECONDS.fullmatch(stem) and (found := _counted(stem)):
        return found
    return max(_moments(stem), default=(0, None), key=lambda one: one[0])[1]


def looks_dated(name: str) -> bool:
    """Whether a name has digits as for a date and time.

    >>> looks_dated("ABC_20251345_063000.wav"), looks_dated("day.flac")
    (True, False)
    """
    return STAMP.search(_stem(name)) is not None


def _stem(name: str) -> str:
    """Without folders and without an ending, which holds a letter: ``.123`` is a fraction."""
    return re.sub(r"\.(?=[^.]*[A-Za-z])[A-Za-z0-9]+$", "", re.split(r"[/\\]", name)[-1])


def _counted(digits: str) -> datetime | None:
    """Seconds since 1970 in hexadecimal digits, unless they are a plain date or too early."""
    moment = datetime.fromtimestamp(int(digits, 16), UTC)
    return moment if moment >= EARLIEST and not _is_date(digits) else None


def _is_date(digits: str) -> bool:
    if not digits.isdigit():
        return False
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    return 1990 <= year < 2100 and 1 <= month <= 12 and 1 <= day <= 31


def _moments(stem: str) -> Iterator[tuple[int, datetime]]:
    """Each possible moment with its place in the name."""
    for match in STAMP.finditer(stem):
        digits = re.sub(r"\D", "", match["date"] + match["time"])
        fraction = (match["fraction"] or ".0")[1:].ljust(6, "0")
        try:
            moment = datetime.strptime(digits + fraction, "%Y%m%d%H%M%S%f")
        except ValueError:
            continue
        yield match.start(), moment.replace(tzinfo=_zone(match["zone"]))


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text == "Z":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    away = timedelta(hours=hours, minutes=minutes)
    return timezone(-away if text[0] == "-" else away) if away < timedelta(hours=24) else None
