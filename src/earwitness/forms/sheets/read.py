"""Values of sheets: rows of a table, or marks that were added to a PDF file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import dist
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earwitness.errors import MissingExtra, Problem, file_problem, nearest
from earwitness.forms.sheets.layout import SHEET_COLUMNS, values_at
from earwitness.forms.sheets.marks import (
    MovedPage,
    Place,
    PlaneMarks,
    Stroke,
    TextMark,
    is_inside,
    is_mark,
    read_marks,
)
from earwitness.forms.sheets.page_content import Points
from earwitness.io.tables import read_row_table

SHEETS_REMEDY = "use the file that was written by: earwitness study sheets"
NEEDED_COLUMNS = ("study", "listener", "recording", "skim", "tc", "sd")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One skim of a sheet as it was read; empty cells are empty texts.

    A row without a skim is a comment on the whole plane. ``study`` has the code of the study.
    """

    source: str
    line: int
    study: str
    listener: str
    page: str
    recording: str
    skim: str
    tc: str
    sd: str
    comment: str = ""
    is_drawn: bool = field(default=False, kw_only=True)

    @property
    def place(self) -> tuple[str, int]:
        """Where the row was read: a file and its line, or a page of a PDF file."""
        return (
            (f"{self.source}: page {self.line}", 0) if self.is_drawn else (self.source, self.line)
        )

    @property
    def has_values(self) -> bool:
        """Whether a place or comment was filled in."""
        return bool(self.tc or self.sd or self.comment)


def read_sheet_rows(path: Path, problems: list[Problem], notes: list[str]) -> list[SheetRow]:
    """Return the rows of a table or of a PDF file; problems and notes are added to lists."""
    count, is_pdf = len(problems), path.suffix.lower() == ".pdf"
    rows = list(_pdf_rows(path, problems, notes) if is_pdf else _table_rows(path, problems))
    if len(problems) == count and not any(row.has_values for row in rows):
        remedy = EMPTY_PDF_REMEDY if is_pdf else "fill in the columns tc and sd"
        problems.append(file_problem(path, "has no values", remedy))
    return rows


def _table_rows(path: Path, problems: list[Problem]) -> Iterator[SheetRow]:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        remedy = "save it as “CSV UTF-8” in the spreadsheet program"
        problems.append(file_problem(path, "is not a table in UTF-8", remedy))
        return
    except OSError:
        pass  # reported below
    table = read_row_table(path, "write it with: earwitness study sheets", delimiter=None)
    problems += table.problems
    if table.problems:
        return
    columns = [str(name).strip() for name in table.columns or ()]
    missing = [name for name in NEEDED_COLUMNS if name not in columns]
    if missing:
        message = f"missing columns: {', '.join(missing)}"
        problems.append(Problem(str(path), 1, "", message, SHEETS_REMEDY))
    for name in columns if {*columns} & {*SHEET_COLUMNS} else ():
        if name not in SHEET_COLUMNS:
            remedy = nearest(name, SHEET_COLUMNS)
            problems.append(Problem(str(path), 1, name, "unknown column", remedy))
    if missing:
        return
    for line, row in table.rows:
        cells = {str(name).strip(): str(cell or "").strip() for name, cell in row.items()}
        yield SheetRow(str(path), line, *(cells.get(name, "") for name in SHEET_COLUMNS))


# --- PDF files -----------------------------------------------------------------------------------


DAMAGE_REMEDY = "open it in a PDF program, and save it again"
# besides its own errors, pypdf raises these if a file is damaged
DAMAGE_ERRORS = (  # raised by pypdf
    *(AssertionError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError),
)
EMPTY_PDF_REMEDY = "add marks, and save the file instead of printing it"
NUMBER_REMEDY = "type the number of its skim above the cross; handwritten numbers are not read"
TYPE_REMEDY = "type its values into the table of: earwitness study sheets"


def _pdf_rows(path: Path, problems: list[Problem], notes: list[str]) -> Iterator[SheetRow]:
    try:
        from pypdf import PdfReader
        from pypdf.errors import (
            DependencyError,
            DeprecationError,
            FileNotDecryptedError,
            PyPdfError,
        )
    except ModuleNotFoundError:
        raise MissingExtra("pypdf", "pdf", "reading sheets") from None
    found = False
    try:
        for number, page in enumerate(PdfReader(path).pages, 1):
            where = SheetPlace(str(path), number, problems, notes)
            try:
                match, marks, content = read_marks(page)
            except MovedPage as error:
                found = True
                where.tell(f"the page was changed: {error}", TYPE_REMEDY)
                continue
            if match is not None:
                found = True
                yield from _mark_rows(marks, match, where)
            elif content.image_area > page.mediabox.width * page.mediabox.height / 2:
                found = True
                where.tell("the page is a picture, which is not read", TYPE_REMEDY)
            elif count := sum(
                1 for annotation in page.get("/Annots", ()) if is_mark(annotation.get_object())
            ):
                where.note(f"{count:,} annotations are not on a sheet, and are not read")
    except (DependencyError, FileNotDecryptedError):
        problems.append(file_problem(path, "is encrypted", "save it without a password"))
        return
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        problems.append(file_problem(path, message, SHEETS_REMEDY))
        return
    except (DeprecationError, PyPdfError, RecursionError, *DAMAGE_ERRORS) as error:
        problems.append(
            file_problem(path, f"cannot be read: {str(error) or 'it is damaged'}", DAMAGE_REMEDY)
        )
        return
    if not found:
        problems.append(file_problem(path, "has no sheets of a study", SHEETS_REMEDY))


class SheetPlace(NamedTuple):
    """A page of a PDF file, and where its problems and notes are collected."""

    source: str
    page: int
    problems: list[Problem]
    notes: list[str]

    def tell(self, message: str, remedy: str) -> None:
        """Add a problem."""
        self.problems.append(file_problem(f"{self.source}: page {self.page}", message, remedy))

    def note(self, message: str) -> None:
        """Add a note."""
        self.notes.append(f"{self.source}: page {self.page}: {message}")


# --- Marks to rows -------------------------------------------------------------------------------


PLANE_MARGIN = 8.0  # points around the plane in which marks count
NUMBER_RADIUS = 40.0  # points: largest distance from a cross to its number
UNJOINED = 1e6  # cost of a number that is not joined with a cross near it
CLEAR_RATIO = 1.5  # of the costs of exchanged and chosen numbers, from which the choice is clear
SAME_CROSS = 3.0  # points between crosses whose exchange does not matter
NUMBERED_COMMENT = re.compile(
    r"(?:([A-Za-z]{1,3})-)?(\d{1,2})(?:\s*[:.)](?!\d)|\s+[-–—](?=\s))\s*(.*)"
)


class Cross(NamedTuple):
    """A cross on the plane, and the text that is attached to it."""

    place: Place
    text: str = ""


def _mark_rows(marks: PlaneMarks, sheet: re.Match[str], where: SheetPlace) -> Iterator[SheetRow]:
    """Yield the rows of one sheet; its page in the file is the line."""
    code, listener, page = sheet.groups()
    numbers, crosses, comments = _sort_marks(marks)
    parts = [part for comment in comments for part in _comment_parts(comment)]
    named = {mark.recording for mark in numbers} | {name for name, _, _ in parts}
    recordings = sorted(named - {""})
    if len(recordings) > 1:
        message = f"has numbers of several recordings: {', '.join(recordings)}"
        where.tell(message, "move them to the sheets of their recordings")
    recording = recordings[0] if len(recordings) == 1 else ""
    start = where.source, where.page, code, listener, page, recording
    row = partial(SheetRow, *start, is_drawn=True)
    by_skim: dict[str, list[str]] = {}
    for number, cross in _join_numbers(numbers, crosses, where):
        tc, sd = values_at(*cross.place)
        yield row(number, f"{tc:.4f}", f"{sd:.4f}")
        if cross.text:
            by_skim.setdefault(number, []).append(cross.text)
    for _, number, text in parts:
        by_skim.setdefault(number, []).append(text)
    for number, texts in by_skim.items():
        yield row(number, "", "", " ".join(texts))


def _sort_marks(marks: PlaneMarks) -> tuple[list[TextMark], list[Cross], list[str]]:
    """Return numbers, crosses on the plane, and all other texts."""
    numbers, comments = list[TextMark](), [*marks.comments]
    drawn = [*_join_strokes(marks.strokes), *(Cross(*shape) for shape in marks.shapes)]
    drawn += [Cross(mark.place) for mark in marks.texts if mark.is_cross]
    for mark in marks.texts:
        if mark.number:
            numbers.append(mark)
        elif mark.text and not mark.is_cross:
            comments.append(mark.text)
    crosses = list[Cross]()
    for cross in drawn:
        attached = TextMark(cross.text, cross.place, is_callout=True)
        if not is_inside(cross.place, PLANE_MARGIN):
            comments += [cross.text] if cross.text else []
        elif attached.number:
            numbers.append(attached)
        else:
            crosses.append(cross)
    return numbers, crosses, comments


def _comment_parts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield recording and number of a skim, or empty texts, and the comment on it.

    A line without a number continues the line before; an empty line ends a comment.
    """
    recording, number, lines = "", "", list[str]()
    for line in [*map(str.strip, text.split("\n")), ""]:
        match = NUMBERED_COMMENT.fullmatch(line)
        if (match or not line) and lines:
            yield recording, number, " ".join(lines)
        if match or not line:
            recording, number, lines = "", "", []
        if match:
            recording, number, line = match.groups("")
            recording = recording.upper()
        if line:
            lines.append(line)


def _join_numbers(
    numbers: Sequence[TextMark], crosses: Sequence[Cross], where: SheetPlace
) -> Iterator[tuple[str, Cross]]:
    """Yield numbers with their crosses; if no number has one, they count where they are.

    The sum of squared distances between numbers and crosses is as small as possible. This sum is
    not changed by a shift of all numbers, so numbers above their crosses are not exchanged.
    """
    from scipy.optimize import linear_sum_assignment

    loose = [mark for mark in numbers if not mark.is_exact]
    yield from ((mark.number, Cross(mark.place)) for mark in numbers if mark.is_exact)
    squares = np.array(
        [[dist(mark.place, cross.place) ** 2 for cross in crosses] for mark in loose]
    )
    is_near = squares <= NUMBER_RADIUS**2
    joined: dict[int, int] = {}
    if is_near.any():
        pairs = zip(*linear_sum_assignment(np.where(is_near, squares, UNJOINED)), strict=True)
        joined = {mark: cross for mark, cross in pairs if is_near[mark, cross]}
    alone = [mark for index, mark in enumerate(loose) if index not in joined]
    yield from ((loose[mark].number, crosses[cross]) for mark, cross in joined.items())
    yield from ((mark.number, Cross(mark.place)) for mark in alone)
    unclear = _unclear_numbers([(loose[i], crosses[j]) for i, j in joined.items()])
    if unclear:
        message = f"{_listed(unclear, 'is', 'are')} near several crosses, and may be exchanged"
        where.tell(message, f"move each number above its cross, or {TYPE_REMEDY}")
    left = [cross for index, cross in enumerate(crosses) if index not in joined.values()]
    for cross in left:
        tc, sd = values_at(*cross.place)
        message = f"the cross at TC {tc:.2f}, SD {sd:.2f} has no number"
        where.tell(message, NUMBER_REMEDY)
    outside = [mark.number for mark in alone if not is_inside(mark.place, PLANE_MARGIN)]
    if outside:
        message = f"{_listed(outside, 'is', 'are')} outside of the plane"
        where.tell(message, "move numbers onto the plane, or delete them")
    inside = [mark.number for mark in alone if is_inside(mark.place, PLANE_MARGIN)]
    if inside and (left or len(alone) < len(numbers)):
        message = f"{_listed(inside, 'has', 'have')} no cross nearby"
        where.tell(message, "place each number above its cross")
    elif inside:
        where.note(f"{_listed(inside, 'has', 'have')} no cross; places of numbers count")


def _unclear_numbers(pairs: Sequence[tuple[TextMark, Cross]]) -> list[str]:
    """Return the numbers of which two could be exchanged at little more cost.

    The cost of two pairs is the squared difference between their steps from cross to number, so
    that numbers on the same side of their crosses are clear, even if the crosses almost touch.
    """
    unclear = set[str]()
    for (mark, cross), (other, second) in combinations(pairs, 2):
        apart = np.subtract(cross.place, second.place)
        numbers_apart = np.subtract(mark.place, other.place)
        chosen, exchanged = (np.sum((numbers_apart - sign * apart) ** 2) for sign in (1, -1))
        reach = max(dist(mark.place, second.place), dist(other.place, cross.place))
        matters = np.hypot(*apart) > SAME_CROSS and reach <= NUMBER_RADIUS
        if matters and exchanged < CLEAR_RATIO * chosen:
            unclear |= {mark.number, other.number}
    return [*unclear]


def _listed(numbers: Sequence[str], one: str, many: str) -> str:
    """Return numbers as the subject of a sentence, with its verb."""
    subject, verb = ("number", one) if len(numbers) == 1 else ("numbers", many)
    return f"{subject} {', '.join(sorted(numbers, key=int))} {verb}"


# --- Strokes to crosses --------------------------------------------------------------------------


TOUCHING = 3.0  # points: largest gap between the strokes of a cross
SAMPLE_STEP = 0.25  # points between compared places of a stroke
MAX_SAMPLES = 500
THINNEST = 0.35  # strokes that are wider, relative to their length, are signs of their own
SMALLEST_ANGLE = 25.0  # degrees between the strokes of a cross


def _join_strokes(strokes: Sequence[Stroke]) -> Iterator[Cross]:
    """Yield crosses: two straight strokes that touch near their middles, or any other stroke.

    Strokes whose middles are closest to each other are joined first, so that crosses that overlap
    stay apart. The place of a cross is where its strokes meet.
    """
    outlines = [_outline(stroke.points) for stroke in strokes]
    pairs = []
    for i, j in combinations(range(len(strokes)), 2):
        a, b = outlines[i], outlines[j]
        apart, turn = dist(a.middle, b.middle), abs(a.angle - b.angle) % 180
        is_turned = min(turn, 180 - turn) >= SMALLEST_ANGLE
        is_central = apart <= max(a.length, b.length) / 2
        if a.is_straight and b.is_straight and is_turned and is_central:
            gap, place = _meeting(strokes[i].points, strokes[j].points)
            if gap <= TOUCHING:
                pairs.append((apart, i, j, place))
    used = set[int]()
    for _, i, j, place in sorted(pairs):
        if not {i, j} & used:
            used |= {i, j}
            yield Cross(place, strokes[i].text or strokes[j].text)
    for index, stroke in enumerate(strokes):
        if index not in used:
            yield Cross(outlines[index].middle, stroke.text)


class Outline(NamedTuple):
    """Middle, length and direction (degrees) of a stroke, and whether it is straight."""

    middle: Place
    length: float
    angle: float
    is_straight: bool


def _outline(points: Points) -> Outline:
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = (low + high) / 2
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    length, width = np.ptp((points - points.mean(axis=0)) @ axes.T, axis=0)
    angle = float(np.degrees(np.arctan2(axes[0, 1], axes[0, 0])))
    is_straight = bool(length > 0 and width <= THINNEST * length)
    return Outline((float(x), float(y)), float(length), angle, is_straight)


def _meeting(first: Points, second: Points) -> tuple[float, Place]:
    """Return the gap between two strokes, and the place where they are closest."""
    a, b = _sampled(first), _sampled(second)
    distances = np.linalg.norm(a[:, None] - b[None], axis=2)
    i, j = np.unravel_index(distances.argmin(), distances.shape)
    x, y = (a[i] + b[j]) / 2
    return float(distances[i, j]), (float(x), float(y))


def _sampled(points: Points) -> Points:
    """Return points at equal steps along a stroke."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = int(min(MAX_SAMPLES, along[-1] / SAMPLE_STEP + 2))
    wanted = np.linspace(0, along[-1], count)
    return np.stack([np.interp(wanted, along, points[:, axis]) for axis in (0, 1)], axis=1)
