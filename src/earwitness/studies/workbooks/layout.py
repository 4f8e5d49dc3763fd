"""Layout of rating sheets: blocks of columns, cell values and caption keys."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from os import PathLike

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extractOne

from earwitness.io.schema import Fault, is_name
from earwitness.io.source import RecordSource
from earwitness.io.tables import InputTable, read_table
from earwitness.studies.rubric import BUILT_IN_RUBRICS, Dimension, Rubric
from earwitness.studies.wording import LANGUAGES
from earwitness.studies.workbooks.open import Cell, CellFormula, Row, Sheet

# --- Cell values ---------------------------------------------------------------------------------


BLANK_TEXTS = {"", "na", "n/a", "n.a.", "n.a", "#n/a", "-", "–", "—", "−"}
DECIMAL_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)")
FRACTION = re.compile(r"(?P<value>.*?)\s*/\s*(?P<of>[\d.,]+)")  # 4/5
HYPERLINK_FORMULA = re.compile(r'=\s*HYPERLINK\s*\(\s*"[^"]*"\s*[,;]\s*"([^"]*)"\s*\)\s*', re.I)
INVISIBLE_CHARACTERS = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
CARRIAGE_RETURN_CODE = "_x000D_"  # how workbooks spell a carriage return
CAPTION_HASH_CHARACTERS = 12


def text(cell: Cell) -> str:
    """A cell as text without blanks around it; of a formula that is a link, what it shows."""
    if isinstance(cell, CellFormula):
        shown = HYPERLINK_FORMULA.fullmatch(cell.text)
        return shown[1].strip() if shown else cell.text
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).translate(INVISIBLE_CHARACTERS).strip()


def is_blank(cell: Cell) -> bool:
    """Whether a cell for a number has none: nothing, n/a, a dash alone.

    >>> is_blank(" N/A "), is_blank(0), is_blank("0")
    (True, False, False)
    """
    return not isinstance(cell, CellFormula) and text(cell).casefold() in BLANK_TEXTS


def computed(cell: Cell) -> bool:
    """Whether a name is computed, and not just a link with a name."""
    return isinstance(cell, CellFormula) and HYPERLINK_FORMULA.fullmatch(cell.text) is None


def caption_hash(caption: str) -> str:
    """What a caption is known by, however its blanks and accents are stored.

    >>> caption_hash("Birds  sing.\\n") == caption_hash("Birds sing.")
    True
    """
    plain = " ".join(
        unicodedata.normalize("NFC", caption.replace(CARRIAGE_RETURN_CODE, " ")).split()
    )
    return hashlib.sha256(plain.encode()).hexdigest()[:CAPTION_HASH_CHARACTERS]


def number(cell: Cell, dimension: Dimension) -> float | Fault | None:
    """A number on a dimension, None for a blank, or why it cannot be."""
    if is_blank(cell):
        return None
    if isinstance(cell, CellFormula):
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
    if (share := FRACTION.fullmatch(plain)) is not None:
        most = max(abs(dimension.low), abs(dimension.high))
        if _plain(share["of"]) != most:
            return None
        plain = share["value"]
    return _plain(plain.replace("- ", "-"))


def _plain(written: str) -> float | None:
    written = written.strip()
    return float(written.replace(",", ".")) if DECIMAL_NUMBER.fullmatch(written) else None


def _sign(value: float, dimension: Dimension) -> str:
    """What to do about a penalty that adds."""
    if dimension.role == "penalty" and value > 0 and dimension.allows(-value):
        return f"a penalty is 0 or below: write −{value:g}"
    return ""


def _remedy(dimension: Dimension) -> str:
    return f"write a number from {dimension.range}, or leave it blank"


# --- Headers and blocks --------------------------------------------------------------------------
# Names are known however they are spelt: in English or French, with ranges in brackets, with slips.
# A sheet may have several blocks, below each other or side by side, each with its own names.


COLUMN_SPELLINGS: dict[str, tuple[str, ...]] = {
    "number": ("no", "number", "nr", "numero"),
    "record": ("recordid", "record", "recording", "recordingid", "clip", "clipid", "id",
               "enregistrement", "extrait"),
    "label": ("caption", "captions", "legende"),
    "text": ("text", "texte", "captiontext", "description", "descriptions"),
    "synthesised": ("synthesised", "synthesized", "synthetic", "synthetise", "synthese"),
    "comment": ("comments", "comment", "commentaires", "commentaire", "remarks", "remarques"),
    "key": ("key",),
}  # fmt: skip
MIN_SIMILARITY_PERCENT = 80  # how alike a slip is to what was meant
MIN_LETTERS_FOR_SLIPS = 4  # letters of names that may have slips
MIN_HEADER_DIMENSIONS = 2  # dimensions that make a row one of names
ASSESSMENT_SHEETS = ("assessment", "assessments", "evaluation", "evaluations")
EXAMPLE_SHEETS = ("example", "examples", "exemple", "exemples")


@dataclass(frozen=True)
class SheetBlock:
    """Columns by role, from 0; the row of their names, and the rows below, half-open."""

    sheet: Sheet
    head: int
    end: int
    columns: Mapping[str, int]

    @property
    def caption(self) -> str:
        """The role of the column with the words of captions."""
        return "text" if "text" in self.columns else "label"


def spelt(name: str) -> str:
    """A name without what people write differently.

    >>> spelt(" Précision (1–5) *"), spelt("synthesized?")
    ('precision', 'synthesized')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name)
    letters = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(one for one in letters if one.isalnum() and one.isascii())


def assessed(sheets: tuple[Sheet, ...], rubric: Rubric) -> list[SheetBlock]:
    """All blocks of the sheets for assessments: those called so, else all but examples."""
    named = [one for one in sheets if spelt(one.name) in ASSESSMENT_SHEETS]
    others = [one for one in sheets if spelt(one.name) not in EXAMPLE_SHEETS]
    return [block for sheet in named or others for block in blocks(sheet, rubric)]


def blocks(sheet: Sheet, rubric: Rubric) -> Iterator[SheetBlock]:
    """Blocks of a sheet."""
    known = _known(rubric)
    heads = {
        number: groups
        for number, row in sheet.rows.items()
        if (groups := [one for one in _groups(row, known) if _is_head(one, rubric)])
    }
    ends = [*list(heads)[1:], max(sheet.rows, default=0) + 1][: len(heads)]
    for (number, groups), end in zip(heads.items(), ends, strict=True):
        for columns in groups:
            yield SheetBlock(sheet, number, end, columns)


def heading(sheet: Sheet, row: int) -> str:
    """What a row says if it says a single thing, such as the name of a dataset."""
    said = [text(one) for one in sheet.rows.get(row, ()) if text(one)]
    return said[0] if len(said) == 1 else ""


def _known(rubric: Rubric) -> dict[str, str]:
    """Roles by the spelling of their names; dimensions in all languages."""
    known = {name: role for role, names in COLUMN_SPELLINGS.items() for name in names}
    for language in LANGUAGES:
        own = BUILT_IN_RUBRICS[rubric.name](language) if rubric.name in BUILT_IN_RUBRICS else rubric
        for one in own.dimensions:
            known |= {spelt(one.shown): one.name, spelt(one.name): one.name}
    for one in rubric.dimensions:
        known |= {spelt(one.shown): one.name}
    return known


def _role(name: str, known: Mapping[str, str]) -> str:
    plain = spelt(name)
    if plain in known:
        return known[plain]
    long = [one for one in known if len(one) >= MIN_LETTERS_FOR_SLIPS]
    if len(plain) < MIN_LETTERS_FOR_SLIPS:
        return ""
    close = extractOne(plain, long, scorer=ratio, score_cutoff=MIN_SIMILARITY_PERCENT)
    return known[close[0]] if close else ""


def _groups(row: Row, known: Mapping[str, str]) -> list[dict[str, int]]:
    """Columns by role; where a role comes again, another block begins."""
    groups: list[dict[str, int]] = [{}]
    for column, cell in enumerate(row):
        if not isinstance(cell, str) or len(cell) > 60 or not (role := _role(cell, known)):
            continue
        if role in groups[-1]:
            groups.append({})
        groups[-1][role] = column
    return groups


def _is_head(columns: Mapping[str, int], rubric: Rubric) -> bool:
    dimensions = sum(name in columns for name in rubric.names)
    return dimensions >= min(MIN_HEADER_DIMENSIONS, len(rubric.names)) and bool(
        {"text", "label"} & {*columns}
    )


def unknown(block: SheetBlock, rubric: Rubric) -> list[str]:
    """Names in the head of a block that say nothing here."""
    known, cells = _known(rubric), block.sheet.rows[block.head]
    return [text(one) for one in cells if isinstance(one, str) and one.strip()
            and not _role(one, known)]  # fmt: skip


# --- Table of caption authors --------------------------------------------------------------------
# CSV or JSON lines with the columns ``item``, ``system`` and ``caption`` (the words) or ``hash``.


Caption = tuple[str, str]  # the clip, and the hash of the caption
KEY_COLUMNS = ("item", "system", "caption", "hash")


def read_key(path: str | PathLike[str]) -> dict[Caption, str]:
    """Systems by clip and hash of the caption; all that is wrong is told at once."""
    table, _ = read_table(RecordSource(path), KEY_COLUMNS)
    absent = [name for name in KEY_COLUMNS[:2] if name not in table.names]
    told = [Fault(name, "there is no such column") for name in absent]
    if not {"caption", "hash"} & {*table.names}:
        told.append(Fault("caption", "there is no such column", "or a column hash"))
    table.wrong.add((1, one) for one in told)
    table.wrong.refuse()
    found: dict[Caption, str] = {}
    table.wrong.add(_gathered(table, found))
    table.wrong.refuse()
    return found


def _gathered(table: InputTable, found: dict[Caption, str]) -> Iterator[tuple[int, Fault]]:
    words = "hash" if "hash" in table.names else "caption"
    cells = (table.cells(name) for name in ("item", "system", words))
    for line, item, system, caption in zip(table.lines, *cells, strict=True):
        if not (is_name(item) and is_name(system) and isinstance(caption, str) and caption):
            yield line, Fault("", "needs an item, a system and a caption")
            continue
        key = str(item), caption if words == "hash" else caption_hash(caption)
        if found.setdefault(key, str(system)) != system:
            told = f'"{found[key]}" and "{system}" have the same caption of "{item}"'
            yield line, Fault("caption", told, "which of them was rated cannot be told")
