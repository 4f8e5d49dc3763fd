"""Speech of recordings in annotation files, and tables of covariates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar
from unicodedata import normalize

from earwitness.chapters.formats import RTTM_FIELDS
from earwitness.chapters.gather import text_of, transcripts_in
from earwitness.core import StrPath, load_json
from earwitness.errors import Problem, UsageError, file_problem
from earwitness.io.formats import TextFormat, find_format, has_ending, list_endings
from earwitness.io.tables import delimiter_remedy, read_row_table
from earwitness.recordings.recording import list_paths
from earwitness.text.timed_transcripts import (
    PHONE_TIERS,
    SENTENCE_TIERS,
    SILENCES,
    TRANSCRIPTS,
    TSV_HEADER,
    WORD_TIERS,
)
from earwitness.text.times import TimestampFormat
from earwitness.text.transcripts import is_filler, normalise_lines, read_textgrid, written_number

# --- Annotations by recording --------------------------------------------------------------------
# Files with several recordings name them; other files have the name of their recording. A CHiME
# transcript has the times of each utterance on the clock of every channel, and its recordings are
# named after session and channel, such as S02_U06.CH1.wav.


class SpokenInterval(NamedTuple):
    """A passage of speech in seconds, its speaker, and further fields of the annotation."""

    start: float
    end: float
    speaker: str = ""
    fields: tuple[tuple[str, str], ...] = ()


class ChannelUtterance(NamedTuple):
    """An utterance on the reference clock, and its start and end on the clock of each channel."""

    spoken: SpokenInterval
    times: dict[str, tuple[float, float]]

    def on_channel(self, channel: str) -> SpokenInterval:
        """Return the utterance at the times of a channel, if it has them."""
        start, end = self.times.get(channel, (self.spoken.start, self.spoken.end))
        return self.spoken._replace(start=start, end=end)


Intervals = list[SpokenInterval]
T = TypeVar("T")
NAME_SEPARATORS = re.compile(r"[_.\s-]+")
CHIME_CLOCK = "original"  # the channel whose times are used if no other one matches


@dataclass
class SpeechAnnotation:
    """Speech by recording and by session, as annotation files name them."""

    recordings: dict[str, Intervals] = field(default_factory=dict)
    sessions: dict[str, list[ChannelUtterance]] = field(default_factory=dict)

    def find_speech(self, names: Sequence[str]) -> Intervals | None:
        """Return the speech of a recording in the order of time; None if there is no annotation.

        ``names`` are those under which it may be annotated; the last one is divided to find session
        and channel.

        >>> annotation = SpeechAnnotation({"talk": [SpokenInterval(1.0, 2.5)]})
        >>> annotation.find_speech(["talk.wav", "talk"])
        [SpokenInterval(start=1.0, end=2.5, speaker='', fields=())]
        """
        if (intervals := find_row(self.recordings, names)) is not None:
            return sorted(intervals)
        parts = NAME_SEPARATORS.split(names[-1])
        session = next((part for part in parts if part in self.sessions), None)
        if session is None:
            return None
        utterances = self.sessions[session]
        channels = {channel for utterance in utterances for channel in utterance.times}
        channel = next((part for part in parts if part in channels), CHIME_CLOCK)
        return sorted(utterance.on_channel(channel) for utterance in utterances)

    def add(self, recording: str, *intervals: SpokenInterval) -> None:
        """Add the speech of a recording, of which there may be none."""
        self.recordings.setdefault(normalize("NFC", recording), []).extend(intervals)


def read_annotations(paths: Iterable[Path]) -> tuple[SpeechAnnotation, list[Problem]]:
    """Read annotation files, or all those in folders; return them and their problems.

    Parameters
    ----------
    paths
        Files in the formats of ``ANNOTATIONS`` or ``TRANSCRIPTS``, or folders of them.

    Returns
    -------
    tuple
        Speech by recording, and the problems of all files.
    """
    annotation, problems = SpeechAnnotation(), list[Problem]()
    for path in _annotation_files(paths, problems):
        _read_file(path, annotation, problems)
    return annotation, problems


def _annotation_files(paths: Iterable[Path], problems: list[Problem]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            problems.append(file_problem(path, "file or folder does not exist"))
        elif not path.is_dir():
            yield path
        else:
            listed = [file for file in sorted(path.rglob("*")) if file.is_file()]
            known = [file for file in listed if _is_known(file)]
            if not known:
                remedy = f"known endings: {', '.join(list_endings(ANNOTATIONS, TRANSCRIPTS))}"
                problems.append(file_problem(path, "contains no annotation", remedy))
            yield from known


def _is_known(path: Path) -> bool:
    """Whether a file of a folder may have annotations."""
    if has_ending(path.name, list_endings(ANNOTATIONS)):
        return True
    named = has_ending(path.name, list_endings(TRANSCRIPTS))
    return named and find_format(TRANSCRIPTS, path.name, text_of(path, []) or "") != ""


def _read_file(path: Path, annotation: SpeechAnnotation, problems: list[Problem]) -> None:
    text = text_of(path, problems)
    if text is None:
        return
    text = normalise_lines(text)
    if form := find_format(ANNOTATIONS, path.name, text):
        ANNOTATIONS[form].parse(path, text, annotation, problems)
        return
    for transcript in transcripts_in(path, problems):
        pieces = [piece for segment in transcript.segments for piece in segment.words or (segment,)]
        spans = [(piece.start, piece.end) for piece in pieces if isfinite(piece.start)]
        spoken = (SpokenInterval(start, end) for start, end in spans if end > start)
        annotation.add(transcript.recording, *spoken)


# --- Readers of each format ----------------------------------------------------------------------


def parse_time(value: Any) -> float | None:
    """Return a time in seconds, given as a number, as text, or as hours, minutes and seconds.

    >>> parse_time("0:01:11.44"), parse_time("71.44"), parse_time("soon")
    (71.44, 71.44, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    seconds = written_number(text)
    return TimestampFormat().seconds(text) if seconds is None else seconds


def _check_interval(start: float | None, end: float | None) -> str:
    """Return what is wrong with the times of an interval, or an empty text."""
    if start is None or end is None:
        return "needs a start and an end in seconds"
    if not 0 <= start <= end:
        return f"has invalid times ({start:g} to {end:g} s)"
    return ""


def _chime_entries(text: str) -> list[dict[str, Any]] | None:
    """Return the utterances of a CHiME transcript, or None for other files."""
    try:
        document = load_json(text)
    except ValueError:
        return None
    if not isinstance(document, list) or not document:
        return None
    first = document[0]
    is_chime = isinstance(first, dict) and {"start_time", "end_time", "session_id"} <= first.keys()
    return document if is_chime else None


def _parse_chime(
    path: Path, text: str, annotation: SpeechAnnotation, problems: list[Problem]
) -> None:
    for number, entry in enumerate(_chime_entries(text) or ()):
        fields = entry if isinstance(entry, dict) else {}
        starts, ends = (_channel_times(fields.get(key)) for key in ("start_time", "end_time"))
        session, channels = fields.get("session_id"), starts.keys() & ends.keys()
        times = {channel: (starts[channel], ends[channel]) for channel in channels}
        wrong = "" if isinstance(session, str) and session else "has no session_id"
        wrong = wrong or next(filter(None, (_check_interval(*time) for time in times.values())), "")
        wrong = wrong or _check_interval(*times.get(CHIME_CLOCK, (None, None)))
        if wrong:
            problems.append(Problem(str(path), 0, f"[{number}]", wrong))
            continue
        other = (("location", str(fields["location"])),) if fields.get("location") else ()
        speaker = normalize("NFC", str(fields.get("speaker", "")))
        spoken = SpokenInterval(*times.pop(CHIME_CLOCK), speaker, other)
        heard = annotation.sessions.setdefault(normalize("NFC", str(session)), [])
        heard.append(ChannelUtterance(spoken, times))


def _channel_times(value: Any) -> dict[str, float]:
    """Return the times of each channel; CHiME-6 and later have one time for all."""
    times = value if isinstance(value, dict) else {CHIME_CLOCK: value}
    parsed = {str(channel): parse_time(time) for channel, time in times.items()}
    found = {channel: time for channel, time in parsed.items() if time is not None}
    if found and CHIME_CLOCK not in found:
        found[CHIME_CLOCK] = next(iter(found.values()))
    return found


def _parse_rttm(
    path: Path, text: str, annotation: SpeechAnnotation, problems: list[Problem]
) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.split()
        if not parts or parts[0] != "SPEAKER":  # comments and other types
            continue
        start = end = None
        if len(parts) >= RTTM_FIELDS:
            start, length = map(written_number, parts[3:5])
            end = None if start is None or length is None else round(start + length, 6)
        if wrong := _check_interval(start, end):
            remedy = "write: SPEAKER recording channel start duration <NA> <NA> name <NA>"
            problems.append(Problem(str(path), number, "", wrong, remedy))
        elif start is not None and end is not None and start < end:
            speaker = "" if parts[7] == "<NA>" else normalize("NFC", parts[7])
            annotation.add(parts[1], SpokenInterval(start, end, speaker))


def _parse_textgrid(
    path: Path, text: str, annotation: SpeechAnnotation, problems: list[Problem]
) -> None:
    """Parse tiers of words, else of sentences, else all tiers, which are named after speakers."""
    tiers, _, flaws = read_textgrid(text)
    problems += [flaw.problem(path) for flaw in flaws]
    others = [tier for tier in tiers if tier.kind not in PHONE_TIERS]
    words = [tier for tier in tiers if tier.kind in WORD_TIERS]
    chosen = words or [tier for tier in tiers if tier.kind in SENTENCE_TIERS] or others
    annotation.add(path.stem)
    for tier in chosen:
        speaker, divider, _ = tier.name.rpartition(" - ")
        if not divider and tier.kind not in (*WORD_TIERS, *SENTENCE_TIERS):
            speaker = tier.name if len(chosen) > 1 else ""
        for part in tier.parts:
            is_silence = part.text.lower() in SILENCES or is_filler(part.text)
            if part.text and not is_silence and part.end > part.start:
                spoken = SpokenInterval(part.start, part.end, normalize("NFC", speaker))
                annotation.add(path.stem, spoken)


TIME_COLUMNS = ("start", "end")


def _read_table(
    path: Path, _text: str, annotation: SpeechAnnotation, problems: list[Problem]
) -> None:
    """Read the columns start and end; without the column recording, the file has its name."""
    table = read_row_table(path, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    problems += table.problems
    columns = table.columns or []
    if missing := [name for name in TIME_COLUMNS if name not in columns and not table.problems]:
        message = f"has no column {' and no column '.join(missing)}"
        remedy = "write the columns recording, start and end, with times in seconds"
        remedy = delimiter_remedy(columns) or remedy
        problems.append(Problem(str(path), 1, "", message, remedy))
        return
    for line, row in table.rows:
        start, end = (parse_time(row.get(name)) for name in TIME_COLUMNS)
        if wrong := _check_interval(start, end):
            problems.append(Problem(str(path), line, "", wrong))
        elif start is not None and end is not None and start < end:
            known = {"recording", "speaker", *TIME_COLUMNS}
            other = tuple((key, row[key] or "") for key in columns if key not in known)
            name = row["recording"] or "" if "recording" in columns else path.stem
            speaker = normalize("NFC", row.get("speaker") or "")
            annotation.add(name, SpokenInterval(start, end, speaker, other))


ANNOTATIONS = {  # parsers take path, text, annotation and problems
    "chime": TextFormat(
        "session and channel in the file name, such as `S02_U06.CH1.wav`; times are those of that "
        "channel. Further columns of the clip table: `speaker`, `location`",
        _parse_chime,
        shared=(".json",),
        detect=_chime_entries,
        title="CHiME-5 to CHiME-7 transcripts",
    ),
    "rttm": TextFormat(
        "as named in the file; column `speaker`", _parse_rttm, (".rttm",), title="RTTM"
    ),
    "textgrid": TextFormat(
        "name of the TextGrid; its tiers of words, else those of sentences, else all except "
        "phones; column `speaker` (name of the tier, if there are several)",
        _parse_textgrid,
        (".textgrid",),
        title="TextGrid",
    ),
    "csv": TextFormat(
        "column `recording`, else the name of the file; columns `speaker` and all others",
        _read_table,
        (".csv",),
        (".tsv",),
        lambda text: not TSV_HEADER.match(text),
        "CSV or TSV with `start` and `end` in seconds",
    ),
}


# --- Tables of covariates ------------------------------------------------------------------------


FIELD_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def match_fields(pattern: str, names: Sequence[str]) -> dict[str, str] | None:
    """Return the fields of the first name that a pattern matches completely; None without one.

    Text between placeholders is matched as it is; ``*`` matches any text.

    >>> match_fields("{session}_{location}", ["S01_kitchen"])
    {'session': 'S01', 'location': 'kitchen'}
    """
    parts = re.split(r"(\{\w+\}|\*)", normalize("NFC", pattern))
    written = "".join(
        f"(?P<{part[1:-1]}>[^/]+?)" if part[:1] == "{" else ".*" if part == "*" else re.escape(part)
        for part in parts
    )
    matches = (re.fullmatch(written, name) for name in names)
    return next((match.groupdict() for match in matches if match), None)


def covariate_tables(paths: StrPath | Sequence[StrPath]) -> dict[str, Path]:
    """Return tables of covariates by what their rows describe: ``recording`` or ``speaker``."""
    tables: dict[str, Path] = {}
    for path in list_paths(paths):
        columns = read_row_table(path).columns or ()
        key = "speaker" if "speaker" in columns and "recording" not in columns else "recording"
        if key in tables:
            raise UsageError(f"{path}: {tables[key]} also has a column {key} — join the tables")
        tables[key] = path
    return tables


def read_covariates(path: Path, key: str, problems: list[Problem]) -> dict[str, dict[str, str]]:
    """Return the rows of a table by the values of a column, without that column."""
    table = read_row_table(path)
    problems += table.problems
    if table.columns is None or key not in table.columns:
        if not table.problems:
            remedy = delimiter_remedy(table.columns or []) or "add it"
            problems.append(Problem(str(path), 1, "", f'has no column "{key}"', remedy))
        return {}
    rows: dict[str, dict[str, str]] = {}
    for line, row in table.rows:
        name = normalize("NFC", (row.get(key) or "").strip())
        if None in row or None in row.values():
            message = f"needs {len(table.columns)} fields"
            problems.append(Problem(str(path), line, "", message))
        elif name in rows:
            problems.append(Problem(str(path), line, key, f'duplicate "{name}"', "keep one"))
        else:
            rows[name] = {column: row[column] for column in table.columns if column != key}
    return rows


def find_row(rows: Mapping[str, T], names: Sequence[str]) -> T | None:
    """Return what belongs to a recording under any of its names."""
    return next((rows[name] for name in names if name in rows), None)


def recording_names(relative: PurePosixPath) -> tuple[str, ...]:
    """Return the names of a recording in tables: its path and its file name, and without endings.

    >>> recording_names(PurePosixPath("eval/S01_P05.wav"))
    ('eval/S01_P05.wav', 'eval/S01_P05', 'S01_P05.wav', 'S01_P05')
    """
    paths = (str(relative), str(relative.with_suffix("")), relative.name, relative.stem)
    return tuple(dict.fromkeys(paths))
