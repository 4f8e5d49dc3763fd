"""Cells that raters fill in: numbers as people write them, names, and what is blank."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date, time, timedelta

from earwitness.formats.check import Fault
from earwitness.formats.workbooks.sheets import Cell, Formula
from earwitness.listening.rubrics import Dimension

BLANK = {"", "na", "n/a", "n.a.", "n.a", "#n/a", "-", "–", "—", "−"}
NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)")
SHARE = re.compile(r"(?P<value>.*?)\s*/\s*(?P<of>[\d.,]+)")  # 4/5
LINK = re.compile(r'=\s*HYPERLINK\s*\(\s*"[^"]*"\s*[,;]\s*"([^"]*)"\s*\)\s*', re.I)
UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
RETURN = "_x000D_"  # how workbooks spell a carriage return
HASH = 12  # characters of a caption's hash


def text(cell: Cell) -> str:
    """A cell as text without blanks around it; of a formula that is a link, what it shows."""
    if isinstance(cell, Formula):
        shown = LINK.fullmatch(cell.text)
        return shown[1].strip() if shown else cell.text
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).translate(UNSEEN).strip()


def is_blank(cell: Cell) -> bool:
    """Whether a cell for a number has none: nothing, n/a, a dash alone.

    >>> is_blank(" N/A "), is_blank(0), is_blank("0")
    (True, False, False)
    """
    return not isinstance(cell, Formula) and text(cell).casefold() in BLANK


def computed(cell: Cell) -> bool:
    """Whether a name is computed, and not just a link with a name."""
    return isinstance(cell, Formula) and LINK.fullmatch(cell.text) is None


def caption_hash(caption: str) -> str:
    """What a caption is known by, however its blanks and accents are stored.

    >>> caption_hash("Birds  sing.\\n") == caption_hash("Birds sing.")
    True
    """
    plain = " ".join(unicodedata.normalize("NFC", caption.replace(RETURN, " ")).split())
    return hashlib.sha256(plain.encode()).hexdigest()[:HASH]


def number(cell: Cell, dimension: Dimension) -> float | Fault | None:
    """A number on a dimension, None for a blank, or why it cannot be."""
    if is_blank(cell):
        return None
    if isinstance(cell, Formula):
        return Fault("", f'is a formula, got "{cell.text}"', "write the number itself")
    if isinstance(cell, date | time | timedelta):
        told = f"is a date, got {cell}"
        return Fault("", told, "a spreadsheet made a date of it: write the number alone")
    found = None if isinstance(cell, bool) else _read(text(cell), dimension)
    if found is None:
        return Fault("", f'must be a number, got "{text(cell)}"', _remedy(dimension))
    if dimension.allows(found):
        return dimension.exactly(found)
    told = f"must be {dimension.range}, got {text(cell)}"
    return Fault("", told, _sign(found, dimension) or _remedy(dimension))


def _read(written: str, dimension: Dimension) -> float | None:
    plain = unicodedata.normalize("NFKC", written.replace("⁄", "/")).replace("−", "-")
    plain = plain.replace("–", "-")
    if (share := SHARE.fullmatch(plain)) is not None:
        most = max(abs(dimension.low), abs(dimension.high))
        if _plain(share["of"]) != most:
            return None
        plain = share["value"]
    return _plain(plain.replace("- ", "-"))


def _plain(written: str) -> float | None:
    written = written.strip()
    return float(written.replace(",", ".")) if NUMBER.fullmatch(written) else None


def _sign(value: float, dimension: Dimension) -> str:
    """What to do about a penalty that adds."""
    if dimension.role == "penalty" and value > 0 and dimension.allows(-value):
        return f"a penalty is 0 or below: write −{value:g}"
    return ""


def _remedy(dimension: Dimension) -> str:
    return f"write a number from {dimension.range}, or leave it blank"
