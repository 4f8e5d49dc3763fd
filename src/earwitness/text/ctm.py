"""CTM: a line a word, as recognisers write it."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from earwitness.text.sections import Flaw

FARTHEST = 1e12  # seconds from the start


class TimedWord(NamedTuple):
    """A word of a recording, with its times in seconds, and how sure a recogniser was."""

    recording: str
    word: str
    start: float
    end: float
    confidence: float | None


def read_ctm(text: str) -> tuple[list[TimedWord], list[Flaw]]:
    """All words, sorted by time within their recording, and what is wrong.

    >>> read_ctm("a 1 0.50 0.25 cherry 0.9\\n;; a comment\\na 1 0.1 0.2 the")[0][0].word
    'the'
    """
    words, flaws = list[TimedWord](), list[Flaw]()
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or line.lstrip().startswith(";;"):
            continue
        found = _word(parts)
        if isinstance(found, str):
            flaws.append(Flaw(number, found, "write: recording channel start duration word"))
        else:
            words.append(found)
    return sorted(words, key=lambda one: (one.recording, one.start)), flaws


def _word(parts: list[str]) -> TimedWord | str:
    if len(parts) not in (5, 6):
        return f"has {len(parts)} fields, not 5 or 6"
    recording, channel, *numbers = parts[:4]
    if parts[4].startswith("<ALT"):
        return "has alternatives"
    try:
        start, length = map(float, numbers)
        confidence = float(parts[5]) if len(parts) == 6 else None
    except ValueError:
        return "has a time or a confidence that is no number"
    if not (abs(start) <= FARTHEST and 0 <= length <= FARTHEST):
        return "has a time that is none"
    if confidence is not None and not isfinite(confidence):
        return "has a confidence that is none"
    end = round(start + length, 6)
    return TimedWord(f"{recording} {channel}", parts[4], start, end, confidence)
