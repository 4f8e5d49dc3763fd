"""Start times of files, from file names, options and time zones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import accumulate
from pathlib import Path
from typing import Annotated, NamedTuple

from earwitness.errors import Problem, UsageError, file_problem, refuse_problems

# --- Settings ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ClockSettings:
    """Clock of a recording.

    Parameters
    ----------
    start
        Start time of the first file (ISO 8601). By default from the file name.
    zone
        Time zone of file names and ``start``, such as Europe/Paris, UTC or +02:00.
    shown
        Time zone of displayed times. By default that of ``zone``.
    hour_gap
        Length of the silences that separate hours, in seconds (0: none).
    """

    start: Annotated[str | None, "TIME"] = None
    zone: Annotated[str | None, "ZONE"] = None
    shown: Annotated[str | None, "ZONE"] = None
    hour_gap: float = 0.0


# --- Start times in file names -------------------------------------------------------------------
# Autonomous recorders name each file after its start time: AudioMoth ``20250722_063000.WAV`` (with
# a ``T`` at the end if it was triggered; before 2020 the seconds since 1970 as eight hexadecimal
# digits), Song Meter ``SITE_0+1_20250722_063000.wav``, many others ``NAME_YYYYMMDD_HHMMSS``. Some
# add a fraction, ``Z`` or an offset from UTC.


TIMESTAMP_PATTERN = re.compile(
    r"(?<!\d)(?P<date>\d{4}-\d\d-\d\d|\d{4}_\d\d_\d\d|\d{8})[T_$ -]+"
    r"(?P<time>\d\d:?\d\d:?\d\d|\d\d[-_.]\d\d[-_.]\d\d)(?!\d)(?P<fraction>[.,]\d{1,6}(?!\d))?"
    r"(?P<zone>Z(?![A-Za-z])|[+-]\d\d:?\d\d(?!\d))?"
)
HEX_SECONDS_PATTERN = re.compile(r"[0-9A-Fa-f]{8}")  # name of an old AudioMoth file
DATE_PATTERN = re.compile(r"(199|20[0-9])[0-9](0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])")
EARLIEST_RECORDING = datetime(2000, 1, 1, tzinfo=UTC)  # no such recorder is older


def start_from_name(name: str) -> datetime | None:
    """Return the start time in a file name (the last one, if there are two), or None.

    It has a time zone only if the name has one.

    >>> start_from_name("SITE_0+1_20250722_063000.wav")
    datetime.datetime(2025, 7, 22, 6, 30)
    >>> start_from_name("20250722T063000Z.flac").isoformat()
    '2025-07-22T06:30:00+00:00'
    >>> start_from_name("5D3A0F10.WAV").isoformat()
    '2019-07-25T20:20:32+00:00'
    >>> start_from_name("20250230_063000.wav") is None
    True
    """
    stem = _name_stem(name)
    if HEX_SECONDS_PATTERN.fullmatch(stem) and not DATE_PATTERN.fullmatch(stem):
        moment = datetime.fromtimestamp(int(stem, 16), UTC)
        if moment >= EARLIEST_RECORDING:
            return moment
    return next(reversed(list(_moments_in_name(stem))), None)


def _name_stem(name: str) -> str:
    """Return the name without folders and extension (``.123`` is a fraction, not an extension)."""
    return re.sub(r"\.(?=[^.]*[A-Za-z])[A-Za-z0-9]+$", "", re.split(r"[/\\]", name)[-1])


def _moments_in_name(stem: str) -> Iterator[datetime]:
    """Yield the possible start times."""
    for match in TIMESTAMP_PATTERN.finditer(stem):
        digits = re.sub(r"\D", "", match["date"] + match["time"])
        fraction = (match["fraction"] or ".0")[1:].ljust(6, "0")
        try:
            moment = datetime.strptime(digits + fraction, "%Y%m%d%H%M%S%f")
        except ValueError:
            continue
        yield moment.replace(tzinfo=_parse_offset(match["zone"] or ""))


# --- Time zones ----------------------------------------------------------------------------------
# When clocks go back, an hour occurs twice: each file takes the earlier of the two that does not
# precede the end of the previous file. When they go forward, an hour is skipped, and no file can
# have started in it.


UTC_OFFSET_PATTERN = re.compile(r"(?:UTC)?([+-])(\d\d?)(?::?(\d\d))?")


def parse_zone(name: str) -> tzinfo:
    """Return a time zone by name (``Europe/Paris``), ``UTC``, or offset (``+02:00``).

    >>> parse_zone("+02:00").utcoffset(None)
    datetime.timedelta(seconds=7200)
    """
    from zoneinfo import ZoneInfo

    try:
        return _parse_offset(name) or ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise UsageError(
            f'unknown time zone "{name}" — use, for example, Europe/Paris, UTC or +02:00'
        ) from error


def _parse_offset(text: str) -> timezone | None:
    """Return the zone of an offset from UTC, or None for other texts."""
    if text in ("UTC", "Z"):
        return UTC
    match = UTC_OFFSET_PATTERN.fullmatch(text)
    if match is None:
        return None
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(offset if match[1] == "+" else -offset) if offset < timedelta(1) else None


def is_valid_wall_time(wall_time: datetime, zone: tzinfo) -> bool:
    """Whether a clock in that zone ever shows this time.

    >>> is_valid_wall_time(datetime(2025, 3, 30, 2, 30), parse_zone("Europe/Paris"))
    False
    """
    round_trip = wall_time.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    return round_trip.replace(tzinfo=None, fold=0) == wall_time.replace(fold=0)


def resolve_wall_time(
    wall_time: datetime, zone: tzinfo, after: datetime | None, slack: float
) -> datetime:
    """Return the moment at which a clock shows this time, not before another if possible.

    >>> autumn, paris = datetime(2025, 10, 26, 2, 30), parse_zone("Europe/Paris")
    >>> first = resolve_wall_time(autumn, paris, None, 0)
    >>> (resolve_wall_time(autumn, paris, first + timedelta(hours=1), 0) - first).total_seconds()
    3600.0
    """
    first, second = (wall_time.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    is_before = after is not None and first < after - timedelta(seconds=slack)
    return second if is_before and second > first else first


# --- Start times of files ------------------------------------------------------------------------


# overlap of consecutive files that is attributed to clock drift, in seconds
MAX_CLOCK_DRIFT_SECONDS = 2.0


class RecordingClock(NamedTuple):
    """Start time of the first file, if known, and the start of each file in seconds after it."""

    began: datetime | None
    starts: tuple[float, ...]
    notes: tuple[str, ...] = ()


class DatedFile(NamedTuple):
    """A file, its duration, and the start time in its name."""

    path: Path
    seconds: float
    named: datetime | None


def seconds_since(began: datetime, moment: datetime) -> float:
    """Return elapsed seconds, regardless of clock changes in between."""
    if began.tzinfo is None:
        return (moment - began).total_seconds()
    return moment.timestamp() - began.timestamp()


def date_file(path: Path, seconds: float) -> DatedFile:
    """Return a file with the start time in its name."""
    return DatedFile(path, seconds, start_from_name(path.name))


def sort_by_start(files: Sequence[Path], zone: str | None) -> tuple[Path, ...]:
    """Sort files by the start times in their names.

    The order is kept if not all names have a start time, or if files are already in order: only the
    given order is right for files recorded twice in the hour in which clocks go back.
    """
    dated_files = [date_file(path, 0.0) for path in files]
    moments_in_names = [file.named for file in dated_files if file.named is not None]
    if (
        len(moments_in_names) < len(files)
        or len({name.tzinfo is None for name in moments_in_names}) > 1
    ):
        return tuple(files)
    resolved = _resolve_moments(dated_files, parse_zone(zone) if zone else None)
    if resolved == sorted(resolved):
        return tuple(files)
    pairs = sorted(zip(moments_in_names, range(len(files)), strict=True))
    return tuple(files[index] for _, index in pairs)


def make_clock(
    files: Sequence[DatedFile], *, start: str | None, zone: str | None
) -> RecordingClock:
    """Return the clock of files in the given order.

    If all names have a start time, they set the clock, and ``start`` shifts all of them. If no name
    has one, files follow each other without a gap. If only some have one, the others are reported
    as problems.
    """
    time_zone = parse_zone(zone) if zone else None
    given_start = _parse_start(start, time_zone) if start else None
    undated = [file for file in files if file.named is None]
    if len(undated) == len(files):
        consecutive = tuple(accumulate((file.seconds for file in files[:-1]), initial=0.0))
        names = (file.path.name for file in files)
        dated = next((name for name in names if TIMESTAMP_PATTERN.search(_name_stem(name))), None)
        if dated is None or given_start is not None:
            return RecordingClock(given_start, consecutive)
        note = f"{dated}: the date and time in its name do not exist"
        return RecordingClock(None, consecutive, (note,))
    remedy = "rename it like the others (NAME_YYYYMMDD_HHMMSS), or leave it out"
    problems = [file_problem(o.path, "the file name has no start time", remedy) for o in undated]
    refuse_problems(problems or _find_impossible_times(files, time_zone), "read")
    moments = _resolve_moments(files, time_zone)
    starts = tuple((moment - moments[0]).total_seconds() for moment in moments)
    named_start, first = moments[0], files[0].named
    if named_start.tzinfo is not None:  # in the given zone, or else in that of the first name
        named_start = named_start.astimezone(time_zone or (first.tzinfo if first else None))
    if given_start is None:
        return RecordingClock(named_start, starts)
    if given_start.replace(tzinfo=None) == named_start.replace(tzinfo=None):
        return RecordingClock(given_start, starts)
    note = f"the first file name says {named_start.isoformat()}; the given start time is used"
    return RecordingClock(given_start, starts, (note,))


def _parse_start(text: str, zone: tzinfo | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f'"{text}" is not a date and time — write it as 2025-07-22T06:30:00'
        ) from error
    if moment.tzinfo is not None or zone is None:
        return moment
    if not is_valid_wall_time(moment, zone):
        message = f"{text}: this time was skipped when clocks went forward"
        raise UsageError(f"{message} — choose another time, or add a UTC offset")
    return moment.replace(tzinfo=zone)


def _find_impossible_times(files: Sequence[DatedFile], zone: tzinfo | None) -> list[Problem]:
    """Return problems of names without a zone among others with one, and of skipped times."""
    problems = []
    any_zone = any(file.named is not None and file.named.tzinfo for file in files)
    for file in files:
        if file.named is None or file.named.tzinfo is not None:
            continue
        if zone is None and any_zone:
            message, remedy = "the file name has no time zone, but others do", "set the zone"
        elif zone is not None and not is_valid_wall_time(file.named, zone):
            message = f"{file.named} was skipped when clocks went forward in {zone}"
            remedy = "set the zone to that of the recorder's clock, such as UTC"
        else:
            continue
        problems.append(file_problem(file.path, message, remedy))
    return problems


def _resolve_moments(files: Sequence[DatedFile], zone: tzinfo | None) -> list[datetime]:
    """Return comparable moments: all in UTC, or all in the same unknown zone."""
    moments: list[datetime] = []
    end: datetime | None = None
    for path, seconds, named in files:
        assert named is not None, path
        if named.tzinfo is not None:
            moment = named.astimezone(UTC)
        else:
            moment = resolve_wall_time(named, zone, end, MAX_CLOCK_DRIFT_SECONDS) if zone else named
        moments.append(moment)
        end = moment + timedelta(seconds=seconds)
    return moments
