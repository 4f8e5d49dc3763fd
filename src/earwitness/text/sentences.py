"""Sentences of any language, by rules alone.

A sentence ends with a mark such as . ! ? … 。 ！ ？ । ؟ and what closes it. Marks that mean nothing
else need no blank behind them; those of Latin writing need one (or a letter of a script without
blanks) and must not end an abbreviation, an initial or a number, and a small letter behind them
means that the sentence goes on. A blank line always ends one.
"""

from __future__ import annotations

import re

from earwitness.text.words import ALONE

CLOSING = "\"'”’»›)\\]}」』）】"
PLAIN = "。！？｡।॥။។៕"  # mean nothing else
MARKS = ".!?…؟۔։።፧᠃᠉꓿᱾"
BREAK = re.compile(
    rf"(?:[{PLAIN}]|．(?!\d))+[{CLOSING}]*|(?P<mark>[{MARKS}]+[{CLOSING}]*)(?=[\s{ALONE}])|\n\s*\n"
)
ENDED = re.compile(rf"[{PLAIN}．{MARKS}][{CLOSING}]*\Z")
ABBREVIATIONS = """
mr mrs ms dr prof st sr jr vs etc cf al eds approx dept est inc ltd co corp gen col sgt capt lt rev
hon e.g i.e a.m p.m u.s u.k bzw ca usw z.b d.h u.a nr str mme mlle
"""
SHORT = frozenset(ABBREVIATIONS.split())
BEFORE_NUMBERS = """
no fig vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun m
"""
NUMBERED = frozenset(BEFORE_NUMBERS.split())  # words of their own elsewhere
OPENING = " \t\n\"'“‘«‹([{"


def spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end, without blanks around them.

    >>> spans("It rained!  今日は雨。")
    [(0, 10), (12, 17)]
    """
    found, start = list[tuple[int, int]](), 0
    for match in BREAK.finditer(text):
        if not match["mark"] or _ends(text, start, match):
            found.append((start, match.end()))
            start = match.end()
    found.append((start, len(text)))
    whole = ((text[a:b], a, b) for a, b in found)
    return [
        (a + len(own) - len(own.lstrip()), b - len(own) + len(own.rstrip()))
        for own, a, b in whole
        if own.strip()
    ]


def sentences(text: str) -> list[str]:
    """The sentences of a text, blanks between words made one.

    >>> sentences("Dr. Lee spoke at 9 a.m. on Monday. It rained! 今日は雨。明日は晴れ。")
    ['Dr. Lee spoke at 9 a.m. on Monday.', 'It rained!', '今日は雨。', '明日は晴れ。']
    """
    return [" ".join(text[start:end].split()) for start, end in spans(text)]


def is_ended(text: str) -> bool:
    """Whether a mark ends the text.

    >>> is_ended("so it goes"), is_ended("So it goes.”")
    (False, True)
    """
    return ENDED.search(text) is not None


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a mark of Latin writing ends a sentence."""
    behind = text[match.end() : match.end() + 50].lstrip(OPENING)
    if behind[:1].islower():
        return False
    if not match["mark"].startswith(".") or match["mark"].startswith(".."):
        return True
    word = re.split(r"[\s(\[\"'“‘]", text[max(start, match.start() - 30) : match.start()])[-1]
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial
    if word.lower() in NUMBERED:
        return not behind[:1].isdigit()
    return word.lower() not in SHORT
