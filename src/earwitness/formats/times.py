"""Times of picks that somebody chose by ear: a CSV table with a row a pick, in the order heard.

``start`` is seconds after the recording began, or a time of day (06:15:08), or a date and time
(2025-07-22 06:15:08) on the clock of the recording. ``seconds`` says how long, ``turned`` whether
it is played backwards. Tables that Earwitness writes itself are read with these columns, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from os import PathLike

from earwitness.data import Pick, Recording, Stretch
from earwitness.formats.check import Fault, show
from earwitness.formats.ratings.opened import read_table
from earwitness.formats.ratings.table import Cell, Table
from earwitness.formats.source import Source

START, SECONDS, TURNED = "start", "seconds", "turned"
WANTED = (START, SECONDS, TURNED)
DAYTIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\Z", re.ASCII)
DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d", re.ASCII)
TRUE, FALSE = ("yes", "true", "1"), ("", "no", "false", "0")
SLACK = 1e-6  # seconds: times are written to the microsecond
FORMS = "write seconds, 06:15:08, or 2025-07-22 06:15:08"


class _Wrong(Exception):
    """What is wrong with a cell, and what to do about it."""


def read_times(
    path: str | PathLike[str], recording: Recording, *, block: float = 8.0
) -> tuple[Pick, ...]:
    """Picks of a table, in its order; each lies in sound that was recorded.

    Rows without ``seconds`` get those of a block. All that is wrong is told at once.
    """
    table, _ = read_table(Source(path), WANTED)
    if START not in table.names:
        table.tell(1, "", f"has no column {START}", f"its first line names: {', '.join(WANTED)}")
    elif not table.lines and not table.wrong.count:
        table.tell(1, "", "has no pick in it")
    if START not in table.names or not table.lines:
        table.wrong.refuse()
    picks = [_pick(table, line, row, recording, block) for line, row in _rows(table)]
    table.wrong.refuse()
    return tuple(pick for pick in picks if pick is not None)


def _rows(table: Table) -> Iterator[tuple[int, dict[str, Cell]]]:
    columns = {name: table.cells(name) for name in WANTED if name in table.names}
    for place, line in enumerate(table.lines):
        yield line, {name: cells[place] for name, cells in columns.items()}


def _pick(
    table: Table, line: int, row: dict[str, Cell], recording: Recording, block: float
) -> Pick | None:
    cells = {name: cell if isinstance(cell, str) else show(cell) for name, cell in row.items()}
    before = table.wrong.count
    found = Pick(0.0, block)
    for name in cells:
        try:
            if name == START:
                found = replace(found, start=_start(cells[name], recording, table.comma))
            elif name == SECONDS and cells[name]:
                found = replace(found, seconds=_seconds(cells[name], table.comma))
            elif name == TURNED:
                found = replace(found, turned=_turned(cells[name]))
        except _Wrong as wrong:
            table.tell(line, name, *wrong.args)
    if table.wrong.count > before:
        return None
    for fault in _not_there(found, recording):
        table.wrong.add([(line, fault)])
    return found


def _start(cell: str, recording: Recording, comma: bool) -> float:
    if DATED.match(cell):
        return _dated(cell, recording)
    if match := DAYTIME.match(cell):
        return _of_day(cell, match, recording)
    start = _number(cell, comma, FORMS)
    if start < 0:
        raise _Wrong(f"must not be before the recording, got {show(cell)}")
    return start


def _seconds(cell: str, comma: bool) -> float:
    seconds = _number(cell, comma, "leave it empty for a whole block")
    if seconds <= 0:
        raise _Wrong(f"must be above 0, got {show(cell)}")
    return seconds


def _number(cell: str, comma: bool, remedy: str) -> float:
    try:
        found = float("_" if "_" in cell else cell.replace(",", ".") if comma else cell)
    except ValueError:
        raise _Wrong(f"must be a number, got {show(cell)}", remedy) from None
    if abs(found) < float("inf"):
        return found
    raise _Wrong(f"must be finite, got {show(cell)}", remedy)


def _turned(cell: str) -> bool:
    if cell.lower() in TRUE or cell.lower() in FALSE:
        return cell.lower() in TRUE
    raise _Wrong(f"must be yes, or empty, got {show(cell)}")


def _began(recording: Recording) -> datetime:
    if recording.began is None:
        raise _Wrong("nobody knows when the recording began", "write seconds, or say --start")
    return recording.began


def _dated(cell: str, recording: Recording) -> float:
    began = _began(recording)
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        raise _Wrong(f"is no date and time: {show(cell)}", FORMS) from None
    if moment.tzinfo is not None and began.tzinfo is None:
        raise _Wrong(f"has a zone, and the recording has none: {show(cell)}", "say --zone")
    both = [moment] if moment.tzinfo else _folds(moment, began.tzinfo)
    return _only([_since(began, one) for one in both], cell, recording)


def _of_day(cell: str, match: re.Match[str], recording: Recording) -> float:
    began = _began(recording)
    hours, minutes = int(match[1]), int(match[2])
    seconds = float((match[3] or "0").replace(",", "."))
    if hours > 23 or minutes > 59 or seconds >= 60:
        raise _Wrong(f"is no time of day: {show(cell)}", FORMS)
    whole = time(hours, minutes, int(seconds), round(seconds % 1 * 1e6) % 1_000_000)
    days = int(recording.seconds // 86_400) + 3
    dates = [(began + timedelta(days=day - 1)).date() for day in range(days)]
    moments = [one for date in dates for one in _folds(datetime.combine(date, whole), began.tzinfo)]
    return _only([_since(began, one) for one in moments], cell, recording)


def _folds(moment: datetime, zone: tzinfo | None) -> list[datetime]:
    """What the clock may have meant: twice in the hour that is repeated, never in one left out."""
    if zone is None:
        return [moment]
    both = [moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    shown = {one.astimezone(UTC): one for one in both}
    return [
        one for utc, one in shown.items() if utc.astimezone(zone).replace(tzinfo=None) == moment
    ]


def _since(began: datetime, moment: datetime) -> float:
    """Seconds that went by; clocks that were changed between do not matter."""
    if began.tzinfo is None:
        return (moment - began).total_seconds()
    return moment.timestamp() - began.timestamp()


def _only(starts: list[float], cell: str, recording: Recording) -> float:
    """The one of these times that is in the recording."""
    within = [start for start in starts if -SLACK <= start < recording.seconds]
    if len(within) == 1:
        return max(0.0, within[0])
    if within:
        raise _Wrong(f"comes {len(within)} times in the recording: {show(cell)}", "write the date")
    raise _Wrong(f"is not in the recording: {show(cell)}", _lasts(recording))


def _not_there(pick: Pick, recording: Recording) -> Iterator[Fault]:
    """All of a pick must have been recorded, without a gap."""
    stretch = recording.find(pick.start)
    if pick.start >= recording.seconds:
        yield Fault(START, f"{pick.start:g} s is not in the recording", _lasts(recording))
    elif stretch is None:
        yield Fault(START, f"nothing was recorded at {_shown(pick.start, recording)}")
    elif pick.start + pick.seconds > _until(stretch, recording) + SLACK:
        left = f"{_until(stretch, recording) - pick.start:.3f} s"
        yield Fault(START, f"only {left} were recorded from {_shown(pick.start, recording)} on")


def _until(stretch: Stretch, recording: Recording) -> float:
    """When sound ends that goes on without a gap, be it in another file."""
    end = stretch.end
    for one in recording.stretches:
        if abs(one.start - end) <= SLACK:
            end = one.end
    return end


def _shown(start: float, recording: Recording) -> str:
    clock = recording.clock(start)
    return f"{start:g} s" if clock is None else f"{clock:%H:%M:%S} ({start:g} s)"


def _lasts(recording: Recording) -> str:
    end = recording.clock(recording.seconds)
    if recording.began is None or end is None:
        return f"it lasts {recording.seconds:g} s"
    return f"it lasts from {recording.began:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S}"
