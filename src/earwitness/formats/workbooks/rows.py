"""Rows of a block: which clip, which caption, which numbers; all faults are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from earwitness.errors import Problem
from earwitness.formats.check import Fault
from earwitness.formats.workbooks.cells import caption_hash, computed, is_blank, number, text
from earwitness.formats.workbooks.layout import Block, heading, unknown
from earwitness.formats.workbooks.returned import Finding, JudgedRow, Place
from earwitness.formats.workbooks.sheets import Cell, letters
from earwitness.listening.rubrics import Rubric

MARK = "#"  # between clip and hash in a key
YES = {"yes", "y", "oui", "o", "true", "vrai", "1", "x", "synthesized", "synthesised", "synthetic"}
NO = {"no", "n", "non", "false", "faux", "0", "natural", "real"}
SHOWN = 40  # characters of a text in a message


@dataclass
class Reading:
    """Reads blocks of one file; gathers what is wrong and what is odd."""

    source: str
    rubric: Rubric
    problems: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _dataset: str = ""
    _above: str = ""

    def block(self, block: Block) -> Iterator[JudgedRow]:
        """Rows of a block that were judged."""
        if not self._complete(block):
            return
        for name in unknown(block, self.rubric):
            self._find("passed", block, block.head, "", f'column "{name}" is passed over')
        before = max((row for row in block.sheet.rows if row < block.head), default=0)
        self._above, self._dataset = "", heading(block.sheet, before)
        for row in range(block.head + 1, block.end):
            if row in block.sheet.rows and (found := self._row(block, row)) is not None:
                yield found

    def _complete(self, block: Block) -> bool:
        """Whether all columns are there."""
        missing = [one.shown for one in self.rubric.dimensions if one.name not in block.columns]
        if not {"record", "key"} & {*block.columns}:
            missing.append("Record ID")
        for name in missing:
            told = f'there is no column "{name}" in row {block.head}'
            self._tell(block, block.head, "", Fault("", told, "is its name spelt otherwise?"))
        return not missing

    def _row(self, block: Block, row: int) -> JudgedRow | None:
        caption = text(self._cell(block, row, block.caption))
        scores = [self._cell(block, row, name) for name in self.rubric.names]
        if not caption and all(map(is_blank, scores)):
            self._pass_over(block, row)
            return None
        if not caption:
            fault = Fault("", "there is no caption", "put the caption back")
            self._tell(block, row, block.caption, fault)
            return None
        record = self._record(block, row, caption)
        values = {name: self._number(block, row, name) for name in self.rubric.names}
        self._tell_blanks(block, row, [name for name, one in values.items() if one is None])
        return JudgedRow(
            record,
            caption,
            values,
            self._place(block, row, block.caption),
            {name: self._place(block, row, name).cell for name in values},
            self._dataset,
            self._synthesised(block, row),
            text(self._cell(block, row, "comment")),
        )

    def _record(self, block: Block, row: int, caption: str) -> str:
        """The clip: by the key of the row, else by the cell, else by the row above."""
        if "key" in block.columns:
            return self._by_key(block, row, caption)
        column = block.columns["record"]
        cell = block.sheet.spread(row, column)
        if computed(cell):
            self._tell(block, row, "record", Fault("", "is a formula", "write the name itself"))
        if not text(cell) and self._above:
            told = f'has no clip; taken for "{self._above}" as above'
            self._find("above", block, row, "record", told)
        found = text(cell) or self._above
        if not found:
            self._tell(block, row, "record", Fault("", "there is no clip", "write its id"))
        self._above = found
        return found

    def _by_key(self, block: Block, row: int, caption: str) -> str:
        key = text(self._cell(block, row, "key"))
        record, mark, known = key.rpartition(MARK)
        if not mark or not record:
            fault = Fault("", f'the hidden key is "{key}"', "delete rows that were added")
            self._tell(block, row, "key", fault)
        elif known != caption_hash(caption):
            shown = f'"{caption[:SHOWN]}"'
            fault = Fault("", f"the caption was changed to {shown}", "put the caption back")
            self._tell(block, row, block.caption, fault)
        return record

    def _number(self, block: Block, row: int, name: str) -> float | None:
        dimension = next(one for one in self.rubric.dimensions if one.name == name)
        found = number(self._cell(block, row, name), dimension)
        if isinstance(found, Fault):
            told = f"{dimension.shown} {found.message}"
            self._tell(block, row, name, found._replace(message=told))
            return None
        return found

    def _tell_blanks(self, block: Block, row: int, names: list[str]) -> None:
        blank = [name for name in names if is_blank(self._cell(block, row, name))]
        if len(blank) == len(self.rubric.names):
            self._find("unrated", block, row, blank[0], "nothing was filled in")
            return
        for name in blank:
            self._find("blank", block, row, name, f"{name} is blank")

    def _synthesised(self, block: Block, row: int) -> bool | None:
        if "synthesised" not in block.columns:
            return None
        said = text(block.sheet.spread(row, block.columns["synthesised"]))
        word = said.casefold().strip(".!? ")
        if word in YES | NO:
            return word in YES
        if word and word not in {"n/a", "na", "-"}:
            told = f'synthesised: "{said[:SHOWN]}" is neither yes nor no'
            self._find("unclear", block, row, "synthesised", told)
        return None

    def _pass_over(self, block: Block, row: int) -> None:
        """A row without caption and numbers; one that says a single thing is a heading.

        Headings of our own layout are no news.
        """
        said = [text(one) for one in block.sheet.rows[row] if text(one)]
        own = [text(self._cell(block, row, name)) for name in block.columns]
        above = heading(block.sheet, row)
        self._dataset = above or self._dataset
        if any(own) and not (above and "key" in block.columns):
            told = f'"{said[0][:SHOWN]}": neither caption nor numbers; passed over'
            self._find("passed", block, row, "", told)

    def _cell(self, block: Block, row: int, role: str) -> Cell:
        column = block.columns.get(role)
        return None if column is None else block.sheet.at(row, column)

    def _place(self, block: Block, row: int, role: str) -> Place:
        column = block.columns.get(role)
        cell = f"{letters(column)}{row}" if column is not None else str(row)
        return Place(self.source, block.sheet.name, cell)

    def _tell(self, block: Block, row: int, role: str, fault: Fault) -> None:
        place = self._place(block, row, role)
        where = f"{place.sheet}!{place.cell}"
        self.problems.append(Problem(self.source, row, where, fault.message, fault.remedy))

    def _find(self, kind: str, block: Block, row: int, role: str, message: str) -> None:
        self.findings.append(Finding(kind, self._place(block, row, role), message))
