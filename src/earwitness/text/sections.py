"""A transcript in sections: each with its text, and with a title and a time where it has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


def plain_lines(text: str) -> str:
    """A text whose lines end in LF, without a byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


class Section(NamedTuple):
    """A chapter of a transcript; ``line`` is where it begins."""

    text: str
    title: str | None = None
    time: float | None = None
    line: int = 1


class Flaw(NamedTuple):
    """What is wrong in a line of a transcript."""

    line: int
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class Transcript:
    """Sections in their order; ``loose`` are lines that belong to none of them."""

    sections: tuple[Section, ...]
    flaws: tuple[Flaw, ...] = ()
    loose: int = 0

    @property
    def timed(self) -> bool:
        """Whether every section has a time."""
        return bool(self.sections) and all(s.time is not None for s in self.sections)

    @property
    def times(self) -> list[float]:
        """Where sections begin."""
        return [section.time for section in self.sections if section.time is not None]

    @property
    def titles(self) -> list[tuple[str, float]]:
        """Titles with their own times."""
        return [
            (section.title, section.time)
            for section in self.sections
            if section.title is not None and section.time is not None
        ]

    @property
    def text(self) -> str:
        """All that was said, without titles."""
        return " ".join(section.text for section in self.sections if section.text)
