"""Sentences with the times at which they begin, from what was said piece by piece.

Pieces are cues of subtitles, or words. Their texts are joined and cut into sentences, which may
begin and end within pieces: a time within a piece is found by counting its characters, as if all
took as long. Subtitles in which no mark ends a sentence (Thai has none) are cut at the cues.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from earwitness.text.sentences import is_ended, spans
from earwitness.text.words import ALONE

UNSPACED = re.compile(f"[{ALONE}\u3000-\u303f\uff00-\uff60]")


class Piece(NamedTuple):
    """A text without blanks around it, said from ``start`` to ``end``."""

    text: str
    start: float
    end: float


class Joined(NamedTuple):
    """The text of all pieces, and the places where they begin in it."""

    text: str
    places: list[int]


def joined(pieces: Sequence[Piece]) -> Joined:
    """Pieces as one text; there is no blank between letters of scripts that have none.

    >>> joined([Piece("It is", 0, 1), Piece("dry.", 1, 2), Piece("雨", 2, 3), Piece("だ", 3, 4)])
    Joined(text='It is dry. 雨だ', places=[0, 6, 11, 12])
    """
    parts, places, length = list[str](), list[int](), 0
    for before, piece in zip([None, *pieces], pieces, strict=False):
        apart = before is not None and not _touch(before.text, piece.text)
        parts += [" " * apart, piece.text]
        places.append(length + apart)
        length = places[-1] + len(piece.text)
    return Joined("".join(parts), places)


def _touch(before: str, behind: str) -> bool:
    """Whether no blank belongs between two texts."""
    return bool(UNSPACED.match(before[-1]) and UNSPACED.match(behind))


def timed_sentences(pieces: Sequence[Piece], *, cues: bool) -> list[tuple[str, float]]:
    """Sentences of pieces in the order of their starts, each with its own start.

    A piece ends at the latest where the next one begins.

    >>> timed_sentences([Piece("Hi. It", 0, 6), Piece("rains.", 6, 9)], cues=True)
    [('Hi.', 0.0), ('It rains.', 4.0)]
    """
    pieces = [piece for piece in pieces if piece.text]
    text, places = joined(pieces)
    whole = spans(text)
    if cues and len(whole) == 1 and not is_ended(text):
        return [(piece.text, piece.start) for piece in pieces]
    starts = [piece.start for piece in pieces]
    nexts = [*starts, float("inf")][1:]
    ends = [min(piece.end, after) for piece, after in zip(pieces, nexts, strict=True)]
    found = []
    for begin, end in whole:
        row = bisect_right(places, begin) - 1
        part = (begin - places[row]) / len(pieces[row].text)
        time = starts[row] + part * (ends[row] - starts[row])
        found.append((text[begin:end], min(time, ends[row])))
    return found
