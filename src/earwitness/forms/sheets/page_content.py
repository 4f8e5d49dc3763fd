"""Content of a PDF page: characters and drawn lines with their places, also inside of forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = tuple[float, float, float, float, float, float]
Points = npt.NDArray[np.float64]  # one row per point
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MAX_DEPTH = 12  # forms inside of forms
MIDDLE_HEIGHT = 0.35  # of digits above their baseline, in font sizes
SPACE_GAP, RUN_GAP = 0.15, 1.5  # gaps between characters that are a space, or the end of a run
SAME_LINE = 0.3  # largest step up or down in a run, in font sizes


class Glyph(NamedTuple):
    """A character: its middle, the start and the end of its baseline, and its size.

    ``form`` and ``step`` count forms, and steps to a new place, up to the character.
    """

    text: str
    x: float
    y: float
    start: tuple[float, float]
    end: tuple[float, float]
    size: float
    form: int = 0
    step: int = 0


class TextRun(NamedTuple):
    """Characters that follow each other on a line; spaces have no glyph."""

    text: str
    glyphs: tuple[Glyph | None, ...]

    def middle(self, positions: Sequence[int]) -> tuple[float, float]:
        """Return the middle of some characters."""
        found = [glyph for index in positions if (glyph := self.glyphs[index]) is not None]
        xs, ys = [glyph.x for glyph in found], [glyph.y for glyph in found]
        return sum(xs) / len(xs), sum(ys) / len(ys)

    def parts(self, is_apart: Callable[[str], bool]) -> list[TextRun]:
        """Return the parts of a run that a program placed one by one.

        Characters without a gap are one part, unless ``is_apart`` is true of one of them.
        """

        def belongs(last: Glyph, glyph: Glyph) -> bool:
            is_close = _gap(last, glyph)[0] <= SPACE_GAP
            is_joined = is_close and not (is_apart(last.text) or is_apart(glyph.text))
            return last.step == glyph.step or is_joined

        return _group(dict.fromkeys(glyph for glyph in self.glyphs if glyph is not None), belongs)


@dataclass
class PdfContent:
    """Characters, painted lines (arrays of points), and the area of the largest image."""

    glyphs: list[Glyph] = field(default_factory=list)
    lines: list[Points] = field(default_factory=list)
    image_area: float = 0.0

    def runs(self) -> list[TextRun]:
        """Return characters joined to runs, in the order of the file."""
        return _group(self.glyphs, _follows)


def _group(glyphs: Iterable[Glyph], belongs: Callable[[Glyph, Glyph], bool]) -> list[TextRun]:
    """Return glyphs in runs, of which each glyph belongs to the one before."""
    found: list[list[Glyph]] = []
    for glyph in glyphs:
        if found and belongs(found[-1][-1], glyph):
            found[-1].append(glyph)
        else:
            found.append([glyph])
    return [_joined(glyphs) for glyphs in found]


def _gap(before: Glyph, after: Glyph) -> tuple[float, float]:
    """Return the step from the end of a glyph to the next, along and across its baseline."""
    dx, dy = before.end[0] - before.start[0], before.end[1] - before.start[1]
    length = hypot(dx, dy) or 1.0
    x, y = after.start[0] - before.end[0], after.start[1] - before.end[1]
    size = max(before.size, 1e-6)
    return (x * dx + y * dy) / length / size, (y * dx - x * dy) / length / size


def _follows(before: Glyph, after: Glyph) -> bool:
    if before.form != after.form:
        return False
    along, across = _gap(before, after)
    return -SAME_LINE <= along <= RUN_GAP and abs(across) <= SAME_LINE


def _joined(glyphs: Sequence[Glyph]) -> TextRun:
    characters: list[tuple[str, Glyph | None]] = []
    for index, glyph in enumerate(glyphs):
        if index and _gap(glyphs[index - 1], glyph)[0] > SPACE_GAP:
            characters.append((" ", None))
        characters += [
            (character, None if character.isspace() else glyph) for character in glyph.text
        ]
    while characters and characters[-1][0].isspace():
        characters.pop()
    texts, found = zip(*characters, strict=True) if characters else ((), ())
    text = re.sub(r"\s", " ", "".join(texts))
    doubled = {index for index, pair in enumerate(pairwise(text)) if pair == (" ", " ")}
    kept = [index for index in range(len(text)) if index not in doubled]
    return TextRun("".join(text[index] for index in kept), tuple(found[index] for index in kept))


def times(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies one matrix, and then another."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (
        *(a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j),
        *(e * g + f * i + k, e * h + f * j + m),
    )


def apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return a transformed point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


# --- Fonts ---------------------------------------------------------------------------------------


@dataclass
class PageFont:
    """Characters and widths of a font, by code."""

    code_bytes: int = 1
    characters: Mapping[int, str] = field(default_factory=dict)
    encoding: str = "cp1252"
    widths: Mapping[int, float] = field(default_factory=dict)
    default_width: float = 0.556  # of digits in Helvetica

    def decode(self, data: bytes) -> Iterator[tuple[str, float, bool]]:
        """Yield the text of each code, its width, and whether it is the code of a space."""
        for start in range(0, len(data) - self.code_bytes + 1, self.code_bytes):
            code = int.from_bytes(data[start : start + self.code_bytes], "big")
            text = self.characters.get(code)
            if text is None and self.code_bytes == 1:
                text = bytes([code]).decode(self.encoding, "replace")
            width = self.widths.get(code, self.default_width)
            yield text or "\N{REPLACEMENT CHARACTER}", width, self.code_bytes == 1 and code == 32


DIGIT_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
GLYPH_NAMES = {name: str(digit) for digit, name in enumerate(DIGIT_NAMES)}
GLYPH_NAMES |= {"multiply": "×", "plus": "+", "colon": ":", "period": ".", "hyphen": "-"}
HEX_PAIR = re.compile(rb"<([0-9A-Fa-f\s]+)>\s*<([0-9A-Fa-f\s]*)>")
HEX_RANGE = re.compile(
    rb"<([0-9A-Fa-f\s]+)>\s*<([0-9A-Fa-f\s]+)>\s*(?:<([0-9A-Fa-f\s]*)>|\[([^\]]*)\])"
)
HEX_TEXT = re.compile(rb"<([0-9A-Fa-f\s]*)>")


def page_font(font: Any) -> PageFont:
    """Return a font of a PDF file."""
    name = str(font.get("/BaseFont", ""))
    made = PageFont(default_width=0.6 if "Courier" in name else 0.556)
    scale, widths = 0.001, dict[int, float]()
    if font.get("/Subtype") == "/Type0":
        made.code_bytes = 2
        descendant = font["/DescendantFonts"].get_object()[0].get_object()
        made.default_width = float(descendant.get("/DW", 1000)) * scale
        widths = _composite_widths(descendant.get("/W"))
    else:
        made.encoding, differences = _simple_encoding(font.get("/Encoding"))
        made.characters = differences
        if font.get("/Subtype") == "/Type3":
            scale = abs(float(font["/FontMatrix"][0]))
        first = int(font.get("/FirstChar", 0))
        listed = enumerate(_array(font.get("/Widths")), first)
        widths = {code: float(width.get_object()) for code, width in listed}
    made.widths = {code: width * scale for code, width in widths.items()}
    if "/ToUnicode" in font and hasattr(font["/ToUnicode"], "get_data"):
        made.characters = {**made.characters, **_unicode_map(font["/ToUnicode"].get_data())}
    return made


def _array(value: Any) -> Sequence[Any]:
    return () if value is None else value.get_object()


def _composite_widths(value: Any) -> dict[int, float]:
    """Return the widths of a composite font: ``first [w w …]`` or ``first last w``."""
    widths: dict[int, float] = {}
    entries = [entry.get_object() for entry in _array(value)]
    index = 0
    while index + 1 < len(entries):
        first, second = int(entries[index]), entries[index + 1]
        if isinstance(second, list):
            widths |= {first + n: float(width.get_object()) for n, width in enumerate(second)}
            index += 2
        else:
            last = min(int(second), 0xFFFF)
            widths |= dict.fromkeys(range(first, last + 1), float(entries[index + 2]))
            index += 3
    return widths


def _simple_encoding(encoding: Any) -> tuple[str, dict[int, str]]:
    """Return the base encoding of a simple font, and the characters that differ from it."""
    base, differences, code = encoding, dict[int, str](), 0
    if hasattr(encoding, "get_object") and hasattr(encoding.get_object(), "keys"):
        base = encoding.get_object().get("/BaseEncoding")
        for entry in _array(encoding.get_object().get("/Differences")):
            if isinstance(entry, str):
                if text := _named_character(entry.removeprefix("/")):
                    differences[code] = text
                code += 1
            else:
                code = int(entry)
    return "mac_roman" if base == "/MacRomanEncoding" else "cp1252", differences


def _named_character(name: str) -> str:
    """Return the character of a glyph name; an empty text if the base encoding must do."""
    if re.fullmatch("uni[0-9A-F]{4}", name):
        return chr(int(name[3:], 16))
    return name if len(name) == 1 else GLYPH_NAMES.get(name, "")


def _unicode_map(data: bytes) -> dict[int, str]:
    """Return the characters of a ToUnicode table."""

    def text(digits: bytes) -> str:
        return bytes.fromhex(digits.decode()).decode("utf-16-be", "replace")

    found: dict[int, str] = {}
    for section in re.findall(rb"beginbfchar(.*?)endbfchar", data, re.DOTALL):
        found |= {int(code, 16): text(shown) for code, shown in HEX_PAIR.findall(section)}
    for section in re.findall(rb"beginbfrange(.*?)endbfrange", data, re.DOTALL):
        for low, high, start, listed in HEX_RANGE.findall(section):
            codes = range(int(low, 16), min(int(high, 16), 0xFFFF) + 1)
            if listed:
                shown = [text(digits) for digits in HEX_TEXT.findall(listed)]
                found |= dict(zip(codes, shown, strict=False))
            elif first := text(start):
                head, last = first[:-1], ord(first[-1])
                found |= {code: head + chr(last + n) for n, code in enumerate(codes)}
    return found


# --- Operators -----------------------------------------------------------------------------------


PAINTING = {b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"}


@dataclass
class GraphicsState:
    """The part of the graphics state on which places depend."""

    matrix: Matrix
    font: PageFont = field(default_factory=PageFont)
    size: float = 1.0
    spacing: float = 0.0
    word_spacing: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0

    def copy(self) -> GraphicsState:
        """Return a copy, for ``q``."""
        return GraphicsState(**vars(self))


class ContentReader:
    """Reads streams of operators, and collects what they show."""

    def __init__(self) -> None:
        self.content = PdfContent()
        self.fonts: dict[int, PageFont] = {}
        self.form = self.step = 0

    def read(self, stream: Any, resources: Any, matrix: Matrix, depth: int = 0) -> None:
        """Read a stream of a page or form."""
        reader = OperatorReader(self, resources, GraphicsState(matrix), depth)
        self.form += 1
        for operands, operator in stream.operations:
            reader.perform(operator, operands)
        self.form += 1  # what follows is not part of this form


class OperatorReader:
    """State while one stream is read."""

    def __init__(
        self, owner: ContentReader, resources: Any, state: GraphicsState, depth: int
    ) -> None:
        self.owner, self.content, self.depth = owner, owner.content, depth
        self.resources = resources.get_object() if resources is not None else {}
        self.state, self.saved = state, list[GraphicsState]()
        self.text_matrix = self.line_matrix = IDENTITY
        self.paths: list[list[tuple[float, float]]] = []
        self.operators: dict[bytes, Callable[..., None]] = {
            b"q": lambda: self.saved.append(self.state.copy()),
            b"Q": self._restore,
            b"cm": self._transform,
            b"Do": self._show_object,
            b"INLINE IMAGE": self._show_image,
            b"BT": lambda: self._set_line(IDENTITY),
            b"Tf": self._set_font,
            b"Tc": lambda value: setattr(self.state, "spacing", float(value)),
            b"Tw": lambda value: setattr(self.state, "word_spacing", float(value)),
            b"Tz": lambda value: setattr(self.state, "stretch", float(value) / 100),
            b"TL": lambda value: setattr(self.state, "leading", float(value)),
            b"Ts": lambda value: setattr(self.state, "rise", float(value)),
            b"Td": self._move_line,
            b"TD": self._lead_line,
            b"Tm": lambda *values: self._set_line(_matrix(values)),
            b"T*": self._next_line,
            b"Tj": lambda text: self._show([text]),
            b"TJ": self._show,
            b"'": self._show_next,
            b'"': self._show_spaced,
            b"m": self._move,
            b"l": self._draw,
            b"c": self._draw,
            b"v": self._draw,
            b"y": self._draw,
            b"h": self._close,
            b"re": self._rectangle,
            b"n": self.paths.clear,
        }
        self.operators |= dict.fromkeys(PAINTING, self._paint)

    def perform(self, operator: bytes, operands: Any) -> None:
        """Perform an operator; those with wrong operands are left out, as viewers do."""
        action = self.operators.get(operator)
        if action is None:
            return
        try:
            action(*(() if operator == b"INLINE IMAGE" else operands))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            return

    def _restore(self) -> None:
        if self.saved:
            self.state = self.saved.pop()

    def _transform(self, *values: Any) -> None:
        self.state.matrix = times(_matrix(values), self.state.matrix)

    def _show_image(self) -> None:
        a, b, c, d, *_ = self.state.matrix  # images fill the unit square
        self.content.image_area = max(self.content.image_area, abs(a * d - b * c))

    def _show_object(self, name: str) -> None:
        shown = self.resources["/XObject"].get_object()[name].get_object()
        if shown.get("/Subtype") == "/Image":
            self._show_image()
        elif self.depth < MAX_DEPTH:
            read_form(self.owner, shown, self.state.matrix, self.resources, self.depth + 1)

    # --- Text

    def _set_font(self, name: str, size: Any) -> None:
        self.state.size = float(size)
        font = self.resources["/Font"].get_object()[name].get_object()
        if id(font) not in self.owner.fonts:
            self.owner.fonts[id(font)] = page_font(font)
        self.state.font = self.owner.fonts[id(font)]

    def _set_line(self, matrix: Matrix) -> None:
        self.text_matrix = self.line_matrix = matrix
        self.owner.step += 1

    def _move_line(self, x: Any, y: Any) -> None:
        self._set_line(times((1, 0, 0, 1, float(x), float(y)), self.line_matrix))

    def _lead_line(self, x: Any, y: Any) -> None:
        self.state.leading = -float(y)
        self._move_line(x, y)

    def _next_line(self) -> None:
        self._move_line(0, -self.state.leading)

    def _show_next(self, text: Any) -> None:
        self._next_line()
        self._show([text])

    def _show_spaced(self, word_spacing: Any, spacing: Any, text: Any) -> None:
        self.state.word_spacing, self.state.spacing = float(word_spacing), float(spacing)
        self._show_next(text)

    def _show(self, parts: Sequence[Any]) -> None:
        state = self.state
        for part in parts:
            if isinstance(part, (str, bytes)):
                data = part if isinstance(part, bytes) else part.original_bytes  # type: ignore[attr-defined]
                for text, width, is_space in state.font.decode(data):
                    self._add_glyph(text, width * state.size)
                    advance = width * state.size + state.spacing + is_space * state.word_spacing
                    self._advance(advance * state.stretch)
            else:
                self._advance(-float(part) / 1000 * state.size * state.stretch)

    def _advance(self, distance: float) -> None:
        self.text_matrix = times((1, 0, 0, 1, distance, 0), self.text_matrix)

    def _add_glyph(self, text: str, width: float) -> None:
        state = self.state
        if text.isspace():
            return
        matrix = times((state.stretch, 0, 0, 1, 0, state.rise), self.text_matrix)
        matrix = times(matrix, state.matrix)
        up = MIDDLE_HEIGHT * state.size
        middle = apply(matrix, width / 2, up)
        size = abs(state.size) * hypot(matrix[2], matrix[3])
        ends = apply(matrix, 0, 0), apply(matrix, width, 0)
        counts = self.owner.form, self.owner.step
        self.content.glyphs.append(Glyph(text, *middle, *ends, size, *counts))

    # --- Lines

    def _move(self, x: Any, y: Any) -> None:
        self.paths.append([apply(self.state.matrix, float(x), float(y))])

    def _draw(self, *values: Any) -> None:
        """Add a line or curve; the control points of a curve stand for its course."""
        numbers = [float(value) for value in values]
        points = zip(numbers[::2], numbers[1::2], strict=True)
        self.paths[-1] += [apply(self.state.matrix, *point) for point in points]

    def _close(self) -> None:
        self.paths[-1].append(self.paths[-1][0])

    def _rectangle(self, x: Any, y: Any, width: Any, height: Any) -> None:
        left, bottom = float(x), float(y)
        right, top = left + float(width), bottom + float(height)
        corners = (left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)
        self.paths.append([apply(self.state.matrix, *corner) for corner in corners])

    def _paint(self) -> None:
        self.content.lines += [np.array(path) for path in self.paths if len(path) > 1]
        self.paths.clear()


def _matrix(values: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = (float(value) for value in values)
    return a, b, c, d, e, f


def read_form(
    reader: ContentReader, form: Any, matrix: Matrix, resources: Any = None, depth: int = 0
) -> None:
    """Read a form; without resources of its own, it uses those of the page."""
    from pypdf.generic import ContentStream

    own = _matrix(form["/Matrix"]) if "/Matrix" in form else IDENTITY
    stream = ContentStream(form, None)
    reader.read(stream, form.get("/Resources", resources), times(own, matrix), depth)


def page_content(page: Any) -> PdfContent:
    """Return the content of a page, without its annotations."""
    reader, stream = ContentReader(), page.get_contents()
    if stream is not None:
        reader.read(stream, page.get("/Resources"), IDENTITY)
    return reader.content


def appearance_content(annotation: Any) -> PdfContent:
    """Return what an annotation shows on its page, which is empty if viewers draw it."""
    shown = annotation.get("/AP", {}).get("/N") if "/AP" in annotation else None
    shown = shown.get_object() if shown is not None else None
    if shown is not None and not hasattr(shown, "get_data"):
        shown = shown.get(annotation.get("/AS"))
        shown = shown.get_object() if shown is not None else None
    reader = ContentReader()
    if shown is not None and "/BBox" in shown:
        read_form(reader, shown, _appearance_matrix(shown, annotation["/Rect"]))
    return reader.content


def _appearance_matrix(form: Any, rectangle: Any) -> Matrix:
    """Return the matrix from the transformed box of a form to the rectangle of an annotation."""
    own = _matrix(form["/Matrix"]) if "/Matrix" in form else IDENTITY
    left, bottom, right, top = (float(value) for value in form["/BBox"])
    corners = [apply(own, x, y) for x in (left, right) for y in (bottom, top)]
    (left, bottom), (right, top) = np.min(corners, axis=0), np.max(corners, axis=0)
    xs, ys = sorted(map(float, rectangle[0::2])), sorted(map(float, rectangle[1::2]))
    across = (xs[1] - xs[0]) / (right - left) if right > left else 1.0
    up = (ys[1] - ys[0]) / (top - bottom) if top > bottom else 1.0
    return across, 0.0, 0.0, up, xs[0] - across * left, ys[0] - up * bottom
