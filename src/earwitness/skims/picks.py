"""Lists of picks: JSON, CSV, Audacity and Raven files, and reading times from CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from earwitness.audio.signal import starts_of
from earwitness.core import StrPath
from earwitness.io.schema import Fault, show
from earwitness.io.source import RecordSource
from earwitness.io.tables import Cell, InputTable, csv_text, read_table
from earwitness.recordings.clock import seconds_since
from earwitness.recordings.types import Recording
from earwitness.skims.types import Pick, Skim

# --- Lists of picks, written ---------------------------------------------------------------------
# JSON has all fields; CSV has one row per pick. Audacity labels and Raven selection tables use
# times either in the skim or in the concatenated files of the recording, since these programs show
# files end to end and know nothing of gaps or of removed silences.


TimeBase = Literal["skim", "files"]
COLUMNS = ("pick", "start", "seconds", "heard", "time", "file", "at", "turned", "gain", "classes")
RAVEN_COLUMNS = (
    "Selection",
    "View",
    "Channel",
    "Begin Time (s)",
    "End Time (s)",
    "Low Freq (Hz)",
    "High Freq (Hz)",
    "Begin File",
    "File Offset (s)",
    "Begin Clock Time",
    "Annotation",
)


class PickRow(NamedTuple):
    """A pick with all its times.

    It starts at ``start`` on the clock of the recording, at ``at`` in its file and at ``joined`` in
    all files end to end. In the skim, it starts after ``heard`` seconds.
    """

    number: int
    pick: Pick
    heard: float
    time: str
    path: str
    at: float
    joined: float


def list_pick_rows(recording: Recording, skim: Skim) -> tuple[PickRow, ...]:
    """Return all picks in playing order."""
    starts = starts_of([pick.seconds for pick in skim.picks], skim.overlap)
    ends: dict[str, float] = {}
    for file_stretch in recording.stretches:
        ends[file_stretch.path] = max(
            ends.get(file_stretch.path, 0.0), file_stretch.at + file_stretch.seconds
        )
    before = dict(zip(ends, accumulate(ends.values(), initial=0.0), strict=False))
    rows = []
    for number, (pick, heard) in enumerate(zip(skim.picks, starts, strict=True), 1):
        clock = recording.clock(pick.start)
        time = clock.isoformat(timespec="milliseconds") if clock else ""
        path, at = "", pick.start
        if (stretch := recording.find(pick.start)) is not None:
            path, at = stretch.path, stretch.at + pick.start - stretch.start
        rows.append(PickRow(number, pick, heard, time, path, at, before.get(path, 0.0) + at))
    return tuple(rows)


def picks_json(recording: Recording, skim: Skim, fields: Mapping[str, Any] | None = None) -> str:
    """Return picks as JSON with all fields; ``fields`` (method, measures, …) come first."""
    content = {
        **(fields or {}),
        "recording": _recording_fields(recording),
        "skim": {"seconds": _round_seconds(skim.seconds), "overlap": skim.overlap},
        "picks": [
            _row_fields(row)
            | {
                "classes": [
                    {"name": class_.name, "score": class_.score} for class_ in row.pick.classes
                ],
                "why": dict(row.pick.why),
            }
            for row in list_pick_rows(recording, skim)
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def picks_csv(recording: Recording, skim: Skim) -> str:
    """Return one row per pick, one column per reason; readable again as a table of times."""
    rows = list_pick_rows(recording, skim)
    reasons = list(dict.fromkeys(name for row in rows for name in row.pick.why))
    table = [(*_row_fields(row).values(), *map(row.pick.why.get, reasons)) for row in rows]
    header = *COLUMNS, *(f"why_{name}" for name in reasons)
    return csv_text([header, *(map(_plain_cell, row) for row in table)])


def picks_labels(recording: Recording, skim: Skim, where: TimeBase = "skim") -> str:
    """Return Audacity labels: start, end and text, separated by tabs."""
    lines = []
    for row in list_pick_rows(recording, skim):
        start, end = _row_span(row, where)
        turned = " (backwards)" if row.pick.turned else ""
        named = f"  {' '.join(row.pick.class_names.split())}" if row.pick.classes else ""
        # the time of day, or the time from the start of the recording if it is unknown
        time = row.time[11:19] or f"{row.pick.start:.1f} s"
        text = f"{row.number}  {time}{turned}{named}"
        lines.append(f"{start:.6f}\t{end:.6f}\t{text}\n")
    return "".join(lines)


def picks_raven(recording: Recording, skim: Skim, where: TimeBase = "files") -> str:
    """Return a Raven selection table; selections span all frequencies."""
    lines = ["\t".join(RAVEN_COLUMNS)]
    for row in list_pick_rows(recording, skim):
        start, end = _row_span(row, where)
        cells = [
            str(row.number),
            "Spectrogram 1",
            "1",
            f"{start:.6f}",
            f"{end:.6f}",
            "0",
            f"{recording.rate / 2:g}",
            " ".join(PurePath(row.path).name.split()) if where == "files" else "",
            f"{row.at:.6f}" if where == "files" else "",
            row.time[11:23],
            " ".join(f"pick {row.number} {row.pick.class_names}".split()),
        ]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


PicksWriter = Callable[[Recording, Skim], str]
PICK_LISTS: dict[str, tuple[str, PicksWriter]] = {  # name: file extension and writer
    "json": (".json", picks_json),
    "csv": (".csv", picks_csv),
    "labels": (".labels.txt", picks_labels),
    "file-labels": (
        ".files.labels.txt",
        lambda recording, skim: picks_labels(recording, skim, "files"),
    ),
    "raven": (".raven.txt", picks_raven),
}


def _row_fields(row: PickRow) -> dict[str, Any]:
    pick = row.pick
    start, seconds, heard, at = map(_round_seconds, (pick.start, pick.seconds, row.heard, row.at))
    values = (row.number, start, seconds, heard, row.time, row.path, at, pick.turned, pick.gain)
    return dict(zip(COLUMNS, (*values, pick.class_names), strict=True))


def _recording_fields(recording: Recording) -> dict[str, Any]:
    began = recording.began
    return {
        "name": recording.name,
        "began": began.isoformat() if began else None,
        "seconds": _round_seconds(recording.seconds),
        "missing": _round_seconds(
            recording.seconds - sum(stretch.seconds for stretch in recording.stretches)
        ),
        "rate": recording.rate,
        "files": list(dict.fromkeys(stretch.path for stretch in recording.stretches)),
        "damages": [
            {
                "file": damage.path,
                "at": _round_seconds(damage.at),
                "start": _round_seconds(damage.start),
                "what": damage.message,
            }
            for damage in recording.damages
        ],
        "notes": list(recording.notes),
    }


def _row_span(row: PickRow, where: TimeBase) -> tuple[float, float]:
    start = row.heard if where == "skim" else row.joined
    return start, start + row.pick.seconds


def _plain_cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else ""
    return _round_seconds(value) if isinstance(value, float) else value


def _round_seconds(seconds: float) -> float:
    """Round to the microsecond, which is finer than any sample rate."""
    return round(float(seconds), 6) + 0.0


# --- Times of picks, read ------------------------------------------------------------------------
# ``start`` is in seconds after the start of the recording, a time of day (06:15:08), or a date and
# time (2025-07-22 06:15:08) on the clock of the recording. ``seconds`` is the duration; ``turned``
# plays a pick backwards. CSV files written by Earwitness have these columns, too.


START_COLUMN, SECONDS_COLUMN, TURNED_COLUMN = "start", "seconds", "turned"
TIMES_COLUMNS = (START_COLUMN, SECONDS_COLUMN, TURNED_COLUMN)
DAYTIME_PATTERN = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\Z", re.ASCII)
DATE_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d", re.ASCII)
TRUE_WORDS, FALSE_WORDS = ("yes", "true", "1"), ("", "no", "false", "0")
TIME_TOLERANCE_SECONDS = 1e-6  # times are written to the microsecond
START_REMEDY = "write seconds, 06:15:08, or 2025-07-22 06:15:08"


class _CellError(Exception):
    """An invalid cell: what is wrong, and what to do."""


def read_times(path: StrPath, recording: Recording, *, block: float = 8.0) -> tuple[Pick, ...]:
    """Read picks from a table, in its order.

    Parameters
    ----------
    path
        CSV file with a column ``start`` and optional columns ``seconds`` and ``turned``.
    recording
        The recording of the picks.
    block
        Duration in seconds of picks without ``seconds``.

    Returns
    -------
    tuple of Pick
        Picks, each without a gap in the recording.

    Raises
    ------
    InputError
        If the table is invalid; all problems are reported at once.
    """
    table, _ = read_table(RecordSource(path), TIMES_COLUMNS)
    if START_COLUMN not in table.names:
        remedy = f"add it; optional columns: {', '.join(TIMES_COLUMNS[1:])}"
        table.tell(1, "", f'no "{START_COLUMN}" column', remedy)
    elif not table.lines and not table.wrong.count:
        table.tell(1, "", "contains no picks")
    if START_COLUMN not in table.names or not table.lines:
        table.wrong.refuse()
    names = [name for name in TIMES_COLUMNS if name in table.names]
    rows = zip(*map(table.cells, names), strict=True)
    picks = [
        _parse_pick(table, line, dict(zip(names, cells, strict=True)), recording, block)
        for line, cells in zip(table.lines, rows, strict=True)
    ]
    table.wrong.refuse()
    return tuple(pick for pick in picks if pick is not None)


def _parse_pick(
    table: InputTable, line: int, row: dict[str, Cell], recording: Recording, block: float
) -> Pick | None:
    cells = {name: cell if isinstance(cell, str) else show(cell) for name, cell in row.items()}
    before = table.wrong.count
    pick = Pick(0.0, block)
    for name in cells:
        try:
            if name == START_COLUMN:
                pick = replace(pick, start=_parse_start(cells[name], recording, table.comma))
            elif name == SECONDS_COLUMN and cells[name]:
                seconds = _parse_number(cells[name], table.comma, "leave it empty for one block")
                if seconds <= 0:
                    raise _CellError(f"must be above 0, got {show(cells[name])}")
                pick = replace(pick, seconds=seconds)
            elif name == TURNED_COLUMN:
                word = cells[name].lower()
                if word not in (*TRUE_WORDS, *FALSE_WORDS):
                    raise _CellError(f"must be yes, no or empty, got {show(cells[name])}")
                pick = replace(pick, turned=word in TRUE_WORDS)
        except _CellError as wrong:
            table.tell(line, name, *wrong.args)
    if table.wrong.count > before:
        return None
    if (fault := _find_pick_fault(pick, recording)) is not None:
        table.wrong.add([(line, fault)])
    return pick


def _parse_start(cell: str, recording: Recording, comma: bool) -> float:
    if DATE_TIME_PATTERN.match(cell):
        return _parse_date_time(cell, recording)
    if match := DAYTIME_PATTERN.match(cell):
        return _parse_time_of_day(cell, match, recording)
    start = _parse_number(cell, comma, START_REMEDY)
    if start < 0:
        raise _CellError(f"must not be before the start of the recording, got {show(cell)}")
    return start


def _parse_number(cell: str, comma: bool, remedy: str) -> float:
    try:
        number = float("_" if "_" in cell else cell.replace(",", ".") if comma else cell)
    except ValueError:
        raise _CellError(f"must be a number, got {show(cell)}", remedy) from None
    if abs(number) < float("inf"):
        return number
    raise _CellError(f"must be finite, got {show(cell)}", remedy)


def _require_began(recording: Recording) -> datetime:
    if recording.began is None:
        message = "the start time of the recording is unknown"
        raise _CellError(message, "write seconds, or set --start")
    return recording.began


def _parse_date_time(cell: str, recording: Recording) -> float:
    began = _require_began(recording)
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        raise _CellError(f"is not a date and time: {show(cell)}", START_REMEDY) from None
    if moment.tzinfo is not None and began.tzinfo is None:
        message = f"has a time zone, but the recording has none: {show(cell)}"
        raise _CellError(message, "set --zone")
    candidates = [moment] if moment.tzinfo else _resolve_folds(moment, began.tzinfo)
    return _choose_start(
        [seconds_since(began, candidate) for candidate in candidates], cell, recording
    )


def _parse_time_of_day(cell: str, match: re.Match[str], recording: Recording) -> float:
    began = _require_began(recording)
    hours, minutes = int(match[1]), int(match[2])
    seconds = float((match[3] or "0").replace(",", "."))
    if hours > 23 or minutes > 59 or seconds >= 60:
        raise _CellError(f"is not a time of day: {show(cell)}", START_REMEDY)
    whole = time(hours, minutes, int(seconds), round(seconds % 1 * 1e6) % 1_000_000)
    days = int(recording.seconds // 86_400) + 3
    dates = [(began + timedelta(days=day - 1)).date() for day in range(days)]
    moments = [
        moment
        for date in dates
        for moment in _resolve_folds(datetime.combine(date, whole), began.tzinfo)
    ]
    return _choose_start([seconds_since(began, moment) for moment in moments], cell, recording)


def _resolve_folds(moment: datetime, zone: tzinfo | None) -> list[datetime]:
    """Return the possible moments: two in a repeated hour, none in a skipped hour."""
    if zone is None:
        return [moment]
    candidates = [moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    by_utc = {candidate.astimezone(UTC): candidate for candidate in candidates}
    return [
        candidate
        for utc, candidate in by_utc.items()
        if utc.astimezone(zone).replace(tzinfo=None) == moment
    ]


def _choose_start(starts: list[float], cell: str, recording: Recording) -> float:
    """Return the only one of these times that is in the recording."""
    within = [start for start in starts if -TIME_TOLERANCE_SECONDS <= start < recording.seconds]
    if len(within) == 1:
        return max(0.0, within[0])
    if within:
        raise _CellError(
            f"occurs {len(within)} times in the recording: {show(cell)}", "add the date"
        )
    raise _CellError(f"is outside the recording: {show(cell)}", _duration_text(recording))


def _find_pick_fault(pick: Pick, recording: Recording) -> Fault | None:
    """Return the fault of a pick that was not recorded completely and without a gap."""
    seconds = f"{pick.start:g} s"
    if pick.start >= recording.seconds:
        message = f"{seconds} is outside the recording"
        return Fault(START_COLUMN, message, _duration_text(recording))
    clock = recording.clock(pick.start)
    shown = seconds if clock is None else f"{clock:%H:%M:%S} ({seconds})"
    stretch = recording.find(pick.start)
    if stretch is None:
        return Fault(START_COLUMN, f"nothing was recorded at {shown}")
    end = stretch.end  # of gapless sound, which may be in another file
    for other in recording.stretches:
        if abs(other.start - end) <= TIME_TOLERANCE_SECONDS:
            end = other.end
    if pick.start + pick.seconds <= end + TIME_TOLERANCE_SECONDS:
        return None
    return Fault(START_COLUMN, f"only {end - pick.start:.3f} s without a gap from {shown}")


def _duration_text(recording: Recording) -> str:
    end = recording.clock(recording.seconds)
    if recording.began is None or end is None:
        return f"the recording lasts {recording.seconds:g} s"
    began, form = recording.began, "%Y-%m-%d %H:%M:%S"
    return f"the recording lasts from {began:{form}} to {end:{form}}"
