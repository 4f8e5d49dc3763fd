"""Values of sheets: rows of a table, or marks that were added to a PDF file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.errors import MissingExtra, Problem, nearest
from earwitness.io.tables import read_row_table, unescape_formula
from earwitness.studies.sheets.layout import (
    FOOTER,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    PLANE_LEFT,
    PLANE_SIDE,
    PLANE_TOP,
    SHEET_COLUMNS,
    values_at,
)

NEEDED_COLUMNS = ("listener", "recording", "skim", "tc", "sd")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One skim of a sheet as it was read; empty cells are empty texts.

    A row without a skim is a comment on the whole plane. ``code`` is that of the study on a sheet.
    """

    source: str
    line: int
    listener: str
    page: str
    recording: str
    skim: str
    tc: str
    sd: str
    comment: str = ""
    code: str = ""


def read_sheet_rows(path: Path, problems: list[Problem]) -> list[SheetRow]:
    """Return the rows of a table or of a PDF file; problems are added to a list."""
    if path.suffix.lower() == ".pdf":
        return list(_pdf_rows(path, problems))
    return list(_table_rows(path, problems))


def _table_rows(path: Path, problems: list[Problem]) -> Iterator[SheetRow]:
    try:
        head = path.read_bytes().split(b"\n", 1)[0]
    except OSError:
        head = b""  # reported below
    delimiter = max(",;\t", key=lambda mark: head.count(mark.encode()))
    table = read_row_table(path, "write it with: earwitness study sheets", delimiter=delimiter)
    problems += table.problems
    if table.problems:
        return
    columns = [str(name).strip() for name in table.columns or ()]
    for name in NEEDED_COLUMNS:
        if name not in columns:
            problems.append(Problem(str(path), 1, name, "missing column"))
    for name in columns:
        if name not in SHEET_COLUMNS:
            remedy = nearest(name, SHEET_COLUMNS)
            problems.append(Problem(str(path), 1, name, "unknown column", remedy))
    for line, row in table.rows:
        cells = {
            str(name).strip(): unescape_formula(str(cell or "").strip())
            for name, cell in row.items()
        }
        yield SheetRow(str(path), line, *(cells.get(name, "") for name in SHEET_COLUMNS))


# --- Marks in a PDF file -------------------------------------------------------------------------
# Programs add a cross as a drawing (ink, lines, a stamp, a square), or as text, and its number as
# text. Texts are annotations, or, in programs that flatten them, part of the page. The plane itself
# is printed without text, so all text inside it was added.


IGNORED_ANNOTATIONS = {"/Link", "/Popup", "/Widget"}
TEXT_ANNOTATIONS = {"/FreeText", "/Text"}
PLANE_MARGIN = 8.0  # points around the plane in which marks count
CROSS_RADIUS = 12.0  # points: strokes that are as near belong to one cross
NUMBER_RADIUS = 40.0  # points: largest distance from a cross to its number
UNJOINED = 1e6  # cost of a number that is not joined with a cross near it
CROSSES = "xX×✕✖✗✘+╳"
NUMBERED = re.compile(
    rf"(?P<before>[{CROSSES}\s]*)(?:[A-Za-z]{{1,3}}-)?(?P<number>\d{{1,2}})(?P<after>[{CROSSES}\s]*)"
)
NUMBERED_COMMENT = re.compile(r"\s*(?:[A-Za-z]{1,3}-)?(\d{1,2})\s*[:.)]\s*(\S.*)")
MIDDLE_OF_TEXT = (0.28, 0.35)  # from the start of a line, in font sizes per character and upwards


Place = tuple[float, float]


class AddedMark(NamedTuple):
    """Something added to a page: its place from the left and the top, and its text."""

    x: float
    y: float
    text: str
    is_text: bool

    @property
    def is_cross(self) -> bool:
        """Whether the mark is a drawing without text, or the text is a cross."""
        return not self.text.strip(CROSSES + " \n")

    @property
    def is_sign(self) -> bool:
        """Whether the mark is a cross, a number or both."""
        return self.is_cross or NUMBERED.fullmatch(self.text) is not None

    def is_inside(self, margin: float = 0.0) -> bool:
        """Return whether the mark is on the plane, or as near to it as a margin."""
        return all(
            -margin <= place <= PLANE_SIDE + margin
            for place in (self.x - PLANE_LEFT, self.y - PLANE_TOP)
        )


def _pdf_rows(path: Path, problems: list[Problem]) -> Iterator[SheetRow]:
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ModuleNotFoundError:
        raise MissingExtra("pypdf", "pdf", "reading sheets") from None
    found = False
    try:
        for number, page in enumerate(PdfReader(path).pages, 1):
            printed, texts = _page_texts(page)
            match = FOOTER.search(printed)
            if match is None:
                continue
            found = True
            added = [text for text in texts if text.is_inside() and text.is_sign]
            marks = [*_annotation_marks(page), *added]
            yield from _mark_rows(marks, str(path), number, match, problems)
    except (PyPdfError, OSError, ValueError, KeyError) as error:
        problems.append(Problem(str(path), 0, "", f"cannot be read: {error}"))
        return
    if not found:
        remedy = "use the file that was written by: earwitness study sheets"
        problems.append(Problem(str(path), 0, "", "has no sheets of a study", remedy))


def _page_texts(page: Any) -> tuple[str, list[AddedMark]]:
    """Return all text of a page, and its pieces with their places."""
    pieces: list[AddedMark] = []
    place = _placer(page)

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        del font
        shown = text.strip()
        if shown:
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4] + MIDDLE_OF_TEXT[0] * size * len(shown)
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5] + MIDDLE_OF_TEXT[1] * size
            pieces.append(AddedMark(*place(x, y), shown, is_text=True))

    return page.extract_text(visitor_text=visit), pieces


def _placer(page: Any) -> Callable[[float, float], Place]:
    """Return a function from coordinates of a PDF page to those of sheets."""
    box = page.mediabox
    left, top = float(box.left), float(box.top)
    width, height = float(box.width), float(box.height)

    def place(x: float, y: float) -> Place:
        return (float(x) - left) * PAGE_WIDTH / width, (top - float(y)) * PAGE_HEIGHT / height

    return place


def _annotation_marks(page: Any) -> Iterator[AddedMark]:
    place = _placer(page)
    for reference in page.get("/Annots") or ():
        annotation = reference.get_object()
        kind = annotation.get("/Subtype")
        if kind in IGNORED_ANNOTATIONS or "/Rect" not in annotation:
            continue
        points = _annotation_points(annotation, kind)
        xs, ys = points[0::2], points[1::2]
        middle = place((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
        text = str(annotation.get("/Contents") or "").replace("\r", "\n").strip()
        if not text and kind == "/FreeText":
            text = re.sub("<[^>]*>", "", str(annotation.get("/RC") or "")).strip()
        yield AddedMark(*middle, text, kind in TEXT_ANNOTATIONS)


def _annotation_points(annotation: Any, kind: str) -> list[float]:
    """Return the coordinates of a drawing, or the corners of its rectangle."""
    if kind == "/Ink" and annotation.get("/InkList"):
        strokes = (stroke.get_object() for stroke in annotation["/InkList"].get_object())
        return [float(x) for stroke in strokes for x in stroke]
    key = {"/Line": "/L", "/PolyLine": "/Vertices", "/Polygon": "/Vertices"}.get(kind, "/Rect")
    return [float(x) for x in annotation.get(key, annotation["/Rect"])]


# --- Marks to rows -------------------------------------------------------------------------------


def _mark_rows(
    marks: Sequence[AddedMark],
    source: str,
    line: int,
    sheet: re.Match[str],
    problems: list[Problem],
) -> Iterator[SheetRow]:
    """Yield the rows of one sheet; its page in the file is the line."""
    code, listener, page = sheet.groups()
    where = (source, line, listener, page, "")
    numbers, crosses, comments = _sort_marks(marks)
    for number, place in _join_numbers(numbers, crosses).items():
        for tc, sd in (values_at(*one) for one in place):
            yield SheetRow(*where, number, f"{tc:.4f}", f"{sd:.4f}", code=code)
    for x, y in crosses:
        tc, sd = values_at(x, y)
        message = f"page {line}: the cross at TC {tc:.2f}, SD {sd:.2f} has no number"
        problems.append(Problem(source, 0, "", message, "write the number above the cross"))
    whole = []
    for text in comments:
        for part in filter(None, map(str.strip, text.split("\n"))):
            if match := NUMBERED_COMMENT.fullmatch(part):
                yield SheetRow(*where, match[1], "", "", match[2], code)
            else:
                whole.append(part)
    if whole:
        yield SheetRow(*where, "", "", "", " ".join(whole), code)


class NumberMark(NamedTuple):
    """A number, its place, and whether the place is that of the skim."""

    number: str
    place: Place
    is_exact: bool


def _sort_marks(
    marks: Iterable[AddedMark],
) -> tuple[list[NumberMark], list[Place], list[str]]:
    """Return numbers and crosses on the plane, and all other texts."""
    numbers, strokes, comments = list[NumberMark](), list[Place](), list[str]()
    for mark in marks:
        match = NUMBERED.fullmatch(mark.text)
        if not mark.is_sign:
            comments.append(mark.text)
        elif not mark.is_inside(PLANE_MARGIN):
            continue
        elif match:
            has_cross = bool((match["before"] + match["after"]).strip())
            place = (mark.x, mark.y)
            numbers.append(NumberMark(match["number"], place, has_cross or not mark.is_text))
        else:
            strokes.append((mark.x, mark.y))
    return numbers, _join_strokes(strokes), comments


def _join_strokes(strokes: Sequence[Place]) -> list[Place]:
    """Return the middles of crosses; strokes close to each other are one cross."""
    crosses: list[list[Place]] = []
    for stroke in strokes:
        near = [cross for cross in crosses if dist(cross[0], stroke) <= CROSS_RADIUS]
        if near:
            near[0].append(stroke)
        else:
            crosses.append([stroke])
    return [
        (sum(x for x, _ in cross) / len(cross), sum(y for _, y in cross) / len(cross))
        for cross in crosses
    ]


def _join_numbers(numbers: Sequence[NumberMark], crosses: list[Place]) -> dict[str, list[Place]]:
    """Return places by number; numbers without a cross count where they are.

    Numbers and crosses are joined so that the sum of their distances is as small as possible.
    Crosses that are used are removed from the list.
    """
    from scipy.optimize import linear_sum_assignment

    places: dict[str, list[Place]] = {}
    loose = [mark for mark in numbers if not mark.is_exact]
    distances = np.array([[dist(mark.place, cross) for cross in crosses] for mark in loose])
    is_near = distances <= NUMBER_RADIUS
    joined: dict[int, Place] = {}
    if is_near.any():
        pairs = zip(*linear_sum_assignment(np.where(is_near, distances, UNJOINED)), strict=True)
        joined = {mark: crosses[cross] for mark, cross in pairs if is_near[mark, cross]}
    for cross in joined.values():
        crosses.remove(cross)
    for mark in numbers:
        if mark.is_exact:
            places.setdefault(mark.number, []).append(mark.place)
    for index, mark in enumerate(loose):
        places.setdefault(mark.number, []).append(joined.get(index, mark.place))
    return places
