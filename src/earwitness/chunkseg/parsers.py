"""Sections of transcripts as chunkseg.parsers reads them.

What is not a heading in the exact form is text. Sentences are split by rules that need no download,
so they may differ from those of chunkseg, which uses nltk; words and times are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from earwitness.errors import UsageError
from earwitness.text.sentences import split_sentences

Sections = list[list[str]]  # sentences of each section
CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"
CSTART_HEADING = re.compile(r"\[CSTART\]\s*(?P<title>.*?)\s*\[CEND\]", re.DOTALL)
TIMED_CSTART_HEADING = re.compile(
    r"\[CSTART\]\s*(?P<time>\d{1,2}:\d{2}:\d{2})\s*-\s*(?P<title>.*?)\s*\[CEND\]", re.DOTALL
)
MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+(?P<title>.*)$", re.MULTILINE)
TIMED_MARKDOWN_HEADING = re.compile(
    rf"^#{{1,6}}\s+(?:(?P<time>{CLOCK})\s*[-–—]?\s*(?P<title>.+?)"
    rf"|(?P<last_title>.+?)\s*@\s*(?P<last_time>{CLOCK}))$",
    re.MULTILINE,
)
NAMED_TIME_FORMATS = ("HH:MM:SS", "H:MM:SS", "MM:SS", "M:SS", "HHMMSS", "MMSS")
TIME_GROUPS = {3600: ("h", "hours"), 60: ("m", "minutes", "min"), 1: ("s", "seconds", "sec")}


class ParseResult(NamedTuple):
    """Sections of a transcript, and their titles and times if the format has them."""

    sections: Sections
    titles: list[str] | None = None
    timestamps: list[float] | None = None


def parse_cstart(text: str) -> tuple[list[str], Sections]:
    """Return titles and sections of ``[CSTART] Title [CEND] text``.

    >>> parse_cstart("[CSTART] A [CEND] One. Two. [CSTART] B [CEND] Three.")
    (['A', 'B'], [['One.', 'Two.'], ['Three.']])
    """
    headings = _headings(CSTART_HEADING, text)
    return [heading["title"].strip() for heading in headings], _sections(text, headings)


def parse_cstart_timestamped(text: str) -> tuple[list[float], list[str], Sections]:
    """Return times, titles and sections of ``[CSTART] H:MM:SS - Title [CEND] text``.

    >>> parse_cstart_timestamped("[CSTART] 0:01:05 - A [CEND] One.")
    ([65], ['A'], [['One.']])
    """
    headings = _headings(TIMED_CSTART_HEADING, text)
    titles = [heading["title"].strip() for heading in headings]
    return [_seconds(heading["time"]) for heading in headings], titles, _sections(text, headings)


parse_timestamped = parse_cstart_timestamped


def parse_newline(text: str) -> Sections:
    """Return the sections between blank lines.

    >>> parse_newline("One.\\n\\nTwo. Three.")
    [['One.'], ['Two.', 'Three.']]
    """
    parts = re.split(r"\n\n+", text.strip()) if isinstance(text, str) else []
    return [split_sentences(part.strip()) for part in parts if part.strip()]


def parse_markdown(text: str) -> tuple[list[str], Sections]:
    """Return titles and sections of a text with Markdown headings; without any, one section.

    >>> parse_markdown("# A\\nOne.\\n## B\\nTwo.")
    (['A', 'B'], [['One.'], ['Two.']])
    """
    headings = _headings(MARKDOWN_HEADING, text)
    if not headings:
        has_text = isinstance(text, str) and bool(text.strip())
        return [], [split_sentences(text.strip())] if has_text else []
    return [heading["title"].strip() for heading in headings], _sections(text, headings)


def parse_markdown_timestamped(text: str) -> tuple[list[float], list[str], Sections]:
    """Return times, titles and sections of a text with Markdown headings with times.

    The time is first (``# 12:30 - Title``) or last (``# Title @ 12:30``). Without such a heading,
    the text is parsed by ``parse_markdown``.

    >>> parse_markdown_timestamped("# 0:05 A\\nOne.\\n# B @ 1:00:00\\nTwo.")
    ([5, 3600], ['A', 'B'], [['One.'], ['Two.']])
    """
    headings = _headings(TIMED_MARKDOWN_HEADING, text)
    if not headings:
        return [], *parse_markdown(text)
    times: list[float] = [_seconds(heading["time"] or heading["last_time"]) for heading in headings]
    titles = [(heading["title"] or heading["last_title"]).strip() for heading in headings]
    return times, titles, _sections(text, headings)


def parse_custom(text: str, pattern: str) -> Sections:
    """Return the sections between matches of a regular expression.

    >>> parse_custom("One. --- Two.", "---")
    [['One.'], ['Two.']]
    """
    parts = re.split(pattern, text) if isinstance(text, str) else []
    return [split_sentences(part.strip()) for part in parts if part.strip()]


def parse_custom_timestamped(
    text: str, pattern: str, timestamp_format: str = "H:MM:SS"
) -> tuple[list[float], list[str], Sections]:
    """Return times, titles and sections, with headings found by a regular expression.

    Parameters
    ----------
    text
        Transcript.
    pattern
        Regular expression with the group ``timestamp`` and, if headings have one, ``title``.
    timestamp_format
        ``"HH:MM:SS"``, ``"H:MM:SS"``, ``"MM:SS"``, ``"M:SS"``, ``"HHMMSS"``, ``"MMSS"``, or a
        regular expression with the groups ``h``, ``m`` and ``s``.

    Returns
    -------
    tuple
        Times that could be read, titles of all headings, and sections.

    Raises
    ------
    UsageError
        If the regular expression is invalid.

    Examples
    --------
    >>> parse_custom_timestamped("<1:05 A> One.", r"<(?P<timestamp>\\S+) (?P<title>.*?)>", "M:SS")
    ([65], ['A'], [['One.']])
    """
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"Invalid regex pattern: {error}") from error
    headings = _headings(expression, text)
    groups = [heading.groupdict() for heading in headings]
    times = [_formatted_seconds(group.get("timestamp") or "", timestamp_format) for group in groups]
    titles = [(group.get("title") or "").strip() for group in groups]
    return [time for time in times if time is not None], titles, _sections(text, headings)


def parse_transcript(
    text: str, fmt: str, custom_pattern: str | None = None, timestamp_format: str | None = None
) -> ParseResult:
    """Return the sections of a transcript in one of chunkseg's formats.

    Parameters
    ----------
    text
        Transcript.
    fmt
        ``"cstart"``, ``"cstart_ts"``, ``"newline"``, ``"markdown"``, ``"markdown_ts"``,
        ``"custom"`` or ``"custom_ts"``.
    custom_pattern
        Regular expression of the custom formats.
    timestamp_format
        Time format of ``"custom_ts"``.

    Returns
    -------
    ParseResult
        Sections, and titles and times if the format has them.

    Raises
    ------
    UsageError
        If the format is unknown, or a custom format has no pattern.

    Examples
    --------
    >>> parse_transcript("# 0:00 A\\nOne.", "markdown_ts")
    ParseResult(sections=[['One.']], titles=['A'], timestamps=[0])
    """
    timed = {"cstart_ts": parse_cstart_timestamped, "markdown_ts": parse_markdown_timestamped}
    if fmt in timed:
        times, titles, sections = timed[fmt](text)
        return ParseResult(sections, titles, times)
    if fmt in ("cstart", "markdown"):
        titles, sections = parse_cstart(text) if fmt == "cstart" else parse_markdown(text)
        return ParseResult(sections, titles)
    if fmt == "newline":
        return ParseResult(parse_newline(text))
    if fmt not in ("custom", "custom_ts"):
        raise UsageError(f"Unknown format: {fmt!r}")
    if custom_pattern is None:
        raise UsageError(f"custom_pattern is required when fmt={fmt!r}")
    if fmt == "custom":
        return ParseResult(parse_custom(text, custom_pattern))
    times, titles, sections = parse_custom_timestamped(
        text, custom_pattern, timestamp_format or "H:MM:SS"
    )
    return ParseResult(sections, titles, times)


def _headings(expression: re.Pattern[str], text: Any) -> list[re.Match[str]]:
    return list(expression.finditer(text)) if isinstance(text, str) else []


def _sections(text: str, headings: Sequence[re.Match[str]]) -> Sections:
    """Return the sentences after each heading; text before the first belongs to no section."""
    stops = [heading.start() for heading in headings[1:]] + ([len(text)] if headings else [])
    return [
        split_sentences(text[heading.end() : stop].strip())
        for heading, stop in zip(headings, stops, strict=True)
    ]


def _seconds(clock: str) -> int:
    """Return the seconds of H:MM:SS or MM:SS."""
    parts = [int(part) for part in clock.split(":")]
    return sum(part * 60**power for power, part in enumerate(reversed(parts)))


def _formatted_seconds(clock: str, time_format: str) -> int | None:
    """Return the seconds of a time in the given format, or None."""
    clock = clock.strip()
    if not clock:
        return None
    if time_format in NAMED_TIME_FORMATS:
        parts = re.findall("H+|M+|S+|:", time_format)
        pattern = "".join(
            part if part == ":" else rf"(\d{{{1 if len(part) == 1 else 2},2}})" for part in parts
        )
        match = re.fullmatch(pattern, clock)
        return None if match is None else _seconds(":".join(match.groups()))
    try:
        match = re.match(time_format, clock)
        if match is None:
            return None
        found = match.groupdict()
        return sum(
            unit * int(next((found[name] for name in names if found.get(name)), 0))
            for unit, names in TIME_GROUPS.items()
        )
    except (re.error, ValueError):
        return None
