"""Sentences of any language, by rules alone.

A sentence ends with a mark such as . ! ? … 。 ！ ？ । ؟ and what closes it. Marks of Latin writing
need a blank behind them and must not end an abbreviation, an initial or a number; a small letter
behind them means that the sentence goes on. A blank line always ends one.
"""

from __future__ import annotations

import re

CLOSING = "\"'”’»›)\\]}」』）】"
WIDE = "。！？｡"  # need no blank
MARKS = ".!?…।॥؟۔։።᠃"
BREAK = re.compile(
    rf"(?P<wide>[{WIDE}]+[{CLOSING}]*)|(?P<mark>[{MARKS}]+[{CLOSING}]*)(?=\s)|\n\s*\n", re.UNICODE
)
ABBREVIATIONS = """
mr mrs ms dr prof st sr jr vs etc cf al fig no vol pp ed eds approx dept est inc ltd co corp gen col
sgt capt lt rev hon jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun e.g
i.e a.m p.m u.s u.k bzw ca usw z.b d.h u.a nr str m mme mlle
"""
SHORT = frozenset(ABBREVIATIONS.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, each without blanks around it.

    >>> sentences("Dr. Lee spoke at 9 a.m. on Monday. It rained! 今日は雨。明日は晴れ。")
    ['Dr. Lee spoke at 9 a.m. on Monday.', 'It rained!', '今日は雨。', '明日は晴れ。']
    """
    found, start = [], 0
    for match in BREAK.finditer(text):
        if match["mark"] and not _ends(text, start, match):
            continue
        found.append(text[start : match.end()])
        start = match.end()
    found.append(text[start:])
    return [" ".join(sentence.split()) for sentence in found if sentence.strip()]


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a mark of Latin writing ends a sentence."""
    behind = text[match.end() : match.end() + 50].lstrip(" \t\n\"'“‘«‹([{")
    if behind[:1].islower():
        return False
    if not match["mark"].startswith(".") or match["mark"].startswith(".."):
        return True
    word = re.split(r"[\s(\[\"'“‘]", text[max(start, match.start() - 30) : match.start()])[-1]
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial
    return word.lower() not in SHORT
