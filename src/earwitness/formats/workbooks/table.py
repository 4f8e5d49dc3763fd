"""Sheets of a workbook as raters see them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from earwitness.formats.workbooks.cells import caption_hash
from earwitness.formats.workbooks.rows import MARK
from earwitness.formats.workbooks.sent import Clip
from earwitness.formats.workbooks.words import Words
from earwitness.listening.rubrics import Dimension, Rubric, Worked

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WIDTHS = {"number": 6, "record": 18, "label": 9, "text": 60, "synthesised": 14, "comment": 40}
USUAL = 13  # of columns for numbers
LINE, HIGHEST = 15.0, 400.0  # points of a line, and of the highest row
TITLE, MESSAGE = 32, 255  # characters that a spreadsheet shows beside a cell
ALLOWED = {"format_columns": True, "format_rows": True}
LOOK = {"valign": "top", "text_wrap": True, "border": 1, "border_color": "#B0B0B0"}
OPEN = {**LOOK, "locked": False, "bg_color": "#FFFBE6"}


class Table:
    """Writes sheets into a workbook."""

    def __init__(self, book: Any, rubric: Rubric, words: Words, ask: bool) -> None:
        self._book, self._rubric, self._words = book, rubric, words
        asked = ["synthesised"] if ask else []
        self._columns = ["number", "record", "label", "text", *rubric.names, *asked, "comment"]
        self._head = book.add_format({**LOOK, "bold": True, "bg_color": "#E8E8E8"})
        self._text = book.add_format({**LOOK, "num_format": "@"})
        self._link = book.add_format({**LOOK, "font_color": "#0000C0", "underline": 1})
        self._free = book.add_format({**OPEN, "num_format": "@"})
        self._score = book.add_format({**OPEN, "num_format": "0.0"})
        self._fixed = book.add_format({**LOOK, "num_format": "0.0"})
        self._over_all = book.add_format({**LOOK, "bold": True, "num_format": "@"})

    def examples(self) -> None:
        """The rubric, and captions that were judged by it."""
        sheet = self._book.add_worksheet("Example")
        self._widen(sheet)
        bold = self._book.add_format({"bold": True})
        sheet.write_string(0, 0, self._rubric.title or self._rubric.name, bold)
        sheet.write_string(1, 0, self._words["told"])
        sheet.merge_range(3, 1, 3, 2, self._words["dimension"], self._head)
        sheet.write_string(3, 3, self._words["meaning"], self._head)
        for row, one in enumerate(self._rubric.dimensions, 4):
            self._explain(sheet, row, one)
        below = 5 + len(self._rubric.dimensions)
        self._heads(sheet, below)
        sheet.write_string(below, 1, self._words["heard"], self._head)
        for row, example in enumerate(self._rubric.examples, below + 1):
            self._example(sheet, row, row - below, example)
        sheet.protect("", ALLOWED)

    def assessment(self, clips: Sequence[tuple[Clip, str]]) -> None:
        """The table that is filled in, with a hidden key in every row."""
        sheet = self._book.add_worksheet("Assessment")
        self._widen(sheet)
        self._heads(sheet, 0)
        sheet.set_column(len(self._columns), len(self._columns), None, None, {"hidden": True})
        sheet.write_string(0, len(self._columns), "key", self._head)
        row, above = 1, ""
        for number, (clip, address) in enumerate(clips, 1):
            if clip.dataset != above:
                self._dataset(sheet, row, clip.dataset)
                row, above = row + 1, clip.dataset
            self._clip(sheet, row, number, clip, address)
            row += len(clip.captions)
        for one in self._rubric.dimensions:
            column = self._columns.index(one.name)
            sheet.data_validation(1, column, row - 1, column, self._limits(one))
        sheet.freeze_panes(1, 0)
        sheet.protect("", ALLOWED)
        sheet.activate()

    def _heads(self, sheet: Any, row: int) -> None:
        shown = {one.name: one.shown for one in self._rubric.dimensions}
        for column, name in enumerate(self._columns):
            sheet.write_string(row, column, shown.get(name) or self._words[name], self._head)

    def _widen(self, sheet: Any) -> None:
        for column, name in enumerate(self._columns):
            sheet.set_column(column, column, WIDTHS.get(name, USUAL))

    def _explain(self, sheet: Any, row: int, one: Dimension) -> None:
        told = [f"{self._words.number(anchor.value)}: {anchor.text}" for anchor in one.anchors]
        meaning = "\n".join([one.help, self._words.of("range", one), *told])
        sheet.set_row(row, _height(meaning))
        sheet.merge_range(row, 1, row, 2, one.shown, self._text)
        sheet.write_string(row, 3, meaning, self._text)

    def _example(self, sheet: Any, row: int, number: int, example: Worked) -> None:
        sheet.set_row(
            row, max(_height(example.heard, "record"), _height(example.comment, "comment"))
        )
        sheet.write_number(row, 0, number, self._text)
        said = {"record": example.heard, "text": example.caption, "comment": example.comment}
        for name, text in said.items():
            sheet.write_string(row, self._columns.index(name), text, self._text)
        for name, value in example.values.items():
            sheet.write_number(row, self._columns.index(name), value, self._fixed)

    def _dataset(self, sheet: Any, row: int, name: str) -> None:
        """A row that says of which dataset the clips below it are."""
        sheet.merge_range(row, 0, row, len(self._columns) - 1, "", self._over_all)
        sheet.write_string(row, 0, name, self._over_all)

    def _clip(self, sheet: Any, row: int, number: int, clip: Clip, address: str) -> None:
        last = row + len(clip.captions) - 1
        for name, form in (("number", self._text), ("record", self._link)):
            self._over(sheet, row, last, name, form)
        sheet.write_number(row, 0, number, self._text)
        sheet.write_url(row, 1, address, self._link, clip.record)
        for place, caption in enumerate(clip.captions):
            self._caption(sheet, row + place, place, clip.record, caption)
        if "synthesised" in self._columns:
            self._over(sheet, row, last, "synthesised", self._free)
            column = self._columns.index("synthesised")
            answers = {"validate": "list", "source": [self._words["yes"], self._words["no"]]}
            sheet.data_validation(row, column, row, column, answers)

    def _over(self, sheet: Any, first: int, last: int, name: str, form: Any) -> None:
        """One empty cell over the rows of a clip."""
        column = self._columns.index(name)
        if last > first:
            sheet.merge_range(first, column, last, column, "", form)
        else:
            sheet.write_blank(first, column, None, form)

    def _caption(self, sheet: Any, row: int, place: int, record: str, caption: str) -> None:
        label = LETTERS[place] if place < len(LETTERS) else str(place + 1)
        sheet.set_row(row, _height(caption))
        sheet.write_string(row, 2, label, self._text)
        sheet.write_string(row, 3, caption, self._text)
        for name in self._rubric.names:
            sheet.write_blank(row, self._columns.index(name), None, self._score)
        sheet.write_blank(row, self._columns.index("comment"), None, self._free)
        sheet.write_string(row, len(self._columns), f"{record}{MARK}{caption_hash(caption)}")

    def _limits(self, one: Dimension) -> dict[str, Any]:
        """A range of decimals, not a list, and what is said beside the cell."""
        penalty = self._words["penalty"] if one.role == "penalty" else ""
        return {
            "validate": "decimal",
            "criteria": "between",
            "minimum": one.low,
            "maximum": one.high,
            "ignore_blank": True,
            "input_title": one.shown[:TITLE],
            "input_message": f"{self._words.of('range', one)}. {one.help}"[:MESSAGE],
            "error_title": one.shown[:TITLE],
            "error_message": f"{self._words.of('wrong', one)} {penalty}".strip()[:MESSAGE],
        }


def _height(text: str, column: str = "text") -> float:
    """The height of a row in which a text fits; not every spreadsheet finds it by itself.

    >>> _height("Wind."), _height("Wind.\\n" + "far " * 30)
    (15.0, 60.0)
    """
    wide = WIDTHS[column] * 0.9  # letters are not all of one width
    lines = sum(max(1, math.ceil(len(line) / wide)) for line in text.split("\n"))
    return min(LINE * lines, HIGHEST)
