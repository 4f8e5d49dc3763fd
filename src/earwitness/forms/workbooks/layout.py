"""Layout of rating sheets: blocks of columns, cell values and caption keys."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta

from earwitness.core import StrPath
from earwitness.errors import CodedFault
from earwitness.forms.workbooks.open import (
    MAX_COLUMNS,
    Cell,
    CellFormula,
    Row,
    Sheet,
    column_letters,
)
from earwitness.forms.workbooks.wording import fault
from earwitness.io.schema import Fault, is_name
from earwitness.io.source import RecordSource
from earwitness.io.tables import InputTable, read_table
from earwitness.ratings.rubric import BUILT_IN_RUBRICS, LANGUAGES, Dimension, Rubric

# --- Cell values ---------------------------------------------------------------------------------


BLANK_TEXTS = {"", "na", "n/a", "n.a.", "n.a", "#n/a", "-", "–", "—", "−"}
DECIMAL_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)")
FRACTION = re.compile(r"(?P<value>[^/]*)/\s*(?P<of>[\d.,]+)")  # 4/5
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


OFF_SCALE_CODES = ("off_scale", "penalty_sign")  # faults of numbers outside their scale


def read_number(cell: Cell, dimension: Dimension) -> float | CodedFault | None:
    """Return the value of a cell on a dimension, None for a blank, or a fault."""
    if is_blank(cell):
        return None
    if isinstance(cell, CellFormula):
        return fault("formula_for_number", name=dimension.shown, value=cell.text)
    if isinstance(cell, date | time | timedelta):
        return fault("date_for_number", name=dimension.shown, value=cell)
    value = None if isinstance(cell, bool) else _parse_number(cell_text(cell), dimension)
    if value is not None and dimension.allows(value):
        return dimension.exactly(value)
    texts = {"name": dimension.shown, "value": cell_text(cell)}
    for name in ("low", "high", "step"):
        texts[name] = f"{getattr(dimension, name):g}".replace("-", "−")
    if value is None:
        return fault("not_number", **texts)
    if dimension.role == "penalty" and value > 0 and dimension.allows(-value):
        return fault("penalty_sign", **texts, number=f"{value:g}")
    return fault("off_scale", **texts)


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


# --- Headers and blocks --------------------------------------------------------------------------
# Column names are recognized in English and French, with ranges in brackets and with typing errors.
# A sheet may have several blocks, below each other or side by side, each with its own header. Texts
# may be in an unnamed column beside labels such as "Caption 1". Other columns are questions beyond
# the rubric.


COLUMN_SPELLINGS: dict[str, tuple[str, ...]] = {
    "number": ("no", "number", "nr", "numero"),
    "record": ("recordid", "record", "recording", "recordingid", "clip", "clipid", "id", "audioid",
               "audioclipid", "soundid", "sampleid", "fileid", "enregistrement", "extrait"),
    "label": ("caption", "captions", "legende", "lettre"),
    "text": ("text", "texte", "captiontext", "description", "descriptions"),
    "synthesised": ("synthesised", "synthesized", "synthetic", "synthetise", "synthese"),
    "comment": ("comments", "comment", "commentaires", "commentaire", "remarks", "remarques"),
    "key": ("key",),
}  # fmt: skip
MIN_SIMILARITY_PERCENT = 80  # similarity of a misspelled name to the correct one
MIN_LETTERS_FOR_SLIPS = 4  # shorter names must match exactly
SYNTHESIZED_STEMS = ("synthes", "synthet")  # anywhere in a question
MIN_LETTERS_OF_TEXT = 3
MAX_NORMALIZED_CHARACTERS = 500  # of a name; the rest is cut off
MAX_NAME_CHARACTERS = 60  # longer headers are questions
LABEL = re.compile(
    r"(?:(?:captions?|l[eé]gendes?|descriptions?|textes?|texts?|systems?|syst[eè]mes?|models?|"
    r"mod[eè]les?|versions?|candidates?|options?)[\W_]*+)?(?:\d{1,4}|[a-z]|[ivx]{1,4})?[\W_]*+",
    re.I,
)
MAX_HEADING_TEXTS = 3  # in the row of a dataset name
NAME_ROLES = ("number", "record", "label", "text")  # columns in which a dataset name may be
SUMMARY_NAMES = {"mean", "average", "total", "sum", "median", "moyenne", "somme", "mediane"}
MIN_HEADER_DIMENSIONS = 2  # dimensions in a header row
ASSESSMENT_SHEETS = ("assessment", "evaluation")  # starts of names
EXAMPLE_SHEETS = ("example", "exemple")


@dataclass(frozen=True)
class SheetBlock:
    """Columns by role (from 0), header row, and end of the rows below (exclusive).

    ``questions`` has the columns of further questions by their header, ``unnamed`` those that have
    content and no header; ``start`` is the first column, before which there may be another block.
    """

    sheet: Sheet
    head: int
    end: int
    columns: Mapping[str, int]
    questions: Mapping[str, int] = field(default_factory=dict)
    unnamed: tuple[int, ...] = ()
    start: int = 0

    @property
    def caption(self) -> str:
        """Role of the column of captions."""
        return "text" if "text" in self.columns else "label"

    def is_banner(self, row: int, names: Iterable[str]) -> bool:
        """Return whether a row is merged across the captions and all named columns."""
        first, last = self.sheet.banners.get(row, (0, 0))
        return first <= self.columns[self.caption] and all(self.columns[n] <= last for n in names)

    def texts(self, row: int) -> dict[int, str]:
        """Return the texts of a row by column; if there are none, those of blocks to the left."""
        cells = enumerate(self.sheet.rows.get(row, ()))
        texts = {column: text for column, cell in cells if (text := cell_text(cell))}
        return {column: text for column, text in texts.items() if column >= self.start} or texts

    def heading(self, row: int) -> str:
        """Return the text of a row that is a dataset name, or an empty text.

        It is in the first column, or the only text and merged across columns. Two other texts may
        be beside it, but none beside a label such as "Rater:", and no merged one from the columns
        of names on.
        """
        texts = self.texts(row)
        text, count = texts[min(texts)] if texts else "", len({*texts.values()})
        banner = self.sheet.banners.get(row, (0, 0))[0]
        is_first = min(texts, default=0) <= min(self.columns.values())
        is_other = count > MAX_HEADING_TEXTS or (count > 1 and text.endswith(":"))
        is_other |= min(texts, default=0) < banner < self.columns[self.caption] and banner in texts
        is_other |= self._is_clip(texts) or normalize_spelling(text) in SUMMARY_NAMES
        is_named = is_first or (count == 1 and row in self.sheet.banners)
        return text if is_named and not is_other and any(map(str.isalpha, text)) else ""

    def is_heading(self, row: int) -> bool:
        """Return whether a row is a heading and no clip, even if there is a value beside it."""
        clip = {self.columns.get(role) for role in NAME_ROLES[1:]}
        numbers = [cell for cell in self.sheet.rows[row] if isinstance(cell, int | float)]
        return bool(self.heading(row)) and clip.isdisjoint(self.texts(row)) and len(numbers) < 2

    def unclear_heading(self, row: int) -> str:
        """Return a text that may be a dataset name in a row without a heading, or an empty text.

        Rows with the label of a caption, and no text for the number of a clip, are those of clips.
        """
        texts = self.texts(row)
        words = [self._name(texts, role) for role in NAME_ROLES]
        is_clip = self._is_clip(texts) and not any(map(str.isalpha, words[0]))
        if is_clip or normalize_spelling(texts[min(texts)] if texts else "") in SUMMARY_NAMES:
            return ""
        named = [word for word in words if any(map(str.isalpha, word)) and not is_label(word)]
        return named[-1] if named else ""

    def is_unlabelled(self, row: int) -> bool:
        """Return whether a row has neither clip nor label, so that its text may be a heading."""
        cells = (self.sheet.spread(row, self.columns[role]) for role in ("record", "label"))
        return "text" in self.columns and not any(map(cell_text, cells))

    def _is_clip(self, texts: Mapping[int, str]) -> bool:
        """Return whether a row has a clip and the label of a caption."""
        label = self._name(texts, "label") if "text" in self.columns else ""
        return bool(label and self._name(texts, "record")) and is_label(label)

    def _name(self, texts: Mapping[int, str], role: str) -> str:
        return texts.get(self.columns.get(role, -1), "")


def normalize_spelling(name: str) -> str:
    """Return a name without brackets, accents, punctuation and case.

    >>> normalize_spelling(" Précision (1–5) *"), normalize_spelling("synthesized?")
    ('precision', 'synthesized')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name[:MAX_NORMALIZED_CHARACTERS])
    letters = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(letter for letter in letters if letter.isalnum() and letter.isascii())


def assessment_blocks(sheets: tuple[Sheet, ...], rubric: Rubric) -> list[SheetBlock]:
    """Return all blocks of assessment sheets, or of all sheets except examples."""
    named = [
        sheet for sheet in sheets if normalize_spelling(sheet.name).startswith(ASSESSMENT_SHEETS)
    ]
    others = [
        sheet for sheet in sheets if not normalize_spelling(sheet.name).startswith(EXAMPLE_SHEETS)
    ]
    return [block for sheet in named or others for block in find_blocks(sheet, rubric)]


def find_blocks(sheet: Sheet, rubric: Rubric) -> Iterator[SheetBlock]:
    """Yield the blocks of a sheet."""
    roles = _column_roles(rubric)
    heads = {
        number: groups
        for number, row in sheet.rows.items()
        if (groups := _header_groups(row, roles, rubric))
    }
    ends = [*list(heads)[1:], max(sheet.rows, default=0) + 1][: len(heads)]
    for (number, groups), end in zip(heads.items(), ends, strict=True):
        starts = [min(columns.values()) for columns in groups]
        for columns, first, last in zip(groups, [0, *starts[1:]], [*starts[1:], None], strict=True):
            rows = [sheet.rows[row] for row in range(number + 1, end) if row in sheet.rows]
            others = range(first, MAX_COLUMNS if last is None else last)
            yield _complete_block(sheet, number, end, columns, others, rows)


def _complete_block(
    sheet: Sheet, head: int, end: int, columns: dict[str, int], within: range, rows: list[Row]
) -> SheetBlock:
    """Return a block with its column of texts, further questions and unnamed columns."""
    header = sheet.rows[head]
    if "text" not in columns and (text := _find_texts(header, columns, rows)) is not None:
        columns["text"] = text
    questions: dict[str, int] = {}
    unnamed = []
    filled = {place for row in rows for place in _filled_places(row)}
    for column in within:
        if column in columns.values():
            continue
        name = cell_text(header[column]) if column < len(header) else ""
        if name:
            key = f"{name} ({column_letters(column)})" if name in questions else name
            questions[key] = column
        elif column in filled:
            unnamed.append(column)
    return SheetBlock(sheet, head, end, columns, questions, tuple(unnamed), within.start)


def _find_texts(header: Row, columns: Mapping[str, int], rows: Iterable[Row]) -> int | None:
    """Return the column of texts beside a column of labels, which has no name of its own."""
    label = columns["label"]
    if not all(map(is_label, _column_texts(rows, label))):
        return None
    names = {"", normalize_spelling(cell_text(header[label]))}
    for column in (label + 1, label - 1):
        name = cell_text(header[column]) if 0 <= column < len(header) else ""
        if column in columns.values() or normalize_spelling(name) not in names:
            continue
        texts = list(_column_texts(rows, column))
        worded = [text for text in texts if sum(map(str.isalpha, text)) >= MIN_LETTERS_OF_TEXT]
        if 2 * sum(not is_label(text) for text in worded) > len(texts):
            return column
    return None


def _column_texts(rows: Iterable[Row], column: int) -> Iterator[str]:
    """Yield the filled cells of a column."""
    for row in rows:
        if column in _filled_places(row):
            yield cell_text(row[column])


def _filled_places(row: Row) -> list[int]:
    """Return the columns that are filled; none in a row with a single filled cell, a heading."""
    filled = [place for place, cell in enumerate(row) if cell_text(cell)]
    return filled if len(filled) > 1 else []


def is_label(text: str) -> bool:
    """Return whether a text only labels a caption.

    >>> is_label("Caption 1"), is_label("B)"), is_label("Caption 1: a bird sings")
    (True, True, False)
    """
    return LABEL.fullmatch(unicodedata.normalize("NFC", text)) is not None


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
    if any(stem in plain for stem in SYNTHESIZED_STEMS):
        return "synthesised"
    if len(plain) < MIN_LETTERS_FOR_SLIPS:
        return ""
    from rapidfuzz.fuzz import ratio  # most names match exactly
    from rapidfuzz.process import extractOne

    long = [
        spelling
        for spelling in roles
        if len(spelling) >= MIN_LETTERS_FOR_SLIPS and spelling[0] == plain[0]
    ]
    close = extractOne(plain, long, scorer=ratio, score_cutoff=MIN_SIMILARITY_PERCENT)
    return roles[close[0]] if close else ""


def _header_groups(row: Row, roles: Mapping[str, str], rubric: Rubric) -> list[dict[str, int]]:
    """Return the columns of each block by role.

    After a complete header, a repeated role starts another block. Before that, the first column of
    a role counts, and a repeated one is a further question.
    """
    groups: list[dict[str, int]] = [{}]
    for column, cell in enumerate(row):
        if not isinstance(cell, str) or len(cell) > MAX_NAME_CHARACTERS:
            continue
        if not (role := _match_role(cell, roles)):
            continue
        if role in groups[-1] and _is_head(groups[-1], rubric):
            groups.append({})
        groups[-1].setdefault(role, column)
    return [group for group in groups if _is_head(group, rubric)]


def _is_head(columns: Mapping[str, int], rubric: Rubric) -> bool:
    dimensions = sum(name in columns for name in rubric.names)
    return dimensions >= min(MIN_HEADER_DIMENSIONS, len(rubric.names)) and bool(
        {"text", "label"} & {*columns}
    )


# --- Table of caption authors --------------------------------------------------------------------
# CSV or JSON Lines with the columns ``item``, ``system`` and ``caption`` (text) or ``hash``.


Caption = tuple[str, str]  # clip and hash of the caption
KEY_COLUMNS = ("item", "system", "caption", "hash")


def read_key(path: StrPath) -> dict[Caption, str]:
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
