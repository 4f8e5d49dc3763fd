"""Times as people and programs write them: ``1:02:03``, ``2:03.5``, ``[0:10]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import regex

from earwitness.errors import UsageError

PATIENCE = 1.0  # seconds that a user's expression may take on one text
FREE = r"(?:(?P<h>\d{1,4}):)?(?P<m>\d{1,3}):(?P<s>[0-5]\d(?:[.,]\d+)?)"  # hours may be missing
# Such a time inside a text: no part of a word, an address or a longer number.
TIME = r"(?<![\w:./])[\[(]?(?:\d{1,4}:)?\d{1,3}:[0-5]\d(?:[.,]\d+)?[\])]?(?!\d|:\d)"
CLOCKS = {
    "HH:MM:SS": r"(?P<h>\d{2}):(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "H:MM:SS": r"(?P<h>\d{1,2}):(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "MM:SS": r"(?P<m>\d{2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "M:SS": r"(?P<m>\d{1,2}):(?P<s>\d{2}(?:[.,]\d+)?)",
    "HHMMSS": r"(?P<h>\d{2})(?P<m>\d{2})(?P<s>\d{2}(?:[.,]\d+)?)",
    "MMSS": r"(?P<m>\d{2})(?P<s>\d{2}(?:[.,]\d+)?)",
}
NAMES = {"h": ("h", "hours"), "m": ("m", "minutes", "min"), "s": ("s", "seconds", "sec")}
WEIGHTS = {"h": 3600, "m": 60, "s": 1}
BRACKETS = {"[": "]", "(": ")"}


class TooSlow(Exception):
    """A user's expression took too long on a text."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} took more than {PATIENCE:g} s on it")


@dataclass(frozen=True)
class Clock:
    """How times are written: one of ``CLOCKS``, an expression with groups h, m and s, or freely."""

    form: str = ""

    def __post_init__(self) -> None:
        if self.form and self.form not in CLOCKS:
            known = compiled(self.form, "timestamp_format").groupindex
            if not {name for names in NAMES.values() for name in names} & known.keys():
                listed = ", ".join(CLOCKS)
                raise UsageError(
                    f'timestamp_format "{self.form}" — name one of {listed}, or an expression with '
                    "named groups h, m and s"
                )

    def seconds(self, text: str) -> float | None:
        """The time that a text says, or nothing.

        >>> Clock().seconds("[1:02:03,5]"), Clock("MMSS").seconds("0130"), Clock().seconds("soon")
        (3723.5, 90.0, None)
        """
        text = unwrapped(text.strip())
        if self.form and self.form not in CLOCKS:
            found = _patiently(self.form, text)
        else:
            found = re.fullmatch(CLOCKS.get(self.form, FREE), text)
        if found is None or (not self.form and found["h"] and int(found["m"]) > 59):
            return None
        return _sum(found.groupdict())


def _patiently(pattern: str, text: str) -> Any:
    try:
        return compiled(pattern, "timestamp_format").match(text, timeout=PATIENCE)
    except TimeoutError:
        raise TooSlow("timestamp_format") from None


def _sum(groups: dict[str, Any]) -> float | None:
    total = 0.0
    for unit, names in NAMES.items():
        text = next((groups[name] for name in names if groups.get(name)), "0")
        try:
            total += WEIGHTS[unit] * float(text.replace(",", "."))
        except ValueError:
            return None
    return total


def unwrapped(text: str) -> str:
    """Without brackets around it.

    >>> unwrapped("(0:10)")
    '0:10'
    """
    if len(text) > 1 and BRACKETS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    return text


def compiled(pattern: str, name: str) -> Any:
    """A user's expression; one that is none is refused by its option's name."""
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise UsageError(f"{name} is no regular expression: {error}") from None
