"""Presets for chapter marks in transcripts: cstart, markdown, custom and others."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from earwitness.errors import UsageError, nearest
from earwitness.text.times import (
    PATTERN_TIMEOUT_SECONDS,
    TIME_PATTERN,
    PatternTimeout,
    TimestampFormat,
    compile_pattern,
)
from earwitness.text.transcripts import (
    Flaw,
    Transcript,
    TranscriptSection,
    normalise_lines,
    parse_ffmetadata,
    parse_podcast,
    parse_subtitles,
    parse_youtube,
)

TITLE_START_TAG, TITLE_END_TAG = "[CSTART]", "[CEND]"
TITLE_TAG_PATTERN = re.compile(r"\[(CSTART|CEND)\]")
MARKDOWN_HEADER_PATTERN = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$", re.MULTILINE)
TIME_FIRST_PATTERN = re.compile(rf"({TIME_PATTERN})(?:\s*[-–—:|.,;→]+\s*|\s+|$)(.*)", re.DOTALL)
TIME_LAST_PATTERN = re.compile(rf"(.*?)\s*@\s*({TIME_PATTERN})", re.DOTALL)

# start and end of a heading, its title and time
ChapterMark = tuple[int, int, str | None, float | None]


@dataclass(frozen=True)
class PresetOptions:
    """Options of the custom presets."""

    pattern: str = ""
    timestamp_format: str = ""

    def check(self) -> None:
        """Raise UsageError if the regular expression or the time format is invalid."""
        compile_pattern(self.pattern, "pattern")
        TimestampFormat(self.timestamp_format)


def read(text: str, preset: str, options: PresetOptions | None = None) -> Transcript:
    """Return the sections of a transcript, and its flaws."""
    if preset not in PRESETS:
        raise UsageError(f'unknown preset "{preset}" — {nearest(preset, PRESETS)}')
    try:
        return PRESETS[preset](normalise_lines(text), options or PresetOptions())
    except PatternTimeout as error:
        return Transcript((), (Flaw(1, str(error), "simplify the expression"),))


def _cstart(text: str, options: PresetOptions) -> Transcript:
    del options
    marks, flaws = _cstart_marks(text)
    return _cut(text, [(a, b, title, None) for a, b, title in marks], flaws)


def _cstart_ts(text: str, options: PresetOptions) -> Transcript:
    del options
    marks, flaws = _cstart_marks(text)
    timed, line = [], _lines(text)
    for start, end, heading in marks:
        time, title = _time_first(heading)
        if time is None:
            flaws.append(_no_time(line(start), heading))
        timed.append((start, end, title, time))
    return _cut(text, timed, flaws)


def _cstart_marks(text: str) -> tuple[list[tuple[int, int, str]], list[Flaw]]:
    marks: list[tuple[int, int, str]] = []
    flaws: list[Flaw] = []
    tags, line = list(TITLE_TAG_PATTERN.finditer(text)), _lines(text)
    for match, after in zip_longest(tags, tags[1:]):
        if match[1] == "CSTART" and after is not None and after[1] == "CEND":
            marks.append((match.start(), after.end(), text[match.end() : after.start()].strip()))
        elif match[1] == "CSTART":
            flaws.append(
                Flaw(
                    line(match.start()),
                    f"{TITLE_START_TAG} without {TITLE_END_TAG}",
                    "add the closing tag",
                )
            )
    closed = {end for _, end, _ in marks}
    for match in tags:
        if match[1] == "CEND" and match.end() not in closed:
            flaws.append(
                Flaw(
                    line(match.start()),
                    f"{TITLE_END_TAG} without {TITLE_START_TAG}",
                    "add the opening tag",
                )
            )
    if not marks and not flaws:
        flaws.append(Flaw(1, f"no {TITLE_START_TAG} found", "check that the preset is right"))
    return marks, flaws


def _markdown(text: str, options: PresetOptions) -> Transcript:
    del options
    marks = [
        (m.start(), m.end(), m[2].strip(), None) for m in MARKDOWN_HEADER_PATTERN.finditer(text)
    ]
    if not marks:
        return Transcript((TranscriptSection(text.strip()),) if text.strip() else ())
    return _cut(text, marks, [])


def _markdown_ts(text: str, options: PresetOptions) -> Transcript:
    del options
    marks, flaws, line = [], [], _lines(text)
    for match in MARKDOWN_HEADER_PATTERN.finditer(text):
        heading = match[2].strip()
        time, title = _time_first(heading)
        if time is None and (last := TIME_LAST_PATTERN.fullmatch(heading)):
            time, title = TimestampFormat().seconds(last[2]), last[1].strip()
        if time is None:
            flaws.append(_no_time(line(match.start()), heading))
        marks.append((match.start(), match.end(), title, time))
    if not marks:
        flaws.append(Flaw(1, "no heading (# …) found", "check that the preset is right"))
    return _cut(text, marks, flaws)


def _newline(text: str, options: PresetOptions) -> Transcript:
    del options
    sections, place, line = [], 0, _lines(text)
    for part in re.split(r"(\n[ \t]*\n\s*)", text):
        if part.strip():
            sections.append(TranscriptSection(part.strip(), line=line(place)))
        place += len(part)
    return Transcript(tuple(sections))


def _custom(text: str, options: PresetOptions) -> Transcript:
    sections, place, line = [], 0, _lines(text)
    for match in [*_pattern_matches(text, options), None]:
        stop = len(text) if match is None else match.start()
        if text[place:stop].strip():
            sections.append(TranscriptSection(text[place:stop].strip(), line=line(place)))
        place = stop if match is None else match.end()
    return Transcript(tuple(sections))


def _custom_ts(text: str, options: PresetOptions) -> Transcript:
    clock, marks, flaws = TimestampFormat(options.timestamp_format or "H:MM:SS"), [], []
    pattern = compile_pattern(options.pattern, "pattern")
    if options.pattern and "timestamp" not in pattern.groupindex:
        raise UsageError("pattern requires a named group: (?P<timestamp>…)")
    line = _lines(text)
    for match in _pattern_matches(text, options):
        groups = match.groupdict()
        time = clock.seconds(groups["timestamp"] or "")
        if time is None:
            where, form = line(match.start()), clock.form
            message = f'"{groups["timestamp"] or ""}" does not match the format {form}'
            flaws.append(Flaw(where, message, "set another timestamp_format"))
        title = (groups["title"] or "").strip() if "title" in groups else None
        marks.append((match.start(), match.end(), title, time))
    if not marks:
        flaws.append(Flaw(1, "no match for the pattern"))
    return _cut(text, marks, flaws)


def _pattern_matches(text: str, options: PresetOptions) -> list[re.Match[str]]:
    """Return all matches of a user's pattern, found in bounded time."""
    if not options.pattern:
        raise UsageError("this preset requires a pattern")
    pattern = compile_pattern(options.pattern, "pattern")
    try:
        matches = list(pattern.finditer(text, timeout=PATTERN_TIMEOUT_SECONDS))
    except TimeoutError:
        raise PatternTimeout("pattern") from None
    return [match for match in matches if match.end() > match.start()]


def _time_first(heading: str) -> tuple[float | None, str]:
    """Return the time at the start of a heading, and the rest."""
    match = TIME_FIRST_PATTERN.fullmatch(heading)
    if match is None:
        return None, heading
    return TimestampFormat().seconds(match[1]), match[2].strip()


def _no_time(line: int, heading: str) -> Flaw:
    return Flaw(line, f'no time in the heading "{heading[:40]}"', "write 0:12:34 - title")


def _cut(text: str, marks: Sequence[ChapterMark], flaws: list[Flaw]) -> Transcript:
    """Return the sections between headings; text before the first belongs to no section."""
    line = _lines(text)
    ends = [*(start for start, *_ in marks[1:]), len(text)] if marks else []
    sections = tuple(
        TranscriptSection(text[end:stop].strip(), title, time, line(start))
        for (start, end, title, time), stop in zip(marks, ends, strict=True)
    )
    before = text[: marks[0][0]] if marks else ""
    return Transcript(sections, tuple(flaws), len(before.strip().splitlines()))


def _lines(text: str) -> Callable[[int], int]:
    """Return a function that returns the line number of an index of the text."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    return lambda place: bisect_left(breaks, place) + 1


def _plain(function: Callable[[str], Transcript]) -> Callable[[str, PresetOptions], Transcript]:
    def take(text: str, options: PresetOptions) -> Transcript:
        del options
        return function(text)

    return take


PRESETS: dict[str, Callable[[str, PresetOptions], Transcript]] = {
    "cstart": _cstart,
    "cstart_ts": _cstart_ts,
    "newline": _newline,
    "markdown": _markdown,
    "markdown_ts": _markdown_ts,
    "custom": _custom,
    "custom_ts": _custom_ts,
    "srt": _plain(parse_subtitles),
    "webvtt": _plain(parse_subtitles),
    "youtube": _plain(parse_youtube),
    "podcast": _plain(parse_podcast),
    "ffmetadata": _plain(parse_ffmetadata),
}
