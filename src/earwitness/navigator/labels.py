"""Overlays on a recording: labels in files of other programs, and picks of skims."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from earwitness.errors import Problem, file_problem, refuse_problems
from earwitness.io.formats import TextFormat, detect_format, list_titles
from earwitness.io.schema import show
from earwitness.io.tables import unescape_cell
from earwitness.recordings.clock import seconds_since
from earwitness.recordings.types import Recording


class OverlaySpan(NamedTuple):
    """A label: start on the clock of the recording, duration, and text."""

    start: float
    seconds: float
    text: str


class Overlay(NamedTuple):
    """Labels of one file, in order, and notes on those that are left out."""

    name: str
    kind: Literal["labels", "picks"]
    spans: tuple[OverlaySpan, ...]
    notes: tuple[str, ...] = ()


class _LabelError(Exception):
    """An invalid line: field, what is wrong, and what to do."""


class _OtherFile(Exception):
    """A label of a file that is not part of the recording."""


RawSpan = tuple[float, float, str]  # start, end and text
Line = tuple[int, Mapping[str, str]]  # number and cells by column
START_COLUMNS = ("start", "begin", "onset")
END_COLUMNS = ("end", "stop", "offset")
LENGTH_COLUMNS = ("seconds", "duration")
TEXT_COLUMNS = ("label", "text", "source", "class", "species", "name")
RAVEN_START, RAVEN_END = "Begin Time (s)", "End Time (s)"
RAVEN_FILE, RAVEN_OFFSET = "Begin File", "File Offset (s)"
RAVEN_TEXTS = ("Annotation", "Species", "Common Name", "Label", "Class", "Comments")
PICKS_REMEDY = "use the JSON file that earwitness skim writes"


def read_overlays(recording: Recording, paths: Sequence[Path]) -> tuple[Overlay, ...]:
    """Read labels and picks of skims.

    Parameters
    ----------
    recording
        The recording that they belong to.
    paths
        Label files in the formats of ``LABELS``. Times are seconds from the start of the recording;
        rows of Raven tables with ``Begin File`` and ``File Offset (s)`` are placed by their file,
        and left out if the file is not part of the recording. If the table is about a single file
        and the recording is one file of another name, the file was renamed, and times are used.
        JSON files have picks, as ``earwitness skim`` writes them. If both start times are known,
        the picks of a part of the recording are moved to its time.

    Returns
    -------
    tuple of Overlay
        One overlay per file.

    Raises
    ------
    InputError
        If files are invalid; all problems are reported at once.
    """
    problems: list[Problem] = []
    overlays = [_read_overlay(path, recording, problems) for path in paths]
    refuse_problems(problems, "opened")
    return tuple(overlays)


def _read_overlay(path: Path, recording: Recording, problems: list[Problem]) -> Overlay:
    kind: Literal["labels", "picks"] = "picks" if path.suffix == ".json" else "labels"
    remedy = PICKS_REMEDY if kind == "picks" else FORMATS_REMEDY
    lines: Sequence[tuple[int, Any]] = ()
    wrong = _LabelError("", "contains no labels", remedy)
    try:
        text = path.read_text(encoding="utf-8-sig")
        if kind == "picks":
            lines, parse = _read_picks(text, recording)
        else:
            form = LABELS[detect_format(LABELS, text)]
            lines, parse = form.parse(text.splitlines(), recording)
    except OSError as error:
        wrong = _LabelError("", f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        wrong = _LabelError("", "is not a text file in UTF-8", remedy)
    except csv.Error as error:
        wrong = _LabelError("", f"is not valid CSV: {error}", "close all quotes")
    except _LabelError as error:
        wrong = error
    if not lines:
        problems.append(Problem(str(path), 0, *wrong.args))
    found: list[OverlaySpan] = []
    left_out = 0
    for number, row in lines:
        try:
            found.append(_check_span(parse(row), recording))
        except _LabelError as error:
            problems.append(Problem(str(path), number, *error.args))
        except _OtherFile:
            left_out += 1
    if left_out and left_out == len(lines):
        message = f"no {RAVEN_FILE} is part of the recording"
        remedy = f"remove this column to place selections by {RAVEN_START}"
        problems.append(file_problem(path, message, remedy))
    count = f"{path.name}: {left_out:,} of {len(lines):,} selections left out"
    notes = (f"{count}: their files are not part of the recording",) if left_out else ()
    return Overlay(path.stem, kind, tuple(sorted(found)), notes)


def _check_span(span: RawSpan, recording: Recording) -> OverlaySpan:
    """Return a label, cut at the ends of the recording."""
    start, end, text = span
    if end < start:
        raise _LabelError("", f"ends at {end:g} s, before its start at {start:g} s")
    if end < 0 or start > recording.seconds:
        message = f"{start:g} s to {end:g} s is outside the recording"
        raise _LabelError("", message, f"the recording has {recording.seconds:g} s")
    start, end = max(0.0, start), min(end, recording.seconds)
    return OverlaySpan(start, end - start, " ".join(text.split()))


# --- Labels --------------------------------------------------------------------------------------


LabelLines = tuple[Sequence[tuple[int, Any]], Callable[[Any], RawSpan]]


def _raven_lines(lines: Sequence[str], recording: Recording) -> LabelLines:
    rows = list(_table_rows(lines, "\t"))
    named = {_file_key(row[RAVEN_FILE]) for _, row in rows if row.get(RAVEN_FILE)}
    own = {_file_key(stretch.path) for stretch in recording.stretches}
    by_file = named == own or len(named) != 1 or len(own) != 1  # not one renamed file
    return rows, lambda row: _raven_span(row, recording, by_file=by_file)


def _csv_lines(lines: Sequence[str], _recording: Recording) -> LabelLines:
    header = next(line for line in lines if line.strip())
    delimiter = max("\t;,", key=header.count)
    return list(_table_rows(lines, delimiter, lower=True)), _csv_span


def _table_rows(lines: Sequence[str], delimiter: str, *, lower: bool = False) -> Iterator[Line]:
    """Yield the rows below the header; only cells of CSV may be in quotes."""
    quote = None if delimiter == "\t" else '"'
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
    names: list[str] | None = None
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if names is None:
            names = [cell.strip().lower() if lower else cell.strip() for cell in cells]
        else:
            row = dict(zip(names, [unescape_cell(cell.strip()) for cell in cells], strict=False))
            # Raven has a row per view of a selection
            if not row.get("View", "").startswith("Waveform"):
                yield reader.line_num, row


def _audacity_lines(lines: Sequence[str], _recording: Recording) -> LabelLines:
    """Return labels; lines with a backslash are frequencies of the label before."""
    rows = list[Line]()
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("\\"):
            start, _, rest = line.partition("\t")
            end, _, label = rest.partition("\t")
            rows.append((number, {"start": start, "end": end, "label": label}))
    return rows, _csv_span


def _csv_span(row: Mapping[str, str]) -> RawSpan:
    start = _parse_seconds(row, _choose_column(row, START_COLUMNS))
    if any(name in row for name in END_COLUMNS):
        end = _parse_seconds(row, _choose_column(row, END_COLUMNS))
    else:
        end = start + _parse_seconds(row, _choose_column(row, LENGTH_COLUMNS))
    return start, end, next((row[name] for name in TEXT_COLUMNS if name in row), "")


def _file_key(path: str) -> str:
    return Path(path).stem.casefold()  # the format may have been converted


def _raven_span(row: Mapping[str, str], recording: Recording, *, by_file: bool) -> RawSpan:
    start, end = _parse_seconds(row, RAVEN_START), _parse_seconds(row, RAVEN_END)
    text = next((row[name] for name in RAVEN_TEXTS if row.get(name)), "")
    if not row.get(RAVEN_FILE) or not by_file:
        return start, end, text
    name = _file_key(row[RAVEN_FILE])
    pieces = [stretch for stretch in recording.stretches if _file_key(stretch.path) == name]
    if not pieces:
        raise _OtherFile
    if not row.get(RAVEN_OFFSET):
        return start, end, text
    at = _parse_seconds(row, RAVEN_OFFSET)
    piece = next((piece for piece in reversed(pieces) if piece.at <= at), pieces[0])
    begin = piece.start + at - piece.at
    return begin, begin + end - start, text


def _choose_column(row: Mapping[str, str], names: Sequence[str]) -> str:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise _LabelError("", f'no "{names[0]}" column', FORMATS_REMEDY)
    return name


def _parse_seconds(row: Mapping[str, str], name: str) -> float:
    cell = row.get(name, "")
    try:
        number = float("" if "_" in cell else cell.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _LabelError(name, f"must be a number of seconds, got {show(cell)}", FORMATS_REMEDY)
    return number


LABELS = {  # found by their first line; parsers take the lines and the recording
    "audacity": TextFormat(
        "start, end and text, separated by tabs",
        _audacity_lines,
        detect=re.compile("").match,
        title="labels of Audacity",
    ),
    "csv": TextFormat(
        "a column `start`, a column `end` or `seconds`, and optionally `label`, `text`, `source`, "
        "`class`, `species` or `name`",
        _csv_lines,
        detect=re.compile(
            rf'(?i)(?!\d)(?:.*[\t;,])?[ "]*(?:{"|".join(START_COLUMNS)})[ "]*(?:[\t;,]|$)', re.M
        ).match,
        title="a CSV file with the columns start, end and label",
    ),
    "raven": TextFormat(
        "selections with `Begin File` and `File Offset (s)` are placed by their file, and those of "
        "other files are left out and counted; a single file may have been renamed since",
        _raven_lines,
        detect=re.compile(f".*{re.escape(RAVEN_START)}").match,
        title="a selection table of Raven",
    ),
}
FORMATS_REMEDY = f"use {list_titles(LABELS)}"


# --- Picks of skims ------------------------------------------------------------------------------


def _read_picks(text: str, recording: Recording) -> LabelLines:
    """Return the picks of a skim, which have no line numbers and are parsed already."""
    try:
        content = msgspec.json.decode(text)
        shift = _find_shift(content["recording"]["began"], recording)
        spans: list[RawSpan] = []
        for number, pick in enumerate(content["picks"], 1):
            start, seconds = float(pick["start"]) + shift, float(pick["seconds"])
            names = "; ".join(str(sound_class["name"]) for sound_class in pick.get("classes", ()))
            spans.append((start, start + seconds, f"{number} {names}"))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):  # DecodeError too
        raise _LabelError("", "is not a list of picks", PICKS_REMEDY) from None
    return [(0, span) for span in spans], lambda span: span


def _find_shift(began: str | None, recording: Recording) -> float:
    """Return how much later the recording of the skim starts than this one, in seconds."""
    if began is None or recording.began is None:
        return 0.0
    moment = datetime.fromisoformat(began)
    if (moment.tzinfo is None) != (recording.began.tzinfo is None):
        return 0.0
    return seconds_since(recording.began, moment)
