"""Chapters in files of other tools: JSON (Podcasting 2.0, yt-dlp, JAMS), RTTM, labels, TextGrid."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from math import isfinite
from typing import Any

from earwitness.core import load_json
from earwitness.io.schema import find_repeated_key, show
from earwitness.io.tables import unescape_cell
from earwitness.text.timed_transcripts import CHAPTER_TIERS
from earwitness.text.times import TimestampFormat
from earwitness.text.transcripts import (
    Flaw,
    Transcript,
    TranscriptSection,
    read_textgrid,
    written_number,
)

TIER_REMEDY = "choose one by name or number (--tier)"


class MalformedFile(ValueError):
    """A file that is not of its format; has the flaw."""

    def __init__(self, message: str, remedy: str = "", line: int = 1) -> None:
        super().__init__(message)
        self.flaw = Flaw(line, message, remedy)


def _by_time(
    sections: Sequence[TranscriptSection], flaws: Sequence[Flaw], duration: float | None = None
) -> Transcript:
    """Return sections in the order of their times."""
    ordered = sorted(sections, key=lambda section: section.time or 0.0)
    return Transcript(tuple(ordered), tuple(flaws), duration=duration)


def _finite_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


# --- JSON: Podcasting 2.0, yt-dlp and JAMS -------------------------------------------------------


def _load(text: str) -> dict[str, Any]:
    """Return the fields of a JSON document; of another document, none."""
    try:
        document = load_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise MalformedFile(f"not JSON: {error}", line=line) from error
    if (repeated := find_repeated_key(text)) is not None:
        line = text.count("\n", 0, repeated.place) + 1
        raise MalformedFile(f'"{repeated.path}" appears twice in one object', "keep one", line)
    return document if isinstance(document, dict) else {}


def _list_of(fields: dict[str, Any], key: str) -> list[Any]:
    """Return a list that a document must have."""
    value = fields.get(key)
    if not isinstance(value, list):
        raise MalformedFile(f'no list "{key}" found')
    return value


def parse_podcast(text: str) -> Transcript:
    """Parse Podcasting 2.0 chapters (JSON); chapters not in the table of contents are loose."""
    sections, flaws = _chapter_sections(_list_of(_load(text), "chapters"), "startTime")
    kept = [section for section, chapter in sections if chapter.get("toc") is not False]
    return Transcript(tuple(kept), tuple(flaws), len(sections) - len(kept))


def parse_ytdlp(text: str) -> Transcript:
    """Parse an ``info.json`` of yt-dlp, in which ``chapters`` may be null, with its duration."""
    fields = _load(text)
    is_known = "chapters" in fields or "extractor" in fields
    has_none = is_known and fields.get("chapters") is None
    sections, flaws = _chapter_sections(
        [] if has_none else _list_of(fields, "chapters"), "start_time"
    )
    return _by_time(
        [section for section, _ in sections], flaws, _finite_number(fields.get("duration"))
    )


def _chapter_sections(
    chapters: list[Any], start: str
) -> tuple[list[tuple[TranscriptSection, Any]], list[Flaw]]:
    """Return the sections of chapter objects, each with its object, and the flaws."""
    sections, flaws = [], []
    for number, chapter in enumerate(chapters):
        time = _finite_number(chapter.get(start) if isinstance(chapter, dict) else None)
        if time is None:
            flaws.append(Flaw(1, f"chapters[{number}]: {start} must be a number"))
            continue
        title = chapter.get("title")
        named = title.strip() if isinstance(title, str) else ""
        sections.append((TranscriptSection("", named, time), chapter))
    return sections, flaws


def parse_jams(text: str, tier: str = "") -> Transcript:
    """Parse a segment annotation of a JAMS file; ``tier`` is its namespace or number."""
    document = _load(text)
    annotations = _list_of(document, "annotations")
    named = {
        number: str(annotation.get("namespace"))
        for number, annotation in enumerate(annotations, 1)
        if isinstance(annotation, dict)
    }
    segments = {number: name for number, name in named.items() if "segment" in name}
    if not tier and not segments:
        names = ", ".join(dict.fromkeys(named.values())) or "none"
        raise MalformedFile(f"no annotation of segments (found: {names})", TIER_REMEDY)
    if not tier and len(segments) > 1:
        message = f"has {len(segments)} annotations of segments: {_listed(segments)}"
        raise MalformedFile(message, TIER_REMEDY)
    chosen = _choose(named, tier, "annotation") if tier else next(iter(segments))
    metadata = document.get("file_metadata")
    duration = metadata.get("duration") if isinstance(metadata, dict) else None
    sections, flaws = _observations(annotations[chosen - 1].get("data"), chosen - 1)
    return _by_time(sections, flaws, _finite_number(duration))


def _observations(data: Any, place: int) -> tuple[list[TranscriptSection], list[Flaw]]:
    """Return the sections of an annotation; values of multi_segment have a label and a level."""
    if not isinstance(data, list):
        raise MalformedFile(f"annotations[{place}].data: must be a list, got {show(data)}")
    sections, flaws = [], []
    for number, observation in enumerate(data):
        fields = observation if isinstance(observation, dict) else {}
        time, value, level = _finite_number(fields.get("time")), fields.get("value"), 0
        if time is None:
            where = f"annotations[{place}].data[{number}]"
            flaws.append(Flaw(1, f"{where}: time must be a number"))
            continue
        if isinstance(value, dict):
            level = value["level"] + 1 if isinstance(value.get("level"), int) else 0
            value = value.get("label")
        title = "" if value is None else value if isinstance(value, str) else show(value)
        sections.append(TranscriptSection("", title.strip(), time, level=level))
    return sections, flaws


def _listed(names: dict[int, str]) -> str:
    return ", ".join(f'{number} "{name}"' for number, name in names.items())


def _choose(names: dict[int, str], tier: str, noun: str) -> int:
    """Return the number of the tier with this name (in any case, if it is unique) or number."""
    for matches in (
        [number for number, name in names.items() if name == tier],
        [number for number, name in names.items() if name.casefold() == tier.casefold()],
        [number for number in names if str(number) == tier],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            message = f'has {len(matches)} {noun}s "{tier}"'
            numbers = ", ".join(map(str, matches))
            raise MalformedFile(message, f"choose one by its number: {numbers} (--tier)")
    raise MalformedFile(f'has no {noun} "{tier}" (found: {_listed(names)})', TIER_REMEDY)


# --- RTTM ----------------------------------------------------------------------------------------


RTTM_FIELDS = 8  # up to the name; confidence and lookahead may be missing


def parse_rttm(text: str) -> Transcript:
    """Parse an RTTM file of one recording: its SPEAKER lines, with the speakers as titles."""
    recordings, flaws = parse_rttm_recordings(text)
    if len(recordings) > 1:
        names = ", ".join(sorted(recordings)[:5]) + (", …" if len(recordings) > 5 else "")
        message = f"has {len(recordings)} recordings: {names}"
        return Transcript((), (*flaws, Flaw(1, message, "give one, or use earwitness gather")))
    if not recordings and not flaws:
        flaws.append(Flaw(1, "has no SPEAKER lines"))
    sections = next(iter(recordings.values())).sections if recordings else ()
    return Transcript(sections, tuple(flaws))


def parse_rttm_recordings(text: str) -> tuple[dict[str, Transcript], list[Flaw]]:
    """Return the SPEAKER lines of an RTTM file by recording, and the flaws."""
    recordings = dict[str, list[TranscriptSection]]()
    flaws = list[Flaw]()
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields or fields[0] != "SPEAKER":  # comments and other types
            continue
        if len(fields) < RTTM_FIELDS:
            remedy = "write: SPEAKER recording channel start duration <NA> <NA> name <NA>"
            flaws.append(Flaw(number, f"has {len(fields)} fields, not 9 or 10", remedy))
            continue
        time, length = map(written_number, fields[3:5])
        if time is None or length is None:
            flaws.append(Flaw(number, "has a time that is not a number"))
            continue
        speaker = "" if fields[7] == "<NA>" else fields[7]
        section = TranscriptSection("", speaker, time, number)
        recordings.setdefault(fields[1], []).append(section)
    return {name: _by_time(recording, ()) for name, recording in recordings.items()}, flaws


# --- Labels: Audacity and .lab -------------------------------------------------------------------


def parse_audacity(text: str) -> Transcript:
    """Parse labels of Audacity: start, end and label, with frequencies on lines with a ``\\``."""
    sections, flaws = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("\\"):
            continue
        start, _, rest = line.partition("\t")
        end, _, label = rest.partition("\t")
        time = written_number(start, comma=True)
        if time is None or written_number(end, comma=True) is None:
            message = f'no times in "{line.strip()[:40]}"'
            flaws.append(Flaw(number, message, "write start, end and label, separated by tabs"))
        else:
            sections.append(TranscriptSection("", label.strip(), time, number))
    if not sections and not flaws:
        flaws.append(Flaw(1, "contains no labels"))
    return _by_time(sections, flaws)


HTK_UNITS_PER_SECOND = 10_000_000  # units of 100 ns
MIN_HTK_END = 1_000_000  # whole numbers from here are not seconds (eleven days), but HTK's units


def parse_lab(text: str) -> Transcript:
    """Parse lines with start, end and label, in seconds or in the units of HTK."""
    rows, flaws = list[tuple[int, str, str, str]](), list[Flaw]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        start, end, label = (*line.split(maxsplit=2), "", "", "")[:3]
        if written_number(start) is None or written_number(end) is None:
            message = f'no start and end in "{line.strip()[:40]}"'
            flaws.append(Flaw(number, message, "write: start end label"))
        else:
            rows.append((number, start, end, label.strip()))
    if not rows and not flaws:
        flaws.append(Flaw(1, "contains no labels"))
    times = [time for _, start, end, _ in rows for time in (start, end)]
    whole = all(time.isdecimal() for time in times)
    is_htk = whole and max(map(float, times), default=0) >= MIN_HTK_END
    unit = HTK_UNITS_PER_SECOND if is_htk else 1
    return _by_time(
        [TranscriptSection("", label, float(start) / unit, n) for n, start, _, label in rows],
        flaws,
    )


# --- CSV -----------------------------------------------------------------------------------------


START_COLUMNS = ("start", "start_time", "starttime", "start time", "time", "timestamp", "onset")
TITLE_COLUMNS = ("title", "chapter", "label", "name", "text")
CSV_DELIMITERS = ",;\t"


def parse_csv(text: str) -> Transcript:
    """Parse a table with the columns start and title (in any case), in seconds or as a clock."""
    delimiter = max(CSV_DELIMITERS, key=text.strip().partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        table = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise MalformedFile(f"not CSV: {error}") from error
    if not table:
        raise MalformedFile("contains no chapters", "write the columns start, title")
    names = table[0][1]
    header = [name.strip().casefold() for name in names]
    start = next((header.index(name) for name in START_COLUMNS if name in header), None)
    title = next((header.index(name) for name in TITLE_COLUMNS if name in header), None)
    if start is None:
        raise MalformedFile(f'no column "start" (found: {", ".join(names)[:80]})')
    sections, flaws = [], []
    for number, row in table[1:]:
        cells = [unescape_cell(" ".join(cell.strip().splitlines())) for cell in row]
        cells += [""] * (len(header) - len(row))
        time = TimestampFormat().seconds(cells[start])
        if time is None:
            time = written_number(cells[start], comma=delimiter != ",")
        if time is None:
            message = f'"{cells[start][:40]}" is not a time'
            flaws.append(Flaw(number, message, "write seconds or 0:12:34"))
        else:
            named = None if title is None else cells[title]
            sections.append(TranscriptSection("", named, time, number))
    return _by_time(sections, flaws)


# --- Praat TextGrid ------------------------------------------------------------------------------


def parse_textgrid(text: str, tier: str = "") -> Transcript:
    """Parse a tier of a TextGrid of Praat, in the long or the short text format.

    If any interval of the tier has a text, those without are not chapters.
    """
    tiers, duration, flaws = read_textgrid(text)
    if flaws:
        return Transcript((), tuple(flaws))
    names = {number: part.name for number, part in enumerate(tiers, 1)}
    parts = tiers[_chosen_tier(names, tier) - 1].parts
    named = [part for part in parts if part.text]
    sections = [
        TranscriptSection("", part.text if named else None, part.start, part.line)
        for part in named or parts
    ]
    return _by_time(sections, (), duration)


def _chosen_tier(tiers: dict[int, str], tier: str) -> int:
    """Return the number of the chosen tier, of the only one, or of the one named chapters."""
    if tier:
        return _choose(tiers, tier, "tier")
    named = [number for number, name in tiers.items() if name.casefold() in CHAPTER_TIERS]
    for numbers in (list(tiers), named):
        if len(numbers) == 1:
            return numbers[0]
    raise MalformedFile(f"has {len(tiers)} tiers: {_listed(tiers)}", TIER_REMEDY)
