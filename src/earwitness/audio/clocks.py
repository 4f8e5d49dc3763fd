"""When each file of a recording began: by its name, by what the user said, or behind the last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.names import began_from, looks_dated
from earwitness.audio.zones import exists, placed, zone_of
from earwitness.errors import InputError, Problem, UsageError

DRIFT = 2.0  # seconds by which the clock of a recorder may be off from file to file


class Clock(NamedTuple):
    """When the first file began, if anybody knows, and each file's seconds after that."""

    began: datetime | None
    starts: tuple[float, ...]
    notes: tuple[str, ...] = ()


class Dated(NamedTuple):
    """A file, how long it is, and the moment in its name."""

    path: Path
    seconds: float
    named: datetime | None


def dated(path: Path, seconds: float) -> Dated:
    """With the moment in its name."""
    return Dated(path, seconds, began_from(path.name))


def in_order(files: Sequence[Path], zone: str | None) -> tuple[Path, ...]:
    """By their names' moments; as they are where not all have one, or if they are in order.

    Files that run twice through the hour at which clocks go back are in order only as given.
    """
    named = [dated(path, 0.0) for path in files]
    known = [one.named for one in named if one.named is not None]
    if len(known) < len(files) or len({one.tzinfo is None for one in known}) > 1:
        return tuple(files)
    moments = _moments(named, zone_of(zone) if zone else None)
    if moments == sorted(moments):
        return tuple(files)
    pairs = sorted(zip(known, range(len(files)), strict=True))
    return tuple(files[index] for _, index in pairs)


def clock_of(files: Sequence[Dated], *, start: str | None, zone: str | None) -> Clock:
    """The clock of files in their order.

    Names tell it, if all of them do; then a start that is given moves all of them. If none does
    they follow each other without a gap. If only some do, each of the others is a problem.
    """
    own = zone_of(zone) if zone else None
    given = _given(start, own) if start else None
    unknown = [file for file in files if file.named is None]
    if len(unknown) == len(files):
        return Clock(given, _one_behind_the_other(files), _undated(files, given))
    problems = [_unnamed(file) for file in unknown] or _impossible(files, own)
    if problems:
        raise InputError(problems, done="read")
    moments = _moments(files, own)
    starts = tuple((moment - moments[0]).total_seconds() for moment in moments)
    named = _at_home(moments[0], files[0], own)
    return Clock(given or named, starts, _moved(named, given))


def _moved(named: datetime, given: datetime | None) -> tuple[str, ...]:
    """What is to be said where names tell another time than what was given."""
    if given is None or given.replace(tzinfo=None) == named.replace(tzinfo=None):
        return ()
    return (f"the first name says {named.isoformat()}; the start that was given counts",)


def _undated(files: Sequence[Dated], given: datetime | None) -> tuple[str, ...]:
    """What is to be said where a name looks like a time that never was."""
    odd = [file.path.name for file in files if looks_dated(file.path.name)]
    if not odd or given is not None:
        return ()
    return (f"{odd[0]}: its name has digits like a date and time, but there is no such time",)


def _one_behind_the_other(files: Sequence[Dated]) -> tuple[float, ...]:
    starts = [0.0]
    for file in files:
        starts.append(starts[-1] + file.seconds)
    return tuple(starts[:-1])


def _given(text: str, zone: tzinfo | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f'"{text}" is no date and time — write it such as 2025-07-22T06:30:00'
        ) from error
    if moment.tzinfo is not None or zone is None:
        return moment
    if not exists(moment, zone):
        raise UsageError(f"{text}: clocks went forward, so that this time never was")
    return moment.replace(tzinfo=zone)


def _unnamed(file: Dated) -> Problem:
    remedy = "name it as the others are (NAME_YYYYMMDD_HHMMSS), or leave it out"
    return Problem(str(file.path), 0, "", "the name does not tell when it began", remedy)


def _impossible(files: Sequence[Dated], zone: tzinfo | None) -> list[Problem]:
    """Names that tell no zone among those that do, and times that never were."""
    problems = []
    aware = any(file.named is not None and file.named.tzinfo for file in files)
    for file in files:
        if file.named is None or file.named.tzinfo is not None:
            continue
        if zone is None and aware:
            message, remedy = "the name does not tell the zone, as others do", "give the zone"
        elif zone is not None and not exists(file.named, zone):
            message = f"{file.named}: clocks went forward in {zone}, so that this time never was"
            remedy = "give the zone in which the recorder's clock ran, such as UTC"
        else:
            continue
        problems.append(Problem(str(file.path), 0, "", message, remedy))
    return problems


def _moments(files: Sequence[Dated], zone: tzinfo | None) -> list[datetime]:
    """Moments that can be subtracted: all in UTC, or all on the same unknown clock."""
    moments: list[datetime] = []
    end: datetime | None = None
    for path, seconds, named in files:
        assert named is not None, path
        if named.tzinfo is not None:
            moment = named.astimezone(UTC)
        else:
            moment = placed(named, zone, end, DRIFT) if zone else named
        moments.append(moment)
        end = moment + timedelta(seconds=seconds)
    return moments


def _at_home(moment: datetime, first: Dated, zone: tzinfo | None) -> datetime:
    """In the zone that was given, or else in that of the first name."""
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(zone or (first.named.tzinfo if first.named else None))
