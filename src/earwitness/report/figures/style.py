"""Style of figures: colours, markers, fonts, axes, labels and legends. Sizes are in inches."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib.style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font_names
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from earwitness.core import Value
from earwitness.errors import EarwitnessWarning
from earwitness.report.charts import Axis
from earwitness.report.numbers import ARROWS, label_with_unit, short_number
from earwitness.report.parts import PEOPLE_SERIES

# --- Style ---------------------------------------------------------------------------------------


COLUMN_WIDTH, PAGE_WIDTH = 3.35, 7.0  # one and two columns of a journal
PNG_DPI = 300
TEXT_SIZE, SMALL_SIZE, TINY_SIZE = 8.0, 7.0, 6.0  # in points
INK, GREY, PALE_GREY = "#000000", "#666666", "#d9d9d9"
BLUE, VERMILION, PALE_ORANGE = "#0072b2", "#d55e00", "#f6d3a4"
COLOURS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
LINE_STYLES = ("-", (0, (4, 1.5)), (0, (4, 1.2, 1, 1.2)), (0, (1, 1)), (0, (7, 1, 1, 1, 1, 1)))
MAX_LISTED_LETTERS = 20  # that no font has
HATCHES = ("", "////", "....", "xxxx", "----", "++++", "oooo", "||||")
# The first font comes with matplotlib; the others are used for letters that it lacks.
FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei")
FIGURE_STYLE = {
    "font.family": "sans-serif",
    "font.size": TEXT_SIZE,
    "text.parse_math": False,
    "axes.labelsize": TEXT_SIZE,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "grid.color": PALE_GREY,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
    "legend.borderpad": 0.2,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.35,
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "lines.markeredgewidth": 0.8,
    "pdf.fonttype": 42,
    "savefig.dpi": PNG_DPI,
    "svg.fonttype": "none",
    "svg.hashsalt": "earwitness",
    **{f"{side}tick.labelsize": SMALL_SIZE for side in "xy"},
    **{f"{side}tick.major.width": 0.6 for side in "xy"},
    **{f"{side}tick.major.size": 2.5 for side in "xy"},
}


class SeriesStyle(NamedTuple):
    """Colour, marker and line style of a series."""

    colour: str
    marker: str
    line: Any = "-"
    is_hollow: bool = False

    def handle(self, **settings: Any) -> Line2D:
        """Return the mark of the series in a legend."""
        return Line2D([], [], **{**self.mark, "linestyle": self.line, **settings})

    @property
    def mark(self) -> dict[str, Any]:
        """The settings of a marker."""
        fill = "white" if self.is_hollow else self.colour
        return {"color": self.colour, "marker": self.marker, "markerfacecolor": fill}


class SeriesStyles(dict[str, SeriesStyle]):
    """Styles of series by name; names that are no series of the report are grey.

    ``human`` is the series that is the work of people, if there is one.
    """

    def __init__(self, names: Iterable[str], human: str = "") -> None:
        super().__init__()
        self.human = human
        for i, name in enumerate(name for name in names if name != human):
            marker, line = MARKERS[i % len(MARKERS)], LINE_STYLES[i % len(LINE_STYLES)]
            self[name] = SeriesStyle(COLOURS[i % len(COLOURS)], marker, line)
        self[PEOPLE_SERIES] = SeriesStyle(INK, "d")
        if human:
            self[human] = self[PEOPLE_SERIES]

    def __missing__(self, name: str) -> SeriesStyle:
        return SeriesStyle(GREY, "o")

    def handles(self, names: Iterable[str], **settings: Any) -> dict[str, Line2D]:
        """Return the marks of series in a legend."""
        return {name: self[name].handle(**settings) for name in names}


@contextmanager
def print_style() -> Iterator[None]:
    """Draw in the style of figures, and note the letters that no font has."""
    fonts = [name for name in FONTS if name in get_font_names()]
    style: Any = ["default", {**FIGURE_STYLE, "font.sans-serif": fonts}]
    with matplotlib.style.context(style), warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message="Glyph ")
        yield
    lacking = set[str]()
    for warning in caught:
        if glyph := re.match(r"Glyph (\d+)", str(warning.message)):
            lacking.add(chr(int(glyph[1])))
        else:
            place = warning.filename, warning.lineno
            warnings.warn_explicit(str(warning.message), warning.category, *place)
    if lacking:
        letters = "".join(sorted(lacking)[:MAX_LISTED_LETTERS])
        message = f'figures: no font has "{letters}" — install a font such as {FONTS[1]}'
        warnings.warn(EarwitnessWarning(message), stacklevel=2)


# --- Texts, axes and legends ---------------------------------------------------------------------


ONE_COLUMN_LABEL, TWO_COLUMN_LABEL = 1.6, 3.4  # widest labels of rows
LINE_HEIGHT = 0.125  # of a small text
HANDLE_GAPS = 2.0  # on both sides of the mark of a legend, in letters
TICK_GAP = 0.07  # between the labels of ticks
MAX_HEIGHT = 100.0  # of the axes of a figure
SPARE_HEIGHT = 3.0  # for the labels and the legend, before their height is known
Handles = Mapping[str, Artist]


def axis_label(value: Value) -> str:
    return f"{label_with_unit(value.name, value.unit)} {ARROWS[value.best]}".rstrip()


def signed(text: str) -> str:
    """Return a text whose numbers have true minus signs.

    >>> signed("log-mel, r -0.5")
    'log-mel, r −0.5'
    """
    return re.sub(r"(?<![\w.])-(?=[\d.∞])", "−", text)


def text_width(text: str, size: float = SMALL_SIZE) -> float:
    font = FontProperties(size=size)
    widths = (
        text_to_path.get_text_width_height_descent(line, font, False)[0]
        for line in text.split("\n")
    )
    return float(max(widths)) / 72


def wrap(text: str, limit: float) -> str:
    """Return a text in lines that are not wider than the limit."""
    width = text_width(text)
    if width <= limit:
        return text
    return "\n".join(textwrap.wrap(text, max(8, int(len(text) * limit / width))))


def wrap_labels(labels: Sequence[str]) -> tuple[float, list[str]]:
    """Return the width of a figure in which the labels of rows have room, and these labels."""
    if max(map(text_width, labels)) <= ONE_COLUMN_LABEL:
        return COLUMN_WIDTH, [*labels]
    return PAGE_WIDTH, [wrap(label, TWO_COLUMN_LABEL) for label in labels]


def row_height(labels: Iterable[str], least: float = 0.17) -> float:
    return max(least, (max(label.count("\n") for label in labels) + 1) * LINE_HEIGHT + 0.04)


def new_figure(width: float) -> Figure:
    """Return a figure whose height is set later."""
    layout = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0.04, hspace=0.02)
    return Figure(figsize=(width, 1.0), dpi=PNG_DPI, layout=layout)


def new_axes(width: float) -> tuple[Figure, Axes]:
    """Return a figure with one plot."""
    figure = new_figure(width)
    return figure, figure.subplots()


def lay_out(figure: Figure) -> None:
    """Place the axes of a figure so that all labels have room."""
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)


def fit_height(figure: Figure, height: float, rows: int = 1) -> Figure:
    """Set the height of a figure so that its axes, in so many rows, have the given height."""
    height = min(height, MAX_HEIGHT / rows)
    figure.set_figheight(rows * height + SPARE_HEIGHT)
    lay_out(figure)
    actual = figure.axes[0].get_position().height * figure.get_figheight()
    figure.set_figheight(figure.get_figheight() + rows * (height - actual))
    return figure


def set_scale(
    axes: Axes, side: str, axis: Axis, text: Callable[[float], str] = short_number
) -> None:
    """Set the ends, ticks and grid lines of the x or the y axis."""
    axes.set(**{f"{side}lim": (axis.low, axis.high)})
    (axes.set_xticks if side == "x" else axes.set_yticks)(axis.ticks, [*map(text, axis.ticks)])
    axes.grid(axis="x" if side == "x" else "y")


def set_parameter(axes: Axes, axis: Axis, width: float) -> None:
    """Set the x axis to numbers at any distances, with those ticks whose labels do not touch."""
    ticks, end = dict[float, str](), 0.0
    for tick in sorted(axis.ticks):
        text = short_number(tick)
        place, half = axis.place(tick) / 100 * width, text_width(text) / 2
        if not ticks or place - half >= end:
            ticks[tick], end = text, place + half + TICK_GAP
    axes.set_xscale("log" if axis.is_logarithmic else "linear")
    axes.set_xlim(axis.low, axis.high)
    axes.set_xticks([*ticks], [*ticks.values()])
    axes.minorticks_off()


def set_rows(
    axes: Axes, labels: Sequence[str], places: Sequence[float] = (), end: float | None = None
) -> None:
    """Label rows from the top down to the end, without an axis line."""
    axes.set_yticks(places or range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5 if end is None else end, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def add_legend(
    figure: Figure,
    handles: Handles,
    title: str | None = None,
    *,
    length: float = 2.0,
    place: Any = "outside lower center",
) -> int:
    """Add a legend below the axes, row by row, and return the number of rows.

    ``length`` is that of the marks, in letters.
    """
    room = figure.get_figwidth() - 0.1
    mark = (length + HANDLE_GAPS) * SMALL_SIZE / 72
    entries = [(artist, wrap(name, room - mark)) for name, artist in handles.items()]
    widths = [text_width(name) + mark for _, name in entries]
    columns = len(entries) if sum(widths) <= room else max(1, int(room / max(widths)))
    columns = min(columns, len(entries))
    by_column = [entry for column in range(columns) for entry in entries[column::columns]]
    figure.legend(
        [artist for artist, _ in by_column],
        [name for _, name in by_column],
        loc=place,
        ncols=columns,
        handlelength=length,
        title=title,
        title_fontsize=SMALL_SIZE,
    )
    return -(-len(entries) // columns)


def draw_dot(axes: Axes, point: tuple[float, float], style: SeriesStyle) -> None:
    """Draw the marker of a series, which may reach beyond the axes."""
    axes.plot([point[0]], [point[1]], clip_on=False, zorder=3, **style.mark)


def add_note(
    axes: Axes, text: str, point: tuple[float, float], shift: tuple[float, float], **settings: Any
) -> None:
    """Write a tiny text next to a point; the shift is in points of type."""
    look: dict[str, Any] = {"color": GREY, "fontsize": TINY_SIZE, "va": "center", **settings}
    axes.annotate(text, point, xytext=shift, textcoords="offset points", **look)


def text_colour(fill: Any) -> str:
    """Return black or white, whichever can be read better on a colour."""
    red, green, blue = to_rgb(fill)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
