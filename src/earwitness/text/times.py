"""Timestamp formats and parsing of clock times such as 1:02:03."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import Any

from earwitness.errors import UsageError

PATTERN_TIMEOUT_SECONDS = 1.0  # time limit of a user's regular expression on one text
# hours are optional
FREE_TIME_PATTERN = r"(?:(?P<h>\d{1,4}):)?(?P<m>\d{1,3}):(?P<s>[0-5]\d(?:[.,]\d+)?)"
# Such a time in a text, not as a part of a word, a URL or a longer number.
TIME_PATTERN = r"(?<![\w:./])[\[(]?(?:\d{1,4}:)?\d{1,3}:[0-5]\d(?:[.,]\d+)?[\])]?(?!\d|:\d)"
TIMESTAMP_FORMATS = {
    "HH:MM:SS": r"(?P<h>\d{2}):(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "H:MM:SS": r"(?P<h>\d{1,2}):(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "MM:SS": r"(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "M:SS": r"(?P<m>\d{1,2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "HHMMSS": r"(?P<h>\d{2})(?P<m>\d{2})(?P<s>\d{2}(?:[.,]\d+)?)",
    "MMSS": r"(?P<m>\d{2})(?P<s>\d{2}(?:[.,]\d+)?)",
}
UNIT_GROUP_NAMES = {"h": ("h", "hours"), "m": ("m", "minutes", "min"), "s": ("s", "seconds", "sec")}
UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1}
BRACKETS = {"[": "]", "(": ")"}


class PatternTimeout(Exception):
    """A user's regular expression took too long on a text."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} took more than {PATTERN_TIMEOUT_SECONDS:g} s")


@dataclass(frozen=True)
class TimestampFormat:
    """Time format: one of ``TIMESTAMP_FORMATS``, a regular expression with groups, or any."""

    form: str = ""

    def __post_init__(self) -> None:
        if self.form and self.form not in TIMESTAMP_FORMATS:
            groups = compile_pattern(self.form, "timestamp_format").groupindex
            if not {name for names in UNIT_GROUP_NAMES.values() for name in names} & groups.keys():
                listed = ", ".join(TIMESTAMP_FORMATS)
                raise UsageError(
                    f'timestamp_format "{self.form}" — use one of {listed}, or a regular '
                    "expression with named groups h, m and s"
                )

    def seconds(self, text: str) -> float | None:
        """Return the time in a text in seconds, or None.

        >>> TimestampFormat().seconds("[1:02:03,5]"), TimestampFormat().seconds("soon")
        (3723.5, None)
        >>> TimestampFormat("MMSS").seconds("0130")
        90.0
        """
        text = strip_brackets(text.strip())
        if self.form and self.form not in TIMESTAMP_FORMATS:
            pattern = compile_pattern(self.form, "timestamp_format")
            try:
                match = pattern.match(text, timeout=PATTERN_TIMEOUT_SECONDS)
            except TimeoutError:
                raise PatternTimeout("timestamp_format") from None
        else:
            match = re.fullmatch(TIMESTAMP_FORMATS.get(self.form, FREE_TIME_PATTERN), text)
        if match is None or (not self.form and match["h"] and int(match["m"]) > 59):
            return None
        return _sum_units(match.groupdict())


def _sum_units(groups: dict[str, Any]) -> float | None:
    total = 0.0
    for unit, names in UNIT_GROUP_NAMES.items():
        text = next((groups[name] for name in names if groups.get(name)), "0")
        try:
            total += UNIT_SECONDS[unit] * float(text.replace(",", "."))
        except ValueError:
            return None
    return total


def strip_brackets(text: str) -> str:
    """Return a text without surrounding brackets.

    >>> strip_brackets("(0:10)")
    '0:10'
    """
    if len(text) > 1 and BRACKETS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    return text


def compile_pattern(pattern: str, name: str) -> Any:
    """Compile a user's regular expression; raise UsageError with the option's name."""
    import regex  # imported late because the import is slow

    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise UsageError(f"{name} is not a regular expression: {error}") from None


def format_clock(milliseconds: int, mark: str) -> str:
    """Return a time as subtitles have it; ``mark`` is the decimal mark.

    >>> format_clock(3_723_004, ",")
    '01:02:03,004'
    """
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{mark}{rest:03}"


MAX_MILLISECONDS = 10**12
MIN_MEDIAN_MILLISECONDS = 10  # length of words; no word lasts ten seconds


def words_in_seconds(words: Any) -> Any:
    """Return words of a JSON document in seconds, also if it has them in whole milliseconds.

    >>> words_in_seconds([{"text": "Smoke", "start": 250, "end": 650}])
    [{'text': 'Smoke', 'start': 0.25, 'end': 0.65}]
    """
    if not isinstance(words, list) or not words:
        return words
    fields: list[dict[str, Any]] = [word if isinstance(word, dict) else {} for word in words]
    times: list[tuple[Any, Any]] = [(word.get("start"), word.get("end")) for word in fields]
    lengths = [
        end - start
        for start, end in times
        if type(start) is type(end) is int and 0 <= start <= end <= MAX_MILLISECONDS
    ]
    if len(lengths) < len(words) or median(lengths) < MIN_MEDIAN_MILLISECONDS:
        return words
    return [
        {**word, "start": start / 1000, "end": end / 1000}
        for word, (start, end) in zip(fields, times, strict=True)
    ]
