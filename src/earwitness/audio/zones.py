"""Zones of time: what a clock on a wall says, as moments that can be subtracted.

When clocks go back an hour comes twice: of files in order each takes the first of the two that is
not before the end of the last. When they go forward an hour is left out, and no file can have begun
in it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from earwitness.errors import UsageError

AWAY = re.compile(r"(?:UTC)?([+-])(\d\d?)(?::?(\d\d))?")


def zone_of(name: str) -> tzinfo:
    """A zone by its name (``Europe/Paris``), ``UTC``, or how far it is from there (``+02:00``).

    >>> zone_of("+02:00").utcoffset(None)
    datetime.timedelta(seconds=7200)
    """
    from zoneinfo import ZoneInfo

    if name in ("UTC", "Z"):
        return UTC
    if match := AWAY.fullmatch(name):
        away = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if away < timedelta(hours=24):
            return timezone(away if match[1] == "+" else -away)
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise UsageError(
            f'no zone is called "{name}" — write one such as Europe/Paris, UTC or +02:00'
        ) from error


def exists(wall: datetime, zone: tzinfo) -> bool:
    """Whether a clock on a wall of that zone ever shows this.

    >>> exists(datetime(2025, 3, 30, 2, 30), zone_of("Europe/Paris"))
    False
    """
    back = wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    return back.replace(tzinfo=None, fold=0) == wall.replace(fold=0)


def placed(wall: datetime, zone: tzinfo, after: datetime | None, slack: float) -> datetime:
    """The moment at which a clock on a wall shows this, not before another if it can be.

    >>> autumn, paris = datetime(2025, 10, 26, 2, 30), zone_of("Europe/Paris")
    >>> first = placed(autumn, paris, None, 0)
    >>> (placed(autumn, paris, first + timedelta(hours=1), 0) - first).total_seconds()
    3600.0
    """
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    late = after is not None and first < after - timedelta(seconds=slack)
    return second if late and second > first else first
