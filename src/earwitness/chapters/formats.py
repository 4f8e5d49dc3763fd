"""Chapters in files of other tools: JSON (Podcasting 2.0, yt-dlp, JAMS), RTTM, labels, TextGrid."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from earwitness.io.schema import find_repeated_key, show
from earwitness.text.times import TimestampFormat
from earwitness.text.transcripts import Flaw, Transcript, TranscriptSection

TIER_REMEDY = "choose one by name or number (--tier)"


def _by_time(
    sections: Sequence[TranscriptSection], flaws: Sequence[Flaw], duration: float | None = None
) -> Transcript:
    """Return sections in the order of their times."""
    ordered = sorted(sections, key=lambda section: section.time or 0.0)
    return Transcript(tuple(ordered), tuple(flaws), duration=duration)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _finite_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def _written_number(text: str, *, comma: bool = False) -> float | None:
    """Return a finite number in a text, possibly with a decimal comma."""
    try:
        number = float(text.replace(",", ".") if comma else text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None


# --- JSON: Podcasting 2.0, yt-dlp and JAMS -------------------------------------------------------


def _load(text: str) -> tuple[Any, list[Flaw]]:
    """Return a JSON document, or None and the reason why it cannot be read."""
    try:
        document = json.loads(text)
    except RecursionError:
        return None, [Flaw(1, "not JSON: nested too deeply")]
    except ValueError as error:
        return None, [Flaw(getattr(error, "lineno", 1), f"not JSON: {error}")]
    if (repeated := find_repeated_key(text)) is not None:
        line = text.count("\n", 0, repeated.place) + 1
        return None, [Flaw(line, f'"{repeated.path}" appears twice in one object', "keep one")]
    return document, []


def parse_podcast(text: str) -> Transcript:
    """Parse Podcasting 2.0 chapters (JSON); chapters not in the table of contents are loose."""
    document, flaws = _load(text)
    chapters = document.get("chapters") if isinstance(document, dict) else None
    if not isinstance(chapters, list):
        return Transcript((), tuple(flaws or [Flaw(1, 'no list "chapters" found')]))
    sections, flaws = _chapter_sections(chapters, "startTime")
    kept = [section for section, chapter in sections if chapter.get("toc") is not False]
    return Transcript(tuple(kept), tuple(flaws), len(sections) - len(kept))


def parse_ytdlp(text: str) -> Transcript:
    """Parse an ``info.json`` of yt-dlp, in which ``chapters`` may be null, with its duration."""
    document, flaws = _load(text)
    if flaws:
        return Transcript((), tuple(flaws))
    fields = document if isinstance(document, dict) else {}
    chapters = fields.get("chapters")
    is_absent = chapters is None and ("chapters" in fields or "extractor" in fields)
    if not isinstance(chapters, list) and not is_absent:
        return Transcript((), (Flaw(1, 'no list "chapters" found'),))
    sections, flaws = _chapter_sections(chapters or [], "start_time")
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
    document, flaws = _load(text)
    annotations = document.get("annotations") if isinstance(document, dict) else None
    if not isinstance(annotations, list):
        return Transcript((), tuple(flaws or [Flaw(1, 'no list "annotations" found')]))
    named = {
        number: str(annotation.get("namespace"))
        for number, annotation in enumerate(annotations, 1)
        if isinstance(annotation, dict)
    }
    segments = {number: name for number, name in named.items() if "segment" in name}
    chosen: int | Flaw
    if not tier and not segments:
        found = ", ".join(dict.fromkeys(named.values())) or "none"
        chosen = Flaw(1, f"no annotation of segments (found: {found})", TIER_REMEDY)
    elif not tier and len(segments) > 1:
        message = f"has {len(segments)} annotations of segments: {_listed(segments)}"
        chosen = Flaw(1, message, TIER_REMEDY)
    else:
        chosen = _choose(named, tier, "annotation") if tier else next(iter(segments))
    if isinstance(chosen, Flaw):
        return Transcript((), (chosen,))
    metadata = document.get("file_metadata")
    duration = metadata.get("duration") if isinstance(metadata, dict) else None
    sections, flaws = _observations(annotations[chosen - 1].get("data"), chosen - 1)
    return _by_time(sections, flaws, _finite_number(duration))


def _observations(data: Any, place: int) -> tuple[list[TranscriptSection], list[Flaw]]:
    """Return the sections of an annotation; values of multi_segment have a label and a level."""
    if not isinstance(data, list):
        return [], [Flaw(1, f"annotations[{place}].data: must be a list, got {show(data)}")]
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


def _choose(names: dict[int, str], tier: str, noun: str) -> int | Flaw:
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
            return Flaw(1, message, f"choose one by its number: {numbers} (--tier)")
    return Flaw(1, f'has no {noun} "{tier}" (found: {_listed(names)})', TIER_REMEDY)


# --- RTTM ----------------------------------------------------------------------------------------


RTTM_FIELDS = 8  # up to the name; confidence and lookahead may be missing


def parse_rttm(text: str) -> Transcript:
    """Parse an RTTM file of one recording: its SPEAKER lines, with the speakers as titles."""
    recordings, flaws = parse_rttm_recordings(text)
    if len(recordings) > 1:
        names = ", ".join(sorted(recordings)[:5]) + ", …" * (len(recordings) > 5)
        message = f"has {len(recordings)} recordings: {names}"
        return Transcript((), (*flaws, Flaw(1, message, "give one, or use earwitness gather")))
    if not recordings and not flaws:
        flaws.append(Flaw(1, "has no SPEAKER lines"))
    sections = next(iter(recordings.values())).sections if recordings else ()
    return Transcript(sections, tuple(flaws))


def parse_rttm_recordings(text: str) -> tuple[dict[str, Transcript], list[Flaw]]:
    """Return the SPEAKER lines of an RTTM file by recording, and the flaws."""
    recordings: dict[str, list[TranscriptSection]] = {}
    flaws: list[Flaw] = []
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields or fields[0] != "SPEAKER":  # comments and other types
            continue
        if len(fields) < RTTM_FIELDS:
            remedy = "write: SPEAKER recording channel start duration <NA> <NA> name <NA>"
            flaws.append(Flaw(number, f"has {len(fields)} fields, not 9 or 10", remedy))
            continue
        time, length = map(_written_number, fields[3:5])
        if time is None or length is None:
            flaws.append(Flaw(number, "has a time that is not a number"))
            continue
        speaker = "" if fields[7] == "<NA>" else fields[7]
        section = TranscriptSection("", speaker, time, number)
        recordings.setdefault(fields[1], []).append(section)
    return {name: _by_time(own, ()) for name, own in recordings.items()}, flaws


# --- Labels: Audacity and .lab -------------------------------------------------------------------


def parse_audacity(text: str) -> Transcript:
    """Parse labels of Audacity: start, end and label, with frequencies on lines with a ``\\``."""
    sections, flaws = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("\\"):
            continue
        start, _, rest = line.partition("\t")
        end, _, label = rest.partition("\t")
        time = _written_number(start, comma=True)
        if time is None or _written_number(end, comma=True) is None:
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
        if _written_number(start) is None or _written_number(end) is None:
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
    lines = text.split("\n")
    delimiter = max(CSV_DELIMITERS, key=lines[0].count)
    try:
        table = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return Transcript((), (Flaw(1, f"not CSV: {error}"),))
    if not any(map(any, table)):
        return Transcript((), (Flaw(1, "contains no chapters", "write the columns start, title"),))
    header = [name.strip().casefold() for name in table[0]]
    start = next((header.index(name) for name in START_COLUMNS if name in header), None)
    title = next((header.index(name) for name in TITLE_COLUMNS if name in header), None)
    if start is None:
        found = ", ".join(table[0])[:80]
        return Transcript((), (Flaw(1, f'no column "start" (found: {found})'),))
    sections, flaws = [], []
    for number, row in enumerate(table[1:], 2):
        cells = [cell.strip() for cell in row] + [""] * (len(header) - len(row))
        if not any(cells):
            continue
        time = TimestampFormat().seconds(cells[start])
        if time is None:
            time = _written_number(cells[start], comma=delimiter != ",")
        if time is None:
            message = f'"{cells[start][:40]}" is not a time'
            flaws.append(Flaw(number, message, "write seconds or 0:12:34"))
        else:
            named = None if title is None else cells[title]
            sections.append(TranscriptSection("", named, time, number))
    return _by_time(sections, flaws)


# --- Praat TextGrid ------------------------------------------------------------------------------


# Praat reads free-standing numbers, quoted texts and flags, and ignores all else.
GRID_TOKEN = re.compile(r'"(?:[^"]|"")*+"|<\w+>|(?<!\S)-?\d[\d.eE+-]*(?!\S)|(?<!\S)!.*')
CHAPTER_TIERS = ("chapters", "chapter", "segments", "sections")


class _GridToken(NamedTuple):
    """A number, a text or a flag of a TextGrid, and its line."""

    value: float | str
    line: int


class _GridFlaw(Exception):
    """The content of a TextGrid is invalid."""

    def __init__(self, line: int, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.flaw = Flaw(line, message, remedy)


def parse_textgrid(text: str, tier: str = "") -> Transcript:
    """Parse a tier of a TextGrid of Praat, in the long or the short text format.

    If any interval of the tier has a text, those without are not chapters.
    """
    tokens = _GridReader(text)
    try:
        return tokens.read(tier)
    except _GridFlaw as error:
        return Transcript((), (error.flaw,))


class _GridReader:
    """Reader of the tokens of a TextGrid, in their order."""

    def __init__(self, text: str) -> None:
        self._tokens = _grid_tokens(text)
        self._last_line = text.rstrip().count("\n") + 1

    def read(self, tier: str) -> Transcript:
        first = [token.value for token in islice(self._tokens, 2)]
        if len(first) < 2 or not str(first[0]).startswith("ooTextFile") or first[1] != "TextGrid":
            raise _GridFlaw(1, "is not a TextGrid", "save it in Praat as a text file")
        self._number()
        duration = self._number()
        tiers: dict[int, str] = {}
        sections: dict[int, list[TranscriptSection]] = {}
        for number in range(1, self._count() + 1):
            kind = self._text()
            tiers[number] = self._text()
            self._number()
            self._number()
            parts = [self._part(kind) for _ in range(self._count())]
            named = [part for part in parts if part.title]
            sections[number] = named or [part._replace(title=None) for part in parts]
        return _by_time(sections[_chosen_tier(tiers, tier)], (), duration)

    def _part(self, kind: str) -> TranscriptSection:
        token = self._next()
        if not isinstance(token.value, float):
            raise _GridFlaw(token.line, f"must be a number, got {show(token.value)}")
        if kind == "IntervalTier":
            self._number()
        return TranscriptSection("", _one_line(self._text()), token.value, token.line)

    def _next(self) -> _GridToken:
        token = next(self._tokens, None)
        if token is None:
            raise _GridFlaw(self._last_line, "ends too early")
        return self._next() if token.value == "<exists>" else token

    def _number(self) -> float:
        token = self._next()
        if not isinstance(token.value, float):
            raise _GridFlaw(token.line, f"must be a number, got {show(token.value)}")
        return token.value

    def _count(self) -> int:
        token = self._next()
        if not isinstance(token.value, float) or not token.value.is_integer():
            raise _GridFlaw(token.line, f"must be a count, got {show(token.value)}")
        return int(token.value)

    def _text(self) -> str:
        token = self._next()
        if not isinstance(token.value, str):
            raise _GridFlaw(token.line, f"must be text, got {token.value:g}")
        return token.value


def _grid_tokens(text: str) -> Iterator[_GridToken]:
    line, place = 1, 0
    for match in GRID_TOKEN.finditer(text):
        line += text.count("\n", place, match.start())
        place, token = match.start(), match[0]
        if token.startswith('"'):
            yield _GridToken(token[1:-1].replace('""', '"'), line)
        elif token.startswith("<"):
            yield _GridToken(token, line)
        elif not token.startswith("!") and (number := _written_number(token)) is not None:
            yield _GridToken(number, line)


def _chosen_tier(tiers: dict[int, str], tier: str) -> int:
    """Return the number of the chosen tier, of the only one, or of the one named chapters."""
    if tier:
        chosen = _choose(tiers, tier, "tier")
        if isinstance(chosen, Flaw):
            raise _GridFlaw(*chosen)
        return chosen
    named = [number for number, name in tiers.items() if name.casefold() in CHAPTER_TIERS]
    for numbers in (list(tiers), named):
        if len(numbers) == 1:
            return numbers[0]
    raise _GridFlaw(1, f"has {len(tiers)} tiers: {_listed(tiers)}", TIER_REMEDY)
