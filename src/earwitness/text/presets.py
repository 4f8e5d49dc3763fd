"""Ways in which a transcript marks its chapters, by name; ``read`` takes any of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from earwitness.errors import UsageError, nearest
from earwitness.text.clock import PATIENCE, Clock, compiled
from earwitness.text.sections import Flaw, Section, Transcript
from earwitness.text.subtitles import ffmetadata, podcast, subtitles, youtube

START, END = "[CSTART]", "[CEND]"
HEADER = re.compile(r"^(#{1,6})[ \t]+(.*)$", re.MULTILINE)
TIME = r"[\[(]?(?:\d+:)?\d{1,3}:\d{2}(?:[.,]\d+)?[\])]?"
TIME_FIRST = re.compile(rf"({TIME})(?:\s*[-–—:|]\s*|\s+|$)(.*)", re.DOTALL)
TIME_LAST = re.compile(rf"(.*?)\s*@\s*({TIME})", re.DOTALL)


Mark = tuple[int, int, str, float | None]  # where a heading begins and ends, its title and time


@dataclass(frozen=True)
class Options:
    """What some presets need besides the text."""

    pattern: str = ""
    timestamp_format: str = ""

    def check(self) -> None:
        """Refuse what is no expression and no form of time."""
        compiled(self.pattern, "pattern")
        Clock(self.timestamp_format)


def read(text: str, preset: str, options: Options | None = None) -> Transcript:
    """The sections of a transcript, and what is wrong with it."""
    if preset not in PRESETS:
        raise UsageError(f'there is no preset "{preset}" — {nearest(preset, PRESETS)}')
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return PRESETS[preset](text, options or Options())


def _cstart(text: str, options: Options) -> Transcript:
    del options
    marks, flaws = _cstart_marks(text)
    return _cut(text, [(a, b, title, None) for a, b, title in marks], flaws)


def _cstart_ts(text: str, options: Options) -> Transcript:
    del options
    marks, flaws = _cstart_marks(text)
    found = []
    for start, end, heading in marks:
        time, title = _time_first(heading)
        if time is None:
            flaws.append(_no_time(text, start, heading))
        found.append((start, end, title, time))
    return _cut(text, found, flaws)


def _cstart_marks(text: str) -> tuple[list[tuple[int, int, str]], list[Flaw]]:
    marks, flaws, place = [], [], 0
    while (start := text.find(START, place)) >= 0:
        end = text.find(END, start)
        again = text.find(START, start + len(START))
        if end < 0 or 0 <= again < end:
            flaws.append(Flaw(_line(text, start), f"{START} without {END}", "close the title"))
            place = start + len(START)
            continue
        marks.append((start, end + len(END), text[start + len(START) : end].strip()))
        place = end + len(END)
    if not marks and not flaws:
        flaws.append(Flaw(1, f"no {START} in it", "is this another preset?"))
    return marks, flaws


def _markdown(text: str, options: Options) -> Transcript:
    del options
    marks = [(m.start(), m.end(), m[2].strip(), None) for m in HEADER.finditer(text)]
    if not marks:
        return Transcript((Section(text.strip()),) if text.strip() else ())
    return _cut(text, marks, [])


def _markdown_ts(text: str, options: Options) -> Transcript:
    del options
    marks, flaws = [], []
    for match in HEADER.finditer(text):
        heading = match[2].strip()
        time, title = _time_first(heading)
        if time is None and (last := TIME_LAST.fullmatch(heading)):
            time, title = Clock().seconds(last[2]), last[1].strip()
        if time is None:
            flaws.append(_no_time(text, match.start(), heading))
        marks.append((match.start(), match.end(), title, time))
    if not marks:
        flaws.append(Flaw(1, "no header (# …) in it", "is this another preset?"))
    return _cut(text, marks, flaws)


def _newline(text: str, options: Options) -> Transcript:
    del options
    sections, place = [], 0
    for part in re.split(r"(\n[ \t]*\n\s*)", text):
        if part.strip():
            sections.append(Section(part.strip(), line=_line(text, place)))
        place += len(part)
    return Transcript(tuple(sections))


def _custom(text: str, options: Options) -> Transcript:
    sections, place = [], 0
    for match in [*_found(text, options), None]:
        stop = len(text) if match is None else match.start()
        if text[place:stop].strip():
            sections.append(Section(text[place:stop].strip(), line=_line(text, place)))
        place = stop if match is None else match.end()
    return Transcript(tuple(sections))


def _custom_ts(text: str, options: Options) -> Transcript:
    clock, marks, flaws = Clock(options.timestamp_format or "H:MM:SS"), [], []
    pattern = compiled(options.pattern, "pattern")
    if options.pattern and "timestamp" not in pattern.groupindex:
        raise UsageError("pattern needs a named group: (?P<timestamp>…)")
    for match in _found(text, options):
        groups = match.groupdict()
        time = clock.seconds(groups["timestamp"] or "")
        if time is None:
            where, form = _line(text, match.start()), clock.form
            told = f'"{groups["timestamp"] or ""}" is not of the form {form}'
            flaws.append(Flaw(where, told, "name another timestamp_format"))
        title = groups.get("title")
        marks.append((match.start(), match.end(), (title or "").strip(), time))
    if not marks:
        flaws.append(Flaw(1, "the pattern is not found in it"))
    return _cut(text, marks, flaws)


def _found(text: str, options: Options) -> list[re.Match[str]]:
    """All places of a user's pattern, found in bounded time."""
    if not options.pattern:
        raise UsageError("this preset needs a pattern")
    pattern = compiled(options.pattern, "pattern")
    try:
        found = list(pattern.finditer(text, timeout=PATIENCE))
    except TimeoutError:
        raise UsageError(
            f"pattern took more than {PATIENCE:g} s on one text — make it simpler"
        ) from None
    return [match for match in found if match.end() > match.start()]


def _time_first(heading: str) -> tuple[float | None, str]:
    """The time at the start of a heading, and the rest."""
    match = TIME_FIRST.fullmatch(heading)
    if match is None:
        return None, heading
    return Clock().seconds(match[1]), match[2].strip()


def _no_time(text: str, place: int, heading: str) -> Flaw:
    return Flaw(
        _line(text, place), f'no time in the heading "{heading[:40]}"', "write 0:12:34 - title"
    )


def _cut(text: str, marks: Sequence[Mark], flaws: list[Flaw]) -> Transcript:
    """Sections between headings; text before the first belongs to none."""
    ends = [*(start for start, *_ in marks[1:]), len(text)] if marks else []
    sections = tuple(
        Section(text[end:stop].strip(), title, time, _line(text, start))
        for (start, end, title, time), stop in zip(marks, ends, strict=True)
    )
    before = text[: marks[0][0]] if marks else ""
    return Transcript(sections, tuple(flaws), len(before.strip().splitlines()))


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _plain(function: Callable[[str], Transcript]) -> Callable[[str, Options], Transcript]:
    def take(text: str, options: Options) -> Transcript:
        del options
        return function(text)

    return take


PRESETS: dict[str, Callable[[str, Options], Transcript]] = {
    "cstart": _cstart,
    "cstart_ts": _cstart_ts,
    "newline": _newline,
    "markdown": _markdown,
    "markdown_ts": _markdown_ts,
    "custom": _custom,
    "custom_ts": _custom_ts,
    "srt": _plain(subtitles),
    "webvtt": _plain(subtitles),
    "youtube": _plain(youtube),
    "podcast": _plain(podcast),
    "ffmetadata": _plain(ffmetadata),
}
