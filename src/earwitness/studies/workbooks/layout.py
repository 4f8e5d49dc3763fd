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


def cell_text(cell: Cell) -> str:
    """Return a cell as trimmed text; for a link formula, the displayed text."""
    if isinstance(cell, CellFormula):
        shown = HYPERLINK_FORMULA.fullmatch(cell.text)
        return shown[1].strip() if shown else cell.text
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).translate(INVISIBLE_CHARACTERS).strip()


def is_blank(cell: Cell) -> bool:
    """Return whether a cell is blank: empty, n/a, or a dash.

    >>> is_blank(" N/A "), is_blank(0), is_blank("0")
    (True, False, False)
    """
    return not isinstance(cell, CellFormula) and cell_text(cell).casefold() in BLANK_TEXTS


def is_formula(cell: Cell) -> bool:
    """Return whether a cell is a formula other than a link."""
    return isinstance(cell, CellFormula) and HYPERLINK_FORMULA.fullmatch(cell.text) is None


def caption_hash(caption: str) -> str:
    """Return the hash of a caption, independent of white space and Unicode form.

    >>> caption_hash("Birds  sing.\\n") == caption_hash("Birds sing.")
    True
    """
    plain = " ".join(
        unicodedata.normalize("NFC", caption.replace(CARRIAGE_RETURN_CODE, " ")).split()
    )
    return hashlib.sha256(plain.encode()).hexdigest()[:CAPTION_HASH_CHARACTERS]


def read_number(cell: Cell, dimension: Dimension) -> float | Fault | None:
    """Return the value of a cell on a dimension, None for a blank, or a fault."""
    if is_blank(cell):
        return None
    if isinstance(cell, CellFormula):
        return Fault(
            "", f'must be a number, got the formula "{cell.text}"', "write the number itself"
        )
    if isinstance(cell, date | time | timedelta):
        message = f"must be a number, got the date {cell}"
        return Fault("", message, "the spreadsheet converted it to a date: write the number alone")
    value = None if isinstance(cell, bool) else _parse_number(cell_text(cell), dimension)
    if value is None:
        return Fault("", f'must be a number, got "{cell_text(cell)}"', _range_remedy(dimension))
    if dimension.allows(value):
        return dimension.exactly(value)
    message = f"must be {dimension.range}, got {cell_text(cell)}"
    return Fault("", message, _sign_remedy(value, dimension) or _range_remedy(dimension))


def _parse_number(written: str, dimension: Dimension) -> float | None:
    plain = unicodedata.normalize("NFKC", written.replace("⁄", "/")).replace("−", "-")
    plain = plain.replace("–", "-")
    if (share := FRACTION.fullmatch(plain)) is not None:
        most = max(abs(dimension.low), abs(dimension.high))
        if _parse_decimal(share["of"]) != most:
            return None
        plain = share["value"]
    return _parse_decimal(plain.replace("- ", "-"))


def _parse_decimal(written: str) -> float | None:
    written = written.strip()
    return float(written.replace(",", ".")) if DECIMAL_NUMBER.fullmatch(written) else None


def _sign_remedy(value: float, dimension: Dimension) -> str:
    """Return the remedy for a penalty above 0."""
    if dimension.role == "penalty" and value > 0 and dimension.allows(-value):
        return f"a penalty is 0 or below: write −{value:g}"
    return ""


def _range_remedy(dimension: Dimension) -> str:
    return f"write a number from {dimension.range}, or leave it blank"


# --- Headers and blocks --------------------------------------------------------------------------
# Column names are recognized in English and French, with ranges in brackets and with typing errors.
# A sheet may have several blocks, below each other or side by side, each with its own header.


COLUMN_SPELLINGS: dict[str, tuple[str, ...]] = {
    "number": ("no", "number", "nr", "numero"),
    "record": ("recordid", "record", "recording", "recordingid", "clip", "clipid", "id",
               "enregistrement", "extrait"),
    "label": ("caption", "captions", "legende", "lettre"),
    "text": ("text", "texte", "captiontext", "description", "descriptions"),
    "synthesised": ("synthesised", "synthesized", "synthetic", "synthetise", "synthese"),
    "comment": ("comments", "comment", "commentaires", "commentaire", "remarks", "remarques"),
    "key": ("key",),
}  # fmt: skip
MIN_SIMILARITY_PERCENT = 80  # similarity of a misspelled name to the correct one
MIN_LETTERS_FOR_SLIPS = 4  # shorter names must match exactly
MIN_HEADER_DIMENSIONS = 2  # dimensions in a header row
ASSESSMENT_SHEETS = ("assessment", "assessments", "evaluation", "evaluations")
EXAMPLE_SHEETS = ("example", "examples", "exemple", "exemples")


@dataclass(frozen=True)
class SheetBlock:
    """Columns by role (from 0), header row, and end of the rows below (exclusive)."""

    sheet: Sheet
    head: int
    end: int
    columns: Mapping[str, int]

    @property
    def caption(self) -> str:
        """Role of the column of captions."""
        return "text" if "text" in self.columns else "label"


def normalize_spelling(name: str) -> str:
    """Return a name without brackets, accents, punctuation and case.

    >>> normalize_spelling(" Précision (1–5) *"), normalize_spelling("synthesized?")
    ('precision', 'synthesized')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name)
    letters = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(one for one in letters if one.isalnum() and one.isascii())


def assessment_blocks(sheets: tuple[Sheet, ...], rubric: Rubric) -> list[SheetBlock]:
    """Return all blocks of assessment sheets, or of all sheets except examples."""
    named = [one for one in sheets if normalize_spelling(one.name) in ASSESSMENT_SHEETS]
    others = [one for one in sheets if normalize_spelling(one.name) not in EXAMPLE_SHEETS]
    return [block for sheet in named or others for block in find_blocks(sheet, rubric)]


def find_blocks(sheet: Sheet, rubric: Rubric) -> Iterator[SheetBlock]:
    """Yield the blocks of a sheet."""
    roles = _column_roles(rubric)
    heads = {
        number: groups
        for number, row in sheet.rows.items()
        if (groups := [group for group in _group_columns(row, roles) if _is_head(group, rubric)])
    }
    ends = [*list(heads)[1:], max(sheet.rows, default=0) + 1][: len(heads)]
    for (number, groups), end in zip(heads.items(), ends, strict=True):
        for columns in groups:
            yield SheetBlock(sheet, number, end, columns)


def row_heading(sheet: Sheet, row: int) -> str:
    """Return the text of a row with a single filled cell, such as a dataset name."""
    said = [cell_text(one) for one in sheet.rows.get(row, ()) if cell_text(one)]
    return said[0] if len(said) == 1 else ""


def _column_roles(rubric: Rubric) -> dict[str, str]:
    """Return roles by spelling; dimensions in all languages."""
    roles = {name: role for role, names in COLUMN_SPELLINGS.items() for name in names}
    for language in LANGUAGES:
        localized = (
            BUILT_IN_RUBRICS[rubric.name](language) if rubric.name in BUILT_IN_RUBRICS else rubric
        )
        for dimension in localized.dimensions:
            roles |= {
                normalize_spelling(dimension.shown): dimension.name,
                normalize_spelling(dimension.name): dimension.name,
            }
    for dimension in rubric.dimensions:
        roles |= {normalize_spelling(dimension.shown): dimension.name}
    return roles


def _match_role(name: str, roles: Mapping[str, str]) -> str:
    plain = normalize_spelling(name)
    if plain in roles:
        return roles[plain]
    long = [spelling for spelling in roles if len(spelling) >= MIN_LETTERS_FOR_SLIPS]
    if len(plain) < MIN_LETTERS_FOR_SLIPS:
        return ""
    close = extractOne(plain, long, scorer=ratio, score_cutoff=MIN_SIMILARITY_PERCENT)
    return roles[close[0]] if close else ""


def _group_columns(row: Row, roles: Mapping[str, str]) -> list[dict[str, int]]:
    """Return columns by role; a repeated role starts another block."""
    groups: list[dict[str, int]] = [{}]
    for column, cell in enumerate(row):
        if not isinstance(cell, str) or len(cell) > 60 or not (role := _match_role(cell, roles)):
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


def unknown_columns(block: SheetBlock, rubric: Rubric) -> list[str]:
    """Return the unknown names in the header of a block."""
    roles, cells = _column_roles(rubric), block.sheet.rows[block.head]
    return [cell_text(cell) for cell in cells if isinstance(cell, str) and cell.strip()
            and not _match_role(cell, roles)]  # fmt: skip


# --- Table of caption authors --------------------------------------------------------------------
# CSV or JSON Lines with the columns ``item``, ``system`` and ``caption`` (text) or ``hash``.


Caption = tuple[str, str]  # clip and hash of the caption
KEY_COLUMNS = ("item", "system", "caption", "hash")


def read_key(path: str | PathLike[str]) -> dict[Caption, str]:
    """Read systems by clip and caption hash; raise InputError with all faults."""
    table, _ = read_table(RecordSource(path), KEY_COLUMNS)
    absent = [name for name in KEY_COLUMNS[:2] if name not in table.names]
    faults = [Fault(name, "missing column") for name in absent]
    if not {"caption", "hash"} & {*table.names}:
        faults.append(Fault("caption", "missing column", "add a column caption or hash"))
    table.wrong.add((1, fault) for fault in faults)
    table.wrong.refuse()
    systems: dict[Caption, str] = {}
    table.wrong.add(_read_key_rows(table, systems))
    table.wrong.refuse()
    return systems


def _read_key_rows(table: InputTable, systems: dict[Caption, str]) -> Iterator[tuple[int, Fault]]:
    words = "hash" if "hash" in table.names else "caption"
    cells = (table.cells(name) for name in ("item", "system", words))
    for line, item, system, caption in zip(table.lines, *cells, strict=True):
        if not (is_name(item) and is_name(system) and isinstance(caption, str) and caption):
            yield line, Fault("", "item, system and caption are required")
            continue
        key = str(item), caption if words == "hash" else caption_hash(caption)
        if systems.setdefault(key, str(system)) != system:
            message = f'"{systems[key]}" and "{system}" have the same caption for "{item}"'
            yield (
                line,
                Fault(
                    "caption", message, "remove one of them: their ratings cannot be distinguished"
                ),
            )
