"""Rule-based sentence splitting, and sentences with start times."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from earwitness.text.words import UNSPACED_SCRIPTS

# --- Sentence splitting --------------------------------------------------------------------------
# A sentence ends with a mark such as . ! ? … 。 ！ ？ । ؟ and closing quotes or brackets.
# Unambiguous marks need no space after them. Latin marks need one (or a letter of a script without
# spaces), must not end an abbreviation, an initial or a number, and a lower-case letter after them
# continues the sentence. A blank line always ends a sentence.


CLOSING_MARKS = "\"'”’»›)\\]}」』）】"
UNAMBIGUOUS_MARKS = "。！？｡।॥။។៕"  # used only at the end of sentences
AMBIGUOUS_MARKS = ".!?…؟۔։።፧᠃᠉꓿᱾"
SENTENCE_BREAK = re.compile(
    rf"(?:[{UNAMBIGUOUS_MARKS}]|．(?!\d))+[{CLOSING_MARKS}]*|(?P<mark>[{AMBIGUOUS_MARKS}]+[{CLOSING_MARKS}]*)(?=[\s{UNSPACED_SCRIPTS}])|\n\s*\n"
)
SENTENCE_END = re.compile(rf"[{UNAMBIGUOUS_MARKS}．{AMBIGUOUS_MARKS}][{CLOSING_MARKS}]*\Z")
ABBREVIATIONS = """
mr mrs ms dr prof st sr jr vs etc cf al eds approx dept est inc ltd co corp gen col sgt capt lt rev
hon e.g i.e a.m p.m u.s u.k bzw ca usw z.b d.h u.a nr str mme mlle
"""
ABBREVIATION_SET = frozenset(ABBREVIATIONS.split())
NUMBER_ABBREVIATIONS = """
no fig vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun m
"""
NUMBER_ABBREVIATION_SET = frozenset(NUMBER_ABBREVIATIONS.split())  # ordinary words elsewhere
OPENING_MARKS = " \t\n\"'“‘«‹([{"


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the sentences of a text, without surrounding spaces.

    >>> sentence_spans("It rained!  今日は雨。")
    [(0, 10), (12, 17)]
    """
    bounds, start = list[tuple[int, int]](), 0
    for match in SENTENCE_BREAK.finditer(text):
        if not match["mark"] or _is_sentence_end(text, start, match):
            bounds.append((start, match.end()))
            start = match.end()
    bounds.append((start, len(text)))
    parts = ((text[a:b], a, b) for a, b in bounds)
    return [
        (a + len(part) - len(part.lstrip()), b - len(part) + len(part.rstrip()))
        for part, a, b in parts
        if part.strip()
    ]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces between words.

    >>> split_sentences("Dr. Lee spoke at 9 a.m. on Monday. It rained! 今日は雨。明日は晴れ。")
    ['Dr. Lee spoke at 9 a.m. on Monday.', 'It rained!', '今日は雨。', '明日は晴れ。']
    """
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def is_ended(text: str) -> bool:
    """Whether the text ends with an end mark.

    >>> is_ended("so it goes"), is_ended("So it goes.”")
    (False, True)
    """
    return SENTENCE_END.search(text) is not None


def _is_sentence_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a Latin end mark ends a sentence."""
    following = text[match.end() : match.end() + 50].lstrip(OPENING_MARKS)
    if following[:1].islower():
        return False
    if not match["mark"].startswith(".") or match["mark"].startswith(".."):
        return True
    word = re.split(r"[\s(\[\"'“‘]", text[max(start, match.start() - 30) : match.start()])[-1]
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial
    if word.lower() in NUMBER_ABBREVIATION_SET:
        return not following[:1].isdigit()
    return word.lower() not in ABBREVIATION_SET


# --- Sentences with start times ------------------------------------------------------------------
# Pieces are cues of subtitles, or words. Their texts are joined and split into sentences, which may
# start and end within pieces: a time within a piece is interpolated by its characters. Subtitles
# without end marks (such as Thai) are split at the cues.


UNSPACED_CHARACTER = re.compile(f"[{UNSPACED_SCRIPTS}\u3000-\u303f\uff00-\uff60]")


class SpokenPiece(NamedTuple):
    """A text without surrounding spaces, spoken from ``start`` to ``end``."""

    text: str
    start: float
    end: float


class JoinedText(NamedTuple):
    """The text of all pieces, and the index at which each starts."""

    text: str
    places: list[int]


def join_pieces(pieces: Sequence[SpokenPiece]) -> JoinedText:
    """Join pieces to one text, without spaces between letters of scripts that have none.

    >>> said = [("It is", 0, 1), ("dry.", 1, 2), ("雨", 2, 3), ("だ", 3, 4)]
    >>> join_pieces([SpokenPiece(*piece) for piece in said])
    JoinedText(text='It is dry. 雨だ', places=[0, 6, 11, 12])
    """
    parts, places, length = list[str](), list[int](), 0
    for before, piece in zip([None, *pieces], pieces, strict=False):
        is_spaced = before is not None and not _is_unspaced(before.text, piece.text)
        parts += [" " * is_spaced, piece.text]
        places.append(length + is_spaced)
        length = places[-1] + len(piece.text)
    return JoinedText("".join(parts), places)


def _is_unspaced(before: str, after: str) -> bool:
    """Whether two texts are joined without a space."""
    return bool(UNSPACED_CHARACTER.match(before[-1]) and UNSPACED_CHARACTER.match(after))


def timed_sentences(pieces: Sequence[SpokenPiece], *, cues: bool) -> list[tuple[str, float]]:
    """Return the sentences of pieces with their start times, in order.

    A piece ends no later than the start of the next one.

    >>> timed_sentences([SpokenPiece("Hi. It", 0, 6), SpokenPiece("rains.", 6, 9)], cues=True)
    [('Hi.', 0.0), ('It rains.', 4.0)]
    """
    pieces = [piece for piece in pieces if piece.text]
    text, places = join_pieces(pieces)
    bounds = sentence_spans(text)
    if cues and len(bounds) == 1 and not is_ended(text):
        return [(piece.text, piece.start) for piece in pieces]
    starts = [piece.start for piece in pieces]
    nexts = [*starts, float("inf")][1:]
    ends = [min(piece.end, next_start) for piece, next_start in zip(pieces, nexts, strict=True)]
    timed = []
    for begin, end in bounds:
        row = bisect_right(places, begin) - 1
        share = (begin - places[row]) / len(pieces[row].text)
        time = starts[row] + share * (ends[row] - starts[row])
        timed.append((text[begin:end], min(time, ends[row])))
    return timed
