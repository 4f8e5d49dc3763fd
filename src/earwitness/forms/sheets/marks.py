"""Marks that were added to a sheet in a PDF program: texts, strokes and shapes on the page.

Programs add a cross as a drawing (ink, lines, a stamp, a square), or as text, and its number as
text. Both are annotations, or, in programs that flatten them, part of the page.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import dist
from typing import Any, NamedTuple

import numpy as np

from earwitness.forms.sheets.layout import (
    CODE_ADVANCE,
    CODE_BASELINES,
    CODE_LINE,
    CODE_SIZE,
    COMMENTS_TOP,
    PLANE_LEFT,
    PLANE_SIDE,
    PLANE_TOP,
    code_starts,
    place_of,
)
from earwitness.forms.sheets.page_content import (
    MIDDLE_HEIGHT,
    PdfContent,
    Points,
    TextRun,
    appearance_content,
    page_content,
)

Place = tuple[float, float]
Placer = Callable[[float, float], Place]

CROSSES = "xX×✕✖✗✘+╳"
NUMBERED = re.compile(
    rf"(?P<before>[{CROSSES}\s]*)[#(]?(?:(?P<recording>[A-Za-z]{{1,3}})-)?(?P<number>\d{{1,2}})"
    rf"[.):]?(?P<after>[{CROSSES}\s]*)"
)


class TextMark(NamedTuple):
    """An added text, at the place of its cross or number; a callout points to its place."""

    text: str
    place: Place
    is_callout: bool = False

    @property
    def is_cross(self) -> bool:
        """Whether the text is a cross."""
        return bool(self.text) and not self.text.strip(CROSSES + " \n")

    @property
    def number(self) -> str:
        """The number that the text consists of, or an empty text."""
        return self._part("number")

    @property
    def recording(self) -> str:
        """The recording before the number, in capital letters, or an empty text."""
        return self._part("recording").upper()

    def _part(self, *names: str) -> str:
        match = NUMBERED.fullmatch(self.text)
        return "".join(match[name] or "" for name in names) if match else ""

    @property
    def is_exact(self) -> bool:
        """Whether the text has a number, and shows the place of a skim without another cross."""
        return bool(self._part("before", "after").strip()) or self.is_callout


class Stroke(NamedTuple):
    """An added line, and the text that is attached to it."""

    points: Points
    text: str = ""


class Shape(NamedTuple):
    """An added stamp, rectangle or symbol: its middle, and the text that is attached to it."""

    place: Place
    text: str = ""


@dataclass
class PlaneMarks:
    """All that was added to the page of a sheet; places are those of the layout."""

    texts: list[TextMark] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


class MovedPage(ValueError):
    """A page whose lines of code are not where a moved or scaled sheet would have them."""


def read_marks(page: Any) -> tuple[re.Match[str] | None, PlaneMarks, PdfContent]:
    """Return the line that identifies a sheet, the marks on its page, and the content.

    Raises
    ------
    MovedPage
        If the page is distorted or cropped.
    """
    content, marks = page_content(page), PlaneMarks()
    runs = content.runs()
    codes = [(run, match) for run in runs if (match := CODE_LINE.search(run.text))]
    if not codes:
        return None, marks, content
    place = _sheet_placer(codes)
    _add_content(marks, runs, content.lines, place)
    for reference in page.get("/Annots", ()):
        _add_annotation(marks, reference.get_object(), place)
    return codes[0][1], marks, content


def is_inside(place: Place, margin: float = 0.0) -> bool:
    """Return whether a place is on the plane, or as near to it as a margin."""
    x, y = place[0] - PLANE_LEFT, place[1] - PLANE_TOP
    return all(-margin <= value <= PLANE_SIDE + margin for value in (x, y))


# --- Place of the page ---------------------------------------------------------------------------


MAX_DEVIATION = 1.5  # points by which characters of the code lines may be off


def _sheet_placer(codes: Sequence[tuple[TextRun, re.Match[str]]]) -> Placer:
    """Return the function from coordinates of a page to those of the layout.

    Programs that print to PDF files move, scale or turn pages. The characters of both code lines
    show how; the transform is fitted by least squares.
    """
    if len({match[0] for _, match in codes}) > 1:
        raise MovedPage("it has several sheets")
    if len(codes) != 2:
        raise MovedPage("one of its two lines “earwitness …” is missing")
    best, deviation = None, np.inf
    for ordered in (codes, codes[::-1]):
        found, printed = [], []
        starts = code_starts(ordered[0][1][0])
        for (run, match), (left, baseline) in zip(ordered, starts, strict=True):
            for index, glyph in enumerate(run.glyphs[match.start() : match.end()]):
                if glyph is not None:
                    found.append((glyph.x, glyph.y, 1.0))
                    x = left + (index + 0.5) * CODE_ADVANCE
                    printed.append((x, baseline - MIDDLE_HEIGHT * CODE_SIZE))
        matrix, *_ = np.linalg.lstsq(np.array(found), np.array(printed), rcond=None)
        off = float(np.abs(np.array(found) @ matrix - printed).max())
        # a sheet is not mirrored: up on the page is up on the sheet, whose y grows downwards
        if off < deviation and np.linalg.det(matrix[:2]) < 0:
            best, deviation = matrix, off
    if best is None or deviation > MAX_DEVIATION:
        raise MovedPage("its text is not where it was printed")
    fitted = best

    def place(x: float, y: float) -> Place:
        across, down = np.array([float(x), float(y), 1.0]) @ fitted
        return float(across), float(down)

    return place


# --- Content of the page -------------------------------------------------------------------------
# The plane and the room for comments are printed without text, so all text there was added. Lines
# on the plane were added unless they lie on the axes or on the dashed lines.


PRINTED_LINE = 1.5  # points around printed lines in which lines are not marks
LARGEST_CROSS = 80.0  # points
PARAGRAPH_STEP = 2.2  # steps between lines, in font sizes, from which a new comment starts


def _add_content(
    marks: PlaneMarks, runs: Sequence[TextRun], lines: Sequence[Points], place: Placer
) -> None:
    comments: list[tuple[str, Place, float]] = []
    middles: list[Place] = []
    for run in runs:
        middle = place(*run.middle(range(len(run.text))))
        signs = _run_signs(run, place) if is_inside(middle) else []
        marks.texts += signs
        middles += [sign.place for sign in signs]
        if not signs and (is_inside(middle) or _is_in_margin(middle)):
            middles.append(middle)
            first = next(glyph for glyph in run.glyphs if glyph is not None)
            start, end = place(*first.start), place(*first.end)
            scale = dist(start, end) / (dist(first.start, first.end) or 1.0)
            comments.append((run.text, start, first.size * scale))
    marks.comments += _comment_blocks(comments)
    placed = [np.array([place(*point) for point in line]) for line in lines]
    chains = _chains(placed)
    marks.strokes += [Stroke(points) for points in chains if _is_added(points, middles)]


def _chains(lines: Sequence[Points]) -> list[Points]:
    """Return lines of which each starts at the end of the one before as one line."""
    chains: list[Points] = []
    for points in lines:
        if chains and np.allclose(chains[-1][-1], points[0], atol=0.05):
            chains[-1] = np.concatenate([chains[-1], points])
        else:
            chains.append(points)
    return chains


def plain_sign(text: str) -> str:
    """Return a text without forms of digits such as ③."""
    return unicodedata.normalize("NFKC", text).strip()


def _run_signs(run: TextRun, place: Placer) -> list[TextMark]:
    """Return the crosses and numbers that a run consists of; empty if it has another text."""
    signs: list[TextMark] = []
    for part in run.parts(_is_cross_sign):
        mark = TextMark(plain_sign(part.text), (0.0, 0.0))
        if not mark.is_cross and not mark.number:
            return []
        signs += _placed_signs(mark, [part], place)
    return signs


def _placed_signs(mark: TextMark, runs: Sequence[TextRun], place: Placer) -> list[TextMark]:
    """Return a cross, number, or number with its cross, at the places where runs show them.

    Several crosses are several marks, also of the number beside them.
    """
    glyphs = dict.fromkeys(glyph for run in runs for glyph in run.glyphs if glyph is not None)
    crosses = [place(glyph.x, glyph.y) for glyph in glyphs if _is_cross_sign(glyph.text)]
    digits = [place(glyph.x, glyph.y) for glyph in glyphs if plain_sign(glyph.text).isdecimal()]
    if not crosses and not digits:
        return []
    x, y = np.mean(digits or crosses, axis=0)
    middle = float(x), float(y)
    if len(crosses) <= 1:
        return [TextMark(mark.text, crosses[0] if crosses else middle)]
    signs = [TextMark(CROSSES[0], cross) for cross in crosses]
    number = mark.text.strip(CROSSES + " \n")
    return [*signs, TextMark(number, middle)] if mark.number else signs


def _is_cross_sign(text: str) -> bool:
    """Return whether a character is a cross."""
    return plain_sign(text) in {*CROSSES}


def _is_in_margin(place: Place) -> bool:
    """Return whether a place is in the room for comments, or beside the plane."""
    x, y = place
    if y > COMMENTS_TOP + 4:
        return y < CODE_BASELINES[1] - CODE_SIZE
    return x > PLANE_LEFT + PLANE_SIDE + 4 and PLANE_TOP < y < PLANE_TOP + PLANE_SIDE


def _comment_blocks(lines: Sequence[tuple[str, Place, float]]) -> Iterator[str]:
    """Yield comments: lines below each other are joined by line breaks."""
    block: list[str] = []
    before: tuple[float, float] | None = None
    for text, (x, y), size in lines:
        if before is not None:
            step = y - before[1]
            if abs(step) < 0.5 * size:
                block[-1] += f" {text}"
                continue
            if not (0 < step <= PARAGRAPH_STEP * size and abs(x - before[0]) < 4 * size):
                yield "\n".join(block)
                block = []
        block.append(text)
        before = (x, y)
    if block:
        yield "\n".join(block)


def _is_added(points: Points, texts: Sequence[Place]) -> bool:
    """Return whether a line on the page is a mark, given the middles of added texts."""
    low, high = points.min(axis=0), points.max(axis=0)
    if max(high - low) > LARGEST_CROSS or not is_inside(tuple((low + high) / 2), PRINTED_LINE):
        return False
    for axis, printed in enumerate(zip(place_of(0, 0), place_of(1, 1), strict=True)):
        for value in printed:
            if np.abs(points[:, axis] - value).max() <= PRINTED_LINE:
                return False
    # the box around a text is no cross
    boxed = any((low <= middle).all() and (middle <= high).all() for middle in texts)
    return not (boxed and len(points) >= 4 and np.allclose(points[0], points[-1], atol=0.5))


# --- Annotations ---------------------------------------------------------------------------------


IGNORED_ANNOTATIONS = {"/Link", "/Popup", "/Widget"}
STROKE_KEYS = {"/Line": "/L", "/PolyLine": "/Vertices"}
HIDDEN_FLAG = 2
FONT_SIZE = re.compile(r"(\d+\.?\d*)\s+Tf|font:[^;]*?(\d+\.?\d*)\s*pt|font-size:\s*(\d+\.?\d*)")
DEFAULT_FONT_SIZE = 12.0
MAX_SHIFT = 4.0  # points; Ghostscript scales what is shown of strokes, but not their coordinates
BOX_INSET = 2.0  # points from the edge of a text box to its text


def is_mark(annotation: Any) -> bool:
    """Return whether an annotation is shown, and no link, field or status such as “reviewed”."""
    is_hidden = int(annotation.get("/F", 0)) & HIDDEN_FLAG
    is_shown = annotation.get("/Subtype", "/Link") not in IGNORED_ANNOTATIONS and not is_hidden
    return is_shown and "/Rect" in annotation and "/StateModel" not in annotation


def _add_annotation(marks: PlaneMarks, annotation: Any, place: Placer) -> None:
    if not is_mark(annotation):
        return
    kind = annotation["/Subtype"]
    text = _annotation_text(annotation)
    strokes = _annotation_strokes(annotation, kind)
    if strokes:
        for index, stroke in enumerate(strokes):
            points = np.array([place(*point) for point in stroke])
            marks.strokes.append(Stroke(points, "" if index else text))
    elif kind == "/FreeText":
        marks.texts += _text_box_marks(annotation, text, place)
    else:
        xs, ys = _sides(annotation)
        middle = place(sum(xs) / 2, sum(ys) / 2)
        if kind == "/Text":
            marks.texts.append(TextMark(text, middle))
        else:
            marks.shapes.append(Shape(middle, text))


def _sides(annotation: Any) -> tuple[list[float], list[float]]:
    numbers = [float(value) for value in annotation["/Rect"]]
    return sorted(numbers[0::2]), sorted(numbers[1::2])


def _annotation_text(annotation: Any) -> str:
    text = str(annotation.get("/Contents") or "")
    if not text.strip() and "/RC" in annotation:
        stored = annotation["/RC"].get_object()
        is_stream = hasattr(stored, "get_data")
        rich = stored.get_data().decode("utf-8", "replace") if is_stream else str(stored)
        rich = re.sub(r"</p>|<br\s*/?>", "\n", rich)
        text = html.unescape(re.sub("<[^>]*>", "", rich))
    text = re.sub(r"\r\n?|\u2028|\u2029", "\n", text).strip()
    return plain_sign(text) if NUMBERED.fullmatch(plain_sign(text)) else text


def _annotation_strokes(annotation: Any, kind: str) -> list[list[Place]]:
    lists: list[Any] = []
    if kind == "/Ink" and annotation.get("/InkList"):
        lists = [stroke.get_object() for stroke in annotation["/InkList"].get_object()]
    elif kind in STROKE_KEYS and STROKE_KEYS[kind] in annotation:
        lists = [annotation[STROKE_KEYS[kind]].get_object()]
    numbers = [[float(value.get_object()) for value in stroke] for stroke in lists]
    strokes = [
        list(zip(number[::2], number[1::2], strict=False)) for number in numbers if len(number) >= 2
    ]
    shown = appearance_content(annotation).lines if strokes else []
    if shown and dist(_box_middle(strokes), _box_middle(shown)) > MAX_SHIFT:
        return [[(float(x), float(y)) for x, y in line] for line in shown]
    return strokes


def _box_middle(lines: Sequence[Any]) -> Place:
    points = np.concatenate([np.asarray(line) for line in lines])
    x, y = (points.min(axis=0) + points.max(axis=0)) / 2
    return float(x), float(y)


def _text_box_marks(annotation: Any, text: str, place: Placer) -> list[TextMark]:
    """Return the text of a text box, or its crosses, at the place where it is shown.

    The arrow of a callout points to the place. If a file has no picture of the text, its place is
    estimated from the font size, since boxes can be much larger than their text.
    """
    runs = appearance_content(annotation).runs()
    if not text:
        text = "\n".join(run.text for run in runs)
    sign = plain_sign(text)
    mark = TextMark(sign, (0.0, 0.0))
    is_callout = annotation.get("/IT") == "/FreeTextCallout" and "/CL" in annotation
    if is_callout and mark.number:
        x, y = (float(value) for value in annotation["/CL"][:2])
        return [TextMark(sign, place(x, y), is_callout=True)]
    is_sign = mark.is_cross or bool(mark.number)
    shown = _placed_signs(mark, runs, place) if is_sign else []
    middle = place(*_estimated_place(annotation, text))
    return shown or [TextMark(sign if is_sign else text, middle)]


def _estimated_place(annotation: Any, text: str) -> Place:
    """Return the middle of the first line of a text box, on its page."""
    xs, ys = _sides(annotation)
    style = f"{annotation.get('/DA', '')} {annotation.get('/DS', '')}"
    found = FONT_SIZE.search(style)
    size = float(next(filter(None, found.groups()))) if found else DEFAULT_FONT_SIZE
    size = size or DEFAULT_FONT_SIZE
    first, *others = text.split("\n")
    width = 0.556 * size * len(first)
    x, y = (xs[0] + xs[1]) / 2, (ys[0] + ys[1]) / 2
    quadding = int(annotation.get("/Q", 0))
    if width + 4 * BOX_INSET < xs[1] - xs[0]:
        sides = (xs[0] + BOX_INSET + width / 2, x, xs[1] - BOX_INSET - width / 2)
        x = sides[quadding]
    if others or 2 * size < ys[1] - ys[0]:
        y = ys[1] - BOX_INSET - (0.9 - MIDDLE_HEIGHT) * size
    return x, y
