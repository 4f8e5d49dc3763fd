"""Audio files of hours and days as one recording, with gaps, damage and days."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import count, pairwise, takewhile
from math import inf
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.decode import facts_of
from earwitness.audio.files import PYAV_FORMATS, Facts
from earwitness.audio.read import Break
from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import InputError, Problem, UsageError, file_problem, refuse_problems
from earwitness.io.source import is_present
from earwitness.recordings.clock import (
    MAX_CLOCK_DRIFT_SECONDS,
    date_file,
    make_clock,
    parse_zone,
    seconds_since,
    sort_by_start,
)
from earwitness.recordings.hour_marks import remove_hour_marks
from earwitness.recordings.types import Damage, Recording, Stretch

# --- Sound files in natural order ----------------------------------------------------------------


LIBSNDFILE_FORMATS = re.split(
    " ", "wav wave rf64 w64 flac mp3 ogg oga aif aiff aifc au caf snd bwf"
)
SOUND_ENDINGS = frozenset(f".{ending}" for ending in LIBSNDFILE_FORMATS + PYAV_FORMATS)


def list_paths(places: StrPath | Sequence[StrPath]) -> list[Path]:
    """Return one or several paths as a list."""
    several = [places] if isinstance(places, str | PathLike) else places
    return [Path(place) for place in several]


def sound_files(paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return audio files in order, including subfolders, and notes on skipped files."""
    files: list[Path] = []
    notes: list[str] = []
    for path in paths:
        if not is_present(path, Path.exists):
            raise UsageError(f"{path}: file or folder does not exist")
        if not path.is_dir():
            files.append(path)
            continue
        others: list[Path] = []
        for file in sorted(path.rglob("*"), key=natural_sort_key):
            if file.is_file() and not file.name.startswith("."):
                (files if file.suffix.lower() in SOUND_ENDINGS else others).append(file)
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            names = ", ".join(other.name for other in others[:3])
            notes.append(f"{path}: skipped files that are not audio: {names}{more}")
    return tuple(files), tuple(notes)


def natural_sort_key(path: Path) -> tuple[tuple[tuple[int, str], ...], ...]:
    """Return a sort key that puts ``a10`` after ``a9``.

    >>> [path.name for path in sorted([Path("a10.wav"), Path("a9.wav")], key=natural_sort_key)]
    ['a9.wav', 'a10.wav']
    """
    return tuple(
        tuple(
            (int(piece), "") if piece.isdecimal() else (-1, piece.casefold())
            for piece in re.findall(r"\d+|\D+", part)
        )
        for part in path.parts
    )


# --- Recordings from files -----------------------------------------------------------------------
# Only headers are read here, so that even a week opens at once. A header may be wrong, which shows
# only when the file is read: ``earwitness.audio.read`` reports each unreadable passage, and
# ``remove_breaks`` returns the recording without them::
#
#     recording = open_recording([Path("day")])
#     breaks = []
#     for stretch in recording.stretches:
#         path, at, seconds = Path(stretch.path), stretch.at, stretch.seconds
#         for chunk in read_blocks(path, at=at, seconds=seconds, broken=breaks.append):
#             time = stretch.start + chunk.position - at  # on the clock
#     recording = remove_breaks(recording, breaks)


class FileHeader(NamedTuple):
    """A file with its header, or the reason why it cannot be opened."""

    path: Path
    facts: Facts | None
    fault: str = ""

    @property
    def seconds(self) -> float:
        """Duration in seconds, or 0."""
        return self.facts.seconds if self.facts else 0.0


def open_recording(
    paths: Sequence[Path],
    *,
    name: str = "",
    start: str | None = None,
    zone: str | None = None,
    shown: str | None = None,
    hour_gap: float = 0.0,
    progress: Progress = no_progress,
) -> Recording:
    """Open a recording from files and folders of consecutive files.

    Parameters
    ----------
    paths
        Audio files and folders, in order.
    name
        Name of the recording; by default that of the first path.
    start, zone, shown, hour_gap
        As in ``earwitness.recordings.clock.ClockSettings``; silences between hours are removed from
        the clock.
    progress
        Callback for progress reports.

    Returns
    -------
    Recording
        The recording; gaps between files are kept as missing time.

    Raises
    ------
    InputError
        If files cannot be opened or do not fit together; all problems are reported at once.
    UsageError
        If a time or a time zone is invalid.
    """
    files, notes = sound_files(paths)
    if not files:
        remedy = "use .wav, .flac, .mp3 or another audio format"
        problem = file_problem(", ".join(map(str, paths)), "no audio files found", remedy)
        raise InputError([problem], done="read")
    headers = _read_headers(sort_by_start(files, zone), progress)
    rate, channels = _common_format(headers)
    clock = make_clock(
        [date_file(header.path, header.seconds) for header in headers], start=start, zone=zone
    )
    stretches, damages, layout_notes = _lay_out(headers, clock.starts)
    began = clock.began
    if shown:
        if began is None or began.tzinfo is None:
            message = "cannot show times in another time zone: that of the recording is unknown"
            raise UsageError(f"{message} — set --zone, for example --zone UTC")
        began = began.astimezone(parse_zone(shown))
    header_notes = [
        f"{path}: {facts.note}"
        for path, facts, _ in headers
        if facts and facts.note and not facts.short  # wrong, although no audio is lost
    ]
    name = name or paths[0].stem
    seconds = max(stretch.end for stretch in stretches)
    notes = (*notes, *clock.notes, *header_notes, *layout_notes)
    recording = Recording(
        name, tuple(stretches), seconds, rate, channels, began, tuple(damages), notes
    )
    return remove_hour_marks(recording, hour_gap) if hour_gap else recording


def _read_headers(files: Sequence[Path], progress: Progress) -> list[FileHeader]:
    headers = []
    for number, path in enumerate(files):
        progress(number, len(files), number)
        try:
            headers.append(FileHeader(path, facts_of(path)))
        except UsageError as error:
            headers.append(FileHeader(path, None, str(error).removeprefix(f"{path}: ")))
    return headers


def _common_format(headers: Sequence[FileHeader]) -> tuple[int, int]:
    """Return the sample rate of all files, and the channels (1 if they differ)."""
    readable = [
        (header.path, header.facts) for header in headers if header.facts and header.facts.frames
    ]
    if not readable:
        problems = [file_problem(header.path, header.fault or "is empty") for header in headers]
        raise InputError(problems, done="read")
    first, facts = readable[0]
    problems = [
        file_problem(
            path,
            f"sample rate {other.rate} Hz, but {first.name} has {facts.rate} Hz",
            "use files with the same sample rate",
        )
        for path, other in readable
        if other.rate != facts.rate
    ]
    refuse_problems(problems, "read")
    counts = {file_facts.channels for _, file_facts in readable}
    return facts.rate, counts.pop() if len(counts) == 1 else 1


def _lay_out(
    headers: Sequence[FileHeader], starts: Sequence[float]
) -> tuple[list[Stretch], list[Damage], list[str]]:
    """Return stretches, damages and notes; a file that overlaps the previous one is trimmed."""
    stretches: list[Stretch] = []
    damages: list[Damage] = []
    problems: list[Problem] = []
    cuts: list[tuple[float, Path]] = []
    end = 0.0
    for header, start in zip(headers, starts, strict=True):
        if not header.seconds:
            fault = header.fault or "is empty"
            damages.append(Damage(str(header.path), 0.0, start, fault))
            continue
        overlap = max(0.0, end - start)
        if overlap > MAX_CLOCK_DRIFT_SECONDS:
            message = f"starts {overlap:.1f} s before the end of the previous file"
            remedy = "leave one of them out, or correct the file names"
            problems.append(file_problem(header.path, message, remedy))
            continue
        cuts += [(overlap, header.path)] if overlap > 0 else []
        if header.seconds > overlap:
            stretches.append(
                Stretch(str(header.path), overlap, start + overlap, header.seconds - overlap)
            )
            end = stretches[-1].end
        if header.facts and header.facts.short:
            damages.append(Damage(str(header.path), header.seconds, end, header.facts.note))
    refuse_problems(problems, "read")
    notes = []
    if cuts:
        overlap, path = max(cuts)
        files, cut = (
            ("1 file starts", "is") if len(cuts) == 1 else (f"{len(cuts)} files start", "are")
        )
        largest = f"at most {overlap:.2f} s, in {path.name}"
        notes.append(f"{files} before the previous one ended and {cut} trimmed: {largest}")
    return stretches, damages, notes


# --- Recordings from blocks ----------------------------------------------------------------------


def open_blocks(blocks: Sequence[tuple[Path, float]], *, name: str) -> Recording:
    """Open a recording of which only blocks are available.

    Parameters
    ----------
    blocks
        Audio files, each with its start in seconds after the start of the recording.
    name
        Name of the recording.

    Returns
    -------
    Recording
        The recording; time between blocks is missing. A block that is slightly longer than the time
        to the next one, as lossy formats make them, ends where the next one starts.

    Raises
    ------
    InputError
        If files cannot be opened or overlap; all problems are reported at once.
    """
    blocks = sorted(blocks, key=lambda block: (block[1], str(block[0])))
    headers = _read_headers([path for path, _ in blocks], no_progress)
    problems = [
        file_problem(header.path, header.fault or "is empty")
        for header in headers
        if not header.seconds
    ]
    refuse_problems(problems, "read")
    rate, channels = _common_format(headers)
    starts = [start for _, start in blocks]
    stretches = []
    for header, start, following in zip(headers, starts, [*starts[1:], inf], strict=True):
        overlap = start + header.seconds - following
        if overlap > MAX_CLOCK_DRIFT_SECONDS or following <= start:
            message = f"ends {overlap:.1f} s after the start of the next block"
            remedy = "correct the start times, in seconds"
            problems.append(file_problem(header.path, message, remedy))
        seconds = header.seconds - max(0.0, overlap)
        stretches.append(Stretch(str(header.path), 0.0, start, seconds))
    refuse_problems(problems, "read")
    return Recording(name, tuple(stretches), stretches[-1].end, rate, channels)


# --- Recordings after read errors ----------------------------------------------------------------


def remove_breaks(recording: Recording, breaks: Iterable[Break]) -> Recording:
    """Return the recording without unreadable passages, which become its damages."""
    stretches = list(recording.stretches)
    damages = set(recording.damages)
    for gap in breaks:
        damaged = [s for s in stretches if s.path == gap.path and s.at < gap.at + gap.seconds]
        damaged = [s for s in damaged if gap.at < s.at + s.seconds]
        for s in damaged if gap.message else ():
            at = max(gap.at, s.at)
            damages.add(Damage(gap.path, at, s.start + at - s.at, gap.message))
        stretches = [
            piece
            for s in stretches
            for piece in (_cut_around_break(s, gap) if s in damaged else [s])
        ]
    if not stretches:
        problems = [file_problem(gap.path, gap.message) for gap in damages]
        raise InputError(problems, done="read")
    return replace(
        recording,
        stretches=tuple(stretches),
        seconds=max(s.end for s in stretches),
        damages=tuple(sorted(damages, key=lambda gap: (gap.start, gap.path, gap.at))),
    )


def _cut_around_break(stretch: Stretch, gap: Break) -> list[Stretch]:
    """Return what is left of a stretch before and after a break."""
    end = stretch.at + stretch.seconds
    spans = [(stretch.at, min(gap.at, end)), (max(stretch.at, gap.at + gap.seconds), end)]
    return [
        Stretch(stretch.path, low, stretch.start + low - stretch.at, high - low)
        for low, high in spans
        if high > low
    ]


# --- Days cut at midnight ------------------------------------------------------------------------


MIN_STRETCH_SECONDS = 1e-6  # shorter stretches are dropped


def split_days(recording: Recording) -> list[Recording]:
    """Return one recording per day on which anything was recorded, named by date.

    Midnight is that of the recording's time zone, so a day on which clocks change has 23 or
    25 hours. The first and the last day may be incomplete.
    """
    if recording.began is None:
        raise UsageError(
            f"{recording.name}: the start time is unknown, so it cannot be split into days"
            " — set --start 2025-07-22T06:30:00, or name files as recorders do"
        )
    began, date = recording.began, recording.began.date()
    midnights = (
        seconds_since(began, datetime.combine(date + timedelta(days), time(), began.tzinfo))
        for days in count(1)
    )
    cuts = [0.0, *takewhile(lambda one: one < recording.seconds, midnights), recording.seconds]
    days = [_cut_recording(recording, low, high) for low, high in pairwise(cuts)]
    return [day for day in days if day is not None]


def _cut_recording(recording: Recording, low: float, high: float) -> Recording | None:
    """Return what was recorded between two times, or None."""
    pieces = []  # on a clock that starts at the first time
    for stretch in recording.stretches:
        start, end = max(stretch.start, low), min(stretch.end, high)
        if end - start > MIN_STRETCH_SECONDS:
            at = stretch.at + (start - stretch.start)
            pieces.append(Stretch(stretch.path, at, start - low, end - start))
    began = recording.clock(low + pieces[0].start) if pieces else None
    if began is None:
        return None
    first = pieces[0].start
    stretches = tuple(replace(piece, start=piece.start - first) for piece in pieces)
    damages = tuple(
        replace(damage, start=damage.start - low - first)
        for damage in recording.damages
        if low <= damage.start < high
    )
    return replace(
        recording,
        name=f"{recording.name}_{began:%Y%m%d}",
        stretches=stretches,
        seconds=stretches[-1].end,
        began=began,
        damages=damages,
    )
