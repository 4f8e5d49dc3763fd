"""Writer of rating workbooks, one per rater: content, sheets, formats and file names."""

from __future__ import annotations

import datetime
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from earwitness.core import StrPath
from earwitness.errors import MissingExtra, UsageError
from earwitness.forms.workbooks import DEFAULT_FILE_PATTERN
from earwitness.forms.workbooks.layout import caption_hash
from earwitness.forms.workbooks.read import ABOUT_FIRST_CELL, ABOUT_SHEET, KEY_SEPARATOR
from earwitness.forms.workbooks.wording import WorkbookWording, load_wording
from earwitness.io.atomic import AtomicFolder
from earwitness.io.schema import is_name
from earwitness.ratings.rubric import Dimension, Rubric, WorkedExample, thumbs
from earwitness.studies.wording import PLACEHOLDER

# --- Clips, links and file names -----------------------------------------------------------------


CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
MAX_CELL_CHARACTERS = 32_000
MAX_ADDRESS_CHARACTERS = 2000
FILE_PLACEHOLDER = "{file}"
FILE_NAME_FIELDS = ("n", "rater", "flavour")


@dataclass(frozen=True)
class WorkbookClip:
    """A clip, its captions in order of presentation, and its audio file.

    The name of a ``dataset`` is written above its first clip.
    """

    record: str
    captions: tuple[str, ...]
    file: str = ""
    dataset: str = ""


@dataclass(frozen=True)
class WorkbookContent:
    """The clips of one rater in order, without the systems of captions (blind).

    ``digest`` is the hash of the study and ``listener`` the number of the rater, if any.
    """

    study: str
    rater: str
    clips: tuple[WorkbookClip, ...]
    digest: str = ""
    listener: int = 0

    def __post_init__(self) -> None:
        for wrong in self._misfits():
            raise UsageError(f"workbook of {self.rater!r}: {wrong}")

    def _misfits(self) -> Iterator[str]:
        """Yield why the content cannot be written, or could not be matched on import."""
        datasets = (text.dataset for text in self.clips if text.dataset)
        for name in (self.study, self.rater, *(text.record for text in self.clips), *datasets):
            if not is_name(name):
                yield f"{name!r} must be printable text without surrounding spaces"
        records = [text.record for text in self.clips]
        if not records or len({*records}) < len(records):
            yield "at least one clip is required, and clips must not repeat"
        for clip in self.clips:
            if len({caption_hash(text) for text in clip.captions}) != len(clip.captions) or not all(
                text.strip() for text in clip.captions
            ):
                yield f'clip "{clip.record}": captions must be different and not empty'
            if not clip.captions:
                yield f'clip "{clip.record}" has no caption'
            for text in clip.captions:
                if CONTROL_CHARACTER.search(text) or len(text) > MAX_CELL_CHARACTERS:
                    yield f'clip "{clip.record}": a caption has control characters or is too long'


def clip_link(place: str, clip: WorkbookClip) -> str:
    """Return the link of a clip: to a folder, or to an address that may contain ``{file}``.

    >>> clip_link("clips", WorkbookClip("a", ("Wind.",), "a b.wav"))
    'external:clips/a%20b.wav'
    >>> clip_link("https://example.org/get?name={file}", WorkbookClip("a", ("Wind.",), "a.wav"))
    'https://example.org/get?name=a.wav'
    """
    file = quote(clip.file or clip.record)
    address = (
        place.replace(FILE_PLACEHOLDER, file)
        if FILE_PLACEHOLDER in place
        else f"{place.rstrip('/')}/{file}"
    )
    if len(address) > MAX_ADDRESS_CHARACTERS:
        raise UsageError(f'clip "{clip.record}": its address is too long')
    return address if is_web(place) else f"external:{address}"


def is_web(place: str) -> bool:
    """Return whether links go to a web address; raise UsageError if it is not http(s)."""
    scheme, mark, _ = place.partition("://")
    if (
        not place
        or (mark and scheme.lower() not in ("http", "https"))
        or CONTROL_CHARACTER.search(place)
    ):
        raise UsageError(
            f"links must be a folder, or an address with http:// or https://, got {place!r}"
        )
    return bool(mark)


def file_names(pattern: str, raters: Mapping[str, int], flavours: Sequence[str]) -> list[list[str]]:
    """Return file names, one list per rater; ``raters`` are numbers by rater.

    >>> file_names("P{n}_{flavour}.xlsx", {"anna": 1, "bert": 2}, ["local", "web"])
    [['P1_local.xlsx', 'P1_web.xlsx'], ['P2_local.xlsx', 'P2_web.xlsx']]
    """
    for place in PLACEHOLDER.findall(pattern):
        if place not in FILE_NAME_FIELDS:
            raise UsageError(f"pattern: unknown {{{place}}} — known: {', '.join(FILE_NAME_FIELDS)}")
    names = [
        [_fill_pattern(pattern, n=str(n), rater=rater, flavour=flavour) for flavour in flavours]
        for rater, n in raters.items()
    ]
    folded = [name.casefold() for rater_names in names for name in rater_names]
    if len({*folded}) < len(folded):
        raise UsageError(f'pattern "{pattern}": two files would have the same name — use {{n}}')
    for name in folded:
        if not name.endswith(".xlsx") or re.search(r'[/\\:*?"<>|]', name) or not is_name(name):
            raise UsageError(f'pattern: "{name}" must be a file name that ends with .xlsx')
    return names


def _fill_pattern(pattern: str, **values: str) -> str:
    return PLACEHOLDER.sub(lambda place: values[place[1]], pattern)


# --- Sheets and cell formats ---------------------------------------------------------------------


LABEL_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COLUMN_WIDTHS = {
    "number": 6,
    "record": 18,
    "label": 9,
    "text": 60,
    "synthesised": 14,
    "comment": 40,
}
DEFAULT_COLUMN_WIDTH = 13  # of columns for numbers
LINE_HEIGHT_POINTS, MAX_ROW_HEIGHT_POINTS = 15.0, 400.0
MAX_TITLE_CHARACTERS, MAX_MESSAGE_CHARACTERS = 32, 255  # limits of texts shown at a cell
PROTECTION_OPTIONS = {"format_columns": True, "format_rows": True}
CELL_FORMAT = {"valign": "top", "text_wrap": True, "border": 1, "border_color": "#B0B0B0"}
UNLOCKED_CELL_FORMAT = {**CELL_FORMAT, "locked": False, "bg_color": "#FFFBE6"}


class SheetWriter:
    """Writer of the sheets of a workbook."""

    def __init__(self, book: Any, rubric: Rubric, words: WorkbookWording, ask: bool) -> None:
        self._book, self._rubric, self._words = book, rubric, words
        asked = ["synthesised"] if ask else []
        self._columns = ["number", "record", "label", "text", *rubric.names, *asked, "comment"]
        self._head = book.add_format({**CELL_FORMAT, "bold": True, "bg_color": "#E8E8E8"})
        self._text = book.add_format({**CELL_FORMAT, "num_format": "@"})
        self._link = book.add_format({**CELL_FORMAT, "font_color": "#0000C0", "underline": 1})
        self._free = book.add_format({**UNLOCKED_CELL_FORMAT, "num_format": "@"})
        self._score = book.add_format({**UNLOCKED_CELL_FORMAT, "num_format": "0.0"})
        self._fixed = book.add_format({**CELL_FORMAT, "num_format": "0.0"})
        self._over_all = book.add_format({**CELL_FORMAT, "bold": True, "num_format": "@"})

    def write_examples(self) -> None:
        """Write the rubric and rated examples."""
        sheet = self._book.add_worksheet("Example")
        self._widen(sheet)
        bold = self._book.add_format({"bold": True})
        sheet.write_string(0, 0, self._rubric.title or self._rubric.name, bold)
        sheet.write_string(1, 0, self._words["told"])
        sheet.merge_range(3, 1, 3, 2, self._words["dimension"], self._head)
        sheet.write_string(3, 3, self._words["meaning"], self._head)
        for row, dimension in enumerate(self._rubric.dimensions, 4):
            self._write_dimension(sheet, row, dimension)
        below = 5 + len(self._rubric.dimensions)
        self._write_heads(sheet, below)
        sheet.write_string(below, 1, self._words["heard"], self._head)
        for row, example in enumerate(self._rubric.examples, below + 1):
            self._write_example(sheet, row, row - below, example)
        sheet.protect("", PROTECTION_OPTIONS)

    def write_assessment(self, clips: Sequence[tuple[WorkbookClip, str]]) -> None:
        """Write the table to fill in, with a hidden key in each row."""
        sheet = self._book.add_worksheet("Assessment")
        self._widen(sheet)
        self._write_heads(sheet, 0)
        sheet.set_column(len(self._columns), len(self._columns), None, None, {"hidden": True})
        sheet.write_string(0, len(self._columns), "key", self._head)
        row, above = 1, ""
        for number, (clip, address) in enumerate(clips, 1):
            if clip.dataset != above:
                sheet.merge_range(row, 0, row, len(self._columns) - 1, "", self._over_all)
                sheet.write_string(row, 0, clip.dataset, self._over_all)
                row, above = row + 1, clip.dataset
            self._write_clip(sheet, row, number, clip, address)
            row += len(clip.captions)
        for dimension in self._rubric.dimensions:
            column = self._columns.index(dimension.name)
            sheet.data_validation(1, column, row - 1, column, self._validation(dimension))
        sheet.freeze_panes(1, 0)
        sheet.protect("", PROTECTION_OPTIONS)
        sheet.activate()

    def _write_heads(self, sheet: Any, row: int) -> None:
        shown = {dimension.name: dimension.shown for dimension in self._rubric.dimensions}
        for column, name in enumerate(self._columns):
            sheet.write_string(row, column, shown.get(name) or self._words[name], self._head)

    def _widen(self, sheet: Any) -> None:
        for column, name in enumerate(self._columns):
            sheet.set_column(column, column, COLUMN_WIDTHS.get(name, DEFAULT_COLUMN_WIDTH))

    def _write_dimension(self, sheet: Any, row: int, dimension: Dimension) -> None:
        anchors = [
            f"{self._words.number(anchor.value)}: {anchor.text}" for anchor in dimension.anchors
        ]
        meaning = "\n".join([dimension.help, self._words.of("range", dimension), *anchors])
        sheet.set_row(row, _row_height(meaning))
        sheet.merge_range(row, 1, row, 2, dimension.shown, self._text)
        sheet.write_string(row, 3, meaning, self._text)

    def _write_example(self, sheet: Any, row: int, number: int, example: WorkedExample) -> None:
        sheet.set_row(
            row, max(_row_height(example.heard, "record"), _row_height(example.comment, "comment"))
        )
        sheet.write_number(row, 0, number, self._text)
        said = {"record": example.heard, "text": example.caption, "comment": example.comment}
        for name, text in said.items():
            sheet.write_string(row, self._columns.index(name), text, self._text)
        for name, value in example.values.items():
            sheet.write_number(row, self._columns.index(name), value, self._fixed)

    def _write_clip(
        self, sheet: Any, row: int, number: int, clip: WorkbookClip, address: str
    ) -> None:
        last = row + len(clip.captions) - 1
        for name, form in (("number", self._text), ("record", self._link)):
            self._merge_rows(sheet, row, last, name, form)
        sheet.write_number(row, 0, number, self._text)
        sheet.write_url(row, 1, address, self._link, clip.record)
        for place, caption in enumerate(clip.captions):
            self._write_caption(sheet, row + place, place, clip.record, caption)
        if "synthesised" in self._columns:
            self._merge_rows(sheet, row, last, "synthesised", self._free)
            column = self._columns.index("synthesised")
            answers = {"validate": "list", "source": [self._words["yes"], self._words["no"]]}
            sheet.data_validation(row, column, row, column, answers)

    def _merge_rows(self, sheet: Any, first: int, last: int, name: str, form: Any) -> None:
        """Merge the cells of a column over the rows of a clip."""
        column = self._columns.index(name)
        if last > first:
            sheet.merge_range(first, column, last, column, "", form)
        else:
            sheet.write_blank(first, column, None, form)

    def _write_caption(self, sheet: Any, row: int, place: int, record: str, caption: str) -> None:
        label = LABEL_LETTERS[place] if place < len(LABEL_LETTERS) else str(place + 1)
        sheet.set_row(row, _row_height(caption))
        sheet.write_string(row, 2, label, self._text)
        sheet.write_string(row, 3, caption, self._text)
        for name in self._rubric.names:
            sheet.write_blank(row, self._columns.index(name), None, self._score)
        sheet.write_blank(row, self._columns.index("comment"), None, self._free)
        sheet.write_string(
            row, len(self._columns), f"{record}{KEY_SEPARATOR}{caption_hash(caption)}"
        )

    def _validation(self, dimension: Dimension) -> dict[str, Any]:
        """Return the validation of a dimension: a decimal range, with messages."""
        penalty = self._words["penalty"] if dimension.role == "penalty" else ""
        return {
            "validate": "decimal",
            "criteria": "between",
            "minimum": dimension.low,
            "maximum": dimension.high,
            "ignore_blank": True,
            "input_title": dimension.shown[:MAX_TITLE_CHARACTERS],
            "input_message": f"{self._words.of('range', dimension)}. {dimension.help}"[
                :MAX_MESSAGE_CHARACTERS
            ],
            "error_title": dimension.shown[:MAX_TITLE_CHARACTERS],
            "error_message": f"{self._words.of('wrong', dimension)} {penalty}".strip()[
                :MAX_MESSAGE_CHARACTERS
            ],
        }


def _row_height(text: str, column: str = "text") -> float:
    """Return the row height for a text; not all spreadsheet programs adjust it.

    >>> _row_height("Wind."), _row_height("Wind.\\n" + "far " * 30)
    (15.0, 60.0)
    """
    wide = COLUMN_WIDTHS[column] * 0.9  # letters are not all of one width
    lines = sum(max(1, math.ceil(len(line) / wide)) for line in text.split("\n"))
    return min(LINE_HEIGHT_POINTS * lines, MAX_ROW_HEIGHT_POINTS)


# --- Workbook of a rater -------------------------------------------------------------------------
# All texts are written as text, so those that start with = + - or @ are never formulas. Captions,
# IDs and keys are locked, cells for answers are not. The same clips give the same bytes.


LAYOUT_VERSION = "1"
CREATION_DATE = datetime.datetime(2000, 1, 1)  # fixed, so that files are reproducible
TEXT_ONLY_OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def load_xlsxwriter() -> Any:
    """Return the module xlsxwriter; raise MissingExtra if it is not installed."""
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtra("xlsxwriter", "xlsx", "writing workbooks") from None
    return xlsxwriter


def open_book(title: str) -> tuple[Any, io.BytesIO]:
    """Return a new workbook, and the stream that has its bytes once it is closed."""
    held = io.BytesIO()
    book = load_xlsxwriter().Workbook(held, {"in_memory": True, **TEXT_ONLY_OPTIONS})
    book.set_properties({"title": title, "created": CREATION_DATE})
    return book, held


def make_workbook(
    sent: WorkbookContent, rubric: Rubric | None = None, *, links: str, ask: bool = True
) -> bytes:
    """Return the workbook of a rater as bytes.

    Parameters
    ----------
    sent
        Clips and captions of the rater.
    rubric
        Rubric of the ratings; THumBS by default.
    links
        Folder or address of the clips.
    ask
        Whether to ask for each clip whether it is synthesized.

    Returns
    -------
    bytes

    Raises
    ------
    MissingExtra
        If xlsxwriter is not installed.
    """
    rubric = rubric or thumbs()
    book, held = open_book(f"{sent.study}: {sent.rater}")
    about = {
        "study": sent.study,
        "rater": sent.rater,
        "rubric": rubric.name,
        "layout": LAYOUT_VERSION,
    }
    if sent.digest:
        about |= {"digest": sent.digest, "listener": str(sent.listener)}
    for name, value in about.items():
        book.set_custom_property(name, value, "text")
    table = SheetWriter(book, rubric, load_wording(rubric.language), ask)
    table.write_examples()
    table.write_assessment([(clip, clip_link(links, clip)) for clip in sent.clips])
    _write_about(book, about)
    book.close()
    return held.getvalue()


def write_workbooks(
    folder: StrPath,
    sent: Sequence[WorkbookContent],
    rubric: Rubric | None = None,
    *,
    local: str = "clips",
    web: str = "",
    pattern: str = DEFAULT_FILE_PATTERN,
    ask: bool = True,
) -> list[Path]:
    """Write the workbooks of all raters to a new folder and return their paths.

    Each rater gets one workbook with links to the folder ``local`` and one with links to the
    address ``web``, if these are set.
    """
    flavours = {name: place for name, place in (("local", local), ("web", web)) if place}
    _check_contents(sent, flavours)
    numbers = {content.rater: content.listener or place for place, content in enumerate(sent, 1)}
    names = file_names(pattern, numbers, list(flavours))
    place = Path(folder)
    with AtomicFolder(place) as temporary:
        for content, files in zip(sent, names, strict=True):
            for file, links in zip(files, flavours.values(), strict=True):
                (temporary / file).write_bytes(make_workbook(content, rubric, links=links, ask=ask))
    return [place / file for files in names for file in files]


def _check_contents(sent: Sequence[WorkbookContent], flavours: dict[str, str]) -> None:
    raters = [content.rater for content in sent]
    if not sent or len({*raters}) < len(raters):
        raise UsageError("workbooks: at least one rater is required, and raters must not repeat")
    if not flavours:
        raise UsageError("links: no folder and no address — set local, web, or both")
    if "web" in flavours and not is_web(flavours["web"]):
        raise UsageError(f"web: must start with https:// or http://, got {flavours['web']!r}")
    if "local" in flavours and is_web(flavours["local"]):
        raise UsageError(f"local: must be a folder, got {flavours['local']!r}")


def _write_about(book: Any, about: dict[str, str]) -> None:
    """Write the hidden sheet that identifies exported workbooks."""
    sheet = book.add_worksheet(ABOUT_SHEET)
    for row, (name, value) in enumerate({ABOUT_FIRST_CELL: LAYOUT_VERSION, **about}.items()):
        sheet.write_string(row, 0, name)
        sheet.write_string(row, 1, value)
    sheet.protect()
    sheet.very_hidden()
