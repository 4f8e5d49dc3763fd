"""What is scored: an output of a system for an item, beside its references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Titles = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """The spine: every score and every rating is about one output of one system for one item."""

    item: str
    system: str


@dataclass(frozen=True, slots=True)
class Item:
    """What belongs to neither side: facts about the thing that was given to every system.

    ``transcript`` is what was said, ``sentences`` when each of its sentences begins, ``words`` its
    words one by one, and ``times`` when each of these begins and ends.
    """

    duration: float
    meta: Mapping[str, Any] = field(default_factory=dict)
    transcript: str | None = None
    sentences: tuple[float, ...] | None = None
    words: tuple[str, ...] = ()
    times: tuple[tuple[float, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class Chapters:
    """Where chapters begin, in seconds; the first chapter begins at 0 and needs no boundary.

    ``titles`` have times of their own; ``text`` is what was said, ``sentences`` when the sentences
    of a system's own transcript begin. None is what nobody gave.
    """

    boundaries: tuple[float, ...]
    titles: Titles | None = None
    text: str | None = None
    sentences: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What was kept of what was said: words, and the position of each in the transcript, from 1.

    Position 0 is a word that stands nowhere in the transcript, such as one that was recognised
    wrongly. A summary in words of its own has no positions: None.
    """

    text: str
    words: tuple[str, ...]
    positions: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One output with all that is needed to judge it.

    What output and references are depends on the task: Chapters, Summary.
    """

    key: Key
    item: Item
    output: Any
    references: tuple[Any, ...]
