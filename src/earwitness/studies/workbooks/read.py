"""Reader of returned workbooks: judged rows and findings, with sheet and cell."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from earwitness.core import Input
from earwitness.errors import InputError, Problem, whole_characters
from earwitness.io.schema import Fault
from earwitness.studies.rubric import Rubric, thumbs
from earwitness.studies.workbooks.layout import (
    SheetBlock,
    assessed,
    caption_hash,
    computed,
    heading,
    is_blank,
    number,
    text,
    unknown,
)
from earwitness.studies.workbooks.open import (
    MAX_FILE_BYTES,
    MAX_UNPACKED_BYTES,
    Cell,
    Sheet,
    letters,
    opened,
)

# --- Judged rows and findings --------------------------------------------------------------------


@dataclass(frozen=True)
class CellLocation:
    """A cell, for people to find it."""

    source: str
    sheet: str
    cell: str

    def __str__(self) -> str:
        return f"{self.source}: {self.sheet}!{self.cell}" if self.cell else self.source


@dataclass(frozen=True)
class Finding:
    """Something odd that is allowed.

    Kinds are ``blank`` and ``unrated`` (a whole row), ``duplicate`` (a caption under two clips),
    ``repeated`` (a row twice), ``above`` (a clip's name was taken from the row above), ``passed``
    (rows, columns and other things that are not read) and ``unclear`` (synthesised or not).
    """

    kind: str
    place: CellLocation
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class JudgedRow:
    """A caption of a clip with the numbers that a rater gave it; None is a blank.

    ``synthesised`` is what the rater said of the clip, if anything; ``dataset`` is the heading
    above; ``cells`` has the cell of every dimension.
    """

    record: str
    caption: str
    values: Mapping[str, float | None]
    place: CellLocation
    cells: Mapping[str, str] = field(default_factory=dict)
    dataset: str = ""
    synthesised: bool | None = None
    comment: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What rows are matched by: the clip and the hash of the caption, never the number."""
        return self.record, caption_hash(self.caption)


@dataclass(frozen=True)
class ReturnedWorkbook:
    """A workbook that came back.

    Our own layout also says of which ``study`` it is, with its ``digest``, and the number of the
    rater among its listeners.
    """

    rater: str
    rows: tuple[JudgedRow, ...]
    findings: tuple[Finding, ...]
    input: Input
    study: str = ""
    digest: str = ""
    listener: int = 0


# --- Rows of a block -----------------------------------------------------------------------------


KEY_SEPARATOR = "#"  # between clip and hash in a key
YES_WORDS = {
    "yes",
    "y",
    "oui",
    "o",
    "true",
    "vrai",
    "1",
    "x",
    "synthesized",
    "synthesised",
    "synthetic",
}
NO_WORDS = {"no", "n", "non", "false", "faux", "0", "natural", "real"}
SHOWN_TEXT_CHARACTERS = 40  # characters of a text in a message


@dataclass
class SheetReader:
    """Reads blocks of one file; gathers what is wrong and what is odd."""

    source: str
    rubric: Rubric
    problems: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _dataset: str = ""
    _above: str = ""

    def block(self, block: SheetBlock) -> Iterator[JudgedRow]:
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

    def _complete(self, block: SheetBlock) -> bool:
        """Whether all columns are there."""
        missing = [one.shown for one in self.rubric.dimensions if one.name not in block.columns]
        if not {"record", "key"} & {*block.columns}:
            missing.append("Record ID")
        for name in missing:
            told = f'there is no column "{name}" in row {block.head}'
            self._tell(block, block.head, "", Fault("", told, "is its name spelt otherwise?"))
        return not missing

    def _row(self, block: SheetBlock, row: int) -> JudgedRow | None:
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

    def _record(self, block: SheetBlock, row: int, caption: str) -> str:
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

    def _by_key(self, block: SheetBlock, row: int, caption: str) -> str:
        key = text(self._cell(block, row, "key"))
        record, mark, known = key.rpartition(KEY_SEPARATOR)
        if not mark or not record:
            fault = Fault("", f'the hidden key is "{key}"', "delete rows that were added")
            self._tell(block, row, "key", fault)
        elif known != caption_hash(caption):
            shown = f'"{caption[:SHOWN_TEXT_CHARACTERS]}"'
            fault = Fault("", f"the caption was changed to {shown}", "put the caption back")
            self._tell(block, row, block.caption, fault)
        return record

    def _number(self, block: SheetBlock, row: int, name: str) -> float | None:
        dimension = next(one for one in self.rubric.dimensions if one.name == name)
        found = number(self._cell(block, row, name), dimension)
        if isinstance(found, Fault):
            told = f"{dimension.shown} {found.message}"
            self._tell(block, row, name, found._replace(message=told))
            return None
        return found

    def _tell_blanks(self, block: SheetBlock, row: int, names: list[str]) -> None:
        blank = [name for name in names if is_blank(self._cell(block, row, name))]
        if len(blank) == len(self.rubric.names):
            self._find("unrated", block, row, blank[0], "nothing was filled in")
            return
        for name in blank:
            self._find("blank", block, row, name, f"{name} is blank")

    def _synthesised(self, block: SheetBlock, row: int) -> bool | None:
        if "synthesised" not in block.columns:
            return None
        said = text(block.sheet.spread(row, block.columns["synthesised"]))
        word = said.casefold().strip(".!? ")
        if word in YES_WORDS | NO_WORDS:
            return word in YES_WORDS
        if word and word not in {"n/a", "na", "-"}:
            told = f'synthesised: "{said[:SHOWN_TEXT_CHARACTERS]}" is neither yes nor no'
            self._find("unclear", block, row, "synthesised", told)
        return None

    def _pass_over(self, block: SheetBlock, row: int) -> None:
        """A row without caption and numbers; one that says a single thing is a heading.

        Headings of our own layout are no news.
        """
        said = [text(one) for one in block.sheet.rows[row] if text(one)]
        own = [text(self._cell(block, row, name)) for name in block.columns]
        above = heading(block.sheet, row)
        self._dataset = above or self._dataset
        if any(own) and not (above and "key" in block.columns):
            told = f'"{said[0][:SHOWN_TEXT_CHARACTERS]}": neither caption nor numbers; passed over'
            self._find("passed", block, row, "", told)

    def _cell(self, block: SheetBlock, row: int, role: str) -> Cell:
        column = block.columns.get(role)
        return None if column is None else block.sheet.at(row, column)

    def _place(self, block: SheetBlock, row: int, role: str) -> CellLocation:
        column = block.columns.get(role)
        cell = f"{letters(column)}{row}" if column is not None else str(row)
        return CellLocation(self.source, block.sheet.name, cell)

    def _tell(self, block: SheetBlock, row: int, role: str, fault: Fault) -> None:
        place = self._place(block, row, role)
        where = f"{place.sheet}!{place.cell}"
        self.problems.append(Problem(self.source, row, where, fault.message, fault.remedy))

    def _find(self, kind: str, block: SheetBlock, row: int, role: str, message: str) -> None:
        self.findings.append(Finding(kind, self._place(block, row, role), message))


# --- Returned workbooks --------------------------------------------------------------------------
# All that is wrong with a file is told at once, with sheet, cell and value; then nothing of it is
# read. What is odd but allowed (blanks, a caption under two clips) stands in findings.


ABOUT_SHEET, ABOUT_FIRST_CELL = "Study", "earwitness"  # the hidden sheet of our layout
LISTENER_NUMBER = re.compile(r"[1-9]\d{0,8}", re.ASCII)
NUMBERED_RATER = re.compile(r"P\d+", re.I)
FLAVOR_SUFFIX = re.compile(r"[ _-](?:local|web|excel|google)\b.*", re.I)
IMPORT_DONE_WORD = "imported"


def read_workbook(
    place: str | PathLike[str] | bytes,
    rubric: Rubric | None = None,
    *,
    name: str = "",
    rater: str = "",
    unpacked: int = MAX_UNPACKED_BYTES,
) -> ReturnedWorkbook:
    """A returned workbook, given as a path or as its bytes and its ``name``.

    Who the rater is stands in the workbook; else it is said here, or taken from the name
    (``P3_google.xlsx`` is of P3). One that unpacks to more bytes than these is refused.
    """
    name = whole_characters(name or (str(place) if not isinstance(place, bytes) else "workbook"))
    data = place if isinstance(place, bytes) else _bytes(Path(place), name)
    book, reading = opened(data, name, unpacked), SheetReader(name, rubric or thumbs())
    about = _about(book.sheets)
    others = tuple(one for one in book.sheets if one.name != ABOUT_SHEET or not about)
    blocks = assessed(others, reading.rubric)
    if not blocks:
        names = ", ".join(f'"{one.name}"' for one in others)
        asked = ", ".join(one.shown for one in reading.rubric.dimensions)
        told = f"no sheet has columns for {asked}"
        reading.problems.append(Problem(name, 0, "", told, f"sheets: {names}"))
    rows = [row for block in blocks for row in reading.block(block)]
    kept = list(_once(rows, reading))
    if reading.problems:
        raise InputError(reading.problems, done=IMPORT_DONE_WORD)
    findings = (*_remarks(name, book.remarks), *reading.findings, *_doubled(kept))
    known = Input(name, hashlib.sha256(data).hexdigest(), len(data))
    who = about.get("rater") or rater or rater_of(name)
    return ReturnedWorkbook(
        who,
        tuple(_per_clip(kept)),
        findings,
        known,
        about.get("study", ""),
        about.get("digest", ""),
        _whole_number(about.get("listener", "")),
    )


def read_workbooks(
    places: Sequence[str | PathLike[str]], rubric: Rubric | None = None
) -> list[ReturnedWorkbook]:
    """Several of them; faults of all are told at once."""
    found, problems, count = list[ReturnedWorkbook](), list[Problem](), 0
    for place in places:
        try:
            found.append(read_workbook(place, rubric))
        except InputError as error:
            problems += error.problems
            count += error.count
    if problems:
        raise InputError(problems, count, done=IMPORT_DONE_WORD)
    return found


def rater_of(name: str) -> str:
    """Who a file is of, by its name.

    >>> rater_of("in/P3_google.xlsx"), rater_of("anna_local (2).xlsx"), rater_of("bert.xlsx")
    ('P3', 'anna', 'bert')
    """
    stem = Path(name).stem
    numbered = NUMBERED_RATER.match(stem)
    return numbered[0].upper() if numbered else FLAVOR_SUFFIX.sub("", stem).strip() or stem


def _bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        told = f"cannot be read: {error.strerror}"
        raise InputError([Problem(name, 0, "", told)], done=IMPORT_DONE_WORD) from error


def _about(sheets: Iterable[Sheet]) -> dict[str, str]:
    """What our hidden sheet says, or nothing."""
    for sheet in sheets:
        if sheet.name == ABOUT_SHEET and text(sheet.at(1, 0)) == ABOUT_FIRST_CELL:
            return {text(row[0]): text(row[1]) for row in sheet.rows.values() if len(row) > 1}
    return {}


def _whole_number(text: str) -> int:
    """A number of a listener, or 0 if it is none."""
    return int(text) if LISTENER_NUMBER.fullmatch(text) else 0


def _remarks(name: str, told: Iterable[str]) -> Iterator[Finding]:
    for one in told:
        yield Finding("passed", CellLocation(name, "", ""), one)


def _once(rows: Iterable[JudgedRow], reading: SheetReader) -> Iterator[JudgedRow]:
    """Every clip and caption once; a row that comes again must say the same."""
    seen: dict[tuple[str, str], JudgedRow] = {}
    for row in rows:
        first = seen.setdefault(row.key, row)
        if first is row:
            yield row
        elif first.values == row.values:
            told = f"the same row as {first.place.cell}; counted once"
            reading.findings.append(Finding("repeated", row.place, told))
        else:
            where = f"{row.place.sheet}!{row.place.cell}"
            told = f'clip "{row.record}" has this caption twice, also in {first.place.cell}'
            number = int(re.sub(r"\D", "", row.place.cell))
            problem = Problem(reading.source, number, where, told, "keep one of the two")
            reading.problems.append(problem)


def _doubled(rows: Iterable[JudgedRow]) -> Iterator[Finding]:
    """Captions that stand under two clips."""
    first: dict[str, JudgedRow] = {}
    for row in rows:
        before = first.setdefault(caption_hash(row.caption), row)
        if before is not row:
            told = f'the caption of clip "{row.record}" is that of "{before.record}"'
            yield Finding("duplicate", row.place, f"{told} ({before.place.cell})")


def _per_clip(rows: Sequence[JudgedRow]) -> Iterator[JudgedRow]:
    """What was said once of a clip holds for all its captions."""
    said: dict[str, bool] = {}
    for row in rows:
        if row.synthesised is not None:
            said.setdefault(row.record, row.synthesised)
    for row in rows:
        known = row.synthesised if row.synthesised is not None else said.get(row.record)
        yield replace(row, synthesised=known)
