"""Chapters as other programs keep them: SRT, WebVTT, lists under videos, podcasts, ffmpeg."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from typing import Any

from earwitness.text.clock import Clock
from earwitness.text.sections import Flaw, Section, Transcript

TIMING = re.compile(r"^\s*(\S+)\s*-->\s*(\S+)")
TAGS = re.compile(r"</?[^<>]*>")
NOTES = ("NOTE", "STYLE", "REGION")
LISTED = re.compile(
    r"^[\s•*·>-]*(?:\d+[.)]\s+)?(?P<time>[\[(]?(?:\d+:)?\d{1,3}:\d{2}(?:[.,]\d+)?[\])]?)"
    r"(?:\s*[-–—:|]\s*|\s+)(?P<title>\S.*)$"
)
LISTED_LAST = re.compile(
    r"^(?P<title>\S.*?)\s*[-–—:|]?\s*(?P<time>[\[(]?(?:\d+:)?\d{1,3}:\d{2}(?:[.,]\d+)?[\])]?)\s*$"
)


def subtitles(text: str) -> Transcript:
    """SRT and WebVTT: every cue is a chapter, its text the title."""
    lines, sections, flaws, number = text.split("\n"), [], [], 0
    blocks = _blocks(lines)
    for first, block in blocks:
        place = next((i for i, line in enumerate(block) if "-->" in line), None)
        if place is None:
            if (first == 1 and block[0].startswith("WEBVTT")) or block[0].split(" ")[0] in NOTES:
                continue
            flaws.append(Flaw(first, f'no times in "{block[0][:40]}"', "00:01:00.000 --> …"))
            continue
        timing = TIMING.match(block[place])
        time = Clock().seconds(timing[1]) if timing else None
        number += 1
        if time is None:
            flaws.append(Flaw(first + place, f'no time in "{block[place][:40]}"'))
            continue
        title = unescape(TAGS.sub("", " ".join(block[place + 1 :]))).strip()
        sections.append(Section("", title, time, first + place))
    if not number and not flaws:
        flaws.append(Flaw(1, "no cue in it"))
    return Transcript(tuple(sections), tuple(flaws))


def _blocks(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Runs of lines that are not blank, with the number of their first."""
    found: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            inside = False
        elif inside:
            found[-1][1].append(line.strip())
        else:
            found.append((number, [line.strip()]))
            inside = True
    return found


def youtube(text: str) -> Transcript:
    """Lines such as ``1:02:03 Title``; other lines are loose."""
    sections, loose = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        match = LISTED.match(line) or LISTED_LAST.match(line)
        time = Clock().seconds(match["time"]) if match else None
        if match is None or time is None:
            loose += bool(line.strip())
        else:
            sections.append(Section("", match["title"].strip(), time, number))
    flaws = [] if sections else [Flaw(1, "no line with a time in it", "write 1:02:03 Title")]
    return Transcript(tuple(sections), tuple(flaws), loose)


def podcast(text: str) -> Transcript:
    """Podcasting 2.0 chapters, as JSON; those that are not in the contents are loose."""
    try:
        found = json.loads(text)
    except ValueError as error:
        return Transcript((), (Flaw(getattr(error, "lineno", 1), f"not JSON: {error}"),))
    listed = found.get("chapters") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        return Transcript((), (Flaw(1, 'no list "chapters" in it'),))
    sections, flaws, loose = [], [], 0
    for number, chapter in enumerate(listed):
        time = chapter.get("startTime") if isinstance(chapter, dict) else None
        if isinstance(time, bool) or not isinstance(time, int | float):
            flaws.append(Flaw(1, f"chapters[{number}]: startTime must be a number"))
        elif chapter.get("toc") is False:
            loose += 1
        else:
            sections.append(Section("", str(chapter.get("title", "")).strip(), float(time)))
    return Transcript(tuple(sections), tuple(flaws), loose)


def ffmetadata(text: str) -> Transcript:
    """ffmpeg's metadata: chapters with a time base."""
    sections: list[Section] = []
    flaws: list[Flaw] = []
    parts = re.split(r"^\[(\w+)\][ \t]*$", text, flags=re.MULTILINE)
    if not parts[0].startswith(";FFMETADATA"):
        flaws.append(Flaw(1, 'does not begin with ";FFMETADATA1"'))
    place = parts[0].count("\n") + 1
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name.upper() == "CHAPTER":
            found = _chapter(body, place)
            if isinstance(found, Flaw):
                flaws.append(found)
            else:
                sections.append(found)
        place += body.count("\n")
    if not sections and not flaws:
        flaws.append(Flaw(1, "no [CHAPTER] in it"))
    return Transcript(tuple(sections), tuple(flaws))


def _chapter(body: str, line: int) -> Section | Flaw:
    fields: dict[str, str] = {}
    for entry in re.split(r"(?<!\\)\n", body):
        key, equals, value = _split(entry)
        if equals and not entry.startswith((";", "#")):
            fields[key.strip().upper()] = value
    try:
        base = Fraction(fields.get("TIMEBASE", "1/1000000000").strip())
        time = float(int(fields["START"].strip()) * base)
    except (KeyError, ValueError, ZeroDivisionError):
        return Flaw(line, "a [CHAPTER] without good START and TIMEBASE")
    return Section(
        "", re.sub(r"\\(.)", r"\1", fields.get("TITLE", ""), flags=re.S).strip(), time, line
    )


def _split(entry: str) -> tuple[str, str, str]:
    """Key and value at the first equals sign that is not escaped."""
    match = re.match(r"((?:[^=\\]|\\.)*)(=)(.*)", entry, re.DOTALL)
    parts: Any = match.groups() if match else (entry, "", "")
    return parts[0], parts[1], parts[2]
