"""Reader of completed workbooks: rated rows and findings, with sheet and cell."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from earwitness.core import Input, StrPath, group_values
from earwitness.errors import (
    CodedFault,
    InputError,
    Problem,
    refuse_problems,
    whole_characters,
)
from earwitness.forms.workbooks.layout import (
    OFF_SCALE_CODES,
    SheetBlock,
    assessment_blocks,
    caption_hash,
    cell_text,
    is_blank,
    is_formula,
    is_label,
    read_number,
)
from earwitness.forms.workbooks.open import (
    MAX_FILE_BYTES,
    MAX_UNPACKED_BYTES,
    Cell,
    Sheet,
    column_letters,
    open_workbook,
)
from earwitness.forms.workbooks.wording import fault, fault_problem, fault_texts
from earwitness.io.schema import is_name, show
from earwitness.ratings.rubric import Dimension, Rubric, thumbs
from earwitness.ratings.rubric_totals import BLANK_NOTE, FAULT_POLICIES

# --- Rated rows and findings ---------------------------------------------------------------------


@dataclass(frozen=True)
class CellLocation:
    """Location of a cell, for messages."""

    source: str
    sheet: str
    cell: str

    def __str__(self) -> str:
        return f"{self.source}: {self.sheet}!{self.cell}" if self.cell else self.source

    def problem(self, fault: CodedFault) -> Problem:
        """Return a fault of the cell as a problem."""
        row = int(re.sub(r"\D", "", self.cell))
        return fault_problem(fault, self.source, row, f"{self.sheet}!{self.cell}")


@dataclass(frozen=True)
class Finding:
    """Unusual content that is allowed.

    Kinds are ``blank`` and ``unrated`` (an entire row), ``duplicate`` (a caption of two clips),
    ``repeated`` (a repeated row), ``above`` (a clip name was taken from the row above), ``passed``
    (ignored rows, columns and other content), ``unclear`` (synthesized or not), ``comment`` (a
    comment on a cell that belongs to no caption) and ``dropped`` (a value outside its scale that is
    treated as a blank). ``fault`` has the code of the message, if it is shown on a page.
    """

    kind: str
    place: CellLocation
    message: str
    fault: CodedFault | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class JudgedRow:
    """A caption of a clip with its values; None is a blank.

    ``synthesised`` is the rater's answer for the clip, if any; ``dataset`` is the heading above;
    ``cells`` has the cell of each dimension, ``answers`` the text of each further question;
    ``comment`` has a line for each comment on a cell of the row, after the text of its column.
    """

    record: str
    caption: str
    values: Mapping[str, float | None]
    place: CellLocation
    cells: Mapping[str, str] = field(default_factory=dict)
    dataset: str = ""
    synthesised: bool | None = None
    comment: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Key of the row: the clip and the hash of the caption."""
        return self.record, caption_hash(self.caption)


@dataclass(frozen=True)
class ReturnedWorkbook:
    """A completed workbook.

    Workbooks exported by Earwitness also have the title and hash of the ``study``, and the number
    of the ``listener``.
    """

    rater: str
    rows: tuple[JudgedRow, ...]
    findings: tuple[Finding, ...]
    input: Input
    study: str = ""
    digest: str = ""
    listener: int = 0


# --- Rows of a block -----------------------------------------------------------------------------


KEY_SEPARATOR = "#"  # separates clip and hash in a key
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
SHOWN_TEXT_CHARACTERS = 40  # in messages
MIN_CLIPS_WITH_SAME_CAPTION = 3
MAX_SHARE_WITH_SAME_CAPTION = 0.1  # of the clips; more is a fault of the layout


@dataclass
class SheetReader:
    """Reader of the blocks of one file; collects problems and findings.

    With ``drop``, values outside their scale are findings instead of problems. ``doubts`` are
    problems only if the file has datasets. ``comments`` are those on cells that were not read yet,
    by sheet, row and column.
    """

    source: str
    rubric: Rubric
    drop: bool = False
    problems: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    doubts: list[Problem] = field(default_factory=list)
    comments: dict[tuple[str, int, int], str] = field(default_factory=dict)
    _table_rows: set[tuple[str, int]] = field(default_factory=set)
    _dataset: str = ""
    _beside: dict[str, list[str]] = field(default_factory=dict)
    _above: str = ""
    _labels: list[int] = field(default_factory=list)

    def read_block(self, block: SheetBlock) -> Iterator[JudgedRow]:
        """Yield the rated rows of a block."""
        if not self._has_all_columns(block):
            return
        for column in block.unnamed:
            message = f"column {column_letters(column)} has no name and is ignored"
            self._add_finding("passed", block, block.head, "", message)
        name = block.sheet.name
        before = max((row for row in block.sheet.rows if row < block.head), default=0)
        self._above, self._dataset, self._labels = "", "", []
        if (name, before) not in self._table_rows:
            self._read_heading(block, before)
        self._table_rows.add((name, block.head))
        for row in range(block.head + 1, block.end):
            if row in block.sheet.rows and (judged := self._read_row(block, row)) is not None:
                self._table_rows.add((name, row))
                yield judged
        if self._labels:
            caption = cell_text(self._cell(block, self._labels[0], block.caption))
            self._add_problem(block, self._labels[0], block.caption, "caption_label", value=caption)

    def _has_all_columns(self, block: SheetBlock) -> bool:
        """Return whether all columns are present; report missing ones."""
        missing = [
            dimension.shown
            for dimension in self.rubric.dimensions
            if dimension.name not in block.columns
        ]
        if not {"record", "key"} & {*block.columns}:
            missing.append("Record ID")
        for name in missing:
            self._add_problem(block, block.head, "", "missing_column", name=name, line=block.head)
        return not missing

    def _read_row(self, block: SheetBlock, row: int) -> JudgedRow | None:
        caption = cell_text(self._cell(block, row, block.caption))
        scores = [self._cell(block, row, name) for name in self.rubric.names]
        is_unrated = all(map(is_blank, scores)) or (not caption and block.is_heading(row))
        if is_unrated and (not caption or block.is_banner(row, self.rubric.names)):
            self._pass_over(block, row)
            return None
        if not caption:
            self._add_problem(block, row, block.caption, "missing_caption")
            return None
        if "key" not in block.columns and is_label(caption):
            self._labels.append(row)
            return None
        if is_unrated and block.is_unlabelled(row):
            self._add_doubt(block, row, caption)
        record = self._read_record(block, row, caption)
        values = {
            dimension.name: self._read_number(block, row, dimension)
            for dimension in self.rubric.dimensions
        }
        self._add_blank_findings(
            block, row, [name for name, value in values.items() if value is None]
        )
        answers = {
            name: answer
            for name, column in block.questions.items()
            if (answer := cell_text(block.sheet.spread(row, column)))
        }
        return JudgedRow(
            record,
            caption,
            values,
            self._place(block, row, block.caption),
            {name: self._place(block, row, name).cell for name in values},
            self._dataset,
            self._read_synthesised(block, row, answers),
            "\n".join(self._comments(block, row)),
            answers,
        )

    def _comments(self, block: SheetBlock, row: int) -> Iterator[str]:
        """Yield the text of the column of comments, and the comments on cells of a row."""
        if text := cell_text(self._cell(block, row, "comment")):
            yield text
        columns = {*block.columns.values(), *block.questions.values()} if self.comments else ()
        for column in sorted(columns):
            if text := self.comments.pop((block.sheet.name, row, column), ""):
                is_named = column != block.columns.get("comment")
                head = cell_text(block.sheet.at(block.head, column)).rstrip(":") * is_named
                yield f"{head}: {text}" if head else text

    def _read_record(self, block: SheetBlock, row: int, caption: str) -> str:
        """Return the clip, from the key of the row, its cell, or the row above."""
        if "key" in block.columns:
            return self._record_from_key(block, row, caption)
        column = block.columns["record"]
        cell = block.sheet.spread(row, column)
        if is_formula(cell):
            self._add_problem(block, row, "record", "clip_formula")
        if not cell_text(cell) and self._above:
            message = f'missing clip; "{self._above}" is used, as in the row above'
            self._add_finding("above", block, row, "record", message)
        record = cell_text(cell) or self._above
        if not record:
            self._add_problem(block, row, "record", "missing_clip")
        elif not is_name(record):
            self._add_problem(block, row, "record", "clip_name", value=show(record))
        self._above = record
        return record

    def _record_from_key(self, block: SheetBlock, row: int, caption: str) -> str:
        key = cell_text(self._cell(block, row, "key"))
        record, mark, hash_ = key.rpartition(KEY_SEPARATOR)
        if not mark or not record:
            self._add_problem(block, row, "key", "hidden_key", value=key)
        elif hash_ != caption_hash(caption):
            self._add_problem(
                block, row, block.caption, "changed_caption", value=caption[:SHOWN_TEXT_CHARACTERS]
            )
        return record

    def _read_number(self, block: SheetBlock, row: int, dimension: Dimension) -> float | None:
        name = dimension.name
        value = read_number(self._cell(block, row, name), dimension)
        if not isinstance(value, CodedFault):
            return value
        if self.drop and value.code in OFF_SCALE_CODES:
            message = f"{fault_texts(value)[0]}; {BLANK_NOTE}"
            self._add_finding("dropped", block, row, name, message)
        else:
            self.problems.append(self._place(block, row, name).problem(value))
        return None

    def _add_blank_findings(self, block: SheetBlock, row: int, names: list[str]) -> None:
        blank = [name for name in names if is_blank(self._cell(block, row, name))]
        if len(blank) == len(self.rubric.names):
            self._add_finding("unrated", block, row, blank[0], "all dimensions are blank")
            return
        for name in blank:
            self._add_finding("blank", block, row, name, f"{name} is blank")

    def _read_synthesised(
        self, block: SheetBlock, row: int, answers: dict[str, str]
    ) -> bool | None:
        """Return whether the rater says yes or no; any other answer is kept as text."""
        if "synthesised" not in block.columns:
            return None
        column = block.columns["synthesised"]
        said = cell_text(block.sheet.spread(row, column))
        word = said.casefold().strip(".!? ")
        if word in YES_WORDS | NO_WORDS:
            return word in YES_WORDS
        if word and word not in {"n/a", "na", "-"}:
            message = f'synthesized: "{said[:SHOWN_TEXT_CHARACTERS]}" is neither yes nor no'
            self._add_finding("unclear", block, row, "synthesised", message)
            answers[cell_text(block.sheet.at(block.head, column))] = said
        return None

    def _pass_over(self, block: SheetBlock, row: int) -> None:
        """Read a row without caption and values: a dataset heading, or a row that is ignored."""
        cells = [
            text for name in block.columns if (text := cell_text(self._cell(block, row, name)))
        ]
        if not self._read_heading(block, row) and cells:
            said = min(block.texts(row).items())[1][:SHOWN_TEXT_CHARACTERS]
            message = f'"{said}": row without caption and values is ignored'
            self._add_finding("passed", block, row, "", message)

    def _read_heading(self, block: SheetBlock, row: int) -> str:
        """Return a dataset heading; if it is unclear whether a row is one, add a problem.

        The same text twice, beside other texts, is no name: "Dataset | Parks", "Dataset | Streets".
        """
        heading = block.heading(row)
        self._dataset = heading or self._dataset
        if not heading and (said := block.unclear_heading(row)):
            self._add_doubt(block, row, said)
            if row > block.head and not cell_text(self._cell(block, row, "number")):
                self.problems.append(self.doubts.pop())
        texts = [text for text in block.texts(row).values() if text != heading] if heading else []
        if texts and self._beside.setdefault(heading, texts) != texts:
            self._add_doubt(block, row, heading)
        for text in texts:
            message = f'"{text[:SHOWN_TEXT_CHARACTERS]}" beside the heading is ignored'
            self._add_finding("passed", block, row, "", message)
        return heading

    def _add_doubt(self, block: SheetBlock, row: int, said: str) -> None:
        wrong = fault("unclear_heading", value=said[:SHOWN_TEXT_CHARACTERS])
        self.doubts.append(self._place(block, row, "").problem(wrong))

    def _cell(self, block: SheetBlock, row: int, role: str) -> Cell:
        column = block.columns.get(role)
        return None if column is None else block.sheet.at(row, column)

    def _place(self, block: SheetBlock, row: int, role: str) -> CellLocation:
        column = block.columns.get(role)
        cell = f"{column_letters(column)}{row}" if column is not None else str(row)
        return CellLocation(self.source, block.sheet.name, cell)

    def _add_problem(
        self, block: SheetBlock, row: int, role: str, code: str, **values: object
    ) -> None:
        self.problems.append(self._place(block, row, role).problem(fault(code, **values)))

    def _add_finding(self, kind: str, block: SheetBlock, row: int, role: str, message: str) -> None:
        self.findings.append(Finding(kind, self._place(block, row, role), message))


# --- Returned workbooks --------------------------------------------------------------------------
# All problems of a file are reported at once, with sheet, cell and value, and nothing is read.
# Findings report unusual content that is allowed, such as blanks and duplicate captions.


ABOUT_SHEET, ABOUT_FIRST_CELL = "Study", "earwitness"  # hidden sheet of exported workbooks
LISTENER_NUMBER = re.compile(r"[1-9]\d{0,8}", re.ASCII)
NUMBERED_RATER = re.compile(r"P\d+", re.I)
FLAVOR_SUFFIX = re.compile(r"[ _-]\(?(?:local|web|excel|google)\b.*", re.I)
IMPORT_DONE_WORD = "imported"


def read_workbook(
    place: StrPath | bytes,
    rubric: Rubric | None = None,
    *,
    name: str = "",
    unpacked: int = MAX_UNPACKED_BYTES,
    faults: str = FAULT_POLICIES[0],
) -> ReturnedWorkbook:
    """Read a completed workbook.

    Parameters
    ----------
    place
        Path of the workbook, or its bytes.
    rubric
        Rubric of the ratings; THumBS by default.
    name
        Name of the file, for messages, and of its rater if the workbook does not name one
        (``P3_google.xlsx`` is of P3).
    unpacked
        Maximum unpacked size in bytes.
    faults
        ``refuse`` values outside a scale, or ``drop`` them, that is treat them as blanks.

    Returns
    -------
    ReturnedWorkbook

    Raises
    ------
    InputError
        If the workbook has problems; all of them are listed.
    """
    name = whole_characters(name or (str(place) if not isinstance(place, bytes) else "workbook"))
    data = place if isinstance(place, bytes) else _read_bytes(Path(place), name)
    book = open_workbook(data, name, unpacked)
    reading = SheetReader(name, rubric or thumbs(), faults == "drop")
    reading.comments = {
        (sheet.name, *place): text
        for sheet in book.sheets
        for place, text in sheet.comments.items()
    }
    about = _read_about(book.sheets)
    others = tuple(sheet for sheet in book.sheets if sheet.name != ABOUT_SHEET or not about)
    blocks = assessment_blocks(others, reading.rubric)
    if not blocks:
        names = ", ".join(f'"{sheet.name}"' for sheet in others)
        asked = ", ".join(sheet.shown for sheet in reading.rubric.dimensions)
        wrong = fault("no_columns", names=asked, sheets=names)
        reading.problems.append(fault_problem(wrong, name))
    rows = [row for block in blocks for row in reading.read_block(block)]
    kept = list(_drop_repeats(rows, reading))
    if not any("key" in block.columns for block in blocks):
        reading.problems += _same_caption_problems(kept)
    who = about.get("rater") or rater_from_name(name)
    if not is_name(who):
        wrong = fault("rater_name", value=show(who))
        reading.problems.append(fault_problem(wrong, name, field="rater"))
    if any(row.dataset for row in kept):
        reading.problems += reading.doubts
    refuse_problems([*dict.fromkeys(reading.problems)], IMPORT_DONE_WORD)
    findings = (
        *(Finding("passed", CellLocation(name, "", ""), remark) for remark in book.remarks),
        *dict.fromkeys(reading.findings),
        *_comment_findings(reading),
        *_duplicate_findings(kept),
    )
    source = Input(name, hashlib.sha256(data).hexdigest(), len(data))
    listener = about.get("listener", "")
    return ReturnedWorkbook(
        who,
        tuple(_spread_over_clip(kept)),
        findings,
        source,
        about.get("study", ""),
        about.get("digest", ""),
        int(listener) if LISTENER_NUMBER.fullmatch(listener) else 0,
    )


def read_workbooks(
    places: Sequence[StrPath],
    rubric: Rubric | None = None,
    faults: str = FAULT_POLICIES[0],
) -> tuple[list[ReturnedWorkbook], list[Problem]]:
    """Return the workbooks without problems, and the problems of the others."""
    workbooks, problems = list[ReturnedWorkbook](), list[Problem]()
    for place in places:
        try:
            workbooks.append(read_workbook(place, rubric, faults=faults))
        except InputError as error:
            problems += error.problems
    return workbooks, problems


def rejected_raters(problems: Iterable[Problem], books: Iterable[ReturnedWorkbook]) -> set[str]:
    """Return the raters of the files with problems."""
    raters = {book.input.name: book.rater for book in books}
    sources = {problem.source for problem in problems}
    return {raters.get(source) or rater_from_name(source) for source in sources}


def rejection(problems: Sequence[Problem], imported: Iterable[str]) -> InputError | None:
    """Return the problems of rejected raters, if any; raise them if no rater was imported."""
    others = ", ".join(sorted(imported, key=lambda rater: (len(rater), rater)))  # P2 before P10
    if problems and not others:
        raise InputError(problems, done=IMPORT_DONE_WORD)
    files = ", ".join(dict.fromkeys(Path(problem.source).name for problem in problems))
    done = f"{IMPORT_DONE_WORD} from {files}; imported: {others}"
    return InputError(problems, done=done) if problems else None


def rater_from_name(name: str) -> str:
    """Return the rater of a file, from its name.

    >>> names = ("in/P3_google.xlsx", "anna_local (2).xlsx", "bert.xlsx")
    >>> tuple(map(rater_from_name, names))
    ('P3', 'anna', 'bert')
    """
    stem = Path(name).stem
    numbered = NUMBERED_RATER.match(stem)
    return numbered[0].upper() if numbered else FLAVOR_SUFFIX.sub("", stem).strip() or stem


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        wrong = fault("unreadable_file", value=error.strerror)
        raise InputError([fault_problem(wrong, name)], done=IMPORT_DONE_WORD) from error


def _read_about(sheets: Iterable[Sheet]) -> dict[str, str]:
    """Return the content of the hidden sheet of an exported workbook, if any."""
    for sheet in sheets:
        if sheet.name == ABOUT_SHEET and cell_text(sheet.at(1, 0)) == ABOUT_FIRST_CELL:
            return {
                cell_text(row[0]): cell_text(row[1]) for row in sheet.rows.values() if len(row) > 1
            }
    return {}


def _comment_findings(reading: SheetReader) -> Iterator[Finding]:
    """Yield findings for the comments that were not read."""
    for (sheet, row, column), text in sorted(reading.comments.items()):
        place = CellLocation(reading.source, sheet, f"{column_letters(column)}{row}")
        wrong = fault("lone_comment", value=" ".join(text.split()))
        yield Finding("comment", place, fault_texts(wrong)[0], wrong)


def _drop_repeats(rows: Iterable[JudgedRow], reading: SheetReader) -> Iterator[JudgedRow]:
    """Yield each clip and caption once; repeated rows must have the same values."""
    seen: dict[tuple[str, str], JudgedRow] = {}
    for row in rows:
        first = seen.setdefault(row.key, row)
        if first is row:
            yield row
        elif first.values == row.values:
            message = f"repeats row {first.place.cell}; counted once"
            reading.findings.append(Finding("repeated", row.place, message))
        else:
            repeated = fault("repeated_caption", name=row.record, cell=first.place.cell)
            reading.problems.append(row.place.problem(repeated))


def _same_caption_problems(rows: Sequence[JudgedRow]) -> Iterator[Problem]:
    """Yield a problem for each caption of many clips: its texts must be elsewhere."""
    by_caption = group_values((caption_hash(row.caption), row) for row in rows)
    count = len({row.record for row in rows})
    for same in by_caption.values():
        clips, first = len({row.record for row in same}), same[0]
        if clips >= MIN_CLIPS_WITH_SAME_CAPTION and clips > MAX_SHARE_WITH_SAME_CAPTION * count:
            shown = first.caption[:SHOWN_TEXT_CHARACTERS]
            wrong = fault("same_caption", number=clips, count=count, value=shown)
            yield first.place.problem(wrong)


def _duplicate_findings(rows: Iterable[JudgedRow]) -> Iterator[Finding]:
    """Yield findings for captions of two clips."""
    first: dict[str, JudgedRow] = {}
    for row in rows:
        before = first.setdefault(caption_hash(row.caption), row)
        if before is not row:
            message = f'clip "{row.record}" has the same caption as "{before.record}"'
            yield Finding("duplicate", row.place, f"{message} ({before.place.cell})")


def _spread_over_clip(rows: Sequence[JudgedRow]) -> Iterator[JudgedRow]:
    """Apply the answer for a clip to all its captions."""
    said: dict[str, bool] = {}
    for row in rows:
        if row.synthesised is not None:
            said.setdefault(row.record, row.synthesised)
    for row in rows:
        synthesised = row.synthesised if row.synthesised is not None else said.get(row.record)
        yield replace(row, synthesised=synthesised)
